// Opening a repair, and what its parts share: figures of a trial, time, texts.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "../study/study_impl.h"
#include "../task/kinds/boxes.h"
#include "qtui/base/json.h"
#include "qtui/base/thread.h"
#include "repair_impl.h"

enum { SAMPLES_MIN = 4, SAMPLES_MAX = 8 }; // of the probe
static const double PROBE_MACS = 10e9; // of a probe: large networks are probed on fewer samples

struct trial trial_copy(const struct trial *t)
{
	return (struct trial){.edits = edits_copy(t->edits), .method = t->method};
}

void trial_done(struct trial *t)
{
	if (t->edits)
		edits_free(&t->edits);
}

const char *repair_text(struct repair *r, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return arena_strdup(r->arena, text);
}

bool repair_cancelled(const struct repair *r)
{
	return r->opt.cancel && atomic_load(r->opt.cancel);
}

bool repair_over(const struct repair *r)
{
	return repair_cancelled(r) || (r->deadline > 0 && clock_seconds() > r->deadline);
}

double repair_lend(struct repair *r, double share)
{
	double end = r->deadline, now = clock_seconds();
	if (end > now)
		r->deadline = now + (end - now) * share;
	return end;
}

void repair_tell(const struct repair *r, double progress, const char *fmt, ...)
{
	char text[240];
	va_list ap;
	if (!r->opt.tell)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->opt.tell(r->opt.tell_arg, text, progress);
}

// A node in float that the target would quantize is wide; others are float in any case.
static void cost_of_plan(const struct repair *r, const struct plan *p, struct repair_figures *out)
{
	double macs = 0, cost = 0, wide = 0;
	for (int n = 0; n < r->g->n_nodes; n++) {
		double m = p->quantizable[n] ? (double)r->macs[n] : 0;
		macs += m;
		wide += p->precision[n] == PREC_INT8 ? 0 : m;
		cost += r->costs->node[n].at[p->precision[n]];
	}
	out->wide = macs > 0 ? wide / macs : 0;
	out->cost = r->costs->narrow > 0 ? cost / r->costs->narrow : 1;
	out->us = r->costs->latency ? cost : NAN;
}

enum status repair_measure(struct repair *r, const struct trial *t, struct scales *s, struct plan **p, struct repair_figures *out,
    struct error *err)
{
	struct damage d = {0};
	plan_free(p);
	enum status st = scales_plan(s, p, t, err);
	if (st == STATUS_OK)
		st = probe_damage(r->probe, *p, &d, err);
	if (st != STATUS_OK)
		return st;
	*out = (struct repair_figures){.damage = d.damage, .snr_db = d.snr_db, .score = NAN, .apart = NAN};
	cost_of_plan(r, *p, out);
	return st;
}

enum status repair_estimate(struct repair *r, const struct trial *t, struct repair_figures *out, struct error *err)
{
	struct plan *p = NULL;
	enum status st = repair_measure(r, t, r->scales, &p, out, err);
	if (st == STATUS_OK)
		repair_look(r, &(struct repair_state){.steps = r->kept + 1, .figures = *out, .edits = t->edits, .method = t->method});
	plan_free(&p);
	return st;
}

enum status repair_score(struct repair *r, const struct plan *p, struct repair_figures *out, struct error *err)
{
	out->score = out->apart = NAN;
	enum status st = r->opt.score ? r->opt.score(r->opt.score_arg, r->engine, p, &out->score, err) : STATUS_OK;
	if (st == STATUS_OK && r->opt.task && r->reader)
		out->apart = repair_task_apart(r->opt.task, p);
	return st;
}

double repair_unit(const struct repair *r)
{
	return r->opt.score_name ? task_unit(r->opt.score_name) : 1;
}

bool repair_by_boxes(const struct repair *r)
{
	return r->reader && !r->queries;
}

bool repair_may_scale(struct repair *r, int value, double scale)
{
	struct error ignored = {0};
	if (!r->scalable[value])
		r->scalable[value] = plan_check_scale(r->bare, value, scale, ZERO_FOLLOWS, false, &ignored) == STATUS_OK ? 1 : -1;
	return r->scalable[value] > 0;
}

