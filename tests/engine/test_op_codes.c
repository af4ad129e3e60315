// Operators on codes against their definitions in double precision, where ONNX's own suite has no case.
#include <math.h>
#include "node_run.h"

static void random_bytes(struct support_random *r, uint8_t *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = (uint8_t)support_random_int(r, 0, 255);
}

static int clamp(double v, int low, int high)
{
	double t = rint(v);
	return t < low ? low : t > high ? high : (int)t;
}

void test_op_codes__quantizes_in_blocks(void **state)
{
	const float x[] = {0.5f, 1.4f, -3.0f, 10.0f, 2.5f, 0.26f, 1.0f, -1.0f, 4.0f, 500.0f};
	const float scale[] = {1.0f, 0.5f, 2.0f, 0.25f, 1.0f, 3.0f};
	const int8_t zero[] = {0, 1, -1, 2, 0, 5};
	struct node_run q, d;
	node_run_init(&q, "", "QuantizeLinear", 21, 1);
	*(int64_t *)node_run_field(&q, "block_size") = 2;
	node_run_add(&q, DT_F32, SHAPE_OF(2, 5), x);
	node_run_add(&q, DT_F32, SHAPE_OF(2, 3), scale);
	node_run_add(&q, DT_I8, SHAPE_OF(2, 3), zero);
	node_run(&q);
	node_run_init(&d, "", "DequantizeLinear", 21, 1);
	*(int64_t *)node_run_field(&d, "block_size") = 2;
	node_run_add(&d, DT_I8, SHAPE_OF(2, 5), q.out[0].data);
	node_run_add(&d, DT_F32, SHAPE_OF(2, 3), scale);
	node_run_add(&d, DT_I8, SHAPE_OF(2, 3), zero);
	node_run(&d);
	for (int i = 0; i < 10; i++) {
		int k = i / 5 * 3 + i % 5 / 2, code = clamp((double)(x[i] / scale[k]) + zero[k], -128, 127);
		assert_int_equal(((int8_t *)q.out[0].data)[i], code);
		assert_true(((float *)d.out[0].data)[i] == (float)(code - zero[k]) * scale[k]);
	}
	node_run_done(&q);
	node_run_done(&d);
}

enum { M = 5, K = 19, N = 7 };

static double product(const uint8_t *a, const uint8_t *a_zero, const int8_t *b, const int8_t *b_zero, int row, int col)
{
	int sum = 0;
	for (int k = 0; k < K; k++)
		sum += (a[row * K + k] - a_zero[row]) * (b[k * N + col] - b_zero[col]);
	return sum;
}

void test_op_codes__zero_points_of_rows_and_columns(void **state)
{
	struct support_random r = {1};
	uint8_t a[M * K], a_zero[M], b[K * N], b_zero[N];
	struct node_run run;
	random_bytes(&r, a, sizeof a);
	random_bytes(&r, b, sizeof b);
	random_bytes(&r, a_zero, sizeof a_zero);
	random_bytes(&r, b_zero, sizeof b_zero);
	node_run_init(&run, "", "MatMulInteger", 10, 1);
	node_run_add(&run, DT_U8, SHAPE_OF(M, K), a);
	node_run_add(&run, DT_I8, SHAPE_OF(K, N), b);
	node_run_add(&run, DT_U8, SHAPE_OF(M), a_zero);
	node_run_add(&run, DT_I8, SHAPE_OF(N), b_zero);
	node_run(&run);
	for (int i = 0; i < M * N; i++)
		assert_true(((int32_t *)run.out[0].data)[i] == product(a, a_zero, (int8_t *)b, (int8_t *)b_zero, i / N, i % N));
	node_run_done(&run);
}

