// Element-wise steps on codes: each code is what its value gives, whether a table tells it or floats do.
#include <math.h>
#include "support.h"
#include "../../src/engine/run/strips.h"

enum { N = 2, C = 21, H = 7, W = 9 }; // channels that fill no block

static const int32_t zeros[] = {3, -40};
static const float scales[] = {0.5f, 0.3f};
static const float others[W] = {1.75f, -3.0f, 0.25f, 9.5f, 0.0f, 30.0f, -0.75f, 2.5f, -11.0f};

static struct quantizer grid(enum dtype type, int i)
{
	bool is_signed = type == DT_I8;
	return (struct quantizer){.kind = QUANT_LINEAR,
	    .bits = 8,
	    .axis = -1,
	    .n = 1,
	    .qmin = is_signed ? -128 : 0,
	    .qmax = is_signed ? 127 : 255,
	    .scale = &scales[i],
	    .zero = &zeros[is_signed ? i : 0]};
}

static struct rep random_codes(struct support_random *r, const struct quantizer *q, enum layout l)
{
	struct error err;
	struct rep x;
	assert_int_equal(rep_alloc(&x, quantizer_dtype(q), l, &(struct shape){.rank = 4, .dim = {N, C, H, W}}, &err), STATUS_OK);
	rep_set_quantizer(&x, q);
	for (int64_t i = 0; i < tensor_stored(&x.t); i++)
		((uint8_t *)x.t.data)[i] = (uint8_t)support_random_int(r, 0, 255);
	rep_clear_padding(&x);
	return x;
}

// The operands may not change places.
static float function(float a, float b)
{
	return a - 2.0f * b + 0.25f;
}

static void of_one(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	(void)arg;
	assert_null(b);
	for (int64_t i = 0; i < n; i++)
		y[i] = function(a[i], 0.0f);
}

static void of_two(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	(void)arg;
	for (int64_t i = 0; i < n; i++)
		y[i] = function(a[i], b[i]);
}

static int code_at(const struct rep *r, int64_t i)
{
	return r->t.type == DT_I8 ? ((const int8_t *)r->t.data)[i] : ((const uint8_t *)r->t.data)[i];
}

static bool is_padding(const struct rep *r, int64_t i)
{
	int64_t block = layout_block(), blocks = (C + block - 1) / block;
	return r->t.layout == LAYOUT_BLOCK && i / (block * H * W) % blocks * block + i % block >= C;
}

static void check(const struct rep *y, struct rep *x, const struct quantizer *oq, int one, int64_t pixel)
{
	assert_int_equal(y->t.type, quantizer_dtype(oq));
	for (int64_t i = 0; i < tensor_stored(&x->t); i++) {
		float v = (float)(code_at(x, i) - x->zero) * x->scale, other = others[i % pixel];
		float f = one < 0 ? function(v, 0.0f) : one ? function(v, other) : function(other, v);
		int want = is_padding(y, i) ? oq->zero[0] : (int)quantize_one(oq, 0, f);
		if (code_at(y, i) != want)
			fail_msg("operand %d, element %d: %d, not %d", one, (int)i, code_at(y, i), want);
	}
}

// one: which operand is one value, or one row of `pixel` values; -1: there is but one operand.
static void trial(struct support_random *r, enum dtype in, enum dtype out, enum layout l, int one, int64_t pixel)
{
	struct error err = {0};
	struct quantizer iq = grid(in, 0);
	struct slot slot = {.is_output = true, .state = SLOT_ACTIVE, .quant = grid(out, 1)};
	struct plan plan = {.n_slots = 1, .slot = &slot, .first_out = &(int){0}};
	struct rep x = random_codes(r, &iq, l), y = {0};
	struct rep value = {.t = {.type = DT_F32, .shape = {.rank = 1, .dim = {pixel}}, .data = (float *)others}};
	struct exec e = {.plan = &plan, .sim = SIM_FULL, .width = 1, .step = &(struct step){.node = 0}, .out = &y, .err = &err};
	struct strips s = {.in = {{.rep = &x}}, .n_in = one < 0 ? 1 : 2, .fn = one < 0 ? of_one : of_two, .layout = l, .shape = x.t.shape};
	if (one >= 0) {
		s.pixel = pixel;
		s.in[!one] = (struct operand){.rep = &x};
		s.in[one] = (struct operand){.rep = &value, .spread = true, .pixels = 1};
	}
	assert_int_equal(strips_run(&e, &s), STATUS_OK);
	check(&y, &x, &slot.quant, one, pixel);
	rep_drop(&x);
	rep_drop(&y);
}

void test_strips__codes_of_one_tensor(void **state)
{
	static const enum dtype types[] = {DT_U8, DT_I8};
	struct support_random r = {1};
	for (int i = 0; i < 24; i++)
		trial(&r, types[i % 2], types[i / 2 % 2], i / 4 % 2 ? LAYOUT_BLOCK : LAYOUT_PLAIN, i / 8 - 1, 1);
}

// Strips end where rows end.
void test_strips__codes_and_a_row(void **state)
{
	struct support_random r = {2};
	for (int i = 0; i < 4; i++)
		trial(&r, i % 2 ? DT_I8 : DT_U8, DT_I8, LAYOUT_PLAIN, i / 2, W);
}

struct table_case {
	struct plan plan;
	struct slot slot;
	int first_out;
	struct step step;
	struct exec exec;
	struct error err;
};

