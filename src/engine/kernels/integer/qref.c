// The reference for integer kernels: sums in 64 bits over any geometry, layout and code width.
// Inputs are spread out first to one int32 a value with the zero point taken away, in the order in which the sums run.
#include <stdlib.h>
#include <string.h>
#include "qkernel.h"

static int64_t dot(const int32_t *x, const int32_t *w, int64_t n)
{
	int64_t s = 0;
	for (int64_t i = 0; i < n; i++)
		s += (int64_t)x[i] * w[i];
	return s;
}

struct qref_conv {
	struct kernel base;
	struct qfinish finish;
	struct conv_geometry g;
	bool transposed;
	enum layout in, out;
	enum dtype in_type;
	int32_t in_zero;
	int32_t *weight; // [oc][kh][kw][c / group]
};

// Pixels [h][w][c] of image n.
static void spread_image(int32_t *y, const struct qref_conv *k, const void *x, int64_t n)
{
	const struct conv_geometry *g = &k->g;
	for (int64_t c = 0; c < g->c; c++) {
		for (int64_t p = 0; p < g->h * g->w; p++) {
			int64_t at = act_offset(k->in, layout_block(), g->c, g->h * g->w, n, c, p);
			y[p * g->c + c] = qcode_at(x, k->in_type, at) - k->in_zero;
		}
	}
}

// The input coordinate that tap `t` reads for output coordinate `o`; -1 when it lies outside.
static int64_t source(bool transposed, int64_t o, int64_t t, int64_t stride, int64_t dil, int64_t pad, int64_t size)
{
	int64_t i = transposed ? o + pad - t * dil : o * stride - pad + t * dil;
	if (transposed) {
		if (i < 0 || i % stride != 0)
			return -1;
		i /= stride;
	}
	return i >= 0 && i < size ? i : -1;
}

static int64_t sum_at(const struct qref_conv *k, const int32_t *x, int64_t oc, int64_t oh, int64_t ow)
{
	const struct conv_geometry *g = &k->g;
	int64_t cg = g->c / g->group, first = oc / (g->oc / g->group) * cg, acc = k->finish.bias[oc];
	for (int64_t kh = 0; kh < g->kh; kh++) {
		int64_t ih = source(k->transposed, oh, kh, g->stride_h, g->dil_h, g->pad_t, g->h);
		for (int64_t kw = 0; ih >= 0 && kw < g->kw; kw++) {
			int64_t iw = source(k->transposed, ow, kw, g->stride_w, g->dil_w, g->pad_l, g->w);
			if (iw >= 0)
				acc += dot(x + (ih * g->w + iw) * g->c + first, k->weight + ((oc * g->kh + kh) * g->kw + kw) * cg, cg);
		}
	}
	return acc;
}

static void pad_channels(const struct qref_conv *k, void *y, int64_t n)
{
	int64_t block = layout_block(), plane = k->g.oh * k->g.ow, oc = k->g.oc;
	if (k->out == LAYOUT_BLOCK && oc % block != 0)
		qfinish_pad(&k->finish, y, act_offset(k->out, block, oc, plane, n, oc, 0), block - oc % block, plane, block);
}

static void conv_run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qref_conv *k = (const struct qref_conv *)base;
	const struct conv_geometry *g = &k->g;
	int64_t plane = g->oh * g->ow, block = layout_block();
	for (int64_t n = 0; n < g->n; n++) {
		spread_image(io->scratch, k, io->x, n);
#pragma omp parallel for num_threads(io->width) if (io->width > 1)
		for (int64_t oc = 0; oc < g->oc; oc++)
			for (int64_t p = 0; p < plane; p++)
				qfinish_store(&k->finish, io->y, act_offset(k->out, block, g->oc, plane, n, oc, p), oc,
				    sum_at(k, io->scratch, oc, p / g->ow, p % g->ow));
		pad_channels(k, io->y, n);
	}
}

static size_t conv_scratch(const struct kernel *base, int width)
{
	const struct conv_geometry *g = &((const struct qref_conv *)base)->g;
	(void)width;
	return (size_t)(g->c * g->h * g->w) * sizeof(int32_t);
}

static void conv_free(struct kernel *base)
{
	struct qref_conv *k = (struct qref_conv *)base;
	qfinish_done(&k->finish);
	free(k->weight);
	free(k);
}

static const struct kernel_ops conv_ops = {.run = conv_run, .scratch = conv_scratch, .free = conv_free};

