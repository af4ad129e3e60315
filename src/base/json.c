#include "qtui/base/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define FILE_LIMIT ((size_t)256 << 20)

// A tree that lacks members because there was no memory for them looks whole,
// and would be written over the session that is there.
__attribute__((constructor)) static void never_without_memory(void)
{
	cJSON_InitHooks(&(cJSON_Hooks){xmalloc, free});
}

// The memory that the tree may need: every value but the first comes after one of these characters.
static size_t tree_size(const char *text, size_t size)
{
	size_t values = 1;
	for (size_t i = 0; i < size; i++)
		values += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return values * (sizeof(cJSON) + 32) + size;
}

static int line_at(const char *text, const char *at)
{
	int line = 1;
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

// The brackets that are open at a point; those inside texts are counted too, which is good enough for a hint.
static int depth_at(const char *text, const char *at)
{
	int depth = 0;
	for (; text < at; text++)
		depth += (*text == '[' || *text == '{') - (*text == ']' || *text == '}');
	return depth;
}

static enum status syntax_error(const char *text, const char *at, const char *name, struct error *err)
{
	int line = line_at(text, at);
	if (depth_at(text, at) >= CJSON_NESTING_LIMIT)
		return error_set(
		    err, STATUS_UNSUPPORTED, "%s:%d: nested more than %d deep", name, line, CJSON_NESTING_LIMIT);
	if (*at == '\0')
		return error_set(err, STATUS_FORMAT, "%s:%d: not valid JSON: it ends too early", name, line);
	return error_set(err, STATUS_FORMAT, "%s:%d: not valid JSON at `%.24s`", name, line, at);
}

static bool only_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p == end;
}

// The length of a number that Python's json writes and JSON has no word for, at p; 0 when there is none.
static size_t python_number(const char *p)
{
	static const char *const word[] = {"NaN", "Infinity", "-Infinity"};
	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (strncmp(p, word[i], strlen(word[i])) == 0)
			return strlen(word[i]);
	return 0;
}

// The text with null in the place of NaN and the infinities, which other tools' files hold;
// heap, NULL when it has none or there is no memory for it (then the parser names the place).
static char *without_python_numbers(const char *text, size_t size)
{
	char *out = NULL, *to = NULL;
	bool quoted = false;
	for (const char *p = text; *p; p++) {
		size_t n = quoted || !strchr("NI-", *p) ? 0 : python_number(p);
		if (quoted && *p == '\\' && p[1]) {
			if (out)
				*to++ = *p;
			p++; // what is escaped does not end the text
		} else if (*p == '"') {
			quoted = !quoted;
		}
		if (n && !out) {
			out = mem_try_array(size + size / 3 + 5, 1);
			if (!out)
				return NULL;
			memcpy(out, text, (size_t)(p - text));
			to = out + (p - text);
		}
		if (n) {
			memcpy(to, "null", 4);
			to += 4;
			p += n - 1;
		} else if (out) {
			*to++ = *p;
		}
	}
	return out;
}

// `text` has a NUL at text[size]. cJSON would pass over one before that as a blank, or end a text there.
static enum status parse(cJSON **out, const char *text, size_t size, const char *name, struct error *err)
{
	const char *end = text;
	*out = NULL;
	if (strlen(text) != size)
		return error_set(
		    err, STATUS_FORMAT, "%s:%d: not valid JSON: a NUL byte", name, line_at(text, text + strlen(text)));
	if (!mem_may_take(tree_size(text, size)))
		return error_set(err, STATUS_NOMEM, "%s: no memory for this much JSON", name);
	*out = cJSON_ParseWithLengthOpts(text, size + 1, &end, false);
	if (*out && only_blanks(end, text + size))
		return STATUS_OK;
	cJSON_Delete(*out);
	*out = NULL;
	return syntax_error(text, end, name, err);
}

enum status json_parse(cJSON **out, const char *text, size_t size, const char *name, struct error *err)
{
	char *copy = size < SIZE_MAX ? mem_try_array(size + 1, 1) : NULL;
	enum status s;
	*out = NULL;
	if (!copy)
		return error_set(err, STATUS_NOMEM, "%s: no memory for %zu bytes", name, size);
	if (size)
		memcpy(copy, text, size);
	s = parse(out, copy, size, name, err);
	free(copy);
	return s;
}

