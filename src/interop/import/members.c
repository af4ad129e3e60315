// What readers ask of the members of a file, which may hold anything.
#include <string.h>
#include "wishes.h"

int word_means(const struct word *table, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].text, text) == 0)
			return table[i].means;
	return -1;
}

bool one_number(double *out, const cJSON *x)
{
	x = cJSON_IsArray(x) && cJSON_GetArraySize(x) == 1 ? x->child : x;
	if (cJSON_IsString(x))
		return str_to_double(x->valuestring, out);
	*out = cJSON_IsNumber(x) ? x->valuedouble : 0;
	return cJSON_IsNumber(x);
}

static const cJSON *member_of_kind(struct wishes *w, const cJSON *o, const char *name, int type, const char *kind)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name);
	if (m && (m->type & 0xff) == type)
		return m;
	if (m && !cJSON_IsNull(m))
		wish_note(w, "%.60s: it is not %s and is not read", name, kind);
	return NULL;
}

const cJSON *object_in(struct wishes *w, const cJSON *o, const char *name)
{
	return member_of_kind(w, o, name, cJSON_Object, "an object");
}

const cJSON *list_in(struct wishes *w, const cJSON *o, const char *name)
{
	return member_of_kind(w, o, name, cJSON_Array, "a list");
}

void note_unread(struct wishes *w, const cJSON *o, const char *where, const char *known)
{
	struct str names = {0};
	const cJSON *item;
	int n = 0;
	cJSON_ArrayForEach(item, o)
		if (item->string && !str_has_word(known, item->string) && n++ < 5)
			str_addf(&names, "%s%.40s", n > 1 ? ", " : "", item->string);
	if (n)
		wish_note(w, "%s: %s%s not read", where, str_text(&names), n > 5 ? " ... are" : n > 1 ? " are" : " is");
	str_done(&names);
}

void each_text_in(struct wishes *w, const cJSON *o, const char *name, void (*wish)(struct wishes *w, const char *text))
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list_in(w, o, name))
	{
		if (cJSON_IsString(item))
			wish(w, item->valuestring);
		else
			wish_note(w, "%.60s: only names are read%s", name, cJSON_IsArray(item) ? ", no subgraphs: name their nodes" : "");
	}
}
