// Convolution as a matrix product: the input values that each kernel tap meets are laid out as rows
// of a matrix (im2col), for one strip of whole output rows at a time so that the matrix stays in the cache.
// Depthwise is computed directly.
#include <string.h>
#include "blas.h"
#include "kept.h"
#include "ordered_conv.h"

// Bytes aimed at for the matrix of a strip.
#define STRIP_BYTES (192 << 10)

static int64_t taps(const struct conv_geometry *g)
{
	return g->c / g->group * g->kh * g->kw;
}

static int64_t strip_rows(const struct conv_geometry *g)
{
	int64_t rows = STRIP_BYTES / (int64_t)sizeof(float) / (taps(g) * g->ow + 1);
	return rows < 1 ? 1 : rows > g->oh ? g->oh : rows;
}

static bool is_depthwise(const struct conv_geometry *g)
{
	return g->c == g->group && g->oc == g->group;
}

static void copy_tap_row(float *dst, const float *x_row, const struct conv_geometry *g, int64_t kx)
{
	int64_t offset = kx * g->dil_w - g->pad_l;
	struct span s = conv_span(g->ow, g->stride_w, offset, g->w);
	memset(dst, 0, (size_t)g->ow * sizeof *dst);
	if (g->stride_w == 1 && s.first < s.end)
		memcpy(dst + s.first, x_row + s.first + offset, (size_t)(s.end - s.first) * sizeof *dst);
	else
		for (int64_t i = s.first; i < s.end; i++)
			dst[i] = x_row[i * g->stride_w + offset];
}

// One row of the matrix: input channel plane `x` seen through tap (ky, kx), for output rows y0 .. y0 + rows - 1.
static void fill_tap(float *dst, const float *x, const struct conv_geometry *g, int64_t ky, int64_t kx, int64_t y0,
    int64_t rows)
{
	for (int64_t y = y0; y < y0 + rows; y++, dst += g->ow) {
		int64_t iy = y * g->stride_h + ky * g->dil_h - g->pad_t;
		if (iy < 0 || iy >= g->h)
			memset(dst, 0, (size_t)g->ow * sizeof *dst);
		else
			copy_tap_row(dst, x + iy * g->w, g, kx);
	}
}

static void fill_matrix(float *dst, const float *x, const struct conv_geometry *g, int64_t y0, int64_t rows)
{
	for (int64_t c = 0; c < g->c / g->group; c++)
		for (int64_t ky = 0; ky < g->kh; ky++)
			for (int64_t kx = 0; kx < g->kw; kx++, dst += rows * g->ow)
				fill_tap(dst, x + c * g->h * g->w, g, ky, kx, y0, rows);
}

// A strip of one group of one image.
struct strip {
	const float *x;   // the group's input channels
	float *y;         // the strip in the group's first output channel
	const float *residual;
	int64_t group, y0, rows;
};

static struct strip strip_of(const struct conv_task *t, const struct kernel_io *io, int64_t piece)
{
	const struct conv_geometry *g = &t->g;
	int64_t step = strip_rows(g), per_group = (g->oh + step - 1) / step;
	int64_t image_group = piece / per_group, y0 = piece % per_group * step;
	int64_t at = image_group * (g->oc / g->group) * g->oh * g->ow + y0 * g->ow;
	return (struct strip){
		.x = (const float *)io->x + image_group * (g->c / g->group) * g->h * g->w,
		.y = (float *)io->y + at,
		.residual = io->residual ? (const float *)io->residual + at : NULL,
		.group = image_group % g->group,
		.y0 = y0,
		.rows = g->oh - y0 < step ? g->oh - y0 : step,
	};
}

static void fill_bias(const struct conv_task *t, const struct strip *s, int64_t oc_group)
{
	for (int64_t c = 0; c < oc_group; c++) {
		float *row = s->y + c * t->g.oh * t->g.ow, bias = t->bias ? t->bias[s->group * oc_group + c] : 0.0f;
		for (int64_t i = 0; i < s->rows * t->g.ow; i++)
			row[i] = bias;
	}
}