// One matrix b for all batches, and one for each.
void test_op_codes__products_of_batches(void **state)
{
	enum { BATCHES = 3 };
	struct support_random r = {3};
	uint8_t a[BATCHES * M * K], a_zero[M], b[BATCHES * K * N], b_zero[N];
	random_bytes(&r, a, sizeof a);
	random_bytes(&r, b, sizeof b);
	random_bytes(&r, a_zero, sizeof a_zero);
	random_bytes(&r, b_zero, sizeof b_zero);
	for (int own = 0; own < 2; own++) {
		struct node_run run;
		node_run_init(&run, "", "MatMulInteger", 10, 1);
		node_run_add(&run, DT_U8, SHAPE_OF(BATCHES, M, K), a);
		node_run_add(&run, DT_I8, own ? SHAPE_OF(BATCHES, K, N) : SHAPE_OF(K, N), b);
		node_run_add(&run, DT_U8, SHAPE_OF(M), a_zero);
		node_run_add(&run, DT_I8, SHAPE_OF(N), b_zero);
		node_run(&run);
		for (int i = 0; i < BATCHES * M * N; i++) {
			int batch = i / (M * N), at = i % (M * N);
			assert_true(((int32_t *)run.out[0].data)[i] ==
			    product(a + batch * M * K, a_zero, (int8_t *)b + own * batch * K * N, (int8_t *)b_zero, at / N, at % N));
		}
		node_run_done(&run);
	}
}

void test_op_codes__products_as_floats(void **state)
{
	struct support_random r = {2};
	const float a_scale = 0.02f, b_scale[N] = {0.5f, 1, 2, 0.1f, 0.2f, 0.3f, 4}, bias[N] = {1, 2, 3, 4, 5, 6, 7};
	uint8_t a[M * K], a_zero[M] = {9, 9, 9, 9, 9}, b[K * N];
	int8_t b_zero[N] = {-3, -3, -3, -3, -3, -3, -3};
	struct node_run run;
	random_bytes(&r, a, sizeof a);
	random_bytes(&r, b, sizeof b);
	node_run_init(&run, "com.microsoft", "MatMulIntegerToFloat", 1, 1);
	node_run_add(&run, DT_U8, SHAPE_OF(M, K), a);
	node_run_add(&run, DT_I8, SHAPE_OF(K, N), b);
	node_run_add(&run, DT_F32, SCALAR, &a_scale);
	node_run_add(&run, DT_F32, SHAPE_OF(N), b_scale);
	node_run_add(&run, DT_U8, SCALAR, a_zero);
	node_run_add(&run, DT_I8, SCALAR, b_zero);
	node_run_add(&run, DT_F32, SHAPE_OF(N), bias);
	node_run(&run);
	for (int i = 0; i < M * N; i++) {
		double want =
		    product(a, a_zero, (int8_t *)b, b_zero, i / N, i % N) * (double)a_scale * (double)b_scale[i % N] + (double)bias[i % N];
		assert_true(fabs((double)((float *)run.out[0].data)[i] - want) <= 1e-6 * (1 + fabs(want)));
	}
	node_run_done(&run);
}

void test_op_codes__left_side_quantized_by_its_range(void **state)
{
	struct support_random r = {3};
	float a[M * K], b_scale = 0.01f, high = 0;
	uint8_t b[K * N];
	struct node_run run;
	support_random_floats(&r, a, M * K, -1, 1);
	random_bytes(&r, b, sizeof b);
	node_run_init(&run, "com.microsoft", "DynamicQuantizeMatMul", 1, 1);
	node_run_add(&run, DT_F32, SHAPE_OF(M, K), a);
	node_run_add(&run, DT_I8, SHAPE_OF(K, N), b);
	node_run_add(&run, DT_F32, SCALAR, &b_scale);
	node_run(&run);
	for (int i = 0; i < K * N; i++)
		high = fmaxf(high, fabsf((float)(int8_t)b[i] * b_scale));
	for (int i = 0; i < M * N; i++) {
		double want = 0, half_step = 2.0 / 255 / 2;
		for (int k = 0; k < K; k++)
			want += (double)a[i / N * K + k] * (int8_t)b[k * N + i % N] * (double)b_scale;
		assert_true(fabs((double)((float *)run.out[0].data)[i] - want) <= half_step * K * (double)high * 1.01);
		assert_true(((float *)run.out[0].data)[i] != (float)want);
	}
	node_run_done(&run);
}

