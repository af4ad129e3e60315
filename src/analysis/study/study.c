// The study: opening and closing, and the hand-over of requests to the conductor.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/log.h"
#include "qtui/base/pipe.h"
#include "qtui/base/str.h"
#include "qtui/engine/onnx.h"
#include "qtui/analysis/channels.h"
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/isolate.h"
#include "qtui/analysis/latency.h"
#include "qtui/analysis/survey.h"
#include "body.h"
#include "study_task.h"

// ---- opening

// For an input that an If asks.
static int values_in_samples(int64_t value[2], const struct graph *inputs, int input, const void *options)
{
	const struct study_options *opt = options;
	struct dataset *d;
	struct error ignored; // opening them for the graph will tell
	if (dataset_open_silently(&d, opt->calib, inputs, &opt->data, &ignored) != STATUS_OK)
		return 0;
	int n = dataset_values(value, d, input);
	dataset_free(&d);
	return n;
}

enum status study_load(struct graph **out, const struct study *s, const char *model, bool pairs, struct error *err)
{
	struct data_shapes data = {0};
	enum status st = STATUS_OK;
	if (s->opt.calib && !s->opt.data.random)
		st = dataset_peek_shapes(&data, s->opt.calib, err);
	size_t n = data.n;
	struct onnx_input_shape *fixed = xcalloc(n + (size_t)s->opt.n_shapes + 1, sizeof *fixed);
	for (size_t i = 0; i < data.n; i++)
		fixed[i] = (struct onnx_input_shape){.name = data.at[i].name, .shape = data.at[i].shape, .file = data.at[i].file};
	for (int i = 0; i < s->opt.n_shapes; i++)
		fixed[n++] = s->opt.shape[i];
	const struct onnx_options how = {.shape = fixed, .n_shapes = (int)n, .values = values_in_samples, .arg = &s->opt, .pairs = pairs};
	if (st == STATUS_OK)
		st = onnx_load(out, model, &how, err);
	free(fixed);
	data_shapes_done(&data);
	return st;
}

// What is written, and every figure, is of these values.
static void tell_fixed(const struct graph *g)
{
	struct str s = {0};
	for (int i = 0; i < g->n_inputs; i++) {
		const struct value *v = &g->value[g->input[i]];
		if (v->fixed)
			str_addf(&s, "%s%s = %lld", str_text(&s)[0] ? ", " : "", v->name, (long long)*v->fixed);
	}
	if (str_text(&s)[0])
		log_warn("fixed at what every sample has, since an If asks it: %s; only the branch that this chooses is quantized and exported",
		    str_text(&s));
	str_done(&s);
}

// Where a node has the name, its output may be meant; else the nearest name of a tensor.
static enum status no_tensor(const struct study *s, const char *name, struct error *err)
{
	const struct graph *g = s->g;
	struct nearest near = {.name = name};
	int node = graph_find_node(g, name), made = node < 0 ? -1 : graph_output(g, node);
	for (int v = 0; v < g->n_values; v++)
		if (g->value[v].producer >= 0 || g->value[v].is_input)
			nearest_try(&near, g->value[v].name);
	const char *best = made >= 0 ? g->value[made].name : near.best;
	error_set(err, STATUS_NOTFOUND, "the model has no such tensor%s%.200s",
	    made >= 0 ? "; the output of this node is " : best ? "; the nearest is " : "", best ? best : "");
	return s->opt.truncate_in ? error_prefix(err, "%s: truncated behind %s", s->opt.truncate_in, name)
	                          : error_prefix(err, "--truncate %s", name);
}

