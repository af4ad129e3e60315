// z = f(x, y) with NumPy broadcasting: arithmetic and bit operators. Runs of equal step are the inner loops; the
// integer types go through int64 in chunks.
#include <math.h>
#include <string.h>
#include "binary.h"
#include "../element.h"
#include "../rule.h"
#include "qtui/base/parts.h"

enum status binary_shapes(
    struct shape *y, struct shape *b, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct broadcast_attrs *a = n->op->attrs_size == sizeof(struct broadcast_attrs) ? n->attrs : NULL;
	*b = in[1]->shape;
	if (a && a->broadcast && a->axis != NO_AXIS) {
		int axis = 0;
		enum status s = rule_axis(&axis, a->axis, in[0]->shape.rank, err);
		if (s != STATUS_OK)
			return s;
		while (b->rank + axis < in[0]->shape.rank)
			rule_push(b, 1);
	}
	return rule_broadcast(y, &in[0]->shape, b, err);
}

enum status binary_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y, b;
	enum status s = binary_shapes(&y, &b, n, in, err);
	if (s != STATUS_OK)
		return s;
	rule_set(&out[0], in[0]->type, &y);
	if (n->op->id != OP_BitShift)
		return STATUS_OK;
	const char *direction = ((const struct bitshift_attrs *)n->attrs)->direction;
	if (elements_unsigned(in[0]->type) && (!strcmp(direction, "LEFT") || !strcmp(direction, "RIGHT")))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "needs unsigned inputs and direction LEFT or RIGHT");
}

typedef void float_run(const float *a, int64_t sa, const float *b, int64_t sb, float *y, int64_t n);

#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define MAX(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define MIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

