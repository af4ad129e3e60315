// How far channels reach on samples, for those tensors that can be equalized:
// one pass of the float network that keeps nothing.
#include <pthread.h>
#include <stdlib.h>
#include "equalize_impl.h"
#include "qtui/engine/channels.h"

struct reader {
	const struct graph *g;
	double **reach;    // [n_values] of the wanted: as long as there are channels
	int *axis;         // [n_values] dimension of the channels, of the wanted
	pthread_mutex_t lock;
	struct error err;  // the first one
};

static enum status read_one(struct reader *r, const struct sighting *s, struct error *err)
{
	struct rep x = {0};
	enum status st = rep_to_float_layout(&x, s->rep[SIM_FLOAT], LAYOUT_PLAIN, s->width, err);
	struct channel_split split = channel_split(&r->g->value[s->value].shape, r->axis[s->value]);
	double *top = st == STATUS_OK ? mem_try_array((size_t)split.n, sizeof *top) : NULL;
	if (st == STATUS_OK && !top)
		st = error_set(err, STATUS_NOMEM, "no memory for the ranges of %lld channels", (long long)split.n);
	if (st == STATUS_OK && !shape_equal(&x.t.shape, &r->g->value[s->value].shape))
		st = error_set(err, STATUS_FORMAT, "%s has another shape than the model says", r->g->value[s->value].name);
	if (st == STATUS_OK) {
		channel_reach(top, &split, &x.t);
		pthread_mutex_lock(&r->lock);
		for (int64_t c = 0; c < split.n; c++)
			r->reach[s->value][c] = top[c] > r->reach[s->value][c] ? top[c] : r->reach[s->value][c];
		pthread_mutex_unlock(&r->lock);
	}
	free(top);
	rep_drop(&x);
	return st;
}

static void see(void *arg, const struct sighting *s)
{
	struct reader *r = arg;
	struct error err = {0};
	if (read_one(r, s, &err) == STATUS_OK)
		return;
	pthread_mutex_lock(&r->lock);
	if (r->err.status == STATUS_OK)
		r->err = err;
	pthread_mutex_unlock(&r->lock);
}

// The tensors that layers behind a group read.
static enum status choose(struct reader *r, bool *want, bool sums, struct error *err)
{
	struct equalize_group *group;
	int n = groups_find(&group, r->g, &(struct reaching){.sums = sums, .wide = true});
	enum status st = STATUS_OK;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < group[i].n_behind && st == STATUS_OK; k++) {
			struct layer l;
			if (!layer_find(&l, r->g, group[i].behind[k], true) || want[l.in])
				continue;
			want[l.in] = true;
			r->axis[l.in] = r->g->value[l.in].shape.rank + l.axis;
			r->reach[l.in] = mem_try_array((size_t)group[i].channels, sizeof(double));
			if (!r->reach[l.in])
				st = error_set(err, STATUS_NOMEM, "no memory for the ranges of %lld channels", (long long)group[i].channels);
		}
		group_done(&group[i]);
	}
	free(group);
	return st;
}

enum status equalize_reach(
    double ***out, const struct graph *g, struct engine *e, const struct equalize_reading *of, struct error *err)
{
	size_t values = (size_t)g->n_values + 1;
	struct reader r = {
	    .g = g, .reach = xcalloc(values, sizeof *r.reach), .axis = xcalloc(values, sizeof *r.axis), .lock = PTHREAD_MUTEX_INITIALIZER};
	bool *want = xcalloc(values, sizeof *want);
	struct pass p = {.last = of->samples, .keep = KEEP_NOTHING, .visit = see, .arg = &r, .cancel = of->cancel};
	p.want[SIM_FLOAT] = want;
	enum status st = choose(&r, want, of->sums, err);
	if (st == STATUS_OK)
		st = engine_pass(e, &p, err);
	if (st == STATUS_OK && r.err.status != STATUS_OK) {
		*err = r.err;
		st = err->status;
	}
	free(want);
	free(r.axis);
	pthread_mutex_destroy(&r.lock);
	if (st == STATUS_OK)
		*out = r.reach;
	else
		equalize_reach_free(&r.reach, g);
	return st;
}

void equalize_reach_free(double ***reach, const struct graph *g)
{
	for (int v = 0; *reach && v < g->n_values; v++)
		free((*reach)[v]);
	free(*reach);
	*reach = NULL;
}
