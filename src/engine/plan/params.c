// Quantizers of constants. A weight's scales depend on its content and the settings only,
// so they are kept between plans.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "plan_impl.h"
#include "qtui/engine/op.h"

struct cached {
	int n;
	float *scale;
	int32_t *zero;
};
struct plan_cache {
	struct keymap *map;
};

struct plan_cache *plan_cache_new(void)
{
	struct plan_cache *c = xcalloc(1, sizeof *c);
	c->map = keymap_new();
	return c;
}

static void cached_free(struct key k, void *value, void *arg)
{
	struct cached *e = value;
	(void)k;
	(void)arg;
	free(e->scale);
	free(e->zero);
	free(e);
}

void plan_cache_free(struct plan_cache **c)
{
	if (!*c)
		return;
	keymap_each((*c)->map, cached_free, NULL);
	keymap_free(&(*c)->map);
	free(*c);
	*c = NULL;
}

// The channels of a tensor along an axis; -1: all of it is one. Each has `outer` pieces of `inner` elements.
struct channels_of {
	const float *data;
	int64_t n, outer, inner;
};

static struct channels_of channels_of(const struct tensor *x, int axis)
{
	struct channels_of t = {x->data, axis < 0 ? 1 : x->shape.dim[axis], 1, 1};
	for (int i = 0; i < x->shape.rank; i++)
		if (i != axis)
			*(i < axis ? &t.outer : &t.inner) *= x->shape.dim[i];
	return t;
}

// The pieces of `n` channels from channel c on, one channel behind the other.
static void gather_channels(float *dst, const struct channels_of *t, int64_t c, int64_t n)
{
	for (int64_t i = 0; i < t->outer; i++)
		for (int64_t k = 0; k < n; k++) {
			const float *from = t->data + (i * t->n + c + k) * t->inner;
			float *to = dst + (k * t->outer + i) * t->inner;
			if (t->inner == 1)
				*to = *from;
			else
				memcpy(to, from, (size_t)t->inner * sizeof *to);
		}
}

static void observe_channel(struct cached *e, int64_t c, const struct observer_setup *s, const float *data, int64_t n)
{
	struct tensor x = {.type = DT_F32, .data = (void *)data, .shape = shape_of(1, &n)};
	struct observer *o = observer_make(s);
	for (int phase = 0; phase < observer_phases(o); phase++)
		observer_feed(o, phase, 0, &x);
	observer_finish(o, &e->scale[c], &e->zero[c]);
	observer_free(&o);
}

// Channels in pieces are put together a few at a time: what lies beside an element is in the cache then, and a copy
// of the whole may be too large.
static enum status observe_channels(struct cached *e, const struct observer_setup *s, const struct channels_of *t, struct error *err)
{
	enum { AT_ONCE = 16 };
	int64_t size = t->outer * t->inner, step = t->outer == 1 ? t->n : AT_ONCE < t->n ? AT_ONCE : t->n;
	float *room = t->outer == 1 ? NULL : mem_try_array((size_t)(step * size) + 1, sizeof *room);
	if (t->outer != 1 && !room)
		return error_set(err, STATUS_NOMEM, "no memory to find its scale");
	for (int64_t c = 0; c < t->n; c += step) {
		int64_t n = t->n - c < step ? t->n - c : step;
		const float *data = room ? room : t->data;
		if (room)
			gather_channels(room, t, c, n);
		for (int64_t k = 0; k < n; k++)
			observe_channel(e, c + k, s, data + k * size, size);
	}
	free(room);
	return STATUS_OK;
}

static enum status measure_constant(struct cached **out, const struct graph *g, int value, const struct observer_setup *s,
    struct error *err)
{
	struct channels_of t = channels_of(g->value[value].constant, s->quant.axis);
	struct cached *e = xcalloc(1, sizeof *e);
	e->n = (int)t.n;
	e->scale = xcalloc((size_t)t.n + 1, sizeof *e->scale);
	e->zero = xcalloc((size_t)t.n + 1, sizeof *e->zero);
	enum status st = observe_channels(e, s, &t, err);
	if (!st) {
		*out = e;
		return st;
	}
	cached_free((struct key){0}, e, NULL);
	return graph_error(g, value, err);
}

static struct observer_setup constant_setup(const struct plan *p, const struct slot *s)
{
	const struct op_rule *rule = p->priv->node[s->node].rule;
	bool weight = s->index == 1 && rule->weight.weighted;
	return (struct observer_setup){.target = p->target, .quant = scale_chosen_for(p->target, &s->quant), .samples = 1,
		.method = weight ? rule->weight.observer : p->target->constants,
		.kl_bins = node_width(p, s->node)->kl_bins, .floor = -INFINITY};
}

