// Where a loss arises: what has been measured (blame), else what nodes make alone, and where the figures fall.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/logits.h"
#include "qtui/analysis/task.h"
#include "telling.h"

enum { PLACES = 3 };
static const double MOST_DB = 60;     // what counts as no noise at all
static const double INHERITED_DB = 6; // better alone than now by this: the noise came from upstream
static const double PLACE = 0.05;     // of the damage: who does less is not named

static void add_place(struct str *out, const struct telling *t, const struct blame *b)
{
	blame_name(out, b, t->s->g);
	str_addf(out, "%s alone %.4f", b->run ? "," : "", b->alone);
	if (!isnan(b->score_loss))
		str_addf(out, " and %.*f of the %s", task_decimals(t->s->blames->task, 3), b->score_loss, task_word(t->s->blames->task));
}

static void tell_blame(struct telling *t)
{
	const struct blames *b = t->s->blames;
	struct str places = {0}, halves = {0};
	int n = 0;
	for (; n < b->n && n < PLACES && b->at[n].alone > PLACE * b->total; n++) {
		str_add(&places, n ? "; " : "");
		add_place(&places, t, &b->at[n]);
	}
	t->node = n ? b->at[0].node : -1;
	if (n)
		tell(t, STORY_WHERE, "Measured (blame%s): everything quantized does %.4f of damage, %s.",
		    t->s->blames_old ? " of an earlier state" : "", b->total, str_text(&places));
	t->node = -1;
	blames_halves(&halves, b);
	if (n && halves.len)
		tell(t, STORY_WHERE, "Damage of weights and of activations quantized alone: %s.", str_text(&halves));
	str_done(&places);
	str_done(&halves);
}

static double noise_of(double db)
{
	return pow(10, -db / 10);
}

// A node that quantizes nothing again only moves elements, noise and all: its figure alone is that of their producer.
static bool only_passes(const struct telling *t, int node, const struct site *site)
{
	return (t->s->g->node[node].op->flags & OPF_MOVES) && site->state == SLOT_OVERLAPPED;
}

// Noise over signal of a node alone, as far as it does harm:
// means that only sums read and logits clipped far below zero do none.
static double noise_made(const struct snapshot *s, const struct site *site)
{
	double in_sums = snapshot_mean_in_sums(s, site), behind;
	if (logits_hide(s, site, &behind))
		return noise_of(behind);
	return fmin(isnan(in_sums) ? site->layerwise.pooled.nsr : in_sums, 1);
}

static bool is_hidden(const struct telling *t, int node)
{
	return t->f && t->f->hidden && node >= 0 && t->f->hidden[node];
}

// Noise over signal that a node makes alone; 0: none, or it is not known.
static double noise_of_node(const struct telling *t, int node)
{
	const struct site *site = snapshot_output(t->s, node);
	bool makes = site && !is_hidden(t, node) && site->layerwise.known && !site->layerwise.pooled.exact && !only_passes(t, node, site);
	return makes ? noise_made(t->s, site) : 0;
}

// What a joint takes from a narrow input beyond what whoever makes it takes already:
// that may quantize on the joint's grid.
static double noise_of_joint(const struct telling *t, const struct finding *f)
{
	return f->damage - (f->n_nodes > 1 ? noise_of_node(t, f->node[1]) : 0);
}

// What a joint takes from its narrow inputs, and a mask from logits,
// is in none of the node's own figures: a finding has it.
static double noise_found(const struct telling *t, int node)
{
	double noise = 0;
	for (int i = 0; t->f && i < t->f->n; i++) {
		const struct finding *f = &t->f->at[i];
		if (f->rule == FINDING_joined_ranges && f->node[0] == node)
			noise += fmax(noise_of_joint(t, f), 0);
		if (f->rule == FINDING_masked_logits && f->node[0] == node)
			noise += f->damage;
	}
	return noise;
}

struct place {
	int node;
	double noise;
};

// Puts it among those that make most, of which there are *n; of equal ones the first stays in front.
static void rank_place(struct place best[PLACES], int *n, struct place p)
{
	int at = *n;
	for (; at > 0 && p.noise > best[at - 1].noise; at--)
		if (at < PLACES)
			best[at] = best[at - 1];
	if (at < PLACES) {
		best[at] = p;
		*n += *n < PLACES;
	}
}

