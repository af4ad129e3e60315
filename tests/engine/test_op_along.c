// Operators that pick, move, compare or add up along one axis, first, middle or last, against what they are defined as.
#include <math.h>
#include "node_run.h"

enum { A = 5, B = 7, C = 300 };

static float *floats(uint64_t seed, int64_t n)
{
	struct support_random random = {seed};
	float *x = malloc((size_t)n * sizeof *x);
	support_random_floats(&random, x, (size_t)n, -2, 2);
	return x;
}

// A cube is two products, as ONNX Runtime's, and no power.
void test_op_along__cubes_are_products(void **state)
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

static double fold(const char *op, double acc, double v)
{
	if (!strcmp(op, "ReduceMax"))
		return v > acc || v != v ? v : acc;
	if (!strcmp(op, "ReduceMin"))
		return v < acc || v != v ? v : acc;
	if (!strcmp(op, "ReduceProd"))
		return acc * v;
	return acc + (!strcmp(op, "ReduceL1") ? fabs(v) : !strcmp(op, "ReduceSumSquare") ? v * v : v);
}

static double fold_start(const char *op)
{
	return !strcmp(op, "ReduceMax") ? -INFINITY : !strcmp(op, "ReduceMin") ? INFINITY : !strcmp(op, "ReduceProd");
}

static void check_reduction(const char *op, const float *x, const int64_t *axes, int64_t n_axes)
{
	static double want[A * B * C];
	struct node_run r;
	int64_t step[3] = {B * C, C, 1}, count[3] = {A, B, C};
	node_run_init(&r, "", op, 18, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(A, B, C), x);
	node_run_add(&r, DT_I64, shape_of(1, &n_axes), axes);
	node_run(&r);
	for (int64_t i = 0; i < n_axes; i++)
		count[axes[i]] = 1;
	for (int64_t i = 0; i < count[0] * count[1] * count[2]; i++)
		want[i] = fold_start(op);
	for (int64_t i = 0; i < A * B * C; i++) {
		int64_t to = 0;
		for (int d = 0; d < 3; d++)
			to = to * count[d] + i / step[d] % (int64_t[]){A, B, C}[d] % count[d];
		want[to] = fold(op, want[to], (double)x[i]);
	}
	assert_int_equal(tensor_count(&r.out[0]), count[0] * count[1] * count[2]);
	for (int64_t i = 0; i < tensor_count(&r.out[0]); i++) {
		float y = ((float *)r.out[0].data)[i], w = (float)want[i];
		if (y != w && !(isnan(y) && isnan(w)))
			fail_msg("%s: element %d is %g, not %g", op, (int)i, (double)y, (double)w);
	}
	node_run_done(&r);
}

void test_op_along__reductions_of_any_axis(void **state)
{
	static const char *const ops[] = {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare", "ReduceProd"};
	float *x = floats(2, A * B * C);
	x[C + 3] = NAN;
	x[2 * C + 4] = -INFINITY;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		check_reduction(ops[i], x, (int64_t[]){0}, 1);
		check_reduction(ops[i], x, (int64_t[]){1}, 1);
		check_reduction(ops[i], x, (int64_t[]){0, 1}, 2);
		check_reduction(ops[i], x, (int64_t[]){0, 2}, 2);
	}
	free(x);
}

static const enum dtype sized[] = {DT_U8, DT_I16, DT_F32, DT_I64};

// Elements of 1, 2, 4 and 8 bytes, one or three of them at a time.
void test_op_along__gather_of_elements(void **state)
{
	static const int64_t pick[] = {6, -7, 2};
	unsigned char x[A * B * 3 * 8];
	for (size_t i = 0; i < sizeof x; i++)
		x[i] = (unsigned char)(i * 37);
	for (int run = 1; run <= 3; run += 2)
		for (size_t t = 0; t < sizeof sized / sizeof *sized; t++) {
			struct node_run r;
			size_t size = dtype_size(sized[t]) * (size_t)run;
			node_run_init(&r, "", "Gather", 13, 1);
			*(int64_t *)node_run_field(&r, "axis") = 1;
			node_run_add(&r, sized[t], SHAPE_OF(A, B, run), x);
			node_run_add(&r, DT_I64, SHAPE_OF(3), pick);
			node_run(&r);
			for (size_t o = 0; o < A; o++)
				for (size_t p = 0; p < 3; p++)
					assert_memory_equal((char *)r.out[0].data + (o * 3 + p) * size, x + (o * B + (size_t)((pick[p] + B) % B)) * size, size);
			node_run_done(&r);
		}
}

