// Functions of one float: their error against double precision, and the same bits at every length, place and processor
// level.
#include <math.h>
#include <stdlib.h>
#include "support.h"

#include "qtui/engine/op.h"

#define COUNT 40007

static void run_op(const struct op *op, const void *attrs, const float *x, float *y, int64_t n)
{
	struct node node = {.name = "n", .op = op, .attrs = attrs, .n_in = 1};
	const struct tensor t = {.type = DT_F32};
	const struct tensor *in[] = {&t};
	assert_non_null(op);
	op_unary(&node, in, x, y, n);
}

static void run(const char *name, int opset, const void *attrs, const float *x, float *y, int64_t n)
{
	run_op(op_find("", name, opset), attrs, x, y, n);
}

static double ulps(float got, double want)
{
	float w = (float)want;
	if (isnan(w) || isinf(w))
		return isnan(w) ? (isnan(got) ? 0 : 1e9) : got == w ? 0 : 1e9;
	return fabs((double)got - want) / (double)(nextafterf(fabsf(w), INFINITY) - fabsf(w));
}

static double f_sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static double f_softplus(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double f_mish(double x)
{
	return x * tanh(f_softplus(x));
}

static double f_elu(double x)
{
	return x > 0 ? x : expm1(x);
}

static const struct case_of {
	const char *name;
	int opset;
	double (*exact)(double);
	float low, high, most; // the range, and the largest error in units of the last place
} cases[] = {
    {"Exp", 13, exp, -103, 88.7f, 1.5f},
    {"Log", 13, log, 1e-38f, 1e6f, 1.5f},
    {"Log", 13, log, 0.5f, 2, 1.5f},
    {"Sigmoid", 13, f_sigmoid, -80, 80, 3},
    {"Tanh", 13, tanh, -12, 12, 2},
    {"Erf", 13, erf, -5, 5, 2},
    {"Softplus", 13, f_softplus, -30, 30, 3},
    {"Mish", 18, f_mish, -20, 20, 5},
    {"Elu", 13, f_elu, -20, 2, 2},
    {"Sqrt", 13, sqrt, 0, 100, 0.51f},
    {"Sin", 13, sin, -4, 4, 0.51f},
    {"Sin", 13, sin, -1e4f, 1e4f, 0.51f},
    {"Sin", 13, sin, 0.9e6f, 1.1e6f, 1},
    {"Sin", 13, sin, 1e30f, 3e38f, 1},
    {"Cos", 13, cos, -4, 4, 0.51f},
    {"Cos", 13, cos, -1e6f, 1e6f, 0.51f},
    {"Cos", 13, cos, 1e6f, 1e9f, 1},
    {"Atan", 7, atan, -3, 3, 0.51f},
    {"Atan", 7, atan, -1e-3f, 1e-3f, 0.51f},
    {"Atan", 7, atan, 1, 1e6f, 0.51f},
    {"Asin", 7, asin, -1, 1, 0.51f},
    {"Asin", 7, asin, -1e-3f, 1e-3f, 0.51f},
    {"Acos", 7, acos, -1, 1, 0.51f},
    {"Acos", 7, acos, 0.999f, 1, 0.51f},
};

void test_unary__errors_are_small(void **state)
{
	const struct act_attrs attrs = {.alpha = 1};
	float *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		const struct case_of *c = &cases[k];
		for (int i = 0; i < COUNT; i++)
			x[i] = c->low + (c->high - c->low) * (float)i / COUNT;
		run(c->name, c->opset, &attrs, x, y, COUNT);
		for (int i = 0; i < COUNT; i++)
			if (ulps(y[i], c->exact((double)x[i])) > (double)c->most)
				fail_msg("%s(%.9g) is %.9g, off by %.1f ulp", c->name, (double)x[i], (double)y[i],
				    ulps(y[i], c->exact((double)x[i])));
	}
	free(x);
	free(y);
}

void test_unary__special_values(void **state)
{
	const float x[] = {INFINITY, -INFINITY, NAN, 0.0f, 1e-42f};
	float y[5];
	run("Exp", 13, NULL, x, y, 5);
	assert_true(isinf(y[0]) && y[1] == 0 && isnan(y[2]) && y[3] == 1);
	run("Log", 13, NULL, x, y, 5);
	assert_true(
	    isinf(y[0]) && isnan(y[1]) && isnan(y[2]) && y[3] == -INFINITY && ulps(y[4], log((double)x[4])) < 2);
	run("Sigmoid", 13, NULL, x, y, 5);
	assert_true(y[0] == 1 && y[1] == 0 && isnan(y[2]) && y[3] == 0.5f);
	run("Tanh", 13, NULL, x, y, 5);
	assert_true(y[0] == 1 && y[1] == -1 && isnan(y[2]) && y[3] == 0 && y[4] == x[4]);
	run("Erf", 13, NULL, x, y, 5);
	assert_true(y[0] == 1 && y[1] == -1 && isnan(y[2]) && y[3] == 0);
	run("Atan", 7, NULL, x, y, 5);
	assert_true(y[0] == (float)M_PI_2 && y[1] == -(float)M_PI_2 && isnan(y[2]) && y[3] == 0 && y[4] == x[4]);
	run("Asin", 7, NULL, (const float[]){INFINITY, -1.5f, NAN, -0.0f, -1}, y, 5);
	assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]) && y[3] == 0 && signbit(y[3]) && y[4] == -(float)M_PI_2);
	run("Acos", 7, NULL, (const float[]){INFINITY, -1.5f, NAN, 1, -1}, y, 5);
	assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]) && y[3] == 0 && y[4] == (float)M_PI);
}

// Every piece of an array, however it begins and ends, gives the bits that the whole gives.
void test_unary__bits_do_not_depend_on_length_or_place(void **state)
{
	struct support_random r = {7};
	const struct act_attrs attrs = {.alpha = 0.3f, .beta = 0.4f, .gamma = 1.1f, .low = -1, .high = 2};
	float x[300], whole[300], part[300];
	int n;
	const struct op *rows = op_rows(&n);
	support_random_floats(&r, x, 300, -6, 6);
	for (int i = 0; i < n; i++) {
		const char *const approximate = "tanh"; // Gelu's only attribute
		const void *a = rows[i].id == OP_Gelu ? (const void *)&approximate : &attrs;
		if (!(rows[i].flags & OPF_UNARY))
			continue;
		run_op(&rows[i], a, x, whole, 300);
		for (int k = 0; k < 60; k++) {
			int from = support_random_int(&r, 0, 280), count = support_random_int(&r, 1, 300 - from);
			run_op(&rows[i], a, x + from, part, count);
			assert_memory_equal(part, whole + from, (size_t)count * sizeof *part);
		}
	}
}
