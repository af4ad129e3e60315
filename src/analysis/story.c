// The story of a loss: figures put into sentences.
#include "qtui/analysis/story.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/task.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "study_impl.h"

enum { CHAPTERS = 3, PLACES = 3, EVIDENCE = 4, EDIT = 120 };
static const double GOOD_DB = 30, MOST_DB = 60; // of an output; what counts as no noise at all
static const double INHERITED_DB = 6;           // better alone than now by this: the noise came from upstream
static const double MASKED_ALONE = 0.25, MASKED_GAIN = 0.02; // of the damage: alone at least, mended alone at most
static const double LEAST_GOAL_DB = 25, GOAL_DB = 3; // a goal to propose, and how far above what there is
static const double BLIND = 0.01;               // of a task metric
static const double PLACE = 0.05;               // of the damage: who does less is not named

const char *story_part_name(enum story_part p)
{
	static const char *const name[STORY_PARTS] = {[STORY_LOSS] = "loss", [STORY_WHERE] = "where", [STORY_CAUSE] = "cause",
	    [STORY_REMEDY] = "remedy", [STORY_GAIN] = "gain", [STORY_NEXT] = "next"};
	return name[p];
}

struct telling {
	const struct snapshot *s;
	const struct findings *f;
	struct story *out;
	size_t cap;
	int chapter, node, finding;
	bool lost;             // there is a loss to explain
	bool blind;            // the float network itself does not see what the labels say
	double worst_db;       // of the outputs
};

static void PRINTF(3, 4) say(struct telling *t, enum story_part part, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int size = vsnprintf(NULL, 0, fmt, ap) + 1;
	va_end(ap);
	char *text = xcalloc((size_t)size, 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)size, fmt, ap);
	va_end(ap);
	t->out->at = xgrow(t->out->at, &t->cap, (size_t)t->out->n + 1, sizeof *t->out->at);
	t->out->at[t->out->n++] = (struct story_line){part, t->chapter, text, t->node, t->finding};
}

static const char *name_of(const struct telling *t, int node)
{
	return t->s->g->node[node].name;
}

// ---- how much

static void tell_task(struct telling *t)
{
	const struct task_report *r = t->s->task;
	const struct task_figure *f = &r->figure[0];
	double lost = f->value[TASK_FLOAT] - f->value[TASK_QUANT];
	bool chance = r->has_interval && r->interval.low <= 0 && r->interval.high >= 0;
	if (isnan(lost))
		return;
	t->lost |= lost > 0 && !chance;
	if (lost == 0)
		say(t, STORY_LOSS, "%s %.3f in float and quantized, over %d sample%s.", task_word(f->name), f->value[TASK_FLOAT], r->samples[TASK_QUANT],
		    plural(r->samples[TASK_QUANT]));
	else if (r->has_interval)
		say(t, STORY_LOSS, "%s %.3f in float, %.3f quantized: %.3f ±%.3f %s over %d sample%s%s.", task_word(f->name), f->value[TASK_FLOAT],
		    f->value[TASK_QUANT], fabs(lost), (r->interval.high - r->interval.low) / 2, lost < 0 ? "gained" : "lost", r->samples[TASK_QUANT], plural(r->samples[TASK_QUANT]),
		    chance ? ", which may be chance" : "");
	else
		say(t, STORY_LOSS, "%s %.3f in float, %.3f quantized.", task_word(f->name), f->value[TASK_FLOAT], f->value[TASK_QUANT]);
	t->blind = f->value[TASK_FLOAT] < BLIND && r->kind != TASK_AGREE;
	if (t->blind)
		say(t, STORY_LOSS, "The float network itself recognizes next to nothing: its labels, the way its outputs are read (--decoder) or its "
		    "pictures are prepared (:survey) are not its own, or the file was ruined before.");
}

// What is no number is worst.
static bool worse(double snr, double than)
{
	return !isnan(than) && (isnan(snr) || snr < than);
}

