// Private to src/analysis: what snapshots share when only their progress differs.
#ifndef QTUI_ANALYSIS_BODY_H
#define QTUI_ANALYSIS_BODY_H

#include "study_impl.h"

struct site_keys { // under which the memo, and a session file, keep a site's figures
	struct key graphwise, layerwise, range, hist_float, hist_quant;
};
struct body {
	atomic_int refs;
	struct node_row *row;
	double *scale_requested; // [g->n_values]
	int32_t *zero_requested; // [g->n_values]
	struct site *site;
	struct site_keys *keys;
	int n_sites, samples;
	struct figures *output;
	struct key *output_key;   // [g->n_outputs]
	struct shared_plan *plan; // the sites' scales live in it; NULL before the first run
};
struct body *body_new(const struct graph *g, int n_sites);  // counted once; all zero
struct body *body_bare(const struct graph *g);              // of a graph of which nothing has been computed
struct body *body_copy(const struct graph *g, const struct body *from);
struct body *body_take(struct body *b);
void body_drop(struct body **b);
void body_note_edits(struct body *b, const struct graph *g, const struct edits *e);
// Against the edits that it has noted: everything that a changed node's result flows into
// is pending; everything, with `all`.
void body_mark_downstream(struct body *b, const struct graph *g, const struct edits *e, bool all);

// What the study says by itself of such a decision; without a body. The caller has it alone until it is published.
struct snapshot *snapshot_new(struct study *st, const struct request *req);
void snapshot_attach(struct snapshot *s, struct study *st, struct body *b); // takes the caller's count; MACs and costs are its rows'

#endif