static void run_strip(const struct conv_task *t, const struct strip *s, float *matrix)
{
	const struct conv_geometry *g = &t->g;
	int64_t oc_group = g->oc / g->group, k = taps(g), plane = g->oh * g->ow, pixels = s->rows * g->ow;
	struct product p = {
		.a = {t->weight + s->group * oc_group * k, k, false}, .b = {s->x + s->y0 * g->ow, plane, false},
		.m = oc_group, .n = pixels, .k = k, .alpha = 1.0f, .beta = 1.0f, .c = s->y, .c_row = plane,
	};
	if (!conv_is_pointwise(g)) { // else the input itself is the matrix
		fill_matrix(matrix, s->x, g, s->y0, s->rows);
		p.b = (struct mat){matrix, pixels, false};
	}
	fill_bias(t, s, oc_group);
	blas_gemm(&p);
	for (int64_t c = 0; c < oc_group; c++)
		kept_epilogue(&t->epi, s->y + c * plane, s->residual ? s->residual + c * plane : NULL, pixels);
}

static void conv_run(const struct kernel *k, const struct kernel_io *io)
{
	const struct conv_task *t = kept_conv(k);
	const struct conv_geometry *g = &t->g;
	int64_t step = strip_rows(g), pieces = g->n * g->group * ((g->oh + step - 1) / step);
	int before = width_set(1); // an OpenBLAS built on OpenMP follows it
#pragma omp parallel for num_threads(io->width) if (io->width > 1) schedule(dynamic)
	for (int64_t i = 0; i < pieces; i++) {
		struct strip s = strip_of(t, io, i);
		run_strip(t, &s, (float *)io->scratch + omp_get_thread_num() * taps(g) * step * g->ow);
	}
	omp_set_num_threads(before);
}

static size_t conv_scratch(const struct kernel *k, int width)
{
	const struct conv_geometry *g = &kept_conv(k)->g;
	return conv_is_pointwise(g) ? 0 : (size_t)width * (size_t)(taps(g) * strip_rows(g) * g->ow) * sizeof(float);
}

static const struct kernel_ops conv_ops = {conv_run, conv_scratch, kept_conv_free};

static void depthwise_row(float *y, const float *x, const float *w, const struct conv_geometry *g, int64_t oy)
{
	for (int64_t ky = 0; ky < g->kh; ky++) {
		int64_t iy = oy * g->stride_h + ky * g->dil_h - g->pad_t;
		if (iy < 0 || iy >= g->h)
			continue;
		for (int64_t kx = 0; kx < g->kw; kx++) {
			int64_t offset = kx * g->dil_w - g->pad_l;
			struct span s = conv_span(g->ow, g->stride_w, offset, g->w);
			const float tap = w[ky * g->kw + kx], *row = x + iy * g->w;
#pragma omp simd
			for (int64_t i = s.first; i < s.end; i++)
				y[i] += tap * row[i * g->stride_w + offset];
		}
	}
}

static void depthwise_plane(const struct conv_task *t, const struct kernel_io *io, int64_t plane)
{
	const struct conv_geometry *g = &t->g;
	int64_t c = plane % g->c, size = g->oh * g->ow;
	const float *x = (const float *)io->x + plane * g->h * g->w, *residual = io->residual;
	float *y = (float *)io->y + plane * size;
	for (int64_t i = 0; i < size; i++)
		y[i] = t->bias ? t->bias[c] : 0.0f;
	for (int64_t oy = 0; oy < g->oh; oy++)
		depthwise_row(y + oy * g->ow, x, t->weight + c * g->kh * g->kw, g, oy);
	kept_epilogue(&t->epi, y, residual ? residual + plane * size : NULL, size);
}

static void depthwise_run(const struct kernel *k, const struct kernel_io *io)
{
	const struct conv_task *t = kept_conv(k);
#pragma omp parallel for num_threads(io->width) if (io->width > 1)
	for (int64_t plane = 0; plane < t->g.n * t->g.c; plane++)
		depthwise_plane(t, io, plane);
}

static const struct kernel_ops depthwise_ops = {depthwise_run, NULL, kept_conv_free};

enum status blas_conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	if (t->ordered)
		return ordered_conv(out, t, err);
	return kept_conv_new(out, is_depthwise(&t->g) ? &depthwise_ops : &conv_ops, t, err);
}
