// What a convolution is in oneDNN's terms: memory descriptors, post-ops, groups.
#include <string.h>
#include "../kernels/elementwise/swish.h"
#include "onednn_conv.h"

// More merged groups than this would cost more than a slower kernel that computes only what is needed.
#define MAX_MERGED 16

// Whether groups merged so many at a time fill whole blocks. The last one may be short of groups
// where the padding of the channels makes up for them.
static bool fills_blocks(const struct grouping *as, const struct conv_geometry *g, int64_t merged)
{
	int64_t block = layout_block(), parts = (g->group + merged - 1) / merged;
	int64_t c = merged * (g->c / g->group), oc = merged * (g->oc / g->group);
	return parts == 1 || (c % block == 0 && oc % block == 0 && parts * c == as->c && parts * oc == as->oc);
}

bool conv_desc_group(struct grouping *as, const struct conv_geometry *g)
{
	int64_t block = layout_block();
	bool depthwise = g->c == g->group && g->oc == g->group && g->group > 1;
	*as = (struct grouping){g->group, (int64_t)round_up(g->c, block), (int64_t)round_up(g->oc, block), g->group > 1};
	if (depthwise)
		as->group = as->c;
	if (depthwise || g->group == 1)
		return true;
	for (int64_t merged = 1; merged <= g->group && merged <= MAX_MERGED; merged++) {
		if (!fills_blocks(as, g, merged))
			continue;
		as->group = (g->group + merged - 1) / merged;
		as->grouped = as->group > 1;
		return true;
	}
	return false;
}

// A plain input is best read as it is where oneDNN has kernels for that: few channels, as of an image.
bool conv_desc_is_flat(const struct conv_task *t)
{
	return t->in == LAYOUT_PLAIN && !t->transposed && t->g.group == 1 && (t->g.c == 1 || t->g.c == 3);
}

static bool is_flat(const struct onednn_conv *k)
{
	return k->task.in == LAYOUT_PLAIN;
}

static dnnl_status_t append_act(dnnl_post_ops_t ops, const struct act *a)
{
	static const dnnl_alg_kind_t same[] = {
		[ACT_RELU] = dnnl_eltwise_relu, [ACT_SIGMOID] = dnnl_eltwise_logistic, [ACT_TANH] = dnnl_eltwise_tanh,
		[ACT_MISH] = dnnl_eltwise_mish, [ACT_GELU] = dnnl_eltwise_gelu_erf,
	};
	dnnl_status_t s = dnnl_success;
	switch (a->kind) {
	case ACT_NONE:
		return s;
	case ACT_CLIP:
		return api_append_eltwise(ops, dnnl_eltwise_clip, a->a, a->b);
	case ACT_LEAKY:
		return api_append_eltwise(ops, dnnl_eltwise_relu, a->a, 0.0f);
	case ACT_SWISH:
		return api_append_eltwise(ops, dnnl_eltwise_swish, 1.0f, 0.0f);
	case ACT_HARDSWISH:
		return api_append_hardswish(ops);
	case ACT_HARDSIGMOID:
		s = api_append_eltwise(ops, dnnl_eltwise_linear, a->a, a->b);
		return s == dnnl_success ? api_append_eltwise(ops, dnnl_eltwise_clip, 0.0f, 1.0f) : s;
	default:
		return api_append_eltwise(ops, same[a->kind], 0.0f, 0.0f);
	}
}

static dnnl_status_t append_epilogue(dnnl_post_ops_t ops, const struct epilogue *e, const struct api_md *dst)
{
	dnnl_status_t s = dnnl_success;
	if (e->add == ADD_BEFORE)
		s = dnnl_post_ops_append_binary(ops, dnnl_binary_add, api_md_ref_of(dst));
	if (s == dnnl_success)
		s = append_act(ops, &e->act);
	if (s == dnnl_success && e->add == ADD_AFTER)
		s = dnnl_post_ops_append_binary(ops, dnnl_binary_add, api_md_ref_of(dst));
	return s;
}

int conv_desc_residual_index(const struct epilogue *e)
{
	if (e->add == ADD_BEFORE || e->act.kind == ACT_NONE)
		return 0;
	return e->act.kind == ACT_HARDSIGMOID ? 2 : 1;
}

static dnnl_status_t make_attr(dnnl_primitive_attr_t *out, const struct onednn_conv *k, const struct api_md *dst)
{
	dnnl_post_ops_t ops = NULL;
	dnnl_status_t s = dnnl_primitive_attr_create(out);
	if (s == dnnl_success)
		s = dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user);
	if (s != dnnl_success || !k->fused)
		return s;
	s = dnnl_post_ops_create(&ops);
	if (s == dnnl_success)
		s = append_epilogue(ops, &k->task.epi, dst);
	if (s == dnnl_success)
		s = dnnl_primitive_attr_set_post_ops(*out, ops);
	if (ops)
		dnnl_post_ops_destroy(ops);
	return s;
}

