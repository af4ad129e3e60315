// Unique: the different elements, or slices along an axis, with first index, inverse and counts; sorted, or in order of
// appearance. That of ONNX Runtime has no first index.
#include <stdlib.h>
#include <string.h>
#include "../../tensor/float_bits.h"
#include "../element.h"
#include "../rule.h"

struct slices { // [outer, n, inner] over the input
	const struct tensor *x;
	int64_t outer, n, inner;
};

struct ranked {
	const struct slices *s;
	uint64_t key;  // of its first element: slices are in the order of these, and of the rest of them where these are equal
	int64_t index; // of the slice
};

static bool has_more(const struct slices *s)
{
	return s->outer * s->inner > 1;
}

static enum status make_slices(struct slices *v, const struct node *n, const struct tensor *x, struct error *err)
{
	int64_t given = ((const struct unique_attrs *)n->attrs)->axis;
	int axis = 0;
	enum status s = given == NO_AXIS ? STATUS_OK : rule_axis(&axis, given, x->shape.rank, err);
	*v = (struct slices){x, 1, shape_count(&x->shape), 1};
	if (s == STATUS_OK && given != NO_AXIS)
		*v = (struct slices){x, rule_product(&x->shape, 0, axis), x->shape.dim[axis],
		    rule_product(&x->shape, axis + 1, x->shape.rank)};
	return s;
}

// In the order of the elements, and equal where they are. All NaN are one value, after the numbers.
static uint64_t key_of_element(const struct tensor *x, int64_t i)
{
	const uint64_t sign = (uint64_t)1 << 63;
	if (x->type == DT_F32) {
		float v = ((const float *)x->data)[i] + 0.0f; // no -0
		uint32_t bits = bits_of_float(v);
		return v != v ? UINT64_MAX : bits >> 31 ? (uint32_t)~bits : bits | sign;
	}
	return elements_unsigned(x->type) ? (uint64_t)element_int(x, i) : (uint64_t)element_int(x, i) ^ sign;
}

static int compare_slices(const struct slices *s, int64_t a, int64_t b)
{
	for (int64_t o = 0; o < s->outer; o++)
		for (int64_t i = 0; i < s->inner; i++) {
			uint64_t x = key_of_element(s->x, (o * s->n + a) * s->inner + i),
			         y = key_of_element(s->x, (o * s->n + b) * s->inner + i);
			if (x != y)
				return x < y ? -1 : 1;
		}
	return 0;
}

static int compare_ranked(const struct ranked *x, const struct ranked *y)
{
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return has_more(x->s) ? compare_slices(x->s, x->index, y->index) : 0;
}

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int c = compare_ranked(x, y);
	return c ? c : x->index < y->index ? -1 : x->index > y->index;
}

struct distinct {
	int64_t n;
	int64_t *first, *count; // n of each, in the order of the output
	int64_t *inverse;       // one a slice
};

// Numbers the groups as they appear.
static void order_by_appearance(struct distinct *d, int64_t *number, int64_t n)
{
	int64_t seen = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t g = d->inverse[i];
		if (d->first[g] == i)
			number[g] = seen++;
		d->inverse[i] = number[g];
	}
	memset(d->count, 0, (size_t)d->n * sizeof *d->count);
	for (int64_t i = n - 1; i >= 0; i--) {
		d->first[d->inverse[i]] = i;
		d->count[d->inverse[i]]++;
	}
}

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

// By keys alone, of equal ones the first stays in front: by one digit after another, from the lowest.
// Returns where the result is, which is `r` or `spare`.
static struct ranked *sort_by_key(struct ranked *r, struct ranked *spare, int64_t n)
{
	for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
		int64_t at[DIGITS + 1] = {0};
		for (int64_t i = 0; i < n; i++)
			at[(r[i].key >> shift) % DIGITS + 1]++;
		if (n == 0 || at[(r[0].key >> shift) % DIGITS + 1] == n) // all have the same digit here
			continue;
		for (int k = 0; k < DIGITS; k++)
			at[k + 1] += at[k];
		for (int64_t i = 0; i < n; i++)
			spare[at[(r[i].key >> shift) % DIGITS]++] = r[i];
		struct ranked *sorted = spare;
		spare = r;
		r = sorted;
	}
	return r;
}