static void count_macs(struct repair *r)
{
	r->macs = xcalloc((size_t)r->g->n_nodes + 1, sizeof *r->macs);
	r->scalable = xcalloc((size_t)r->g->n_values + 1, sizeof *r->scalable);
	for (int n = 0; n < r->g->n_nodes; n++)
		r->total_macs += r->macs[n] = graph_macs(r->g, n);
}

static enum status begin(struct repair *r, struct error *err)
{
	struct plan *p = NULL;
	struct repair_figures in_float = {0};
	enum status st = repair_measure(r, &r->now, r->scales, &p, &r->figures, err);
	if (st == STATUS_OK)
		st = repair_score(r, NULL, &in_float, err);
	if (st == STATUS_OK)
		st = repair_score(r, p, &r->figures, err);
	if (st == STATUS_OK) {
		r->float_score = in_float.score;
		r->begin = r->figures;
		repair_look(r, &(struct repair_state){.figures = r->figures, .as_run = true, .edits = r->now.edits, .method = r->now.method});
		repair_look_earlier(r);
		r->prepared = true;
	}
	plan_free(&p);
	return st;
}

enum status repair_prepare(struct repair *r, struct error *err)
{
	if (!r->prepared && r->rows && repair_try_rows(r, err) != STATUS_OK)
		return err->status;
	double fits = PROBE_MACS / ((double)r->total_macs + 1);
	int samples = r->opt.samples > 0 ? r->opt.samples : r->reader ? SAMPLES_MAX : (int)fmin(fmax(fits, SAMPLES_MIN), SAMPLES_MAX);
	int count = dataset_count(r->data);
	if (r->prepared)
		return STATUS_OK;
	repair_tell(r, 0, "the float network");
	probe_free(&r->probe); // of a preparation that was cancelled
	samples = samples < count ? samples : count;
	enum status st = repair_find_noisiest(r, samples, err);
	if (st == STATUS_OK)
		st = probe_new(&r->probe, r, samples, err);
	return st == STATUS_OK ? begin(r, err) : st;
}

static enum status open_parts(struct repair *r, const struct study *st, const struct plan *plan, struct error *err)
{
	const struct study_options *o = study_options(st);
	enum status status = target_load(&r->target, st->step[st->current].target, err);
	if (status != STATUS_OK)
		return status;
	r->bare = plan_bare(r->g, r->target);
	r->data = study_dataset(st);
	engine_trim(st->engine, o->memory - o->memory / ENGINE_SHARE);
	r->engine = engine_new(r->g, r->data,
	    &(struct engine_options){.backend = o->backend, .threads = o->threads, .memory = o->memory / ENGINE_SHARE});
	r->memory = o->memory / ENGINE_SHARE;
	r->scales = scales_new(r->g, r->target, r->engine, dataset_count(r->data), r->opt.cancel);
	scales_learn(r->scales, plan);
	r->reader = repair_reader(st, r->opt.task);
	r->rows = r->reader ? NULL : boxes_reader_of_rows(r->g, study_task_wish(st)->decoder);
	r->queries = repair_decodes_queries(r);
	return STATUS_OK;
}

static void note_basis(struct repair *r, const struct study *st)
{
	r->basis = (struct frontier_basis){.samples = all_samples_key(study_dataset(st)), .times = latency_key(r->costs->latency),
	    .labels = repair_task_identity(r->opt.task), .boxes_and_points = r->reader && r->queries};
	snprintf(r->basis.target, sizeof r->basis.target, "%s", st->step[st->current].target);
	snprintf(r->basis.task, sizeof r->basis.task, "%s", r->opt.score && r->opt.score_name ? r->opt.score_name : "");
	if (study_frontier(st) && frontier_basis_equal(&study_frontier(st)->basis, &r->basis))
		r->earlier = frontier_take(study_frontier(st));
}