// The cache owns what it has; without one, *mine is to be freed.
static enum status find_constant(const struct cached **out, struct cached **mine, const struct plan *p,
    const struct slot *s, struct plan_cache *c, struct error *err)
{
	const struct value *value = &p->g->value[s->value];
	struct observer_setup setup = constant_setup(p, s);
	struct key content = key_is_zero(value->content) ? key_of(value->constant->data, tensor_bytes(value->constant)) : value->content;
	struct key k = key_add_int(key_add_key(observer_setup_key(&setup), content), setup.quant.axis);
	struct cached *e = c ? keymap_get(c->map, k) : NULL;
	if (!e) {
		enum status st = measure_constant(&e, p->g, s->value, &setup, err);
		if (st)
			return st;
		if (c)
			keymap_put(c->map, k, e);
		else
			*mine = e;
	}
	*out = e;
	return STATUS_OK;
}

// Of a mask's -infinity nothing is finite, nor of weights that training has lost: no step is right for them.
static bool has_all_scales(const struct cached *e)
{
	int i = 0;
	while (i < e->n && e->scale[i] > 0)
		i++;
	return i == e->n;
}

static void take_constant(struct plan *p, int slot, const struct cached *e)
{
	struct plan_priv *v = p->priv;
	struct slot *s = &p->slot[slot];
	v->slot[slot].from = SCALE_CONSTANT;
	v->slot[slot].scale = e->scale[0];
	v->slot[slot].zero = e->zero[0];
	s->quant.n = e->n;
	s->quant.scale = arena_memdup(v->arena, e->scale, (size_t)e->n * sizeof *e->scale);
	s->quant.zero = arena_memdup(v->arena, e->zero, (size_t)e->n * sizeof *e->zero);
	if (p->target->calibration.rounded_weights)
		v->slot[slot].calibration = arena_memdup(v->arena, &s->quant, sizeof s->quant);
}

// Constants that are codes already, signed or not: 2, -1, a row of strides.
static bool is_whole(const struct tensor *x, double low)
{
	const float *data = x->data;
	int64_t n = tensor_count(x), i = 0;
	while (i < n && data[i] >= low && data[i] <= low + 255 && data[i] == floorf(data[i]))
		i++;
	return i == n;
}

static bool take_whole(struct plan *p, int slot)
{
	const struct slot *s = &p->slot[slot];
	const struct tensor *x = p->g->value[s->value].constant;
	float scale = 1;
	int32_t zero = 0;
	bool fits = p->target->whole_constants && !(p->priv->node[s->node].rule->flags & RULE_COMPUTING) && s->quant.qmin == -128;
	if (!fits || (!is_whole(x, -128) && !is_whole(x, 0)))
		return false;
	if (!is_whole(x, -128))
		zero = (int32_t)s->quant.qmin;
	take_constant(p, slot, &(struct cached){.n = 1, .scale = &scale, .zero = &zero});
	return true;
}

int64_t plan_lost_divisors(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	const struct slot *s = n->op->id == OP_Div ? plan_in(p, node, 1) : NULL;
	int64_t lost = 0;
	if (!s || !s->parameter || s->quant.kind != QUANT_LINEAR || !s->quant.scale)
		return 0;
	const struct tensor *x = p->g->value[s->value].constant;
	for (int64_t i = 0, count = tensor_count(x); i < count; i++) {
		float divisor = ((const float *)x->data)[i];
		lost += divisor != 0 && quantize_one(&s->quant, 0, divisor) == s->quant.zero[0];
	}
	return lost;
}

// The frequencies 1 .. 10000 of a sine's positions on one scale of 8 bits:
// what they divide would be infinite, and no figure behind it a number.
static void spare_divisor(struct plan *p, int slot)
{
	struct slot *s = &p->slot[slot];
	if (s->is_output || plan_lost_divisors(p, s->node) == 0 || s != plan_in(p, s->node, 1))
		return;
	s->state = SLOT_FLOAT;
	p->priv->slot[slot].calibration = NULL;
}

// Biases of a recurrence are still floats while observers watch.
static bool take_step_scale(struct plan *p, int slot)
{
	const struct slot *s = &p->slot[slot];
	float scale = p->priv->node[s->node].rule->step_scale;
	int32_t zero = 0;
	if (scale <= 0 || s->index != RNN_BIAS)
		return false;
	take_constant(p, slot, &(struct cached){.n = 1, .scale = &scale, .zero = &zero});
	p->priv->slot[slot].calibration = NULL;
	return true;
}

