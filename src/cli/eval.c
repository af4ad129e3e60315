// qtui eval: what quantization costs at the task: float and quantized figures over a labelled data set.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/task.h"
#include "qtui/base/file.h"
#include "qtui/base/jobs.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "verbs.h"

enum { SHOWN = 5 };

struct evaluation {
	const char *dataset;
	struct study *study;
	struct session *session;
	struct snapshot *snapshot; // holds the plan
	struct dataset *data;
	struct engine *engine;
	struct task *task;
	struct task_report *report;
	atomic_int done;
	atomic_bool cancel;
	double seconds;
};

// ---- opening

// Calibration is on --calib, else on what the session calibrated on where that is still there, else on the data set.
static enum status choose_calibration(struct options *o, struct error *err)
{
	struct session *se = NULL;
	if (o->calib || !o->session) {
		o->positional.at[1] = o->calib ? o->calib : o->positional.at[1];
		return STATUS_OK;
	}
	enum status st = session_read(&se, o->session, err);
	if (st == STATUS_OK && se->calib && file_exists(se->calib))
		o->positional.n = 1;
	session_free(&se);
	return st;
}

static enum status open_parts(struct evaluation *e, struct options *o, struct error *err)
{
	struct task_options t;
	struct dataset_options all = {0};
	enum status st = read_task_options(&t, o, err);
	if (st == STATUS_OK)
		st = choose_calibration(o, err);
	o->study.calibrate_only = true;
	if (st == STATUS_OK)
		st = open_study(&e->study, &e->session, o, true, err);
	if (st != STATUS_OK)
		return st;
	const struct study_options *so = study_options(e->study);
	const struct graph *g = study_graph(e->study);
	all.pre = so->data.pre;
	st = dataset_open(&e->data, e->dataset, g, &all, err);
	if (st == STATUS_OK)
		st = task_open(&e->task, g, e->data, &t, err);
	if (st == STATUS_OK)
		e->engine =
		    engine_new(g, e->data, &(struct engine_options){.backend = so->backend, .threads = so->threads});
	return st;
}

// ---- the work

static enum status evaluate(void *arg, struct error *err)
{
	struct evaluation *e = arg;
	const struct task_pass p = {
	    .plan = snapshot_plan(e->snapshot), .last = dataset_count(e->data), .cancel = &e->cancel, .done = &e->done};
	return task_run(e->task, e->engine, &p, err);
}

static enum status run(struct evaluation *e, const struct options *o, struct error *err)
{
	enum status st = run_study(e->study, o->quiet, err);
	if (st != STATUS_OK)
		return st;
	e->snapshot = study_snapshot(e->study);
	double begin = clock_seconds();
	st = run_watched(evaluate, e, "evaluate", &e->done, task_samples(e->task), &e->cancel, o->quiet, err);
	e->seconds = clock_seconds() - begin;
	if (st != STATUS_OK)
		return st;
	e->report = task_report(e->task, task_net(e->task, task_key(e->task, NULL)),
	    task_net(e->task, task_key(e->task, snapshot_plan(e->snapshot))), TASK_DRAWS);
	return STATUS_OK;
}

// ---- showing

static void print_value(double v, int width)
{
	if (isnan(v))
		printf("%*s", width, "-");
	else
		printf("%*.4f", width, v);
}

static void print_row(const char *name, const double value[TASK_VARIANTS])
{
	printf("%-12s", name);
	print_value(value[TASK_FLOAT], 10);
	print_value(value[TASK_QUANT], 11);
	print_value(value[TASK_QUANT] - value[TASK_FLOAT], 12);
	putchar('\n');
}

static int by_loss(const void *a, const void *b)
{
	const struct task_class *x = *(const struct task_class *const *)a, *y = *(const struct task_class *const *)b;
	double lx = x->value[TASK_FLOAT] - x->value[TASK_QUANT], ly = y->value[TASK_FLOAT] - y->value[TASK_QUANT];
	return lx != ly ? (lx > ly ? -1 : 1) : (x > y) - (x < y);
}

static void print_classes(const struct task_report *r)
{
	const struct task_class **order = xcalloc((size_t)r->n_classes + 1, sizeof *order);
	int n = 0;
	for (int i = 0; i < r->n_classes; i++)
		if (r->class[i].value[TASK_FLOAT] - r->class[i].value[TASK_QUANT] > 0)
			order[n++] = &r->class[i];
	qsort(order, (size_t)n, sizeof *order, by_loss);
	if (n)
		puts("\nClasses that lost most:");
	for (int i = 0; i < n && i < SHOWN; i++) {
		char name[16];
		snprintf(name, sizeof name, "%d", order[i]->id);
		print_row(order[i]->name ? order[i]->name : name, order[i]->value);
	}
	free(order);
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
		print_value(r->sample[i].value[TASK_FLOAT], 22);
		print_value(r->sample[i].value[TASK_QUANT], 11);
		print_value(-lost, 12);
		printf("  %s\n", r->sample[i].name);
	}
}

