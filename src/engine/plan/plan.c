// Builds a plan: PPQ's passes in PPQ's order (docs/NUMERICS.md, The plan). plan_new settles the structure;
// plan_finish goes back to the states of calibration, puts the observed scales in, and aligns again, now with numbers.
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "plan_impl.h"

static int count_slots(const struct graph *g)
{
	int n = 0;
	for (int i = 0; i < g->n_nodes; i++)
		n += g->node[i].n_in + g->node[i].n_out;
	return n;
}

static void *zeroed(struct arena *a, int n, size_t size)
{
	return arena_alloc(a, ((size_t)n + 1) * size);
}

static atomic_uint_fast64_t plans; // made so far

static struct plan *plan_alloc(const struct graph *g, const struct target *t, enum calib_method m)
{
	struct arena *a = arena_new();
	struct plan *p = xcalloc(1, sizeof *p);
	struct plan_priv *v = arena_alloc(a, sizeof *v);
	int nodes = g->n_nodes;
	*p = (struct plan){.id = atomic_fetch_add(&plans, 1) + 1, .g = g, .target = t, .method = m, .n_slots = count_slots(g), .priv = v};
	int slots = p->n_slots;
	v->arena = a;
	p->slot = zeroed(a, slots, sizeof *p->slot);
	p->first_in = zeroed(a, nodes, sizeof *p->first_in);
	p->first_out = zeroed(a, nodes, sizeof *p->first_out);
	p->precision = zeroed(a, nodes, sizeof *p->precision);
	p->group = zeroed(a, nodes, sizeof *p->group);
	p->quantizable = zeroed(a, nodes, sizeof *p->quantizable);
	p->stand_in = zeroed(a, nodes, sizeof *p->stand_in);
	v->node = zeroed(a, nodes, sizeof *v->node);
	v->slot = zeroed(a, slots, sizeof *v->slot);
	v->before = zeroed(a, slots, sizeof *v->before);
	return p;
}

void plan_free(struct plan **p)
{
	if (!*p)
		return;
	free((*p)->observe);
	free((*p)->refused);
	tuning_drop(&(*p)->tuning);
	struct arena *a = (*p)->priv->arena;
	arena_free(&a);
	free(*p);
	*p = NULL;
}

static void save_slots(struct plan *p)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; i < p->n_slots; i++)
		v->before[i] = (struct slot_before){p->slot[i].state, v->slot[i].dominator, v->slot[i].scale, v->slot[i].zero};
}

static void restore_slots(struct plan *p)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; i < p->n_slots; i++) {
		p->slot[i].state = v->before[i].state;
		v->slot[i].dominator = v->before[i].dominator;
		v->slot[i].scale = v->before[i].scale;
		v->slot[i].zero = v->before[i].zero;
	}
}

// Mul of a merged Swish reads the tensor that the Sigmoid reads: the same quantizer, not another one.
static void mirror_swish_input(struct plan *p, int sigmoid, int mul)
{
	const struct node *m = &p->g->node[mul];
	int from = p->first_in[sigmoid], to = p->first_in[mul] + (m->in[0] == p->g->node[sigmoid].in[0] ? 0 : 1);
	enum slot_state state = p->slot[from].state;
	if (state == SLOT_FLOAT)
		return;
	p->slot[to].state = state == SLOT_ACTIVE ? SLOT_PASSIVE : state;
	p->slot[to].quant = p->slot[from].quant;
	p->priv->slot[to].dominator = from;
}

// Who follows whom, for readers of the plan.
static void publish_follows(struct plan *p)
{
	for (int i = 0; i < p->g->n_nodes; i++)
		if (p->priv->node[i].merged > i)
			mirror_swish_input(p, i, p->priv->node[i].merged);
	for (int i = 0; i < p->n_slots; i++) {
		struct slot *s = &p->slot[i];
		int root = plan_root(p, i);
		bool follows = root != i && (s->state == SLOT_OVERLAPPED || s->state == SLOT_PASSIVE);
		s->follows = follows ? root : -1;
	}
}

static void build_structure(struct plan *p, const struct edits *e)
{
	plan_dispatch(p, e);
	plan_make_slots(p);
	plan_fuse(p);
	plan_simplify(p);
	plan_describe(p, e);
	plan_lock(p, e);
	plan_give_calibrators(p, e);
}