// The nodes whose own quantization makes the most noise.
static void tell_noise(struct telling *t)
{
	struct place best[PLACES];
	struct str places = {0};
	double all = 0;
	int n = 0;
	for (int node = 0; node < t->s->n_rows; node++) {
		double noise = noise_of_node(t, node);
		all += noise;
		noise = fmax(noise, noise_found(t, node));
		if (noise > 0)
			rank_place(best, &n, (struct place){node, noise});
	}
	all = t->f ? fmax(all, t->f->noise) : all; // the whole that remedies speak of
	for (int i = 0; i < n; i++)
		str_addf(
		    &places, "%s%s %.*f %%", i ? ", " : "", telling_name(t, best[i].node), best[i].noise < 0.1 * all, 100 * best[i].noise / all);
	t->node = n ? best[0].node : -1;
	t->chief = n && best[0].noise > all / 2 ? best[0].node : -1;
	if (n)
		tell(t, STORY_WHERE, "By the figures, of all noise that nodes make alone: %s.", str_text(&places));
	t->node = -1;
	str_done(&places);
}

struct jump {
	int node, value; // -1: none
	double from, to;
};

// at[n_values]: the SNR of each tensor, at most MOST_DB; NAN where it has no figure, or one that hides how good
// it is to the Sigmoid or Softmax behind it. Outputs also where they are computed in float. Heap.
static double *find_figures(const struct telling *t)
{
	const struct snapshot *s = t->s;
	const struct graph *g = s->g;
	double *at = xcalloc((size_t)g->n_values + 1, sizeof *at), behind;
	for (int v = 0; v < g->n_values; v++)
		at[v] = NAN;
	for (int i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];
		if (site->kind == SITE_OUTPUT && site->graphwise.known && !is_hidden(t, site->node) && !logits_hide(s, site, &behind))
			at[site->value] = fmin(figures_snr(&site->graphwise), MOST_DB);
	}
	for (int i = 0; i < s->n_outputs; i++)
		if (s->output[i].known && !isnan(figures_snr(&s->output[i])))
			at[g->output[i]] = fmin(figures_snr(&s->output[i]), MOST_DB);
	return at;
}

// The worst figure of what a node reads.
static double worst_read(const struct node *n, const double *at)
{
	double worst = MOST_DB;
	for (int i = 0; i < n->n_in; i++)
		worst = n->in[i] >= 0 ? fmin(worst, at[n->in[i]]) : worst;
	return worst;
}

// Where most noise is added between what a node reads and what it makes.
// A tensor without a figure has that of what its node reads.
static struct jump find_jump(const struct telling *t)
{
	const struct snapshot *s = t->s;
	struct jump worst = {.node = -1, .value = -1};
	double *at = find_figures(t);
	for (int n = 0; n < s->g->n_nodes; n++) {
		const struct node *node = &s->g->node[n];
		double from = worst_read(node, at);
		for (int i = 0; i < node->n_out; i++) {
			int v = node->out[i];
			if (v >= 0 && isnan(at[v]))
				at[v] = from;
			else if (v >= 0 && (worst.node < 0 || noise_of(at[v]) - noise_of(from) > noise_of(worst.to) - noise_of(worst.from)))
				worst = (struct jump){n, v, from, at[v]};
		}
	}
	free(at);
	return worst;
}

static void add_origin(struct str *out, const struct site *site, double now)
{
	double alone = site ? figures_snr(&site->layerwise) : NAN;
	if (!site)
		str_add(out, "; it computes in float: the noise is in what it reads");
	else if (alone > now + INHERITED_DB)
		str_addf(out, "; alone it has %.1f dB: the noise comes with what it reads, and weighs more here", fmin(alone, MOST_DB));
	else if (!isnan(alone))
		str_add(out, ", and the noise arises there");
}

static const struct site *site_of(const struct snapshot *s, int value)
{
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT && s->site[i].value == value)
			return &s->site[i];
	return NULL;
}

static void tell_jump(struct telling *t)
{
	struct jump j = find_jump(t);
	int row = j.node >= 0 && t->s->row[j.node].fused_into >= 0 ? t->s->row[j.node].fused_into : j.node;
	if (row < 0 || !(j.from - j.to > 3))
		return;
	char from[48] = "no noise in what it reads";
	if (j.from < MOST_DB)
		snprintf(from, sizeof from, "%.1f dB at what it reads", j.from);
	struct str origin = {0};
	const struct value *v = &t->s->g->value[j.value];
	bool several = t->s->g->node[j.node].n_out > 1;
	add_origin(&origin, site_of(t->s, j.value), j.to);
	t->node = row;
	tell(t, STORY_WHERE, "The figures fall most at %s%s%s: %s, %.1f dB behind it%s.", telling_name(t, row), several ? ", tensor " : "",
	    several ? v->name : "", from, j.to, str_text(&origin));
	t->node = -1;
	str_done(&origin);
}

void tell_where(struct telling *t)
{
	if (t->s->blames)
		tell_blame(t);
	if (!t->s->blames || t->s->blames_old)
		tell_noise(t);
	tell_jump(t);
}
