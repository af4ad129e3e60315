// QLinearAdd and QLinearMul with broadcasting, straight from codes to codes. The scales are put together before,
// as ONNX Runtime does, and what it fuses is fused here: near the middle between two codes this decides.
#include "../element.h"
#include "../ordered/ordered.h"
#include "../rule.h"
#include "../strided.h"
#include "qlinear.h"

enum { QB_A, QB_A_SCALE, QB_A_ZERO, QB_B, QB_B_SCALE, QB_B_ZERO, QB_Y_SCALE, QB_Y_ZERO };
enum { Y, A, B }; // arrays of the walk

enum status qlinear_binary_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y;
	enum status s = rule_broadcast(&y, &in[QB_A]->shape, &in[QB_B]->shape, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QB_A_SCALE, QB_A_ZERO, QB_B_SCALE, QB_B_ZERO, QB_Y_SCALE, QB_Y_ZERO}, 6, 0, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[QB_A]->type, &y);
	return s;
}

struct operands {
	struct qlinear a, b, y;
	bool add;
	float low, high; // of a code
};

// c = a * ra + b * rb + rest. An operand that is one value over the whole run becomes part of the rest.
static void add_run(const struct operands *q, const float *a, const float *b, float *y, int64_t n, const bool one[3])
{
	struct codes_by by = {.a = q->a.scale / q->y.scale, .b = q->b.scale / q->y.scale, .low = q->low, .high = q->high};
	by.rest = (float)q->y.zero - (by.a * (float)q->a.zero + by.b * (float)q->b.zero);
	by.rest += one[A] ? a[0] * by.a : one[B] ? b[0] * by.b : 0;
	ordered_here()->add_codes(one[A] ? NULL : a, one[B] && !one[A] ? NULL : b, &by, y, n);
}

static void multiply_run(const struct operands *q, const float *a, const float *b, float *y, int64_t n)
{
	const struct codes_by by = {.a = (float)q->a.zero, .b = (float)q->b.zero, .ratio = q->a.scale * q->b.scale / q->y.scale,
	    .rest = (float)q->y.zero, .low = q->low, .high = q->high};
	ordered_here()->multiply_codes(a, b, &by, y, n);
}

static void load(float *x, const struct tensor *t, int64_t at, int64_t step, int64_t n)
{
	int64_t code[ELEMENTS_CHUNK];
	if (step == 1 && t->type == DT_U8)
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) x[i] = (float)((const uint8_t *)t->data)[at + i];
	else if (step == 1 && t->type == DT_I8)
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) x[i] = (float)((const int8_t *)t->data)[at + i];
	else {
		elements_load(code, t->type, t->data, at, step, n);
		for (int64_t i = 0; i < n; i++)
			x[i] = (float)code[i];
	}
}

static void store(struct tensor *t, int64_t at, const float *y, int64_t n)
{
	if (t->type == DT_U8)
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) ((uint8_t *)t->data)[at + i] = (uint8_t)(int)y[i];
	else
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) ((int8_t *)t->data)[at + i] = (int8_t)(int)y[i];
}

static void combine(const struct operands *q, const struct strided *w, const struct tensor *const *in, struct tensor *out)
{
	const bool one[] = {[A] = strided_step(w, A) == 0, [B] = strided_step(w, B) == 0};
	int64_t run = strided_run(w);
	float a[ELEMENTS_CHUNK], b[ELEMENTS_CHUNK], y[ELEMENTS_CHUNK];
	for (int64_t r = 0; r < strided_rows(w); r++) {
		int64_t at[STRIDED_MAX];
		strided_at(w, r, at);
		for (int64_t i = 0, n; i < run; i += n) {
			n = run - i < ELEMENTS_CHUNK ? run - i : ELEMENTS_CHUNK;
			load(a, in[QB_A], at[A] + i * strided_step(w, A), strided_step(w, A), n);
			load(b, in[QB_B], at[B] + i * strided_step(w, B), strided_step(w, B), n);
			if (q->add)
				add_run(q, a, b, y, n, one);
			else
				multiply_run(q, a, b, y, n);
			store(out, at[Y] + i, y, n);
		}
	}
}

enum status qlinear_binary_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct operands q = {.add = n->op->id == OP_QLinearAdd};
	struct strided walk;
	enum status s = qlinear_read(&q.y, n, in, QB_Y_SCALE, QB_Y_ZERO, err);
	(void)width;
	if (s == STATUS_OK)
		s = qlinear_read(&q.a, n, in, QB_A_SCALE, QB_A_ZERO, err);
	if (s == STATUS_OK)
		s = qlinear_read(&q.b, n, in, QB_B_SCALE, QB_B_ZERO, err);
	if (s != STATUS_OK)
		return s;
	q.low = out[0].type == DT_I8 ? INT8_MIN : 0;
	q.high = out[0].type == DT_I8 ? INT8_MAX : UINT8_MAX;
	strided_broadcast(&walk, &out[0].shape, (const struct shape *const[]){&in[QB_A]->shape, &in[QB_B]->shape}, 2);
	combine(&q, &walk, in, &out[0]);
	return STATUS_OK;
}