void test_op_along__concat_of_elements(void **state)
{
	enum { ROWS = 3000 }; // more than are written together
	static unsigned char x[3][ROWS * 3 * 8];
	for (size_t i = 0; i < sizeof x; i++)
		x[i / sizeof x[0]][i % sizeof x[0]] = (unsigned char)(i * 41 + i / 256);
	for (size_t t = 0; t < sizeof sized / sizeof *sized; t++) {
		struct node_run r;
		size_t size = dtype_size(sized[t]);
		node_run_init(&r, "", "Concat", 13, 1);
		*(int64_t *)node_run_field(&r, "axis") = 1;
		for (int i = 0; i < 3; i++)
			node_run_add(&r, sized[t], SHAPE_OF(ROWS, i + 1), x[i]);
		node_run(&r);
		for (size_t o = 0; o < ROWS; o++)
			for (size_t i = 0; i < 3; i++)
				assert_memory_equal((char *)r.out[0].data + (o * 6 + i * (i + 1) / 2) * size, x[i] + o * (i + 1) * size, (i + 1) * size);
		node_run_done(&r);
	}
}

// Of ints, and of floats in double.
void test_op_along__running_sums(void **state)
{
	static const int64_t axis = 1;
	float *x = floats(3, 2 * B * 3);
	int32_t ints[2 * B * 3];
	for (int i = 0; i < 2 * B * 3; i++)
		ints[i] = (int32_t)(x[i] * 100);
	for (int mode = 0; mode < 8; mode++) {
		struct node_run r;
		bool reverse = mode & 1, exclusive = mode & 2, whole = mode & 4;
		node_run_init(&r, "", "CumSum", 14, 1);
		*(int64_t *)node_run_field(&r, "reverse") = reverse;
		*(int64_t *)node_run_field(&r, "exclusive") = exclusive;
		node_run_add(&r, whole ? DT_I32 : DT_F32, SHAPE_OF(2, B, 3), whole ? (void *)ints : x);
		node_run_add(&r, DT_I64, SCALAR, &axis);
		node_run(&r);
		for (int line = 0; line < 6; line++) {
			double sum = 0;
			for (int i = 0; i < B; i++) {
				int at = (line / 3 * B + (reverse ? B - 1 - i : i)) * 3 + line % 3;
				double v = whole ? ints[at] : (double)x[at], want = exclusive ? sum : sum + v;
				sum += v;
				if (whole)
					assert_int_equal(((int32_t *)r.out[0].data)[at], (int32_t)want);
				else
					assert_true(((float *)r.out[0].data)[at] == (float)want);
			}
		}
		node_run_done(&r);
	}
	free(x);
}

static bool goes_first(const float *x, int64_t a, int64_t b)
{
	if (isnan(x[a]) || isnan(x[b]))
		return isnan(x[a]) == isnan(x[b]) ? a < b : isnan(x[b]);
	return x[a] > x[b] || (x[a] == x[b] && a < b);
}