struct plan *plan_outline(const struct graph *g, const struct target *t, const struct edits *e)
{
	struct plan *p = plan_alloc(g, t, target_default_calibration(t));
	build_structure(p, e);
	publish_follows(p);
	return p;
}

enum status plan_new(struct plan **out, const struct graph *g, const struct target *t, enum calib_method m,
    const struct edits *e, struct plan_cache *c, struct error *err)
{
	struct plan *p = plan_alloc(g, t, m);
	p->tuning = tuning_take(e->tuning);
	build_structure(p, e);
	enum status st = plan_constants(p, c, err);
	if (st) {
		plan_free(&p);
		return st;
	}
	save_slots(p);
	plan_align(p);
	plan_passive(p);
	publish_follows(p);
	plan_list_observations(p);
	*out = p;
	return STATUS_OK;
}

static void place_observed(struct plan *p, const float *scale, const int32_t *zero)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; i < p->n_observe; i++) {
		p->observe[i].scale = scale[i];
		p->observe[i].zero = zero[i];
	}
	for (int i = 0; i < p->n_slots; i++) {
		int o = p->slot[i].observe;
		if (o < 0)
			continue;
		v->slot[i].scale = scale[o];
		v->slot[i].zero = zero[o];
	}
}

// Gives every per-tensor slot the scale of its root; a PASSIVE slot keeps its own bits.
static void publish_quantizers(struct plan *p)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; i < p->n_slots; i++) {
		struct slot *s = &p->slot[i];
		if (s->state == SLOT_FLOAT || s->quant.axis >= 0)
			continue;
		int root = plan_root(p, i);
		if (s->state == SLOT_OVERLAPPED)
			s->quant = p->slot[root].quant;
		if (s->state == SLOT_PASSIVE && slot_has_fixed_scale(p, &p->slot[root]) && s->quant.bits == p->slot[root].quant.bits) {
			s->quant.qmin = p->slot[root].quant.qmin;
			s->quant.qmax = p->slot[root].quant.qmax;
		}
		s->quant.scale = &v->slot[root].scale;
		s->quant.zero = &v->slot[root].zero;
		s->quant.n = 1;
	}
}

// Whose scale an observer has not found, since nothing in its tensor is finite, stays float with all that has it.
// Alignment brings in tensors that nobody observed, as the scale is another's: of these `aligned` asks.
static bool lacks_scale(const struct plan *p, int slot, bool aligned)
{
	const struct slot *s = &p->slot[slot];
	if (s->parameter || s->state == SLOT_FLOAT || s->quant.axis >= 0)
		return false;
	int root = plan_root(p, slot);
	return p->priv->slot[root].scale == 0 && (aligned || p->slot[root].observe >= 0);
}

static void spare_unranged(struct plan *p, bool aligned)
{
	for (int i = 0; i < p->n_slots; i++)
		if (lacks_scale(p, i, aligned))
			p->slot[i].state = SLOT_FLOAT;
}

static bool is_unranged(const struct plan *p)
{
	int i = 0;
	while (i < p->n_observe && p->observe[i].scale > 0)
		i++;
	return i < p->n_observe;
}

enum status plan_finish(struct plan *p, const float *scale, const int32_t *zero, const struct edits *e, struct error *err)
{
	assert(!p->finished);
	for (int i = 0; i < p->n_observe; i++)
		if (!(scale[i] >= 0)) {
			error_set(err, STATUS_FORMAT, "its observer gave no scale; run the calibration again");
			return graph_error(p->g, p->observe[i].value, err);
		}
	if (p->target->kind == TARGET_LINEAR) {
		restore_slots(p);
		place_observed(p, scale, zero);
		plan_apply_overrides(p, e);
		spare_unranged(p, false);
		plan_align(p);
		spare_unranged(p, true);
		plan_passive(p);
		plan_refine(p);
		publish_follows(p);
		publish_quantizers(p);
		plan_bias_scales(p);
		if (is_unranged(p))
			plan_describe_unranged(p, e);
	}
	p->finished = true;
	return STATUS_OK;
}

const struct quantizer *slot_quantizer(const struct slot *s)
{
	return slot_quantizes(s) ? &s->quant : NULL;
}
