// Where: x where the condition holds, else y; all three are broadcast.
#include "../rule.h"
#include "../strided.h"
#include "qtui/base/parts.h"

enum status where_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y;
	enum status s = rule_broadcast(&y, &in[0]->shape, &in[1]->shape, err);
	(void)n;
	if (s == STATUS_OK)
		s = rule_broadcast(&y, &y, &in[2]->shape, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[1]->type, &y);
	return s;
}

// A run of elements; steps that are constants let the compiler choose by masks:
// a branch is guessed wrong where a condition has no order.
#define CHOOSE(type, c_step, x_step, y_step)                                                                           \
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                                            \
	{                                                                                                              \
		type a = x[i * (x_step)], b = y[i * (y_step)];                                                         \
		to[i] = c[i * (c_step)] ? a : b;                                                                       \
	}
#define CHOOSE_RUN(name, type)                                                                                         \
	static void name(void *out, const uint8_t *c, const void *from_x, const void *from_y, const int64_t *step, int64_t n) \
	{                                                                                                              \
		type *to = out;                                                                                        \
		const type *x = from_x, *y = from_y;                                                                   \
		bool each = step[1] == 1;                                                                              \
		if (each && step[2] == 1 && step[3] == 1)                                                              \
			CHOOSE(type, 1, 1, 1)                                                                          \
		else if (each && step[2] == 1 && step[3] == 0)                                                         \
			CHOOSE(type, 1, 1, 0)                                                                          \
		else if (each && step[2] == 0 && step[3] == 1)                                                         \
			CHOOSE(type, 1, 0, 1)                                                                          \
		else                                                                                                   \
			CHOOSE(type, step[1], step[2], step[3])                                                        \
	}
CHOOSE_RUN(choose1, uint8_t)
CHOOSE_RUN(choose2, uint16_t)
CHOOSE_RUN(choose4, uint32_t)
CHOOSE_RUN(choose8, uint64_t)

enum {
	PIECE = 16384, // elements of a thread's turn
	ALONE = 32768  // elements that are not worth a second thread
};

struct choosing {
	const struct tensor *const *in;
	char *y;
	int64_t elem; // bytes
	struct strided s;
	int64_t step[STRIDED_MAX], run, pieces; // elements of a run, its pieces
};

static void choose_piece(void *arg, int64_t i, int thread)
{
	static void (*const choose[9])(void *, const uint8_t *, const void *, const void *, const int64_t *, int64_t) = {
	    [1] = choose1, [2] = choose2, [4] = choose4, [8] = choose8};
	const struct choosing *c = arg;
	int64_t at[STRIDED_MAX], first = i % c->pieces * PIECE, count = c->run - first < PIECE ? c->run - first : PIECE;
	(void)thread;
	strided_at(&c->s, i / c->pieces, at);
	for (int k = 0; k < STRIDED_MAX; k++)
		at[k] += first * c->step[k];
	choose[c->elem](c->y + at[0] * c->elem, (const uint8_t *)c->in[0]->data + at[1], (const char *)c->in[1]->data + at[2] * c->elem,
	    (const char *)c->in[2]->data + at[3] * c->elem, c->step, count);
}

enum status where_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct choosing c = {.in = in, .y = out[0].data, .elem = (int64_t)dtype_size(out[0].type)};
	(void)n;
	(void)err;
	strided_broadcast(
	    &c.s, &out[0].shape, (const struct shape *const[]){&in[0]->shape, &in[1]->shape, &in[2]->shape}, 3);
	for (int k = 0; k < STRIDED_MAX; k++)
		c.step[k] = strided_step(&c.s, k);
	c.run = strided_run(&c.s);
	c.pieces = (c.run + PIECE - 1) / PIECE;
	parts_share(strided_rows(&c.s) * c.pieces, strided_rows(&c.s) * c.run > ALONE ? width : 1, choose_piece, &c);
	return STATUS_OK;
}
