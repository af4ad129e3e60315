// Convolutions by oneDNN, in its blocked layout (LAYOUT_BLOCK is nChw8c or nChw16c).
//
// oneDNN is told of the padded channel counts, with weights and biases of zero for the channels past the real ones, so
// that padding comes out as the epilogue of 0 and needs no care but where that is not 0.
#include <stdlib.h>
#include <string.h>
#include "../kernels/swish.h"
#include "kept.h"
#include "onednn_conv.h"
#include "pointwise.h"
#include "taps.h"
#include "winograd.h"

static void fill_weights(float *dst, const struct onednn_conv *k, const struct conv_task *t)
{
	const struct conv_geometry *g = &t->g;
	int64_t dims[5], taps = g->kh * g->kw, c_group = g->c / g->group;
	int64_t side_by_side = t->transposed ? 1 : c_group; // input channels whose weights for an output lie side by side
	conv_desc_weight_dims(dims, k);
	for (int64_t oc = 0; oc < g->oc; oc++) {
		int64_t c0 = oc / (g->oc / g->group) * c_group;
		for (int64_t c = c0; c < c0 + c_group; c += side_by_side)
			memcpy(dst + (oc * dims[2] + c % dims[2]) * taps, kept_weights(t, oc, c), (size_t)(side_by_side * taps) * sizeof(*dst));
	}
}

static enum status no_memory(struct error *err)
{
	return error_set(err, STATUS_NOMEM, "no memory for the weights of a convolution");
}

static enum status pack_weights(struct onednn_conv *k, const struct conv_task *t, dnnl_primitive_t p, struct error *err)
{
	enum status s = STATUS_OK;
	struct api_md plain = {0};
	int64_t dims[5];
	conv_desc_weight_dims(dims, k);
	float *padded = mem_try_array((size_t)(dims[0] * dims[1] * dims[2] * dims[3] * dims[4]), sizeof(float));
	k->base.bytes = onednn_md_bytes(p, dnnl_query_weights_md);
	k->weights = buf_new(k->base.bytes, NULL);
	if (!padded || !k->weights) {
		s = no_memory(err);
		goto out;
	}
	fill_weights(padded, k, t);
	if (conv_desc_weight_md(&plain, k, true) != dnnl_success ||
	    !onednn_reorder(api_md_ref_of(&plain), padded, onednn_md(p, dnnl_query_weights_md), k->weights->data))
		s = STATUS_UNSUPPORTED;
out:
	api_md_done(&plain);
	free(padded);
	return s;
}

static size_t block_bytes(const struct conv_geometry *g, int64_t channels, int64_t h, int64_t w)
{
	return round_up((size_t)(g->n * channels * h * w) * sizeof(float), 64);
}

static size_t x_bytes(const struct onednn_conv *k)
{
	bool as_given = k->flat || (k->task.in == LAYOUT_BLOCK && !k->padded);
	return as_given ? 0 : block_bytes(&k->task.g, k->as.c, conv_desc_height(k), conv_desc_width(k));
}

static size_t y_bytes(const struct onednn_conv *k)
{
	return k->task.out == LAYOUT_BLOCK ? 0 : block_bytes(&k->task.g, k->as.oc, k->task.g.oh, k->task.g.ow);
}

static dnnl_primitive_t primitive_for(const struct kernel *k, int width)
{
	// Adding a primitive for another width changes nothing that another thread can see of the kernel.
	struct onednn_conv *c = (struct onednn_conv *)k;
	return onednn_prims_get(&c->prims, width, conv_desc_make, c);
}

// Scratch memory: the blocked input, the blocked output, what the primitive wants.
static size_t conv_scratch(const struct kernel *kernel, int width)
{
	const struct onednn_conv *k = (const struct onednn_conv *)kernel;
	return x_bytes(k) + y_bytes(k) + onednn_md_bytes(primitive_for(kernel, width), dnnl_query_scratchpad_md);
}

static void reorder(const struct conv_geometry *g, int64_t channels, int64_t h, int64_t w, const void *src, enum layout from,
    void *dst, enum layout to, int width)
{
	struct shape shape = shape_of(4, (int64_t[]){g->n, channels, h, w});
	struct tensor in = {DT_F32, from, shape, (void *)src, NULL}, out = {DT_F32, to, shape, dst, NULL};
	tensor_reorder(&out, &in, width);
}

static void execute(struct onednn_conv *k, dnnl_primitive_t p, const void *x, const void *residual, void *y,
    void *scratch, int width)
{
	struct onednn_arg args[6] = {
		{DNNL_ARG_SRC, (void *)x},
		{DNNL_ARG_WEIGHTS, k->weights->data},
		{DNNL_ARG_DST, y},
	};
	int n = 3;
	if (k->bias)
		args[n++] = (struct onednn_arg){DNNL_ARG_BIAS, k->bias};
	if (k->fused && k->task.epi.add != ADD_NONE)
		args[n++] = (struct onednn_arg){DNNL_ARG_ATTR_MULTIPLE_POST_OP(conv_desc_residual_index(&k->task.epi)) | DNNL_ARG_SRC_1,
		    (void *)residual};
	if (onednn_md_bytes(p, dnnl_query_scratchpad_md))
		args[n++] = (struct onednn_arg){DNNL_ARG_SCRATCHPAD, scratch};
	onednn_execute(&k->prims, p, args, n, width);
}

