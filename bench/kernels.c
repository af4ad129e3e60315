// Speed of the kernels on typical layers: time of the best run and GFLOP/s of the float kernel,
// time of the integer kernels (8-bit codes; 16-bit codes with weights of 8 and of 16 bits)
// and how much of the float kernel's that is, for one backend and width.
//   build/release/bench/kernels [onednn|blas|ref] [WIDTH] [PART_OF_NAME]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/thread.h"
#include "qtui/engine/kernel.h"

struct layer {
	const char *name;
	int c, size, oc, k, stride, pad, group;
	enum act_kind act;
	enum add_kind add;
	bool plain_input, transposed;
};
static const struct layer layers[] = {
	{"yolov5n first 6x6", 3, 640, 16, 6, 2, 2, 1, ACT_SWISH, .plain_input = true},
	{"yolov8n first 3x3", 3, 640, 16, 3, 2, 1, 1, ACT_SWISH, .plain_input = true},
	{"mobilenetv2 first", 3, 224, 32, 3, 2, 1, 1, ACT_CLIP, .plain_input = true},
	{"3x3 stride 2, 16 to 32 at 320", 16, 320, 32, 3, 2, 1, 1, ACT_SWISH, .add = ADD_NONE},
	{"3x3, 16 at 160, residual", 16, 160, 16, 3, 1, 1, 1, ACT_SWISH, .add = ADD_AFTER},
	{"3x3, 16 at 32", 16, 32, 16, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 32 at 16", 32, 16, 32, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 64 at 8", 64, 8, 64, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 80 at 80", 80, 80, 80, 3, 1, 1, 1, ACT_SWISH, .add = ADD_NONE},
	{"3x3, 64 at 56", 64, 56, 64, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 128 at 28", 128, 28, 128, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 256 at 14", 256, 14, 256, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 512 at 7", 512, 7, 512, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 64 at 80", 64, 80, 64, 3, 1, 1, 1, ACT_SWISH, .add = ADD_NONE},
	{"3x3, 128 at 20", 128, 20, 128, 3, 1, 1, 1, ACT_SWISH, .add = ADD_NONE},
	{"3x3, 32 at 16, residual", 32, 16, 32, 3, 1, 1, 1, ACT_RELU, .add = ADD_BEFORE},
	{"3x3, 32 at 80", 32, 80, 32, 3, 1, 1, 1, ACT_SWISH, .add = ADD_NONE},
	{"3x3, 16 to 64 at 55", 16, 55, 64, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"3x3, 12 to 20 at 27", 12, 27, 20, 3, 1, 1, 1, ACT_RELU, .add = ADD_NONE},
	{"1x1, 32 at 160", 32, 160, 32, 1, 1, 0, 1, ACT_SWISH, .add = ADD_NONE},
	{"1x1, 32 at 160, no activation", 32, 160, 32, 1, 1, 0, 1, ACT_NONE, .add = ADD_NONE},
	{"1x1, 256 at 20", 256, 20, 256, 1, 1, 0, 1, ACT_SWISH, .add = ADD_NONE},
	{"1x1, 64 to 255 at 80", 64, 80, 255, 1, 1, 0, 1, ACT_NONE, .add = ADD_NONE},
	{"1x1, 24 to 144 at 56", 24, 56, 144, 1, 1, 0, 1, ACT_CLIP, .add = ADD_NONE},
	{"depthwise 3x3, 144 at 56", 144, 56, 144, 3, 1, 1, 144, ACT_CLIP, .add = ADD_NONE},
	{"depthwise 3x3 stride 2, 144 at 56", 144, 56, 144, 3, 2, 1, 144, ACT_CLIP, .add = ADD_NONE},
	{"depthwise 3x3, 384 at 14", 384, 14, 384, 3, 1, 1, 384, ACT_CLIP, .add = ADD_NONE},
	{"depthwise 3x3, 960 at 7", 960, 7, 960, 3, 1, 1, 960, ACT_CLIP, .add = ADD_NONE},
	{"depthwise 5x5, 96 at 26", 96, 26, 96, 5, 1, 2, 96, ACT_RELU, .add = ADD_NONE},
	{"grouped 3x3, 32 groups of 2 at 56", 64, 56, 64, 3, 1, 1, 32, ACT_RELU, .add = ADD_NONE},
	{"transposed 2x2, 64 at 80", 64, 80, 64, 2, 2, 0, 1, ACT_RELU, .transposed = true},
	{"transposed 4x4, 64 to 32 at 40", 64, 40, 32, 4, 2, 1, 1, ACT_RELU, .transposed = true},
};

static struct conv_task task_of(const struct layer *l, enum kernel_backend b)
{
	int out = l->transposed ? (l->size - 1) * l->stride + l->k - 2 * l->pad : (l->size + 2 * l->pad - l->k) / l->stride + 1;
	enum layout best = b == BACKEND_ONEDNN ? LAYOUT_BLOCK : LAYOUT_PLAIN;
	return (struct conv_task){
		.g = {.n = 1, .c = l->c, .h = l->size, .w = l->size, .oc = l->oc, .kh = l->k, .kw = l->k, .oh = out, .ow = out,
		    .stride_h = l->stride, .stride_w = l->stride, .dil_h = 1, .dil_w = 1,
		    .pad_t = l->pad, .pad_l = l->pad, .pad_b = l->pad, .pad_r = l->pad, .group = l->group},
		.transposed = l->transposed, .in = l->plain_input ? LAYOUT_PLAIN : best, .out = best,
		.epi = {{l->act, 0.0f, 6.0f}, l->add},
	};
}

static float *some_floats(int64_t n)
{
	float *x = aligned_alloc(64, ((size_t)n * sizeof *x + 127) / 64 * 64);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)(i * 7919 % 2001 - 1000) * 1e-3f;
	return x;
}

