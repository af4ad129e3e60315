// The samples half of a survey: histograms of the float tensors on the evaluation samples.
#include <math.h>
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "../study/study_impl.h"
#include "survey_impl.h"

enum { SAMPLES = 128, LOOKED_AT = 16 }; // unless the user says otherwise; of them those whose ranges are read
static const double LOOK = 0.2; // share of the work: looking at the inputs

void survey_part(const struct survey_work *w, double share, int steps)
{
	struct survey_progress *p = w->progress;
	*p = (struct survey_progress){.from = p->to, .to = p->to + share * (1 - p->to), .steps = steps};
}

void survey_step(void *work)
{
	const struct survey_work *w = work;
	struct survey_progress *p = w->progress;
	double done = atomic_fetch_add(&p->done, 1) + 1;
	if (w->opt->tell)
		w->opt->tell(w->opt->arg, p->from + (p->to - p->from) * fmin(1, done / p->steps));
}

// ---- what the inputs look like

static void add_moments(double sum[3], const struct tensor *t)
{
	const float *x = t->data;
	int64_t n = t->type == DT_F32 ? tensor_count(t) : 0;
	for (int64_t i = 0; i < n; i++) {
		sum[1] += x[i];
		sum[2] += (double)x[i] * x[i];
	}
	sum[0] += (double)n;
}

static enum status look_at_inputs(struct survey_input *out, const struct graph *g, const struct dataset *d, int n, struct error *err)
{
	struct tensor *in = xcalloc((size_t)g->n_inputs + 1, sizeof *in);
	struct placement where;
	double sum[3] = {0};
	enum status st = STATUS_OK;
	for (int i = 0; i < n && st == STATUS_OK; i++) {
		st = dataset_load(d, i, in, &where, err);
		if (st != STATUS_OK)
			break;
		add_moments(sum, &in[0]);
		for (int k = 0; k < g->n_inputs; k++)
			tensor_drop(&in[k]);
	}
	free(in);
	if (sum[0] > 0) {
		out->mean = sum[1] / sum[0];
		out->deviation = sqrt(fmax(sum[2] / sum[0] - out->mean * out->mean, 0));
	}
	return st;
}

// ---- what the network makes of them

struct counting {
	const struct survey_work *w;
	struct hist **hist;
	pthread_mutex_t lock;
};

static void count(void *arg, const struct sighting *s)
{
	struct counting *c = arg;
	struct hist *h = c->hist[s->value];
	uint32_t bin[STATS_BINS] = {0};
	if (!h || !s->rep[SIM_FLOAT])
		return;
	stats_hist(bin, STATS_BINS, h->lo, h->hi, &s->rep[SIM_FLOAT]->t);
	pthread_mutex_lock(&c->lock);
	for (int i = 0; i < STATS_BINS; i++)
		h->bin[i] += bin[i];
	pthread_mutex_unlock(&c->lock);
	survey_step((void *)c->w);
}

// An empty histogram from one span below the calibration's range to one span above it. What lies farther out is counted
// in its last bins, since it is lost as completely as what lies there.
static struct hist *widened(const struct hist *calib)
{
	struct hist *h = xcalloc(1, sizeof *h);
	float span = calib->hi - calib->lo;
	atomic_store(&h->refs, 1);
	h->lo = calib->lo - span;
	h->hi = calib->hi + span;
	return h;
}

static bool *open_hists(struct survey *out, const struct snapshot *s)
{
	bool *want = xcalloc((size_t)out->n_values + 1, sizeof *want);
	for (int i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];
		if (site->kind == SITE_OUTPUT && site->hist_float && site->range.n > 0 && site->range.max > site->range.min &&
		    !want[site->value]) {
			want[site->value] = true;
			out->hist[site->value] = widened(site->hist_float);
		}
	}
	return want;
}

static enum status look_behind(struct survey *out, const struct survey_work *w, const struct dataset *d, const struct snapshot *s,
    struct error *err)
{
	struct counting c = {.w = w, .hist = out->hist};
	bool *want = open_hists(out, s);
	int wanted = 0;
	for (int v = 0; v < w->g->n_values; v++)
		wanted += want[v];
	survey_part(w, LOOK, wanted * out->eval_samples);
	struct engine *e = engine_new(w->g, d, &w->engine);
	struct pass p = {.want = {[SIM_FLOAT] = want}, .last = out->eval_samples, .visit = count, .arg = &c, .cancel = w->opt->cancel};
	pthread_mutex_init(&c.lock, NULL);
	enum status st = engine_pass(e, &p, err);
	pthread_mutex_destroy(&c.lock);
	engine_free(&e);
	free(want);
	return st;
}

static int at_most(int a, int b)
{
	return a < b ? a : b;
}

static enum status look_at_samples(struct survey *out, const struct survey_work *w, const struct snapshot *s, struct error *err)
{
	const struct dataset *calib = w->calib;
	struct dataset_options o = {.pre = *dataset_preprocess(calib), .samples = at_most(w->samples, LOOKED_AT), .prepared = true};
	struct dataset *d = NULL;
	enum status st = dataset_open(&d, w->eval, w->g, &o, err);
	if (st != STATUS_OK)
		return st;
	out->eval_samples = dataset_count(d);
	out->calib_samples = at_most(dataset_count(calib), LOOKED_AT);
	st = look_at_inputs(&out->calib, w->g, calib, out->calib_samples, err);
	if (st == STATUS_OK)
		st = look_at_inputs(&out->eval, w->g, d, out->eval_samples, err);
	if (st == STATUS_OK)
		st = look_behind(out, w, d, s, err);
	dataset_free(&d);
	return st;
}

// ----

enum status survey_new(struct survey **out, const struct study *study, const struct snapshot *s, const struct survey_options *opt,
    struct error *err)
{
	const struct study_options *so = study_options(study);
	struct survey *v = xcalloc(1, sizeof *v);
	struct survey_progress progress = {0};
	struct survey_work w = {.progress = &progress,
	    .study = study,
	    .g = study_graph(study),
	    .eval = opt->eval ? opt->eval : so->calib,
	    .opt = opt,
	    .calib = opt->calib ? opt->calib : study_dataset(study),
	    .samples = opt->samples > 0 ? opt->samples : SAMPLES,
	    .engine = {.backend = so->backend, .threads = so->threads}};
	enum status st = STATUS_OK;
	double began = clock_seconds();
	atomic_store(&v->refs, 1);
	v->n_values = w.g->n_values;
	v->prepared = preprocess_key(dataset_preprocess(w.calib));
	v->hist = xcalloc((size_t)v->n_values + 1, sizeof *v->hist);
	if (opt->eval && so->data.random == 0)
		st = look_at_samples(v, &w, s, err);
	if (st == STATUS_OK && so->data.random == 0)
		st = survey_prepare(v, &w, err);
	v->seconds = clock_seconds() - began;
	if (st != STATUS_OK)
		survey_drop(&v);
	*out = v;
	return st;
}

struct survey *survey_take(struct survey *s)
{
	if (s)
		atomic_fetch_add(&s->refs, 1);
	return s;
}

void survey_drop(struct survey **sp)
{
	struct survey *s = *sp;
	*sp = NULL;
	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	for (int i = 0; i < s->n_values; i++)
		hist_drop(&s->hist[i]);
	free(s->hist);
	free(s);
}
