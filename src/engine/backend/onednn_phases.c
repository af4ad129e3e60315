// Transposed convolution with a stride, as ordinary convolutions: the outputs whose position leaves the same remainder
// (phase) modulo the stride meet the same taps of the kernel, every stride-th one, and no two phases share a tap. Each phase
// is a convolution of stride 1 by those taps in reverse, whose pixels then go to their places in the output.
// (oneDNN's own transposed convolution runs at a tenth to a fifth of the speed of its convolution.)
#include <stdlib.h>
#include <string.h>
#include "kept.h"
#include "onednn_conv.h"

struct axis_phase {
	int64_t first_tap, taps, outputs, pad_before, pad_after;
};

struct phase {
	struct axis_phase y, x;
	int64_t at_y, at_x; // the first output pixel
	struct kernel *conv;
};

struct phases {
	struct kernel base;
	struct conv_task task; // its weight and bias are not kept
	bool apart;            // the epilogue has a residual and is done on the whole output
	int n;
	struct phase phase[];
};

// The convolution along one axis that gives outputs at, at + stride, ...; false when it has no taps or would crop its input.
static bool axis_phase(struct axis_phase *p, int64_t at, int64_t in, int64_t out, int64_t k, int64_t stride, int64_t pad)
{
	p->first_tap = (at + pad) % stride;
	p->taps = (k - p->first_tap + stride - 1) / stride;
	p->outputs = (out - at + stride - 1) / stride;
	p->pad_before = p->taps - 1 - (at + pad - p->first_tap) / stride;
	p->pad_after = p->outputs - in - p->pad_before + p->taps - 1;
	return k > p->first_tap && p->outputs > 0 && p->pad_before >= 0 && p->pad_after >= 0;
}

static struct conv_geometry phase_geometry(const struct conv_geometry *g, const struct phase *p)
{
	return (struct conv_geometry){
		.n = g->n, .c = g->c, .h = g->h, .w = g->w, .oc = g->oc, .group = g->group,
		.kh = p->y.taps, .kw = p->x.taps, .oh = p->y.outputs, .ow = p->x.outputs,
		.stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1,
		.pad_t = p->y.pad_before, .pad_b = p->y.pad_after, .pad_l = p->x.pad_before, .pad_r = p->x.pad_after,
	};
}

// The phase's taps in reverse, as [OC, C / group, rows, columns].
static void fill_taps(float *dst, const struct conv_task *t, const struct phase *p)
{
	const struct conv_geometry *g = &t->g;
	int64_t c_group = g->c / g->group, oc_group = g->oc / g->group;
	for (int64_t i = 0; i < g->oc * c_group; i++) {
		int64_t oc = i / c_group;
		const float *w = kept_weights(t, oc, oc / oc_group * c_group + i % c_group);
		for (int64_t ky = p->y.taps - 1; ky >= 0; ky--)
			for (int64_t kx = p->x.taps - 1; kx >= 0; kx--)
				*dst++ = w[(p->y.first_tap + ky * g->stride_h) * g->kw + p->x.first_tap + kx * g->stride_w];
	}
}

static enum status make_phase(struct phases *k, struct phase *p, const struct conv_task *t, struct error *err)
{
	struct conv_task task = {.g = phase_geometry(&t->g, p), .bias = t->bias, .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK};
	float *taps = mem_try_array((size_t)conv_weight_count(&task.g), sizeof(*taps));
	if (!taps)
		return error_set(err, STATUS_NOMEM, "no memory for the weights of a transposed convolution");
	fill_taps(taps, t, p);
	task.weight = taps;
	if (!k->apart)
		task.epi = t->epi;
	enum status s = onednn_conv(&p->conv, &task, err);
	free(taps);
	if (s == STATUS_OK)
		k->base.bytes += kernel_bytes(p->conv);
	return s;
}

