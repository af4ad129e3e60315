// Windows that are far larger than the input: taps that meet only padding cost nothing, and count all the same.
#include <stdlib.h>
#include "kernel_case.h"

struct large {
	int64_t in, kernel, stride, dilation, pad, behind; // padding in front and behind
};
static const struct large sizes[] = {{4, 20000, 1, 1, 10000, 10000}, {4, 20000, 1, 1, 9999, 9999}, {5, 20001, 3, 1, 10001, 10001},
    {4, 1000000000, 1, 1, 500000000, 500000000}, {6, 3000, 1, 7, 10500, 10500}, {3, 300, 2, 5, 750, 750}, {4, 40, 1, 1, 39, 39},
    {7, 9, 1, 2, 8, 8}};
// Without the taps that meet padding alone these windows are as large as the input.
static const struct large one_side[] = {{2, 3, 1, 1, 1, 0}, {7, 8, 1, 1, 1, 0}, {1, 2, 2, 1, 1, 0}, {7, 8, 1, 1, 0, 1}, {3, 9, 1, 1, 2, 4}};

static struct pool_task task_of(const struct large *z, bool max, bool include_pad)
{
	int64_t out = conv_size(z->in, z->kernel, z->stride, z->dilation, z->pad + z->behind, false);
	return (struct pool_task){.max = max, .type = DT_F32, .count_include_pad = include_pad,
	    .g = {.n = 1, .c = 3, .oc = 3, .group = 1, .h = z->in, .w = z->in, .kh = z->kernel, .kw = z->kernel, .oh = out, .ow = out,
	        .stride_h = z->stride, .stride_w = z->stride, .dil_h = z->dilation, .dil_w = z->dilation, .pad_t = z->pad, .pad_l = z->pad,
	        .pad_b = z->behind, .pad_r = z->behind}};
}

// The tap of the window of output `o` that lies on the input's element `i`; negative: none.
static int64_t tap_on(const struct large *z, int64_t o, int64_t i)
{
	int64_t from = i - (o * z->stride - z->pad);
	return from >= 0 && from % z->dilation == 0 && from / z->dilation < z->kernel ? from / z->dilation : -1;
}

static double counted(const struct large *z, int64_t o, bool include_pad)
{
	double n = 0;
	for (int64_t i = 0; i < z->in; i++)
		n += tap_on(z, o, i) >= 0;
	int64_t inside = (z->in + z->behind - (o * z->stride - z->pad) + z->dilation - 1) / z->dilation;
	return include_pad ? (double)(inside < z->kernel ? inside : z->kernel) : n;
}

static float expected(const struct large *z, const struct pool_task *t, const float *x, int64_t oy, int64_t ox)
{
	double sum = 0, most = -INFINITY, count = counted(z, oy, t->count_include_pad) * counted(z, ox, t->count_include_pad);
	for (int64_t y = 0; y < z->in; y++)
		for (int64_t c = 0; c < z->in; c++)
			if (tap_on(z, oy, y) >= 0 && tap_on(z, ox, c) >= 0) {
				sum += x[y * z->in + c];
				most = fmax(most, x[y * z->in + c]);
			}
	return (float)(t->max ? most : sum / count);
}

static void check(const struct large *z, bool max, bool include_pad)
{
	struct support_random r = {41};
	struct pool_task t = task_of(z, max, include_pad);
	const int64_t plane = z->in * z->in, pixels = t.g.oh * t.g.ow;
	float *x = random_floats(&r, 3 * plane, 1.0f), *y = malloc((size_t)(3 * pixels) * sizeof *y);
	struct kernel *k = NULL;
	struct error err = {0};
	if (kernel_pool(&k, &t, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	run_kernel(k, x, NULL, NULL, y, 1);
	for (int64_t i = 0; i < 3 * pixels; i++) {
		float want = expected(z, &t, x + i / pixels * plane, i % pixels / t.g.ow, i % t.g.ow);
		if (isfinite(want))
			assert_close(&y[i], &want, 1, 1e-5f);
	}
	kernel_free(&k);
	free(x);
	free(y);
}

void test_pool_windows__far_larger_than_the_input(void **state)
{
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int kind = 0; kind < 3; kind++)
			check(&sizes[i], kind == 2, kind == 1);
}

void test_pool_windows__padding_on_one_side(void **state)
{
	for (size_t i = 0; i < sizeof one_side / sizeof *one_side; i++)
		for (int kind = 0; kind < 3; kind++)
			check(&one_side[i], kind == 2, kind == 1);
}
