// Transposed convolution as a matrix product and a scatter: for some output channels,
// weights^T [channels * taps, C] times input [C, H * W] gives what every input pixel adds through every tap;
// the rows are then added to the output planes.
#include "blas.h"
#include "kept.h"

// Rows aimed at for the left matrix of a piece: enough for the product to be efficient.
#define PIECE_ROWS 32

static int64_t piece_channels(const struct conv_geometry *g)
{
	int64_t n = (PIECE_ROWS + g->kh * g->kw - 1) / (g->kh * g->kw), oc_group = g->oc / g->group;
	return n < oc_group ? n : oc_group;
}

static void scatter_tap(float *y, const float *row, const struct conv_geometry *g, int64_t ky, int64_t kx)
{
	int64_t offset_y = ky * g->dil_h - g->pad_t, offset_x = kx * g->dil_w - g->pad_l;
	struct span sy = conv_span(g->h, g->stride_h, offset_y, g->oh), sx = conv_span(g->w, g->stride_w, offset_x, g->ow);
	for (int64_t iy = sy.first; iy < sy.end; iy++) {
		float *out = y + (iy * g->stride_h + offset_y) * g->ow + offset_x;
		for (int64_t ix = sx.first; ix < sx.end; ix++)
			out[ix * g->stride_w] += row[iy * g->w + ix];
	}
}

static void finish_plane(const struct conv_task *t, float *y, const float *residual, const float *matrix, int64_t oc)
{
	const struct conv_geometry *g = &t->g;
	int64_t plane = g->oh * g->ow;
	for (int64_t i = 0; i < plane; i++)
		y[i] = t->bias ? t->bias[oc] : 0.0f;
	for (int64_t ky = 0; ky < g->kh; ky++)
		for (int64_t kx = 0; kx < g->kw; kx++, matrix += g->h * g->w)
			scatter_tap(y, matrix, g, ky, kx);
	kept_epilogue(&t->epi, y, residual, plane);
}

// Output channels `c0` .. `c1` - 1 of group `group` of image `n`.
static void run_piece(const struct conv_task *t, const struct kernel_io *io, int64_t n, int64_t group, int64_t c0, int64_t c1,
    float *matrix)
{
	const struct conv_geometry *g = &t->g;
	int64_t pixels = g->h * g->w, c_group = g->c / g->group, oc_group = g->oc / g->group, tap_count = g->kh * g->kw;
	struct product p = {
		.a = {t->weight + group * c_group * oc_group * tap_count + c0 * tap_count, oc_group * tap_count, true},
		.b = {(const float *)io->x + (n * g->c + group * c_group) * pixels, pixels, false},
		.m = (c1 - c0) * tap_count, .n = pixels, .k = c_group, .alpha = 1.0f, .c = matrix, .c_row = pixels,
	};
	blas_gemm(&p);
	for (int64_t c = c0; c < c1; c++) {
		int64_t oc = group * oc_group + c, at = (n * g->oc + oc) * g->oh * g->ow;
		const float *residual = io->residual;
		finish_plane(t, (float *)io->y + at, residual ? residual + at : NULL, matrix + (c - c0) * tap_count * pixels, oc);
	}
}

static void conv_transpose_run(const struct kernel *k, const struct kernel_io *io)
{
	const struct conv_task *t = kept_conv(k);
	const struct conv_geometry *g = &t->g;
	int64_t step = piece_channels(g), oc_group = g->oc / g->group, per_group = (oc_group + step - 1) / step;
	int before = width_set(1); // an OpenBLAS built on OpenMP follows it
#pragma omp parallel for num_threads(io->width) if (io->width > 1) schedule(dynamic)
	for (int64_t i = 0; i < g->n * g->group * per_group; i++) {
		int64_t c0 = i % per_group * step, c1 = c0 + step < oc_group ? c0 + step : oc_group;
		float *matrix = (float *)io->scratch + omp_get_thread_num() * step * g->kh * g->kw * g->h * g->w;
		run_piece(t, io, i / per_group / g->group, i / per_group % g->group, c0, c1, matrix);
	}
	omp_set_num_threads(before);
}

static size_t conv_transpose_scratch(const struct kernel *k, int width)
{
	const struct conv_geometry *g = &kept_conv(k)->g;
	return (size_t)width * (size_t)(piece_channels(g) * g->kh * g->kw * g->h * g->w) * sizeof(float);
}

static const struct kernel_ops ops = {conv_transpose_run, conv_transpose_scratch, kept_conv_free};

enum status blas_conv_transpose(struct kernel **out, const struct conv_task *t, struct error *err)
{
	return kept_conv_new(out, &ops, t, err);
}
