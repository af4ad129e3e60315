// Which nodes to widen within a budget. A part is saved when all nodes that it needs are wide;
// nodes are added in bundles (what a part needs, and whoever must follow), the one that saves most for its cost first.
// The sum of what the parts do alone is only a guide: parts add up as long as there is little noise.
// Whoever asks measures what comes of it.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "repair_impl.h"

static const double FLOOR = 0.0003; // share of the nodes' work that any bundle counts for: conversions and memory are not free
static const double LEAST = 1e-4;   // of the whole sum: a bundle that saves less is left alone

struct bundle {
	int *node, n;
};
struct allocator {
	const struct plan *p;
	const double *alone;
	const int64_t *macs;   // [n_nodes]
	const struct costs *costs;
	enum precision to;     // what is wide
	double total_macs, sum;
	int n_parts, n_bundles;
	struct bundle *need;   // [n_parts]
	struct bundle *bundle; // two a part: with and without the sources of what it reads
	struct bundle *of;     // [n_nodes] parts that need the node
	int *missing, *hit;    // [n_parts] nodes not yet wide; of these in the bundle that is looked at
};

static struct bundle bundle_of(const bool *in, int n)
{
	struct bundle b = {0};
	for (int i = 0; i < n; i++)
		b.n += in[i];
	b.node = xcalloc((size_t)b.n + 1, sizeof *b.node);
	for (int i = 0, k = 0; i < n; i++)
		if (in[i])
			b.node[k++] = i;
	return b;
}

static void find_bundles(struct allocator *a, const struct parts *parts)
{
	int n = a->p->g->n_nodes;
	bool *in = xcalloc((size_t)n + 1, 1);
	for (int part = 0; part < a->n_parts; part++) {
		for (int sources = 0; sources < 2 && a->alone[part] > 0; sources++) {
			memset(in, 0, (size_t)n);
			parts_widen(parts, a->p, part, sources, in);
			a->bundle[a->n_bundles++] = bundle_of(in, n);
		}
	}
	free(in);
}

static void find_needs(struct allocator *a, const struct parts *parts)
{
	int n = a->p->g->n_nodes;
	int *node = xcalloc((size_t)n + 1, sizeof *node);
	for (int part = 0; part < a->n_parts; part++) {
		struct bundle *need = &a->need[part];
		need->n = parts_needs(parts, a->p, part, node);
		need->node = xcalloc((size_t)need->n + 1, sizeof *need->node);
		memcpy(need->node, node, (size_t)need->n * sizeof *node);
		for (int i = 0; i < need->n; i++)
			a->of[node[i]].n++;
	}
	for (int i = 0; i < n; i++) {
		a->of[i].node = xcalloc((size_t)a->of[i].n + 1, sizeof *a->of[i].node);
		a->of[i].n = 0;
	}
	for (int part = 0; part < a->n_parts; part++)
		for (int i = 0; i < a->need[part].n; i++) {
			struct bundle *of = &a->of[a->need[part].node[i]];
			of->node[of->n++] = part;
		}
	free(node);
}

// As the budget counts them: of operators that the target quantizes.
static double quantizable_macs(const struct repair *r, const struct plan *p)
{
	double macs = 0;
	for (int n = 0; n < r->g->n_nodes; n++)
		macs += p->quantizable[n] ? (double)r->macs[n] : 0;
	return macs;
}

struct allocator *allocator_new(const struct repair *r, const struct parts *parts, const struct plan *p, const double *alone)
{
	struct allocator *a = xcalloc(1, sizeof *a);
	*a = (struct allocator){.p = p, .alone = alone, .macs = r->macs, .costs = r->costs, .to = repair_wide_precision(r),
	    .total_macs = quantizable_macs(r, p), .n_parts = parts->n};
	a->need = xcalloc((size_t)parts->n + 1, sizeof *a->need);
	a->bundle = xcalloc(2 * (size_t)parts->n + 1, sizeof *a->bundle);
	a->of = xcalloc((size_t)p->g->n_nodes + 1, sizeof *a->of);
	a->missing = xcalloc((size_t)parts->n + 1, sizeof *a->missing);
	a->hit = xcalloc((size_t)parts->n + 1, sizeof *a->hit);
	for (int i = 0; i < parts->n; i++)
		a->sum += alone[i];
	find_bundles(a, parts);
	find_needs(a, parts);
	return a;
}