// All of a row and a part of it, few and many, with equal elements and some that are no numbers:
// element i of the result has i before it.
void test_op_along__ranks(void **state)
{
	static const int64_t sizes[][2] = {{54, 54}, {54, 53}, {C, C}, {C, 100}, {C, 30}, {20, 20}, {25, 25}, {1, 1}};
	float *x = floats(4, C);
	for (int i = 0; i < C; i++)
		x[i] = i % 37 == 9 ? NAN : roundf(x[i] * 20);
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		struct node_run r;
		int64_t n = sizes[s][0], k = sizes[s][1];
		node_run_init(&r, "", "TopK", 11, 2);
		r.out_id[1] = 1;
		node_run_add(&r, DT_F32, SHAPE_OF(n), x);
		node_run_add(&r, DT_I64, SHAPE_OF(1), &k);
		node_run(&r);
		for (int64_t i = 0; i < k; i++) {
			int64_t at = ((int64_t *)r.out[1].data)[i], before = 0;
			for (int64_t j = 0; j < n; j++)
				before += goes_first(x, j, at);
			assert_int_equal(before, i);
			assert_memory_equal((float *)r.out[0].data + i, x + at, sizeof *x);
		}
		node_run_done(&r);
	}
	free(x);
}

// Sums scattered along every axis, and gathered from there.
void test_op_along__scattered(void **state)
{
	enum { I = 2, J = 3, K = 4, N = I * J * K };
	float *updates = floats(5, N), *x = floats(6, A * B * 9);
	for (int64_t axis = 0; axis < 3; axis++) {
		struct node_run s, g;
		int64_t index[N], step = (int64_t[]){B * 9, 9, 1}[axis], dim = (int64_t[]){A, B, 9}[axis];
		float want[A * B * 9];
		memcpy(want, x, sizeof want);
		for (int64_t i = 0; i < N; i++) {
			int64_t at[3] = {i / (J * K), i / K % J, i % K};
			index[i] = i * 5 % dim - (i % 2 ? dim : 0);
			at[axis] = 0;
			want[(at[0] * B + at[1]) * 9 + at[2] + (index[i] + dim) % dim * step] += updates[i];
		}
		node_run_init(&s, "", "ScatterElements", 18, 1);
		*(int64_t *)node_run_field(&s, "axis") = axis;
		*(const char **)node_run_field(&s, "reduction") = "add";
		node_run_add(&s, DT_F32, SHAPE_OF(A, B, 9), x);
		node_run_add(&s, DT_I64, SHAPE_OF(I, J, K), index);
		node_run_add(&s, DT_F32, SHAPE_OF(I, J, K), updates);
		node_run(&s);
		assert_memory_equal(s.out[0].data, want, sizeof want);
		node_run_init(&g, "", "GatherElements", 13, 1);
		*(int64_t *)node_run_field(&g, "axis") = axis;
		node_run_add(&g, DT_F32, SHAPE_OF(A, B, 9), want);
		node_run_add(&g, DT_I64, SHAPE_OF(I, J, K), index);
		node_run(&g);
		for (int64_t i = 0; i < N; i++) {
			int64_t at[3] = {i / (J * K), i / K % J, i % K};
			at[axis] = 0;
			assert_true(((float *)g.out[0].data)[i] == want[(at[0] * B + at[1]) * 9 + at[2] + (index[i] + dim) % dim * step]);
		}
		node_run_done(&s);
		node_run_done(&g);
	}
	free(x);
	free(updates);
}

// The first or last of the largest or least; a number that is none is passed over unless the line begins with it.
static int64_t best_of(const float *x, int64_t n, int64_t step, bool max, bool last)
{
	int64_t best = 0;
	for (int64_t i = 1; i < n; i++) {
		float v = x[i * step], b = x[best * step];
		if ((max ? v > b : v < b) || (last && v == b))
			best = i;
	}
	return best;
}

void test_op_along__the_best(void **state)
{
	float *x = floats(7, A * B * C);
	for (int i = 0; i < A * B * C; i++)
		x[i] = i % 41 == 0 ? NAN : i % 11 ? roundf(x[i] * 4) : -0.0f;
	for (int mode = 0; mode < 12; mode++) {
		struct node_run r;
		bool max = mode & 1, last = mode & 2;
		int64_t axis = mode / 4, step = (int64_t[]){B * C, C, 1}[axis], n = (int64_t[]){A, B, C}[axis];
		node_run_init(&r, "", max ? "ArgMax" : "ArgMin", 13, 1);
		*(int64_t *)node_run_field(&r, "axis") = axis;
		*(int64_t *)node_run_field(&r, "select_last_index") = last;
		node_run_add(&r, DT_F32, SHAPE_OF(A, B, C), x);
		node_run(&r);
		for (int64_t i = 0; i < A * B * C / n; i++)
			assert_int_equal(((int64_t *)r.out[0].data)[i], best_of(x + i / step * step * n + i % step, n, step, max, last));
		node_run_done(&r);
	}
	free(x);
}

