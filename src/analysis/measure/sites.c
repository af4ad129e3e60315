// The sites of a finished plan: the places where a quantizer acts, and where their figures are kept.
// A figure is measured once: operators that give every element another place (Reshape, Transpose) leave a tensor's
// figures what they are, and those of a Concat are its inputs' together, as long as its quantizer is theirs.
#include <stdlib.h>
#include "../study/study_impl.h"

static void add_site(struct work *w, size_t *cap, enum site_kind kind, int slot, int value)
{
	const struct slot *s = &w->plan->slot[slot];
	const struct quantizer *q = &s->quant;
	w->site = xgrow(w->site, cap, (size_t)w->n_sites + 1, sizeof *w->site);
	struct site_work *sw = &w->site[w->n_sites++];
	*sw = (struct site_work){.site = {.kind = kind, .node = s->node, .slot = slot, .value = value, .state = s->state, .follows = -1,
	    .locked = s->locked, .bits = q->bits, .axis = q->axis, .n_scale = q->n, .scale = q->scale, .zero = q->zero, .qmin = q->qmin,
	    .qmax = q->qmax, .used_levels = -1}};
	if (s->follows >= 0)
		sw->site.follows = w->plan->slot[s->follows].value;
}

static bool quantizes(const struct slot *s)
{
	return s->value >= 0 && s->quant.kind != QUANT_NONE && slot_quantizes(s);
}

// An input is a site when it is quantized again: not when its producer's output already lies on the same grid.
static bool requantizes(const struct work *w, const struct slot *s)
{
	const struct graph *g = w->study->g;
	if (!quantizes(s) || s->parameter || g->value[s->value].type != DT_F32)
		return false;
	int p = g->value[s->value].producer;
	for (int i = 0; p >= 0 && i < g->node[p].n_out; i++)
		if (g->node[p].out[i] == s->value) {
			const struct slot *o = plan_out(w->plan, p, i);
			return !(o->quant.kind != QUANT_NONE && quantizer_equal(&o->quant, &s->quant));
		}
	return true;
}

// An output that an edit leaves in float though the target could quantize it,
// and that noise of quantizers in front of it reaches: its figures show that noise.
static bool stays_float(const struct work *w, const struct slot *s)
{
	const struct graph *g = w->study->g;
	int v = s->value;
	return v >= 0 && s->state == SLOT_FLOAT && w->req.edits->precision[s->node] == PREC_FLOAT && w->plan->quantizable[s->node] &&
	    g->value[v].type == DT_F32 && engine_group_value(g, w->plan, v) == v && !key_equal(w->key[SIM_FLOAT][v], w->key[SIM_FULL][v]);
}

// The node at which a group's figures stand is the one that owns the quantizer of the group's end.
static int row_of(const struct work *w, int node)
{
	const struct group *gr = &w->plan->group[node];
	return gr->kind == GROUP_NONE ? node : gr->owner;
}

static void node_sites(struct work *w, size_t *cap, int n)
{
	const struct graph *g = w->study->g;
	const struct node *node = &g->node[n];
	for (int i = 0; i < node->n_out; i++) {
		int slot = w->plan->first_out[n] + i;
		const struct slot *s = &w->plan->slot[slot];
		bool shared = s->value >= 0 && s->state == SLOT_OVERLAPPED && engine_group_value(g, w->plan, s->value) == s->value &&
		    s->quant.kind != QUANT_NONE && g->value[s->value].type == DT_F32;
		if (quantizes(s) || shared)
			add_site(w, cap, SITE_OUTPUT, slot, s->value);
		else if (stays_float(w, s))
			add_site(w, cap, SITE_FLOAT, slot, s->value);
	}
	for (int i = 0; i < node->n_in; i++) {
		int slot = w->plan->first_in[n] + i;
		const struct slot *s = &w->plan->slot[slot];
		if (quantizes(s) && s->parameter && s->quant.kind == QUANT_LINEAR && g->value[s->value].constant)
			add_site(w, cap, SITE_WEIGHT, slot, s->value);
		else if (requantizes(w, s))
			add_site(w, cap, SITE_INPUT, slot, s->value);
	}
}

static struct key pair_key(const char *what, struct key a, struct key b, struct key base)
{
	return key_add_key(key_add_key(key_add_key(key_add_text((struct key){0}, what), a), b), base);
}

static struct key backend_key(const struct work *w)
{
	return key_add_int((struct key){0}, w->study->opt.backend);
}

