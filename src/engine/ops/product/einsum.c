// Einsum: each output element is a sum, over the labels that are not in the output, of products of one element of every
// input. Here its equation is read.
#include <ctype.h>
#include <string.h>
#include "einsum.h"
#include "../rule.h"

// Stands for its dimensions, which are named by digits '0', '1' ... from the left of the longest one.
#define ELLIPSIS '.'

static int find_label(const struct einsum *e, char label)
{
	for (int i = 0; i < e->labels; i++)
		if (e->label[i] == label)
			return i;
	return -1;
}

static enum status bad_equation(const char *equation, struct error *err)
{
	return error_set(err, STATUS_FORMAT, "equation `%.100s` does not fit the inputs", equation);
}

// Reads labels up to a comma, an arrow or the end. An ellipsis becomes `dots` digits, ending with the highest one,
// `most` - 1.
static bool parse_term(struct einsum_term *t, const char **p, int dots, int most)
{
	t->n = 0;
	for (; **p && **p != ',' && **p != '-'; ++*p) {
		int n = 1;
		if (isspace((unsigned char)**p))
			continue;
		if (!strncmp(*p, "...", 3)) {
			n = dots;
			*p += 2;
		} else if (!isalpha((unsigned char)**p)) {
			return false;
		}
		if (t->n + n > SHAPE_MAX_RANK)
			return false;
		for (int i = 0; i < n; i++)
			t->label[t->n++] = **p == ELLIPSIS ? (char)('0' + most - n + i) : **p;
	}
	return true;
}

static int count_letters(const char *p, bool *has_dots)
{
	int n = 0;
	*has_dots = false;
	for (; *p && *p != ',' && *p != '-'; p++) {
		n += isalpha((unsigned char)*p) != 0;
		*has_dots |= *p == '.';
	}
	return n;
}

// How many dimensions the longest ellipsis has; -1 when an input's rank does not fit its term.
static int longest_ellipsis(const char *p, const struct tensor *const *in, int operands)
{
	int most = 0;
	for (int k = 0; k < operands; k++) {
		bool dots;
		int n = in[k]->shape.rank - count_letters(p, &dots);
		if (n < 0 || (n > 0 && !dots))
			return -1;
		most = n > most ? n : most;
		p += strcspn(p, ",-");
		p += *p == ',';
	}
	return most;
}

static bool add_dims(struct einsum *e, const struct einsum_term *t, const struct shape *s)
{
	for (int i = 0; i < t->n; i++) {
		int at = find_label(e, t->label[i]);
		if (at < 0) {
			if (e->labels == EINSUM_LABELS)
				return false;
			at = e->labels++;
			e->label[at] = t->label[i];
			e->dim[at] = 1;
		}
		if (s->dim[i] != e->dim[at] && s->dim[i] != 1 && e->dim[at] != 1)
			return false;
		e->dim[at] = e->dim[at] == 1 ? s->dim[i] : e->dim[at];
	}
	return true;
}

// Without an arrow the output has the ellipsis, then the labels that occur once, in alphabetical order. False: too many.
static bool implicit_output(struct einsum *e, int dots)
{
	for (int i = 0; i < dots; i++)
		e->out.label[e->out.n++] = (char)('0' + i);
	for (int c = 'A'; c <= 'z'; c++) {
		int uses = 0;
		for (int k = 0; k < e->operands; k++)
			for (int i = 0; i < e->in[k].n; i++)
				uses += e->in[k].label[i] == c;
		if (uses == 1 && e->out.n == SHAPE_MAX_RANK)
			return false;
		if (uses == 1)
			e->out.label[e->out.n++] = (char)c;
	}
	return true;
}

static void swap_labels(struct einsum *e, int a, int b)
{
	char label = e->label[a];
	int64_t dim = e->dim[a];
	e->label[a] = e->label[b];
	e->dim[a] = e->dim[b];
	e->label[b] = label;
	e->dim[b] = dim;
}

static bool output_first(struct einsum *e)
{
	for (int i = 0; i < e->out.n; i++) {
		int at = find_label(e, e->out.label[i]);
		if (at < i) // not in any input, or twice in the output
			return false;
		swap_labels(e, i, at);
	}
	return true;
}

