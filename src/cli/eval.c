// qtui eval: what quantization costs at the task: float and quantized figures over a labelled data set.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/task.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "verbs.h"

enum { SHOWN = 5, SCORE_DIGITS = 4 };

// Calibration is on --calib, else on what the session calibrated on where that is still there, else on the data set.
static enum status choose_calibration(struct options *o, struct error *err)
{
	struct session *se = NULL;
	if (o->calib || !o->session || !file_exists(o->session)) { // of one that is not there open_study tells
		o->positional.at[1] = o->calib ? o->calib : o->positional.at[1];
		return STATUS_OK;
	}
	enum status st = session_read(&se, o->session, err);
	if (st == STATUS_OK && session_has_samples(se))
		o->positional.n = 1;
	session_free(&se);
	return st;
}

// ---- showing

static void print_value(double v, int width, int digits)
{
	if (isnan(v))
		printf("%*s", width, "-");
	else
		printf("%*.*f", width, digits, v);
}

static void print_row(const struct task_figure *f)
{
	int digits = task_decimals(f->name, SCORE_DIGITS);
	say("%-12s", task_word(f->name));
	print_value(f->value[TASK_FLOAT], 10, digits);
	print_value(f->value[TASK_QUANT], 11, digits);
	print_value(f->value[TASK_QUANT] - f->value[TASK_FLOAT], 12, digits);
	putchar('\n');
}

// Below the figures, the name last: it may be long.
static void print_lost(double before, double now, double change, int digits, const char *name)
{
	print_value(before, 22, digits);
	print_value(now, 11, digits);
	print_value(change, 12, digits);
	say("  %s\n", name);
}

static void print_classes(const struct task_report *r)
{
	int n;
	const struct task_class **lost = task_classes_lost(r, &n);
	if (n)
		puts("\nClasses that lost most:");
	for (int i = 0; i < n && i < SHOWN; i++) {
		char number[TASK_CLASS_NAME];
		const double *v = lost[i]->value;
		print_lost(v[TASK_FLOAT], v[TASK_QUANT], v[TASK_QUANT] - v[TASK_FLOAT], SCORE_DIGITS, task_class_name(lost[i], number));
	}
	free(lost);
}

static void print_samples(const struct task_report *r)
{
	bool any = false;
	for (int i = 0; i < r->n_samples && i < SHOWN; i++) {
		double lost =
		    (r->kind == TASK_AGREE ? 1 : r->sample[i].value[TASK_FLOAT]) - r->sample[i].value[TASK_QUANT];
		if (!(lost > 0))
			break;
		if (!any)
			puts("\nSamples that lost most:");
		any = true;
		print_lost(r->sample[i].value[TASK_FLOAT], r->sample[i].value[TASK_QUANT], -lost, task_decimals(r->figure[0].name, SCORE_DIGITS),
		    r->sample[i].name);
	}
}

static void print_interval(const struct task_interval *i, const char *figure)
{
	int digits = task_decimals(figure, SCORE_DIGITS);
	printf("\n%s %+.*f, 95 %% interval %+.*f to %+.*f (bootstrap over the samples)\n", task_word(figure), digits, i->difference, digits,
	    i->low, digits, i->high);
}

static void print_blind(const struct task_report *r)
{
	char text[TASK_BLIND_TEXT];
	task_tell_blind(text, sizeof text, r, "qtui analyze --findings --eval DATASET");
	printf("\n%s\n", text);
}