// `r` has room for two rows of as many.
static void group(struct distinct *d, struct ranked *r, const struct slices *s)
{
	for (int64_t i = 0; i < s->n; i++)
		r[i] = (struct ranked){s, s->outer * s->inner > 0 ? key_of_element(s->x, i * s->inner) : 0, i};
	if (has_more(s))
		qsort(r, (size_t)s->n, sizeof *r, by_value);
	else
		r = sort_by_key(r, r + s->n, s->n);
	for (int64_t i = 0; i < s->n; i++) {
		if (i == 0 || compare_ranked(&r[i], &r[i - 1])) {
			d->first[d->n] = r[i].index;
			d->count[d->n++] = 0;
		}
		d->inverse[r[i].index] = d->n - 1;
		d->count[d->n - 1]++;
	}
}

static void free_distinct(struct distinct *d)
{
	free(d->first);
	*d = (struct distinct){0};
}

// d->first is one block for all; free_distinct it.
static enum status find_distinct(struct distinct *d, const struct node *n, const struct slices *s, struct error *err)
{
	struct ranked *r = mem_try_array((size_t)s->n * 2 + 1, sizeof *r);
	int64_t *block = mem_try_array((size_t)s->n * 4 + 1, sizeof *block);
	*d = (struct distinct){.first = block};
	if (!r || !block) {
		free(r);
		free_distinct(d);
		return error_set(err, STATUS_NOMEM, "no memory to sort %lld elements", (long long)s->n);
	}
	d->count = block + s->n;
	d->inverse = block + 2 * s->n;
	group(d, r, s);
	if (!((const struct unique_attrs *)n->attrs)->sorted)
		order_by_appearance(d, block + 3 * s->n, s->n);
	free(r);
	return STATUS_OK;
}

enum list { FIRST = 1, INVERSE, COUNT };

static enum list list_of(const struct node *n, int output)
{
	return (enum list)(*n->op->domain ? output + 1 : output);
}

enum status unique_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t axis = ((const struct unique_attrs *)n->attrs)->axis;
	struct slices v;
	struct distinct d;
	struct shape y = in[0]->shape, list = {.rank = 1};
	enum status s = make_slices(&v, n, in[0], err);
	if (s == STATUS_OK && !rule_known(in[0]))
		s = rule_pending(err);
	if (s == STATUS_OK)
		s = find_distinct(&d, n, &v, err);
	if (s != STATUS_OK)
		return s;
	if (axis == NO_AXIS)
		y = (struct shape){.rank = 1, .dim = {d.n}};
	else
		y.dim[axis < 0 ? axis + y.rank : axis] = d.n;
	rule_set(&out[0], in[0]->type, &y);
	for (int i = 1; i < n->n_out; i++) {
		list.dim[0] = list_of(n, i) == INVERSE ? v.n : d.n;
		rule_set(&out[i], DT_I64, &list);
	}
	free_distinct(&d);
	return STATUS_OK;
}

enum status unique_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct slices v;
	struct distinct d;
	size_t run;
	enum status s = make_slices(&v, n, in[0], err);
	(void)width;
	if (s == STATUS_OK)
		s = find_distinct(&d, n, &v, err);
	if (s != STATUS_OK)
		return s;
	run = (size_t)v.inner * dtype_size(in[0]->type);
	for (int64_t o = 0; run && o < v.outer; o++)
		for (int64_t g = 0; g < d.n; g++)
			memcpy((char *)out[0].data + (size_t)(o * d.n + g) * run,
			    (const char *)in[0]->data + (size_t)(o * v.n + d.first[g]) * run, run);
	for (int i = 1; i < n->n_out; i++) {
		const int64_t *const list[] = {[FIRST] = d.first, [INVERSE] = d.inverse, [COUNT] = d.count};
		if (n->out[i] >= 0 && tensor_bytes(&out[i]))
			memcpy(out[i].data, list[list_of(n, i)], tensor_bytes(&out[i]));
	}
	free_distinct(&d);
	return STATUS_OK;
}
