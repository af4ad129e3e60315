// qtui analyze: the analysis in batch. Without --json, --report or --findings it prints the worst tensors.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/story.h"
#include "qtui/analysis/isolate.h"
#include "qtui/analysis/report.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "verbs.h"

enum { SHOWN = 10 };

static int by_snr(const void *a, const void *b)
{
	const struct site *x = *(const struct site *const *)a, *y = *(const struct site *const *)b;
	int order = figures_order(&x->graphwise, &y->graphwise);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static void print_db(double v, bool exact)
{
	if (exact)
		printf("%9s", "exact");
	else if (isfinite(v))
		printf("%9.2f", v);
	else
		printf("%9s", "-");
}

static void print_cosine(int width, int digits, double v)
{
	if (isfinite(v))
		printf("%*.*f", width, digits, v);
	else
		printf("%*s", width, "-");
}

static void print_summary(const struct snapshot *s)
{
	const struct site **order = xcalloc((size_t)s->n_sites + 1, sizeof *order);
	char samples[64];
	int n = 0;
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT && s->site[i].graphwise.known)
			order[n++] = &s->site[i];
	qsort(order, (size_t)n, sizeof *order, by_snr);
	printf("%s, %s, %s, %d edit%s: %d tensor%s in %.2f s\n\n", s->target, calib_name(s->method),
	    snapshot_samples(s, samples, sizeof samples), s->n_edits, plural(s->n_edits), n, plural(n), s->timing.total_s);
	if (n == 0)
		printf("Nothing is quantized: by the edits, or the target leaves all operators of this network in float, or they lie inside of\n"
		    "an If, Loop or Scan.\n");
	else
		printf("The worst by graphwise SNR (dB, higher is better; alone: this node quantized by itself):\n%9s%9s%9s  %s\n", "SNR dB",
		    "alone dB", "cosine", "node");
	for (int i = 0; i < n && i < SHOWN; i++) {
		print_db(order[i]->graphwise.pooled.snr_db, order[i]->graphwise.pooled.exact);
		print_db(order[i]->layerwise.known ? order[i]->layerwise.pooled.snr_db : NAN, order[i]->layerwise.pooled.exact);
		print_cosine(9, 4, order[i]->graphwise.pooled.cosine);
		say("  %s\n", graph_output_name(s->g, order[i]->value));
	}
	for (int i = 0; i < s->n_outputs; i++) {
		if (!s->output[i].known)
			continue;
		say("output %s:", s->g->value[s->g->output[i]].name);
		const struct metrics *f = &s->output[i].pooled;
		print_db(f->snr_db, f->exact);
		printf("%s, cosine ", f->exact || isnan(f->snr_db) ? "" : " dB");
		print_cosine(0, 5, f->cosine);
		printf("\n");
	}
	free(order);
}

static void print_task(const struct snapshot *s)
{
	const struct task_report *r = s->task;
	if (!r)
		return;
	const struct task_figure *f = &r->figure[0];
	int digits = task_decimals(f->name, 4);
	printf("\n%s", task_word(f->name));
	if (r->kind != TASK_AGREE)
		printf(" %.*f ->", digits, f->value[TASK_FLOAT]);
	if (isnan(f->value[TASK_QUANT]))
		printf(" not known");
	else
		printf(" %.*f", digits, f->value[TASK_QUANT]);
	if (r->has_interval)
		printf(" (%+.*f, 95 %% interval %+.*f to %+.*f)", digits, r->interval.difference, digits, r->interval.low, digits,
		    r->interval.high);
	say(" over %d sample%s of %s%s\n", r->samples[TASK_QUANT], plural(r->samples[TASK_QUANT]), r->dataset,
	    s->task_calibrated ? ", the same that were calibrated on" : "");
}

enum { SHARE_TEXT = 24 };