// Everything that a truncation tensor flows into stays in float.
static enum status truncate_graph(struct study *s, struct error *err)
{
	const struct graph *g = s->g;
	bool *behind = xcalloc((size_t)g->n_values + 1, 1);
	s->truncated = xcalloc((size_t)g->n_nodes + 1, sizeof *s->truncated);
	enum status st = STATUS_OK;
	for (int i = 0; i < s->opt.n_truncate && st == STATUS_OK; i++) {
		int v = graph_find_value(g, s->opt.truncate[i]);
		if (v >= 0)
			behind[v] = true;
		else
			st = no_tensor(s, s->opt.truncate[i], err);
	}
	for (int n = 0; st == STATUS_OK && n < g->n_nodes; n++) {
		const struct node *node = &g->node[n];
		for (int i = 0; i < node->n_in; i++)
			s->truncated[n] |= node->in[i] >= 0 && behind[node->in[i]];
		for (int i = 0; s->truncated[n] && i < node->n_out; i++)
			if (node->out[i] >= 0)
				behind[node->out[i]] = true;
	}
	free(behind);
	return st;
}

struct edits *study_effective(const struct study *s, const struct edits *user)
{
	struct edits *e = edits_copy(user);
	for (int n = 0; n < e->n_nodes; n++)
		if (s->truncated[n] && e->precision[n] < 0)
			e->precision[n] = PREC_FLOAT;
	return e;
}

static enum status first_decision(struct study *s, struct error *err)
{
	const char *name = s->opt.target ? s->opt.target : "esp32p4";
	if (strlen(name) >= TARGET_NAME)
		return error_set(err, STATUS_USAGE, "the target's name is too long");
	enum status st = target_load(&s->target, name, err);
	if (st != STATUS_OK)
		return st;
	s->step = xgrow(NULL, &s->cap_steps, 1, sizeof *s->step);
	s->n_steps = 1;
	s->step[0] = (struct decision){.edits = edits_new(s->g)};
	s->step[0].method = s->opt.method >= 0 ? (enum calib_method)s->opt.method : target_default_calibration(s->target);
	snprintf(s->step[0].target, sizeof s->step[0].target, "%s", name);
	return STATUS_OK;
}

static void resolve(struct study *s)
{
	if (s->opt.threads <= 0)
		s->opt.threads = threads_of_machine();
	if (s->opt.memory == 0)
		s->opt.memory = mem_available() / 2;
	if (s->opt.data.samples <= 0)
		s->opt.data.samples = 32;
}

static const struct onnx_input_shape *copy_shapes(const struct onnx_input_shape *shape, int n)
{
	struct onnx_input_shape *copy = xcalloc((size_t)n + 1, sizeof *copy);
	for (int i = 0; i < n; i++) {
		copy[i] = shape[i];
		copy[i].name = xstrdup(shape[i].name);
		copy[i].file = xstrdup(shape[i].file);
	}
	return copy;
}

static void free_shapes(const struct onnx_input_shape *shape, int n)
{
	for (int i = 0; i < n; i++) {
		free((char *)shape[i].name);
		free((char *)shape[i].file);
	}
	free((void *)shape);
}

static void copy_options(struct study *s, const struct study_options *opt)
{
	s->opt = *opt;
	s->opt.model = xstrdup(opt->model);
	s->opt.calib = xstrdup(opt->calib);
	s->opt.target = opt->target ? target_absolute(opt->target) : NULL;
	char **list = xcalloc((size_t)opt->n_truncate + 1, sizeof *list);
	for (int i = 0; i < opt->n_truncate; i++)
		list[i] = xstrdup(opt->truncate[i]);
	s->opt.truncate = (const char *const *)list;
	s->opt.shape = copy_shapes(opt->shape, opt->n_shapes);
}

