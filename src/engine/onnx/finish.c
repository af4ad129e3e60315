// The end of a draft: live nodes and the values they touch get their final ids; every node of the file gets its origin.
#include <math.h>
#include <stdlib.h>
#include "draft.h"
#include "proto/proto.h"
#include "qtui/base/log.h"
#include "qtui/engine/minifloat.h"

struct finisher {
	struct draft *d;
	struct graph *g;
	int *id; // of a draft value: its final id, or -1
};

// Sixteen at a time, which become vectors.
static bool has_nan(const float *v, size_t n)
{
	int nan = 0;
	for (; n >= 16; n -= 16, v += 16)
		for (int i = 0; i < 16; i++)
			nan |= isnan(v[i]);
	while (n-- > 0)
		nan |= isnan(v[n]);
	return nan;
}

// Behind a Relu, which is a maximum with 0, a NaN may be a 0 again, and the figures look sound.
static void note_constant(struct value *v)
{
	v->content = tensor_key(v->constant);
	if (v->type == DT_F32 && has_nan(v->constant->data, (size_t)tensor_count(v->constant)))
		log_warn("the model's constant '%s' holds NaN, so that no figure means much: export it again", v->name);
}

// What is known only when it runs (DT_NONE) is what the file declares.
static int float_bytes(const struct draft_value *v)
{
	if ((v->type != DT_F32 && v->type != DT_NONE) || !(v->is_input || v->is_output))
		return 0;
	return v->elements == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ? 2 : v->elements == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE ? 8 : 0;
}

static int final_value(struct finisher *f, int draft_id)
{
	int from = draft_resolve(f->d, draft_id);
	struct draft_value *v;
	struct value *out;
	if (from < 0)
		return -1;
	if (f->id[from] >= 0)
		return f->id[from];
	v = &f->d->value[from];
	out = &f->g->value[f->g->n_values];
	*out = (struct value){
	    .name = v->name,
	    .type = v->type,
	    .shape = v->shape,
	    .producer = -1,
	    .constant = v->constant,
	    .is_input = v->is_input,
	    .is_output = v->is_output,
	    .float_bytes = float_bytes(v),
	    .fixed = v->fixed,
	    .minifloat = v->type == DT_F32 && is_minifloat(v->elements) ? v->elements : 0,
	};
	if (out->constant)
		note_constant(out);
	v->constant = NULL; // its count has moved
	return f->id[from] = f->g->n_values++;
}

static int *final_values(struct finisher *f, const int *draft_ids, int n)
{
	int *out = arena_alloc(f->g->arena, ((size_t)n + 1) * sizeof(int));
	for (int i = 0; i < n; i++)
		out[i] = final_value(f, draft_ids[i]);
	return out;
}

static bool is_touched(const struct finisher *f, int draft_id)
{
	int from = draft_resolve(f->d, draft_id);
	return from >= 0 && f->id[from] >= 0;
}

static void finish_node(struct finisher *f, struct draft_node *n)
{
	struct node *out = &f->g->node[f->g->n_nodes];
	n->order = f->g->n_nodes++;
	*out = n->n;
	out->in = final_values(f, n->n.in, n->n.n_in);
	for (int i = 0; i < n->n.n_out; i++)
		if (n->n.out[i] >= 0 && !f->d->value[n->n.out[i]].uses)
			n->n.out[i] = -1;
	out->out = final_values(f, n->n.out, n->n.n_out);
	for (int i = 0; i < out->n_out; i++)
		if (out->out[i] >= 0)
			f->g->value[out->out[i]].producer = n->order;
	n->n.n_subgraphs = 0; // they have moved
}

// Where a node that is gone went: the live node at the end of the chain, or -1.
static int destination(const struct draft_node *n)
{
	while (n && (n->fate == FATE_FUSED || n->fate == FATE_REMOVED))
		n = n->into;
	return n && n->fate == FATE_KEPT ? n->order : -1;
}

// The node that the result of a folded node goes to in the end; its `order` is free to keep it.
// Users come after what they use.
static void find_served(const struct draft *d)
{
	const struct draft_node **user = xcalloc(d->n_values + 1, sizeof *user);
	for (size_t i = d->n_nodes; i-- > 0;) {
		struct draft_node *n = d->node[i];
		if (n->fate == FATE_FOLDED)
			n->order = -1;
		for (int k = 0; n->fate == FATE_FOLDED && k < n->n.n_out && n->order < 0; k++) {
			int v = draft_resolve(d, n->n.out[k]);
			const struct draft_node *u = v >= 0 ? user[v] : NULL;
			if (u)
				n->order = u->fate == FATE_FOLDED ? u->order : destination(u);
		}
		for (int k = 0; k < n->n.n_in; k++)
			if (n->n.in[k] >= 0)
				user[draft_resolve(d, n->n.in[k])] = n;
	}
	free(user);
}

