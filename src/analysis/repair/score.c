// The study's task as the yardstick of a repair: the same samples, labels and decoder,
// and what the study knows of a network already.
#include <math.h>
#include <stdlib.h>
#include "../study/study_task.h"
#include "../task/kinds/boxes.h"
#include "qtui/analysis/task.h"
#include "repair_impl.h"

struct repair_task {
	struct task_lease *lease;
	const atomic_bool *cancel;
	struct repair_memo *memo;   // the study's
};

// Labels beside the calibration samples, where the study measures no task of its own.
static enum status open_own(struct task_lease **out, const struct study *st, struct error *err)
{
	const struct task_wish *w = study_task_wish(st);
	struct task_options o = {.kind = -1, .labels = w->labels, .decoder = w->decoder, .iou = w->iou};
	struct task *t = NULL;
	struct error ignored;
	if (w->none || w->rests)
		return STATUS_OK;
	if (task_open(&t, study_graph(st), study_dataset(st), &o, w->labels ? err : &ignored) != STATUS_OK)
		return w->labels ? err->status : STATUS_OK;
	if (task_kind(t) == TASK_AGREE)
		task_free(&t); // agreement of outputs says no more than the damage
	*out = t ? task_lease_new(t, NULL) : NULL;
	return STATUS_OK;
}

enum status repair_task_open(struct repair_task **out, const struct study *st, const atomic_bool *cancel, struct error *err)
{
	struct task_lease *lease = study_task_lease(st);
	enum status status = lease ? STATUS_OK : open_own(&lease, st, err);
	*out = NULL;
	if (lease) {
		*out = xcalloc(1, sizeof **out);
		**out = (struct repair_task){.lease = lease, .cancel = cancel, .memo = st->repairs};
	}
	return status;
}

void repair_task_free(struct repair_task **t)
{
	if (*t)
		task_lease_drop(&(*t)->lease);
	free(*t);
	*t = NULL;
}

struct boxes_reader *repair_reader(const struct study *st, const struct repair_task *t)
{
	return t ? boxes_reader_of(t->lease->task) : boxes_reader_new(study_graph(st), study_task_wish(st)->decoder, 0, 0);
}

enum status repair_try_rows(struct repair *r, struct error *err)
{
	const struct graph *g = r->g;
	struct tensor *in = xcalloc((size_t)g->n_inputs + 1, sizeof *in), *out = xcalloc((size_t)g->n_outputs + 1, sizeof *out);
	const struct inference q = {.sim = SIM_FLOAT, .in = in, .want = g->output, .n_want = g->n_outputs, .out = out};
	enum status st = dataset_load(r->data, 0, in, NULL, err);
	if (st == STATUS_OK)
		st = engine_infer(r->engine, NULL, &q, err);
	if (st == STATUS_OK && boxes_reader_settle(r->rows, out))
		r->reader = r->rows;
	else
		boxes_reader_free(&r->rows); // then what the NMS reads tells
	r->rows = NULL;
	for (int i = 0; i < g->n_inputs; i++)
		tensor_drop(&in[i]);
	for (int i = 0; i < g->n_outputs; i++)
		tensor_drop(&out[i]);
	free(in);
	free(out);
	return st;
}

struct key repair_task_identity(const struct repair_task *t)
{
	return t ? t->lease->identity : (struct key){0};
}

const char *repair_task_name(const struct repair_task *t)
{
	return task_leading_figure(t->lease->task);
}

static struct key network_key(const struct repair_task *r, const struct plan *plan)
{
	return key_add_key(r->lease->identity, task_key(r->lease->task, plan));
}

double repair_task_apart(const struct repair_task *r, const struct plan *plan)
{
	struct repair_known known = {.damage = NAN};
	return repair_memo_get(r->memo, network_key(r, plan), &known) ? known.damage : NAN;
}

static enum status run(const struct repair_task *r, struct engine *e, const struct plan *plan, struct repair_known *out, struct error *err)
{
	struct task *t = r->lease->task;
	if (task_kind(t) == TASK_AGREE && !plan) { // the float network agrees with itself
		out->score = 1;
		return STATUS_OK;
	}
	struct task_pass pass = {.plan = plan, .last = dataset_count(task_dataset(t)), .cancel = r->cancel};
	enum status st = task_run(t, e, &pass, err);
	if (st != STATUS_OK)
		return st;
	struct task_net *net = task_net(t, task_key(t, plan));
	out->score = task_score(t, net, pass.first, pass.last);
	out->damage = task_apart(t, task_net(t, task_key(t, NULL)), net);
	return st;
}

enum status repair_task_score(void *arg, struct engine *e, const struct plan *plan, double *score, struct error *err)
{
	const struct repair_task *r = arg;
	struct key k = network_key(r, plan);
	struct repair_known known = {.damage = NAN, .snr_db = NAN};
	enum status st = STATUS_OK;
	if (!repair_memo_get(r->memo, k, &known)) {
		st = run(r, e, plan, &known, err);
		if (st == STATUS_OK)
			repair_memo_put(r->memo, k, &known);
	}
	*score = known.score;
	return st;
}