enum status repair_open(struct repair **out, struct study *st, const struct repair_options *opt, struct error *err)
{
	struct snapshot *snap = study_latest(st);
	const struct plan *plan = snapshot_plan(snap);
	struct repair *r = xcalloc(1, sizeof *r);
	*r = (struct repair){
	    .g = study_graph(st), .opt = *opt, .arena = arena_new(), .memo = st->repairs, .float_score = NAN, .end = "not begun"};
	r->now = (struct trial){.edits = study_effective(st, study_edits(st)), .method = snap->method};
	const struct decision *d = &st->step[st->current];
	r->decision = decision_key(st->g, d->target, d->method, r->now.edits, study_preparation(st));
	r->deadline = opt->seconds > 0 ? clock_seconds() + opt->seconds : 0;
	r->costs = costs_take(snap->costs);
	r->run_snr_db = snap->dirty ? NAN : snapshot_worst_output(snap);
	r->noisiest = -1;
	count_macs(r);
	enum status status = plan && snap->stage == STAGE_DONE ? repair_goal_limits(&r->opt.goal, r->costs->latency != NULL, err) :
	    error_set(err, STATUS_REFUSED, snap->stage == STAGE_CANCELLED ? "the run was stopped: it must go on to its end first (r)" :
	        "the network is not calibrated yet: wait for the run");
	if (status == STATUS_OK)
		status = open_parts(r, st, plan, err);
	snapshot_drop(&snap);
	if (status == STATUS_OK) {
		note_basis(r, st);
		*out = r;
	} else {
		repair_free(&r);
	}
	return status;
}

void repair_free(struct repair **rp)
{
	struct repair *r = *rp;
	if (!r)
		return;
	probe_free(&r->probe);
	boxes_reader_free(&r->reader);
	boxes_reader_free(&r->rows);
	scales_free(&r->scales);
	engine_free(&r->engine);
	plan_free(&r->bare);
	target_free(&r->target);
	trial_done(&r->now);
	arena_free(&r->arena);
	costs_drop(&r->costs);
	frontier_drop(&r->frontier);
	frontier_drop(&r->earlier);
	free(r->macs);
	free(r->scalable);
	free(r);
	*rp = NULL;
}

enum precision repair_wide_precision(const struct repair *r)
{
	return target_has_precision(r->target, 16) ? PREC_INT16 : PREC_FLOAT;
}

const struct repair_figures *repair_now(const struct repair *r)
{
	return &r->figures;
}

const struct repair_figures *repair_begin(const struct repair *r)
{
	return &r->begin;
}

struct frontier *repair_frontier(const struct repair *r)
{
	return r->frontier;
}

struct cJSON *repair_figures_json(const struct repair_figures *f)
{
	cJSON *o = cJSON_CreateObject();
	json_add_number(o, "damage", f->damage);
	json_add_number(o, "snr_db", f->snr_db);
	json_add_number(o, "task", f->score);
	json_add_number(o, "apart", f->apart);
	json_add_number(o, "wide", f->wide);
	json_add_number(o, "cost", f->cost);
	json_add_number(o, "time_us", f->us);
	return o;
}

void repair_figures_parse(struct repair_figures *out, const struct cJSON *j)
{
	*out = (struct repair_figures){.damage = json_number(j, "damage", NAN), .snr_db = json_number(j, "snr_db", NAN),
	    .score = json_number(j, "task", NAN), .apart = json_number(j, "apart", NAN), .wide = json_number(j, "wide", NAN),
	    .cost = json_number(j, "cost", NAN), .us = json_number(j, "time_us", NAN)};
}

double repair_float_score(const struct repair *r)
{
	return r->float_score;
}

const char *repair_end(const struct repair *r)
{
	return r->end;
}

const char *repair_kind_name(enum repair_kind k)
{
	static const char *const name[] = {[REPAIR_TAIL] = "tail",
	    [REPAIR_DIVISORS] = "divisors",
	    [REPAIR_FLOAT] = "float",
	    [REPAIR_CALIBRATION] = "calibration",
	    [REPAIR_SCALE] = "scale",
	    [REPAIR_WIDEN] = "bits",
	    [REPAIR_WEIGHTS] = "weights",
	    [REPAIR_LOGITS] = "logits"};
	return name[k];
}