// The end of the comment that begins at p, or p when none does.
static char *comment_end(char *p)
{
	if (*p == '#' || (p[0] == '/' && p[1] == '/'))
		return p + strcspn(p, "\n");
	if (p[0] != '/' || p[1] != '*')
		return p;
	char *end = strstr(p + 2, "*/");
	return end ? end + 2 : p + strlen(p);
}

void json_blank_comments(char *text)
{
	bool quoted = false;
	for (char *p = text; *p; p++) {
		char *end = quoted ? p : comment_end(p);
		for (char *c = p; c < end; c++)
			if (*c != '\n')
				*c = ' ';
		if (quoted && *p == '\\' && p[1])
			p++; // what is escaped does not end the text
		else if (*p == '"')
			quoted = !quoted;
		if (end > p)
			p = end - 1;
	}
}

enum status json_is_file(bool *json, const char *path, struct error *err)
{
	struct bytes b;
	enum status s = file_map(&b, path, err);
	if (s != STATUS_OK)
		return s;
	size_t at = bytes_mark(&b);
	while (at < b.size && strchr(" \t\r\n", b.data[at]))
		at++;
	*json = str_has_suffix(path, ".json") || (at < b.size && b.data[at] == '{');
	bytes_done(&b);
	return STATUS_OK;
}

enum status json_read(cJSON **out, const char *path, struct error *err)
{
	struct bytes b;
	enum status s;
	*out = NULL;
	if (file_read_text(&b, path, FILE_LIMIT, err))
		return err->status;
	char *plain = strlen((const char *)b.data) == b.size ? without_python_numbers((const char *)b.data, b.size) : NULL;
	s = plain ? parse(out, plain, strlen(plain), path, err) : parse(out, (const char *)b.data, b.size, path, err);
	free(plain);
	bytes_done(&b);
	return s;
}

enum status json_write(const cJSON *j, const char *path, bool exact, struct error *err)
{
	char *text = cJSON_Print(j);
	struct str sound = {0};
	enum status s;
	if (!text) // a tree of ours ends, so that there is too much of it for a text
		return error_set(err, STATUS_NOMEM, "%s: no memory to write the JSON", path);
	if (!exact)
		str_add_utf8(&sound, text);
	const char *out = exact ? text : str_text(&sound);
	s = file_write_parts(path, (struct file_part[]){{.data = out, .size = strlen(out)}, {.data = "\n", .size = 1}}, 2, err);
	str_done(&sound);
	cJSON_free(text);
	return s;
}

static const char *type_word(int type)
{
	return type == cJSON_Object ? "an object" : type == cJSON_Array ? "a list" : type == cJSON_String ? "a text" : "a number";
}

enum status json_check(const cJSON *obj, const struct json_member *member, size_t n, bool null_is_absent, struct error *err)
{
	for (const struct json_member *m = member; m < member + n; m++) {
		const cJSON *in = m->in ? cJSON_GetObjectItemCaseSensitive(obj, m->in) : obj;
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(in, m->name);
		if (!item || (item->type & 0xff) == m->type || (null_is_absent && cJSON_IsNull(item)))
			continue;
		return error_set(err, STATUS_FORMAT, "\"%s%s%s\" must be %s", m->in ? m->in : "", m->in ? "." : "", m->name,
		    type_word(m->type));
	}
	return STATUS_OK;
}

const char *json_text(const cJSON *obj, const char *key, const char *dflt)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(obj, key));
	return text ? text : dflt;
}

double json_number(const cJSON *obj, const char *key, double dflt)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);
	double v;
	if (cJSON_IsRaw(item) && str_to_double(item->valuestring, &v)) // what is to be written with all its digits
		return isfinite(v) ? v : dflt;
	return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : dflt;
}

int json_count(const cJSON *obj, const char *key)
{
	double v = json_number(obj, key, 0);
	return v >= 0 && v <= 1e9 ? (int)v : 0;
}

bool json_bool(const cJSON *obj, const char *key, bool dflt)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);
	return cJSON_IsBool(item) ? cJSON_IsTrue(item) : dflt;
}

cJSON *json_float(float v)
{
	char text[32];
	int digits = FLT_DIG;
	do
		snprintf(text, sizeof text, "%.*g", digits, v);
	while (strtof(text, NULL) != v && digits++ < FLT_DECIMAL_DIG);
	return cJSON_CreateNumber(strtod(text, NULL));
}

void json_add_number(cJSON *obj, const char *key, double v)
{
	if (isfinite(v))
		cJSON_AddNumberToObject(obj, key, v);
}

void json_add_text(cJSON *obj, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(obj, key, text);
}
