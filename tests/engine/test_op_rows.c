// Operators with loops of their own for short rows, against their definitions.
#include <math.h>
#include <stdbool.h>
#include "../../src/engine/tensor/cpu.h"
#include "node_run.h"

// On as many threads as the second number says, into out.
static void run_wide(struct node_run *r, struct tensor *out, int width)
{
	const struct tensor *in[NODE_RUN_MAX];
	struct error err;
	for (int i = 0; i < r->n.n_in; i++)
		in[i] = &r->in[i];
	if (r->n.op->shape(&r->n, in, out, &err) != STATUS_OK || op_finish(&r->n, in, out, width, &err) != STATUS_OK)
		fail_msg("%s: %s", r->n.op->name, err.text);
}

// ---- broadcasting

struct operand {
	struct shape shape;
	float *x;
};

static struct operand some_operand(struct support_random *r, const struct shape *full)
{
	struct operand o = {.shape = *full};
	for (int i = 0; i < full->rank; i++)
		o.shape.dim[i] = support_random_int(r, 0, 1) ? full->dim[i] : 1;
	o.x = calloc((size_t)shape_count(&o.shape), sizeof *o.x);
	support_random_floats(r, o.x, (size_t)shape_count(&o.shape), -1, 1);
	return o;
}

// The element that element i of a tensor of shape `full` meets.
static float met(const struct operand *o, const struct shape *full, int64_t i)
{
	int64_t at = 0, step = 1;
	for (int d = full->rank - 1; d >= 0; i /= full->dim[d--]) {
		at += o->shape.dim[d] == 1 ? 0 : i % full->dim[d] * step;
		step *= o->shape.dim[d];
	}
	return o->x[at];
}

static void check_broadcast(struct support_random *r, const struct shape *dims)
{
	struct operand a = some_operand(r, dims), b = some_operand(r, dims);
	struct shape y = *dims;
	struct node_run run;
	for (int d = 0; d < y.rank; d++)
		y.dim[d] = a.shape.dim[d] > b.shape.dim[d] ? a.shape.dim[d] : b.shape.dim[d];
	node_run_init(&run, "", "Sub", 14, 1);
	node_run_add(&run, DT_F32, a.shape, a.x);
	node_run_add(&run, DT_F32, b.shape, b.x);
	for (int width = 1; width <= SUPPORT_WIDTH(2); width++) {
		struct tensor out = {0};
		run_wide(&run, &out, width);
		for (int64_t i = 0; i < shape_count(&y); i++)
			assert_true(((float *)out.data)[i] == met(&a, &y, i) - met(&b, &y, i));
		tensor_drop(&out);
	}
	node_run_done(&run);
	free(a.x);
	free(b.x);
}

void test_op_rows__broadcast(void **state)
{
	static const int64_t sizes[] = {1, 2, 3, 7, 12, 40};
	struct support_random r = {41};
	for (int i = 0; i < 300; i++) {
		struct shape s = {.rank = support_random_int(&r, 1, 4)};
		for (int d = 0; d < s.rank; d++)
			s.dim[d] = sizes[support_random_int(&r, 0, 5)];
		check_broadcast(&r, &s);
	}
	const struct shape attention = SHAPE_OF(400, 48, 2); // enough for two threads
	const struct shape scan = SHAPE_OF(3, 256, 16);      // short runs in a dimension that is cut
	for (int i = 0; i < 8; i++) {
		check_broadcast(&r, &attention);
		check_broadcast(&r, &scan);
	}
}

static float folded(const char *op, float acc, float v)
{
	if (!strcmp(op, "Max"))
		return v > acc ? v : acc;
	if (!strcmp(op, "Min"))
		return v < acc ? v : acc;
	return acc + v;
}