static void tell_loss(struct telling *t)
{
	const struct graph *g = t->s->g;
	int worst = -1;
	if (t->s->task && t->s->task->n_figures && !t->s->task_old)
		tell_task(t);
	for (int i = 0; i < t->s->n_outputs; i++)
		if (t->s->output[i].known && (worst < 0 || worse(figures_snr(&t->s->output[i]), figures_snr(&t->s->output[worst]))))
			worst = i;
	if (worst < 0)
		return;
	double snr = t->worst_db = figures_snr(&t->s->output[worst]);
	t->lost |= snr < GOOD_DB && !t->s->task;
	if (isnan(snr))
		say(t, STORY_LOSS, "The output %s is not made of finite numbers: look for the first tensor of which that is so.",
		    g->value[g->output[worst]].name);
	else if (isinf(snr))
		say(t, STORY_LOSS, "All outputs are exactly the float network's.");
	else
		say(t, STORY_LOSS, "The worst output, %s, has %.1f dB: its noise has %.3g %% of its power.", g->value[g->output[worst]].name, snr,
		    100 * pow(10, -snr / 10));
}

// ---- where

static void add_place(struct str *out, const struct telling *t, const struct blame *b)
{
	blame_name(out, b, t->s->g);
	str_addf(out, "%s alone %.4f", b->run ? "," : "", b->alone);
	if (!isnan(b->score_loss))
		str_addf(out, " and %.3f of the %s", b->score_loss, task_word(t->s->blames->task));
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
		say(t, STORY_WHERE, "Measured (blame%s): everything quantized does %.4f of damage, %s.", t->s->blames_old ? " of an earlier state" : "",
		    b->total, str_text(&places));
	t->node = -1;
	blames_halves(&halves, b);
	if (n && halves.len)
		say(t, STORY_WHERE, "Damage of weights and of activations quantized alone: %s.", str_text(&halves));
	str_done(&places);
	str_done(&halves);
}

// Where nothing is quantized again elements are only moved, with the noise that they have: the figure alone is the producer's.
static bool only_passes(const struct telling *t, int node, const struct site *site)
{
	return (t->s->g->node[node].op->flags & OPF_MOVES) && site->state == SLOT_OVERLAPPED;
}

// The nodes whose own quantization makes the most noise.
static void tell_noise(struct telling *t)
{
	int best[PLACES];
	double noise[PLACES], all = 0;
	struct str places = {0};
	int n = 0;
	for (int node = 0; node < t->s->n_rows; node++) {
		const struct site *site = snapshot_output(t->s, node);
		bool makes = site && site->layerwise.known && !site->layerwise.pooled.exact && !only_passes(t, node, site);
		double nsr = makes ? fmin(site->layerwise.pooled.nsr, 1) : 0;
		int at = n;
		all += nsr;
		for (; at > 0 && nsr > noise[at - 1]; at--)
			if (at < PLACES) {
				noise[at] = noise[at - 1];
				best[at] = best[at - 1];
			}
		if (nsr > 0 && at < PLACES) {
			noise[at] = nsr;
			best[at] = node;
			n += n < PLACES;
		}
	}
	for (int i = 0; i < n; i++)
		str_addf(&places, "%s%s %.*f %%", i ? ", " : "", name_of(t, best[i]), noise[i] < 0.1 * all, 100 * noise[i] / all);
	t->node = n ? best[0] : -1;
	if (n)
		say(t, STORY_WHERE, "By the figures, of all noise that nodes make alone: %s.", str_text(&places));
	t->node = -1;
	str_done(&places);
}

struct jump {
	int node;
	double from, to;
};

static double noise_of(double db)
{
	return pow(10, -db / 10);
}

// Where most noise is added between what a node reads and what it makes. What has no figure of its own has that of what it reads.
static struct jump find_jump(const struct snapshot *s)
{
	const struct graph *g = s->g;
	struct jump worst = {.node = -1};
	double *at = xcalloc((size_t)g->n_values + 1, sizeof *at);
	bool *known = xcalloc((size_t)g->n_values + 1, sizeof *known);
	for (int v = 0; v < g->n_values; v++)
		at[v] = MOST_DB;
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT && s->site[i].graphwise.known) {
			at[s->site[i].value] = fmin(figures_snr(&s->site[i].graphwise), MOST_DB);
			known[s->site[i].value] = true;
		}
	for (int i = 0; i < s->n_outputs; i++) // also of what computes in float
		if (s->output[i].known && !isnan(figures_snr(&s->output[i]))) {
			at[g->output[i]] = fmin(figures_snr(&s->output[i]), MOST_DB);
			known[g->output[i]] = true;
		}
	for (int n = 0; n < g->n_nodes; n++) {
		double from = MOST_DB;
		for (int i = 0; i < g->node[n].n_in; i++)
			from = g->node[n].in[i] >= 0 ? fmin(from, at[g->node[n].in[i]]) : from;
		for (int i = 0; i < g->node[n].n_out; i++) {
			int v = g->node[n].out[i];
			if (v >= 0 && !known[v])
				at[v] = from;
			else if (v >= 0 && (worst.node < 0 || noise_of(at[v]) - noise_of(from) > noise_of(worst.to) - noise_of(worst.from)))
				worst = (struct jump){n, from, at[v]};
		}
	}
	free(at);
	free(known);
	return worst;
}