static bool related(const char *op, float a, float b)
{
	return !strcmp(op, "Equal") ? a == b : !strcmp(op, "Less") ? a < b : !strcmp(op, "LessOrEqual") ? a <= b : !strcmp(op, "Greater") ? a > b : a >= b;
}

// Every relation, of two rows, of a row with one value on either side, and across.
void test_op_along__relations(void **state)
{
	static const char *const ops[] = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
	float *x = floats(8, 2 * C);
	const struct shape shapes[][2] = {{SHAPE_OF(C), SHAPE_OF(C)}, {SHAPE_OF(C), SHAPE_OF(1)}, {SHAPE_OF(1), SHAPE_OF(C)}, {SHAPE_OF(20, 1), SHAPE_OF(1, 15)}};
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

void test_op_along__logic(void **state)
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

void test_op_along__what_is_not_zero(void **state)
{
	float *x = floats(9, A * C);
	struct node_run r;
	int64_t found = 0;
	for (int i = 0; i < A * C; i++)
		x[i] = i % 97 == 5 ? NAN : i % 3 ? roundf(x[i]) : -0.0f;
	node_run_init(&r, "", "NonZero", 13, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(A, C), x);
	node_run(&r);
	int64_t n = r.out[0].shape.dim[1], *y = r.out[0].data;
	for (int i = 0; i < A * C; i++) {
		if (x[i] == 0)
			continue;
		assert_true(found < n && y[found] == i / C && y[n + found] == i % C);
		found++;
	}
	assert_int_equal(found, n);
	node_run_done(&r);
	free(x);
}

// A plane that rises evenly has its value in the middle as the mean of a cell,
// of few samples and of more than are held at once.
void test_op_along__regions_of_all_channels(void **state)
{
	enum { W = 50 };
	static float x[3 * W * W];
	static const float regions[] = {2, 3, 42, 45, 10.5f, 20, 14.5f, 26};
	static const int64_t image[] = {0, 0};
	struct node_run r;
	for (int i = 0; i < 3 * W * W; i++)
		x[i] = (float)(i / (W * W) + 1) * (float)(i % W + 2 * (i / W % W));
	node_run_init(&r, "", "RoiAlign", 16, 1);
	*(int64_t *)node_run_field(&r, "output_height") = 2;
	*(int64_t *)node_run_field(&r, "output_width") = 2;
	*(const char **)node_run_field(&r, "coordinate_transformation_mode") = "output_half_pixel";
	node_run_add(&r, DT_F32, SHAPE_OF(1, 3, W, W), x);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 4), regions);
	node_run_add(&r, DT_I64, SHAPE_OF(2), image);
	node_run(&r);
	for (int i = 0; i < 2 * 3 * 4; i++) {
		const float *roi = regions + i / 12 * 4;
		float at_x = roi[0] + (roi[2] - roi[0]) * (i % 2 ? .75f : .25f), at_y = roi[1] + (roi[3] - roi[1]) * (i % 4 / 2 ? .75f : .25f);
		float want = (float)(i / 4 % 3 + 1) * (at_x + 2 * at_y), y = ((float *)r.out[0].data)[i];
		if (!(fabsf(y - want) <= 1e-4f * want))
			fail_msg("element %d is %g, not %g", i, (double)y, (double)want);
	}
	node_run_done(&r);
}

static const void *element_at(const void *data, enum dtype type, int64_t i)
{
	return (const char *)data + (size_t)i * dtype_size(type);
}

