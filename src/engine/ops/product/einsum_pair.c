// Einsum of two float operands, which is what models have: attention, bilinear forms.
// Every element is a sum in one order, whatever the number of threads.
#include <stdlib.h>
#include <string.h>
#include "einsum.h"
#include "matmul.h"
#include "qtui/base/mem.h"
#include "qtui/base/parts.h"

// Labels that are stepped through one by one.
struct steps {
	int label[EINSUM_LABELS], n;
	int64_t count;
};
struct pair {
	const struct einsum_walk *w;
	struct matrices one;
	int m, n, k;                     // labels, -1: none
	int64_t out[EINSUM_LABELS];      // elements of the output between neighbours
	struct steps outer, summed;
	bool packs;                      // the rows of b do not lie dense
};

// The label with most elements of those in the output or not, and in each operand or not.
static int widest(const struct einsum_walk *w, bool in_out, bool in_a, bool in_b)
{
	int best = -1;
	for (int i = 0; i < w->e->labels; i++) {
		bool fits = (i < w->e->out.n) == in_out && (w->stride[0][i] != 0) == in_a && (w->stride[1][i] != 0) == in_b;
		if (fits && (best < 0 || w->e->dim[i] > w->e->dim[best]))
			best = i;
	}
	return best;
}

static int64_t dim_of(const struct pair *p, int label)
{
	return label < 0 ? 1 : p->w->e->dim[label];
}

static int64_t step_of(const struct pair *p, int operand, int label)
{
	return label < 0 ? 0 : p->w->stride[operand][label];
}

static void rest(struct pair *p)
{
	const struct einsum *e = p->w->e;
	p->outer.count = p->summed.count = 1;
	for (int i = 0; i < e->labels; i++) {
		struct steps *s = i < e->out.n ? &p->outer : &p->summed;
		if (i == p->m || i == p->n || i == p->k)
			continue;
		s->label[s->n++] = i;
		s->count *= e->dim[i];
	}
}

static void pair_of(struct pair *p, const struct einsum_walk *w)
{
	int64_t dense = 1;
	*p = (struct pair){.w = w, .m = widest(w, true, true, false), .n = widest(w, true, false, true), .k = widest(w, false, true, true)};
	for (int i = w->e->out.n - 1; i >= 0; i--) {
		p->out[i] = dense;
		dense *= w->e->dim[i];
	}
	p->one = (struct matrices){.m = dim_of(p, p->m), .n = dim_of(p, p->n), .k = dim_of(p, p->k), .a_row = step_of(p, 0, p->m),
	    .a_col = step_of(p, 0, p->k), .b_row = step_of(p, 1, p->k), .b_col = step_of(p, 1, p->n)};
	p->packs = p->one.b_col != 1 && p->one.n > 1;
	rest(p);
}

// Moves to step `i` of the labels: in both operands and in the output.
static void move(const struct pair *p, const struct steps *s, int64_t i, int64_t *a, int64_t *b, int64_t *y)
{
	for (int l = s->n - 1; l >= 0; l--) {
		int label = s->label[l];
		int64_t at = i % p->w->e->dim[label];
		i /= p->w->e->dim[label];
		*a += at * p->w->stride[0][label];
		*b += at * p->w->stride[1][label];
		*y += at * p->out[label];
	}
}

static void multiply(const struct pair *p, const float *a, const float *b, float *product, float *packed, int width)
{
	struct matrices one = p->one;
	if (p->packs) {
		for (int64_t k = 0; k < one.k; k++)
			for (int64_t j = 0; j < one.n; j++)
				packed[k * one.n + j] = b[k * one.b_row + j * one.b_col];
		one.b_row = one.n;
		one.b_col = 1;
		b = packed;
	}
	product_floats(&one, a, b, product, width);
}

static void one_matrix(const struct pair *p, int64_t o, float *y, float *scratch, int width)
{
	const float *x[2] = {p->w->in[0]->data, p->w->in[1]->data};
	float *product = scratch, *packed = scratch + p->one.m * p->one.n;
	int64_t a = 0, b = 0, to = 0;
	move(p, &p->outer, o, &a, &b, &to);
	memset(product, 0, (size_t)(p->one.m * p->one.n) * sizeof(float));
	for (int64_t t = 0; t < p->summed.count; t++) {
		int64_t from_a = a, from_b = b, unused = 0;
		move(p, &p->summed, t, &from_a, &from_b, &unused);
		multiply(p, x[0] + from_a, x[1] + from_b, product, packed, width);
	}
	for (int64_t i = 0; i < p->one.m; i++)
		for (int64_t j = 0; j < p->one.n; j++)
			y[to + (p->m < 0 ? 0 : i * p->out[p->m]) + (p->n < 0 ? 0 : j * p->out[p->n])] = product[i * p->one.n + j];
}

struct matrices_call {
	const struct pair *p;
	float *y, *scratch;
	size_t each; // floats of a thread's scratch
	int width;   // threads of one matrix
};

static void matrix_part(void *arg, int64_t o, int thread)
{
	const struct matrices_call *c = arg;
	one_matrix(c->p, o, c->y, c->scratch + (size_t)thread * c->each, c->width);
}

enum status einsum_pair(const struct einsum_walk *w, float *y, int width, struct error *err)
{
	struct pair p;
	pair_of(&p, w);
	bool apart = p.outer.count >= width; // else the threads share one matrix
	size_t each = (size_t)(p.one.m * p.one.n + (p.packs ? p.one.k * p.one.n : 0));
	float *scratch = mem_try_array(each * (size_t)(apart ? width : 1) + 1, sizeof(float));
	if (!scratch)
		return error_set(err, STATUS_NOMEM, "no memory for matrices of %lld x %lld", (long long)p.one.m, (long long)p.one.n);
	struct matrices_call c = {&p, y, scratch, each, apart ? 1 : width};
	parts_share(p.outer.count, apart ? width : 1, matrix_part, &c);
	free(scratch);
	return STATUS_OK;
}
