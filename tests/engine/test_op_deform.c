// DeformConv against its definition, written out here in double for one output element at a time.
#include <math.h>
#include <stdio.h>
#include "node_run.h"

enum { MOST = 40000 };

struct deform_case {
	int64_t n, c, h, w, oc, group, offset_group, kernel[2], stride[2], dilation[2], pad[2];
	bool extras; // bias and mask
	float reach; // of the offsets
};

static int64_t out_size(const struct deform_case *d, int axis)
{
	int64_t in = axis ? d->w : d->h;
	return (in + 2 * d->pad[axis] - d->dilation[axis] * (d->kernel[axis] - 1) - 1) / d->stride[axis] + 1;
}

static double bilinear(const struct deform_case *d, const float *plane, double y, double x)
{
	double sum = 0;
	for (int64_t r = 0; r < d->h; r++)
		for (int64_t c = 0; c < d->w; c++)
			if (fabs(y - (double)r) < 1 && fabs(x - (double)c) < 1)
				sum += (1 - fabs(y - (double)r)) * (1 - fabs(x - (double)c)) * (double)plane[r * d->w + c];
	return sum;
}

struct arrays {
	float x[MOST], w[MOST], offset[MOST], bias[64], mask[MOST];
};

static double element(const struct deform_case *d, const struct arrays *a, int64_t n, int64_t k, int64_t oy, int64_t ox)
{
	int64_t cg = d->c / d->group, taps = d->kernel[0] * d->kernel[1], ow = out_size(d, 1), size = out_size(d, 0) * ow;
	double sum = d->extras ? (double)a->bias[k] : 0;
	for (int64_t i = 0; i < cg * taps; i++) {
		int64_t c = k / (d->oc / d->group) * cg + i / taps, tap = i % taps;
		int64_t plane = (n * d->offset_group + c / (d->c / d->offset_group)) * taps + tap, o = oy * ow + ox;
		double y = (double)(oy * d->stride[0] - d->pad[0] + tap / d->kernel[1] * d->dilation[0]) + (double)a->offset[2 * plane * size + o];
		double x = (double)(ox * d->stride[1] - d->pad[1] + tap % d->kernel[1] * d->dilation[1]) +
		           (double)a->offset[(2 * plane + 1) * size + o];
		double mask = d->extras ? (double)a->mask[plane * size + o] : 1;
		sum += (double)a->w[k * cg * taps + i] * mask * bilinear(d, a->x + (n * d->c + c) * d->h * d->w, y, x);
	}
	return sum;
}

static void set_ints(struct node_run *r, const char *name, int n, const int64_t *v)
{
	*(struct ints *)node_run_field(r, name) = (struct ints){.n = n, .at = (int64_t *)v};
}

static void run(struct node_run *r, const struct deform_case *d, const struct arrays *a)
{
	static int64_t pads[4];
	int64_t taps = d->kernel[0] * d->kernel[1], oh = out_size(d, 0), ow = out_size(d, 1);
	memcpy(pads, (int64_t[]){d->pad[0], d->pad[1], d->pad[0], d->pad[1]}, sizeof pads);
	node_run_init(r, "", "DeformConv", 19, 1);
	set_ints(r, "pads", 4, pads);
	set_ints(r, "strides", 2, d->stride);
	set_ints(r, "dilations", 2, d->dilation);
	*(int64_t *)node_run_field(r, "group") = d->group;
	*(int64_t *)node_run_field(r, "offset_group") = d->offset_group;
	node_run_add(r, DT_F32, SHAPE_OF(d->n, d->c, d->h, d->w), a->x);
	node_run_add(r, DT_F32, SHAPE_OF(d->oc, d->c / d->group, d->kernel[0], d->kernel[1]), a->w);
	node_run_add(r, DT_F32, SHAPE_OF(d->n, d->offset_group * taps * 2, oh, ow), a->offset);
	if (d->extras) {
		node_run_add(r, DT_F32, SHAPE_OF(d->oc), a->bias);
		node_run_add(r, DT_F32, SHAPE_OF(d->n, d->offset_group * taps, oh, ow), a->mask);
	}
	node_run(r);
}

