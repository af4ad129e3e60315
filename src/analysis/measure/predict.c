// What a scale would do, from the float histogram alone: each fine bin stands for its centre.
// A grid that is finer than the bins, at 16 bit, makes the error of its own step wherever it reaches.
// Elements that a node only moves arrive on the grid on which it reads them: a finer one behind it brings nothing back.
#include <math.h>
#include "qtui/analysis/study.h"
#include "qtui/engine/op.h"

struct code_grid {
	double scale, zero;
	int64_t qmin, qmax;
};

static double code_of(const struct code_grid *g, double x)
{
	return rint(x / g->scale) + g->zero;
}

static bool is_beyond(const struct code_grid *g, double x)
{
	double code = code_of(g, x);
	return code < (double)g->qmin || code > (double)g->qmax;
}

static double on_grid(const struct code_grid *g, double x)
{
	return (fmin(fmax(code_of(g, x), (double)g->qmin), (double)g->qmax) - g->zero) * g->scale;
}

// `read`: the grid on which the elements arrive, NULL: as floats.
static struct prediction predict(const struct hist *h, const struct code_grid *read, const struct code_grid *grid)
{
	struct prediction p = {.step = grid->scale};
	double width = ((double)h->hi - h->lo) / STATS_BINS, signal = 0, noise = 0, clipped = 0, all = 0;
	double step = read ? fmax(read->scale, grid->scale) : grid->scale;
	for (int i = 0; i < STATS_BINS; i++) {
		if (h->bin[i] == 0)
			continue;
		double x = h->lo + (i + 0.5) * width, error = on_grid(grid, read ? on_grid(read, x) : x) - x;
		bool beyond = is_beyond(grid, x), cut = beyond || (read && is_beyond(read, x));
		// Within a bin finer than the step the error is spread evenly; that of the centre misses width^2 / 12.
		noise += h->bin[i] * (step < width && !cut ? step * step / 12 : error * error + width * width / 12);
		signal += h->bin[i] * x * x;
		clipped += beyond ? h->bin[i] : 0;
		all += h->bin[i];
	}
	if (all == 0 || signal == 0 || noise == 0)
		return p;
	p.known = true;
	p.snr_db = 10 * log10(signal / noise);
	p.clipped = clipped / all;
	return p;
}

struct prediction hist_predict(const struct hist *h, double scale, double zero, int64_t qmin, int64_t qmax)
{
	return predict(h, NULL, &(struct code_grid){scale, zero, qmin, qmax});
}

// The grid on which what the site's node only moves arrives. False: it computes, joins several, or reads floats.
static bool find_read_grid(struct code_grid *out, const struct snapshot *snap, const struct site *s)
{
	const struct plan *plan = snapshot_plan(snap);
	const struct slot *slot = plan && s->kind == SITE_OUTPUT ? &plan->slot[s->slot] : NULL;
	const struct node *n = slot ? &snap->g->node[slot->node] : NULL;
	if (!n || !(n->op->flags & (OPF_MOVES | OPF_VIEW)) || n->op->id == OP_Concat)
		return false;
	const struct slot *in = plan_in(plan, slot->node, 0);
	const struct quantizer *q = &in->quant;
	if (in->state == SLOT_FLOAT || q->kind != QUANT_LINEAR || q->n != 1)
		return false;
	*out = (struct code_grid){(double)q->scale[0], q->zero ? q->zero[0] : 0, q->qmin, q->qmax};
	return true;
}

struct prediction study_predict_scale(const struct snapshot *snap, int site, double scale, int32_t zero)
{
	const struct site *s = &snap->site[site];
	if (!s->hist_float || !(scale > 0) || s->kind == SITE_WEIGHT || s->kind == SITE_FLOAT)
		return (struct prediction){.step = scale};
	int32_t now = s->n_scale == 1 && s->zero ? s->zero[0] : 0;
	struct code_grid grid = {scale, zero == ZERO_FOLLOWS ? now : zero, s->qmin, s->qmax}, read;
	return predict(s->hist_float, find_read_grid(&read, snap, s) ? &read : NULL, &grid);
}
