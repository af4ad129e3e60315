// The story of a loss: how much, where (story_where.c), why and what mends it (story_cause.c), what next.
#include "telling.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/task.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "../repair/repair_impl.h"

static const double GOOD_DB = 30; // of an output
static const double GOOD_SHARE = .98; // of what the float network finds
static const double LEAST_GOAL_DB = 25, GOAL_DB = 3; // a goal to propose, and how far above what there is

const char *story_part_name(enum story_part p)
{
	static const char *const name[STORY_PARTS] = {[STORY_LOSS] = "loss", [STORY_WHERE] = "where", [STORY_CAUSE] = "cause",
	    [STORY_REMEDY] = "remedy", [STORY_GAIN] = "gain", [STORY_NEXT] = "next"};
	return name[p];
}

void tell(struct telling *t, enum story_part part, const char *fmt, ...)
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

// ---- how much

// Of a cosine the outputs' SNR says more.
static void tell_agreement(struct telling *t)
{
	const struct task_report *r = t->s->task;
	const struct task_figure *f = &r->figure[0];
	double same = f->value[TASK_QUANT];
	if (isnan(same) || !task_goal(f->name))
		return;
	t->lost |= same < GOOD_SHARE;
	tell(t, STORY_LOSS, "%s %.*f: that much of what the float network finds the quantized one finds too, over %d sample%s without labels.",
	    task_word(f->name), task_decimals(f->name, 3), same, r->samples[TASK_QUANT], plural(r->samples[TASK_QUANT]));
}

static void tell_blind(struct telling *t, const struct task_report *r)
{
	char text[TASK_BLIND_TEXT];
	task_tell_blind(text, sizeof text, r, ":survey");
	tell(t, STORY_LOSS, "%s", text);
}

static void tell_task(struct telling *t)
{
	const struct task_report *r = t->s->task;
	const struct task_figure *f = &r->figure[0];
	double lost = f->value[TASK_FLOAT] - f->value[TASK_QUANT];
	int digits = task_decimals(f->name, 3);
	bool chance = r->has_interval && r->interval.low <= 0 && r->interval.high >= 0;
	if (isnan(lost))
		return;
	t->lost |= lost > 0 && !chance;
	if (lost == 0)
		tell(t, STORY_LOSS, "%s %.*f in float and quantized, over %d sample%s.", task_word(f->name), digits, f->value[TASK_FLOAT],
		    r->samples[TASK_QUANT], plural(r->samples[TASK_QUANT]));
	else if (r->has_interval)
		tell(t, STORY_LOSS, "%s %.*f in float, %.*f quantized: %.*f ±%.*f %s over %d sample%s%s.", task_word(f->name), digits,
		    f->value[TASK_FLOAT], digits, f->value[TASK_QUANT], digits, fabs(lost), digits, (r->interval.high - r->interval.low) / 2,
		    lost < 0 ? "gained" : "lost", r->samples[TASK_QUANT], plural(r->samples[TASK_QUANT]), chance ? ", which may be chance" : "");
	else
		tell(t, STORY_LOSS, "%s %.*f in float, %.*f quantized.", task_word(f->name), digits, f->value[TASK_FLOAT], digits,
		    f->value[TASK_QUANT]);
	t->blind = task_is_blind(r);
	if (t->blind)
		tell_blind(t, r);
}

static void tell_output(struct telling *t, int worst)
{
	const struct graph *g = t->s->g;
	const char *name = g->value[g->output[worst]].name;
	double snr = t->worst_db = figures_snr(&t->s->output[worst]);
	if (isnan(snr) && isfinite(t->s->output[worst].pooled.mse))
		tell(t, STORY_LOSS, "The output %s is zero in the float network, so that it has no SNR: quantized it is off by up to %.3g.",
		    name, t->s->output[worst].pooled.max_error);
	else if (isnan(snr))
		tell(t, STORY_LOSS, "The output %s is not made of finite numbers: a warning in the log says where that begins.", name);
	else if (isinf(snr))
		tell(t, STORY_LOSS, "All outputs are exactly the float network's.");
	else
		tell(t, STORY_LOSS, "The worst output, %s, has %.1f dB: its noise has %.3g %% of its power.", name, snr,
		    100 * pow(10, -snr / 10));
}

