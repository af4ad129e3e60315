// TopK: the k largest or smallest along an axis in order; of equal elements the one that comes first is taken first.
#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "qtui/base/parts.h"

static enum status wanted(
    int64_t *k, int *axis, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct topk_attrs *a = n->attrs;
	enum status s = rule_axis(axis, a->axis, in[0]->shape.rank, err);
	if (s != STATUS_OK)
		return s;
	if (n->n_in > 1 && tensor_count(in[1]) != 1)
		return error_set(err, STATUS_FORMAT, "K must be one number");
	if (n->n_in > 1 && !in[1]->data)
		return rule_pending(err);
	*k = n->n_in > 1 ? element_int(in[1], 0) : a->k;
	if (!rule_within(*k, 0, in[0]->shape.dim[*axis]))
		return error_set(err, STATUS_FORMAT, "K is %lld, axis %d has %lld elements", (long long)*k, *axis,
		    (long long)in[0]->shape.dim[*axis]);
	return STATUS_OK;
}

enum status topk_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	int64_t k = 0;
	int axis = 0;
	enum status s = wanted(&k, &axis, n, in, err);
	if (s != STATUS_OK)
		return s;
	y.dim[axis] = k;
	rule_set(&out[0], in[0]->type, &y);
	rule_set(&out[1], DT_I64, &y);
	return STATUS_OK;
}

struct entry {
	int64_t value; // an integer that orders as the element does
	int64_t index;
};

static inline int by_rank(const struct entry *x, const struct entry *y) // larger values first, then smaller indices
{
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

// Sinks the root of a heap whose root is the last in rank.
static void sift_down(struct entry *heap, int64_t n)
{
	for (int64_t i = 0, child = 1; child < n; i = child, child = 2 * i + 1) {
		struct entry t = heap[i];
		if (child + 1 < n && by_rank(&heap[child + 1], &heap[child]) > 0)
			child++;
		if (by_rank(&heap[child], &t) <= 0)
			return;
		heap[i] = heap[child];
		heap[child] = t;
	}
}

static void sort_few(struct entry *e, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		struct entry t = e[i];
		int64_t at = i;
		for (; at > 0 && by_rank(&t, &e[at - 1]) < 0; at--)
			e[at] = e[at - 1];
		e[at] = t;
	}
}

// Two sorted halves, the second of which ends where the result does.
static void merge(struct entry *to, const struct entry *a, int64_t n_a, const struct entry *b, int64_t n_b)
{
	for (int64_t i = 0, j = 0; i < n_a;) {
		bool second = j < n_b && by_rank(&b[j], &a[i]) < 0;
		*to++ = second ? b[j] : a[i];
		j += second;
		i += !second;
	}
}

// `spare` has room for half of them.
static void sort(struct entry *e, struct entry *spare, int64_t n)
{
	enum { FEW = 24 };
	int64_t half = n / 2;
	if (n <= FEW) {
		sort_few(e, n);
		return;
	}
	sort(e, spare, half);
	sort(e + half, spare, n - half);
	if (by_rank(&e[half - 1], &e[half]) <= 0)
		return;
	memcpy(spare, e, (size_t)half * sizeof *e);
	merge(e, spare, half, e + half, n - half);
}

enum { PIECE = 64 }; // values that are looked at together

// Is none of them above the limit, and so none before it in rank?
static bool none_above(const int64_t *value, int64_t n, int64_t limit)
{
	int64_t above = 0;
	_Pragma("GCC unroll 8") for (int64_t i = 0; i < n; i++)
		above |= value[i] > limit;
	return !above;
}

// The first k in rank of n values, in order, in e, which has room for half of them more.
// A full heap of k is kept while the rest is passed over.
static void select_first(struct entry *e, const int64_t *value, int64_t n, int64_t k)
{
	if (k == 0)
		return;
	for (int64_t i = 0; i < k; i++)
		e[i] = (struct entry){value[i], i};
	sort(e, e + k, k);
	if (k == n)
		return;
	for (int64_t i = 0; i < k / 2; i++) { // last in rank to the root: a sorted array is a heap
		struct entry t = e[i];
		e[i] = e[k - 1 - i];
		e[k - 1 - i] = t;
	}
	for (int64_t from = k, end; from < n; from = end) {
		end = n - from < PIECE ? n : from + PIECE;
		if (none_above(value + from, end - from, e[0].value))
			continue;
		for (int64_t i = from; i < end; i++) {
			struct entry t = {value[i], i};
			if (t.value <= e[0].value)
				continue;
			e[0] = t;
			sift_down(e, k);
		}
	}
	sort(e, e + k, k);
}

