// Private to src/engine/tune. Reading order: tuning.c (tuned constants),
// site.c (what can be tuned, and rows of its input), moments.c (sums over rows and what follows from them),
// fit.c (new weights from sums), rows.c, node.c (one node), tuner.c (the network, level by level).
#ifndef QTUI_ENGINE_TUNE_TUNE_IMPL_H
#define QTUI_ENGINE_TUNE_TUNE_IMPL_H

#include <pthread.h>
#include "qtui/engine/op.h"
#include "qtui/engine/plan.h"
#include "qtui/engine/run.h"
#include "qtui/engine/tune.h"

// ---- site.c
// A node with constant weights as rows of inputs times a matrix: for every one of `groups`, m outputs from k inputs.
struct tune_site {
	int node, value;            // value: its input
	bool conv, by_column;       // by_column: weights lie [k][m]
	struct conv_geometry g;     // conv only
	int64_t groups, k, m;
	int64_t places, rows;       // positions of the output in a sample, and how many of them are looked at
	const float *bias;          // or NULL
};
// False where the node has no constant weights that the plan quantizes, or a form that is not known here.
bool site_find(struct tune_site *s, const struct plan *p, int node, int64_t most_rows);
// The site's rows of a sample, row[rows][groups * k], from its input as floats in any layout (matrix products: plain).
void site_rows(const struct tune_site *s, const struct tensor *x, int sample, float *row);
static inline int64_t site_weight(const struct tune_site *s, int64_t output, int64_t i) // place of a weight; output 0..groups*m-1
{
	return s->by_column ? i * s->m + output : output * s->k + i;
}

// ---- moments.c
// Sums over rows x[k] of inputs and r[m] of what the weights leave undone there.
struct moments {
	int64_t k, m;
	double n;
	double *xx, *xr, *x, *r, *rr; // [k][k], [k][m], [k], [m], [m]
};
bool moments_alloc(struct moments *s, int64_t k, int64_t m); // zero; false: no memory
void moments_done(struct moments *s);
size_t moments_bytes(int64_t k, int64_t m);
void moments_add_rows(struct moments *s, const float *x, int64_t x_row, const float *r, int64_t r_row, int64_t rows);
void moments_add(struct moments *s, const struct moments *other);
// The sum of (r - d x - b)^2 of every output, for changes d[m][k] of the weights and b[m]
// of the biases (NULL: none): out[m]; room[m][k].
void moments_error(double *out, const struct moments *s, const double *d, const double *b, double *room);
// The best biases for changes of the weights.
void moments_bias(double *b, const struct moments *s, const double *d);
// The matrix xx, with the mean taken out where a bias does (centred), and `damping` times
// the mean of its diagonal added there: a[k][k].
void moments_matrix(double *a, const struct moments *s, bool centred, double damping);
// The best changes of the weights d[m][k] by the factor of that matrix; room[k][m].
void moments_solve(double *d, const struct moments *s, bool centred, const double *factor, double *room);

// ---- fit.c
// The grid that one output's weights are rounded to, and what keeps the scale that a range gives:
// no value outside lo..hi, those at the range's end stay.
struct fit_grid {
	float scale;
	int32_t zero;
	int64_t lo, hi;      // codes
	int64_t held[2];     // weights that stay, -1: none
};
struct fit_task {
	const struct moments *fit, *judge; // two halves of the rows
	const struct fit_grid *grid;       // [m]
	const double *weight, *now;        // [m][k] the float weights, and those in force, which lie on the grid
	const double *bias;                // [m] the change of the biases in force; NULL: there are none to change
};
struct fit_result {
	double *weight;        // [m][k] on the grid
	double *bias;          // [m] changes; zero where none can be changed
	double before, after;  // errors on the judging half, all outputs; after: of weights that the fitting half alone gives
	int changed;           // outputs that got other weights
};
// Never worse on the judging half, output by output. False: no memory.
bool fit_weights(struct fit_result *out, const struct fit_task *t);
void fit_done(struct fit_result *r);

// ---- tuner.c
struct place { // of a node in the order
	struct tune_site site;
	int level;         // 1 + that of the last node upstream of it
	bool held;         // `wanted` is there from the beginning to the end, else while the node is at hand
	float *wanted;     // [samples * rows][groups * m] outputs of the float network
	// While the node is at hand:
	float *row;        // [samples * rows][groups * k] inputs of the quantized network
	struct tuned tuned;
	struct tune_row done;
};
struct tuner {
	struct engine *e;
	struct plan *plan;
	const struct graph *g;
	struct tune_options opt;
	struct place *place;
	int n;
	int left, left_node; // nodes that take too much memory; the one that takes most
	size_t left_bytes;   // by that one
	// The pass under way.
	enum sim sim;
	int first, last;
	pthread_mutex_t lock;
	struct error err;
};
enum status tuner_no_memory(const struct tuner *t, const struct place *p, struct error *err);

// ---- rows.c
const struct tensor *tuner_weight(const struct tuner *t, const struct tune_site *s); // of the file
// The weights of a group as a dense [m][k]; heap, NULL when there is no memory.
float *tuner_group_weights(const struct tune_site *s, const struct tensor *w, int64_t group);
// Fills `wanted` (SIM_FLOAT; where there is room for it) or `row` (SIM_FULL) of the nodes first..last-1 from one pass over the samples.
MUST_CHECK enum status tuner_look(struct tuner *t, enum sim sim, int first, int last, struct error *err);

// ---- node.c
// New weights for a node whose rows are there: p->done, and p->tuned where they changed.
MUST_CHECK enum status tuner_fit(struct tuner *t, struct place *p, struct error *err);

#endif