// Max, Min, Sum and Mean fold their inputs from the left, each broadcast to the result.
static void check_fold(struct support_random *r, const char *op, int n, const struct shape *full)
{
	struct operand o[NODE_RUN_MAX];
	struct shape y = *full;
	struct node_run run;
	node_run_init(&run, "", op, 13, 1);
	for (int d = 0; d < y.rank; d++)
		y.dim[d] = 1;
	for (int k = 0; k < n; k++) {
		o[k] = some_operand(r, full);
		node_run_add(&run, DT_F32, o[k].shape, o[k].x);
		for (int d = 0; d < y.rank; d++)
			y.dim[d] = o[k].shape.dim[d] > y.dim[d] ? o[k].shape.dim[d] : y.dim[d];
	}
	node_run(&run);
	assert_true(shape_equal(&run.out[0].shape, &y));
	for (int64_t i = 0; i < shape_count(&y); i++) {
		float want = met(&o[0], &y, i);
		for (int k = 1; k < n; k++)
			want = folded(op, want, met(&o[k], &y, i));
		want = strcmp(op, "Mean") ? want : want / (float)n;
		if (((float *)run.out[0].data)[i] != want)
			fail_msg("%s of %d: element %d is %g, not %g", op, n, (int)i, (double)((float *)run.out[0].data)[i], (double)want);
	}
	node_run_done(&run);
	for (int k = 0; k < n; k++)
		free(o[k].x);
}

void test_op_rows__folds_of_many_inputs(void **state)
{
	static const char *const ops[] = {"Max", "Min", "Sum", "Mean"};
	const struct shape full = SHAPE_OF(3, 5, 7);
	struct support_random r = {43};
	for (int op = 0; op < 4; op++)
		for (int n = 1; n <= 5; n++)
			for (int i = 0; i < 8; i++)
				check_fold(&r, ops[op], n, &full);
}

// ---- reductions

static float reduced(const char *op, const float *x, int64_t n)
{
	double acc = strcmp(op, "ReduceMax") ? 0 : -INFINITY;
	for (int64_t i = 0; i < n; i++)
		if (!strcmp(op, "ReduceMax"))
			acc = (double)x[i] > acc || isnan(x[i]) ? (double)x[i] : acc;
		else
			acc += (double)x[i];
	return (float)(strcmp(op, "ReduceMean") ? acc : acc / (double)n);
}

static void check_reduction(struct support_random *r, const char *op, int64_t rows, int64_t n)
{
	float *x = calloc((size_t)(rows * n), sizeof *x);
	struct node_run run;
	support_random_floats(r, x, (size_t)(rows * n), -1, 1);
	x[rows * n / 2] = support_random_int(r, 0, 3) ? 0.5f : NAN;
	node_run_init(&run, "", op, 11, 1);
	node_run_add(&run, DT_F32, SHAPE_OF(1, rows, n), x);
	*(struct ints *)node_run_field(&run, "axes") = (struct ints){(int64_t[]){2}, 1};
	for (int width = 1; width <= SUPPORT_WIDTH(2); width++) {
		struct tensor out = {0};
		run_wide(&run, &out, width);
		for (int64_t i = 0; i < rows; i++) {
			float want = reduced(op, x + i * n, n), got = ((float *)out.data)[i];
			assert_true(got == want || (isnan(got) && isnan(want)));
		}
		tensor_drop(&out);
	}
	node_run_done(&run);
	free(x);
}

void test_op_rows__reductions(void **state)
{
	static const char *const ops[] = {"ReduceSum", "ReduceMax", "ReduceMean"};
	struct support_random r = {42};
	for (int i = 0; i < 60; i++)
		check_reduction(&r, ops[i % 3], support_random_int(&r, 1, 11), support_random_int(&r, 1, 70));
	check_reduction(&r, "ReduceSum", 1300, 49);
	check_reduction(&r, "ReduceMax", 517, 80);
	check_reduction(&r, "ReduceMax", 517, 16);
	check_reduction(&r, "ReduceMax", 31, 200);
}

// ---- softmax

static double softmax_at(const float *x, int64_t n, int64_t inner, int64_t i)
{
	double sum = 0;
	for (int64_t j = 0; j < n; j++)
		sum += exp((double)x[j * inner] - (double)x[i * inner]);
	return 1 / sum;
}