// "none", "less than 0.1 %", "1.2 %", "15 %"
static const char *share_text(char out[SHARE_TEXT], double share)
{
	if (share == 0)
		snprintf(out, SHARE_TEXT, "none");
	else if (share < 0.0005)
		snprintf(out, SHARE_TEXT, "less than 0.1 %%");
	else
		snprintf(out, SHARE_TEXT, "%.*f %%", share < 0.1, 100 * share);
	return out;
}

static void print_finding(int number, const struct finding *f)
{
	char share[SHARE_TEXT];
	printf("%s", number > 1 ? "\n" : "");
	say("%2d. %s: %s\n", number, finding_name(f->rule), f->text);
	printf("    evidence:");
	for (int i = 0; i < f->n_evidence; i++)
		printf("%s %s %.4g", i ? "," : "", f->evidence[i].name, f->evidence[i].value);
	printf("\n");
	if (f->advice)
		say("    remedy: %s\n", f->advice);
	if (f->edit)
		say("    edit: %s\n", f->edit);
	if (isfinite(f->gain_db))
		printf("    expected at this tensor: %+.1f dB\n", f->gain_db);
	if (isfinite(f->share))
		printf("    share of all noise that arises: %.*f %%\n", f->share < 0.1, 100 * f->share);
	if (isfinite(f->reach))
		printf("    of the noise at the outputs: about %.*f %%, taking %s of the MACs above 8 bit\n", f->reach < 0.1, 100 * f->reach,
		    share_text(share, f->wide));
}

static void print_story(const struct story *story)
{
	for (int i = 0; i < story->n; i++) {
		const struct story_line *l = &story->at[i];
		if (l->chapter)
			say("%s %d: %s\n", story_part_name(l->part), l->chapter, l->text);
		else
			say("%s: %s\n", story_part_name(l->part), l->text);
	}
	printf("\n");
}

static void print_findings(const struct snapshot *s)
{
	const struct findings *f = s->findings;
	struct story *story = story_new(s, f);
	print_story(story);
	story_drop(&story);
	if (!f || f->n == 0)
		printf("No findings.\n");
	for (int i = 0; f && i < f->n; i++)
		print_finding(i + 1, &f->at[i]);
}

struct isolated_row {
	int node;
	const struct figures *figures;
};

// Nothing but zeros has no ratio: noise there is the worst.
static double noise(const struct figures *f)
{
	return f->pooled.exact ? 0 : isnan(f->nsr_mean) ? INFINITY : f->nsr_mean;
}

static int by_isolated(const void *a, const void *b)
{
	const struct isolated_row *x = a, *y = b;
	double dx = noise(x->figures), dy = noise(y->figures);
	return dx != dy ? (dx < dy ? 1 : -1) : x->node - y->node;
}

// As PPQ prints it: noise over signal, the mean of the samples' ratios.
static void print_isolation(const struct isolation *i, const struct snapshot *s)
{
	struct isolated_row *row = xcalloc((size_t)i->n + 1, sizeof *row);
	int n = 0;
	for (int node = 0; node < i->n; node++)
		if (i->node[node].known)
			row[n++] = (struct isolated_row){node, &i->node[node]};
	qsort(row, (size_t)n, sizeof *row, by_isolated);
	printf("\nWhat each node alone does to the outputs (N/S: noise over signal, lower is better):\n%9s%9s  %s\n", "N/S %", "SNR dB", "node");
	for (int k = 0; k < n; k++) {
		printf("%9.4f", 100 * row[k].figures->nsr_mean);
		print_db(row[k].figures->pooled.snr_db, row[k].figures->pooled.exact);
		say("  %s\n", s->g->node[row[k].node].name);
	}
	free(row);
}

static enum status write_results(const struct options *o, struct study *st, const struct snapshot *s, struct error *err)
{
	struct error of_report = {0};
	enum status status = STATUS_OK;
	if (o->json) {
		cJSON *j = report_json(st, s);
		status = json_write(j, o->json, false, err);
		cJSON_Delete(j);
	}
	if (o->report)
		status = first_failure(status, report_write(st, s, o->report, &of_report), &of_report, err);
	if (status != STATUS_OK || options_take_stdout(o))
		return status;
	if (o->findings) {
		print_findings(s);
	} else if (!o->json && !o->report) {
		print_summary(s);
		if (study_isolation(st, s))
			print_isolation(study_isolation(st, s), s);
		print_task(s);
	}
	return status;
}

