// qtui run: the network on given inputs; outputs, or every tensor, as NPY files. --repeat measures.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/file.h"
#include "qtui/base/order.h"
#include "qtui/base/thread.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "qtui/engine/onnx.h"
#include "inputs.h"
#include "stack.h"
#include "verbs.h"

// What runs: a bare engine on the float graph, or a study for the quantized network.
struct runner {
	struct study *study;
	struct session *session;
	struct graph *own_graph;
	struct engine *engine;
	const struct graph *g;
	struct inputs given;
	int *want, n_want;
	struct tensor *out;  // [n_want]
	double load_ms;
};

// ---- outputs

static void choose_outputs(struct runner *r, bool all)
{
	const struct graph *g = r->g;
	r->want = xcalloc((size_t)g->n_values + (size_t)g->n_outputs + 1, sizeof *r->want);
	for (int i = 0; !all && i < g->n_outputs; i++)
		r->want[r->n_want++] = g->output[i];
	for (int v = 0; all && v < g->n_values; v++)
		if (!g->value[v].constant || g->value[v].is_output)
			r->want[r->n_want++] = v;
	r->out = xcalloc((size_t)r->n_want + 1, sizeof *r->out);
}

// ---- running

static void drop_all(struct tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		tensor_drop(&t[i]);
}

static enum status infer_one(const struct runner *r, const struct tensor *in, struct tensor *out, bool codes, struct error *err)
{
	struct inference q = {.in = in, .want = r->want, .n_want = r->n_want, .out = out};
	if (!r->study)
		return engine_infer(r->engine, NULL, &q, err);
	q.sim = SIM_FULL;
	q.codes = codes;
	return study_infer(r->study, &q, err);
}

static enum status infer_stack(struct runner *r, bool codes, struct error *err)
{
	struct tensor *in = xcalloc((size_t)r->g->n_inputs + 1, sizeof *in), *out = xcalloc((size_t)r->n_want + 1, sizeof *out);
	enum status st = STATUS_OK;
	for (int64_t k = 0; st == STATUS_OK && k < r->given.stack; k++) {
		for (int i = 0; i < r->g->n_inputs; i++)
			in[i] = inputs_sample(&r->given, i, k);
		st = infer_one(r, in, out, codes, err);
		for (int i = 0; st == STATUS_OK && i < r->n_want; i++)
			if (out[i].data)
				st = stack_put(&r->out[i], &out[i], k, r->given.stack, r->g->value[r->want[i]].name, err);
		drop_all(out, r->n_want);
	}
	free(in);
	free(out);
	return st;
}

static enum status infer(struct runner *r, bool codes, struct error *err)
{
	drop_all(r->out, r->n_want);
	return r->given.stack ? infer_stack(r, codes, err) : infer_one(r, r->given.in, r->out, codes, err);
}

static void print_times(const struct runner *r, const struct options *o, double first_ms, double *ms, int n)
{
	qsort(ms, (size_t)n, sizeof *ms, order_doubles);
	cJSON *j = cJSON_CreateObject();
	cJSON_AddNumberToObject(j, "load_ms", r->load_ms);
	cJSON_AddNumberToObject(j, "first_ms", first_ms);
	cJSON_AddNumberToObject(j, "median_ms", n % 2 ? ms[n / 2] : (ms[n / 2 - 1] + ms[n / 2]) / 2);
	cJSON_AddNumberToObject(j, "min_ms", ms[0]);
	cJSON_AddNumberToObject(j, "threads", o->study.threads);
	cJSON_AddStringToObject(j, "backend", backend_name(o->study.backend));
	cJSON_AddNumberToObject(j, "peak_rss_mb", mem_peak_rss_mib());
	char *text = cJSON_PrintUnformatted(j);
	puts(text);
	free(text);
	cJSON_Delete(j);
}

static enum status repeat(struct runner *r, const struct options *o, double first_ms, struct error *err)
{
	double *ms = xcalloc((size_t)o->repeat + 1, sizeof *ms);
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < o->repeat; i++) {
		double begin = clock_seconds();
		st = infer(r, o->codes, err);
		ms[i] = (clock_seconds() - begin) * 1e3;
	}
	if (st == STATUS_OK)
		print_times(r, o, first_ms, ms, o->repeat);
	free(ms);
	return st;
}

