// The first half of a run: the plan's structure, what its observers see, and the scales that follow.
#include <stdlib.h>
#include "../study/study_impl.h"

// A tensor that rearranges others (Concat, Reshape ...) has their range: nothing is read for it.
struct parts {
	int *at, n;  // indices into plan.observe; n == 0: its range is its own
	bool joined; // its range has been taken from them
};
// What becomes of one of plan.observe.
struct observed {
	int value;
	int next;                  // the next of the same value; -1: none
	struct key key;            // of the scale
	struct key tensor;         // of what is observed, samples and all
	bool missing;              // the scale is not known
	struct observer *observer; // NULL where it is
	struct parts parts;
	int from;                  // the first phase that is gathered by reading the tensor
	atomic_int fed;            // samples that it has seen in its last phase: with all of them it is finished
	bool finished;
};
struct calibration {
	struct work *w;
	enum sim sim;                // whose tensors are observed: SIM_WEIGHTS; for a first look SIM_FLOAT, which is needed anyway
	struct observed *at;         // [n_observe]
	float *scale;                // [n_observe] of those that are finished or known
	int32_t *zero;
	int *first_of;               // [n_values] the first of a value; -1: none
	int first_phase;             // that some observer has to gather: round 0 of the pass
	bool *want[OBSERVER_PHASES]; // [round][n_values] to be observed in that round
	pthread_mutex_t lock;
	struct error err;
};

static struct key samples_key(const struct work *w)
{
	struct key k = {0};
	for (int i = 0; i < w->samples; i++)
		k = key_add_key(k, dataset_key(w->study->d, i));
	k = key_add_int(k, w->study->opt.backend);
	return w->look ? key_add_text(k, "look") : k;
}

// Which scales are not known yet; returns how many.
static int find_missing(struct calibration *c)
{
	struct work *w = c->w;
	struct key samples = samples_key(w);
	int n = 0;
	engine_keys(w->study->g, w->plan, c->sim, w->key[c->sim]);
	for (int i = 0; i < w->plan->n_observe; i++) {
		struct observed *o = &c->at[i];
		const struct value *v = &w->study->g->value[o->value];
		struct key seen = v->constant ? v->content : w->key[c->sim][o->value];
		o->tensor = key_add_key(seen, samples);
		o->key = key_add_key(key_add_key(seen, w->plan->observe[i].key), samples);
		o->missing = !memo_scale(w->study->memo, o->key, &c->scale[i], &c->zero[i]);
		n += o->missing;
	}
	return n;
}

// Ranges of all samples, as an observer of kind k gathers them:
// of one that is fed, or of one that was; NULL: there are none.
static const struct observer *ranges_of(const struct calibration *c, const struct observed *o, struct key k)
{
	struct key own;
	if (o->observer)
		return observer_gathers(o->observer, 0, &own) && key_equal(own, k) ? o->observer : NULL;
	return memo_observer(c->w->study->memo, key_add_key(o->tensor, k));
}

static int observed_at(const struct calibration *c, int value, struct key k)
{
	for (int i = c->first_of[value]; i >= 0; i = c->at[i].next)
		if (ranges_of(c, &c->at[i], k))
			return i;
	return -1;
}

// Appends what the value is made of; false when some of it is not observed.
static bool add_parts(const struct calibration *c, struct parts *p, int value, struct key k)
{
	const struct graph *g = c->w->study->g;
	int producer = g->value[value].producer;
	const struct node *n = producer >= 0 && node_rearranges(&g->node[producer]) ? &g->node[producer] : NULL;
	for (int i = 0; n && i < node_data_inputs(n); i++) {
		int at = n->in[i] >= 0 ? observed_at(c, n->in[i], k) : -1;
		if (at < 0 && (n->in[i] < 0 || !add_parts(c, p, n->in[i], k)))
			return false;
		if (at < 0)
			continue;
		p->at = xrealloc(p->at, ((size_t)p->n + 1) * sizeof *p->at);
		p->at[p->n++] = at;
	}
	return n != NULL;
}

