// The history of runs: their lines, and the figures of their nodes in about ten bytes
// each, while there is room for them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "history_impl.h"

struct run_nodes *run_nodes_new(int n)
{
	struct run_nodes *nodes = xcalloc(1, sizeof *nodes);
	size_t room = (size_t)n + 1;
	*nodes = (struct run_nodes){.n = n, .snr_db = xcalloc(room, sizeof *nodes->snr_db), .scale = xcalloc(room, sizeof *nodes->scale),
	    .precision = xcalloc(room, 1)};
	atomic_store(&nodes->refs, 1);
	for (int i = 0; i < n; i++) {
		nodes->snr_db[i] = NAN;
		nodes->precision[i] = -1;
	}
	return nodes;
}

static void nodes_drop(struct run_nodes **np)
{
	struct run_nodes *n = *np;
	*np = NULL;
	if (!n || atomic_fetch_sub(&n->refs, 1) != 1)
		return;
	free(n->snr_db);
	free(n->scale);
	free(n->precision);
	free(n);
}

struct run_state *run_state_take(struct run_state *s)
{
	if (s)
		atomic_fetch_add(&s->refs, 1);
	return s;
}

void run_state_drop(struct run_state **sp)
{
	struct run_state *s = *sp;
	*sp = NULL;
	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	edits_free(&s->edits);
	free(s);
}

struct run_record run_record_take(const struct run_record *r)
{
	if (r->nodes)
		atomic_fetch_add(&r->nodes->refs, 1);
	run_state_take(r->state);
	return *r;
}

void run_record_done(struct run_record *r)
{
	nodes_drop(&r->nodes);
	run_state_drop(&r->state);
}

// ---- of a snapshot

int *run_further(const struct graph *g, int *n)
{
	int made, *list = graph_made(g, &made);
	*n = 0;
	for (int i = 0; i < made; i++)
		if (graph_is_further(g, list[i]))
			list[(*n)++] = list[i];
	return list;
}

static void note_output(struct run_nodes *to, int i, const struct node_row *row, const struct site *site)
{
	if (row->fused_into >= 0)
		return;
	to->precision[i] = (signed char)row->precision;
	to->snr_db[i] = site ? (float)figures_snr(&site->graphwise) : NAN;
	to->scale[i] = site && site->n_scale > 0 ? site->scale[0] : 0;
}

static const struct site *site_of_output(const struct snapshot *s, int value)
{
	const struct node_row *r = &s->row[s->g->value[value].producer];
	for (int i = r->first_site; i < r->first_site + r->n_sites; i++)
		if (site_is_made(&s->site[i]) && s->site[i].value == value)
			return &s->site[i];
	return NULL;
}

// What a node's own entry is about: further outputs have theirs.
static const struct site *first_output(const struct snapshot *s, int node)
{
	const struct node_row *r = &s->row[node];
	return r->n_sites > 0 && site_is_made(&s->site[r->first_site]) ? &s->site[r->first_site] : NULL;
}

static struct run_nodes *nodes_of(const struct snapshot *s)
{
	int n, *further = run_further(s->g, &n);
	struct run_nodes *to = run_nodes_new(s->n_rows + n);
	for (int i = 0; i < s->n_rows; i++)
		note_output(to, i, &s->row[i], first_output(s, i));
	for (int i = 0; i < n; i++)
		note_output(to, s->n_rows + i, &s->row[s->g->value[further[i]].producer], site_of_output(s, further[i]));
	free(further);
	return to;
}

static double mean_node(const struct run_nodes *nodes, int n_nodes)
{
	double sum = 0;
	int n = 0;
	for (int i = 0; i < n_nodes; i++)
		if (isfinite(nodes->snr_db[i])) {
			sum += nodes->snr_db[i];
			n++;
		}
	return n ? sum / n : NAN;
}

struct run_record run_record_of(const struct snapshot *s)
{
	struct run_record r = {.nodes = nodes_of(s)};
	r.note = (struct run_note){.method = s->method, .n_edits = s->n_edits, .decision = s->decision, .out_snr_db = snapshot_worst_output(s),
	    .mean_snr_db = mean_node(r.nodes, s->n_rows), .task_float = NAN, .task_quant = NAN};
	memcpy(r.note.target, s->target, sizeof r.note.target);
	return r;
}

// ---- the list

void history_done(struct history *r)
{
	for (size_t i = 0; i < r->n; i++)
		run_record_done(&r->at[i]);
	free(r->at);
	*r = (struct history){0};
}

// The newest are kept; nodes are dropped where those of newer runs fill the room.
void history_bound(struct history *r)
{
	size_t surplus = r->n > HISTORY_KEPT ? r->n - HISTORY_KEPT : 0;
	int nodes = 0;
	for (size_t i = 0; i < surplus; i++)
		run_record_done(&r->at[i]);
	if (surplus)
		memmove(r->at, r->at + surplus, (r->n - surplus) * sizeof *r->at);
	r->n -= surplus;
	for (size_t i = r->n; i-- > 0;) {
		int n = r->at[i].nodes ? r->at[i].nodes->n : 0;
		nodes = n > HISTORY_NODES_KEPT - nodes ? HISTORY_NODES_KEPT : nodes + n;
		if (nodes == HISTORY_NODES_KEPT && i + 1 < r->n) // the last run keeps its own, however many they are
			run_record_done(&r->at[i]);
	}
}

static bool goes_on(const struct run_note *last, const struct run_note *now)
{
	return last->earlier && now->computed == 0 && key_equal(last->decision, now->decision) && key_equal(last->samples, now->samples);
}

void history_add(struct history *r, struct run_record *record)
{
	struct run_note *last = r->n ? &r->at[r->n - 1].note : NULL;
	record->note.number = last ? last->number + 1 : 1;
	if (last && goes_on(last, &record->note)) {
		struct run_note now = *last; // what it cost and brought remains what it was then
		now.earlier = false;
		run_record_done(&r->at[--r->n]);
		record->note = now;
	}
	r->at = xgrow(r->at, &r->cap, r->n + 1, sizeof *r->at);
	r->at[r->n++] = *record;
	*record = (struct run_record){0};
	history_bound(r);
}

const struct run_record *history_find(const struct history *r, int number)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].note.number == number)
			return &r->at[i];
	return NULL;
}

const struct run_record *history_of(const struct history *r, struct key decision, struct key samples)
{
	const struct run_record *found = NULL;
	for (size_t i = r->n; i-- > 0;) {
		const struct run_record *one = &r->at[i];
		if (!key_equal(one->note.decision, decision) || !key_equal(one->note.samples, samples))
			continue;
		if (one->nodes)
			return one;
		found = found ? found : one;
	}
	return found;
}
