// BatchNormalization: into the Conv, ConvTranspose or Gemm before it where that has no other reader, else as a
// depthwise Conv. In float32 and in this order of operations: g = scale / sqrt(var + eps), w *= g, b = scale * (b -
// mean) / sqrt(var + eps) + shift; so that weights agree to the bit with tools that fold at load.
#include <math.h>
#include "../proto/attr.h"
#include "pass.h"
#include "qtui/base/log.h"

struct norm {
	const float *scale, *shift, *mean, *var;
	float eps;
	int64_t channels;
};

static bool read_norm(struct norm *out, const struct draft *d, const struct draft_node *n)
{
	const struct tensor *t[5] = {0};
	if (((const struct norm_attrs *)n->n.attrs)->training) {
		log_warn(
		    "node %s (BatchNormalization) is in training mode, where it normalizes by what is in each batch: export the model for inference",
		    n->n.name);
		return false;
	}
	for (int i = 1; i < 5; i++) {
		t[i] = draft_constant(d, n, i);
		if (!t[i] || t[i]->type != DT_F32 || tensor_count(t[i]) != tensor_count(t[1]))
			return false;
	}
	for (int i = 1; i < n->n.n_out; i++)
		if (n->n.out[i] >= 0 && d->value[n->n.out[i]].uses)
			return false;
	*out = (struct norm){
	    t[1]->data, t[2]->data, t[3]->data, t[4]->data, attr_number(&n->n, "epsilon"), tensor_count(t[1])};
	return true;
}

static float gain(const struct norm *b, int64_t c)
{
	return b->scale[c] / sqrtf(b->var[c] + b->eps);
}

static float shifted(const struct norm *b, int64_t c, float bias)
{
	return b->scale[c] * (bias - b->mean[c]) / sqrtf(b->var[c] + b->eps) + b->shift[c];
}

// Of a variance that is not above 0, say. What it becomes in the weights has another name than the file gives.
static void note_norm(const struct draft_node *n, const struct norm *b)
{
	int64_t c = 0;
	while (c < b->channels && isfinite(gain(b, c)) && isfinite(shifted(b, c, 0)))
		c++;
	if (c < b->channels)
		log_warn("node %s (BatchNormalization): channel %lld has the scale %g, shift %g, mean %g and variance %g (epsilon %g), of which no "
		         "finite numbers come: export the model again",
		    n->n.name, (long long)c, (double)b->scale[c], (double)b->shift[c], (double)b->mean[c], (double)b->var[c], (double)b->eps);
}

// How output channels lie in a weight: `outer` blocks, each with `channels` runs of `inner` elements.
struct weight_axis {
	int64_t outer, channels, inner;
};

static bool find_axis(struct weight_axis *a, const struct draft_node *n, const struct shape *w)
{
	const struct gemm_attrs *gemm = n->n.attrs;
	const struct conv_attrs *conv = n->n.attrs;
	int64_t count = shape_count(w);
	if (count <= 0 || w->rank < 2)
		return false;
	switch (n->n.op->id) {
	case OP_Conv:
		*a = (struct weight_axis){1, w->dim[0], count / w->dim[0]};
		return true;
	case OP_ConvTranspose:
		*a = (struct weight_axis){w->dim[0], w->dim[1], count / w->dim[0] / w->dim[1]};
		return conv->group == 1;
	case OP_Gemm:
		*a = gemm->trans_b ? (struct weight_axis){1, w->dim[0], w->dim[1]}
		                   : (struct weight_axis){w->dim[0], w->dim[1], 1};
		return gemm->beta == 1;
	default:
		return false;
	}
}

static void scale_weight(float *w, const struct weight_axis *a, const struct norm *b)
{
	for (int64_t i = 0; i < a->outer * a->channels; i++) {
		float g = gain(b, i % a->channels);
		for (int64_t k = 0; k < a->inner; k++)
			w[i * a->inner + k] *= g;
	}
}

// New weight and bias for `n`; the old ones may have other readers.
static enum status fold_into(
    struct draft *d, struct draft_node *n, const struct weight_axis *a, const struct norm *b, struct error *err)
{
	const struct tensor *old_bias = draft_constant(d, n, 2);
	int weight, bias;
	enum status s = pass_copy_constant(&weight, d, pass_name(d, n, "weight"), draft_constant(d, n, 1), err);
	if (!s)
		s = pass_new_vector(&bias, d, pass_name(d, n, "bias"), b->channels, err);
	if (s)
		return s;
	scale_weight(d->value[weight].constant->data, a, b);
	for (int64_t c = 0; c < b->channels; c++)
		((float *)d->value[bias].constant->data)[c] =
		    shifted(b, c, old_bias ? ((float *)old_bias->data)[c] : 0);
	pass_set_input(d, n, 1, weight);
	pass_set_input(d, n, 2, bias);
	return STATUS_OK;
}