struct isolating {
	struct study *st;
	const struct snapshot *snap;
	atomic_bool cancel;
	atomic_int done;
};

static enum status isolate(void *arg, struct error *err)
{
	struct isolating *w = arg;
	return isolate_nodes(w->st, w->snap, &w->cancel, &w->done, err);
}

static enum status isolate_study(struct study *st, const struct snapshot *s, const struct options *o, struct error *err)
{
	struct isolating w = {.st = st, .snap = s};
	const struct watch work = {isolate, &w, "layerwise", &w.done, isolate_count(s), &w.cancel, .quiet = o->quiet};
	return o->layerwise_output ? run_watched(&work, err) : STATUS_OK;
}

// Minutes of work must not end in a misspelt name.
static enum status check_results(const struct options *o, struct check *check, struct error *err)
{
	enum status status = read_checks(check, o, err);
	if (status == STATUS_OK)
		status = check_output(o->json, err);
	if (status == STATUS_OK)
		status = check_output(o->report, err);
	if (status == STATUS_OK)
		status = check_session(o, err);
	return status == STATUS_OK && o->report ? report_check(o->report, err) : status;
}

// What was measured goes into the session also where a result cannot be written,
// and the other way round: a disk that is full, say. The session first: until then, signals are held.
static enum status write_all(struct options *o, struct study *st, const struct session *se, const struct snapshot *s, struct error *err)
{
	struct error of_session = {0};
	enum status saved = save_session(st, se, o, &of_session);
	interrupts_release();
	enum status status = write_results(o, st, s, err);
	return first_failure(status, saved, &of_session, err);
}

// What is made of a run: figures, reports, the session. Where the task could not be measured there is nothing
// to survey. What is asked beside the figures and cannot be had keeps them back no more than a bad label does, and neither
// does who stops it.
static enum status use_run(struct options *o, const struct check *check, struct study *st, const struct session *se, bool has_task,
    struct error *err)
{
	struct error of_results = {0};
	enum status status = has_task ? survey_study(st, o, err) : STATUS_OK;
	struct snapshot *s = study_snapshot(st);
	if (status == STATUS_OK)
		status = isolate_study(st, s, o, err);
	if (status == STATUS_CANCELLED)
		error_set(err, status, "cancelled: the figures that were complete by then are given");
	status = first_failure(status, write_all(o, st, se, s, &of_results), &of_results, err);
	if (status == STATUS_OK)
		status = check_snapshot(check, s, err);
	snapshot_drop(&s);
	return status;
}

// A run whose task could not be measured has its figures all the same:
// minutes of work are not thrown away for a bad label.
static bool has_figures(struct study *st)
{
	struct snapshot *s = study_snapshot(st);
	bool has = s->stage == STAGE_DONE;
	snapshot_drop(&s);
	return has;
}

int verb_analyze(struct options *o)
{
	struct error err = {0}, own = {0};
	struct study *st = NULL;
	struct session *se = NULL;
	struct check check;
	o->may_start_session = o->study.batch = true;
	enum status status = check_results(o, &check, &err);
	if (status == STATUS_OK)
		status = open_study(&st, &se, o, &err);
	if (status == STATUS_OK) {
		interrupts_hold();
		status = run_study(st, o->quiet, &err);
		if (status == STATUS_OK)
			status = use_run(o, &check, st, se, true, &err);
		else if (has_figures(st) && use_run(o, &check_nothing, st, se, false, &own) != STATUS_OK)
			fail(&own);
		interrupts_release();
	}
	study_close(&st);
	session_free(&se);
	return status == STATUS_OK ? EXIT_DONE : fail(&err);
}