static enum status open_float(struct runner *r, struct options *o, struct error *err)
{
	struct engine_options eo = {.backend = o->study.backend, .threads = o->study.threads, .memory = o->study.memory};
	enum status st = inputs_load_graph(&r->own_graph, o, err);
	r->g = r->own_graph;
	if (st == STATUS_OK)
		st = graph_fits(r->g, 1, err);
	if (st == STATUS_OK)
		r->engine = engine_new(r->g, NULL, &eo);
	return st;
}

static enum status open_quantized(struct runner *r, struct options *o, struct error *err)
{
	o->study.calibrate_only = o->study.no_task = true;
	enum status st = open_study(&r->study, &r->session, o, err);
	if (st == STATUS_OK)
		st = run_study(r->study, o->quiet, err);
	if (st == STATUS_OK)
		r->g = study_graph(r->study);
	return st;
}

// With a session, or with data to calibrate on, the quantized network runs; else the float one.
static bool is_quantized(const struct options *o)
{
	return o->session || o->positional.n > 1 || o->random;
}

static enum status run(struct runner *r, struct options *o, struct error *err)
{
	double begin = clock_seconds();
	enum status st = o->output ? file_mkdirs(o->output, err) : STATUS_OK;
	if (st == STATUS_OK)
		st = check_session(o, err);
	if (st == STATUS_OK)
		st = is_quantized(o) ? open_quantized(r, o, err) : open_float(r, o, err);
	r->given = (struct inputs){.g = r->g, .study = r->study};
	if (st == STATUS_OK)
		st = inputs_read(&r->given, o, err);
	if (st != STATUS_OK)
		return st;
	choose_outputs(r, o->all);
	r->load_ms = (clock_seconds() - begin) * 1e3;
	begin = clock_seconds();
	st = infer(r, o->codes, err);
	double first_ms = (clock_seconds() - begin) * 1e3;
	if (st == STATUS_OK && o->output)
		st = tensors_write(o->output, r->g, r->study != NULL, r->want, r->out, r->n_want, err);
	if (st == STATUS_OK && o->repeat)
		st = repeat(r, o, first_ms, err);
	if (st == STATUS_OK && r->study)
		st = save_session(r->study, r->session, o, err);
	return st;
}

static enum status check_usage(const struct options *o, struct error *err)
{
	const char *decision = options_decision(o, VERB_PICTURE), *picture = inputs_lack_shape(o) ? NULL : options_decision(o, 0);
	if (o->positional.n < 1 && !o->session)
		return error_set(err, STATUS_USAGE, "a MODEL is needed");
	if (!o->output && !o->repeat)
		return error_set(err, STATUS_USAGE, "-o DIR (or --repeat N) is needed");
	if (o->output && strcmp(o->output, "-") == 0)
		return error_set(err, STATUS_USAGE, "-o -: every output is a file of its own: name a directory");
	if (!is_quantized(o) && (decision || o->codes))
		return error_set(err, STATUS_USAGE, "--%s is about the quantized network: it needs --session S, or CALIB to calibrate on",
		    decision ? decision : "codes");
	if (!is_quantized(o) && picture)
		return error_set(err, STATUS_USAGE, "--%s says how pictures become an input: arrays are taken as they are, leave it out", picture);
	return inputs_check(o, err);
}

int verb_run(struct options *o)
{
	struct error err = {0};
	struct runner r = {0};
	enum status st = check_usage(o, &err);
	bool was_there = !o->output || file_exists(o->output);
	if (o->study.threads == 0)
		o->study.threads = threads_of_machine();
	if (st == STATUS_OK)
		st = run(&r, o, &err);
	inputs_done(&r.given);
	drop_all(r.out, r.n_want);
	free(r.want);
	free(r.out);
	engine_free(&r.engine);
	graph_free(&r.own_graph);
	study_close(&r.study);
	session_free(&r.session);
	if (st != STATUS_OK && !was_there)
		(void)!rmdir(o->output); // as far as nothing is in it
	return st == STATUS_OK ? EXIT_DONE : fail(&err);
}