// The node before `n` when it can take the normalisation in.
static struct draft_node *host_of(
    struct weight_axis *axis, const struct draft *d, const struct draft_node *n, const struct norm *b)
{
	const struct draft_value *x = draft_in(d, n, 0);
	struct draft_node *host = x->producer;
	const struct tensor *w = host && host->fate == FATE_KEPT ? draft_constant(d, host, 1) : NULL;
	const struct tensor *bias = w ? draft_constant(d, host, 2) : NULL;
	if (!w || w->type != DT_F32 || x->uses != 1 || !find_axis(axis, host, &w->shape) ||
	    axis->channels != b->channels)
		return NULL;
	if (draft_in(d, host, 2) && (!bias || bias->type != DT_F32 || tensor_count(bias) != b->channels))
		return NULL;
	return host;
}

// As a framework initializes it: it has seen nothing.
static bool is_untrained(const struct norm *b)
{
	for (int64_t c = 0; c < b->channels; c++)
		if (b->mean[c] != 0 || b->var[c] != 1)
			return false;
	return true;
}

// Its output has the mean `shift` and the deviation |scale| on what it was trained on.
static void keep_statistics(struct draft *d, struct node *n, const struct norm *b)
{
	float *trained;
	if (is_untrained(b))
		return;
	trained = arena_alloc(d->arena, 2 * (size_t)b->channels * sizeof *trained);
	for (int64_t c = 0; c < b->channels; c++) {
		trained[c] = b->shift[c];
		trained[b->channels + c] = fabsf(b->scale[c]);
	}
	n->trained = trained;
	n->n_trained = b->channels;
}

static enum status to_conv(struct draft *d, struct draft_node *n, const struct norm *b, struct error *err)
{
	const struct shape *x = &draft_in(d, n, 0)->shape;
	struct conv_attrs *attrs;
	struct tensor w = {.type = DT_F32, .shape = {.rank = x->rank, .dim = {b->channels, 1, 1, 1}}};
	int weight, bias;
	enum status s = tensor_alloc(&w, NULL, err);
	if (s)
		return s;
	weight = draft_value_add(d, pass_name(d, n, "weight"));
	draft_set_constant(d, weight, &w);
	s = pass_new_vector(&bias, d, pass_name(d, n, "bias"), b->channels, err);
	if (s)
		return s;
	for (int64_t c = 0; c < b->channels; c++) {
		((float *)d->value[weight].constant->data)[c] = gain(b, c);
		((float *)d->value[bias].constant->data)[c] = shifted(b, c, 0);
	}
	attrs = pass_become(d, &n->n, "Conv", 11);
	attrs->group = b->channels;
	n->n.n_in = 3;
	n->n.n_out = 1;
	n->n.in[1] = weight;
	n->n.in[2] = bias;
	keep_statistics(d, &n->n, b);
	return STATUS_OK;
}

static enum status fold_norm(struct draft *d, struct draft_node *n, struct error *err)
{
	const struct draft_value *x = draft_in(d, n, 0);
	struct weight_axis axis;
	struct norm b;
	struct draft_node *host;
	enum status s;
	if (!x || !read_norm(&b, d, n) || x->shape.rank < 2 || x->shape.dim[1] != b.channels)
		return STATUS_OK;
	note_norm(n, &b);
	host = host_of(&axis, d, n, &b);
	if (!host)
		return x->shape.rank == 3 || x->shape.rank == 4 ? to_conv(d, n, &b, err) : STATUS_OK;
	s = fold_into(d, host, &axis, &b, err);
	if (s)
		return s;
	keep_statistics(d, &host->n, &b);
	host->n.out[0] = n->n.out[0];
	d->value[n->n.out[0]].producer = host;
	draft_fuse(n, host);
	return STATUS_OK;
}

enum status pass_batchnorm(struct draft *d, struct error *err)
{
	enum status s = STATUS_OK;
	draft_count_uses(d);
	for (size_t i = 0; i < d->n_nodes && !s; i++)
		if (d->node[i]->fate == FATE_KEPT && d->node[i]->n.op->id == OP_BatchNormalization)
			s = fold_norm(d, d->node[i], err);
	return s;
}