static void check(const struct deform_case *d, const struct arrays *a, const float *y)
{
	for (int64_t n = 0; n < d->n; n++)
		for (int64_t k = 0; k < d->oc; k++)
			for (int64_t oy = 0; oy < out_size(d, 0); oy++)
				for (int64_t ox = 0; ox < out_size(d, 1); ox++, y++) {
					double want = element(d, a, n, k, oy, ox);
					if (!(fabs((double)*y - want) <= 1e-5 * (1 + fabs(want))))
						fail_msg("image %d, channel %d, %d, %d is %g, not %g", (int)n, (int)k, (int)oy, (int)ox, (double)*y, want);
				}
}

void test_op_deform__is_its_definition(void **state)
{
	static const struct deform_case cases[] = {
	    {1, 3, 7, 6, 4, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false, 0},  // a plain convolution
	    {2, 4, 9, 8, 6, 2, 1, {3, 2}, {2, 1}, {1, 2}, {1, 1}, true, 3},   // two groups have one group's offsets
	    {1, 6, 9, 8, 3, 1, 3, {2, 2}, {1, 1}, {2, 1}, {0, 1}, true, 1.5f}, // three offsets of one group
	    {1, 6, 5, 5, 6, 3, 2, {1, 3}, {1, 1}, {1, 1}, {0, 1}, false, 9},  // offsets change within a group; most fall outside
	    {1, 2, 19, 20, 2, 2, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, 1}, // more positions than are sampled at a time
	    {1, 130, 4, 4, 2, 1, 1, {2, 2}, {1, 1}, {1, 1}, {0, 0}, true, 1}, // more channels than are
	};
	static struct arrays a;
	struct support_random random = {11};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct node_run r;
		support_random_floats(&random, a.x, MOST, -1, 1);
		support_random_floats(&random, a.w, MOST, -.2f, .2f);
		support_random_floats(&random, a.offset, MOST, -cases[i].reach, cases[i].reach);
		support_random_floats(&random, a.bias, 64, -1, 1);
		support_random_floats(&random, a.mask, MOST, 0, 1);
		run(&r, &cases[i], &a);
		check(&cases[i], &a, r.out[0].data);
		node_run_done(&r);
	}
}

// What lies outside counts nothing: not even a value that is no number at the place of the plane that stands in for it.
void test_op_deform__outside_is_zero(void **state)
{
	const struct deform_case d = {1, 1, 1, 2, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 0};
	static struct arrays a = {.x = {INFINITY, 1}, .w = {2}, .offset = {-1, NAN, 0, 0}};
	struct node_run r;
	(void)state;
	run(&r, &d, &a);
	node_run_floats(&r, 2, (float[]){0, 0});
	node_run_done(&r);
}

void test_op_deform__threads_do_not_matter(void **state)
{
	const struct deform_case d = {2, 8, 19, 20, 6, 2, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, 2};
	static struct arrays a;
	struct support_random random = {12};
	struct node_run two;
	struct tensor one = {0};
	struct error err;
	(void)state;
	support_random_floats(&random, a.x, sizeof a / sizeof(float), -1, 1);
	run(&two, &d, &a);
	const struct tensor *in[] = {&two.in[0], &two.in[1], &two.in[2], &two.in[3], &two.in[4]};
	assert_int_equal(two.n.op->shape(&two.n, in, &one, &err), STATUS_OK);
	assert_int_equal(op_finish(&two.n, in, &one, 1, &err), STATUS_OK);
	assert_memory_equal(one.data, two.out[0].data, tensor_bytes(&one));
	tensor_drop(&one);
	node_run_done(&two);
}