static void order_weights(int32_t *y, const struct qconv_task *t)
{
	int64_t cg = t->g.c / t->g.group, taps = t->g.kh * t->g.kw;
	for (int64_t oc = 0; oc < t->g.oc; oc++)
		for (int64_t tap = 0; tap < taps; tap++)
			for (int64_t c = 0; c < cg; c++)
				y[(oc * taps + tap) * cg + c] = t->weight[qweight_offset(t, oc, c) + tap];
}

enum status qref_conv(struct kernel **out, const struct qconv_task *t, struct error *err)
{
	struct qref_conv *k = xcalloc(1, sizeof *k);
	size_t n = (size_t)(t->g.oc * t->g.kh * t->g.kw * (t->g.c / t->g.group));
	enum status s = qfinish_of_conv(&k->finish, t, err);
	if (s != STATUS_OK)
		goto fail;
	k->base = (struct kernel){.ops = &conv_ops, .bytes = n * sizeof(int32_t)};
	k->g = t->g;
	k->transposed = t->transposed;
	k->in = t->in;
	k->out = t->out;
	k->in_type = t->in_type;
	k->in_zero = t->in_zero;
	k->weight = mem_try_array(n, sizeof(int32_t));
	if (!k->weight) {
		s = error_set(err, STATUS_NOMEM, "no memory for %zu weights", n);
		goto fail;
	}
	order_weights(k->weight, t);
	*out = &k->base;
	return STATUS_OK;
fail:
	conv_free(&k->base);
	return s;
}

struct qref_matmul {
	struct kernel base;
	struct qfinish finish;
	struct qmatmul_task t; // its pointers are not used
	int16_t *weight;       // constant b as it came, or NULL
};

// rows x k values, from codes stored [rows][k], or [k][rows] when `across`.
static void spread_rows(int32_t *y, const void *x, enum dtype type, int32_t zero, int64_t rows, int64_t k, bool across)
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t i = 0; i < k; i++)
			y[r * k + i] = qcode_at(x, type, across ? i * rows + r : r * k + i) - zero;
}

static void matmul_run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qref_matmul *k = (const struct qref_matmul *)base;
	const struct qmatmul_task *t = &k->t;
	int32_t *a = io->scratch, *b = a + t->m * t->k;
	const char *x = io->x, *w = k->weight ? (const char *)k->weight : io->w;
	enum dtype w_type = k->weight ? DT_I16 : t->b_type;
	for (int64_t i = 0; i < t->batch; i++) {
		spread_rows(a, x + (size_t)(i * t->stride_a) * dtype_size(t->a_type), t->a_type, t->a_zero, t->m, t->k, t->trans_a);
		spread_rows(b, w + (size_t)(i * t->stride_b) * dtype_size(w_type), w_type, t->b_zero, t->n, t->k, !t->trans_b);
#pragma omp parallel for num_threads(io->width) if (io->width > 1)
		for (int64_t row = 0; row < t->m; row++)
			for (int64_t n = 0; n < t->n; n++)
				qfinish_store(&k->finish, io->y, (i * t->m + row) * t->n + n, n,
				    k->finish.bias[n] + dot(a + row * t->k, b + n * t->k, t->k));
	}
}

static size_t matmul_scratch(const struct kernel *base, int width)
{
	const struct qmatmul_task *t = &((const struct qref_matmul *)base)->t;
	(void)width;
	return (size_t)((t->m + t->n) * t->k) * sizeof(int32_t);
}

static void matmul_free(struct kernel *base)
{
	struct qref_matmul *k = (struct qref_matmul *)base;
	qfinish_done(&k->finish);
	free(k->weight);
	free(k);
}

static const struct kernel_ops matmul_ops = {.run = matmul_run, .scratch = matmul_scratch, .free = matmul_free};

enum status qref_matmul(struct kernel **out, const struct qmatmul_task *t, struct error *err)
{
	struct qref_matmul *k = xcalloc(1, sizeof *k);
	size_t n = t->weight ? (size_t)(t->n * t->k + (t->batch - 1) * t->stride_b) : 0;
	enum status s = qfinish_of_matmul(&k->finish, t, err);
	if (s != STATUS_OK)
		goto fail;
	k->base = (struct kernel){.ops = &matmul_ops, .bytes = n * sizeof(int16_t)};
	k->t = *t;
	if (t->weight) {
		k->weight = mem_try_array(n, sizeof(int16_t));
		if (!k->weight) {
			s = error_set(err, STATUS_NOMEM, "no memory for %zu weights", n);
			goto fail;
		}
		memcpy(k->weight, t->weight, n * sizeof(int16_t));
	}
	*out = &k->base;
	return STATUS_OK;
fail:
	matmul_free(&k->base);
	return s;
}
