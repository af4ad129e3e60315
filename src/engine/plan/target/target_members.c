// Readers of members that know nothing of targets but where their texts live.
#include <math.h>
#include <string.h>
#include "qtui/base/str.h"
#include "target_members.h"

enum status member_fault(struct member_reading *r, const char *member, const char *what)
{
	return error_set(r->err, STATUS_FORMAT, "target %s: \"%s\" %s", r->file, member, what);
}

void *member_place(void *base, const struct member *f)
{
	return (char *)base + f->offset;
}

enum status member_text(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	if (!cJSON_IsString(j) || strlen(j->valuestring) > 200)
		return member_fault(r, f->name, "must be a text of at most 200 bytes");
	*(const char **)member_place(base, f) = arena_strdup(r->t->arena, j->valuestring);
	return STATUS_OK;
}

enum status member_bool(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	if (!cJSON_IsBool(j))
		return member_fault(r, f->name, "must be true or false");
	*(bool *)member_place(base, f) = cJSON_IsTrue(j);
	return STATUS_OK;
}

enum status member_int(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	if (!cJSON_IsNumber(j) || j->valuedouble != floor(j->valuedouble) || fabs(j->valuedouble) > f->flag)
		return member_fault(r, f->name, "must be a whole number in range");
	*(int *)member_place(base, f) = (int)j->valuedouble;
	return STATUS_OK;
}

enum status member_number(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	if (!cJSON_IsNumber(j) || !(j->valuedouble > 0) || !isfinite(j->valuedouble))
		return member_fault(r, f->name, "must be a number above 0");
	*(double *)member_place(base, f) = j->valuedouble;
	return STATUS_OK;
}

static const char *nearest_choice(const char *const *choice, const char *text)
{
	const char *best = choice[0];
	for (int i = 1; choice[i]; i++)
		if (str_distance(choice[i], text) < str_distance(best, text))
			best = choice[i];
	return best;
}

// Enumerations are ints to the compiler here: every enum in struct target has int's size.
enum status member_choice(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	const char *const *choice = f->more;
	if (!cJSON_IsString(j))
		return member_fault(r, f->name, "must be a text");
	for (int i = 0; choice[i]; i++) {
		if (strcmp(choice[i], j->valuestring) == 0) {
			*(int *)member_place(base, f) = i;
			return STATUS_OK;
		}
	}
	return error_set(r->err, STATUS_FORMAT, "target %s: \"%s\" cannot be \"%.60s\"; did you mean \"%s\"?", r->file,
	    f->name, j->valuestring, nearest_choice(choice, j->valuestring));
}

// A list of choices, as bits.
enum status member_flags(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	unsigned *flags = member_place(base, f);
	if (!cJSON_IsArray(j))
		return member_fault(r, f->name, "must be a list of names");
	*flags = 0;
	const cJSON *name;
	cJSON_ArrayForEach(name, j) {
		int bit = 0;
		enum status st = member_choice(r, name, &(struct member){.name = f->name, .more = f->more}, &bit);
		if (st)
			return st;
		*flags |= 1u << bit;
	}
	return STATUS_OK;
}

enum status member_object(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	if (!cJSON_IsObject(j))
		return member_fault(r, f->name, "must be an object");
	return members_read(r, j, f->more, member_place(base, f));
}

static enum status unknown_member(struct member_reading *r, const char *name, const struct member *f)
{
	const char *best = f->name;
	for (; f->name; f++)
		if (str_distance(f->name, name) < str_distance(best, name))
			best = f->name;
	return error_set(r->err, STATUS_FORMAT, "target %s: unknown member \"%.60s\"; the nearest known is \"%s\"", r->file,
	    name, best);
}

static enum status check_known(struct member_reading *r, const cJSON *obj, const struct member *fields)
{
	const cJSON *j;
	cJSON_ArrayForEach(j, obj) {
		const struct member *f = fields;
		while (f->name && strcmp(f->name, j->string) != 0)
			f++;
		if (!f->name)
			return unknown_member(r, j->string, fields);
		if (cJSON_GetObjectItemCaseSensitive(obj, f->name) != j)
			return member_fault(r, f->name, "is given twice");
	}
	return STATUS_OK;
}

enum status members_read(struct member_reading *r, const cJSON *obj, const struct member *fields, void *base)
{
	enum status st = check_known(r, obj, fields);
	for (const struct member *f = fields; f->name && !st; f++) {
		const cJSON *j = cJSON_GetObjectItemCaseSensitive(obj, f->name);
		if (j && f->read)
			st = f->read(r, j, f, base);
	}
	return st;
}