// Along the middle one of three axes; the same bits on every processor level.
static void check_softmax(struct support_random *r, int64_t outer, int64_t n, int64_t inner)
{
	size_t count = (size_t)(outer * n * inner);
	float *x = calloc(count, sizeof *x);
	struct tensor first = {0};
	struct node_run run;
	support_random_floats(r, x, count, -6, 6);
	node_run_init(&run, "", "Softmax", 13, 1);
	*(int64_t *)node_run_field(&run, "axis") = 1;
	node_run_add(&run, DT_F32, SHAPE_OF(outer, n, inner), x);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		struct tensor out = {0};
		cpu_limit((enum cpu_level)level);
		run_wide(&run, &out, SUPPORT_WIDTH(2));
		const float *y = out.data;
		for (int64_t i = 0; i < outer * n * inner; i++) {
			int64_t from = i / (n * inner) * n * inner + i % inner;
			double want = softmax_at(x + from, n, inner, i / inner % n);
			assert_true(fabs((double)y[i] - want) <= 2e-6 * want + 1e-12);
		}
		if (level == CPU_PLAIN)
			first = out;
		else
			assert_memory_equal(first.data, y, count * sizeof *y);
		if (level != CPU_PLAIN)
			tensor_drop(&out);
	}
	tensor_drop(&first);
	node_run_done(&run);
	free(x);
}

void test_op_rows__softmax(void **state)
{
	struct support_random r = {44};
	for (int i = 0; i < 60; i++)
		check_softmax(&r, support_random_int(&r, 1, 5), support_random_int(&r, 1, 70), i % 2 ? 1 : support_random_int(&r, 1, 150));
	check_softmax(&r, 200, 17, 1); // rows that are taken together, of which the last are fewer
	check_softmax(&r, 3, 1500, 1);
}

void test_op_rows__softmax_of_what_is_no_number(void **state)
{
	float x[3][11] = {{0}};
	struct node_run run;
	for (int i = 0; i < 11; i++)
		x[0][i] = -INFINITY, x[1][i] = i == 4 ? -INFINITY : 0, x[2][i] = i == 9 ? NAN : 1;
	node_run_init(&run, "", "Softmax", 13, 1);
	node_run_add(&run, DT_F32, SHAPE_OF(3, 11), x);
	node_run(&run);
	const float(*y)[11] = run.out[0].data;
	for (int i = 0; i < 11; i++) {
		assert_true(isnan(y[0][i]) && isnan(y[2][i]));
		assert_true(y[1][i] == (i == 4 ? 0.0f : 0.1f));
	}
	node_run_done(&run);
}

// ---- the first of many

static bool comes_first(float a, float b)
{
	return a > b || (isnan(b) && !isnan(a));
}

// The definition: the first of the greatest that are left, k times.
static void check_topk(struct support_random *r, int64_t n, int64_t k, bool largest)
{
	float *x = calloc((size_t)n, sizeof *x);
	bool *gone = calloc((size_t)n, sizeof *gone);
	struct node_run run;
	for (int64_t i = 0; i < n; i++) // many are equal
		x[i] = support_random_int(r, 0, 40) ? (float)support_random_int(r, -20, 20) : NAN;
	node_run_init(&run, "", "TopK", 11, 2);
	*(int64_t *)node_run_field(&run, "largest") = largest;
	node_run_add(&run, DT_F32, SHAPE_OF(n), x);
	node_run_add(&run, DT_I64, SHAPE_OF(1), &k);
	run.out_id[1] = 1;
	node_run(&run);
	for (int64_t i = 0; i < k; i++) {
		int64_t best = -1;
		for (int64_t j = 0; j < n; j++)
			if (!gone[j] && (best < 0 || comes_first(largest ? x[j] : -x[j], largest ? x[best] : -x[best])))
				best = j;
		gone[best] = true;
		assert_int_equal(((int64_t *)run.out[1].data)[i], best);
		assert_memory_equal((float *)run.out[0].data + i, x + best, sizeof *x);
	}
	node_run_done(&run);
	free(x);
	free(gone);
}

void test_op_rows__topk(void **state)
{
	struct support_random r = {43};
	for (int i = 0; i < 200; i++) {
		int64_t n = support_random_int(&r, 1, 120);
		check_topk(&r, n, support_random_int(&r, 0, (int)n), i % 2);
	}
	check_topk(&r, 3000, 300, true);
}