static const char *origin_of_noise(const struct site *site, double now)
{
	double alone = site ? figures_snr(&site->layerwise) : NAN;
	if (!site)
		return "; it computes in float: the noise is in what it reads";
	if (isnan(alone))
		return "";
	return alone > now + INHERITED_DB ? "; alone it would be good: it passes on the noise that it reads" : ", and the noise arises there";
}

static void tell_jump(struct telling *t)
{
	struct jump j = find_jump(t->s);
	int row = j.node >= 0 && t->s->row[j.node].fused_into >= 0 ? t->s->row[j.node].fused_into : j.node;
	if (row < 0 || !(j.from - j.to > 3))
		return;
	char from[48] = "no noise in what it reads";
	if (j.from < MOST_DB)
		snprintf(from, sizeof from, "%.1f dB at what it reads", j.from);
	t->node = row;
	say(t, STORY_WHERE, "The figures fall most at %s: %s, %.1f dB behind it%s.", name_of(t, row), from, j.to,
	    origin_of_noise(snapshot_output(t->s, row), j.to));
	t->node = -1;
}

// ---- why, and what mends it

// The part of the finding's nodes that gains most at 16 bit.
static const struct blame *blame_of(const struct telling *t, const struct finding *f)
{
	const struct blames *b = t->s->blames;
	const struct blame *best = NULL;
	for (int i = 0; b && !t->s->blames_old && i < f->n_nodes; i++) {
		int at = f->node[i] < b->n_nodes ? b->of_node[f->node[i]] : -1;
		const struct blame *one = at >= 0 ? &b->at[at] : NULL;
		if (one && !isnan(one->in_wide.damage) && (!best || one->in_wide.damage > best->in_wide.damage))
			best = one;
	}
	return best;
}

// It ruins the result alone, and mending it alone changes nothing: others, by themselves enough to ruin it, are left.
static bool is_masked(const struct telling *t, const struct blame *b)
{
	double total = t->s->blames->total;
	return b->alone > MASKED_ALONE * total && b->in_wide.damage < MASKED_GAIN * total && !(b->in_float.damage >= MASKED_GAIN * total);
}

static void tell_gain(struct telling *t, const struct finding *f)
{
	const struct blame *b = blame_of(t, f);
	const char *task = t->s->blames ? task_word(t->s->blames->task) : "";
	if (b && is_masked(t, b))
		say(t, STORY_GAIN, "Measured (blame): %s alone does %.4f of %.4f damage, yet mending only it saves nothing, since others do as much: "
		    "the gain shows when they are mended too.", name_of(t, b->node), b->alone, t->s->blames->total);
	else if (b && !isnan(b->in_wide.score))
		say(t, STORY_GAIN, "Measured (blame): %s gains %+.3f %s at 16 bit, %+.3f in float, for %.2f %% of the MACs.", name_of(t, b->node),
		    b->in_wide.score, task, b->in_float.score, 100 * b->wide);
	else if (b)
		say(t, STORY_GAIN, "Measured (blame): %s at 16 bit saves %.4f of %.4f damage, in float %.4f, for %.2f %% of the MACs.",
		    name_of(t, b->node), b->in_wide.damage, t->s->blames->total, b->in_float.damage, 100 * b->wide);
	if (isfinite(f->gain_db))
		say(t, STORY_GAIN, "Predicted from its histogram: %+.1f dB at this tensor%s.", f->gain_db, b ? " with the remedy above" : "");
	if (isfinite(f->share))
		say(t, STORY_GAIN, "At most %.*f %% of all noise, what joints and logits lose counted too.", f->share < 0.1, 100 * f->share);
	else if (!b && !isfinite(f->gain_db) && f->edit)
		say(t, STORY_GAIN, "Not known beforehand: the next run measures it.");
}