static void find_parts(const struct calibration *c, struct observed *o)
{
	struct key k;
	if (!o->observer || o->from > 0 || c->w->samples == 1 || !observer_joins(o->observer) || !observer_gathers(o->observer, 0, &k))
		return;
	if (add_parts(c, &o->parts, o->value, k))
		o->from = 1;
	else
		o->parts.n = 0;
}

// Once its parts have been read: before its second phase, or at the end. Called under the lock, or by one thread.
static void join_parts(struct calibration *c, struct observed *o)
{
	struct parts *p = &o->parts;
	struct key k;
	if (p->n == 0 || p->joined || !observer_gathers(o->observer, 0, &k))
		return;
	p->joined = true;
	for (int i = 0; i < p->n; i++) {
		struct observed *part = &c->at[p->at[i]];
		if (part->observer)
			join_parts(c, part);
		observer_join(o->observer, ranges_of(c, part, k));
	}
}

// Phases build on one another over all samples; those of a single sample follow each other on the tensor at hand.
// Returns whether the last phase was among them.
static bool feed_phases(const struct calibration *c, const struct observed *o, int round, int sample, const struct tensor *x)
{
	bool ended = false;
	int first = c->first_phase + round, last = c->w->samples == 1 ? OBSERVER_PHASES - 1 : first, phases = observer_phases(o->observer);
	for (int phase = first > o->from ? first : o->from; phase <= last && phase < phases; phase++) {
		observer_feed(o->observer, phase, sample, x);
		ended = phase == phases - 1;
	}
	return ended;
}

// By whoever has shown it the last sample: counts of 16 bit are megabytes a tensor, which are not to wait for all the
// others, and several workers search sooner than one.
static void finish_early(struct calibration *c, int i)
{
	observer_finish(c->at[i].observer, &c->scale[i], &c->zero[i]);
	c->at[i].finished = true;
}

static void feed(struct calibration *c, const struct sighting *s, struct rep *seen)
{
	struct rep x = {0};
	struct error err = {0};
	if (rep_to_float(&x, seen, s->width, &err) != STATUS_OK) {
		graph_error(c->w->study->g, s->value, &err);
		pthread_mutex_lock(&c->lock);
		c->err = err;
		pthread_mutex_unlock(&c->lock);
		return;
	}
	for (int i = c->first_of[s->value]; i >= 0; i = c->at[i].next) {
		struct observed *o = &c->at[i];
		if (!o->observer)
			continue;
		pthread_mutex_lock(&c->lock);
		join_parts(c, o);
		pthread_mutex_unlock(&c->lock);
		if (feed_phases(c, o, s->round, s->sample, &x.t) && atomic_fetch_add(&o->fed, 1) + 1 == c->w->samples)
			finish_early(c, i);
	}
	rep_drop(&x);
}

static void see(void *arg, const struct sighting *s)
{
	struct calibration *c = arg;
	if (s->rep[c->sim])
		feed(c, s, s->rep[c->sim]);
	work_tick(c->w);
}

static int rounds(const struct calibration *c)
{
	return c->w->samples == 1 ? 1 : OBSERVER_PHASES - c->first_phase;
}

// Constants that are observed (a Mul's factor) do not come by in a pass.
static void feed_constants(struct calibration *c)
{
	for (int i = 0; i < c->w->plan->n_observe; i++) {
		const struct observed *o = &c->at[i];
		const struct tensor *t = c->w->study->g->value[o->value].constant;
		for (int round = 0; t && o->observer && round < rounds(c); round++)
			for (int s = 0; s < c->w->samples; s++)
				feed_phases(c, o, round, s, t);
	}
}

