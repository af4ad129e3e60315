// Floats of 8 and 4 bits: every code, every tie between two of them, and what lies past the last.
#include <float.h>
#include <math.h>
#include "node_run.h"
#include "qtui/engine/minifloat.h"

static const int formats[] = {MINIFLOAT_E4M3FN, MINIFLOAT_E4M3FNUZ, MINIFLOAT_E5M2, MINIFLOAT_E5M2FNUZ, MINIFLOAT_E2M1};
enum { FORMATS = sizeof formats / sizeof *formats };

static float rounded(int type, float x, bool saturate)
{
	float y;
	minifloat_round(&y, &x, 1, type, saturate);
	return y;
}

static bool same(float a, float b)
{
	return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static void check(int type, float x, bool saturate, float want)
{
	float y = rounded(type, x, saturate);
	if (!same(y, want))
		fail_msg("format %d, saturate %d: %.9g becomes %.9g, not %.9g", type, saturate, (double)x, (double)y, (double)want);
}

void test_minifloat__codes_are_what_they_round_to(void **state)
{
	for (int f = 0; f < FORMATS; f++) {
		float value[256];
		int n = minifloat_values(value, formats[f]);
		assert_int_equal(n, formats[f] == MINIFLOAT_E2M1 ? 16 : 256);
		for (int i = 0; i < n; i++)
			check(formats[f], value[i], false, value[i]);
		assert_true(minifloat_largest(formats[f]) == rounded(formats[f], FLT_MAX, true));
	}
}

// Codes follow one another: the value halfway goes to the even one, its neighbours to the nearer one.
void test_minifloat__ties_go_to_the_even_code(void **state)
{
	for (int f = 0; f < FORMATS; f++) {
		float value[256];
		int half = minifloat_values(value, formats[f]) / 2;
		for (int i = 0; i + 1 < half && isfinite(value[i + 1]); i++) {
			float low = value[i], high = value[i + 1], tie = (low + high) / 2;
			for (int sign = 0; sign < 2; sign++) {
				float s = sign ? -1 : 1, zero = rounded(formats[f], s * 0.0f, true);
				float below = low == 0 ? zero : s * low;
				check(formats[f], s * tie, true, i % 2 == 0 ? below : s * high);
				check(formats[f], s * nextafterf(tie, 0), true, below);
				check(formats[f], s * nextafterf(tie, high), true, s * high);
			}
		}
	}
}

// Past the last value, saturated and not; half a step past it still belongs to it where it is even.
void test_minifloat__values_out_of_range(void **state)
{
	static const struct {
		int type;
		float x, saturated, plain;
	} rows[] = {
	    {MINIFLOAT_E4M3FN, 464, 448, 448},
	    {MINIFLOAT_E4M3FN, 465, 448, NAN},
	    {MINIFLOAT_E4M3FN, -480, -448, NAN},
	    {MINIFLOAT_E4M3FN, INFINITY, 448, NAN},
	    {MINIFLOAT_E4M3FNUZ, 247, 240, 240},
	    {MINIFLOAT_E4M3FNUZ, -248, -240, NAN},
	    {MINIFLOAT_E4M3FNUZ, -INFINITY, -240, NAN},
	    {MINIFLOAT_E5M2, 61439, 57344, 57344},
	    {MINIFLOAT_E5M2, 61440, 57344, INFINITY},
	    {MINIFLOAT_E5M2, -INFINITY, -57344, -INFINITY},
	    {MINIFLOAT_E5M2FNUZ, 61440, 57344, NAN},
	    {MINIFLOAT_E5M2FNUZ, INFINITY, 57344, NAN},
	    {MINIFLOAT_E2M1, 1e9f, 6, 6},
	    {MINIFLOAT_E2M1, -INFINITY, -6, -6},
	    {MINIFLOAT_E2M1, NAN, 6, 6},
	    {MINIFLOAT_E2M1, -NAN, 6, 6},
	    {MINIFLOAT_E4M3FN, NAN, NAN, NAN},
	    {MINIFLOAT_E4M3FNUZ, NAN, NAN, NAN},
	    {MINIFLOAT_E5M2, NAN, NAN, NAN},
	    {MINIFLOAT_E5M2FNUZ, NAN, NAN, NAN},
	    {MINIFLOAT_E4M3FN, -0.0f, -0.0f, -0.0f},
	    {MINIFLOAT_E4M3FNUZ, -0.0f, 0, 0},
	    {MINIFLOAT_E4M3FNUZ, -1e-9f, 0, 0},
	    {MINIFLOAT_E5M2, -1e-9f, -0.0f, -0.0f},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		check(rows[i].type, rows[i].x, true, rows[i].saturated);
		check(rows[i].type, rows[i].x, false, rows[i].plain);
	}
}

void test_minifloat__powers_of_two(void **state)
{
	static const float x[] = {1, 1.25f, 1.5f, -3, 0, 0x1p-149f, 0x1.8p-127f, 0x1.8p127f, INFINITY, NAN};
	static const struct {
		char direction;
		float want[10];
	} rows[] = {
	    {'u', {1, 2, 2, 4, 0x1p-127f, 0x1p-127f, 0x1p-126f, 0x1p127f, 0x1p127f, NAN}},
	    {'d', {1, 1, 1, 2, 0x1p-127f, 0x1p-127f, 0x1p-127f, 0x1p127f, 0x1p127f, NAN}},
	    {'n', {1, 1, 2, 4, 0x1p-127f, 0x1p-127f, 0x1p-126f, 0x1p127f, 0x1p127f, NAN}},
	};
	float y[10];
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		minifloat_round_power(y, x, 10, rows[r].direction, true);
		for (int i = 0; i < 10; i++)
			if (!same(y[i], rows[r].want[i]))
				fail_msg("%c: %g becomes %g, not %g", rows[r].direction, (double)x[i], (double)y[i], (double)rows[r].want[i]);
		minifloat_round_power(y, x, 10, rows[r].direction, false);
		assert_true(isnan(y[8]) && (rows[r].direction == 'd' || isnan(y[7])) && y[3] == rows[r].want[3]);
	}
}

