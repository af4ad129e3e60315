// Profiles in JSON, as rows of a table: what they say differs from a CSV only in that every row names its columns.
#include <stdio.h>
#include <string.h>
#include "qtui/base/json.h"
#include "table.h"

enum { NUMBER = 32 };
struct row {
	struct cells names, values;
	char number[CELLS_MAX][NUMBER];
};

bool trace_is(const char *text)
{
	text += strspn(text, " \t\r\n");
	return *text == '[' || *text == '{';
}

static void add_members(struct row *r, const cJSON *o)
{
	const cJSON *m;
	static char nothing[] = "";
	cJSON_ArrayForEach(m, o)
	{
		if (r->names.n == CELLS_MAX)
			return;
		int i = r->names.n++;
		r->values.n = r->names.n;
		r->names.at[i] = m->string;
		r->values.at[i] = cJSON_IsString(m) ? m->valuestring : cJSON_IsNumber(m) ? r->number[i] : nothing;
		if (cJSON_IsNumber(m))
			snprintf(r->number[i], NUMBER, "%.17g", m->valuedouble);
	}
}

static const cJSON *object_in(const cJSON *o, const char *name)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name);
	return cJSON_IsObject(m) ? m : NULL;
}

enum status trace_read(const char *text, size_t size, const char *path, void (*row)(void *arg, const struct cells *names, struct cells *values),
    void *arg, struct error *err)
{
	cJSON *root = NULL;
	enum status st = json_parse(&root, text, size, path, err);
	if (st != STATUS_OK)
		return st;
	const cJSON *list = cJSON_IsArray(root) ? root : cJSON_GetObjectItemCaseSensitive(root, "traceEvents"), *o;
	cJSON_ArrayForEach(o, list)
	{
		struct row r = {0};
		if (cJSON_IsObject(o)) {
			add_members(&r, o);
			add_members(&r, object_in(o, "args"));
		}
		row(arg, &r.names, &r.values);
	}
	cJSON_Delete(root);
	return st;
}