struct line {
	int64_t from, to, n, k, inner;
	bool largest;
};

// The bits of floats order as integers do, those of negative ones the other way round. Zeros are equal, and what is no
// number comes last: no float else has the order INT32_MIN, turned or not.
static void load_floats(int64_t *value, const float *x, int64_t step, int64_t n, bool largest)
{
	enum { INFINITE = 0x7f800000 };
	const int32_t turned = largest ? 0 : -1;
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++)
	{
		float v = x[i * step] + 0.0f; // of the zeros the positive one
		int32_t bits, size;
		memcpy(&bits, &v, sizeof bits);
		size = bits & INT32_MAX;
		value[i] = size > INFINITE ? INT32_MIN : (bits < 0 ? bits ^ INT32_MAX : bits) ^ turned;
	}
}

static void load_line(int64_t *value, const struct line *l, const struct tensor *x)
{
	if (x->type == DT_F32) {
		const float *from = (const float *)x->data + l->from;
		if (l->inner == 1) // compiled for neighbours
			load_floats(value, from, 1, l->n, l->largest);
		else
			load_floats(value, from, l->inner, l->n, l->largest);
		return;
	}
	elements_load(value, x->type, x->data, l->from, l->inner, l->n);
	elements_order(value, x->type, l->n);
	for (int64_t i = 0; !l->largest && i < l->n; i++)
		value[i] = ~value[i];
}

static void one_line(
    const struct line *l, const struct tensor *x, struct tensor *out, const struct node *n, int64_t *value, struct entry *e)
{
	size_t elem = dtype_size(x->type);
	load_line(value, l, x);
	select_first(e, value, l->n, l->k);
	for (int64_t i = 0; i < l->k; i++) {
		int64_t to = l->to + i * l->inner, from = l->from + e[i].index * l->inner;
		if (n->out[0] >= 0)
			memcpy(
			    (char *)out[0].data + (size_t)to * elem, (const char *)x->data + (size_t)from * elem, elem);
		if (n->out[1] >= 0)
			((int64_t *)out[1].data)[to] = e[i].index;
	}
}

struct sorting {
	const struct node *node;
	const struct tensor *x;
	struct tensor *out;
	const struct line *line; // the first
	char *rooms;
	size_t room;     // bytes of a thread's
	int64_t entries; // at its beginning
};

static void sort_line(void *arg, int64_t i, int thread)
{
	const struct sorting *s = arg;
	struct entry *e = (struct entry *)(s->rooms + s->room * (size_t)thread);
	struct line l = *s->line;
	l.from = i / l.inner * l.n * l.inner + i % l.inner;
	l.to = i / l.inner * l.k * l.inner + i % l.inner;
	one_line(&l, s->x, s->out, s->node, (int64_t *)(e + s->entries), e);
}

enum status topk_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	enum { ALONE = 32768 }; // elements that are not worth a second thread
	const struct shape *x = &in[0]->shape;
	struct line l = {.largest = ((const struct topk_attrs *)n->attrs)->largest != 0};
	int axis = 0;
	enum status s = wanted(&l.k, &axis, n, in, err);
	if (s != STATUS_OK)
		return s;
	l.n = x->dim[axis];
	l.inner = rule_product(x, axis + 1, x->rank);
	int64_t outer = rule_product(x, 0, axis) * l.inner, entries = l.k + l.k / 2;
	width = outer > 1 && outer * l.n > ALONE ? width : 1;
	size_t room = (size_t)entries * sizeof(struct entry) + (size_t)l.n * sizeof(int64_t); // of a thread
	struct buf *rooms = buf_new(room * (size_t)width, NULL); // pages that were used before
	if (!rooms)
		return error_set(err, STATUS_NOMEM, "no memory to sort %lld elements", (long long)l.n);
	parts_share(outer, width, sort_line, &(struct sorting){n, in[0], out, &l, rooms->data, room, entries});
	buf_drop(&rooms);
	return STATUS_OK;
}
