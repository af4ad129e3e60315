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
#include "shapes.h"
#include "verbs.h"

// What runs: a bare engine on the float graph, or a study for the quantized network.
struct runner {
	struct study *study;
	struct session *session;
	struct graph *own_graph;
	struct engine *engine;
	const struct graph *g;
	struct tensor *in;   // [g->n_inputs]
	int *want, n_want;
	struct tensor *out;  // [n_want]
	double load_ms;
};

// ---- inputs: "NAME=FILE", or "FILE" for the inputs in their order; arrays, or a picture

// *name is heap or NULL.
static const char *input_path(const char *text, char **name)
{
	*name = NULL;
	const char *path = file_exists(text) ? NULL : name_value(name, text, false);
	return path ? path : text;
}

// An .npz file without NAME= gives every input whose name is in it, as one of CALIB does.
static bool is_bundle(const char *path, const char *name)
{
	return !name && str_has_suffix(path, ".npz");
}

static bool holds(const struct arrays *a, const char *name)
{
	bool any = false;
	for (int i = 0; i < arrays_count(a) && !any; i++)
		any = strcmp(arrays_name(a, i), name) == 0;
	return any;
}

static bool bundle_holds(const char *path, const char *name)
{
	struct arrays *a = NULL;
	struct error ignored; // reading the input will tell
	bool any = str_has_suffix(path, ".npz") && arrays_open(&a, path, DT_F32, &ignored) == STATUS_OK && holds(a, name);
	arrays_free(&a);
	return any;
}

// For an input that an If asks.
static int value_given(int64_t value[2], const struct graph *inputs, int input, const void *options)
{
	const struct options *o = options;
	const struct value *v = &inputs->value[inputs->input[input]];
	int n = 0;
	for (int i = 0; i < o->input.n && !n; i++) {
		char *name;
		const char *path = input_path(o->input.at[i], &name);
		if (name ? strcmp(name, v->name) == 0 : i == input || bundle_holds(path, v->name))
			n = array_value(value, path, v->name, v->type);
		free(name);
	}
	return n;
}

// Of the array that has the input's name, else of the first. Of several files without names each is the input in its
// place, a single one the picture.
static struct onnx_input_shape shape_for(const struct data_shapes *found, const char *name, int place)
{
	const struct data_shape *at = &found->at[0];
	for (size_t i = 0; name && i < found->n; i++)
		if (strcmp(found->at[i].name, name) == 0)
			at = &found->at[i];
	return (struct onnx_input_shape){.name = name, .place = place, .shape = at->shape, .file = at->file};
}

struct shapes_given {
	struct onnx_input_shape *at;
	size_t n, cap;
};

static void add_shape(struct shapes_given *s, struct onnx_input_shape shape)
{
	s->at = xgrow(s->at, &s->cap, s->n + 1, sizeof *s->at);
	s->at[s->n++] = shape;
}

// Which arrays of a bundle are inputs is known when the graph is.
static void add_shapes(struct shapes_given *s, const struct data_shapes *found, const char *path, const char *name, int place)
{
	bool bundle = is_bundle(path, name);
	for (size_t i = 0; bundle && i < found->n; i++)
		add_shape(s, (struct onnx_input_shape){.name = found->at[i].name, .shape = found->at[i].shape, .file = found->at[i].file});
	if (found->n == 1 || (found->n > 1 && !bundle))
		add_shape(s, shape_for(found, name, place));
}

static enum status load_graph(struct runner *r, const struct options *o, struct error *err)
{
	int total = o->input.n;
	struct shapes_given given = {0};
	struct data_shapes *found = xcalloc((size_t)total + 1, sizeof *found);
	char **name = xcalloc((size_t)total + 1, sizeof *name);
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < total; i++) {
		const char *path = input_path(o->input.at[i], &name[i]);
		st = dataset_peek_shapes(&found[i], path, err);
		add_shapes(&given, &found[i], path, name[i], total > 1 ? i + 1 : 0);
	}
	for (int i = 0; i < o->study.n_shapes; i++)
		add_shape(&given, o->study.shape[i]);
	const struct onnx_options how = {.shape = given.at, .n_shapes = (int)given.n, .batched = true, .values = value_given, .arg = o};
	if (st == STATUS_OK)
		st = onnx_load(&r->own_graph, o->positional.at[0], &how, err);
	r->g = r->own_graph;
	if (st == STATUS_OK)
		st = shapes_check(o, r->g, err);
	for (int i = 0; i < total; i++) {
		free(name[i]);
		data_shapes_done(&found[i]);
	}
	free(name);
	free(found);
	free(given.at);
	return st;
}