// QGemm with both sides transposed and a bias, to codes.
void test_op_codes__gemm(void **state)
{
	struct support_random r = {4};
	const float a_scale = 0.1f, b_scale = 0.05f, y_scale = 3.1f;
	const uint8_t a_zero = 100, y_zero = 120;
	const int8_t b_zero = 3;
	uint8_t a[K * M], b[N * K];
	int32_t c[N];
	struct node_run run;
	random_bytes(&r, a, sizeof a);
	random_bytes(&r, b, sizeof b);
	for (int i = 0; i < N; i++)
		c[i] = support_random_int(&r, -20000, 20000);
	node_run_init(&run, "com.microsoft", "QGemm", 1, 1);
	*(int64_t *)node_run_field(&run, "transA") = *(int64_t *)node_run_field(&run, "transB") = 1;
	node_run_add(&run, DT_U8, SHAPE_OF(K, M), a);
	node_run_add(&run, DT_F32, SCALAR, &a_scale);
	node_run_add(&run, DT_U8, SCALAR, &a_zero);
	node_run_add(&run, DT_I8, SHAPE_OF(N, K), b);
	node_run_add(&run, DT_F32, SCALAR, &b_scale);
	node_run_add(&run, DT_I8, SCALAR, &b_zero);
	node_run_add(&run, DT_I32, SHAPE_OF(N), c);
	node_run_add(&run, DT_F32, SCALAR, &y_scale);
	node_run_add(&run, DT_U8, SCALAR, &y_zero);
	node_run(&run);
	for (int i = 0; i < M * N; i++) {
		int sum = c[i % N];
		for (int k = 0; k < K; k++)
			sum += (a[k * M + i / N] - a_zero) * ((int8_t)b[i % N * K + k] - b_zero);
		assert_int_equal(((uint8_t *)run.out[0].data)[i], clamp(sum * 0.1 * 0.05 / 3.1 + y_zero, 0, 255));
	}
	node_run_done(&run);
}

void test_op_codes__convolution_with_scales_of_channels(void **state)
{
	enum { C = 4, OC = 6, SIDE = 5, GROUP = 2, CG = C / GROUP };
	struct support_random r = {5};
	const float x_scale = 0.02f, y_scale = 0.7f, w_scale[OC] = {0.01f, 0.02f, 0.03f, 0.04f, 0.05f, 0.06f};
	const uint8_t x_zero = 77, y_zero = 10;
	const int8_t w_zero[OC] = {0, 1, 2, 3, 4, 5};
	const int32_t bias[OC] = {0, 100, -1000, 2000, 5, 6};
	uint8_t x[C * SIDE * SIDE], w[OC * CG * 9];
	int64_t pads[] = {1, 1, 1, 1};
	struct node_run run;
	random_bytes(&r, x, sizeof x);
	random_bytes(&r, w, sizeof w);
	node_run_init(&run, "", "QLinearConv", 10, 1);
	*(int64_t *)node_run_field(&run, "group") = GROUP;
	*(struct ints *)node_run_field(&run, "pads") = (struct ints){pads, 4};
	node_run_add(&run, DT_U8, SHAPE_OF(1, C, SIDE, SIDE), x);
	node_run_add(&run, DT_F32, SCALAR, &x_scale);
	node_run_add(&run, DT_U8, SCALAR, &x_zero);
	node_run_add(&run, DT_I8, SHAPE_OF(OC, CG, 3, 3), w);
	node_run_add(&run, DT_F32, SHAPE_OF(OC), w_scale);
	node_run_add(&run, DT_I8, SHAPE_OF(OC), w_zero);
	node_run_add(&run, DT_F32, SCALAR, &y_scale);
	node_run_add(&run, DT_U8, SCALAR, &y_zero);
	node_run_add(&run, DT_I32, SHAPE_OF(OC), bias);
	node_run(&run);
	for (int i = 0; i < OC * SIDE * SIDE; i++) {
		int oc = i / (SIDE * SIDE), row = i / SIDE % SIDE, col = i % SIDE, sum = bias[oc];
		for (int k = 0; k < CG * 9; k++) {
			int h = row + k / 3 % 3 - 1, v = col + k % 3 - 1, c = oc / (OC / GROUP) * CG + k / 9;
			if (h >= 0 && h < SIDE && v >= 0 && v < SIDE)
				sum += (x[(c * SIDE + h) * SIDE + v] - x_zero) * ((int8_t)w[oc * CG * 9 + k] - w_zero[oc]);
		}
		assert_int_equal(((uint8_t *)run.out[0].data)[i], clamp(sum * 0.02 * (double)w_scale[oc] / (double)y_scale + y_zero, 0, 255));
	}
	node_run_done(&run);
}