static inline float mod_floor(float a, float b)
{
	float r = fmodf(a, b);
	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

PAIR_RUN(run_add, float, float, ADD)
PAIR_RUN(run_sub, float, float, SUB)
PAIR_RUN(run_mul, float, float, MUL)
PAIR_RUN(run_div, float, float, DIV)
PAIR_RUN(run_max, float, float, MAX)
PAIR_RUN(run_min, float, float, MIN)
PAIR_RUN(run_fmod, float, float, fmodf)
PAIR_RUN(run_mod, float, float, mod_floor)
PAIR_RUN(run_powf, float, float, powf)

static void run_cube(const float *a, int64_t sa, float *y, int64_t n)
{
	if (sa == 1)
		EACH(a[i] * a[i] * a[i])
	else
		EACH(a[i * sa] * a[i * sa] * a[i * sa])
}

// Squares and cubes (of a Gelu by tanh) are most of what models raise to a power; ONNX Runtime multiplies, too.
static void run_pow(const float *a, int64_t sa, const float *b, int64_t sb, float *y, int64_t n)
{
	if (sb == 0 && *b == 2.0f)
		run_mul(a, sa, a, sa, y, n);
	else if (sb == 0 && *b == 3.0f)
		run_cube(a, sa, y, n);
	else
		run_powf(a, sa, b, sb, y, n);
}

static float_run *const float_runs[OP_COUNT] = {
    [OP_Add] = run_add,
    [OP_Sub] = run_sub,
    [OP_Mul] = run_mul,
    [OP_Div] = run_div,
    [OP_Max] = run_max,
    [OP_Min] = run_min,
    [OP_Mod] = run_mod,
    [OP_Pow] = run_pow,
    [OP_Sum] = run_add,
    [OP_Mean] = run_add,
};

enum {
	SHORT = 32,    // elements of a run that is not worth a call
	BLOCK = 1024,  // elements that are written out at most
	ALONE = 32768, // elements that are not worth a second thread
};

// An operand written out over a block of inner dimensions, where it does not lie so already.
struct written {
	const float *from; // what was written out last
	float data[BLOCK];
};

// Array `array` over dimensions d and on; returns their elements.
static int64_t expand(float *y, const float *x, const struct strided *s, int array, int d)
{
	int64_t n = s->dim[d], step = s->stride[array][d], size = 1;
	if (d == s->rank - 1 && step == 0) {
		const float v = *x;
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = v;
		return n;
	}
	if (d == s->rank - 1) {
		for (int64_t i = 0; i < n; i++)
			y[i] = x[i * step];
		return n;
	}
	size = expand(y, x, s, array, d + 1);
	for (int64_t i = 1; step && i < n; i++)
		expand(y + i * size, x + i * step, s, array, d + 1);
	for (int64_t have = 1; !step && have < n; have *= 2)
		memcpy(y + have * size, y, (size_t)((have < n - have ? have : n - have) * size) * sizeof *y);
	return n * size;
}

static bool lies_so(const struct strided *s, int array, int d)
{
	int64_t size = 1;
	for (int i = s->rank - 1; i >= d; size *= s->dim[i--])
		if (s->stride[array][i] != size)
			return false;
	return true;
}

static const float *write_out(struct written *w, const float *x, const struct strided *s, int array, int d)
{
	if (lies_so(s, array, d))
		return x;
	if (w->from != x)
		expand(w->data, x, s, array, d);
	w->from = x;
	return w->data;
}

struct operands {
	float_run *run;
	const struct strided *s;
	const float *a, *b;
	float *y;
};

struct blocks {
	struct operands of;
	struct strided outer;
	int d;           // the first dimension of a block
	int64_t n, each; // elements of a block; blocks of a part
};

// What is written out for one block often serves the next.
static void run_blocks(void *arg, int64_t part, int thread)
{
	const struct blocks *k = arg;
	const struct operands *o = &k->of;
	struct written a = {.from = NULL}, b = {.from = NULL};
	int64_t end = (part + 1) * k->each, all = strided_rows(&k->outer);
	(void)thread;
	for (int64_t i = part * k->each; i < end && i < all; i++) {
		int64_t at[STRIDED_MAX];
		strided_at(&k->outer, i, at);
		o->run(write_out(&a, o->a + at[1], o->s, 1, k->d), 1, write_out(&b, o->b + at[2], o->s, 2, k->d), 1, o->y + at[0], k->n);
	}
}

// Blocks of dimensions d and on, of n elements each.
static void each_block(const struct operands *o, int d, int64_t n, int width)
{
	struct blocks k = {*o, *o->s, d, n, 0};
	k.outer.rank = d + 1;
	int64_t all = strided_rows(&k.outer), parts = all * n > ALONE ? width : 1;
	k.each = (all + parts - 1) / parts;
	parts_share(parts, width, run_blocks, &k);
}

struct runs {
	struct operands of;
	int64_t n, piece, pieces; // elements of a run and of a piece of it; pieces of a run
};

static void run_piece(void *arg, int64_t i, int thread)
{
	const struct runs *k = arg;
	const struct operands *o = &k->of;
	int64_t at[STRIDED_MAX], from = i % k->pieces * k->piece, n = k->n - from < k->piece ? k->n - from : k->piece;
	int64_t step_a = strided_step(o->s, 1), step_b = strided_step(o->s, 2);
	(void)thread;
	strided_at(o->s, i / k->pieces, at);
	o->run(o->a + at[1] + from * step_a, step_a, o->b + at[2] + from * step_b, step_b, o->y + at[0] + from, n);
}

static void each_long_run(const struct operands *o, int width)
{
	int64_t rows = strided_rows(o->s), n = strided_run(o->s), piece = rows == 1 ? 16384 : n;
	struct runs k = {*o, n, piece, piece ? (n + piece - 1) / piece : 0};
	parts_share(rows * k.pieces, rows * n > ALONE ? width : 1, run_piece, &k);
}

// Cuts dimension d, which is too long for a block of its elements of n,
// into parts that are not. False where it has none.
static bool cut(struct strided *s, int d, int64_t n)
{
	int64_t part = BLOCK / n;
	while (part > 1 && s->dim[d] % part != 0)
		part--;
	if (part < 2 || s->rank == SHAPE_MAX_RANK)
		return false;
	for (int i = s->rank++; i > d; i--) {
		s->dim[i] = s->dim[i - 1];
		for (int k = 0; k < s->arrays; k++)
			s->stride[k][i] = s->stride[k][i - 1];
	}
	s->dim[d] /= part;
	s->dim[d + 1] = part;
	for (int k = 0; k < s->arrays; k++)
		s->stride[k][d] *= part;
	return true;
}

static void each_run(float_run *run, const struct strided *s, const float *a, const float *b, float *y, int width)
{
	struct strided blocks = *s;
	struct operands o = {run, s, a, b, y}, of_blocks = {run, &blocks, a, b, y};
	int d = s->rank - 1;
	int64_t n = strided_run(s);
	bool small = n < SHORT && strided_rows(s) > 0;
	for (; small && d > 0 && n * s->dim[d - 1] <= BLOCK; d--)
		n *= s->dim[d - 1];
	if (small && d > 0 && cut(&blocks, d - 1, n))
		each_block(&of_blocks, d, n * blocks.dim[d], width);
	else if (d < s->rank - 1)
		each_block(&o, d, n, width);
	else
		each_long_run(&o, width);
}

void binary_floats(enum op_id id, const struct strided *s, const float *a, const float *b, float *y, int width)
{
	each_run(float_runs[id], s, a, b, y, width);
}

static int64_t int_pow(int64_t a, int64_t b)
{
	uint64_t y = 1, base = (uint64_t)a;
	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
	for (; b; b >>= 1, base *= base)
		y *= b & 1 ? base : 1;
	return (int64_t)y;
}

static int64_t int_div(int64_t a, int64_t b, bool is_unsigned)
{
	if (b == 0)
		return 0;
	if (is_unsigned)
		return (int64_t)((uint64_t)a / (uint64_t)b);
	return b == -1 ? (int64_t) - (uint64_t)a : a / b;
}

// Python's remainder, which has the sign of b; C's with `like_c`.
static int64_t int_mod(int64_t a, int64_t b, bool is_unsigned, bool like_c)
{
	int64_t r;
	if (b == 0)
		return 0;
	if (is_unsigned)
		return (int64_t)((uint64_t)a % (uint64_t)b);
	r = b == -1 ? 0 : a % b;
	return r != 0 && !like_c && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t int_shift(int64_t a, int64_t b, bool left)
{
	if ((uint64_t)b >= 64)
		return 0;
	return (int64_t)(left ? (uint64_t)a << b : (uint64_t)a >> b);
}

static bool int_less(int64_t a, int64_t b, bool is_unsigned)
{
	return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

struct int_mode {
	bool is_unsigned, flag; // flag: Mod's fmod, BitShift's LEFT
};

static int64_t int_one(enum op_id id, int64_t a, int64_t b, struct int_mode m)
{
	switch (id) {
	case OP_Add:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case OP_Sub:
		return (int64_t)((uint64_t)a - (uint64_t)b);
	case OP_Mul:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case OP_Div:
		return int_div(a, b, m.is_unsigned);
	case OP_Mod:
		return int_mod(a, b, m.is_unsigned, m.flag);
	case OP_Pow:
		return int_pow(a, b);
	case OP_Max:
		return int_less(a, b, m.is_unsigned) ? b : a;
	case OP_Min:
		return int_less(b, a, m.is_unsigned) ? b : a;
	case OP_BitShift:
		return int_shift(a, b, m.flag);
	case OP_BitwiseAnd:
		return a & b;
	case OP_BitwiseOr:
		return a | b;
	case OP_BitwiseXor:
		return a ^ b;
	default:
		return 0;
	}
}

static struct int_mode int_mode(const struct node *n, enum dtype type)
{
	struct int_mode m = {.is_unsigned = elements_unsigned(type)};
	if (n->op->id == OP_Mod)
		m.flag = ((const struct mod_attrs *)n->attrs)->fmod != 0;
	if (n->op->id == OP_BitShift)
		m.flag = !strcmp(((const struct bitshift_attrs *)n->attrs)->direction, "LEFT");
	return m;
}

// Most integers are those of shapes and indices, and most of what is done with them gives
// the same low bits signed or not.
PAIR_RUN(add_narrow, uint32_t, uint32_t, ADD)
PAIR_RUN(sub_narrow, uint32_t, uint32_t, SUB)
PAIR_RUN(mul_narrow, uint32_t, uint32_t, MUL)
PAIR_RUN(add_wide, uint64_t, uint64_t, ADD)
PAIR_RUN(sub_wide, uint64_t, uint64_t, SUB)
PAIR_RUN(mul_wide, uint64_t, uint64_t, MUL)

static const struct {
	void (*narrow)(const uint32_t *a, int64_t sa, const uint32_t *b, int64_t sb, uint32_t *y, int64_t n);
	void (*wide)(const uint64_t *a, int64_t sa, const uint64_t *b, int64_t sb, uint64_t *y, int64_t n);
} int_runs[OP_COUNT] = {
    [OP_Add] = {add_narrow, add_wide},
    [OP_Sub] = {sub_narrow, sub_wide},
    [OP_Mul] = {mul_narrow, mul_wide},
    [OP_Sum] = {add_narrow, add_wide},
};

// A run of int32 or int64; false for other types and operators.
static bool int_run(enum op_id id, const struct strided *s, const int64_t at[STRIDED_MAX], const struct tensor *a, const struct tensor *b,
    struct tensor *y)
{
	int64_t n = strided_run(s), sa = strided_step(s, 1), sb = strided_step(s, 2);
	if (!int_runs[id].wide || (y->type != DT_I32 && y->type != DT_I64))
		return false;
	if (y->type == DT_I32)
		int_runs[id].narrow(
		    (const uint32_t *)a->data + at[1], sa, (const uint32_t *)b->data + at[2], sb, (uint32_t *)y->data + at[0], n);
	else
		int_runs[id].wide((const uint64_t *)a->data + at[1], sa, (const uint64_t *)b->data + at[2], sb, (uint64_t *)y->data + at[0], n);
	return true;
}

void binary_ints(
    const struct node *n, const struct strided *s, const struct tensor *a, const struct tensor *b, struct tensor *y)
{
	struct int_mode mode = int_mode(n, a->type);
	int64_t rows = strided_rows(s), run = strided_run(s), va[ELEMENTS_CHUNK], vb[ELEMENTS_CHUNK];
	for (int64_t r = 0; r < rows; r++) {
		int64_t at[STRIDED_MAX];
		strided_at(s, r, at);
		if (int_run(n->op->id, s, at, a, b, y))
			continue;
		for (int64_t from = 0; from < run; from += ELEMENTS_CHUNK) {
			int64_t m = run - from < ELEMENTS_CHUNK ? run - from : ELEMENTS_CHUNK;
			elements_load(va, a->type, a->data, at[1] + from * strided_step(s, 1), strided_step(s, 1), m);
			elements_load(vb, b->type, b->data, at[2] + from * strided_step(s, 2), strided_step(s, 2), m);
			for (int64_t i = 0; i < m; i++)
				va[i] = int_one(n->op->id, va[i], vb[i], mode);
			elements_store(y->data, y->type, at[0] + from, va, m);
		}
	}
}

// Pow of mixed types: the base's type is the result's, the arithmetic is double.
static void pow_mixed(const struct strided *s, const struct tensor *a, const struct tensor *b, struct tensor *y)
{
	int64_t rows = strided_rows(s), run = strided_run(s);
	for (int64_t r = 0; r < rows; r++) {
		int64_t at[STRIDED_MAX];
		strided_at(s, r, at);
		for (int64_t i = 0; i < run; i++) {
			double v = pow(element_double(a, at[1] + i * strided_step(s, 1)),
			    element_double(b, at[2] + i * strided_step(s, 2)));
			elements_store_double(y->data, y->type, at[0] + i, &v, 1);
		}
	}
}

enum status binary_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct shape y, b;
	struct strided s;
	bool fmod = n->op->id == OP_Mod && ((const struct mod_attrs *)n->attrs)->fmod;
	enum status st = binary_shapes(&y, &b, n, in, err);
	if (st != STATUS_OK)
		return st;
	strided_broadcast(&s, &y, (const struct shape *const[]){&in[0]->shape, &b}, 2);
	if (in[0]->type != in[1]->type && (in[0]->type == DT_F32 || in[1]->type == DT_F32))
		pow_mixed(&s, in[0], in[1], &out[0]);
	else if (in[0]->type != DT_F32)
		binary_ints(n, &s, in[0], in[1], &out[0]);
	else if (fmod)
		each_run(run_fmod, &s, in[0]->data, in[1]->data, out[0].data, width);
	else
		binary_floats(n->op->id, &s, in[0]->data, in[1]->data, out[0].data, width);
	return STATUS_OK;
}
