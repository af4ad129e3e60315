// Weights and biases fitted anew to what the quantized network delivers (engine/tune.h).
// Every node is better off at its own output; whether the network is, damage says, stretch by stretch:
// in a head that decides by a few rare values most of the rows that a fit sees speak of the others.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/log.h"
#include "qtui/engine/tune.h"
#include "repair_impl.h"

enum { STRETCHES = 8 };    // of the network, each tuned as a whole first
enum { TUNER_LEAST = 64 << 20 }; // bytes, beside a study's memory that is smaller: a small network is fitted alike with any
enum { SAMPLES_MIN = 8 };  // to fit to, beside those that judge; with fewer all are fitted

struct weights {
	struct repair *r;
	struct plan *p;
	struct tuner *tuner;
	struct tune_row *row;  // [nodes] the latest, of those that stayed
	bool *stays;           // [nodes]
	int *sample, n_samples; // those that are fitted to
	double damage;         // of what is in force
};

static void on_tell(void *arg, const char *node, double progress)
{
	repair_tell(arg, progress, "weights: %s", node);
}

static enum status tune_stretch(struct weights *w, int first, int last, struct error *err);

static enum status tune_half(struct weights *w, int first, int last, struct error *err)
{
	return repair_over(w->r) ? STATUS_OK : tune_stretch(w, first, last, err);
}

// What does not pay as a whole is tried in halves, which the part that harms is not in.
static enum status tune_stretch(struct weights *w, int first, int last, struct error *err)
{
	struct damage d;
	struct tuning *before = tuner_state(w->tuner);
	enum status st = tuner_run(w->tuner, first, last, w->row + first, err);
	if (st == STATUS_OK)
		st = probe_damage(w->r->probe, w->p, &d, err);
	bool pays = st == STATUS_OK && d.damage < w->damage;
	if (pays)
		w->damage = d.damage;
	else
		tuner_go_back(w->tuner, before);
	memset(w->stays + first, pays, (size_t)(last - first));
	tuning_drop(&before);
	if (st != STATUS_OK || pays || last - first == 1)
		return st;
	int middle = first + (last - first) / 2;
	st = tune_half(w, first, middle, err);
	return st == STATUS_OK ? tune_half(w, middle, last, err) : st;
}

static enum status tune_all(struct weights *w, struct error *err)
{
	int n = tuner_nodes(w->tuner);
	enum status st = STATUS_OK;
	double end = repair_lend(w->r, 0.7); // the task is to be asked too
	for (int i = 0; i < STRETCHES && st == STATUS_OK && !repair_over(w->r); i++) {
		int first = i * n / STRETCHES, last = (i + 1) * n / STRETCHES;
		if (first < last)
			st = tune_stretch(w, first, last, err);
	}
	w->r->deadline = end;
	return st;
}

static void keep_rows(struct weights *w)
{
	struct repair *r = w->r;
	int n = tuner_nodes(w->tuner);
	r->tuned = arena_alloc(r->arena, ((size_t)n + 1) * sizeof *r->tuned);
	r->n_tuned = 0;
	for (int i = 0; i < n; i++)
		if (w->stays[i] && w->row[i].changed)
			r->tuned[r->n_tuned++] = w->row[i];
}

// What a result lacks, since memory decides it: "" where every node found room.
static const char *left_alone(const struct weights *w)
{
	int node;
	size_t memory;
	int n = tuner_left(w->tuner, &node, &memory);
	if (n == 0)
		return "";
	return repair_text(w->r, " There is no memory to fit those of %d more: --memory %zuM would do (%s takes most).", n,
	    (memory * TUNER_SHARE >> 20) + 1, w->r->g->node[node].name);
}