// The blocked input with zeros around it.
static void pad_input(const struct onednn_conv *k, const float *x, float *padded, int width)
{
	const struct conv_geometry *g = &k->task.g;
	int64_t lanes = layout_block(), rows = conv_desc_height(k), row = conv_desc_width(k) * lanes;
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < g->n * k->as.c / lanes * rows; i++) {
		int64_t plane = i / rows, y = i % rows - g->pad_t;
		float *to = padded + i * row;
		memset(to, 0, (size_t)row * sizeof *to);
		if (y >= 0 && y < g->h)
			memcpy(to + g->pad_l * lanes, x + (plane * g->h + y) * g->w * lanes, (size_t)(g->w * lanes) * sizeof *to);
	}
}

// On a blocked output, padding included.
static void epilogue(const struct onednn_conv *k, float *y, const float *residual, int width)
{
	int64_t n = k->task.g.n * k->as.oc * k->task.g.oh * k->task.g.ow;
	if (swish_serves(&k->task.epi.act))
		swish_epilogue(&k->task.epi, y, residual, n, width);
	else
		kept_epilogue(&k->task.epi, y, residual, n);
}

static void conv_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct onednn_conv *k = (const struct onednn_conv *)kernel;
	const struct conv_geometry *g = &k->task.g;
	char *blocked_x = io->scratch, *blocked_y = blocked_x + x_bytes(k), *scratch = blocked_y + y_bytes(k);
	bool own_x = x_bytes(k) > 0, plain_y = y_bytes(k) > 0;
	float *y = plain_y ? (float *)blocked_y : io->y;
	if (k->padded)
		pad_input(k, io->x, (float *)blocked_x, io->width);
	else if (own_x)
		reorder(g, g->c, g->h, g->w, io->x, LAYOUT_PLAIN, blocked_x, LAYOUT_BLOCK, io->width);
	execute((struct onednn_conv *)kernel, primitive_for(kernel, io->width), own_x ? blocked_x : io->x, io->residual, y, scratch, io->width);
	if (!k->fused && !plain_y)
		epilogue(k, y, io->residual, io->width);
	if (plain_y)
		reorder(g, g->oc, g->oh, g->ow, y, LAYOUT_BLOCK, io->y, LAYOUT_PLAIN, io->width);
	if (!k->fused && plain_y)
		kept_epilogue(&k->task.epi, io->y, io->residual, g->n * g->oc * g->oh * g->ow);
	if (!plain_y)
		conv_desc_clear_padding(io->y, g, &k->task.epi.act);
}

static void conv_free(struct kernel *kernel)
{
	struct onednn_conv *k = (struct onednn_conv *)kernel;
	onednn_prims_done(&k->prims);
	buf_drop(&k->weights);
	free(k->bias);
	free(k);
}

static const struct kernel_ops conv_ops = {conv_run, conv_scratch, conv_free};

static struct onednn_conv *new_kernel(const struct conv_task *t, const struct grouping *as)
{
	struct onednn_conv *k = xcalloc(1, sizeof(*k));
	k->base.ops = &conv_ops;
	k->task = *t;
	k->task.weight = k->task.bias = NULL;
	k->as = *as;
	if (t->bias) {
		k->bias = xcalloc((size_t)as->oc, sizeof(*k->bias));
		memcpy(k->bias, t->bias, (size_t)t->g.oc * sizeof(*k->bias));
	}
	return k;
}

// More than this many times the input is not worth copying.
enum { MOST_PADDED = 16 };

static bool may_pad(const struct onednn_conv *k)
{
	const struct conv_geometry *g = &k->task.g;
	struct onednn_conv padded = *k;
	padded.padded = true;
	return !k->task.transposed && k->task.in == LAYOUT_BLOCK && g->pad_t + g->pad_b + g->pad_l + g->pad_r > 0 &&
	    conv_desc_height(&padded) * conv_desc_width(&padded) <= MOST_PADDED * g->h * g->w;
}

// The primitive for one thread; a plain input that cannot be read as it is will be reordered first, and one whose padding is too
// wide for the fast kernels is copied into a wider one.
static dnnl_primitive_t first_primitive(struct onednn_conv *k)
{
	dnnl_primitive_t p = NULL;
	int before = width_set(1);
	k->flat = conv_desc_is_flat(&k->task);
	if (k->flat)
		p = conv_desc_choose(k);
	if (!p) {
		k->flat = false;
		p = conv_desc_choose(k);
	}
	if (!p && may_pad(k)) {
		k->padded = true;
		p = conv_desc_choose(k);
	}
	omp_set_num_threads(before);
	return p;
}

static enum status direct(struct kernel **out, const struct conv_task *t, const struct grouping *as, struct error *err)
{
	struct onednn_conv *k = new_kernel(t, as);
	dnnl_primitive_t p = first_primitive(k);
	onednn_prims_init(&k->prims, p);
	enum status s = p ? pack_weights(k, t, p, err) : STATUS_UNSUPPORTED;
	*out = &k->base;
	if (s != STATUS_OK)
		kernel_free(out);
	return s;
}

enum status onednn_conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	struct grouping as;
	if (t->ordered || !onednn_engine() || !conv_desc_group(&as, &t->g))
		return STATUS_UNSUPPORTED;
	if (t->transposed) {
		enum status phases = onednn_phases(out, t, err);
		if (phases != STATUS_UNSUPPORTED)
			return phases;
	}
	struct conv_task trimmed = *t;
	float *own = taps_trim(&trimmed);
	enum status s = winograd_conv(out, &trimmed, err);
	if (s == STATUS_UNSUPPORTED)
		s = pointwise_conv(out, &trimmed, err);
	if (s == STATUS_UNSUPPORTED)
		s = direct(out, &trimmed, &as, err);
	free(own);
	return s;
}
