// Bodies: the rows, sites and figures that successive snapshots share. One is made empty or as a copy of another; a run
// fills one of its own (publish.c).
#include "body.h"
#include <stdlib.h>
#include <string.h>

struct shared_plan *shared_plan_take(struct shared_plan *p)
{
	if (p)
		atomic_fetch_add(&p->refs, 1);
	return p;
}

void shared_plan_drop(struct shared_plan **p)
{
	if (*p && atomic_fetch_sub(&(*p)->refs, 1) == 1) {
		plan_free(&(*p)->plan);
		target_free(&(*p)->target);
		free(*p);
	}
	*p = NULL;
}

struct body *body_take(struct body *b)
{
	atomic_fetch_add(&b->refs, 1);
	return b;
}

void body_drop(struct body **bp)
{
	struct body *b = *bp;
	*bp = NULL;
	if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	for (int i = 0; i < b->n_sites; i++) {
		hist_drop(&b->site[i].hist_float);
		hist_drop(&b->site[i].hist_quant);
	}
	shared_plan_drop(&b->plan);
	free(b->row);
	free(b->scale_requested);
	free(b->zero_requested);
	free(b->site);
	free(b->keys);
	free(b->output);
	free(b->output_key);
	free(b);
}

struct body *body_new(const struct graph *g, int n_sites)
{
	struct body *b = xcalloc(1, sizeof *b);
	atomic_store(&b->refs, 1);
	b->row = xcalloc((size_t)g->n_nodes + 1, sizeof *b->row);
	b->scale_requested = xcalloc((size_t)g->n_values + 1, sizeof *b->scale_requested);
	b->zero_requested = xcalloc((size_t)g->n_values + 1, sizeof *b->zero_requested);
	for (int i = 0; i < g->n_values; i++)
		b->zero_requested[i] = ZERO_FOLLOWS;
	b->site = xcalloc((size_t)n_sites + 1, sizeof *b->site);
	b->keys = xcalloc((size_t)n_sites + 1, sizeof *b->keys);
	b->output = xcalloc((size_t)g->n_outputs + 1, sizeof *b->output);
	b->output_key = xcalloc((size_t)g->n_outputs + 1, sizeof *b->output_key);
	b->n_sites = n_sites;
	return b;
}

struct body *body_bare(const struct graph *g)
{
	struct body *b = body_new(g, 0);
	for (int n = 0; n < g->n_nodes; n++)
		b->row[n] = (struct node_row){.precision = PREC_INT8, .requested = -1, .calibrator = -1, .fused_into = -1, .quantizable = true,
		    .macs = graph_macs_with_body(g, n)};
	return b;
}

struct body *body_copy(const struct graph *g, const struct body *from)
{
	struct body *b = body_new(g, from->n_sites);
	memcpy(b->row, from->row, (size_t)g->n_nodes * sizeof *b->row);
	memcpy(b->scale_requested, from->scale_requested, (size_t)g->n_values * sizeof *b->scale_requested);
	memcpy(b->zero_requested, from->zero_requested, (size_t)g->n_values * sizeof *b->zero_requested);
	memcpy(b->site, from->site, (size_t)from->n_sites * sizeof *b->site);
	memcpy(b->keys, from->keys, (size_t)from->n_sites * sizeof *b->keys);
	memcpy(b->output, from->output, (size_t)g->n_outputs * sizeof *b->output);
	memcpy(b->output_key, from->output_key, (size_t)g->n_outputs * sizeof *b->output_key);
	b->plan = shared_plan_take(from->plan);
	b->samples = from->samples;
	for (int i = 0; i < b->n_sites; i++) {
		hist_take(b->site[i].hist_float);
		hist_take(b->site[i].hist_quant);
	}
	return b;
}

static bool has_other_scale(const struct body *b, const struct edits *e, int value)
{
	return b->scale_requested[value] != e->scale[value] || b->zero_requested[value] != e->zero[value];
}

// What a node makes is the matter of that node's row.
static bool is_given_other_scale(const struct body *b, const struct graph *g, const struct edits *e, int value)
{
	return g->value[value].producer < 0 && has_other_scale(b, e, value);
}

void body_mark_downstream(struct body *b, const struct graph *g, const struct edits *e, bool all)
{
	bool *dirty = xcalloc((size_t)g->n_values + 1, 1);
	for (int n = 0; n < g->n_nodes; n++) {
		const struct node *node = &g->node[n];
		bool hit = all || b->row[n].requested != e->precision[n] || b->row[n].calibrator != e->calibrator[n];
		for (int i = 0; i < node->n_out && !hit; i++)
			hit = node->out[i] >= 0 && has_other_scale(b, e, node->out[i]);
		for (int i = 0; i < node->n_in && !hit; i++)
			hit = node->in[i] >= 0 && (dirty[node->in[i]] || is_given_other_scale(b, g, e, node->in[i]));
		for (int i = 0; hit && i < node->n_out; i++)
			if (node->out[i] >= 0)
				dirty[node->out[i]] = true;
		b->row[n].pending |= hit;
	}
	free(dirty);
}

void body_note_edits(struct body *b, const struct graph *g, const struct edits *e)
{
	memcpy(b->scale_requested, e->scale, (size_t)g->n_values * sizeof *b->scale_requested);
	memcpy(b->zero_requested, e->zero, (size_t)g->n_values * sizeof *b->zero_requested);
	for (int n = 0; n < g->n_nodes; n++) {
		b->row[n].requested = e->precision[n];
		b->row[n].calibrator = e->calibrator[n];
		b->row[n].edited = e->precision[n] >= 0 || e->calibrator[n] >= 0;
		for (int i = 0; i < g->node[n].n_out; i++)
			b->row[n].edited |= g->node[n].out[i] >= 0 && e->scale[g->node[n].out[i]] != 0;
		for (int i = 0; i < g->node[n].n_in; i++)
			b->row[n].edited |= g->node[n].in[i] >= 0 && g->value[g->node[n].in[i]].producer < 0 && e->scale[g->node[n].in[i]] != 0;
	}
}