static enum status find_input(const struct graph *g, const char *name, int position, int *out, struct error *err)
{
	for (int i = 0; i < g->n_inputs; i++)
		if (name && strcmp(g->value[g->input[i]].name, name) == 0) {
			*out = i;
			return STATUS_OK;
		}
	int value = name ? graph_find_value(g, name) : -1;
	const char *why = value >= 0 && g->value[value].constant ? "it is a constant of the model here, which keeps the file's value"
	                                                         : "the model has no such input";
	if (name)
		return error_set(err, STATUS_NOTFOUND, "-i %s: %s; its first input is %s", name, why,
		    g->n_inputs ? g->value[g->input[0]].name : "(none)");
	if (position >= g->n_inputs)
		return error_set(err, STATUS_USAGE, "the model has %d input%s, more are given", g->n_inputs, plural(g->n_inputs));
	*out = position;
	return STATUS_OK;
}

// A sample without its batch dimension of 1 is taken as one with it.
static enum status fit_shape(const struct runner *r, int input, struct tensor *t, const char *path, struct error *err)
{
	char have[128], need[128];
	const struct value *v = &r->g->value[r->g->input[input]];
	struct shape batched = {.rank = t->shape.rank + 1, .dim = {1}};
	if (v->shape.rank < 0 || shape_equal(&v->shape, &t->shape))
		return STATUS_OK;
	if (str_has_suffix(path, ".bin") && tensor_count(t) == shape_count(&v->shape)) { // it says nothing of its shape
		t->shape = v->shape;
		return STATUS_OK;
	}
	if (v->shape.rank == batched.rank) {
		memcpy(&batched.dim[1], t->shape.dim, (size_t)t->shape.rank * sizeof t->shape.dim[0]);
		if (shape_equal(&v->shape, &batched)) {
			t->shape = batched;
			return STATUS_OK;
		}
	}
	return error_set(err, STATUS_FORMAT, "%s: shape %s, but input %s needs %s%s", path, shape_text(&t->shape, have, sizeof have), v->name,
	    shape_text(&v->shape, need, sizeof need),
	    r->study ? ": the quantized network has the shapes of the samples that it is calibrated on" : "");
}

// Prepared as the samples are that the network was calibrated on.
static enum status read_picture(struct runner *r, const char *path, int input, const struct options *o, struct error *err)
{
	struct preprocess pre = o->study.data.pre;
	if (r->study) {
		pre = *dataset_preprocess(study_dataset(r->study));
		pre.mean_set = pre.std_set = pre.color_set = pre.resize_set = true;
	}
	return picture_read(&r->in[input], path, r->g, input, &pre, err);
}

static enum status read_into(
    struct runner *r, int at, const struct options *o, const char *text, const char *path, struct error *err)
{
	const struct value *v = &r->g->value[r->g->input[at]];
	if (r->in[at].data)
		return error_set(err, STATUS_USAGE, "-i %s: input %s is given twice", text, v->name);
	file_keep(path); // an output may have its name
	enum status st = image_is_name(path) ? read_picture(r, path, at, o, err) : array_read(&r->in[at], path, v->name, v->type, err);
	if (st == STATUS_OK)
		st = fit_shape(r, at, &r->in[at], path, err);
	if (st == STATUS_OK && input_as_fixed(v, &r->in[at], err))
		st = error_prefix(err, "%s", path);
	return st;
}

