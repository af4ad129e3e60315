// Questions about edits that are not made yet.
#include <stdlib.h>
#include "plan_impl.h"

// In a fused group all members get it: none comes after the last.
static void want(struct edits *e, const struct plan *bare, int node, enum precision p)
{
	const struct group *g = &bare->group[node];
	e->precision[node] = (signed char)p;
	for (int i = 0; g->kind != GROUP_NONE && i <= g->last; i++)
		if (bare->group[i].kind != GROUP_NONE && bare->group[i].last == g->last)
			e->precision[i] = (signed char)p;
}

static const char *reason_for(const struct plan *p, int node)
{
	for (int i = 0; i < p->n_refused; i++)
		if (p->refused[i].node == node)
			return p->refused[i].reason;
	return NULL;
}

static enum status refuse(const char *name, const char *reason, struct error *err)
{
	return error_set(err, STATUS_REFUSED, "%s: %s", name, reason);
}

struct plan *plan_bare(const struct graph *g, const struct target *t)
{
	return plan_outline(g, t, NULL);
}

// Edits that ask for the node's width and, so far, nothing else.
static struct edits *wish(const struct plan *bare, int node, enum precision p)
{
	struct edits *e = edits_new(bare->g);
	want(e, bare, node, p);
	return e;
}

// Asked of a plan that has only these edits of the node, which it frees.
static enum status ask_plan(const struct plan *bare, int node, struct edits *e, struct error *err)
{
	struct plan *with = plan_outline(bare->g, bare->target, e);
	const char *reason = reason_for(with, node);
	enum status st = reason ? refuse(bare->g->node[node].name, reason, err) : STATUS_OK;
	plan_free(&with);
	edits_free(&e);
	return st;
}

static bool is_part_of(const struct plan *p, int node, int last)
{
	return p->group[node].kind != GROUP_NONE && p->group[node].last == last;
}

// Parts of one operator that are set alike go on together.
static void take_along(struct edits *then, const struct plan *bare, const struct edits *e, int node, int want)
{
	for (int i = 0; e->precision[node] >= 0 && bare->group[node].kind != GROUP_NONE && i <= bare->group[node].last; i++)
		if (is_part_of(bare, i, bare->group[node].last) && e->precision[i] == e->precision[node])
			then->precision[i] = (signed char)want;
}

// Where the operator of one of the nodes has another width than it was set to, all of its parts are set.
static void take_what_decides(struct edits *then, const struct plan *bare, const int *nodes, int n, int want)
{
	struct plan *with = plan_outline(bare->g, bare->target, then);
	bool *asks = xcalloc((size_t)bare->g->n_nodes + 1, sizeof *asks);
	for (int i = 0; i < n; i++) {
		int wanted = want < 0 ? (int)bare->precision[nodes[i]] : want;
		asks[with->group[nodes[i]].last] |= with->group[nodes[i]].kind != GROUP_NONE && (int)with->precision[nodes[i]] != wanted;
	}
	for (int i = 0; i < bare->g->n_nodes; i++)
		if (with->group[i].kind != GROUP_NONE && asks[with->group[i].last])
			then->precision[i] = (signed char)want;
	plan_free(&with);
	free(asks);
}

int plan_operator_nodes(const struct plan *bare, const struct edits *e, const int *nodes, int n, int want, int *out)
{
	struct edits *then = edits_copy(e);
	bool *given = xcalloc((size_t)bare->g->n_nodes + 1, sizeof *given), grouped = false;
	int count = 0;
	for (int i = 0; i < n; i++) {
		given[nodes[i]] = true;
		then->precision[nodes[i]] = (signed char)want;
		take_along(then, bare, e, nodes[i], want);
		grouped |= bare->group[nodes[i]].kind != GROUP_NONE;
	}
	if (grouped)
		take_what_decides(then, bare, nodes, n, want);
	for (int i = 0; grouped && i < bare->g->n_nodes; i++)
		if (!given[i] && then->precision[i] != e->precision[i])
			out[count++] = i;
	edits_free(&then);
	free(given);
	return count;
}

// 8 bit is what every node gets that nobody edits: a plan that asks for it has the structure of the bare one.
enum status plan_check_edit(const struct plan *bare, int node, enum precision p, struct error *err)
{
	return p == PREC_INT8 && bare->precision[node] == p ? STATUS_OK : ask_plan(bare, node, wish(bare, node, p), err);
}