static void quantize_case(
    struct node_run *r, const char *domain, const char *op, int type, int64_t axis, int64_t block, struct shape shape, const float *scale)
{
	static const float x[8] = {.3f, -1.1f, 17, 1000, -.06f, 3.3f, -18, 5000};
	node_run_init(r, domain, op, domain[0] ? 1 : 23, 1);
	if (!domain[0])
		*(int64_t *)node_run_field(r, "output_dtype") = type;
	*(int64_t *)node_run_field(r, "axis") = axis;
	*(int64_t *)node_run_field(r, "block_size") = block;
	node_run_add(r, DT_F32, SHAPE_OF(2, 4), x);
	node_run_add(r, DT_F32, shape, scale);
	node_run(r);
}

// One scale, one for each row, one for each two columns; back again with the same.
void test_minifloat__quantizers_of_floats(void **state)
{
	static const float whole[8] = {1.25f, -4.5f, 64, 448, -.234375f, 13, -72, 448},
	                   rows_of[8] = {.3125f, -1.125f, 16, 448, -.234375f, 13, -72, 448},
	                   blocks[8] = {.3125f, -1.125f, 64, 448, -.46875f, 26, -18, 448}, four[8] = {.5f, -1, 6, 6, -0.0f, 3, -6, 6};
	const float scale[] = {.25f}, per_row[] = {1, .25f}, per_block[] = {1, .25f, .125f, 1};
	struct node_run r;
	quantize_case(&r, "", "QuantizeLinear", MINIFLOAT_E4M3FN, 1, 0, SCALAR, scale);
	node_run_floats(&r, 8, whole);
	node_run_done(&r);
	quantize_case(&r, "trt", "TRT_FP8QuantizeLinear", 0, 1, 0, SCALAR, scale);
	node_run_floats(&r, 8, whole);
	node_run_done(&r);
	quantize_case(&r, "", "QuantizeLinear", MINIFLOAT_E4M3FN, 0, 0, SHAPE_OF(2), per_row);
	node_run_floats(&r, 8, rows_of);
	node_run_done(&r);
	quantize_case(&r, "", "QuantizeLinear", MINIFLOAT_E4M3FN, 1, 2, SHAPE_OF(2, 2), per_block);
	node_run_floats(&r, 8, blocks);
	struct node_run back;
	node_run_init(&back, "", "DequantizeLinear", 23, 1);
	*(int64_t *)node_run_field(&back, "block_size") = 2;
	node_run_add(&back, DT_F32, SHAPE_OF(2, 4), r.out[0].data);
	node_run_add(&back, DT_F32, SHAPE_OF(2, 2), per_block);
	node_run(&back);
	node_run_floats(&back, 8, (const float[]){.3125f, -1.125f, 16, 112, -.05859375f, 3.25f, -18, 448});
	node_run_done(&back);
	node_run_done(&r);
	quantize_case(&r, "", "QuantizeLinear", MINIFLOAT_E2M1, 1, 0, SCALAR, (const float[]){1});
	node_run_floats(&r, 8, four);
	node_run_done(&r);
}