static void print_report(const struct evaluation *e, const char *note)
{
	const struct task_report *r = e->report;
	const struct snapshot *s = e->snapshot;
	printf("%s, %s, %d edit%s, calibrated on %d samples; %d samples measured in %.1f s\n%s\n\n", s->target,
	    calib_name(s->method), s->n_edits, s->n_edits == 1 ? "" : "s", dataset_count(study_dataset(e->study)),
	    r->samples[TASK_QUANT], e->seconds, note);
	printf("%-12s%10s%11s%12s\n", "", "float", "quantized", "difference");
	for (int i = 0; i < r->n_figures; i++)
		print_row(r->figure[i].name, r->figure[i].value);
	if (r->has_interval)
		printf("\n%s %+.4f, 95 %% interval %+.4f to %+.4f (bootstrap over the samples)\n", r->figure[0].name,
		    r->interval.difference, r->interval.low, r->interval.high);
	print_classes(r);
	print_samples(r);
}

// ---- JSON

static cJSON *json_figures(const struct task_report *r, enum task_variant v)
{
	cJSON *o = cJSON_CreateObject();
	for (int i = 0; i < r->n_figures; i++)
		json_add_number(o, r->figure[i].name, r->figure[i].value[v]);
	return o;
}

static void json_pair(cJSON *o, const double value[TASK_VARIANTS])
{
	json_add_number(o, "float", value[TASK_FLOAT]);
	json_add_number(o, "quantized", value[TASK_QUANT]);
}

static cJSON *json_classes(const struct task_report *r)
{
	cJSON *list = cJSON_CreateArray();
	for (int i = 0; i < r->n_classes; i++) {
		if (r->class[i].objects == 0)
			continue;
		cJSON *o = cJSON_CreateObject();
		cJSON_AddNumberToObject(o, "id", r->class[i].id);
		json_add_text(o, "name", r->class[i].name);
		cJSON_AddNumberToObject(o, "objects", r->class[i].objects);
		json_pair(o, r->class[i].value);
		cJSON_AddItemToArray(list, o);
	}
	return list;
}

static cJSON *json_samples(const struct task_report *r)
{
	cJSON *list = cJSON_CreateArray();
	for (int i = 0; i < r->n_samples; i++) {
		cJSON *o = cJSON_CreateObject();
		json_add_text(o, "name", r->sample[i].name);
		json_pair(o, r->sample[i].value);
		cJSON_AddItemToArray(list, o);
	}
	return list;
}

static enum status write_json(const struct evaluation *e, const char *note, const char *path, struct error *err)
{
	const struct task_report *r = e->report;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "images", r->samples[TASK_QUANT]);
	json_add_text(o, "task", task_kind_name(r->kind));
	json_add_text(o, "note", note);
	json_add_text(o, "target", e->snapshot->target);
	json_add_text(o, "calibration", calib_name(e->snapshot->method));
	cJSON_AddItemToObject(o, "float", json_figures(r, TASK_FLOAT));
	cJSON_AddItemToObject(o, "quantized", json_figures(r, TASK_QUANT));
	if (r->has_interval) {
		cJSON *i = cJSON_AddObjectToObject(o, "difference");
		json_add_text(i, "of", r->figure[0].name);
		json_add_number(i, "value", r->interval.difference);
		json_add_number(i, "low", r->interval.low);
		json_add_number(i, "high", r->interval.high);
	}
	cJSON_AddItemToObject(o, "classes", json_classes(r));
	cJSON_AddItemToObject(o, "samples", json_samples(r));
	enum status st = json_write(o, path, true, err);
	cJSON_Delete(o);
	return st;
}

static enum status show(const struct evaluation *e, const struct options *o, struct error *err)
{
	char note[1024];
	task_note(e->task, note, sizeof note);
	if (!o->json || (!o->quiet && strcmp(o->json, "-") != 0))
		print_report(e, note);
	return o->json ? write_json(e, note, o->json, err) : STATUS_OK;
}

int verb_eval(struct options *o)
{
	struct error err = {0};
	struct evaluation e = {0};
	enum status st = STATUS_OK;
	if (o->positional.n != 2)
		st = error_set(&err, STATUS_USAGE, "MODEL and DATASET are needed: qtui eval MODEL DATASET");
	else
		e.dataset = o->positional.at[1];
	if (st == STATUS_OK)
		st = check_output(o->json, &err);
	if (st == STATUS_OK)
		st = open_parts(&e, o, &err);
	if (st == STATUS_OK)
		st = run(&e, o, &err);
	if (st == STATUS_OK)
		st = show(&e, o, &err);
	if (st == STATUS_OK)
		st = save_session(e.study, e.session, o, &err);
	task_report_drop(&e.report);
	task_free(&e.task);
	engine_free(&e.engine);
	dataset_free(&e.data);
	snapshot_drop(&e.snapshot);
	study_close(&e.study);
	session_free(&e.session);
	return st == STATUS_OK ? EXIT_DONE : fail(&err);
}