static void finish_origin(struct finisher *f, const struct draft_node *n)
{
	int i = f->g->n_origins++;
	f->g->origin[i] = (struct origin){
	    .name = n->n.name,
	    .op_type = n->op_type,
	    .unnamed = n->unnamed,
	    .out = n->out_name,
	    .n_out = n->n_out_names,
	    .node = destination(n),
	    .serves = n->fate == FATE_FOLDED ? n->order : -1,
	    .fate = n->fate == FATE_FUSED && destination(n) < 0 ? FATE_REMOVED : n->fate,
	};
	if (n->fate == FATE_KEPT)
		f->g->node[n->order].origin = i;
	namemap_put(f->g->origin_by_name, n->n.name, i);
}

static void link_consumers(struct graph *g)
{
	for (int i = 0; i < g->n_nodes; i++)
		for (int k = 0; k < g->node[i].n_in; k++)
			if (g->node[i].in[k] >= 0)
				g->value[g->node[i].in[k]].n_consumers++;
	for (int i = 0; i < g->n_values; i++) {
		g->value[i].consumer = arena_alloc(g->arena, ((size_t)g->value[i].n_consumers + 1) * sizeof(int));
		g->value[i].n_consumers = 0;
	}
	for (int i = 0; i < g->n_nodes; i++)
		for (int k = 0; k < g->node[i].n_in; k++)
			if (g->node[i].in[k] >= 0) {
				struct value *v = &g->value[g->node[i].in[k]];
				v->consumer[v->n_consumers++] = i;
			}
}

static void name_all(struct finisher *f)
{
	struct graph *g = f->g;
	for (int i = 0; i < g->n_nodes; i++)
		namemap_put(g->node_by_name, g->node[i].name, i);
	for (size_t i = 0; i < f->d->n_values; i++)
		if (is_touched(f, (int)i))
			namemap_put(g->value_by_name, f->d->value[i].name, f->id[draft_resolve(f->d, (int)i)]);
}

static void read_metadata(struct graph *g, const Onnx__ModelProto *m)
{
	g->metadata = arena_alloc(g->arena, (m->n_metadata_props + 1) * sizeof(struct metadata));
	for (size_t i = 0; i < m->n_metadata_props; i++) {
		const Onnx__StringStringEntryProto *e = m->metadata_props[i];
		if (e->key && e->value)
			g->metadata[g->n_metadata++] = (struct metadata){
			    .key = arena_strdup(g->arena, e->key),
			    .text = arena_strdup(g->arena, e->value),
			};
	}
	g->opset = opset_of(m, "");
}

static struct graph *new_graph(struct draft *d)
{
	struct graph *g = xcalloc(1, sizeof *g);
	g->arena = d->arena;
	d->arena = NULL;
	g->value = arena_alloc(g->arena, (d->n_values + 1) * sizeof(struct value));
	g->node = arena_alloc(g->arena, (d->n_nodes + 1) * sizeof(struct node));
	g->origin = arena_alloc(g->arena, (d->n_nodes + 1) * sizeof(struct origin));
	g->node_by_name = namemap_new();
	g->value_by_name = namemap_new();
	g->origin_by_name = namemap_new();
	g->path = "";
	return g;
}

struct graph *draft_finish(struct draft *d)
{
	struct finisher f = {.d = d};
	draft_count_uses(d);
	f.g = new_graph(d);
	f.id = xmalloc((d->n_values + 1) * sizeof(int));
	for (size_t i = 0; i < d->n_values; i++)
		f.id[i] = -1;
	f.g->n_inputs = (int)d->n_inputs;
	f.g->input = final_values(&f, d->input, f.g->n_inputs);
	for (size_t i = 0; i < d->n_nodes; i++)
		if (d->node[i]->fate == FATE_KEPT)
			finish_node(&f, d->node[i]);
	f.g->n_outputs = (int)d->n_outputs;
	f.g->output = final_values(&f, d->output, f.g->n_outputs);
	find_served(d);
	for (size_t i = 0; i < d->n_nodes; i++)
		finish_origin(&f, d->node[i]);
	link_consumers(f.g);
	name_all(&f);
	read_metadata(f.g, d->model);
	f.g->key = graph_key(f.g);
	free(f.id);
	return f.g;
}