// [rows, 3 * C * C]: longer than a thread's turn. What is bit k of `repeated` has one element for all of a row.
static void check_where(enum dtype type, int64_t rows, unsigned repeated)
{
	const int64_t run = 3 * C * C;
	const struct shape whole = SHAPE_OF(rows, run), one = SHAPE_OF(rows, 1);
	struct support_random random = { 1 + repeated };
	size_t bytes = (size_t)(rows * run) * dtype_size(type);
	uint8_t *c = malloc((size_t)(rows * run)), *x = malloc(bytes), *y = malloc(bytes);
	struct node_run r;
	for (int64_t i = 0; i < rows * run; i++)
		c[i] = (uint8_t)(support_random_bits(&random) & 1);
	for (size_t i = 0; i < bytes; i++) {
		x[i] = (uint8_t)support_random_bits(&random);
		y[i] = (uint8_t)support_random_bits(&random);
	}
	node_run_init(&r, "", "Where", 16, 1);
	node_run_add(&r, DT_BOOL, repeated & 1 ? one : whole, c);
	node_run_add(&r, type, repeated & 2 ? one : whole, x);
	node_run_add(&r, type, repeated & 4 ? one : whole, y);
	node_run(&r);
	bool all_one = repeated == 7;
	assert_int_equal(tensor_count(&r.out[0]), all_one ? rows : rows * run);
	for (int64_t i = 0; i < tensor_count(&r.out[0]); i++) {
		int64_t row = all_one ? i : i / run;
		bool holds = c[repeated & 1 ? row : i];
		const void *want = holds ? element_at(x, type, repeated & 2 ? row : i) : element_at(y, type, repeated & 4 ? row : i);
		if (memcmp(element_at(r.out[0].data, type, i), want, dtype_size(type)))
			fail_msg("type %d, repeated %u: element %d is not the one that was chosen", (int)type, repeated, (int)i);
	}
	node_run_done(&r);
	free(c);
	free(x);
	free(y);
}

void test_op_along__where_with_all_or_one_of_a_row(void **state)
{
	static const enum dtype of_each_size[] = { DT_U8, DT_U16, DT_F32, DT_I64 };
	for (int t = 0; t < 4; t++)
		for (unsigned repeated = 0; repeated < 8; repeated++)
			for (int64_t rows = 1; rows <= 2; rows++)
				check_where(of_each_size[t], rows, repeated);
}

static void check_moments(const float *x, const int64_t *axes, int64_t n_axes)
{
	const int64_t dim[3] = { A, B, C };
	double sum[A * B * C] = { 0 }, squares[A * B * C] = { 0 };
	int64_t group[A * B * C], each = 1;
	struct node_run r;
	node_run_init(&r, "", "MeanVarianceNormalization", 13, 1);
	*(struct ints *)node_run_field(&r, "axes") = (struct ints){ .n = (int)n_axes, .at = (int64_t *)axes };
	node_run_add(&r, DT_F32, SHAPE_OF(A, B, C), x);
	node_run(&r);
	for (int64_t i = 0; i < n_axes; i++)
		each *= dim[axes[i]];
	for (int64_t i = 0; i < A * B * C; i++) {
		int64_t at[3] = { i / (B * C), i / C % B, i % C };
		for (int64_t k = 0; k < n_axes; k++)
			at[axes[k]] = 0;
		group[i] = (at[0] * B + at[1]) * C + at[2];
		sum[group[i]] += (double)x[i] / (double)each;
	}
	for (int64_t i = 0; i < A * B * C; i++)
		squares[group[i]] += pow((double)x[i] - sum[group[i]], 2) / (double)each;
	for (int64_t i = 0; i < A * B * C; i++) {
		double want = ((double)x[i] - sum[group[i]]) / (sqrt(squares[group[i]]) + 1e-9), y = (double)((float *)r.out[0].data)[i];
		if (!(fabs(y - want) <= 1e-6))
			fail_msg("%d axes from %d: element %d is %g, not %g", (int)n_axes, (int)axes[0], (int)i, y, want);
	}
	node_run_done(&r);
}