enum status plan_check_scale(const struct plan *p, int value, double scale, int32_t zero, bool wide, struct error *err)
{
	char text[400];
	int node = p->g->value[value].producer;
	if (plan_takes_scale(p, value, scale, zero, wide, text, sizeof text))
		return STATUS_OK;
	if (node >= 0 && p->precision[node] == PREC_FLOAT) { // which may be quantized by an edit
		struct edits *e = wish(p, node, PREC_INT8);
		edits_give_scale(e, value, scale, zero);
		return ask_plan(p, node, e, err);
	}
	return refuse(node >= 0 ? p->g->node[node].name : p->g->value[value].name, text, err);
}

enum status plan_check_calibrator(const struct plan *bare, int node, struct error *err)
{
	char text[400];
	const struct node *n = &bare->g->node[node];
	if (bare->precision[node] == PREC_FLOAT) {
		struct edits *e = wish(bare, node, PREC_INT8);
		e->calibrator[node] = CALIB_MINMAX;
		return ask_plan(bare, node, e, err);
	}
	int *slot = xcalloc((size_t)n->n_in + (size_t)n->n_out + 1, sizeof *slot),
	    count = plan_calibrated_slots(bare, node, slot, text, sizeof text);
	free(slot);
	return count > 0 ? STATUS_OK : refuse(n->name, text, err);
}

static bool is_follower(const struct plan *bare, int node)
{
	return is_passive(bare, bare->group[node].last);
}

static bool is_edited(const struct edits *e, const struct graph *g, int value)
{
	return value >= 0 && g->value[value].producer >= 0 && e->precision[g->value[value].producer] >= 0;
}

// No edit touches the node's group, what that reads or who reads it.
static bool is_clear(const struct edits *e, const struct plan *bare, int node)
{
	const struct graph *g = bare->g;
	bool clear = true;
	for (int i = bare->group[node].kind == GROUP_NONE ? node : 0; clear && i <= bare->group[node].last; i++) {
		if (i != node && (bare->group[i].kind == GROUP_NONE || bare->group[i].last != bare->group[node].last))
			continue;
		clear = e->precision[i] < 0;
		for (int k = 0; clear && k < g->node[i].n_in; k++)
			clear = !is_edited(e, g, g->node[i].in[k]);
		for (int k = 0; k < g->node[i].n_out; k++)
			for (int c = 0; clear && g->node[i].out[k] >= 0 && c < g->value[g->node[i].out[k]].n_consumers; c++)
				clear = e->precision[g->value[g->node[i].out[k]].consumer[c]] < 0;
	}
	return clear;
}

// Asks those of which nobody has asked yet and which one plan can tell of; returns how many.
static int ask(const struct plan *bare, const int *nodes, int n, enum precision p, bool followers, bool *asked, bool *refused)
{
	struct edits *e = edits_new(bare->g);
	int *at = xcalloc((size_t)n + 1, sizeof *at), count = 0;
	for (int i = 0; i < n; i++)
		if (!asked[i] && is_follower(bare, nodes[i]) == followers && (!followers || is_clear(e, bare, nodes[i]))) {
			want(e, bare, nodes[i], p);
			asked[i] = true;
			at[count++] = i;
		}
	struct plan *with = count ? plan_outline(bare->g, bare->target, e) : NULL;
	for (int i = 0; i < count; i++)
		refused[at[i]] = reason_for(with, nodes[at[i]]) != NULL;
	if (with)
		plan_free(&with);
	edits_free(&e);
	free(at);
	return count;
}

// What a node that only passes a quantizer on may have hangs on its neighbours: those are asked another time.
// The others have quantizers of their own, where no edit of another is in the way: they are asked together.
// So some plans do, and not one for each node.
int plan_check_edits(const struct plan *bare, const int *nodes, int n, enum precision p, bool *refused, struct error *err)
{
	bool *asked = xcalloc((size_t)n + 1, sizeof *asked);
	int count = 0, left = n - ask(bare, nodes, n, p, false, asked, refused);
	while (left > 0)
		left -= ask(bare, nodes, n, p, true, asked, refused);
	for (int i = n - 1; i >= 0; i--)
		if (refused[i] && ++count == 1)
			(void)!plan_check_edit(bare, nodes[i], p, err);
	free(asked);
	return count;
}

struct region {
	const struct plan *p;
	bool *in;
};

static void add_group(struct region *r, int node)
{
	const struct group *g = &r->p->group[node];
	r->in[node] = true;
	for (int i = 0; g->kind != GROUP_NONE && i < r->p->g->n_nodes; i++)
		if (r->p->group[i].kind != GROUP_NONE && r->p->group[i].last == g->last)
			r->in[i] = true;
}

enum { FARTHEST = 16 }; // operators in a row through which producers are looked for

