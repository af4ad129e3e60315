// What operators make of NaN, infinities and floats that no integer holds: ONNX Runtime's answers on x86.
#include <math.h>
#include "node_run.h"

static const float strange[] = {NAN, INFINITY, -INFINITY, 3e9f, -3e9f, 1e30f, -2.7f, 300.9f};
enum { N = sizeof strange / sizeof *strange };

// Casts `strange` to a TensorProto.DataType.
static const void *cast(struct node_run *r, int64_t to)
{
	node_run_init(r, "", "Cast", 13, 1);
	*(int64_t *)node_run_field(r, "to") = to;
	node_run_add(r, DT_F32, SHAPE_OF(N), strange);
	node_run(r);
	return r->out[0].data;
}

void test_op_nonfinite__casts_to_32_bits(void **state)
{
	static const int32_t want[N] = {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, -2, 300};
	struct node_run r;
	assert_memory_equal(cast(&r, 6), want, sizeof want);
	node_run_done(&r);
}

void test_op_nonfinite__casts_to_64_bits(void **state)
{
	static const int64_t want[N] = {INT64_MIN, INT64_MIN, INT64_MIN, 3000000000, -3000000000, INT64_MIN, -2, 300};
	struct node_run r;
	assert_memory_equal(cast(&r, 7), want, sizeof want);
	node_run_done(&r);
}

void test_op_nonfinite__casts_to_bytes_keep_the_low_bits(void **state)
{
	static const uint8_t want[N] = {0, 0, 0, 0, 0, 0, 254, 44};
	struct node_run r;
	assert_memory_equal(cast(&r, 2), want, sizeof want);
	node_run_done(&r);
	assert_memory_equal(cast(&r, 3), want, sizeof want);
	node_run_done(&r);
}

void test_op_nonfinite__a_row_with_nan_has_no_norm(void **state)
{
	static const float x[] = {1, NAN, 0, 0, 3, 4};
	struct node_run r;
	const float *y;
	node_run_init(&r, "", "LpNormalization", 1, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), x);
	node_run(&r);
	y = r.out[0].data;
	assert_true(isnan(y[0]) && isnan(y[1]));
	assert_true(y[2] == 0 && y[3] == 0);
	assert_true(fabsf(y[4] - 0.6f) < 1e-6f && fabsf(y[5] - 0.8f) < 1e-6f);
	node_run_done(&r);
}

// What is neither below nor above the band is 0, NaN too.
void test_op_nonfinite__shrink(void **state)
{
	static const float x[4] = {NAN, INFINITY, -INFINITY, -0.25f};
	struct node_run r;
	node_run_init(&r, "", "Shrink", 9, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(4), x);
	node_run(&r);
	node_run_floats(&r, 4, (const float[]){0, INFINITY, -INFINITY, 0});
	node_run_done(&r);
}