void test_op_along__moments_over_any_axes(void **state)
{
	static const int64_t axes[][3] = { { 0, 1, 2 }, { 1, 2 }, { 0, 1 }, { 0, 2 }, { 0 }, { 1 }, { 2 } }, n_axes[] = { 3, 2, 2, 2, 1, 1, 1 };
	float *x = floats(7, A * B * C);
	for (int i = 0; i < 7; i++)
		check_moments(x, axes[i], n_axes[i]);
	for (int i = 0; i < A * B * C; i++)
		x[i] *= 1e-9f; // what is added to the deviation counts
	for (int i = 0; i < 7; i++)
		check_moments(x, axes[i], n_axes[i]);
	free(x);
}

// Of an even number of channels one more lies behind than before.
void test_op_along__channels_normalized_by_their_neighbours(void **state)
{
	float *x = floats(11, A * B * C);
	for (int64_t size = 1; size <= B + 1; size++) {
		struct node_run r;
		node_run_init(&r, "", "LRN", 13, 1);
		*(int64_t *)node_run_field(&r, "size") = size;
		*(float *)node_run_field(&r, "alpha") = 0.5f;
		node_run_add(&r, DT_F32, SHAPE_OF(A, B, C), x);
		node_run(&r);
		for (int64_t i = 0; i < A * B * C; i++) {
			int64_t channel = i / C % B;
			double squares = 0, y = (double)((float *)r.out[0].data)[i];
			for (int64_t k = channel - (size - 1) / 2; k <= channel + size / 2; k++)
				squares += k >= 0 && k < B ? pow((double)x[i + (k - channel) * C], 2) : 0;
			double want = (double)x[i] / pow(1 + 0.5 / (double)size * squares, 0.75);
			if (!(fabs(y - want) <= 1e-6))
				fail_msg("size %d: element %d is %g, not %g", (int)size, (int)i, y, want);
		}
		node_run_done(&r);
	}
	free(x);
}

void test_op_along__lp_normalization_of_any_axis(void **state)
{
	const int64_t dim[3] = { A, B, C }, step[3] = { B * C, C, 1 };
	float *x = floats(8, A * B * C);
	for (int64_t i = 0; i < A * B * C; i++)
		x[i] = i / C == 3 || i % C == 5 || i / C % B == 2 ? 0 : x[i]; // whole rows and columns of zeros among them
	for (int64_t p = 1; p <= 2; p++)
		for (int axis = 0; axis < 3; axis++) {
			struct node_run r;
			node_run_init(&r, "", "LpNormalization", 1, 1);
			*(int64_t *)node_run_field(&r, "axis") = axis;
			*(int64_t *)node_run_field(&r, "p") = p;
			node_run_add(&r, DT_F32, SHAPE_OF(A, B, C), x);
			node_run(&r);
			for (int64_t i = 0; i < A * B * C; i++) {
				double sum = 0, want, y = (double)((float *)r.out[0].data)[i];
				for (int64_t k = 0; k < dim[axis]; k++)
					sum += pow(fabs((double)x[i + (k - i / step[axis] % dim[axis]) * step[axis]]), (double)p);
				want = sum == 0 ? 0 : (double)x[i] / (p == 1 ? sum : sqrt(sum));
				if (!(fabs(y - want) <= 1e-7))
					fail_msg("p %d, axis %d: element %d is %g, not %g", (int)p, axis, (int)i, y, want);
			}
			node_run_done(&r);
		}
	free(x);
}

void test_op_along__lp_pool_of_two_columns(void **state)
{
	int64_t kernel = 2;
	float *x = floats(9, A * B * C);
	for (int64_t p = 1; p <= 3; p++) {
		struct node_run r;
		node_run_init(&r, "", "LpPool", 18, 1);
		*(struct ints *)node_run_field(&r, "kernel_shape") = (struct ints){ .n = 1, .at = &kernel };
		*(int64_t *)node_run_field(&r, "p") = p;
		node_run_add(&r, DT_F32, SHAPE_OF(A, B, C), x);
		node_run(&r);
		assert_int_equal(tensor_count(&r.out[0]), A * B * (C - 1));
		for (int i = 0; i < A * B * (C - 1); i++) {
			const float *at = x + i / (C - 1) * C + i % (C - 1);
			double want = pow(pow(fabs((double)at[0]), (double)p) + pow(fabs((double)at[1]), (double)p), 1 / (double)p);
			double y = (double)((float *)r.out[0].data)[i];
			if (!(fabs(y - want) <= 1e-6))
				fail_msg("p %d: element %d is %g, not %g", (int)p, i, y, want);
		}
		node_run_done(&r);
	}
	free(x);
}