// y = fn(a), or fn(a, b), as codes of a grid.
static void run_on(struct table_case *c, strip_fn *fn, struct rep *a, struct rep *b, enum dtype out, int scale, struct rep *y)
{
	*c = (struct table_case){.slot = {.is_output = true, .state = SLOT_ACTIVE, .quant = grid(out, scale)}};
	c->plan = (struct plan){.n_slots = 1, .slot = &c->slot, .first_out = &c->first_out};
	c->exec = (struct exec){.plan = &c->plan, .sim = SIM_FULL, .width = 1, .step = &c->step, .out = y, .err = &c->err};
	struct strips s = {.in = {{.rep = a}, {.rep = b}}, .n_in = b ? 2 : 1, .fn = fn, .layout = a->t.layout, .shape = a->t.shape};
	assert_int_equal(strips_run(&c->exec, &s), STATUS_OK);
}

static float value_at(const struct rep *r, int64_t i)
{
	return (float)(code_at(r, i) - r->zero) * r->scale;
}

static void check_pair(const struct rep *y, const struct rep *a, const struct rep *b, const struct quantizer *oq)
{
	for (int64_t i = 0; i < tensor_stored(&y->t); i++) {
		int want = is_padding(y, i) ? oq->zero[0] : (int)quantize_one(oq, 0, function(value_at(a, i), value_at(b, i)));
		if (code_at(y, i) != want)
			fail_msg("element %d: %d, not %d", (int)i, code_at(y, i), want);
	}
}

static void of_one_far(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	(void)arg;
	(void)b;
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] > 3.0f ? 30.0f - a[i] : -a[i];
}

// Both operands follow from the codes of one tensor, through one grid or two: the result is a table of one of them.
void test_strips__codes_of_two_that_follow_from_one(void **state)
{
	struct support_random r = {3};
	struct table_case c;
	for (int i = 0; i < 8; i++) {
		enum dtype type = i % 2 ? DT_I8 : DT_U8;
		struct quantizer iq = grid(type, 0), unsigned_grid = grid(DT_U8, 1);
		struct rep x = random_codes(&r, &iq, i / 2 % 2 ? LAYOUT_BLOCK : LAYOUT_PLAIN), f = {0}, coarse = {0}, g = {0}, y = {0};
		run_on(&c, of_one, &x, NULL, DT_I8, 1, &f);
		assert_int_equal(rep_apply(&coarse, &f, &unsigned_grid, 1, &c.err), STATUS_OK);
		run_on(&c, of_one_far, &coarse, NULL, DT_U8, i / 4, &g);
		for (int k = 0; k < 4; k++) {
			struct rep *a = k % 2 ? &g : k ? &f : &x, *b = k % 2 ? (k == 1 ? &x : &f) : &g;
			run_on(&c, of_two, a, b, k / 2 ? DT_I8 : DT_U8, 1, &y);
			assert_non_null(y.origin);
			check_pair(&y, a, b, &c.slot.quant);
			rep_drop(&y);
		}
		rep_drop(&x);
		rep_drop(&f);
		rep_drop(&coarse);
		rep_drop(&g);
	}
}

static void whole_eights(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	(void)arg;
	(void)b;
	for (int64_t i = 0; i < n; i++)
		y[i] = 8.0f * floorf(a[i] / 8.0f);
}

static void beyond_eights(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	whole_eights(arg, a, b, y, n);
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] - y[i];
}

void test_strips__codes_of_two_that_do_not_tell_each_other(void **state)
{
	struct support_random r = {4};
	struct quantizer iq = grid(DT_U8, 0);
	struct table_case c;
	struct rep x = random_codes(&r, &iq, LAYOUT_PLAIN), other = random_codes(&r, &iq, LAYOUT_PLAIN), f = {0}, g = {0}, y = {0};
	run_on(&c, of_one, &x, NULL, DT_I8, 1, &f);
	run_on(&c, of_two, &f, &other, DT_I8, 1, &y);
	assert_null(y.origin);
	check_pair(&y, &f, &other, &c.slot.quant);
	rep_drop(&y);
	rep_drop(&f);
	run_on(&c, whole_eights, &x, NULL, DT_I8, 0, &f);
	run_on(&c, beyond_eights, &x, NULL, DT_U8, 0, &g);
	run_on(&c, of_two, &f, &g, DT_I8, 1, &y);
	assert_null(y.origin);
	check_pair(&y, &f, &g, &c.slot.quant);
	rep_drop(&y);
	rep_drop(&x);
	rep_drop(&other);
	rep_drop(&f);
	rep_drop(&g);
}

// Two parts of one tensor hold different elements, although both lie in what a table made of the same codes.
void test_strips__codes_of_two_parts_of_one(void **state)
{
	struct support_random r = {5};
	struct quantizer iq = grid(DT_U8, 0);
	struct shape half = {.rank = 4, .dim = {N / 2, C, H, W}};
	struct table_case c;
	struct rep x = random_codes(&r, &iq, LAYOUT_PLAIN), f = {0}, y = {0};
	run_on(&c, of_one, &x, NULL, DT_I8, 1, &f);
	struct rep front = rep_part(&f, &half, 0), back = rep_part(&f, &half, (size_t)tensor_stored(&front.t));
	run_on(&c, of_two, &front, &back, DT_I8, 1, &y);
	check_pair(&y, &front, &back, &c.slot.quant);
	rep_drop(&x);
	rep_drop(&f);
	rep_drop(&front);
	rep_drop(&back);
	rep_drop(&y);
}