// Every piece of memory that products take is refused once: an error, and nothing is lost.
void test_op_codes__products_without_memory(void **state)
{
	const float scale = 0.02f;
	const uint8_t a[M * K] = {1}, b[K * N] = {2};
	enum status s = STATUS_NOMEM;
	long n = 0;
	while (s != STATUS_OK) {
		struct node_run run;
		struct error err = {0};
		node_run_init(&run, "com.microsoft", "MatMulIntegerToFloat", 1, 1);
		node_run_add(&run, DT_U8, SHAPE_OF(M, K), a);
		node_run_add(&run, DT_I8, SHAPE_OF(K, N), b);
		node_run_add(&run, DT_F32, SCALAR, &scale);
		node_run_add(&run, DT_F32, SCALAR, &scale);
		mem_fail_at(++n);
		s = node_run_try(&run, &err);
		mem_fail_at(0);
		assert_true(s == STATUS_OK || (s == STATUS_NOMEM && strstr(err.text, "no memory")));
		node_run_done(&run);
	}
	assert_in_range(n, 6, 9); // the output, the sums, either matrix and what is packed are refused
}

// A row, or one value, on either side.
void test_op_codes__add_and_multiply_broadcast(void **state)
{
	static const char *const names[] = {"QLinearAdd", "QLinearMul"};
	static const int counts[][2] = {{6, 3}, {6, 1}, {1, 6}, {1, 1}};
	const uint8_t code[2][6] = {{77, 0, 100, 130, 200, 255}, {5, 90, 255, 33, 120, 200}}, zero[] = {128, 9, 100};
	const float scale[] = {0.03f, 0.07f, 0.11f};
	for (int mode = 0; mode < 8; mode++) {
		struct node_run run;
		const int *n = counts[mode / 2];
		node_run_init(&run, "com.microsoft", names[mode % 2], 1, 1);
		for (int i = 0; i < 2; i++) {
			node_run_add(&run, DT_U8, n[i] == 6 ? SHAPE_OF(2, 3) : SHAPE_OF(n[i]), code[i]);
			node_run_add(&run, DT_F32, SCALAR, &scale[i]);
			node_run_add(&run, DT_U8, SCALAR, &zero[i]);
		}
		node_run_add(&run, DT_F32, SCALAR, &scale[2]);
		node_run_add(&run, DT_U8, SCALAR, &zero[2]);
		node_run(&run);
		for (int i = 0; i < tensor_count(&run.out[0]); i++) {
			double x = (code[0][i % n[0]] - zero[0]) * 0.03, z = (code[1][i % n[1]] - zero[1]) * 0.07;
			assert_int_equal(((uint8_t *)run.out[0].data)[i], clamp((mode % 2 ? x * z : x + z) / 0.11 + zero[2], 0, 255));
		}
		node_run_done(&run);
	}
}

static double leaky(double x, const double *row, int n)
{
	return x < 0 ? 0.01 * x : x;
}

static double sigmoid(double x, const double *row, int n)
{
	return 1 / (1 + exp(-x));
}

static double softmax(double x, const double *row, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += exp(row[i]);
	return exp(x) / sum;
}

static double average(double x, const double *row, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += row[i];
	return sum / n;
}

