// Glue for cJSON: reading files with limits and clear errors, and typed access. The tree is owned by the caller (cJSON_Delete).
#ifndef QTUI_BASE_JSON_H
#define QTUI_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "qtui/base/error.h"

// Reads and parses a file of at most 256 MiB; the error names the file and the line.
MUST_CHECK enum status json_read(cJSON **out, const char *path, struct error *err);
MUST_CHECK enum status json_parse(cJSON **out, const char *text, size_t size, const char *name, struct error *err);
// Writes atomically ("-" is stdout); `pretty` indents.
MUST_CHECK enum status json_write(const cJSON *j, const char *path, bool pretty, struct error *err);

// Typed members: the default when absent or of another type.
const char *json_text(const cJSON *obj, const char *key, const char *dflt);
double json_number(const cJSON *obj, const char *key, double dflt);
bool json_bool(const cJSON *obj, const char *key, bool dflt);
// Adders that leave a member out when the value is not finite ("not known is absent").
void json_add_number(cJSON *obj, const char *key, double v);
void json_add_text(cJSON *obj, const char *key, const char *text); // left out when NULL

#endif
