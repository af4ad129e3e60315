// Convolutions by oneDNN, in its blocked layout (LAYOUT_BLOCK is nChw8c or nChw16c).
//
// oneDNN is told of the padded channel counts, with weights and biases of zero for the channels past the real ones, so
// that padding comes out as the epilogue of 0 and needs no care but where that is not 0.
#include <stdlib.h>
#include <string.h>
#include "../kernels/elementwise/swish.h"
#include "kept.h"
#include "onednn_conv.h"
#include "pointwise.h"
#include "qtui/base/parts.h"
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
			memcpy(dst + (oc * dims[2] + c % dims[2]) * taps, kept_weights(t, oc, c), (size_t)(side_by_side * taps) * sizeof *dst);
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

// Of the input as oneDNN reads it: so many images of rows, each of so many channels side by side.
static int64_t input_lanes(const struct onednn_conv *k)
{
	return k->task.in == LAYOUT_PLAIN ? 1 : layout_block();
}

static int64_t input_planes(const struct onednn_conv *k)
{
	return k->task.g.n * (k->task.in == LAYOUT_PLAIN ? k->task.g.c : k->as.c / layout_block());
}

static int64_t input_floats(const struct onednn_conv *k)
{
	return input_planes(k) * input_lanes(k) * conv_desc_height(k) * conv_desc_width(k);
}

static size_t padded_bytes(const struct onednn_conv *k)
{
	return k->padded ? round_up((size_t)input_floats(k) * sizeof(float), 64) : 0;
}

static dnnl_primitive_t primitive_for(const struct kernel *k, int width)
{
	// Adding a primitive for another width changes nothing that another thread can see of the kernel.
	struct onednn_conv *c = (struct onednn_conv *)k;
	return onednn_prims_get(&c->prims, width, conv_desc_make, c);
}

static int64_t output_floats(const struct onednn_conv *k)
{
	return k->task.g.n * k->as.oc * k->task.g.oh * k->task.g.ow;
}

// Room for merged groups that have to be computed one by one: an input and an output. It is touched only then.
static size_t apart_bytes(const struct onednn_conv *k)
{
	return conv_groups_merged(k) > 1 ? round_up((size_t)(input_floats(k) + output_floats(k)) * sizeof(float), 64) : 0;
}