// Over rows of five numbers: [1, 2, 1, 5].
void test_op_codes__functions_of_a_row(void **state)
{
	static const struct {
		const char *name;
		double (*fn)(double x, const double *row, int n);
		int outputs; // of a row
	} functions[] = {
		{"QLinearLeakyRelu", leaky, 5}, {"QLinearSigmoid", sigmoid, 5}, {"QLinearSoftmax", softmax, 5},
		{"QLinearGlobalAveragePool", average, 1}, {"QLinearAveragePool", average, 1},
	};
	const int8_t x[] = {-128, -50, 0, 3, 127, 10, 20, 30, 40, 50}, x_zero = 3, y_zero = -100;
	const float x_scale = 0.021f, y_scale = 0.0117f;
	int64_t kernel[] = {1, 5};
	for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
		struct node_run run;
		node_run_init(&run, "com.microsoft", functions[f].name, 1, 1);
		if (!strcmp(functions[f].name, "QLinearAveragePool"))
			*(struct ints *)node_run_field(&run, "kernel_shape") = (struct ints){kernel, 2};
		node_run_add(&run, DT_I8, SHAPE_OF(1, 2, 1, 5), x);
		node_run_add(&run, DT_F32, SCALAR, &x_scale);
		node_run_add(&run, DT_I8, SCALAR, &x_zero);
		node_run_add(&run, DT_F32, SCALAR, &y_scale);
		node_run_add(&run, DT_I8, SCALAR, &y_zero);
		node_run(&run);
		assert_int_equal(tensor_count(&run.out[0]), 2 * functions[f].outputs);
		for (int i = 0; i < 2 * functions[f].outputs; i++) {
			double row[5];
			for (int k = 0; k < 5; k++)
				row[k] = (x[i / functions[f].outputs * 5 + k] - x_zero) * 0.021;
			assert_int_equal(((int8_t *)run.out[0].data)[i],
			    clamp(functions[f].fn(row[i % functions[f].outputs], row, 5) / 0.0117 + y_zero, -128, 127));
		}
		node_run_done(&run);
	}
}

void test_op_codes__concat_brings_parts_to_one_scale(void **state)
{
	const uint8_t a[] = {0, 128, 255, 7}, b[] = {1, 2}, a_zero = 128, b_zero = 0, y_zero = 50;
	const float a_scale = 0.5f, b_scale = 3.0f, y_scale = 0.9f;
	const double want[] = {-64, 0, 3, 63.5, -60.5, 6};
	struct node_run run;
	node_run_init(&run, "com.microsoft", "QLinearConcat", 1, 1);
	node_run_add(&run, DT_F32, SCALAR, &y_scale);
	node_run_add(&run, DT_U8, SCALAR, &y_zero);
	node_run_add(&run, DT_U8, SHAPE_OF(2, 2), a);
	node_run_add(&run, DT_F32, SCALAR, &a_scale);
	node_run_add(&run, DT_U8, SCALAR, &a_zero);
	node_run_add(&run, DT_U8, SHAPE_OF(2, 1), b);
	node_run_add(&run, DT_F32, SCALAR, &b_scale);
	node_run_add(&run, DT_U8, SCALAR, &b_zero);
	node_run(&run);
	for (int i = 0; i < 6; i++)
		assert_int_equal(((uint8_t *)run.out[0].data)[i], clamp(want[i] / 0.9 + y_zero, 0, 255));
	node_run_done(&run);
}

// Condition [2, 1] over x [2, 3] and a scalar y: two scales and zero points become a third.
void test_op_codes__where_brings_both_to_one_scale(void **state)
{
	const uint8_t condition[] = {1, 0}, x[] = {0, 128, 255, 7, 9, 200}, y[] = {30}, x_zero = 128, y_zero = 10, z_zero = 50;
	const float x_scale = 0.5f, y_scale = 3.0f, z_scale = 0.9f;
	const double want[] = {-64, 0, 63.5, 60, 60, 60};
	struct node_run run;
	node_run_init(&run, "com.microsoft", "QLinearWhere", 1, 1);
	node_run_add(&run, DT_BOOL, SHAPE_OF(2, 1), condition);
	node_run_add(&run, DT_U8, SHAPE_OF(2, 3), x);
	node_run_add(&run, DT_F32, SCALAR, &x_scale);
	node_run_add(&run, DT_U8, SCALAR, &x_zero);
	node_run_add(&run, DT_U8, SHAPE_OF(1), y);
	node_run_add(&run, DT_F32, SCALAR, &y_scale);
	node_run_add(&run, DT_U8, SCALAR, &y_zero);
	node_run_add(&run, DT_F32, SCALAR, &z_scale);
	node_run_add(&run, DT_U8, SCALAR, &z_zero);
	node_run(&run);
	for (int i = 0; i < 6; i++)
		assert_int_equal(((uint8_t *)run.out[0].data)[i], clamp(want[i] / 0.9 + z_zero, 0, 255));
	node_run_done(&run);
}