static enum status open_parts(struct study *s, struct error *err)
{
	enum status st;
	double begin = clock_seconds();
	if ((st = study_load(&s->g, s, s->opt.model, false, err)) != STATUS_OK || (st = truncate_graph(s, err)) != STATUS_OK)
		return st;
	if ((st = graph_fits(s->g, 2, err)) != STATUS_OK || (st = first_decision(s, err)) != STATUS_OK)
		return st;
	if ((st = dataset_open(&s->d, s->opt.calib, s->g, &s->opt.data, err)) != STATUS_OK)
		return st;
	tell_fixed(s->g);
	study_first_preparation(s, s->d);
	struct engine_options eo = {.backend = s->opt.backend, .threads = s->opt.threads, .memory = study_engine_memory(s)};
	s->engine = engine_new(s->g, s->d, &eo);
	s->plan_cache = plan_cache_new();
	s->task = study_task_new(&s->opt.task);
	s->looker = looker_new();
	s->repairs = repair_memo_new();
	s->opt.task = (struct task_wish){.none = true}; // its texts are the caller's
	s->load_s = clock_seconds() - begin;
	return STATUS_OK;
}

void study_yield(struct study *s)
{
	atomic_store(&s->yield, true);
	engine_yield(s->engine);
}

static enum status start(struct study *s, struct error *err)
{
	s->snap = snapshot_before_run(s, NULL);
	s->snap->timing.load_s = s->load_s;
	s->conducted = thread_start(&s->thread, study_conduct, s);
	return s->conducted ? STATUS_OK : error_set(err, STATUS_NOMEM, "the system gives no thread to compute in: see `ulimit -u`");
}

enum status study_open(struct study **out, const struct study_options *opt, struct error *err)
{
	struct study *s = xcalloc(1, sizeof *s);
	s->pipe[0] = s->pipe[1] = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->publishing, NULL);
	pthread_cond_init(&s->changed, NULL);
	copy_options(s, opt);
	resolve(s);
	enum status st = open_parts(s, err);
	if (st == STATUS_OK && !pipe_open(s->pipe, true))
		st = error_set(err, STATUS_IO, "no pipe: %s", strerror(errno));
	if (st == STATUS_OK)
		st = start(s, err);
	if (st != STATUS_OK) {
		study_close(&s);
		return st;
	}
	*out = s;
	return STATUS_OK;
}

static void stop(struct study *s)
{
	if (!s->conducted)
		return;
	study_lock(s);
	s->quit = true;
	atomic_store(&s->cancel, true);
	pthread_cond_broadcast(&s->changed);
	study_unlock(s);
	pthread_join(s->thread, NULL);
}

static void free_options(struct study_options *o)
{
	for (int i = 0; i < o->n_truncate; i++)
		free((char *)o->truncate[i]);
	free((void *)o->truncate);
	free_shapes(o->shape, o->n_shapes);
	free((char *)o->model);
	free((char *)o->calib);
	free((char *)o->target);
}

void study_close(struct study **sp)
{
	struct study *s = *sp;
	if (!s)
		return;
	stop(s);
	looker_free(&s->looker);
	task_look_drop(&s->look);
	channels_drop(&s->channels);
	study_blames_free(s);
	frontier_drop(&s->frontier);
	latency_drop(&s->latency);
	free(s->latency_missed);
	repair_memo_free(&s->repairs);
	snapshot_drop(&s->snap);
	for (int i = 0; i < STUDY_LATEST; i++)
		snapshot_drop(&s->latest[i]);
	history_done(&s->history);
	variants_free(s);
	for (size_t i = 0; i < s->n_steps; i++)
		decision_done(&s->step[i]);
	edits_free(&s->req.edits);
	run_state_drop(&s->req.state);
	study_task_free(&s->task);
	engine_free(&s->engine);
	plan_cache_free(&s->plan_cache);
	study_preparations_free(s);
	refusals_forget(s);
	target_free(&s->target);
	graph_free(&s->g);
	pipe_close(s->pipe);
	free_options(&s->opt);
	cJSON_Delete(s->loads);
	survey_drop(&s->survey);
	study_found_free(s);
	isolation_free(&s->isolation);
	free(s->truncated);
	free(s->step);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->publishing);
	pthread_mutex_destroy(&s->lock);
	free(s);
	*sp = NULL;
}

// ---- asking

const struct graph *study_graph(const struct study *s)
{
	return s->g;
}

const struct study_options *study_options(const struct study *s)
{
	return &s->opt;
}

