// Element-wise steps on codes: each code is what its value gives, whether a table tells it or floats do.
#include "support.h"
#include "../../src/engine/run/strips.h"

enum { N = 2, C = 21, H = 7, W = 9 }; // channels that fill no block

static const int32_t zeros[] = {3, -40};
static const float scales[] = {0.5f, 0.3f};
static const float others[W] = {1.75f, -3.0f, 0.25f, 9.5f, 0.0f, 30.0f, -0.75f, 2.5f, -11.0f};

static struct quantizer grid(enum dtype type, int i)
{
	bool is_signed = type == DT_I8;
	return (struct quantizer){.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .qmin = is_signed ? -128 : 0, .qmax = is_signed ? 127 : 255,
		.scale = &scales[i], .zero = &zeros[is_signed ? i : 0]};
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
