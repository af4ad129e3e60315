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
	struct site *site;
	struct site_keys *keys;
	int n_sites, samples;
	struct figures *output;
	struct key *output_key;   // [g->n_outputs]
	struct shared_plan *plan; // the sites' scales live in it; NULL before the first run
};

#endif