const struct target *study_target(const struct study *s)
{
	return s->target;
}

// ---- running

static struct run_state *state_of(const struct study *s, const struct decision *d)
{
	struct run_state *state = xcalloc(1, sizeof *state);
	*state = (struct run_state){.edits = edits_copy(d->edits), .method = d->method, .way = study_way(s, d->preparation)};
	atomic_store(&state->refs, 1);
	snprintf(state->target, sizeof state->target, "%s", d->target);
	return state;
}

// Of a quantized file the analysis takes the file itself for the reference:
// what its own quantizers lose is in no figure. Who only opens it, to compare, quantizes nothing.
static void warn_of_quantized(struct study *s)
{
	if (graph_is_quantized(s->g) && !s->told_quantized)
		log_warn(
		    "the model is quantized already: float means the file as it computes, and the target's quantizers come on top: start from "
		    "the float model (--import THIS.onnx takes this file's scales; where it is lost: qtui dequantize THIS.onnx -o FLOAT.onnx), "
		    "or see what the file loses: qtui compare FLOAT.onnx THIS.onnx CALIB");
	s->told_quantized = true;
}

void study_run(struct study *s)
{
	enum { STEP = 48 };
	const struct decision *d = &s->step[s->current];
	struct str step = {0};
	if (d->text)
		study_add_step(&step, d->text, STEP);
	warn_of_quantized(s);
	study_lock(s);
	edits_free(&s->req.edits);
	run_state_drop(&s->req.state);
	s->req = (struct request){.generation = s->generation,
	    .edits = study_effective(s, d->edits),
	    .state = state_of(s, d),
	    .method = d->method,
	    .n_edits = edits_count(d->edits) + (d->preparation > 0)};
	snprintf(s->req.target, sizeof s->req.target, "%s", d->target);
	s->req.decision = decision_key(s->g, d->target, d->method, s->req.edits, study_preparation(s));
	s->req.preparation = d->preparation;
	s->req.steps = (int)s->current;
	str_fit(s->req.step, sizeof s->req.step, "%s", str_text(&step)); // its end says what was set
	s->requested = true;
	atomic_store(&s->cancel, true); // what runs is void
	pthread_cond_broadcast(&s->changed);
	study_unlock(s);
	str_done(&step);
}

void study_cancel(struct study *s)
{
	study_lock(s);
	s->requested = false;
	s->channels_slot = 0;
	atomic_store(&s->cancel, true);
	study_unlock(s);
}

// The caller holds the lock.
static bool is_busy(const struct study *s)
{
	return s->requested || s->running || s->find || s->loads;
}

enum status study_wait(struct study *s, struct error *err)
{
	study_lock(s);
	while (is_busy(s))
		pthread_cond_wait(&s->changed, &s->lock);
	*err = s->error;
	study_unlock(s);
	return err->status;
}

bool study_running(const struct study *s)
{
	study_lock(s);
	bool running = is_busy(s);
	study_unlock(s);
	return running;
}

int study_fd(const struct study *s)
{
	return s->pipe[0];
}

struct snapshot *study_latest(struct study *s)
{
	study_lock(s);
	struct snapshot *snap = snapshot_take(s->snap);
	study_unlock(s);
	return snap;
}

struct snapshot *study_snapshot(struct study *s)
{
	char drain[64];
	while (read(s->pipe[0], drain, sizeof drain) > 0)
		;
	return study_latest(s);
}

enum status study_infer(struct study *s, const struct inference *q, struct error *err)
{
	struct snapshot *snap = study_latest(s);
	const struct body *b = snap->priv;
	enum status st = q->sim != SIM_FLOAT && (!snapshot_complete(snap) || !b->plan) ?
	    error_set(err, STATUS_REFUSED, "the analysis has not run to its end") :
	    engine_infer(s->engine, b->plan ? b->plan->plan : NULL, q, err);
	snapshot_drop(&snap);
	return st;
}