// Of the tensors where the result is read the worst, if that is none of the outputs: these lie behind a selection then.
static void tell_selected(struct telling *t, bool has_output)
{
	const struct figures *least = NULL;
	const struct value *worst = NULL;
	int n;
	struct point *p = points_find(t->s->g, &n);
	for (int i = 0; i < n; i++) {
		const struct figures *f = point_figures(t->s, &p[i]);
		if (f && (!least || figures_worse(f, least))) {
			worst = &t->s->g->value[p[i].value];
			least = f;
		}
	}
	free(p);
	if (!worst || worst->is_output)
		return;
	double snr = t->worst_db = figures_snr(least);
	char figure[32];
	snprintf(figure, sizeof figure, "%.1f dB", snr);
	const char *why = has_output
	                      ? "Behind a selection by value (ArgMax, TopK, NonMaxSuppression) a small change puts other elements in their "
	                        "places, which SNR takes for noise. Go by what is selected from"
	                      : "No output has an SNR: they hold integers, or are made from tensors whose number of elements is known "
	                        "only when the network runs. Go by what they are made from";
	tell(t, STORY_LOSS, "%s: the worst of that, %s, has %s.", why, worst->name,
	    isnan(snr) ? "no finite numbers" : isinf(snr) ? "no noise" : figure);
}

static bool is_quantized(const struct snapshot *s)
{
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].bits)
			return true;
	return false;
}

static void tell_loss(struct telling *t)
{
	int worst = -1;
	if (!is_quantized(t->s))
		tell(t, STORY_LOSS,
		    "Nothing is quantized: all nodes compute in float. If you did not decide so, the target has no rule for these "
		    "operators, or a part of the model is not understood, of which the log warns.");
	if (t->s->task && t->s->task->n_figures && !t->s->task_old)
		(t->s->task->kind == TASK_AGREE ? tell_agreement : tell_task)(t);
	for (int i = 0; i < t->s->n_outputs; i++)
		if (t->s->output[i].known && (worst < 0 || figures_worse(&t->s->output[i], &t->s->output[worst])))
			worst = i;
	if (worst >= 0)
		tell_output(t, worst);
	tell_selected(t, worst >= 0);
	bool by_outputs = !t->s->task || t->s->task->kind == TASK_AGREE;
	t->lost |= t->worst_db < GOOD_DB && by_outputs;
}

// ---- what next

static void tell_repair(struct telling *t)
{
	if (!t->s->blames || t->s->blames_old)
		tell(t, STORY_NEXT,
		    ":blame 30s (qtui search --blame) measures what each tensor does to the result, and what more bits there would gain.");
	char goal[32];
	double above = isfinite(t->worst_db) ? ceil(t->worst_db) + GOAL_DB : 0;
	const char *of_task = t->s->task && t->s->task->n_figures ? task_goal(t->s->task->figure[0].name) : NULL;
	if (of_task)
		snprintf(goal, sizeof goal, "%s", of_task);
	else
		snprintf(goal, sizeof goal, "snr>%.0f", fmax(LEAST_GOAL_DB, above));
	tell(t, STORY_NEXT, ":fix %s 2m (qtui search) tries remedies one by one, measures each, keeps what pays and stops at the goal.", goal);
	const struct plan *p = snapshot_plan(t->s);
	if (p && target_has_scales(p->target, false, false) && !target_has_precision(p->target, 16) && !p->tuning)
		tell(t, STORY_NEXT,
		    ":tune 2m (qtui tune) fits weights and biases to what quantization does, which costs no bits: %s has no more than 8.",
		    target_name(p->target));
}

static void tell_next(struct telling *t)
{
	if (!t->blind && is_quantized(t->s) && (t->lost || (t->f && t->f->n)))
		tell_repair(t);
	if (t->s->task && t->f && !t->f->surveyed)
		tell(t, STORY_NEXT,
		    ":survey (qtui analyze --findings --labels F) asks the labels whether pictures are prepared as in the training: "
		    "colours, range, mean, resizing.");
}

// ---- the whole

struct story *story_new(const struct snapshot *s, const struct findings *f)
{
	struct story *out = xcalloc(1, sizeof *out);
	atomic_store(&out->refs, 1);
	struct telling t = {.s = s, .f = f, .out = out, .node = -1, .finding = -1, .worst_db = NAN, .chief = -1};
	tell_loss(&t);
	tell_where(&t);
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