int64_t conv_desc_height(const struct onednn_conv *k)
{
	return k->task.g.h + (k->padded ? k->task.g.pad_t + k->task.g.pad_b : 0);
}

int64_t conv_desc_width(const struct onednn_conv *k)
{
	return k->task.g.w + (k->padded ? k->task.g.pad_l + k->task.g.pad_r : 0);
}

struct conv_mds {
	struct api_md src, weights, bias, dst;
};

void conv_desc_weight_dims(int64_t dims[5], const struct onednn_conv *k)
{
	const struct grouping *as = &k->as;
	int64_t c = (is_flat(k) ? k->task.g.c : as->c) / as->group;
	memcpy(dims, (int64_t[5]){as->group, as->oc / as->group, c, k->task.g.kh, k->task.g.kw}, 5 * sizeof *dims);
}

dnnl_status_t conv_desc_weight_md(struct api_md *out, const struct onednn_conv *k, bool plain)
{
	int64_t dims[5];
	conv_desc_weight_dims(dims, k);
	if (k->as.grouped)
		return api_md_init(out, 5, dims, plain ? dnnl_goihw : dnnl_format_tag_any);
	return api_md_init(out, 4, dims + 1, plain ? dnnl_oihw : dnnl_format_tag_any);
}

static dnnl_format_tag_t block_tag(void)
{
	return layout_block() == 16 ? dnnl_nChw16c : dnnl_nChw8c;
}

static dnnl_status_t init_mds(struct conv_mds *m, const struct onednn_conv *k)
{
	const struct conv_geometry *g = &k->task.g;
	int64_t c = is_flat(k) ? g->c : k->as.c;
	dnnl_status_t s =
	    api_md_init(&m->src, 4, (int64_t[]){g->n, c, conv_desc_height(k), conv_desc_width(k)}, is_flat(k) ? dnnl_nchw : block_tag());
	if (s == dnnl_success)
		s = conv_desc_weight_md(&m->weights, k, false);
	if (s == dnnl_success)
		s = api_md_init(&m->bias, 1, (int64_t[]){k->as.oc}, dnnl_a);
	if (s == dnnl_success)
		s = api_md_init(&m->dst, 4, (int64_t[]){g->n, k->as.oc, g->oh, g->ow}, block_tag());
	return s;
}

static void done_mds(struct conv_mds *m)
{
	api_md_done(&m->src);
	api_md_done(&m->weights);
	api_md_done(&m->bias);
	api_md_done(&m->dst);
}

static struct api_conv describe(const struct onednn_conv *k, const struct conv_mds *m)
{
	const struct conv_geometry *g = &k->task.g;
	return (struct api_conv){
		.transposed = k->task.transposed,
		.src = &m->src, .weights = &m->weights, .bias = k->bias ? &m->bias : NULL, .dst = &m->dst,
		.stride = {g->stride_h, g->stride_w},
		.dilation = {g->dil_h - 1, g->dil_w - 1},
		.pad_before = {k->padded ? 0 : g->pad_t, k->padded ? 0 : g->pad_l},
		.pad_after = {k->padded ? 0 : g->pad_b, k->padded ? 0 : g->pad_r},
	};
}

dnnl_primitive_t conv_desc_make(const void *kernel)
{
	const struct onednn_conv *k = kernel;
	struct conv_mds m = {0};
	dnnl_primitive_attr_t attr = NULL;
	dnnl_primitive_t p = NULL;
	if (init_mds(&m, k) == dnnl_success && make_attr(&attr, k, &m.dst) == dnnl_success) {
		struct api_conv c = describe(k, &m);
		p = onednn_fast_conv(&c, attr);
	}
	if (attr)
		dnnl_primitive_attr_destroy(attr);
	done_mds(&m);
	return p;
}

// The best that there is: everything in one primitive, or the epilogue apart.
dnnl_primitive_t conv_desc_choose(struct onednn_conv *k)
{
	dnnl_primitive_t p = NULL;
	k->fused = !swish_serves(&k->task.epi.act); // ours is faster
	if (k->fused)
		p = conv_desc_make(k);
	if (p)
		return p;
	k->fused = false;
	return conv_desc_make(k);
}

static bool zero_stays(const struct act *a)
{
	float zero = 0.0f;
	elt_act(a, &zero, &zero, 1);
	return zero == 0.0f;
}

void conv_desc_clear_padding(float *y, const struct conv_geometry *g, const struct act *act)
{
	int64_t block = layout_block(), used = g->oc % block, plane = g->oh * g->ow;
	if (!used || zero_stays(act))
		return;
	for (int64_t n = 0; n < g->n; n++) {
		float *last = y + ((n + 1) * ((g->oc + block - 1) / block) - 1) * plane * block;
		for (int64_t i = 0; i < plane; i++)
			memset(last + i * block + used, 0, (size_t)(block - used) * sizeof *y);
	}
}