static enum status parse_equation(
    struct einsum *e, const char *equation, const struct tensor *const *in, int operands, struct error *err)
{
	const char *p = equation;
	int most;
	*e = (struct einsum){.operands = operands};
	if (operands > EINSUM_OPERANDS)
		return error_set(err, STATUS_UNSUPPORTED, "more than %d inputs are not supported", EINSUM_OPERANDS);
	for (int k = 0; k < operands; k++)
		if (!in[k])
			return error_set(err, STATUS_FORMAT, "input %d is missing", k);
	most = longest_ellipsis(p, in, operands);
	for (int k = 0; k < operands && most >= 0; k++) {
		bool dots;
		int letters = count_letters(p, &dots);
		if (!parse_term(&e->in[k], &p, in[k]->shape.rank - letters, most) || e->in[k].n != in[k]->shape.rank ||
		    !add_dims(e, &e->in[k], &in[k]->shape) || (k + 1 < operands && *p != ','))
			return bad_equation(equation, err);
		p += *p == ',';
	}
	if (most < 0)
		return bad_equation(equation, err);
	if (!strncmp(p, "->", 2)) {
		p += 2;
		if (!parse_term(&e->out, &p, most, most) || *p)
			return bad_equation(equation, err);
	} else if (*p) {
		return bad_equation(equation, err);
	} else if (!implicit_output(e, most)) {
		return error_set(err, STATUS_UNSUPPORTED, "equation `%.100s` has an output of more than %d dimensions", equation, SHAPE_MAX_RANK);
	}
	return output_first(e) ? STATUS_OK : bad_equation(equation, err);
}

static enum status parse(struct einsum *e, const struct node *n, const struct tensor *const *in, struct error *err)
{
	return parse_equation(e, ((const struct einsum_attrs *)n->attrs)->equation, in, n->n_in, err);
}

enum status einsum_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct einsum e;
	struct shape y = {0};
	enum status s = parse(&e, n, in, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < e.out.n; i++)
		rule_push(&y, e.dim[i]);
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

static void label_strides(
    int64_t stride[EINSUM_LABELS], const struct einsum *e, const struct einsum_term *t, const struct shape *s)
{
	int64_t dense[SHAPE_MAX_RANK];
	rule_strides(dense, s);
	memset(stride, 0, EINSUM_LABELS * sizeof *stride);
	for (int i = 0; i < t->n; i++)
		if (s->dim[i] != 1)
			stride[find_label(e, t->label[i])] += dense[i];
}

static enum status walk(
    struct einsum_walk *w, struct einsum *e, const char *equation, const struct tensor *const *in, int operands, struct error *err)
{
	enum status s = parse_equation(e, equation, in, operands, err);
	*w = (struct einsum_walk){.e = e, .in = in, .terms = 1};
	for (int k = 0; s == STATUS_OK && k < operands; k++)
		label_strides(w->stride[k], e, &e->in[k], &in[k]->shape);
	for (int i = e->out.n; s == STATUS_OK && i < e->labels; i++)
		if (__builtin_mul_overflow(w->terms, e->dim[i], &w->terms))
			s = error_set(err, STATUS_UNSUPPORTED, "equation `%.100s` has too many terms", equation);
	return s;
}

bool einsum_product(struct einsum_product *p, const char *equation, const struct tensor *const *in)
{
	struct einsum e;
	struct einsum_walk w;
	struct error err;
	return walk(&w, &e, equation, in, 2, &err) == STATUS_OK && einsum_product_of(p, &w);
}

int64_t einsum_macs(const struct node *n, const struct tensor *const *in)
{
	const char *equation = ((const struct einsum_attrs *)n->attrs)->equation;
	struct einsum e;
	struct einsum_walk w;
	struct error err;
	return n->n_in > 1 && walk(&w, &e, equation, in, n->n_in, &err) == STATUS_OK ? einsum_path_macs(&w) : 0;
}

enum status einsum_at_once(const struct einsum_walk *w, struct tensor *out, int width, struct error *err)
{
	int64_t count = 1;
	if (w->e->operands == 2 && out->type == DT_F32)
		return einsum_pair(w, out->data, width, err);
	for (int i = 0; i < w->e->out.n; i++)
		count *= w->e->dim[i];
	einsum_sums(w, out, count, width);
	return STATUS_OK;
}

enum status einsum_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct einsum e;
	struct einsum_walk w;
	enum status s = walk(&w, &e, ((const struct einsum_attrs *)n->attrs)->equation, in, n->n_in, err);
	if (s != STATUS_OK)
		return s;
	if (e.operands > 2 && w.terms > 0)
		return einsum_path(&w, &out[0], width, err);
	return einsum_at_once(&w, &out[0], width, err);
}
