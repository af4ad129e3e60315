// The tables of qtui compare: of a comparison as JSON (docs/JSON.md) of what lies at path[0] and path[1].
#ifndef QTUI_CLI_COMPARE_PRINT_H
#define QTUI_CLI_COMPARE_PRINT_H

#include <cjson/cJSON.h>

void compare_print_comparison(const cJSON *j, const char *const *path);
void compare_print_models(const cJSON *j, const char *const *path);
void compare_print_collections(const cJSON *j, const char *const *path);

#endif
