// Operators on pairs of elements, and powers, against what they are defined as.
#include "along_case.h"

// A cube is two products, as ONNX Runtime's, and no power.
void test_op_relation__cubes_are_products(void **state)
{
	static const float three = 3;
	struct node_run r;
	float *x = floats(1, C), want[C];
	node_run_init(&r, "", "Pow", 13, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(C), x);
	node_run_add(&r, DT_F32, SCALAR, &three);
	node_run(&r);
	for (int i = 0; i < C; i++)
		want[i] = x[i] * x[i] * x[i];
	assert_memory_equal(r.out[0].data, want, sizeof want);
	node_run_done(&r);
	free(x);
}

static bool related(const char *op, float a, float b)
{
	return !strcmp(op, "Equal")         ? a == b
	       : !strcmp(op, "Less")        ? a < b
	       : !strcmp(op, "LessOrEqual") ? a <= b
	       : !strcmp(op, "Greater")     ? a > b
	                                    : a >= b;
}

// Every relation, of two rows, of a row with one value on either side, and across.
void test_op_relation__relations(void **state)
{
	static const char *const ops[] = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
	float *x = floats(8, 2 * C);
	const struct shape shapes[][2] = {
	    {SHAPE_OF(C), SHAPE_OF(C)}, {SHAPE_OF(C), SHAPE_OF(1)}, {SHAPE_OF(1), SHAPE_OF(C)}, {SHAPE_OF(20, 1), SHAPE_OF(1, 15)}};
	for (int i = 0; i < 2 * C; i++)
		x[i] = i % 31 == 3 ? NAN : roundf(x[i]);
	for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
		for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
			struct node_run r;
			node_run_init(&r, "", ops[o], 16, 1);
			node_run_add(&r, DT_F32, shapes[s][0], x);
			node_run_add(&r, DT_F32, shapes[s][1], x + C);
			node_run(&r);
			assert_int_equal(tensor_count(&r.out[0]), C);
			for (int i = 0; i < C; i++) {
				int a = s == 2 ? 0 : s == 3 ? i / 15 : i, b = s == 1 ? 0 : s == 3 ? i % 15 : i;
				assert_int_equal(((uint8_t *)r.out[0].data)[i], related(ops[o], x[a], x[C + b]));
			}
			node_run_done(&r);
		}
	free(x);
}

void test_op_relation__logic(void **state)
{
	static const char *const ops[] = {"And", "Or", "Xor", "Not"};
	uint8_t x[2 * C];
	for (int i = 0; i < 2 * C; i++)
		x[i] = i * 7 % 5 < 2;
	for (int o = 0; o < 4; o++)
		for (int64_t wide = 1; wide <= C; wide += C - 1) {
			struct node_run r;
			node_run_init(&r, "", ops[o], 7, 1);
			node_run_add(&r, DT_BOOL, SHAPE_OF(C), x);
			if (o < 3)
				node_run_add(&r, DT_BOOL, SHAPE_OF(wide), x + C);
			node_run(&r);
			for (int i = 0; i < C; i++) {
				bool a = x[i], b = x[C + (wide == 1 ? 0 : i)];
				assert_int_equal(((uint8_t *)r.out[0].data)[i], o == 0 ? a && b : o == 1 ? a || b : o == 2 ? a != b : !a);
			}
			node_run_done(&r);
		}
}

// Integers of both widths, of tensors of one shape and with one value on either side:
// arithmetic wraps, and the ends are compared as they are.
static void check_integers(const char *op, enum dtype type, const int64_t *values, int n, int one)
{
	enum { MANY = 32 };
	int64_t wide[2][MANY * MANY];
	int32_t narrow[2][MANY * MANY];
	int count[2] = {one == 0 ? 1 : n * n, one == 1 ? 1 : n * n};
	bool is_wide = type == DT_I64;
	struct node_run r;
	node_run_init(&r, "", op, 14, 1);
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < count[k]; i++) {
			wide[k][i] = values[k ? i % n : i / n % n];
			narrow[k][i] = (int32_t)wide[k][i];
		}
		node_run_add(&r, type, SHAPE_OF(count[k]), is_wide ? (void *)wide[k] : (void *)narrow[k]);
	}
	node_run(&r);
	for (int i = 0; i < n * n; i++) {
		int64_t a = wide[0][i % count[0]], b = wide[1][i % count[1]];
		uint64_t sum = (uint64_t)a + (uint64_t)b, difference = (uint64_t)a - (uint64_t)b, product = (uint64_t)a * (uint64_t)b;
		uint64_t want = !strcmp(op, "Add") ? sum : !strcmp(op, "Sub") ? difference : !strcmp(op, "Mul") ? product :
		    !strcmp(op, "Equal") ? a == b : !strcmp(op, "Less") ? a < b : !strcmp(op, "LessOrEqual") ? a <= b :
		    !strcmp(op, "Greater") ? a > b : a >= b;
		const void *y = r.out[0].data;
		bool same = r.out[0].type == DT_BOOL ? ((const uint8_t *)y)[i] == want :
		    is_wide ? ((const uint64_t *)y)[i] == want : ((const uint32_t *)y)[i] == (uint32_t)want;
		if (!same)
			fail_msg("%s of %lld and %lld", op, (long long)a, (long long)b);
	}
	node_run_done(&r);
}

void test_op_relation__integers(void **state)
{
	(void)state;
	static const char *const ops[] = {"Add", "Sub", "Mul", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
	static const int64_t wide[] = {
	    0, 1, -1, 7, -300, INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1LL << 40};
	for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
		for (int one = -1; one < 2; one++) {
			check_integers(ops[o], DT_I64, wide, 12, one);
			check_integers(ops[o], DT_I32, wide, 7, one);
		}
}