// *any: it holds at least one.
static enum status read_bundle(
    bool *any, struct runner *r, const struct options *o, const char *path, struct error *err)
{
	struct arrays *a = NULL;
	enum status st = arrays_open(&a, path, DT_F32, err);
	for (int i = 0; st == STATUS_OK && i < r->g->n_inputs; i++)
		if (holds(a, r->g->value[r->g->input[i]].name)) {
			*any = true;
			st = read_into(r, i, o, path, path, err);
		}
	arrays_free(&a);
	return st;
}

static enum status read_input(struct runner *r, const struct options *o, const char *text, int position, struct error *err)
{
	char *name;
	int at = 0;
	bool done = false;
	const char *path = input_path(text, &name);
	enum status st = is_bundle(path, name) ? read_bundle(&done, r, o, path, err) : STATUS_OK;
	if (st == STATUS_OK && !done)
		st = find_input(r->g, name, position, &at, err);
	free(name);
	return st == STATUS_OK && !done ? read_into(r, at, o, text, path, err) : st;
}

static enum status lacks_input(const struct value *v, struct error *err)
{
	char shape[96];
	return error_set(err, STATUS_USAGE, "input %s is missing: -i %s=FILE.npy, %s of shape %s", v->name, v->name, dtype_name(v->type),
	    shape_text(&v->shape, shape, sizeof shape));
}

static enum status read_inputs(struct runner *r, const struct options *o, struct error *err)
{
	enum status st = STATUS_OK;
	r->in = xcalloc((size_t)r->g->n_inputs + 1, sizeof *r->in);
	for (int i = 0; st == STATUS_OK && i < o->input.n; i++)
		st = read_input(r, o, o->input.at[i], i, err);
	for (int i = 0; st == STATUS_OK && i < r->g->n_inputs; i++)
		if (!r->in[i].data)
			st = lacks_input(&r->g->value[r->g->input[i]], err);
	return st;
}

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

static enum status infer(struct runner *r, bool codes, struct error *err)
{
	for (int i = 0; i < r->n_want; i++)
		tensor_drop(&r->out[i]);
	struct inference q = {.in = r->in, .want = r->want, .n_want = r->n_want, .out = r->out};
	if (!r->study)
		return engine_infer(r->engine, NULL, &q, err);
	q.sim = SIM_FULL;
	q.codes = codes;
	return study_infer(r->study, &q, err);
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
	enum status st = load_graph(r, o, err);
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
	if (st == STATUS_OK)
		st = read_inputs(r, o, err);
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

static enum status check_inputs(const struct options *o, struct error *err)
{
	for (int i = 0; i < o->input.n; i++) {
		char *name;
		bool none = !*input_path(o->input.at[i], &name);
		free(name);
		if (none)
			return error_set(err, STATUS_USAGE, "-i %s: a file is needed behind the =", o->input.at[i]);
	}
	return STATUS_OK;
}

// Files that become inputs of a shape that they do not have themselves.
static bool has_shapeless(const struct options *o)
{
	bool any = false;
	for (int i = 0; i < o->input.n && !any; i++) {
		char *name;
		const char *path = input_path(o->input.at[i], &name);
		any = image_is_name(path) || str_has_suffix(path, ".bin");
		free(name);
	}
	return any;
}

static enum status check_usage(const struct options *o, struct error *err)
{
	const char *decision = options_decision(o, has_shapeless(o) ? VERB_PICTURE : 0);
	if (o->positional.n < 1 && !o->session)
		return error_set(err, STATUS_USAGE, "a MODEL is needed");
	if (!o->output && !o->repeat)
		return error_set(err, STATUS_USAGE, "-o DIR (or --repeat N) is needed");
	if (o->output && strcmp(o->output, "-") == 0)
		return error_set(err, STATUS_USAGE, "-o -: every output is a file of its own: name a directory");
	if (!is_quantized(o) && (decision || o->codes))
		return error_set(err, STATUS_USAGE, "--%s is about the quantized network: it needs --session S, or CALIB to calibrate on",
		    decision ? decision : "codes");
	return check_inputs(o, err);
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
	for (int i = 0; r.in && i < r.g->n_inputs; i++)
		tensor_drop(&r.in[i]);
	for (int i = 0; i < r.n_want; i++)
		tensor_drop(&r.out[i]);
	free(r.in);
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
