// QLinearAdd and QLinearMul with broadcasting, straight from codes to codes. The scales are put together before, as ONNX Runtime does,
// and what it fuses is fused here: near the middle between two codes this decides.
#include <math.h>
#include "element.h"
#include "qlinear.h"
#include "rule.h"
#include "strided.h"

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
	int64_t low, high; // of a code
};

static int64_t to_code(const struct operands *q, float v)
{
	float code = rintf(v);

	return code >= (float)q->high ? q->high : code >= (float)q->low ? (int64_t)code : q->low; // NaN: the lowest
}

// c = a * ra + b * rb + rest. An operand that is one value over the whole run becomes part of the rest.
static void add_run(const struct operands *q, const int64_t *a, const int64_t *b, int64_t *y, int64_t n, const bool one[3])
{
	float ra = q->a.scale / q->y.scale, rb = q->b.scale / q->y.scale;
	float rest = (float)q->y.zero - (ra * (float)q->a.zero + rb * (float)q->b.zero);

	rest += one[A] ? (float)a[0] * ra : one[B] ? (float)b[0] * rb : 0;
	for (int64_t i = 0; i < n; i++) {
		float v = one[A] || !one[B] ? fmaf((float)b[i], rb, rest) : rest;
		v = one[A] ? v : fmaf((float)a[i], ra, v);
		y[i] = to_code(q, v);
	}
}

static void multiply_run(const struct operands *q, const int64_t *a, const int64_t *b, int64_t *y, int64_t n)
{
	float ratio = q->a.scale * q->b.scale / q->y.scale;

	for (int64_t i = 0; i < n; i++)
		y[i] = to_code(q, (float)((a[i] - q->a.zero) * (b[i] - q->b.zero)) * ratio + (float)q->y.zero);
}

static void combine(const struct operands *q, const struct strided *w, const struct tensor *const *in, struct tensor *out)
{
	const bool one[] = {[A] = strided_step(w, A) == 0, [B] = strided_step(w, B) == 0};
	int64_t run = strided_run(w), a[ELEMENTS_CHUNK], b[ELEMENTS_CHUNK], y[ELEMENTS_CHUNK];

	for (int64_t r = 0; r < strided_rows(w); r++) {
		int64_t at[STRIDED_MAX];
		strided_at(w, r, at);
		for (int64_t i = 0, n; i < run; i += n) {
			n = run - i < ELEMENTS_CHUNK ? run - i : ELEMENTS_CHUNK;
			elements_load(a, in[QB_A]->type, in[QB_A]->data, at[A] + i * strided_step(w, A), strided_step(w, A), n);
			elements_load(b, in[QB_B]->type, in[QB_B]->data, at[B] + i * strided_step(w, B), strided_step(w, B), n);
			if (q->add)
				add_run(q, a, b, y, n, one);
			else
				multiply_run(q, a, b, y, n);
			elements_store(out->data, out->type, at[Y] + i, y, n);
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
	elements_range(out[0].type, &q.low, &q.high);
	strided_broadcast(&walk, &out[0].shape, (const struct shape *const[]){&in[QB_A]->shape, &in[QB_B]->shape}, 2);
	combine(&q, &walk, in, &out[0]);
	return STATUS_OK;
}