// Who makes the data of input 0..n, through operators that only pass a quantizer on: those come along.
static void add_producers(struct region *r, int node, int depth)
{
	const struct graph *g = r->p->g;
	for (int i = 0; i < g->node[node].n_in; i++) {
		int up = g->node[node].in[i] < 0 ? -1 : g->value[g->node[node].in[i]].producer;
		if (up < 0 || r->p->priv->node[up].platform == PLATFORM_FLOAT)
			continue;
		bool inside = r->p->group[node].kind != GROUP_NONE && r->p->group[up].last == r->p->group[node].last;
		add_group(r, up);
		if ((is_passive(r->p, up) || inside) && depth > 0)
			add_producers(r, up, depth - 1);
	}
}

// A node that takes its output's scale from a quantizer elsewhere gains nothing unless that one widens too.
static void add_master(struct region *r, int node)
{
	const struct slot *out = plan_out(r->p, r->p->group[node].last, 0);
	if (out->state == SLOT_PASSIVE && out->follows >= 0)
		add_group(r, r->p->slot[out->follows].node);
}

static void add_readers_of(struct region *r, int value, int depth);

// What the node's group makes is read by those behind it on a grid of their own width, which would lose what
// 16 bit have kept: they come along, and behind those that only pass it on their readers.
static void add_readers(struct region *r, int node, int depth)
{
	const struct group *g = &r->p->group[node];
	const struct node *last = &r->p->g->node[g->kind != GROUP_NONE ? g->last : node];
	for (int o = 0; o < last->n_out; o++)
		if (last->out[o] >= 0)
			add_readers_of(r, last->out[o], depth);
}

static void add_readers_of(struct region *r, int value, int depth)
{
	const struct value *v = &r->p->g->value[value];
	for (int c = 0; c < v->n_consumers; c++) {
		int reader = v->consumer[c];
		if (r->in[reader] || r->p->priv->node[reader].platform == PLATFORM_FLOAT)
			continue;
		add_group(r, reader);
		if (is_passive(r->p, reader) && depth > 0)
			add_readers(r, reader, depth - 1);
	}
}

static bool is_read_inside(const struct region *r, int value)
{
	const struct value *v = &r->p->g->value[value];
	for (int c = 0; c < v->n_consumers; c++)
		if (r->in[v->consumer[c]])
			return true;
	return false;
}

// What a node of the region reads on its own scale, as an aligned Add does:
// left at 8 bit it would be clipped to nothing.
static void add_aligned(struct region *r)
{
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < r->p->n_slots; i++) {
			const struct slot *s = &r->p->slot[i];
			if (!s->is_output || s->state != SLOT_PASSIVE || s->follows < 0 || r->in[s->node] ||
			    !r->in[r->p->slot[s->follows].node] || !is_read_inside(r, s->value))
				continue;
			add_group(r, s->node);
			more = true;
		}
	}
}

static bool will_be_wide(const struct region *r, int node)
{
	return node >= 0 && (r->in[node] || r->p->priv->node[node].platform == 1);
}

// Quantized tensors that cross from one width to another once the region is wide.
static int count_conversions(const struct region *r)
{
	const struct graph *g = r->p->g;
	int n = 0;
	for (int i = 0; i < r->p->n_slots; i++) {
		const struct slot *s = &r->p->slot[i];
		if (s->is_output || s->parameter || s->state == SLOT_FLOAT || s->value < 0)
			continue;
		int up = g->value[s->value].producer;
		bool touches = r->in[s->node] || (up >= 0 && r->in[up]);
		if (touches && up >= 0 && r->p->priv->node[up].platform != PLATFORM_FLOAT && will_be_wide(r, up) != will_be_wide(r, s->node))
			n++;
	}
	return n;
}

int plan_widen_region(const struct plan *p, int node, bool readers, int *out, int max, int *conversions)
{
	struct region r = {.p = p, .in = xcalloc((size_t)p->g->n_nodes + 1, sizeof *r.in)};
	int n = 0;
	add_group(&r, node);
	if (p->priv->node[node].platform != PLATFORM_FLOAT) {
		for (int i = 0; i < p->g->n_nodes; i++)
			if (p->group[i].kind != GROUP_NONE && p->group[i].last == p->group[node].last && p->group[node].kind != GROUP_NONE)
				add_producers(&r, i, FARTHEST);
		add_producers(&r, node, FARTHEST);
		add_master(&r, node);
		if (readers)
			add_readers(&r, node, 16);
		add_aligned(&r);
	}
	for (int i = 0; i < p->g->n_nodes && n < max; i++)
		if (r.in[i])
			out[n++] = i;
	*conversions = count_conversions(&r);
	free(r.in);
	return n;
}