const struct quantizer *plan_calibration_quantizer(const struct plan *p, int slot)
{
	return p->priv->slot[slot].calibration;
}

static void take_cell(struct plan *p, int node)
{
	struct plan_priv *v = p->priv;
	int slot = p->first_out[node] + RNN_CELL;
	if (v->node[node].rule->step_scale <= 0 || p->g->node[node].n_out <= RNN_CELL || p->slot[slot].quant.kind != QUANT_LINEAR)
		return;
	v->slot[slot].from = SCALE_FIXED;
	v->slot[slot].scale = v->node[node].rule->step_scale;
	v->slot[slot].zero = 0;
}

// Outputs whose range is known beforehand (Softmax: 0 to 1).
static void take_fixed(struct plan *p)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; i < p->g->n_nodes; i++) {
		const struct op_rule *rule = v->node[i].rule;
		int slot = p->first_out[i];
		take_cell(p, i);
		if ((!rule->fixed_range.known && rule->fixed_scale.scale <= 0) || p->g->node[i].n_out < 1 ||
		    p->slot[slot].quant.kind != QUANT_LINEAR)
			continue;
		struct quantizer q = scale_chosen_for(p->target, &p->slot[slot].quant);
		v->slot[slot].from = SCALE_FIXED;
		if (rule->fixed_range.known)
			scale_of_range(&v->slot[slot].scale, &v->slot[slot].zero, p->target, &q, rule->fixed_range.low, rule->fixed_range.high);
		if (rule->fixed_scale.scale > 0) {
			v->slot[slot].scale = rule->fixed_scale.scale;
			v->slot[slot].zero = scale_clamp_zero(&q, rule->fixed_scale.zero);
		}
	}
}

static bool has_zeros(const struct quantizer *q)
{
	int i = 0;
	while (i < q->n && q->zero[i] >= q->qmin && q->zero[i] <= q->qmax)
		i++;
	return i == q->n;
}

// A tuned weight that brings its grid has it where it is the one that it was made for: as many bits, as many scales.
// Observers go on seeing the graph's own weight on its own grid.
static void take_tuned_grid(struct plan *p, int slot)
{
	struct slot *s = &p->slot[slot];
	const struct tuned *t = s->is_output || s->index != 1 ? NULL : tuning_of(p->tuning, s->node);
	const struct quantizer *seen = p->priv->slot[slot].calibration;
	if (!t || !t->scale.data || s->quant.kind != QUANT_LINEAR || tensor_count(&t->scale) != s->quant.n)
		return;
	struct quantizer q = s->quant;
	q.scale = t->scale.data;
	q.zero = t->zero.data;
	if (!key_equal(quantizer_key(&q), t->grid) || !has_zeros(&q))
		return;
	take_constant(p, slot, &(struct cached){.n = q.n, .scale = t->scale.data, .zero = t->zero.data});
	p->priv->slot[slot].calibration = seen;
	s->locked = true;
}

static void take_measured(struct plan *p, int slot, const struct cached *e)
{
	if (!has_all_scales(e)) {
		p->slot[slot].state = SLOT_FLOAT;
		return;
	}
	take_constant(p, slot, e);
	take_tuned_grid(p, slot);
	spare_divisor(p, slot);
}

enum status plan_constants(struct plan *p, struct plan_cache *c, struct error *err)
{
	take_fixed(p);
	for (int i = 0; i < p->n_slots && p->target->kind == TARGET_LINEAR; i++) {
		const struct slot *s = &p->slot[i];
		const struct cached *e = NULL;
		struct cached *mine = NULL;
		if (!s->parameter || s->state != SLOT_ACTIVE || tensor_count(p->g->value[s->value].constant) < 1 || take_whole(p, i) ||
		    take_step_scale(p, i))
			continue;
		enum status st = find_constant(&e, &mine, p, s, c, err);
		if (st)
			return st;
		take_measured(p, i, e);
		if (mine)
			cached_free((struct key){0}, mine, NULL);
	}
	return STATUS_OK;
}

// Clip's limits and Pad's value are in units of the tensor that they work on.
static void follow_input(struct plan *p, int node)
{
	unsigned follow = p->priv->node[node].rule->follow_in;
	if (!follow || p->priv->node[node].platform == PLATFORM_FLOAT || plan_in(p, node, 0)->state == SLOT_FLOAT)
		return;
	for (int i = 1; i < p->g->node[node].n_in && i < 32; i++)
		if ((follow >> i & 1) && plan_in(p, node, i)->quant.kind == QUANT_LINEAR)
			plan_master(p, p->first_in[node] + i, p->first_in[node]);
}