// Scratch memory: the input with its padding, groups by themselves, what the primitive wants.
static size_t conv_scratch(const struct kernel *kernel, int width)
{
	const struct onednn_conv *k = (const struct onednn_conv *)kernel;
	return padded_bytes(k) + apart_bytes(k) + onednn_md_bytes(primitive_for(kernel, width), dnnl_query_scratchpad_md);
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

struct padding {
	const struct onednn_conv *k;
	const float *x;
	float *padded;
};

static void pad_row(void *arg, int64_t i, int thread)
{
	const struct padding *p = arg;
	const struct conv_geometry *g = &p->k->task.g;
	int64_t lanes = input_lanes(p->k), rows = conv_desc_height(p->k), row = conv_desc_width(p->k) * lanes;
	int64_t plane = i / rows, y = i % rows - g->pad_t;
	float *to = p->padded + i * row;
	(void)thread;
	memset(to, 0, (size_t)row * sizeof *to);
	if (y >= 0 && y < g->h)
		memcpy(to + g->pad_l * lanes, p->x + (plane * g->h + y) * g->w * lanes, (size_t)(g->w * lanes) * sizeof *to);
}

// The input with zeros around it.
static void pad_input(const struct onednn_conv *k, const float *x, float *padded, int width)
{
	parts_share(input_planes(k) * conv_desc_height(k), width, pad_row, &(struct padding){k, x, padded});
}

void conv_epilogue(const struct epilogue *e, float *y, const float *residual, int64_t n, int width)
{
	if (swish_serves(&e->act) && n % layout_block() == 0)
		swish_epilogue(e, y, residual, n, width);
	else if (swish_serves(&e->act) && e->add == ADD_NONE)
		swish_apply(&e->act, y, y, n);
	else
		kept_epilogue(e, y, residual, n);
}

// Where one of the merged groups has no finite input: each of them beside zeros.
static void execute_apart(struct onednn_conv *k, dnnl_primitive_t p, const float *x, const struct kernel_io *io)
{
	const struct conv_geometry *g = &k->task.g;
	float *part = (float *)((char *)io->scratch + padded_bytes(k)), *y = part + input_floats(k);
	struct conv_groups in = {.images = g->n, .channels = k->as.c, .real = g->c,
	    .pixels = conv_desc_height(k) * conv_desc_width(k), .each = g->c / g->group, .merged = conv_groups_merged(k)};
	struct conv_groups out = {.images = g->n, .channels = k->as.oc, .real = g->oc, .pixels = g->oh * g->ow,
	    .each = g->oc / g->group, .merged = in.merged};
	for (int64_t i = 0; i < in.merged; i++) {
		in.which = out.which = i;
		conv_groups_take(part, x, &in, true);
		execute(k, p, part, io->residual, y, (char *)part + apart_bytes(k), io->width);
		conv_groups_take(io->y, y, &out, false);
	}
}

static void conv_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct onednn_conv *k = (const struct onednn_conv *)kernel;
	const struct conv_geometry *g = &k->task.g;
	const void *x = k->padded ? io->scratch : io->x;
	dnnl_primitive_t p = primitive_for(kernel, io->width);
	if (k->padded)
		pad_input(k, io->x, io->scratch, io->width);
	if (conv_groups_merged(k) > 1 && conv_groups_mix(x, input_floats(k)))
		execute_apart((struct onednn_conv *)kernel, p, x, io);
	else
		execute(
		    (struct onednn_conv *)kernel, p, x, io->residual, io->y, (char *)io->scratch + padded_bytes(k) + apart_bytes(k), io->width);
	if (!k->fused)
		conv_epilogue(&k->task.epi, io->y, io->residual, g->n * k->as.oc * g->oh * g->ow, io->width);
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
	struct onednn_conv *k = xcalloc(1, sizeof *k);
	k->base.ops = &conv_ops;
	k->task = *t;
	k->task.weight = k->task.bias = NULL;
	k->as = *as;
	if (t->bias) {
		k->bias = xcalloc((size_t)as->oc, sizeof *k->bias);
		memcpy(k->bias, t->bias, (size_t)t->g.oc * sizeof *k->bias);
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
	return !k->task.transposed && g->pad_t + g->pad_b + g->pad_l + g->pad_r > 0 &&
	    conv_desc_height(&padded) * conv_desc_width(&padded) <= MOST_PADDED * g->h * g->w;
}

// The primitive for one thread; where the padding is too wide for the fast kernels,
// it reads a copy of the input that has it.
static dnnl_primitive_t first_primitive(struct onednn_conv *k)
{
	int before = width_set(1);
	dnnl_primitive_t p = conv_desc_choose(k);
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

// From a blocked input, or a plain one that oneDNN reads as it is, to a blocked output.
static enum status fastest(struct kernel **out, const struct conv_task *t, const struct grouping *as, struct error *err)
{
	struct conv_task trimmed = *t;
	float *own = taps_trim(&trimmed);
	enum status s = winograd_conv(out, &trimmed, err);
	if (s == STATUS_UNSUPPORTED)
		s = pointwise_conv(out, &trimmed, err);
	if (s == STATUS_UNSUPPORTED)
		s = direct(out, &trimmed, as, err);
	free(own);
	return s;
}

enum status onednn_conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	struct grouping as;
	enum status s = STATUS_UNSUPPORTED;
	if (t->ordered || !onednn_engine() || !conv_desc_group(&as, &t->g))
		return s;
	if (t->in == LAYOUT_PLAIN && !conv_desc_is_flat(t))
		return onednn_relaid(out, t, RELAID_INPUT, err);
	if (t->transposed)
		s = onednn_phases(out, t, err);
	if (s == STATUS_UNSUPPORTED && t->out == LAYOUT_PLAIN)
		return onednn_relaid(out, t, RELAID_OUTPUT, err);
	if (s == STATUS_UNSUPPORTED)
		s = fastest(out, t, &as, err);
	if (s == STATUS_UNSUPPORTED && t->in == LAYOUT_PLAIN)
		s = onednn_relaid(out, t, RELAID_INPUT, err);
	return s;
}
