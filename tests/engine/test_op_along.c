// Operators that pick or move elements along one axis, first, middle or last, against what they are defined as.
#include "along_case.h"

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
					assert_memory_equal(
					    (char *)r.out[0].data + (o * 3 + p) * size, x + (o * B + (size_t)((pick[p] + B) % B)) * size, size);
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
				assert_memory_equal(
				    (char *)r.out[0].data + (o * 6 + i * (i + 1) / 2) * size, x[i] + o * (i + 1) * size, (i + 1) * size);
		node_run_done(&r);
	}
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