static void settle_bias(struct plan *p, int slot)
{
	struct slot *s = &p->slot[slot];
	if (plan_in(p, s->node, 0)->state == SLOT_FLOAT || plan_in(p, s->node, 1)->state == SLOT_FLOAT)
		s->state = SLOT_FLOAT;
}

void plan_passive(struct plan *p)
{
	for (int i = 0; i < p->g->n_nodes; i++)
		follow_input(p, i);
	for (int i = 0; i < p->n_slots; i++)
		if (p->slot[i].state != SLOT_FLOAT && slot_is_bias(p, &p->slot[i]))
			settle_bias(p, i);
}

// The weights of a channel that is nearly dead have steps so small that its bias would be beyond 32 bits in units of
// them. They get a coarser one.
static void make_room_for_bias(struct plan *p, const struct slot *s, float in)
{
	struct quantizer *w = &plan_in(p, s->node, 1)->quant;
	const struct tensor *bias = p->g->value[s->value].constant;
	float *scale = arena_memdup(p->priv->arena, w->scale, (size_t)w->n * sizeof *scale);
	double most = (double)s->quant.qmax / p->target->bias.headroom;
	int64_t n = tensor_count(bias);
	for (int64_t i = 0; i < n; i++) {
		float *step = &scale[i % w->n];
		double least = fabs((double)((const float *)bias->data)[i]) / most, now = (double)in * *step;
		if (now > 0 && now < least)
			*step = (float)(*step * (least / now));
	}
	w->scale = scale;
}

// One scale an output channel: input's times weight's. Weights of grouped transposed
// convolutions have fewer than biases.
static void bias_scale(struct plan *p, struct slot *s)
{
	struct plan_priv *v = p->priv;
	const struct tensor *bias = p->g->value[s->value].constant;
	const struct quantizer *w = &plan_in(p, s->node, 1)->quant;
	float in = v->slot[plan_root(p, p->first_in[s->node])].scale;
	int64_t n = tensor_count(bias);
	int last = bias->shape.rank - 1;
	bool channels = s->quant.axis >= 0 && w->n > 1;
	if (channels && (last < 0 || bias->shape.dim[last] != n || n % w->n != 0)) {
		s->state = SLOT_FLOAT; // a bias that is no vector of channels
		return;
	}
	if (p->target->bias.widens_weights && !plan_in(p, s->node, 1)->locked)
		make_room_for_bias(p, s, in);
	s->quant.axis = channels ? last : AXIS_TENSOR;
	s->quant.n = channels ? (int)n : 1;
	float *scale = arena_alloc(v->arena, (size_t)s->quant.n * sizeof *scale);
	for (int i = 0; i < s->quant.n; i++)
		scale[i] = w->scale[i % w->n] * in;
	s->quant.scale = scale;
	s->quant.zero = arena_alloc(v->arena, (size_t)s->quant.n * sizeof *s->quant.zero);
}

void plan_bias_scales(struct plan *p)
{
	for (int i = 0; i < p->n_slots; i++)
		if (p->slot[i].state == SLOT_PASSIVE && slot_is_bias(p, &p->slot[i]))
			bias_scale(p, &p->slot[i]);
}

// The tuned constants of a node where they are in force, or NULL: a weight that the plan leaves in float,
// or puts on another grid than it was tuned for, is the graph's own, and so is its bias.
static const struct tuned *tuned_here(const struct plan *p, int node)
{
	const struct tuned *t = tuning_of(p->tuning, node);
	const struct quantizer *q = t ? slot_quantizer(plan_in(p, node, 1)) : NULL;
	return q && key_equal(quantizer_key(q), t->grid) ? t : NULL;
}

const struct tensor *plan_constant(const struct plan *p, int slot)
{
	const struct slot *s = &p->slot[slot];
	const struct tuned *t = tuned_here(p, s->node);
	const struct tensor *x = t ? tuned_input(t, s->index) : NULL;
	return x ? x : p->g->value[s->value].constant;
}

struct key plan_content(const struct plan *p, int slot)
{
	const struct slot *s = &p->slot[slot];
	const struct tuned *t = tuned_here(p, s->node);
	if (t && s->index == 1)
		return t->weight_key;
	return t && s->index == 2 && t->bias.data ? t->bias_key : p->g->value[s->value].content;
}