static void free_bundles(struct bundle *b, int n)
{
	for (int i = 0; i < n; i++)
		free(b[i].node);
	free(b);
}

void allocator_free(struct allocator **ap)
{
	struct allocator *a = *ap;
	if (!a)
		return;
	free_bundles(a->need, a->n_parts);
	free_bundles(a->bundle, a->n_bundles);
	free_bundles(a->of, a->p->g->n_nodes);
	free(a->missing);
	free(a->hit);
	free(a);
	*ap = NULL;
}

bool outlay_within(struct outlay o, struct outlay limit)
{
	return !(o.wide > limit.wide) && !(o.cost > limit.cost);
}

// Sums are of whole MACs or microseconds, so that their order does not show.
static void add_node(const struct allocator *a, struct outlay *sum, int node)
{
	const double *at = a->costs->node[node].at;
	sum->wide += (double)a->macs[node];
	sum->cost += at[a->to] - at[PREC_INT8];
}

static struct outlay share_of(const struct allocator *a, struct outlay sum)
{
	return (struct outlay){a->total_macs > 0 ? sum.wide / a->total_macs : 0, a->costs->narrow > 0 ? sum.cost / a->costs->narrow : 0};
}

struct outlay allocator_outlay(const struct allocator *a, const bool *wide)
{
	struct outlay sum = {0};
	for (int n = 0; n < a->p->g->n_nodes; n++)
		if (wide[n])
			add_node(a, &sum, n);
	return share_of(a, sum);
}

static void count_missing(struct allocator *a, const bool *wide)
{
	for (int part = 0; part < a->n_parts; part++) {
		a->missing[part] = 0;
		for (int i = 0; i < a->need[part].n; i++)
			a->missing[part] += !wide[a->need[part].node[i]];
	}
}

bool allocator_saves(const struct allocator *a, int part, const bool *wide)
{
	const struct bundle *need = &a->need[part];
	bool saved = need->n > 0;
	for (int i = 0; i < need->n && saved; i++)
		saved = wide[need->node[i]];
	return saved;
}

double allocator_left(const struct allocator *a, const bool *wide)
{
	double left = 0;
	for (int part = 0; part < a->n_parts; part++)
		left += wide && allocator_saves(a, part, wide) ? 0 : a->alone[part];
	return left;
}

// What the parts do alone that are saved with the bundle.
static double saved_by(struct allocator *a, const struct bundle *b, const bool *wide)
{
	double saved = 0;
	for (int i = 0; i < b->n; i++)
		for (int k = 0; !wide[b->node[i]] && k < a->of[b->node[i]].n; k++) {
			int part = a->of[b->node[i]].node[k];
			if (++a->hit[part] == a->missing[part])
				saved += a->alone[part];
		}
	for (int i = 0; i < b->n; i++)
		for (int k = 0; k < a->of[b->node[i]].n; k++)
			a->hit[a->of[b->node[i]].node[k]] = 0;
	return saved;
}

static struct outlay adds(const struct allocator *a, const struct bundle *b, const bool *wide)
{
	struct outlay sum = {0};
	for (int i = 0; i < b->n; i++)
		if (!wide[b->node[i]])
			add_node(a, &sum, b->node[i]);
	return share_of(a, sum);
}

// What a board does faster at more bits is as good as free.
static const struct bundle *best_bundle(struct allocator *a, struct outlay room, const bool *wide)
{
	const struct bundle *best = NULL;
	const double floor = FLOOR * (cost_weight(a->to) - cost_weight(PREC_INT8));
	double worth = 0;
	for (int i = 0; i < a->n_bundles; i++) {
		struct outlay o = adds(a, &a->bundle[i], wide);
		double saved = outlay_within(o, room) ? saved_by(a, &a->bundle[i], wide) : 0, price = fmax(o.cost, 0) + floor;
		if (saved > LEAST * a->sum && saved / price > worth) {
			worth = saved / price;
			best = &a->bundle[i];
		}
	}
	return best;
}

void allocator_fill(struct allocator *a, struct outlay budget, bool *wide)
{
	for (;;) {
		struct outlay spent = allocator_outlay(a, wide);
		count_missing(a, wide);
		const struct bundle *b = best_bundle(a, (struct outlay){budget.wide - spent.wide, budget.cost - spent.cost}, wide);
		if (!b)
			break;
		for (int i = 0; i < b->n; i++)
			wide[b->node[i]] = true;
	}
}
