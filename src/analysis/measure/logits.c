#include "qtui/analysis/logits.h"

#include <math.h>
#include "qtui/engine/op.h"

enum { LONGEST_WAY = 10 };  // nodes from logits to their Sigmoid
enum { MOST_STEPS = 4096 }; // nodes that are looked at for one
static const double NO_SCORE = 0.001; // what is less decides nothing: detectors drop it before NMS
static const double HIDDEN_DB = 6;     // better behind the Sigmoid by this

bool sigmoid_gates(const struct graph *g, int sigmoid)
{
	const struct node *n = &g->node[sigmoid];
	const struct value *y = &g->value[n->out[0]];
	for (int c = 0; c < y->n_consumers; c++) {
		const struct node *m = &g->node[y->consumer[c]];
		for (int i = 0; m->op->id == OP_Mul && i < m->n_in; i++)
			if (m->in[i] == n->in[0])
				return true;
	}
	return false;
}

static bool has_dimension(const struct shape *s, int64_t size)
{
	for (int d = 1; d < s->rank; d++)
		if (s->dim[d] == size)
			return true;
	return false;
}

static bool passes(const struct node *n)
{
	return (n->op->flags & (OPF_MOVES | OPF_VIEW)) && n->op->id != OP_MaxPool;
}

static bool parts(const struct node *n)
{
	return n->op->id == OP_Split || n->op->id == OP_Slice || n->op->id == OP_Gather;
}

struct way {
	const struct graph *g;
	int64_t channels;
	int steps; // that are left: a graph may fan out again and again
};

// Behind a node that parts its input (a Split of boxes and classes) only a tensor with
// as many channels is taken for the same.
static int follow(struct way *w, int value, bool parted, int depth)
{
	const struct value *v = &w->g->value[value];
	for (int c = 0; depth > 0 && c < v->n_consumers && w->steps-- > 0; c++) {
		const struct node *m = &w->g->node[v->consumer[c]];
		if (m->op->id == OP_Sigmoid && !sigmoid_gates(w->g, v->consumer[c]) && (!parted || has_dimension(&v->shape, w->channels)))
			return v->consumer[c];
		for (int o = 0; passes(m) && o < m->n_out; o++) {
			int found = m->out[o] >= 0 ? follow(w, m->out[o], parted || parts(m), depth - 1) : -1;
			if (found >= 0)
				return found;
		}
	}
	return -1;
}

int logits_sigmoid(const struct graph *g, int value)
{
	const struct shape *shape = &g->value[value].shape;
	struct way w = {.g = g, .channels = shape->rank > 1 ? shape->dim[1] : -1, .steps = MOST_STEPS};
	return follow(&w, value, false, LONGEST_WAY);
}

static double score(double x)
{
	return fmax(1 / (1 + exp(-x)) - NO_SCORE, 0);
}

static double slope(double x)
{
	double y = 1 / (1 + exp(-x));
	return y > NO_SCORE ? y * (1 - y) : 0;
}

// As hist_predict, of scores: each fine bin stands for its centre, and errors within a step spread evenly.
double logits_predict(const struct snapshot *s, const struct site *site, double scale)
{
	const struct hist *h = site->hist_float;
	if (site->kind != SITE_OUTPUT || !h || !(scale > 0) || site->n_scale != 1 || logits_sigmoid(s->g, site->value) < 0)
		return NAN;
	double width = ((double)h->hi - h->lo) / STATS_BINS, zero = site->zero ? site->zero[0] : 0, signal = 0, noise = 0;
	for (int i = 0; i < STATS_BINS; i++) {
		double x = h->lo + (i + 0.5) * width, y = score(x);
		double code = fmin(fmax(rint(x / scale) + zero, (double)site->qmin), (double)site->qmax);
		double error = score((code - zero) * scale) - y, spread = slope(x) * fmin(width, scale);
		noise += h->bin[i] * (error * error + spread * spread / 12);
		signal += h->bin[i] * y * y;
	}
	return signal > 0 && noise > 0 ? 10 * log10(signal / noise) : NAN;
}

bool logits_hide(const struct snapshot *s, const struct site *site, double *behind_db)
{
	double alone = figures_snr(&site->layerwise);
	*behind_db = alone < 20 && site->n_scale == 1 ? logits_predict(s, site, (double)site->scale[0]) : NAN;
	return *behind_db > alone + HIDDEN_DB;
}
