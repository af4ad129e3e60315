// A target with members that are given beside its name: "esp32p4,calibration.percentile=0.999".
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "target_impl.h"

// Where one that begins at `text` ends: at a comma that is in no list, no object and no text.
static size_t length(const char *text)
{
	int open = 0;
	bool quoted = false;
	const char *at = text;
	for (; *at && (quoted || open > 0 || *at != ','); at++) {
		quoted ^= *at == '"';
		open += quoted ? 0 : (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
		at += quoted && *at == '\\' && at[1];
	}
	return (size_t)(at - text);
}

// JSON, a number as people write it (.99), or a text without its quotes. NULL: it begins as JSON and is none.
static cJSON *value_of(const char *text)
{
	double number;
	cJSON *value = cJSON_ParseWithOpts(text, NULL, true);
	if (value || (*text && strchr("\"[{", *text)))
		return value;
	return str_to_double(text, &number) ? cJSON_CreateNumber(number) : cJSON_CreateString(text);
}

// The object that a path of names leads to, made where it is not there; *path becomes the last name. NULL: there is no such way.
static cJSON *parent_of(cJSON *root, char **path)
{
	for (char *dot; root && (dot = strchr(*path, '.')); *path = dot + 1) {
		*dot = '\0';
		cJSON *next = cJSON_GetObjectItemCaseSensitive(root, *path);
		root = next ? next : cJSON_AddObjectToObject(root, *path);
	}
	return cJSON_IsObject(root) ? root : NULL;
}

static enum status add_member(cJSON *root, char *text, const char *name, struct error *err)
{
	char *value = strchr(text, '='), *path = text;
	if (!value || value == text)
		return error_set(err, STATUS_USAGE, "target %.80s: \"%.80s\" is no MEMBER=VALUE, as calibration.percentile=0.999 is", name, text);
	*value++ = '\0';
	if (strcmp(text, "base") == 0 || strcmp(text, "name") == 0)
		return error_set(err, STATUS_USAGE, "target %.80s: its base is what comes before the comma, its name is the whole", name);
	cJSON *parent = parent_of(root, &path);
	if (!parent || cJSON_GetObjectItemCaseSensitive(parent, path))
		return error_set(err, STATUS_USAGE, "target %.80s: %.80s is given twice", name, path);
	cJSON *read = value_of(value);
	if (!read)
		return error_set(err, STATUS_USAGE, "target %.80s: %.80s: %.80s is no JSON", name, path, value);
	cJSON_AddItemToObject(parent, path, read);
	return STATUS_OK;
}

enum status target_split(char **base, cJSON **members, const char *name, struct error *err)
{
	size_t n = strcspn(name, ",");
	enum status st = STATUS_OK;
	char *kept = name[n] ? target_kept(name) : NULL;
	bool whole = !name[n] || kept || file_exists(name);
	free(kept);
	*base = xstrdup(name);
	*members = NULL;
	if (whole)
		return STATUS_OK;
	(*base)[n] = '\0';
	*members = cJSON_CreateObject();
	for (const char *at = name + n; st == STATUS_OK && *at; at += n) {
		n = length(++at);
		char *text = xstrdup(at);
		text[n] = '\0';
		st = add_member(*members, text, name, err);
		free(text);
	}
	return st;
}

const char *target_member(const struct target *t, int i, char out[TARGET_NAME])
{
	const char *at = t->members;
	for (size_t n; at && *at; at += n) {
		n = length(++at);
		if (i-- > 0)
			continue;
		snprintf(out, TARGET_NAME, "%.*s", (int)n, at);
		return out;
	}
	return NULL;
}