static void site_memos(struct work *w, struct site_work *sw)
{
	struct key base = backend_key(w);
	struct memo *m = w->study->memo;
	const struct slot *slot = &w->plan->slot[sw->site.slot];
	struct key f = w->key[SIM_FLOAT][sw->site.value], q = w->key[SIM_FULL][sw->site.value], a = w->key[SIM_ALONE][sw->site.value];
	if (!site_is_made(&sw->site)) {
		q = key_add_key(q, quantizer_key(&slot->quant));
		a = key_add_key(f, quantizer_key(&slot->quant));
	}
	if (sw->site.kind == SITE_WEIGHT) {
		q = a = key_add_key(plan_content(w->plan, sw->site.slot), quantizer_key(&slot->quant));
		base = (struct key){0};
	}
	sw->graphwise = memo_figure(m, pair_key("figure", f, q, base));
	sw->layerwise = memo_figure(m, pair_key("figure", f, a, base));
	sw->range = memo_range(m, key_add_key(f, base));
	// What is quantized again has a histogram where it is made; an input of the network is made nowhere.
	if (sw->site.kind != SITE_INPUT || w->study->g->value[sw->site.value].producer < 0) {
		bool part = w->look && sw->site.kind != SITE_WEIGHT; // counts of some elements are not mixed with those of all
		sw->hist_float = memo_hist(m, part ? key_add_text(sw->range->key, "look") : sw->range->key);
		sw->hist_quant = memo_hist(m, part ? key_add_text(sw->graphwise->key, "look") : sw->graphwise->key);
	}
}

// ---- figures of sites that are those of others together

bool node_rearranges(const struct node *n)
{
	static const enum op_id op[] = {OP_Transpose, OP_DepthToSpace, OP_SpaceToDepth, OP_Concat};
	for (size_t i = 0; i < sizeof op / sizeof *op; i++)
		if (n->op->id == op[i])
			return true;
	return n->op->flags & OPF_VIEW;
}

int node_data_inputs(const struct node *n)
{
	return n->op->id == OP_Concat ? n->n_in : 1;
}

struct composing {
	const struct work *w;
	struct site_work **at;         // [n_values] the site of a value where it is made
	const struct quantizer **grid; // [n_values] whose codes it holds when everything is quantized; NULL: floats
};

static bool same_grid(const struct quantizer *a, const struct quantizer *b)
{
	return a && b && a->axis < 0 && b->axis < 0 && quantizer_equal(a, b);
}

// The sites of what the node rearranges: their number, or 0 when one of its inputs has none.
static int parts_of(const struct composing *c, int node, struct site_work **part)
{
	const struct node *n = &c->w->study->g->node[node];
	int inputs = node_rearranges(n) ? node_data_inputs(n) : 0;
	for (int i = 0; i < inputs; i++) {
		part[i] = n->in[i] >= 0 ? c->at[n->in[i]] : NULL;
		if (!part[i])
			return 0;
	}
	return inputs;
}

// Do the codes of all inputs become codes of the output as they are?
static bool keeps_codes(const struct composing *c, int node)
{
	const struct node *n = &c->w->study->g->node[node];
	const struct slot *out = plan_out(c->w->plan, node, 0);
	for (int i = 0; i < node_data_inputs(n); i++) {
		const struct slot *in = plan_in(c->w->plan, node, i);
		const struct quantizer *grid = n->in[i] >= 0 ? c->grid[n->in[i]] : NULL;
		if (!grid || (quantizes(in) && !same_grid(&in->quant, grid)) || (quantizes(out) && !same_grid(&out->quant, grid)))
			return false;
	}
	return true;
}

// The input's grid, where quantizing this node alone does no more than put its one input on that grid; else NULL.
static const struct quantizer *only_grid(const struct work *w, const struct slot *out)
{
	const struct slot *in = plan_in(w->plan, out->node, 0);
	const struct node *n = &w->study->g->node[out->node];
	if (!node_rearranges(n) || n->op->id == OP_Concat || in->state == SLOT_FLOAT || in->quant.kind == QUANT_NONE)
		return NULL;
	return !quantizes(out) || same_grid(&in->quant, &out->quant) ? &in->quant : NULL;
}

// Floats are counted in steps of their own range, or in those of the parts' ranges: two histograms, each with a key of
// its own, so that it does not matter which plan was there first. (Sessions from before have both under the tensor's
// own.)
static void compose_floats(const struct work *w, struct site_work *sw, struct hist_memo *const *part, int n)
{
	struct key k = key_add_text((struct key){0}, "parts");
	bool open = true; // no part is a histogram that a session brought, which cannot be joined
	for (int i = 0; i < n; i++) {
		k = key_add_key(k, part[i]->key);
		open &= !part[i]->merged;
	}
	struct hist_memo *joined = memo_hist(w->study->memo, k);
	if (joined->merged || open || !sw->hist_float->merged)
		sw->hist_float = joined;
	hist_compose(sw->hist_float, part, n);
}

// Whether a tensor is measured as a whole or as its parts differs from plan to plan (an edit may leave it in float), and so
// do the last bits: the keys say which.
static struct figure *composed_figure(const struct work *w, struct figure *const *part, int n)
{
	struct key k = key_add_text((struct key){0}, "figure of parts");
	for (int i = 0; i < n; i++)
		k = key_add_key(k, part[i]->key);
	struct figure *f = memo_figure(w->study->memo, k);
	figure_compose(f, part, n);
	return f;
}