static void print_report(const struct study *st, const struct snapshot *s)
{
	const struct task_report *r = s->task;
	printf("%s, %s, %d edit%s, calibrated on %d sample%s; %d sample%s measured in %.1f s\n", s->target,
	    calib_name(s->method), s->n_edits, plural(s->n_edits), dataset_count(study_dataset(st)),
	    plural(dataset_count(study_dataset(st))), r->samples[TASK_QUANT], plural(r->samples[TASK_QUANT]), s->timing.task_s);
	say("%s\n", r->note);
	puts("");
	printf("%-12s%10s%11s%12s\n", "", "float", "quantized", "difference");
	for (int i = 0; i < r->n_figures; i++)
		if (i == 0 || !isnan(r->figure[i].value[TASK_FLOAT]) || !isnan(r->figure[i].value[TASK_QUANT]))
			print_row(&r->figure[i]);
	if (r->has_interval)
		print_interval(&r->interval, r->figure[0].name);
	if (task_is_blind(r))
		print_blind(r);
	print_classes(r);
	print_samples(r);
}

static enum status write_json(const struct snapshot *s, const char *path, struct error *err)
{
	cJSON *o = task_report_json(s->task);
	json_add_text(o, "target", s->target);
	json_add_text(o, "calibration", calib_name(s->method));
	enum status st = json_write(o, path, false, err);
	cJSON_Delete(o);
	return st;
}

static enum status show(const struct study *st, const struct snapshot *s, const struct options *o, struct error *err)
{
	if (!s->task || s->task_old)
		return error_set(err, STATUS_CANCELLED, "nothing was measured");
	if (!o->json || (!o->quiet && !options_take_stdout(o)))
		print_report(st, s);
	return o->json ? write_json(s, o->json, err) : STATUS_OK;
}

// With a session the model may be the session's: then DATASET stands alone. (A configuration's is among the words.)
static enum status take_dataset(struct options *o, struct error *err)
{
	struct list *words = &o->positional;
	if (words->n == 1 && o->session) {
		list_add(words, words->at[0]);
		words->at[0] = NULL;
	}
	if (words->n > 2)
		return error_set(err, STATUS_USAGE, "unexpected argument %s", words->at[2]);
	if (words->n != 2)
		return error_set(err, STATUS_USAGE,
		    "MODEL and DATASET are needed: qtui eval MODEL DATASET, or DATASET beside a --session or --config that names the model");
	o->study.task.data = words->at[1];
	o->study.calibrate_only = true;
	return STATUS_OK;
}

// What eval measures: the task.
static enum status read_task_checks(struct check *c, const struct options *o, struct error *err)
{
	enum status st = read_checks(c, o, err);
	if (st == STATUS_OK && !(isnan(c->min_snr) && isnan(c->min_cos)))
		st = error_set(err, STATUS_USAGE, "--check: eval measures the task only; qtui analyze measures snr and cos");
	return st;
}

static enum status evaluate(struct options *o, struct study **st, struct session **se, struct snapshot **s, struct error *err)
{
	struct error of_session = {0};
	enum status status = take_dataset(o, err);
	if (status == STATUS_OK)
		status = check_output(o->json, err);
	if (status == STATUS_OK)
		status = choose_calibration(o, err);
	if (status == STATUS_OK)
		status = check_session(o, err);
	if (status == STATUS_OK)
		status = open_study(st, se, o, err);
	if (status != STATUS_OK)
		return status;
	interrupts_hold();
	status = run_study(*st, o->quiet, err);
	enum status saved = status == STATUS_OK ? save_session(*st, *se, o, &of_session) : STATUS_OK;
	interrupts_release();
	if (status != STATUS_OK)
		return status;
	*s = study_snapshot(*st);
	return first_failure(show(*st, *s, o, err), saved, &of_session, err);
}

int verb_eval(struct options *o)
{
	struct error err = {0};
	struct study *st = NULL;
	struct session *se = NULL;
	struct snapshot *s = NULL;
	struct check check;
	enum status status = read_task_checks(&check, o, &err);
	if (status == STATUS_OK)
		status = evaluate(o, &st, &se, &s, &err);
	if (status == STATUS_OK)
		status = check_snapshot(&check, s, &err);
	snapshot_drop(&s);
	study_close(&st);
	session_free(&se);
	return status == STATUS_OK ? EXIT_DONE : fail(&err);
}
