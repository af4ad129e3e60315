// MatMul: its batches.
#include "matmul.h"

#include <string.h>
#include "../element.h"
#include "../rule.h"

struct side { // one operand as a batch of matrices
	struct shape batch;
	int64_t rows, cols;
	bool vector;
};

static struct side make_side(const struct shape *s, bool first)
{
	struct side o = {.batch = *s, .vector = s->rank == 1};
	o.rows = o.vector ? (first ? 1 : s->dim[0]) : s->dim[s->rank - 2];
	o.cols = o.vector ? (first ? s->dim[0] : 1) : s->dim[s->rank - 1];
	o.batch.rank = o.vector ? 0 : s->rank - 2;
	return o;
}

static void batch_steps(int64_t step[SHAPE_MAX_RANK], const struct shape *batch, const struct side *o)
{
	int64_t p = o->rows * o->cols;
	for (int i = batch->rank - 1, j = o->batch.rank - 1; i >= 0; i--, j--) {
		step[i] = j < 0 || o->batch.dim[j] == 1 ? 0 : p;
		p *= j < 0 ? 1 : o->batch.dim[j];
	}
}

enum status matmul_resolve(
    struct matmul *t, const struct shape *a, const struct shape *b, bool trans_a, bool trans_b, struct error *err)
{
	struct side x, z;
	enum status s;
	int64_t k;
	if (a->rank < 1 || b->rank < 1)
		return error_set(err, STATUS_FORMAT, "a scalar cannot be multiplied as a matrix");
	x = make_side(a, true);
	z = make_side(b, false);
	trans_a &= !x.vector;
	trans_b &= !z.vector;
	t->one = (struct matrices){.m = trans_a ? x.cols : x.rows,
	    .n = trans_b ? z.rows : z.cols,
	    .k = trans_a ? x.rows : x.cols,
	    .a_row = trans_a ? 1 : x.cols,
	    .a_col = trans_a ? x.cols : 1,
	    .b_row = trans_b ? 1 : z.cols,
	    .b_col = trans_b ? z.cols : 1};
	k = trans_b ? z.cols : z.rows;
	if (t->one.k != k)
		return error_set(err, STATUS_FORMAT, "matrices of %lld x %lld and %lld x %lld cannot be multiplied",
		    (long long)t->one.m, (long long)t->one.k, (long long)k, (long long)t->one.n);
	s = rule_broadcast(&t->batch, &x.batch, &z.batch, err);
	if (s != STATUS_OK)
		return s;
	batch_steps(t->a_step, &t->batch, &x);
	batch_steps(t->b_step, &t->batch, &z);
	t->y = t->batch;
	if (!x.vector)
		rule_push(&t->y, t->one.m);
	if (!z.vector)
		rule_push(&t->y, t->one.n);
	return STATUS_OK;
}

int64_t matmul_batches(const struct matmul *t)
{
	return rule_product(&t->batch, 0, t->batch.rank);
}

void matmul_offsets(const struct matmul *t, int64_t batch, int64_t *a, int64_t *b)
{
	*a = *b = 0;
	for (int i = t->batch.rank - 1; i >= 0; i--) {
		*a += batch % t->batch.dim[i] * t->a_step[i];
		*b += batch % t->batch.dim[i] * t->b_step[i];
		batch /= t->batch.dim[i];
	}
}

enum status matmul_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct matmul t;
	enum status s = matmul_resolve(&t, &in[0]->shape, &in[1]->shape, false, false, err);
	(void)n;
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &t.y);
	return s;
}

// Models use them for indices at most: one element at a time.
void matmul_ints(const struct matmul *t, const struct tensor *a, const struct tensor *b, struct tensor *y)
{
	const struct matrices *o = &t->one;
	for (int64_t p = 0; p < matmul_batches(t) * o->m * o->n; p++) {
		int64_t from_a, from_b, sum = 0, row = p / o->n % o->m, col = p % o->n;
		matmul_offsets(t, p / (o->m * o->n), &from_a, &from_b);
		for (int64_t k = 0; k < o->k; k++)
			sum = (int64_t)((uint64_t)sum +
			                (uint64_t)element_int(a, from_a + row * o->a_row + k * o->a_col) *
			                    (uint64_t)element_int(b, from_b + k * o->b_row + col * o->b_col));
		elements_store(y->data, y->type, p, &sum, 1);
	}
}

enum status matmul_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct matmul t;
	enum status s = matmul_resolve(&t, &in[0]->shape, &in[1]->shape, false, false, err);
	(void)n;
	if (s != STATUS_OK)
		return s;
	if (in[0]->type != DT_F32) {
		matmul_ints(&t, in[0], in[1], &out[0]);
		return STATUS_OK;
	}
	memset(out[0].data, 0, tensor_bytes(&out[0]));
	for (int64_t i = 0; i < matmul_batches(&t); i++) {
		int64_t a, b;
		matmul_offsets(&t, i, &a, &b);
		product_floats(&t.one, (const float *)in[0]->data + a, (const float *)in[1]->data + b,
		    (float *)out[0].data + i * t.one.m * t.one.n, width);
	}
	return STATUS_OK;
}

void matmul_add_row(float *y, int64_t count, const float *row, int64_t columns)
{
	for (int64_t i = 0; i < count; i += columns)
		for (int64_t c = 0; c < columns; c++)
			y[i + c] += row[c];
}
