// Rows of the tuned nodes' inputs, from a pass over the samples: of the float network,
// whose outputs are wanted, and of the quantized one.
#include <stdlib.h>
#include "qtui/engine/linalg.h"
#include "tune_impl.h"

const struct tensor *tuner_weight(const struct tuner *t, const struct tune_site *s)
{
	return t->g->value[t->g->node[s->node].in[1]].constant;
}

float *tuner_group_weights(const struct tune_site *s, const struct tensor *w, int64_t group)
{
	float *to = mem_try_array((size_t)(s->m * s->k), sizeof *to);
	for (int64_t c = 0; to && c < s->m; c++)
		for (int64_t i = 0; i < s->k; i++)
			to[c * s->k + i] = ((const float *)w->data)[site_weight(s, group * s->m + c, i)];
	return to;
}

// y = W x + b with the float weights.
static bool outputs(const struct tuner *t, const struct tune_site *s, const float *x, float *y)
{
	int64_t m = s->groups * s->m, k = s->groups * s->k;
	for (int64_t g = 0; g < s->groups; g++) {
		float *w = tuner_group_weights(s, tuner_weight(t, s), g);
		if (!w)
			return false;
		linalg_apply(&(struct linalg_rows){.x = x + g * s->k, .w = w, .y = y + g * s->m, .rows = s->rows, .k = s->k, .m = s->m,
		    .x_row = k, .w_row = s->k, .y_row = m});
		free(w);
	}
	for (int64_t j = 0; s->bias && j < s->rows; j++)
		for (int64_t c = 0; c < m; c++)
			y[j * m + c] += s->bias[c];
	return true;
}

// The input as the node reads it, as floats; matrix products read rows, which want the plain layout.
static enum status input_of(struct tensor *out, const struct tuner *t, const struct tune_site *s, struct rep *seen, int width, struct error *err)
{
	const struct quantizer *q = t->sim == SIM_FULL ? slot_quantizer(plan_in(t->plan, s->node, 0)) : NULL;
	struct rep a = {0}, x = {0};
	enum status st = STATUS_OK;
	if (q && q->kind != QUANT_NONE)
		st = rep_apply(&a, seen, q, width, err);
	else
		a = rep_share(seen);
	if (st == STATUS_OK)
		st = s->conv ? rep_to_float(&x, &a, width, err) : rep_to_float_layout(&x, &a, LAYOUT_PLAIN, width, err);
	*out = x.t;
	rep_drop(&a);
	return st;
}

static enum status see_float(const struct tuner *t, struct place *p, const struct tensor *x, int sample, struct error *err)
{
	const struct tune_site *s = &p->site;
	float *row = mem_try_array((size_t)(s->rows * s->groups * s->k), sizeof *row);
	bool ok = row != NULL;
	if (ok) {
		site_rows(s, x, sample, row);
		ok = outputs(t, s, row, p->wanted + (int64_t)sample * s->rows * s->groups * s->m);
	}
	free(row);
	return ok ? STATUS_OK : error_set(err, STATUS_NOMEM, "node %s: no memory for its rows", t->g->node[s->node].name);
}

static int place_of(const struct tune_options *o, int sample)
{
	int low = 0, high = o->samples - 1;
	while (o->sample && low < high) {
		int middle = (low + high) / 2;
		if (o->sample[middle] < sample)
			low = middle + 1;
		else
			high = middle;
	}
	return o->sample ? low : sample;
}

static enum status see_place(struct tuner *t, struct place *p, const struct sighting *s, struct error *err)
{
	struct tensor x = {0};
	int sample = place_of(&t->opt, s->sample);
	enum status st = input_of(&x, t, &p->site, s->rep[t->sim], s->width, err);
	if (st != STATUS_OK)
		return st;
	if (t->sim == SIM_FLOAT)
		st = see_float(t, p, &x, sample, err);
	else
		site_rows(&p->site, &x, sample, p->row + (int64_t)sample * p->site.rows * p->site.groups * p->site.k);
	tensor_drop(&x);
	return st;
}

static bool looked_at(const struct tuner *t, const struct place *p)
{
	return t->sim != SIM_FLOAT || p->wanted;
}

static void see(void *arg, const struct sighting *s)
{
	struct tuner *t = arg;
	struct error err = {0};
	for (int i = t->first; i < t->last; i++) {
		if (t->place[i].site.value != s->value || !looked_at(t, &t->place[i]) || see_place(t, &t->place[i], s, &err) == STATUS_OK)
			continue;
		pthread_mutex_lock(&t->lock);
		t->err = err;
		pthread_mutex_unlock(&t->lock);
	}
}

enum status tuner_look(struct tuner *t, enum sim sim, int first, int last, struct error *err)
{
	bool *want = xcalloc((size_t)t->g->n_values + 1, 1);
	struct pass p = {.plan = t->plan, .last = t->opt.samples, .sample = t->opt.sample, .visit = see, .arg = t,
	    .cancel = t->opt.cancel, .keep = sim == SIM_FLOAT ? KEEP_NOTHING : KEEP_FOR_EDITS};
	t->sim = sim;
	for (int i = first; i < last; i++)
		if (looked_at(t, &t->place[i]))
			want[t->place[i].site.value] = true;
	p.want[sim] = want;
	t->first = first;
	t->last = last;
	t->err = (struct error){0};
	enum status st = engine_pass(t->e, &p, err);
	if (st == STATUS_OK && t->err.status != STATUS_OK) {
		*err = t->err;
		st = err->status;
	}
	free(want);
	return st;
}
