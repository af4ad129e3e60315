// Glue for cJSON: reading files with limits and clear errors, and typed access. The tree is owned by the caller
// (cJSON_Delete).
#ifndef QTUI_BASE_JSON_H
#define QTUI_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "qtui/base/error.h"

// Whether a file is JSON: by its name, or because what it holds begins like an object.
MUST_CHECK enum status json_is_file(bool *json, const char *path, struct error *err);
// Reads and parses a file of at most 256 MiB; the error names the file and the line.
MUST_CHECK enum status json_read(cJSON **out, const char *path, struct error *err);
MUST_CHECK enum status json_parse(cJSON **out, const char *text, size_t size, const char *name, struct error *err);
// The same of YAML: plain numbers, true, false and null are values, all else is text. Aliases and a second document
// are refused.
MUST_CHECK enum status json_parse_yaml(cJSON **out, const char *text, size_t size, const char *name, struct error *err);
// Writes blanks over comments (//, /* */ and #), which the relaxed JSON of other tools has; lines keep their numbers.
void json_blank_comments(char *text);
// Writes atomically ("-" is stdout). Names of models and files may be no UTF-8, which JSON must be: such bytes become
// U+FFFD, unless `exact`, for a file that only we read again.
MUST_CHECK enum status json_write(const cJSON *j, const char *path, bool exact, struct error *err);

// What a member must be where it is there.
struct json_member {
	const char *in;   // the member that it is in; NULL: the object itself
	const char *name;
	int type;         // cJSON_Object, cJSON_Array, cJSON_String or cJSON_Number
};
// STATUS_FORMAT with the name of the first that is of another type. `null_is_absent`: the file's tool writes null for
// what is not given.
MUST_CHECK enum status json_check(const cJSON *obj, const struct json_member *member, size_t n, bool null_is_absent, struct error *err);

// Typed members: the default when absent or of another type.
const char *json_text(const cJSON *obj, const char *key, const char *dflt);
double json_number(const cJSON *obj, const char *key, double dflt);
bool json_bool(const cJSON *obj, const char *key, bool dflt);
int json_count(const cJSON *obj, const char *key); // from 0 to 10^9; 0 also for what is not there, or is none
// The shortest number that is this float when it is read again: 125.3 and not 125.30000305175781.
cJSON *json_float(float v);
// Adders that leave a member out when the value is not finite ("not known is absent").
void json_add_number(cJSON *obj, const char *key, double v);
void json_add_text(cJSON *obj, const char *key, const char *text); // left out when NULL

#endif