// A phase's pixels to every stride-th place of every stride-th row.
static void place(float *y, const float *from, const struct conv_geometry *g, const struct phase *p, int width)
{
	int64_t block = layout_block(), planes = g->n * ((g->oc + block - 1) / block);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t row = 0; row < planes * p->y.outputs; row++) {
		int64_t plane = row / p->y.outputs, at = p->at_y + row % p->y.outputs * g->stride_h;
		float *out = y + ((plane * g->oh + at) * g->ow + p->at_x) * block;
		const float *in = from + row * p->x.outputs * block;
		for (int64_t i = 0; i < p->x.outputs; i++)
			memcpy(out + i * g->stride_w * block, in + i * block, (size_t)block * sizeof(*y));
	}
}

// Bytes of the result of the phase with the most pixels, which is the first.
static size_t result_bytes(const struct phases *k)
{
	int64_t block = layout_block(), planes = k->task.g.n * ((k->task.g.oc + block - 1) / block);
	return round_up((size_t)(planes * k->phase[0].y.outputs * k->phase[0].x.outputs * block) * sizeof(float), 64);
}

static void phases_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct phases *k = (const struct phases *)kernel;
	const struct conv_geometry *g = &k->task.g;
	int64_t block = layout_block();
	for (int i = 0; i < k->n; i++) {
		struct kernel_io one = {io->x, NULL, NULL, io->scratch, (char *)io->scratch + result_bytes(k), io->width};
		kernel_run(k->phase[i].conv, &one);
		place(io->y, io->scratch, g, &k->phase[i], io->width);
	}
	if (k->apart)
		kept_epilogue(&k->task.epi, io->y, io->residual, g->n * (int64_t)round_up((size_t)g->oc, (size_t)block) * g->oh * g->ow);
	if (k->apart)
		conv_desc_clear_padding(io->y, g, &k->task.epi.act);
}

static size_t phases_scratch(const struct kernel *kernel, int width)
{
	const struct phases *k = (const struct phases *)kernel;
	size_t most = 0;
	for (int i = 0; i < k->n; i++) {
		size_t one = kernel_scratch(k->phase[i].conv, width);
		most = one > most ? one : most;
	}
	return result_bytes(k) + most;
}

static void phases_free(struct kernel *kernel)
{
	struct phases *k = (struct phases *)kernel;
	for (int i = 0; i < k->n; i++)
		kernel_free(&k->phase[i].conv);
	free(k);
}

static const struct kernel_ops ops = {phases_run, phases_scratch, phases_free};

// More phases than this are not worth a kernel each.
#define MAX_PHASES 16

enum status onednn_phases(struct kernel **out, const struct conv_task *t, struct error *err)
{
	const struct conv_geometry *g = &t->g;
	int64_t n = g->stride_h * g->stride_w;
	if (t->in != LAYOUT_BLOCK || t->out != LAYOUT_BLOCK || n < 2 || n > MAX_PHASES || g->dil_h * g->dil_w != 1)
		return STATUS_UNSUPPORTED;
	struct phases *k = xcalloc(1, sizeof(*k) + (size_t)n * sizeof(*k->phase));
	enum status s = STATUS_OK;
	k->base.ops = &ops;
	k->task = *t;
	k->task.weight = k->task.bias = NULL;
	k->apart = t->epi.add != ADD_NONE;
	for (; k->n < n && s == STATUS_OK; k->n++) {
		struct phase *p = &k->phase[k->n];
		p->at_y = k->n / g->stride_w;
		p->at_x = k->n % g->stride_w;
		s = axis_phase(&p->y, p->at_y, g->h, g->oh, g->kh, g->stride_h, g->pad_t) &&
		    axis_phase(&p->x, p->at_x, g->w, g->ow, g->kw, g->stride_w, g->pad_l) ? make_phase(k, p, t, err) : STATUS_UNSUPPORTED;
	}
	*out = &k->base;
	if (s != STATUS_OK)
		kernel_free(out);
	return s;
}