static void tell_remedy(struct telling *t, const struct finding *f)
{
	struct str edit = {0};
	if (f->edit)
		study_add_step(&edit, f->edit, EDIT);
	say(t, STORY_REMEDY, "%s%s%s", f->advice, f->edit ? ". Edit: :" : "", str_text(&edit));
	str_done(&edit);
}

static void tell_cause(struct telling *t, const struct finding *f)
{
	struct str evidence = {0};
	t->node = f->n_nodes ? f->node[0] : -1;
	for (int i = 0; i < f->n_evidence && i < EVIDENCE; i++)
		str_addf(&evidence, "%s%s %.4g", i ? ", " : " (", f->evidence[i].name, f->evidence[i].value);
	say(t, STORY_CAUSE, "%s: %s%s%s", finding_name(f->rule), f->text, str_text(&evidence), f->n_evidence ? ")" : "");
	str_done(&evidence);
	if (f->advice)
		tell_remedy(t, f);
	tell_gain(t, f);
	t->node = -1;
}

static void tell_causes(struct telling *t)
{
	int n = t->f ? t->f->n : 0;
	for (int i = 0; i < n && i < CHAPTERS; i++) {
		t->chapter = i + 1;
		t->finding = i;
		tell_cause(t, &t->f->at[i]);
	}
	t->chapter = 0;
	t->finding = -1;
	if (n > CHAPTERS)
		say(t, STORY_CAUSE, "And %d more finding%s of less weight.", n - CHAPTERS, plural(n - CHAPTERS));
	else if (n == 0 && t->lost)
		say(t, STORY_CAUSE, "No rule names one cause: the noise of many nodes adds up.");
	else if (n == 0)
		say(t, STORY_CAUSE, "Nothing here explains a loss.");
}

static void tell_remedies(struct telling *t)
{
	if (!t->s->blames || t->s->blames_old)
		say(t, STORY_NEXT, ":blame 30s (qtui search --blame) measures what each tensor does to the result, and what 16 bit there would gain.");
	static const char *const task_goal[TASK_KINDS] = {[TASK_DETECT] = "map_drop<0.005", [TASK_CLASSIFY] = "top1_drop<0.005"};
	char goal[32];
	double above = isfinite(t->worst_db) ? ceil(t->worst_db) + GOAL_DB : 0;
	const char *of_task = t->s->task ? task_goal[t->s->task->kind] : NULL;
	if (of_task)
		snprintf(goal, sizeof goal, "%s", of_task);
	else
		snprintf(goal, sizeof goal, "snr>%.0f", fmax(LEAST_GOAL_DB, above));
	say(t, STORY_NEXT, ":fix %s 2m (qtui search) tries remedies one by one, measures each, keeps what pays and stops at the goal.", goal);
}

static void tell_next(struct telling *t)
{
	if (!t->blind && (t->lost || (t->f && t->f->n)))
		tell_remedies(t);
	if (t->s->task && t->f && !t->f->surveyed)
		say(t, STORY_NEXT, ":survey (qtui analyze --findings) asks the labels whether pictures are prepared as in the training: "
		    "colours, range, mean, resizing.");
}

struct story *story_new(const struct snapshot *s, const struct findings *f)
{
	struct story *out = xcalloc(1, sizeof *out);
	atomic_store(&out->refs, 1);
	struct telling t = {.s = s, .f = f, .out = out, .node = -1, .finding = -1};
	tell_loss(&t);
	if (s->blames)
		tell_blame(&t);
	if (!s->blames || s->blames_old)
		tell_noise(&t);
	tell_jump(&t);
	tell_causes(&t);
	tell_next(&t);
	return out;
}

struct story *story_take(struct story *s)
{
	if (s)
		atomic_fetch_add(&s->refs, 1);
	return s;
}

void story_drop(struct story **sp)
{
	struct story *s = *sp;
	*sp = NULL;
	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	for (int i = 0; i < s->n; i++)
		free(s->at[i].text);
	free(s->at);
	free(s);
}

struct cJSON *story_json(const struct story *s, const struct graph *g)
{
	cJSON *a = cJSON_CreateArray();
	for (int i = 0; i < s->n; i++) {
		const struct story_line *l = &s->at[i];
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "part", story_part_name(l->part));
		if (l->chapter)
			cJSON_AddNumberToObject(o, "cause", l->chapter);
		json_add_text(o, "node", l->node >= 0 ? g->node[l->node].name : NULL);
		json_add_text(o, "text", l->text);
		cJSON_AddItemToArray(a, o);
	}
	return a;
}