// ---- windows

static int64_t pooled(int64_t in, int64_t kernel, int64_t stride, bool ceil)
{
	int64_t k[] = {kernel}, s[] = {stride};
	float x[8] = {1, 4, 2, 8, 5, 7, 3, 6};
	struct node_run r;
	struct error err;
	node_run_init(&r, "", "MaxPool", 17, 1);
	*(struct ints *)node_run_field(&r, "kernel_shape") = (struct ints){k, 1};
	*(struct ints *)node_run_field(&r, "strides") = (struct ints){s, 1};
	*(int64_t *)node_run_field(&r, "ceil_mode") = ceil;
	node_run_add(&r, DT_F32, SHAPE_OF(1, 1, in), x);
	int64_t n = node_run_try(&r, &err) == STATUS_OK ? r.out[0].shape.dim[2] : -1;
	if (n > 0 && in < kernel)
		assert_true(((float *)r.out[0].data)[0] == 4);
	node_run_done(&r);
	return n;
}

// As ONNX Runtime counts: ceil((in - kernel) / stride) + 1.
void test_op_rows__windows_that_hang_over_the_end(void **state)
{
	assert_int_equal(pooled(5, 2, 2, false), 2);
	assert_int_equal(pooled(5, 2, 2, true), 3);
	assert_int_equal(pooled(2, 3, 2, true), 1);
	assert_int_equal(pooled(2, 3, 2, false), -1);
	assert_int_equal(pooled(2, 4, 2, true), -1); // a whole stride short
}

// Rows too short for vectors, one without elements, and NaN, which is the largest and the least.
void test_op_rows__ends_of_short_rows(void **state)
{
	static const float x[] = {1, NAN, 3, -2, -1, -5, 7, 7, 0};
	static const int64_t axis = 1;
	static const struct {
		const char *op;
		float none, want[2];
	} cases[] = {{"ReduceMax", -INFINITY, {-1, 7}}, {"ReduceMin", INFINITY, {-5, 0}}};
	for (int i = 0; i < 2; i++)
		for (int64_t n = 0; n <= 3; n += 3) {
			struct node_run r;
			node_run_init(&r, "", cases[i].op, 18, 1);
			node_run_add(&r, DT_F32, SHAPE_OF(3, n), x);
			node_run_add(&r, DT_I64, SHAPE_OF(1), &axis);
			node_run(&r);
			const float *y = r.out[0].data;
			if (n == 0)
				assert_true(y[0] == cases[i].none && y[2] == cases[i].none);
			else
				assert_true(isnan(y[0]) && y[1] == cases[i].want[0] && y[2] == cases[i].want[1]);
			node_run_done(&r);
		}
}

// Of so many elements that two threads share them: rows, and columns.
void test_op_rows__the_first_and_the_best_shared_by_threads(void **state)
{
	enum { N = 600, M = 64 };
	static const char *const ops[] = {"TopK", "ArgMax"};
	static const int64_t k = 5;
	struct support_random r = {44};
	float *x = calloc(N * M, sizeof *x);
	for (int i = 0; i < N * M; i++)
		x[i] = (float)support_random_int(&r, -50, 50);
	for (int mode = 0; mode < 4; mode++) {
		struct node_run run;
		struct tensor one[2] = {{0}}, two[2] = {{0}};
		node_run_init(&run, "", ops[mode % 2], mode % 2 ? 13 : 11, mode % 2 ? 1 : 2);
		run.out_id[1] = 1;
		*(int64_t *)node_run_field(&run, "axis") = mode / 2;
		node_run_add(&run, DT_F32, SHAPE_OF(N, M), x);
		if (mode % 2 == 0)
			node_run_add(&run, DT_I64, SHAPE_OF(1), &k);
		run_wide(&run, one, 1);
		run_wide(&run, two, SUPPORT_WIDTH(2));
		for (int i = 0; i < run.n.n_out; i++) {
			assert_memory_equal(one[i].data, two[i].data, tensor_bytes(&one[i]));
			tensor_drop(&one[i]);
			tensor_drop(&two[i]);
		}
		node_run_done(&run);
	}
	free(x);
}
