// The ref backend: plain C that defines what is right. Every output is a sum in double,
// in the order (input channel, kernel row, kernel column) or k, with the bias added last and one rounding to float;
// the epilogue is in float. A row of outputs is summed at a time, which keeps that order for each
// of them and lets the compiler work on the row. Plain layout only.
#include <string.h>
#include "kept.h"

static void add_row(double *acc, const struct conv_geometry *g, const float *x_row, double w, int64_t kx)
{
	int64_t offset = kx * g->dil_w - g->pad_l;
	struct span s = conv_span(g->ow, g->stride_w, offset, g->w);
#pragma omp simd
	for (int64_t i = s.first; i < s.end; i++)
		acc[i] += w * x_row[i * g->stride_w + offset];
}

static void add_row_transposed(double *acc, const struct conv_geometry *g, const float *x_row, double w, int64_t kx)
{
	int64_t offset = kx * g->dil_w - g->pad_l;
	struct span s = conv_span(g->w, g->stride_w, offset, g->ow);
#pragma omp simd
	for (int64_t i = s.first; i < s.end; i++)
		acc[i * g->stride_w + offset] += w * x_row[i];
}

// The input row that kernel row `ky` joins to output row `oy`; -1 when there is none.
static int64_t source_row(const struct conv_task *t, int64_t oy, int64_t ky)
{
	const struct conv_geometry *g = &t->g;
	int64_t y = t->transposed ? oy + g->pad_t - ky * g->dil_h : oy * g->stride_h + ky * g->dil_h - g->pad_t;
	if (t->transposed) {
		if (y < 0 || y % g->stride_h)
			return -1;
		y /= g->stride_h;
	}
	return y < 0 || y >= g->h ? -1 : y;
}

static void sum_row(double *acc, const struct conv_task *t, const float *x, int64_t oc, int64_t oy)
{
	const struct conv_geometry *g = &t->g;
	int64_t c_group = g->c / g->group, c0 = oc / (g->oc / g->group) * c_group;
	memset(acc, 0, (size_t)g->ow * sizeof *acc);
	for (int64_t c = c0; c < c0 + c_group; c++) {
		const float *w = kept_weights(t, oc, c);
		for (int64_t ky = 0; ky < g->kh; ky++) {
			int64_t iy = source_row(t, oy, ky);
			if (iy < 0)
				continue;
			for (int64_t kx = 0; kx < g->kw; kx++)
				(t->transposed ? add_row_transposed : add_row)(acc, g, x + (c * g->h + iy) * g->w, w[ky * g->kw + kx], kx);
		}
	}
}

static void finish_row(float *y, const double *acc, double bias, int64_t n, const struct epilogue *e, const float *residual)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)(acc[i] + bias);
	kept_epilogue(e, y, residual, n);
}

static void conv_run(const struct kernel *k, const struct kernel_io *io)
{
	const struct conv_task *t = kept_conv(k);
	const struct conv_geometry *g = &t->g;
	const float *residual = io->residual;
	int64_t rows = g->n * g->oc * g->oh;
#pragma omp parallel for num_threads(io->width) if (io->width > 1)
	for (int64_t r = 0; r < rows; r++) {
		int64_t oy = r % g->oh, oc = r / g->oh % g->oc, n = r / g->oh / g->oc;
		double *acc = (double *)io->scratch + omp_get_thread_num() * g->ow;
		sum_row(acc, t, (const float *)io->x + n * g->c * g->h * g->w, oc, oy);
		finish_row((float *)io->y + r * g->ow, acc, t->bias ? t->bias[oc] : 0, g->ow, &t->epi,
		    residual ? residual + r * g->ow : NULL);
	}
}

static size_t conv_scratch(const struct kernel *k, int width)
{
	return (size_t)width * (size_t)kept_conv(k)->g.ow * sizeof(double);
}

static const struct kernel_ops conv_ops = {conv_run, conv_scratch, kept_conv_free};

static enum status ref_conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	if (t->in != LAYOUT_PLAIN || t->out != LAYOUT_PLAIN)
		return STATUS_UNSUPPORTED;
	return kept_conv_new(out, &conv_ops, t, err);
}

static void matmul_row(double *acc, const struct matmul_task *t, const float *a, const float *w)
{
	int64_t a_step = t->trans_a ? t->m : 1, w_row = t->trans_b ? 1 : t->n, w_col = t->trans_b ? t->k : 1;
	memset(acc, 0, (size_t)t->n * sizeof *acc);
	for (int64_t p = 0; p < t->k; p++) {
		double x = a[p * a_step];
		const float *row = w + p * w_row;
#pragma omp simd
		for (int64_t j = 0; j < t->n; j++)
			acc[j] += x * row[j * w_col];
	}
}

static void matmul_run(const struct kernel *k, const struct kernel_io *io)
{
	const struct matmul_task *t = kept_matmul(k);
	const float *x = io->x, *w = t->weight ? t->weight : io->w;
#pragma omp parallel for num_threads(io->width) if (io->width > 1)
	for (int64_t r = 0; r < t->batch * t->m; r++) {
		int64_t b = r / t->m, i = r % t->m;
		double *acc = (double *)io->scratch + omp_get_thread_num() * t->n;
		float *y = (float *)io->y + r * t->n;
		matmul_row(acc, t, x + b * t->stride_a + (t->trans_a ? i : i * t->k), w + b * t->stride_b);
		for (int64_t j = 0; j < t->n; j++)
			y[j] = (float)(t->alpha * acc[j] + (t->bias ? t->bias[j] : 0.0));
		elt_act(&t->act, y, y, t->n);
	}
}

static size_t matmul_scratch(const struct kernel *k, int width)
{
	return (size_t)width * (size_t)kept_matmul(k)->n * sizeof(double);
}

static const struct kernel_ops matmul_ops = {matmul_run, matmul_scratch, kept_matmul_free};

static enum status ref_matmul(struct kernel **out, const struct matmul_task *t, struct error *err)
{
	return kept_matmul_init(out, xcalloc(1, sizeof(struct kept_matmul)), &matmul_ops, t, err);
}

const struct backend ref_backend = {"ref", ref_conv, ref_matmul};
