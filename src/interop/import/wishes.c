#include "wishes.h"
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/op.h"

void wishes_init(struct wishes *w, const struct plan *p, struct str *notes)
{
	size_t n = (size_t)p->g->n_nodes + 1;
	*w = (struct wishes){.p = p, .g = p->g, .notes = notes, .method = -1};
	w->precision = xcalloc(n, sizeof *w->precision);
	memset(w->precision, -1, n);
	w->makers = tensor_makers(p->g);
	w->said = xcalloc(n, sizeof *w->said);
	w->scale = xcalloc(n, sizeof *w->scale);
}

void wishes_done(struct wishes *w)
{
	namemap_free(&w->makers);
	free(w->precision);
	free(w->said);
	free(w->scale);
	*w = (struct wishes){0};
}

void wish_note(struct wishes *w, const char *fmt, ...)
{
	enum { MOST = 1000 };
	char text[300];
	va_list ap;
	if (w->n_notes++ >= MOST)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	str_oneline(text);
	str_addf(w->notes, "%s\n", text);
}

// What is said of one part of a fused group holds for all of it.
void wish_precision(struct wishes *w, int node, enum precision p)
{
	int owner = w->p->group[node].owner;
	if (w->rank < w->said[owner] || (w->rank == w->said[owner] && w->precision[owner] == PREC_FLOAT))
		return;
	w->precision[owner] = (signed char)p;
	w->said[owner] = (signed char)w->rank;
}

void wish_scale(struct wishes *w, int node, double scale)
{
	w->scale[w->p->group[node].owner] = scale;
}

int node_of_tensor(const struct wishes *w, const char *tensor)
{
	int maker = namemap_get(w->makers, tensor);
	return maker >= 0 ? w->g->origin[maker].node : -1;
}

int quantizing_node(const struct wishes *w, const char *tensor, const char **why)
{
	int v = graph_find_value(w->g, tensor), node = v >= 0 ? w->g->value[v].producer : -1;
	*why = NULL;
	if (v < 0)
		*why = "the model has no tensor of this name";
	else if (w->g->value[v].constant)
		return -1;
	else if (node < 0)
		*why = "an input of the network, whose scale is the target's own";
	else if (w->g->node[node].out[0] != v)
		*why = "not the first output of its node, whose scale is the target's own";
	else if (w->p->group[node].last != node)
		*why = "inside a fused operator, where nothing is quantized";
	return *why ? -1 : node;
}

static int quantizing_node_or_note(struct wishes *w, const char *tensor)
{
	const char *why;
	int node = quantizing_node(w, tensor, &why);
	if (why)
		wish_note(w, "%.120s: %s", tensor, why);
	return node;
}

void wish_tensor(struct wishes *w, const char *tensor, double bits, double scale)
{
	int node = quantizing_node_or_note(w, tensor);
	if (node < 0)
		return;
	if (bits != WISH_FLOAT && bits != 8 && bits != 16) {
		wish_note(w, "%.120s: %g bits are not known here: 8, 16 and float are", tensor, bits);
		return;
	}
	wish_precision(w, node, bits == WISH_FLOAT ? PREC_FLOAT : bits == 16 ? PREC_INT16 : PREC_INT8);
	if (scale != 0 && bits != WISH_FLOAT)
		wish_scale(w, node, scale);
}

void wish_threshold(struct wishes *w, const char *tensor, double threshold, double step)
{
	int node = quantizing_node_or_note(w, tensor);
	const struct quantizer *q = node >= 0 ? &plan_out(w->p, node, 0)->quant : NULL;
	if (!q || q->kind != QUANT_LINEAR || q->qmax <= 0)
		return;
	if (!(threshold > 0))
		wish_note(w, "%.120s: %g is no threshold", tensor, threshold);
	else if (!q->symmetric)
		wish_note(w, "%.120s: the target quantizes with a zero point, which the threshold %g does not fix", tensor, threshold);
	if (!(threshold > 0) || !q->symmetric)
		return;
	double scale = threshold / (double)q->qmax, power = exp2(round(log2(scale)));
	bool is_power = q->pow2 && fabs(power * (double)q->qmax - threshold) <= step / 2;
	wish_scale(w, node, is_power ? power : scale);
}

bool wish_name(struct wishes *w, const char *name, enum precision p)
{
	int node = graph_find_node(w->g, name);
	struct error why;
	if (node >= 0)
		wish_precision(w, node, p);
	else
		wish_note(w, "%s", (graph_no_node(w->g, name, &why), why.text));
	return node >= 0;
}