static void find_first_phase(struct calibration *c)
{
	c->first_phase = OBSERVER_PHASES;
	for (int i = 0; i < c->w->plan->n_observe; i++) {
		const struct observed *o = &c->at[i];
		if (o->observer && o->from < observer_phases(o->observer) && o->from < c->first_phase)
			c->first_phase = o->from;
	}
}

static bool want_round(struct calibration *c, int round)
{
	int phase = c->first_phase + round;
	bool any = false, all = c->w->samples == 1; // of the one sample all phases are read at once
	for (int i = 0; i < c->w->plan->n_observe; i++) {
		const struct observed *o = &c->at[i];
		if (o->observer && (all || phase >= o->from) && (all ? o->from : phase) < observer_phases(o->observer))
			any = c->want[round][o->value] = true;
	}
	return any;
}

static enum pass_keep keep_of(const struct calibration *c, bool second)
{
	const struct study_options *o = &c->w->study->opt;
	if (c->w->look) // the comparison of the one sample reads the same network
		return KEEP_FOR_PASS;
	if (o->calibrate_only) // no figures will be asked of these tensors
		return second ? KEEP_SAMPLES : KEEP_NOTHING;
	return o->batch && c->sim == SIM_WEIGHTS ? KEEP_SAMPLES : KEEP_FOR_EDITS;
}

static enum status gather(struct calibration *c, struct error *err)
{
	struct work *w = c->w;
	find_first_phase(c);
	if (!want_round(c, 0))
		return STATUS_OK;
	bool second = rounds(c) > 1 && want_round(c, 1);
	struct pass p = {.plan = w->plan, .data = w->study->d, .first = 0, .last = w->samples, .visit = see, .arg = c,
	    .cancel = &w->study->cancel, .done = &w->done, .computed = &w->computed, .reused = &w->reused, .busy_ns = w->busy_ns};
	p.want[c->sim] = c->want[0];
	p.second[c->sim] = second ? c->want[1] : NULL;
	p.keep = keep_of(c, second);
	w->total_steps = engine_pass_steps(w->study->engine, &p) * w->samples;
	atomic_store(&w->done, 0);
	feed_constants(c);
	enum status st = engine_pass(w->study->engine, &p, err);
	if (st == STATUS_OK && c->err.status != STATUS_OK) {
		*err = c->err;
		st = c->err.status;
	}
	return st;
}