static double best_run(const struct kernel *k, const struct kernel_io *io)
{
	double best = 1e9, begin = clock_seconds();
	for (int i = 0; i < 200 && (i < 5 || clock_seconds() - begin < 0.3); i++) {
		double start = clock_seconds();
		kernel_run(k, io);
		double time = clock_seconds() - start;
		best = time < best ? time : best;
	}
	return best;
}

// Seconds of a run, 0 when the backend has no kernel.
static double time_of(struct kernel *k, enum status made, struct kernel_io io)
{
	if (made != STATUS_OK)
		return 0;
	float *scratch = some_floats((int64_t)(kernel_scratch(k, io.width) / sizeof(float)) + 1);
	io.scratch = scratch;
	double s = best_run(k, &io);
	free(scratch);
	kernel_free(&k);
	return s;
}

static double time_float(const struct layer *l, enum kernel_backend b, int64_t weights, struct kernel_io io)
{
	struct conv_task t = task_of(l, b);
	struct kernel *k = NULL;
	struct error err;
	float *weight = some_floats(weights), *bias = some_floats(t.g.oc);
	t.weight = weight;
	t.bias = bias;
	enum status made = kernel_conv(&k, b, &t, &err);
	double s = time_of(k, made, io);
	free(weight);
	free(bias);
	return s;
}

static double time_codes(const struct layer *l, enum kernel_backend b, int64_t weights, struct kernel_io io, enum dtype type, int bits)
{
	static const int32_t zero[] = {0};
	static const float out_scale[] = {0.0625f};
	struct conv_task f = task_of(l, b);
	struct qconv_task t = {.g = f.g, .transposed = f.transposed, .in = f.in, .out = f.out, .in_type = type,
	    .act = f.epi.act.kind == ACT_CLIP || f.epi.act.kind == ACT_RELU ? f.epi.act : (struct act){ACT_NONE, 0, 0},
	    .out_quant = {.kind = QUANT_LINEAR, .axis = -1, .n = 1, .qmin = -128, .qmax = 127, .scale = out_scale, .zero = zero}};
	struct kernel *k = NULL;
	struct error err;
	int16_t *weight = calloc((size_t)weights, sizeof *weight);
	float *scale = some_floats(t.g.oc);
	for (int64_t i = 0; i < weights; i++)
		weight[i] = (int16_t)(i * 7919 % (1 << bits) - (1 << (bits - 1)));
	for (int64_t i = 0; i < t.g.oc; i++)
		scale[i] = 1.0f / 4096;
	t.weight = weight;
	t.scale = scale;
	enum status made = kernel_qconv(&k, b, &t, &err);
	double s = time_of(k, made, io);
	free(weight);
	free(scale);
	return s;
}

static void print_codes(double s, double seconds_float)
{
	if (s > 0)
		printf(" %9.3f ms %5.2f", s * 1e3, seconds_float > 0 ? s / seconds_float : 0);
	else
		printf("         -         ");
}

static void measure(const struct layer *l, enum kernel_backend b, int width)
{
	struct conv_task t = task_of(l, b);
	const struct conv_geometry *g = &t.g;
	int64_t padded = layout_block() - 1, weights = g->oc * g->c / g->group * g->kh * g->kw;
	int64_t outputs = (g->oc + padded) * g->oh * g->ow;
	float *x = some_floats((g->c + padded) * g->h * g->w), *y = some_floats(outputs), *residual = some_floats(outputs);
	struct kernel_io io = {.x = x, .residual = residual, .y = y, .width = width};
	double flop = 2.0 * (double)weights * (double)(l->transposed ? g->h * g->w : g->oh * g->ow);
	double s = time_float(l, b, weights, io);
	printf("%-36s %9.3f ms %8.1f GFLOP/s  int8", l->name, s * 1e3, s > 0 ? flop / s * 1e-9 : 0);
	print_codes(time_codes(l, b, weights, io, DT_I8, 8), s);
	printf("  int16");
	print_codes(time_codes(l, b, weights, io, DT_I16, 8), s);
	print_codes(time_codes(l, b, weights, io, DT_I16, 16), s);
	printf("\n");
	free(x);
	free(y);
	free(residual);
}

int main(int argc, char **argv)
{
	enum kernel_backend b = BACKEND_ONEDNN;
	int width = argc > 2 ? atoi(argv[2]) : 1;
	if ((argc > 1 && !backend_parse(&b, argv[1])) || width < 1) {
		fprintf(stderr, "usage: kernels [onednn|blas|ref] [WIDTH] [PART_OF_NAME]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
		if (argc < 4 || strstr(layers[i].name, argv[3]))
			measure(&layers[i], b, width);
	return 0;
}
