// Integers of 64 bits that doubles cannot tell apart: they are compared, added and multiplied as integers.
#include <math.h>
#include "node_run.h"

#define BIG ((int64_t)1 << 60)

static int64_t arg(const char *op, enum dtype type, bool last, int64_t n, const void *x)
{
	struct node_run r;
	node_run_init(&r, "", op, 13, 1);
	*(int64_t *)node_run_field(&r, "select_last_index") = last;
	node_run_add(&r, type, SHAPE_OF(n), x);
	node_run(&r);
	int64_t at = *(int64_t *)r.out[0].data;
	node_run_done(&r);
	return at;
}

void test_op_bigints__argmax_and_argmin(void **state)
{
	static const int64_t x[5] = {BIG + 1, BIG, BIG + 3, BIG, BIG + 3};
	static const uint64_t u[3] = {5, (uint64_t)1 << 63, ((uint64_t)1 << 63) + 1};
	(void)state;
	assert_int_equal(arg("ArgMax", DT_I64, false, 5, x), 2);
	assert_int_equal(arg("ArgMax", DT_I64, true, 5, x), 4);
	assert_int_equal(arg("ArgMin", DT_I64, false, 5, x), 1);
	assert_int_equal(arg("ArgMin", DT_I64, true, 5, x), 3);
	assert_int_equal(arg("ArgMax", DT_U64, false, 3, u), 2);
	assert_int_equal(arg("ArgMin", DT_U64, false, 3, u), 0);
}

static void first_two(enum dtype type, const void *x, int64_t n, bool largest, const int64_t *want)
{
	static const int64_t k = 2;
	struct node_run r;
	node_run_init(&r, "", "TopK", 11, 2);
	*(int64_t *)node_run_field(&r, "largest") = largest;
	r.out_id[1] = 1;
	node_run_add(&r, type, SHAPE_OF(n), x);
	node_run_add(&r, DT_I64, SHAPE_OF(1), &k);
	node_run(&r);
	assert_memory_equal(r.out[1].data, want, 2 * sizeof *want);
	node_run_done(&r);
}

void test_op_bigints__topk(void **state)
{
	static const int64_t x[5] = {BIG, BIG + 1, INT64_MIN, BIG + 2, INT64_MIN + 1};
	static const uint64_t u[3] = {5, ((uint64_t)1 << 63) + 1, (uint64_t)1 << 63};
	(void)state;
	first_two(DT_I64, x, 5, true, (int64_t[]){3, 1});
	first_two(DT_I64, x, 5, false, (int64_t[]){2, 4});
	first_two(DT_U64, u, 3, true, (int64_t[]){1, 2});
	first_two(DT_U64, u, 3, false, (int64_t[]){0, 2});
}

// Zeros of both signs are equal, what is no number comes last either way.
void test_op_bigints__floats_order_as_they_did(void **state)
{
	static const float x[6] = {-0.0f, 0, NAN, -2, -3, -INFINITY}, y[3] = {NAN, INFINITY, 1};
	(void)state;
	first_two(DT_F32, x, 6, true, (int64_t[]){0, 1});
	first_two(DT_F32, x, 6, false, (int64_t[]){5, 4});
	first_two(DT_F32, x, 3, false, (int64_t[]){0, 1});
	first_two(DT_F32, y, 3, false, (int64_t[]){2, 1});
	first_two(DT_F32, y, 3, true, (int64_t[]){1, 2});
}

static void range(enum dtype type, const void *start, const void *limit, const void *delta, int n, const int64_t *want)
{
	struct node_run r;
	node_run_init(&r, "", "Range", 11, 1);
	node_run_add(&r, type, SCALAR, start);
	node_run_add(&r, type, SCALAR, limit);
	node_run_add(&r, type, SCALAR, delta);
	node_run(&r);
	assert_int_equal(tensor_count(&r.out[0]), n);
	assert_memory_equal(r.out[0].data, want, (size_t)n * sizeof *want);
	node_run_done(&r);
}

#define OF(type, v) (&(type){v})

void test_op_bigints__range(void **state)
{
	(void)state;
	range(DT_I64, OF(int64_t, BIG + 1), OF(int64_t, BIG + 4), OF(int64_t, 1), 3, (int64_t[]){BIG + 1, BIG + 2, BIG + 3});
	range(DT_I64, OF(int64_t, BIG + 1), OF(int64_t, BIG - 3), OF(int64_t, -2), 2, (int64_t[]){BIG + 1, BIG - 1});
	range(DT_I64, OF(int64_t, INT64_MIN), OF(int64_t, INT64_MAX), OF(int64_t, INT64_MAX), 3, (int64_t[]){INT64_MIN, -1, INT64_MAX - 1});
	range(DT_I64, OF(int64_t, 3), OF(int64_t, 3), OF(int64_t, 1), 0, (int64_t[]){0});
	range(DT_I64, OF(int64_t, 3), OF(int64_t, 5), OF(int64_t, -1), 0, (int64_t[]){0});
	range(DT_U64, OF(uint64_t, UINT64_MAX - 4), OF(uint64_t, UINT64_MAX), OF(uint64_t, 3), 2, (int64_t[]){-5, -2});
}

static void gemm(struct node_run *r, enum dtype type, float alpha, const void *a, const void *b, const void *c)
{
	node_run_init(r, "", "Gemm", 13, 1);
	*(float *)node_run_field(r, "alpha") = alpha;
	*(float *)node_run_field(r, "beta") = -1;
	*(int64_t *)node_run_field(r, "transB") = 1;
	node_run_add(r, type, SHAPE_OF(1, 2), a);
	node_run_add(r, type, SHAPE_OF(2, 2), b);
	node_run_add(r, type, SHAPE_OF(2), c);
}

void test_op_bigints__gemm(void **state)
{
	static const int64_t a[2] = {BIG + 1, 1}, b[4] = {1, 3, 2, -5}, c[2] = {7, -1};
	struct node_run r;
	struct error err = {0};
	(void)state;
	gemm(&r, DT_I64, 2, a, b, c);
	node_run(&r);
	assert_memory_equal(r.out[0].data, ((int64_t[]){2 * BIG + 8 - 7, 4 * BIG - 6 + 1}), 2 * sizeof(int64_t));
	node_run_done(&r);
	gemm(&r, DT_U32, 2, (uint32_t[]){1u << 31, 3}, (uint32_t[]){1, 1, 2, 2}, (uint32_t[]){1, 2});
	node_run(&r);
	assert_memory_equal(r.out[0].data, ((uint32_t[]){5, 10}), 2 * sizeof(uint32_t));
	node_run_done(&r);
	gemm(&r, DT_I64, 0.5f, a, b, c);
	assert_int_equal(node_run_try(&r, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "alpha is 0.5"));
	node_run_done(&r);
}