void test_op_codes__wrong_counts_are_refused(void **state)
{
	const uint8_t x[4] = {0};
	const float scale[3] = {1, 1, 1};
	struct error err;
	struct node_run run;
	node_run_init(&run, "", "QuantizeLinear", 13, 1);
	*(int64_t *)node_run_field(&run, "axis") = 0;
	node_run_add(&run, DT_F32, SHAPE_OF(2, 1), scale);
	node_run_add(&run, DT_F32, SHAPE_OF(3), scale);
	assert_int_equal(node_run_try(&run, &err), STATUS_FORMAT);
	node_run_done(&run);
	node_run_init(&run, "", "MatMulInteger", 10, 1);
	node_run_add(&run, DT_U8, SHAPE_OF(2, 2), x);
	node_run_add(&run, DT_U8, SHAPE_OF(2, 2), x);
	node_run_add(&run, DT_U8, SHAPE_OF(3), x);
	assert_int_equal(node_run_try(&run, &err), STATUS_UNSUPPORTED);
	node_run_done(&run);
}

// Scales chosen so that many results fall halfway between two codes; the codes are ONNX Runtime's.
static void check_ties(const char *op, float y_scale, const uint8_t *want)
{
	const float a_scale = 0.02f, b_scale = 0.03f;
	const uint8_t a_zero = 3, b_zero = 121, y_zero = 61;
	uint8_t a[48], b[48];
	struct node_run r;
	for (int i = 0; i < 48; i++) {
		a[i] = (uint8_t)(i * 7);
		b[i] = (uint8_t)(i * 13 + 5);
	}
	node_run_init(&r, "com.microsoft", op, 1, 1);
	node_run_add(&r, DT_U8, SHAPE_OF(48), a);
	node_run_add(&r, DT_F32, SCALAR, &a_scale);
	node_run_add(&r, DT_U8, SCALAR, &a_zero);
	node_run_add(&r, DT_U8, SHAPE_OF(48), b);
	node_run_add(&r, DT_F32, SCALAR, &b_scale);
	node_run_add(&r, DT_U8, SCALAR, &b_zero);
	node_run_add(&r, DT_F32, SCALAR, &y_scale);
	node_run_add(&r, DT_U8, SCALAR, &y_zero);
	node_run(&r);
	assert_memory_equal(r.out[0].data, want, 48);
	node_run_done(&r);
}

void test_op_codes__ties_of_sums_and_products(void **state)
{
	static const uint8_t sum[] = {0, 0, 0, 12, 26, 39, 52, 65, 78, 92, 105, 118, 132, 145, 158, 171, 184, 198, 211, 224, 46, 59, 72, 85, 98,
	    112, 125, 138, 152, 165, 178, 191, 204, 218, 231, 244, 255, 143, 156, 0, 0, 4, 17, 30, 44, 57, 70, 83};
	static const uint8_t product_of[] = {65, 56, 49, 44, 42, 41, 43, 47, 53, 62, 72, 85, 100, 117, 136, 158, 181, 207, 235, 255, 0, 0, 0, 0,
	    0, 0, 0, 14, 42, 73, 106, 141, 178, 217, 255, 255, 255, 61, 71, 41, 34, 29, 27, 26, 28, 32, 38, 47};
	check_ties("QLinearAdd", 0.04f, sum);
	check_ties("QLinearMul", 0.05f, product_of);
}