static void compose(const struct composing *c, struct site_work *sw, struct site_work *const *part, int n)
{
	const struct slot *slot = c->w->plan->slot;
	int node = slot[sw->site.slot].node;
	struct range_memo **range = xcalloc((size_t)n, sizeof *range);
	struct figure **figure = xcalloc((size_t)n, sizeof *figure);
	struct hist_memo **floats = xcalloc((size_t)n, sizeof *floats), **codes = xcalloc((size_t)n, sizeof *codes);
	for (int i = 0; i < n; i++) {
		range[i] = part[i]->range;
		figure[i] = part[i]->graphwise;
		floats[i] = part[i]->hist_float;
		codes[i] = part[i]->hist_quant;
	}
	range_compose(sw->range, range, n);
	compose_floats(c->w, sw, floats, n);
	if (keeps_codes(c, node)) {
		sw->graphwise = composed_figure(c->w, figure, n);
		hist_compose(sw->hist_quant, codes, n);
	}
	if (same_grid(only_grid(c->w, &slot[sw->site.slot]), only_grid(c->w, &slot[part[0]->site.slot])))
		sw->layerwise = composed_figure(c->w, &part[0]->layerwise, 1);
	free(range);
	free(figure);
	free(floats);
	free(codes);
}

static void note_grids(struct composing *c, int node)
{
	const struct node *n = &c->w->study->g->node[node];
	for (int i = 0; i < n->n_out; i++) {
		const struct slot *out = plan_out(c->w->plan, node, i);
		if (n->out[i] >= 0 && quantizes(out))
			c->grid[n->out[i]] = &out->quant;
		else if (n->out[i] >= 0 && node_rearranges(n) && keeps_codes(c, node))
			c->grid[n->out[i]] = c->grid[n->in[0]];
	}
}

static void compose_sites(struct work *w)
{
	const struct graph *g = w->study->g;
	size_t values = (size_t)g->n_values + 1;
	struct composing c = {.w = w, .at = xcalloc(values, sizeof *c.at), .grid = xcalloc(values, sizeof *c.grid)};
	for (int n = 0; n < g->n_nodes; n++)
		note_grids(&c, n);
	for (int i = 0; i < w->n_sites; i++) {
		struct site_work *sw = &w->site[i];
		int node = w->plan->slot[sw->site.slot].node;
		if (sw->site.kind != SITE_OUTPUT)
			continue;
		struct site_work **part = xcalloc((size_t)g->node[node].n_in + 1, sizeof *part);
		int parts = parts_of(&c, node, part);
		if (parts > 0)
			compose(&c, sw, part, parts);
		c.at[sw->site.value] = sw;
		free(part);
	}
	free(c.at);
	free(c.grid);
}

static void index_sites(struct work *w)
{
	int n = w->study->g->n_values;
	w->first_site = xcalloc((size_t)n + 2, sizeof *w->first_site);
	w->site_at = xcalloc((size_t)w->n_sites + 1, sizeof *w->site_at);
	for (int i = 0; i < w->n_sites; i++)
		w->first_site[w->site[i].site.value + 2]++;
	for (int v = 2; v <= n + 1; v++)
		w->first_site[v] += w->first_site[v - 1];
	for (int i = 0; i < w->n_sites; i++)
		w->site_at[w->first_site[w->site[i].site.value + 1]++] = i;
}

// Of an output of the network: that of the site where it is made, if there is one.
static struct figure *output_figure(const struct work *w, int value)
{
	for (int i = w->first_site[value]; i < w->first_site[value + 1]; i++)
		if (site_is_made(&w->site[w->site_at[i]].site))
			return w->site[w->site_at[i]].graphwise;
	return memo_figure(w->study->memo, pair_key("figure", w->key[SIM_FLOAT][value], w->key[SIM_FULL][value], backend_key(w)));
}

void work_sites(struct work *w)
{
	const struct graph *g = w->study->g;
	size_t cap = 0;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		engine_keys(g, w->plan, (enum sim)sim, w->key[sim]);
	for (int n = 0; n < g->n_nodes; n++)
		node_sites(w, &cap, n);
	for (int i = 0; i < w->n_sites; i++) {
		site_memos(w, &w->site[i]);
		if (site_is_made(&w->site[i].site))
			w->site[i].site.node = row_of(w, w->site[i].site.node);
	}
	compose_sites(w);
	index_sites(w);
	w->output = xcalloc((size_t)g->n_outputs + 1, sizeof *w->output);
	w->output_of = xcalloc((size_t)g->n_values + 1, sizeof *w->output_of);
	for (int i = 0; i < g->n_outputs; i++) {
		int v = g->output[i];
		w->output[i].value = v;
		w->output_of[v] = &w->output[i];
		if (g->value[v].type == DT_F32 && !g->value[v].constant)
			w->output[i].graphwise = output_figure(w, v);
	}
}