static enum status find_scale(struct calibration *c, int i, struct error *err)
{
	const struct study *s = c->w->study;
	const struct observed *o = &c->at[i];
	if (atomic_load(&s->cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled");
	if (!o->finished)
		observer_finish(o->observer, &c->scale[i], &c->zero[i]);
	if (c->scale[i] == 0 && s->g->value[o->value].is_input) {
		error_set(err, STATUS_FORMAT, "no finite values, so there is no scale: check the samples");
		return graph_error(s->g, o->value, err);
	}
	memo_set_scale(s->memo, o->key, c->scale[i], c->zero[i]);
	return STATUS_OK;
}

// What other observers of the tensor have gathered: with another calibrator, for another width.
static void adopt_gathered(const struct calibration *c, struct observed *o)
{
	struct key k;
	for (int phase = 0; phase < observer_phases(o->observer) && observer_gathers(o->observer, phase, &k); phase++) {
		const struct observer *kept = memo_observer(c->w->study->memo, key_add_key(o->tensor, k));
		if (!kept)
			break;
		observer_adopt(o->observer, phase, kept);
		o->from = phase + 1;
	}
}

static void keep_gathered(const struct calibration *c, struct observed *o)
{
	struct key k, kept[OBSERVER_PHASES];
	int n = 0;
	for (int phase = o->parts.n ? 0 : o->from; phase < observer_phases(o->observer); phase++)
		if (observer_gathers(o->observer, phase, &k))
			kept[n++] = key_add_key(o->tensor, k);
	if (n == 0)
		return;
	memo_keep_observer(c->w->study->memo, kept, n, o->observer);
	o->observer = NULL;
}

static void make_observers(struct calibration *c)
{
	struct work *w = c->w;
	for (int i = 0; i < w->plan->n_observe; i++) {
		struct observed *o = &c->at[i];
		if (!o->missing)
			continue;
		o->observer = observer_new(w->plan, i, w->samples);
		if (w->look)
			observer_thin(o->observer);
		adopt_gathered(c, o);
	}
	for (int i = 0; i < w->plan->n_observe; i++)
		find_parts(c, &c->at[i]);
}

static enum status observe(struct calibration *c, struct error *err)
{
	int n = c->w->plan->n_observe;
	make_observers(c);
	enum status st = gather(c, err);
	for (int i = 0; st == STATUS_OK && i < n; i++)
		join_parts(c, &c->at[i]);
	for (int i = 0; st == STATUS_OK && i < n; i++)
		if (c->at[i].missing)
			st = find_scale(c, i, err);
	for (int i = 0; st == STATUS_OK && i < n; i++)
		if (c->at[i].missing)
			keep_gathered(c, &c->at[i]);
	return st;
}

static enum status make_plan(struct work *w, struct error *err)
{
	struct study *s = w->study;
	w->shared = xcalloc(1, sizeof *w->shared);
	atomic_store(&w->shared->refs, 1);
	enum status st = target_load(&w->shared->target, w->req.target, err);
	if (st == STATUS_OK)
		st = plan_new(&w->shared->plan, s->g, w->shared->target, w->req.method, w->req.edits, s->plan_cache, err);
	w->plan = w->shared->plan;
	return st;
}

static void index_values(struct calibration *c)
{
	const struct plan *p = c->w->plan;
	for (int v = 0; v < p->g->n_values; v++)
		c->first_of[v] = -1;
	for (int i = p->n_observe - 1; i >= 0; i--) {
		int v = c->at[i].value = p->observe[i].value;
		c->at[i].next = c->first_of[v];
		c->first_of[v] = i;
	}
}

static void begin(struct calibration *c, struct work *w)
{
	size_t n = (size_t)w->plan->n_observe + 1, values = (size_t)w->study->g->n_values + 1;
	*c = (struct calibration){.w = w, .sim = w->look ? SIM_FLOAT : SIM_WEIGHTS, .at = xcalloc(n, sizeof *c->at),
	    .scale = xcalloc(n, sizeof *c->scale), .zero = xcalloc(n, sizeof *c->zero), .first_of = xcalloc(values, sizeof *c->first_of)};
	for (int i = 0; i < OBSERVER_PHASES; i++)
		c->want[i] = xcalloc(values, 1);
	pthread_mutex_init(&c->lock, NULL);
	index_values(c);
}

static void end(struct calibration *c)
{
	for (int i = 0; i < c->w->plan->n_observe; i++) {
		observer_free(&c->at[i].observer);
		free(c->at[i].parts.at);
	}
	for (int i = 0; i < OBSERVER_PHASES; i++)
		free(c->want[i]);
	free(c->at);
	free(c->scale);
	free(c->zero);
	free(c->first_of);
	pthread_mutex_destroy(&c->lock);
}

bool work_knows_scales(struct work *w)
{
	struct error err = {0};
	struct calibration c;
	if (make_plan(w, &err) != STATUS_OK)
		return false; // the run itself will say why
	begin(&c, w);
	int missing = find_missing(&c);
	end(&c);
	work_reset(w);
	return missing == 0;
}

enum status work_calibrate(struct work *w, struct error *err)
{
	struct calibration c;
	enum status st = make_plan(w, err);
	if (st != STATUS_OK)
		return st;
	begin(&c, w);
	if (find_missing(&c) > 0)
		st = observe(&c, err);
	if (st == STATUS_OK)
		st = plan_finish(w->plan, c.scale, c.zero, w->req.edits, err);
	end(&c);
	return st;
}