void test_op_codes__ties_of_means(void **state)
{
	static const uint8_t want[] = {69, 56, 74, 93, 111, 130, 102, 68, 40, 78, 114, 152, 149, 162, 70, 44, 80, 118, 132, 192, 164, 74, 47, 84,
	    115, 158, 194, 168, 76, 50};
	const float scale = 0.05f;
	const uint8_t x_zero = 100, y_zero = 91;
	uint8_t x[30];
	struct node_run r;
	for (int i = 0; i < 30; i++)
		x[i] = (uint8_t)(i * 37 + 11);
	node_run_init(&r, "com.microsoft", "QLinearAveragePool", 1, 1);
	*(struct ints *)node_run_field(&r, "kernel_shape") = (struct ints){(int64_t[]){2, 2}, 2};
	*(struct ints *)node_run_field(&r, "pads") = (struct ints){(int64_t[]){1, 1, 0, 0}, 4};
	*(int64_t *)node_run_field(&r, "count_include_pad") = 1;
	node_run_add(&r, DT_U8, SHAPE_OF(1, 1, 5, 6), x);
	node_run_add(&r, DT_F32, SCALAR, &scale);
	node_run_add(&r, DT_U8, SCALAR, &x_zero);
	node_run_add(&r, DT_F32, SCALAR, &scale);
	node_run_add(&r, DT_U8, SCALAR, &y_zero);
	node_run(&r);
	assert_memory_equal(r.out[0].data, want, sizeof want);
	node_run_done(&r);
}

// A window of which ceil_mode has the last row beyond the input: that row counts where padding does.
void test_op_codes__mean_of_a_window_beyond_the_end(void **state)
{
	const float scale = 1;
	const uint8_t x[5] = {10, 20, 30, 40, 50}, zero = 0;
	struct node_run r;
	node_run_init(&r, "com.microsoft", "QLinearAveragePool", 1, 1);
	*(struct ints *)node_run_field(&r, "kernel_shape") = (struct ints){(int64_t[]){3, 1}, 2};
	*(struct ints *)node_run_field(&r, "strides") = (struct ints){(int64_t[]){3, 1}, 2};
	*(int64_t *)node_run_field(&r, "count_include_pad") = 1;
	*(int64_t *)node_run_field(&r, "ceil_mode") = 1;
	node_run_add(&r, DT_U8, SHAPE_OF(1, 1, 5, 1), x);
	node_run_add(&r, DT_F32, SCALAR, &scale);
	node_run_add(&r, DT_U8, SCALAR, NULL);
	node_run_add(&r, DT_F32, SCALAR, &scale);
	node_run_add(&r, DT_U8, SCALAR, &zero);
	node_run(&r);
	assert_memory_equal(r.out[0].data, ((const uint8_t[]){20, 30}), 2);
	node_run_done(&r);
}

// Without them zero points are 0; the output's scale is not one of those that may be left out.
void test_op_codes__zero_points_left_out(void **state)
{
	static const char *const names[] = {"QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax"};
	const float x_scale = 0.1f, y_scale = 1 / 64.0f;
	const int8_t x[2] = {7, 7};
	for (int i = 0; i < 3; i++) {
		struct error err;
		struct node_run r;
		double v[] = {0.7, 1 / (1 + exp(-0.7)), 0.5};
		node_run_init(&r, "com.microsoft", names[i], 1, 1);
		node_run_add(&r, DT_I8, SHAPE_OF(2), x);
		node_run_add(&r, DT_F32, SCALAR, &x_scale);
		node_run_add(&r, DT_I8, SCALAR, NULL);
		node_run_add(&r, DT_F32, SCALAR, &y_scale);
		node_run(&r);
		assert_int_equal(((int8_t *)r.out[0].data)[0], clamp(v[i] * 64, -128, 127));
		node_run_done(&r);
		node_run_init(&r, "com.microsoft", names[i], 1, 1);
		node_run_add(&r, DT_I8, SHAPE_OF(2), x);
		node_run_add(&r, DT_F32, SCALAR, &x_scale);
		assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
		node_run_done(&r);
	}
}