void test_op_along__log_softmax_of_any_axis(void **state)
{
	const int64_t dim[3] = { A, B, C }, step[3] = { B * C, C, 1 };
	float *x = floats(10, A * B * C);
	x[0] = -INFINITY;
	x[1] = 80;
	for (int axis = 0; axis < 3; axis++) {
		struct node_run r;
		node_run_init(&r, "", "LogSoftmax", 13, 1);
		*(int64_t *)node_run_field(&r, "axis") = axis;
		node_run_add(&r, DT_F32, SHAPE_OF(A, B, C), x);
		node_run(&r);
		for (int64_t i = 0; i < A * B * C; i++) {
			int64_t first = i - i / step[axis] % dim[axis] * step[axis];
			double sum = 0, want, y = (double)((float *)r.out[0].data)[i];
			for (int64_t k = 0; k < dim[axis]; k++)
				sum += exp((double)x[first + k * step[axis]]);
			want = (double)x[i] - log(sum);
			if (!(fabs(y - want) <= 3e-7 * fmax(1, fabs(want))) && y != want)
				fail_msg("axis %d: element %d is %g, not %g", axis, (int)i, y, want);
		}
		node_run_done(&r);
	}
	free(x);
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

void test_op_along__integers(void **state)
{
	(void)state;
	static const char *const ops[] = {"Add", "Sub", "Mul", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
	static const int64_t wide[] = {0, 1, -1, 7, -300, INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1LL << 40};
	for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
		for (int one = -1; one < 2; one++) {
			check_integers(ops[o], DT_I64, wide, 12, one);
			check_integers(ops[o], DT_I32, wide, 7, one);
		}
}

// Maxima and where they lie in the whole tensor, by their definition:
// fields that padding and dilation cut, rows and columns first.
static void check_maxima(int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, bool column_major)
{
	enum { PLANES = 2, H = 9, W = 11 };
	struct support_random random = {77};
	float x[PLANES * H * W];
	int64_t k[] = {kernel, kernel}, s[] = {stride, stride}, d[] = {dilation, dilation}, p[] = {pad, pad, pad, pad};
	struct node_run r;
	for (int i = 0; i < PLANES * H * W; i++)
		x[i] = (float)support_random_int(&random, -4, 4); // many are equal
	node_run_init(&r, "", "MaxPool", 12, 2);
	*(struct ints *)node_run_field(&r, "kernel_shape") = (struct ints){k, 2};
	*(struct ints *)node_run_field(&r, "strides") = (struct ints){s, 2};
	*(struct ints *)node_run_field(&r, "dilations") = (struct ints){d, 2};
	*(struct ints *)node_run_field(&r, "pads") = (struct ints){p, 4};
	*(int64_t *)node_run_field(&r, "storage_order") = column_major;
	node_run_add(&r, DT_F32, SHAPE_OF(1, PLANES, H, W), x);
	node_run(&r);
	int64_t oh = r.out[0].shape.dim[2], ow = r.out[0].shape.dim[3];
	assert_int_equal(ow, (W + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1);
	for (int64_t o = 0; o < PLANES * oh * ow; o++) {
		int64_t c = o / (oh * ow), best_h = -1, best_w = -1;
		const float *plane = x + c * H * W;
		for (int64_t i = 0; i < kernel * kernel; i++) {
			int64_t h = o / ow % oh * stride - pad + i / kernel * dilation, w = o % ow * stride - pad + i % kernel * dilation;
			if (h >= 0 && h < H && w >= 0 && w < W && (best_h < 0 || plane[h * W + w] > plane[best_h * W + best_w])) {
				best_h = h;
				best_w = w;
			}
		}
		int64_t at = column_major ? best_w * H + best_h : best_h * W + best_w;
		assert_true(((float *)r.out[0].data)[o] == plane[best_h * W + best_w]);
		assert_int_equal(((int64_t *)r.out[1].data)[o], c * H * W + at);
	}
	node_run_done(&r);
}

void test_op_along__maxima_and_where(void **state)
{
	(void)state;
	for (int i = 0; i < 48; i++)
		check_maxima(2 + i / 16, 1 + i / 4 % 2, 1 + i / 8 % 2, i / 2 % 2, i % 2);
}

// Many elements of few values, in order or as they appear: what each output says of the others.
static void check_many_different(const int64_t *x, int64_t n, bool sorted)
{
	struct node_run r;
	node_run_init(&r, "", "Unique", 11, 4);
	*(int64_t *)node_run_field(&r, "sorted") = sorted;
	node_run_add(&r, DT_I64, SHAPE_OF(n), x);
	node_run(&r);
	const int64_t *y = r.out[0].data, *first = r.out[1].data, *inverse = r.out[2].data, *count = r.out[3].data;
	int64_t different = tensor_count(&r.out[0]), *seen = calloc((size_t)n + 1, sizeof *seen);
	for (int64_t i = 0; i < n; i++) {
		assert_true(inverse[i] >= 0 && inverse[i] < different);
		assert_int_equal(y[inverse[i]], x[i]);
		if (!seen[inverse[i]]++)
			assert_int_equal(first[inverse[i]], i);
	}
	assert_memory_equal(seen, count, (size_t)different * sizeof *seen);
	for (int64_t k = 1; k < different; k++)
		assert_true(sorted ? y[k - 1] < y[k] : first[k - 1] < first[k]);
	free(seen);
	node_run_done(&r);
}

void test_op_along__many_different_elements(void **state)
{
	enum { MANY = 3000 };
	static int64_t x[MANY];
	uint64_t random = 1;
	(void)state;
	for (int shift = 0; shift < 63; shift += 7) { // the bits in which they differ
		for (int i = 0; i < MANY; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			x[i] = (int64_t)(((random >> 54) << shift) - (random >> 50 & 1));
		}
		check_many_different(x, MANY, true);
		check_many_different(x, MANY, false);
	}
	check_many_different(x, 1, false);
	check_many_different((const int64_t[]){0}, 0, true);
}

// In order, zeros of either sign and all NaN being one value each; integers at the ends of their range, signed or not.
void test_op_along__different_elements(void **state)
{
	static const float x[] = {2, NAN, -0.0f, -INFINITY, 0, -1.5f, 1e-40f, NAN, INFINITY, -1.5f, -1e-40f, 2};
	static const int64_t floats_first[] = {3, 5, 10, 2, 6, 0, 8, 1}, floats_count[] = {1, 2, 1, 2, 1, 2, 1, 2};
	static const int64_t wide[] = {INT64_MAX, -1, INT64_MIN, 0, -1, 7}, signed_first[] = {2, 1, 3, 5, 0}, unsigned_first[] = {3, 5, 0, 2, 1};
	const struct {
		enum dtype type;
		int n, different;
		const void *x;
		const int64_t *first;
	} cases[] = {{DT_F32, 12, 8, x, floats_first}, {DT_I64, 6, 5, wide, signed_first}, {DT_U64, 6, 5, wide, unsigned_first}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct node_run r;
		node_run_init(&r, "", "Unique", 11, 4);
		node_run_add(&r, cases[i].type, SHAPE_OF(cases[i].n), cases[i].x);
		node_run(&r);
		assert_int_equal(tensor_count(&r.out[0]), cases[i].different);
		for (int k = 0; k < cases[i].different; k++) {
			assert_int_equal(((int64_t *)r.out[1].data)[k], cases[i].first[k]);
			if (i == 0)
				assert_int_equal(((int64_t *)r.out[3].data)[k], floats_count[k]);
		}
		node_run_done(&r);
	}
}