// Python's \d and (?: in POSIX's words; all else that names need is the same.
static void posix_words(struct str *out, const char *pattern)
{
	static const char *const word[][2] = {{"\\\\", "\\\\"}, {"\\d", "[0-9]"}, {"\\D", "[^0-9]"}, {"\\(", "\\("}, {"(?:", "("}};
	while (*pattern) {
		size_t i = 0;
		while (i < sizeof word / sizeof *word && !str_has_prefix(pattern, word[i][0]))
			i++;
		bool known = i < sizeof word / sizeof *word;
		str_addn(out, known ? word[i][1] : pattern, known ? strlen(word[i][1]) : 1);
		pattern += known ? strlen(word[i][0]) : 1;
	}
}

void wish_pattern(struct wishes *w, const char *pattern, enum precision p)
{
	regex_t re;
	regmatch_t at;
	struct str posix = {0};
	bool any = false;
	posix_words(&posix, pattern);
	int wrong = regcomp(&re, str_text(&posix), REG_EXTENDED);
	str_done(&posix);
	if (wrong) {
		wish_note(w, "%.120s: not a regular expression that is understood here", pattern);
		return;
	}
	for (int n = 0; n < w->g->n_nodes; n++)
		if (regexec(&re, w->g->node[n].name, 1, &at, 0) == 0 && at.rm_so == 0) {
			wish_precision(w, n, p);
			any = true;
		}
	regfree(&re);
	if (!any)
		wish_note(w, "%.120s: no node has such a name", pattern);
}

void wish_type(struct wishes *w, const char *op_type, enum precision p)
{
	bool any = false;
	for (int n = 0; n < w->g->n_nodes; n++)
		if (strcmp(w->g->node[n].op->name, op_type) == 0) {
			wish_precision(w, n, p);
			any = true;
		}
	if (!any)
		wish_note(w, "%.120s: the model has no operator of this type", op_type);
}

void wish_all(struct wishes *w, enum precision p)
{
	for (int n = 0; n < w->g->n_nodes; n++)
		if (w->p->quantizable[n])
			wish_precision(w, n, p);
}

static bool mark_tensor(struct wishes *w, bool *mark, const cJSON *name)
{
	int v = cJSON_IsString(name) ? graph_find_value(w->g, name->valuestring) : -1;
	if (v < 0)
		wish_note(w, "%.120s: the model has no such tensor: nothing of its region is set", cJSON_IsString(name) ? name->valuestring : "a name that is no text");
	else
		mark[v] = true;
	return v >= 0;
}

// The tensors as marks [n_values]; NULL, with a note, when one is not there.
static bool *marked(struct wishes *w, const cJSON *names)
{
	bool *mark = xcalloc((size_t)w->g->n_values + 1, sizeof *mark), sound = true;
	const cJSON *name;
	if (!cJSON_IsArray(names))
		sound = mark_tensor(w, mark, names);
	else
		cJSON_ArrayForEach(name, names)
			sound = sound && mark_tensor(w, mark, name);
	if (!sound)
		free(mark);
	return sound ? mark : NULL;
}

static bool has_mark(const bool *mark, const int *value, int n)
{
	for (int i = 0; i < n; i++)
		if (value[i] >= 0 && mark[value[i]])
			return true;
	return false;
}

static void mark_all(bool *mark, const int *value, int n)
{
	for (int i = 0; i < n; i++)
		if (value[i] >= 0)
			mark[value[i]] = true;
}

// Nodes are in topological order: one way marks what comes after `from`, the way back what leads to `to`.
static void wish_marked(struct wishes *w, bool *from, bool *to, enum precision p)
{
	const struct graph *g = w->g;
	bool *after = xcalloc((size_t)g->n_nodes + 1, sizeof *after);
	for (int n = 0; n < g->n_nodes; n++)
		if ((after[n] = has_mark(from, g->node[n].in, g->node[n].n_in)))
			mark_all(from, g->node[n].out, g->node[n].n_out);
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		if (!has_mark(to, g->node[n].out, g->node[n].n_out))
			continue;
		mark_all(to, g->node[n].in, g->node[n].n_in);
		if (after[n] && w->p->quantizable[n])
			wish_precision(w, n, p);
	}
	free(after);
}

void wish_between(struct wishes *w, const cJSON *from, const cJSON *to, enum precision p)
{
	bool *after = marked(w, from), *before = after ? marked(w, to) : NULL;
	if (before)
		wish_marked(w, after, before, p);
	free(after);
	free(before);
}

int word_means(const struct word *table, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].text, text) == 0)
			return table[i].means;
	return -1;
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
