// YAML as a cJSON tree, for files of other tools: libyaml reads it, event by event.
// What JSON has no word for is refused.
#include "qtui/base/json.h"

#include <string.h>
#include <yaml.h>
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { MOST_NESTED = 100 };

struct reader {
	yaml_parser_t parser;
	const char *name;
	struct error *err;
};

static enum status refuse(struct reader *r, const yaml_event_t *e, const char *what)
{
	return error_set(r->err, STATUS_UNSUPPORTED, "%s:%zu: %s", r->name, e->start_mark.line + 1, what);
}

// The caller deletes the event, also after an error.
static enum status next(struct reader *r, yaml_event_t *e)
{
	if (yaml_parser_parse(&r->parser, e))
		return STATUS_OK;
	memset(e, 0, sizeof *e);
	if (r->parser.error == YAML_MEMORY_ERROR)
		return error_set(r->err, STATUS_NOMEM, "%s: no memory for this much YAML", r->name);
	// The scanner knows the place, the decoder of characters only the byte.
	size_t line = r->parser.error == YAML_READER_ERROR ? r->parser.mark.line : r->parser.problem_mark.line;
	return error_set(r->err, STATUS_FORMAT, "%s:%zu: not valid YAML: %s", r->name, line + 1,
	    r->parser.problem ? r->parser.problem : "unknown");
}

static const char *text_of(const yaml_event_t *e)
{
	return (const char *)e->data.scalar.value;
}

// Of YAML 1.1, which Python's reader knows.
static const struct word {
	const char *text;
	int type;
} words[] = {
    {"", cJSON_NULL}, {"~", cJSON_NULL}, {"null", cJSON_NULL}, {"Null", cJSON_NULL}, {"NULL", cJSON_NULL},
    {"true", cJSON_True}, {"True", cJSON_True}, {"TRUE", cJSON_True}, {"false", cJSON_False}, {"False", cJSON_False}, {"FALSE", cJSON_False},
    {"yes", cJSON_True}, {"Yes", cJSON_True}, {"YES", cJSON_True}, {"no", cJSON_False}, {"No", cJSON_False}, {"NO", cJSON_False},
    {"on", cJSON_True}, {"On", cJSON_True}, {"ON", cJSON_True}, {"off", cJSON_False}, {"Off", cJSON_False}, {"OFF", cJSON_False},
};

static cJSON *scalar(const yaml_event_t *e)
{
	const char *text = text_of(e);
	double number;
	if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return cJSON_CreateString(text);
	for (const struct word *w = words; w < words + sizeof words / sizeof *words; w++)
		if (strcmp(w->text, text) == 0)
			return w->type == cJSON_NULL ? cJSON_CreateNull() : cJSON_CreateBool(w->type == cJSON_True);
	return str_to_double(text, &number) ? cJSON_CreateNumber(number) : cJSON_CreateString(text);
}

static enum status value(cJSON **out, struct reader *r, const yaml_event_t *e, int depth);

// The value that comes next, or what there is of it after an error; at the end of the collection *out stays NULL.
static enum status next_value(cJSON **out, struct reader *r, yaml_event_type_t end, int depth)
{
	yaml_event_t e;
	enum status s = next(r, &e);
	if (s == STATUS_OK && e.type != end)
		s = value(out, r, &e, depth);
	yaml_event_delete(&e);
	return s;
}

static enum status list(cJSON *a, struct reader *r, int depth)
{
	for (;;) {
		cJSON *item = NULL;
		enum status s = next_value(&item, r, YAML_SEQUENCE_END_EVENT, depth);
		if (item)
			cJSON_AddItemToArray(a, item);
		if (s != STATUS_OK || !item)
			return s;
	}
}

static enum status member(cJSON *o, struct reader *r, const yaml_event_t *key, int depth)
{
	cJSON *item = NULL;
	enum status s;
	if (key->type != YAML_SCALAR_EVENT || strlen(text_of(key)) != key->data.scalar.length)
		return refuse(r, key, "a key that is no text");
	s = next_value(&item, r, YAML_NO_EVENT, depth);
	if (item)
		cJSON_AddItemToObject(o, text_of(key), item);
	return s;
}

static enum status object(cJSON *o, struct reader *r, int depth)
{
	for (;;) {
		yaml_event_t key;
		enum status s = next(r, &key);
		bool end = s != STATUS_OK || key.type == YAML_MAPPING_END_EVENT;
		if (!end)
			s = member(o, r, &key, depth);
		yaml_event_delete(&key);
		if (end || s != STATUS_OK)
			return s;
	}
}

// *out is what was read so far, also after an error: the caller deletes the whole tree.
static enum status value(cJSON **out, struct reader *r, const yaml_event_t *e, int depth)
{
	if (depth > MOST_NESTED)
		return error_set(r->err, STATUS_UNSUPPORTED, "%s:%zu: nested more than %d deep", r->name, e->start_mark.line + 1, MOST_NESTED);
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		if (strlen(text_of(e)) != e->data.scalar.length)
			return refuse(r, e, "a text with a NUL in it");
		*out = scalar(e);
		return STATUS_OK;
	case YAML_SEQUENCE_START_EVENT:
		*out = cJSON_CreateArray();
		return list(*out, r, depth + 1);
	case YAML_MAPPING_START_EVENT:
		*out = cJSON_CreateObject();
		return object(*out, r, depth + 1);
	default: // a few lines of aliases may stand for more than memory holds
		return refuse(r, e, "an alias (*NAME) is not read: write what it stands for");
	}
}

// A stream of one document.
static enum status stream(cJSON **out, struct reader *r)
{
	for (;;) {
		yaml_event_t e;
		enum status s = next(r, &e);
		bool end = s != STATUS_OK || e.type == YAML_STREAM_END_EVENT;
		if (s == STATUS_OK && e.type == YAML_DOCUMENT_START_EVENT && *out)
			s = refuse(r, &e, "a second document");
		else if (s == STATUS_OK && e.type == YAML_DOCUMENT_START_EVENT)
			s = next_value(out, r, YAML_NO_EVENT, 0);
		yaml_event_delete(&e);
		if (end || s != STATUS_OK)
			return s;
	}
}

enum status json_parse_yaml(cJSON **out, const char *text, size_t size, const char *name, struct error *err)
{
	struct reader r = {.name = name, .err = err};
	enum status s;
	*out = NULL;
	// A value takes at least one character of the text.
	if (size > SIZE_MAX / 128 || !mem_may_take(size * (sizeof(cJSON) + 32)) || !yaml_parser_initialize(&r.parser))
		return error_set(err, STATUS_NOMEM, "%s: no memory for this much YAML", name);
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
	s = stream(out, &r);
	if (s == STATUS_OK && !*out)
		s = error_set(err, STATUS_FORMAT, "%s: nothing is in it", name);
	yaml_parser_delete(&r.parser);
	if (s != STATUS_OK) {
		cJSON_Delete(*out);
		*out = NULL;
	}
	return s;
}
