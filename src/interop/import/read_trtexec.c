// trtexec's --layerPrecisions=NAME:TYPE,... in a command line or a script: a star in a name stands for anything.
#include <fnmatch.h>
#include <string.h>
#include "wishes.h"

static const char option[] = "--layerPrecisions=";
static const struct word types[] = {
    {"int8", PREC_INT8}, {"fp16", WISH_HALF}, {"fp32", PREC_FLOAT}, {"bf16", WISH_HALF}, {"float16", WISH_HALF}, {"float32", PREC_FLOAT}};

static void wish_matching(struct wishes *w, const char *pattern, enum precision p)
{
	bool any = false;
	for (int n = 0; n < w->g->n_nodes; n++)
		if (fnmatch(pattern, w->g->node[n].name, 0) == 0) {
			wish_precision(w, n, p);
			any = true;
		}
	if (!any)
		wish_note(w, "%.120s: no node has such a name", pattern);
}

static void read_layer(struct wishes *w, char *item)
{
	char *colon = strrchr(item, ':');
	int p = colon ? WORD_MEANS(types, colon + 1) : -1;
	if (p < 0) {
		wish_note(w, "%.120s: not NAME:TYPE with int8, fp16, bf16 or fp32", item);
		return;
	}
	*colon = '\0';
	if (strchr(item, '*'))
		wish_matching(w, item, (enum precision)p);
	else
		wish_name(w, item, (enum precision)p);
}

// Where the value ends that begins there: at `outer`, the quotes around the whole option, or where there are none ('\0') at a blank
// and at the end of a line that goes on, or at a quote without a partner, which was open before it. Quotes within it are taken out.
static char *end_of_value(char *value, char outer)
{
	char *to = value, *begin = value, inner = '\0';
	for (; *value; value++) {
		bool goes_on = *value == '\\' && strchr("\r\n", value[1]);
		bool closes = !inner && value > begin && strchr("\"'", *value) && !memchr(value + 1, *value, strcspn(value + 1, "\n"));
		if (!inner && (outer ? *value == outer : goes_on || closes || strchr(" \t\r\n", *value)))
			break;
		if (*value != outer && strchr("\"'", *value) && (!inner || inner == *value))
			inner = inner ? '\0' : *value;
		else
			*to++ = *value;
	}
	char *end = *value ? value + 1 : value;
	*to = '\0';
	return end;
}

bool read_trtexec(struct wishes *w, char *text)
{
	char *at = strstr(text, option), *rest = NULL;
	if (!at)
		return false;
	while (at) {
		char outer = at > text && strchr("\"'", at[-1]) ? at[-1] : '\0', *value = at + sizeof option - 1;
		char *next = end_of_value(value, outer);
		for (char *item = strtok_r(value, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
			read_layer(w, item);
		at = strstr(next, option);
	}
	return true;
}
