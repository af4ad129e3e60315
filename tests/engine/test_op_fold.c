// Operators that make one value of many along an axis, first, middle or last, against what they are defined as.
#include "along_case.h"

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

void test_op_fold__reductions_of_any_axis(void **state)
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

// Of ints, which wrap around, and of floats in double.
void test_op_fold__running_sums_and_products(void **state)
{
	static const int64_t axis = 1;
	float *x = floats(3, 2 * B * 3);
	int32_t ints[2 * B * 3];
	for (int i = 0; i < 2 * B * 3; i++)
		ints[i] = (int32_t)(x[i] * 100);
	for (int mode = 0; mode < 16; mode++) {
		struct node_run r;
		bool reverse = mode & 1, exclusive = mode & 2, whole = mode & 4, product = mode & 8;
		node_run_init(&r, "", product ? "CumProd" : "CumSum", product ? 26 : 14, 1);
		*(int64_t *)node_run_field(&r, "reverse") = reverse;
		*(int64_t *)node_run_field(&r, "exclusive") = exclusive;
		node_run_add(&r, whole ? DT_I32 : DT_F32, SHAPE_OF(2, B, 3), whole ? (void *)ints : x);
		node_run_add(&r, DT_I64, SCALAR, &axis);
		node_run(&r);
		for (int line = 0; line < 6; line++) {
			double sum = product;
			uint32_t low = product; // of the integers, which are as wide
			for (int i = 0; i < B; i++) {
				int at = (line / 3 * B + (reverse ? B - 1 - i : i)) * 3 + line % 3;
				double before = sum;
				uint32_t low_before = low;
				sum = product ? sum * (double)x[at] : sum + (double)x[at];
				low = product ? low * (uint32_t)ints[at] : low + (uint32_t)ints[at];
				if (whole)
					assert_true(((uint32_t *)r.out[0].data)[at] == (exclusive ? low_before : low));
				else
					assert_true(((float *)r.out[0].data)[at] == (float)(exclusive ? before : sum));
			}
		}
		node_run_done(&r);
	}
	free(x);
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

void test_op_fold__moments_over_any_axes(void **state)
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
void test_op_fold__channels_normalized_by_their_neighbours(void **state)
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

void test_op_fold__lp_normalization_of_any_axis(void **state)
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

void test_op_fold__lp_pool_of_two_columns(void **state)
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

void test_op_fold__log_softmax_of_any_axis(void **state)
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

void test_op_fold__maxima_and_where(void **state)
{
	(void)state;
	for (int i = 0; i < 48; i++)
		check_maxima(2 + i / 16, 1 + i / 4 % 2, 1 + i / 8 % 2, i / 2 % 2, i % 2);
}