static struct candidate candidate_of(struct weights *w)
{
	struct repair *r = w->r;
	char name[TUNING_NAME];
	double before = 0, after = 0;
	struct candidate c = {.kind = REPAIR_WEIGHTS, .trial = trial_copy(&r->now), .expected = r->figures.damage - w->damage};
	tuning_drop(&c.trial.edits->tuning);
	c.trial.edits->tuning = tuner_state(w->tuner);
	tuning_name(c.trial.edits->tuning, name);
	candidate_say(r, &c, repair_text(r, "tune %s", name));
	for (int i = 0; i < r->n_tuned; i++) {
		before += 10 * log10(r->tuned[i].signal / r->tuned[i].before);
		after += 10 * log10(r->tuned[i].signal / r->tuned[i].after);
	}
	c.reason = repair_text(r,
	    "weights and biases of %d nodes fitted to what quantization delivers them: %.1f dB at their outputs, %.1f with "
	    "what is upstream alone, on samples that were not fitted.%s",
	    r->n_tuned, after / r->n_tuned, before / r->n_tuned, left_alone(w));
	return c;
}

// Damage judges on samples that were not fitted, where there are enough of others.
static void choose_samples(struct weights *w)
{
	int count = dataset_count(w->r->data), n = 0;
	w->sample = xcalloc((size_t)count + 1, sizeof *w->sample);
	for (int i = 0; i < count; i++)
		n += !probe_has(w->r->probe, i);
	bool others = n >= SAMPLES_MIN;
	for (int i = 0; i < count; i++)
		if (!others || !probe_has(w->r->probe, i))
			w->sample[w->n_samples++] = i;
}

static enum status open_tuner(struct weights *w, struct error *err)
{
	struct repair *r = w->r;
	choose_samples(w);
	size_t share = r->memory * ENGINE_SHARE / TUNER_SHARE;
	struct tune_options o = {.sample = w->sample, .samples = w->n_samples, .memory = share > TUNER_LEAST ? share : TUNER_LEAST,
	    .cancel = r->opt.cancel, .tell = on_tell, .tell_arg = r};
	enum status st = scales_plan(r->scales, &w->p, &r->now, err);
	if (st == STATUS_OK)
		st = tuner_open(&w->tuner, r->engine, w->p, &o, err);
	if (st == STATUS_OK) {
		size_t n = (size_t)tuner_nodes(w->tuner) + 1;
		w->row = xcalloc(n, sizeof *w->row);
		w->stays = xcalloc(n, sizeof *w->stays);
	}
	return st;
}

enum status remedy_weights(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct weights w = {.r = r, .damage = r->figures.damage};
	enum status st = STATUS_OK;
	if (dataset_count(r->data) < 2) {
		r->end = "weights are fitted on one half of the samples and judged on the other: two samples are needed at least";
		return st;
	}
	repair_tell(r, 0, "weights: the float network");
	st = open_tuner(&w, err);
	const char *left = st == STATUS_OK ? left_alone(&w) : "";
	if (*left)
		log_warn("weights of %d nodes are fitted.%s", tuner_nodes(w.tuner), left);
	if (st == STATUS_OK && tuner_nodes(w.tuner) == 0)
		r->end = *left ? left + 1 : "no weights to fit: no Conv, Gemm or MatMul with constant weights is quantized";
	if (st == STATUS_OK)
		st = tune_all(&w, err);
	if (st == STATUS_OK && w.damage < r->figures.damage) {
		bool kept = false;
		keep_rows(&w);
		struct candidate c = candidate_of(&w);
		struct tuning *t = tuning_take(c.trial.edits->tuning);
		repair_memo_keep_tuning(r->memo, t);
		tuning_drop(&t);
		st = fix_try(f, &c, &kept, err);
	}
	tuner_free(&w.tuner);
	free(w.sample);
	plan_free(&w.p);
	free(w.row);
	free(w.stays);
	return st;
}

const struct tuning *repair_tuning(const struct repair *r)
{
	return r->now.edits->tuning;
}

const struct tune_row *repair_tuned(const struct repair *r, int *n)
{
	*n = r->n_tuned;
	return r->tuned;
}
