// The first half of a run: the plan's structure, what its observers see, and the scales that follow.
#include <stdlib.h>
#include "../study/study_impl.h"

struct shared_plan *shared_plan_take(struct shared_plan *p)
{
	if (p)
		atomic_fetch_add(&p->refs, 1);
	return p;
}

void shared_plan_drop(struct shared_plan **p)
{
	if (*p && atomic_fetch_sub(&(*p)->refs, 1) == 1) {
		plan_free(&(*p)->plan);
		target_free(&(*p)->target);
		free(*p);
	}
	*p = NULL;
}

// A tensor that rearranges others (Concat, Reshape ...) has their range: nothing is read for it.
struct parts {
	int *at, n;  // indices into plan.observe; n == 0: its range is its own
	bool joined; // and it has it
};
struct calibration {
	struct work *w;
	enum sim sim;                // whose tensors are observed: SIM_WEIGHTS; for a first look SIM_FLOAT, which is needed anyway
	int *first_of, *next_of;     // [n_values] the first observer of a value, [n_observe] the next of the same one; -1: none
	struct key *key;             // [n_observe] of the scale
	struct key *tensor;          // [n_observe] of what is observed, samples and all
	bool *missing;               // [n_observe]
	struct observer **observer;  // [n_observe] NULL where the scale is known
	atomic_int *fed;             // [n_observe] samples that it has seen in its last phase: with all of them it is finished
	float *scale;                // [n_observe] of those that are finished or known
	int32_t *zero;
	bool *finished;              // [n_observe]
	int *from;                   // [n_observe] the first phase that is gathered by reading the tensor
	struct parts *parts;         // [n_observe]
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
		const struct observe *o = &w->plan->observe[i];
		const struct value *v = &w->study->g->value[o->value];
		struct key seen = v->constant ? v->content : w->key[c->sim][o->value];
		c->tensor[i] = key_add_key(seen, samples);
		c->key[i] = key_add_key(key_add_key(seen, o->key), samples);
		c->missing[i] = !memo_scale(w->study->memo, c->key[i], &c->scale[i], &c->zero[i]);
		n += c->missing[i];
	}
	return n;
}

// Ranges of all samples, as an observer of kind k gathers them: of one that is fed, or of one that was; NULL: there are none.
static const struct observer *ranges_of(const struct calibration *c, int i, struct key k)
{
	struct key own;
	if (c->observer[i])
		return observer_gathers(c->observer[i], 0, &own) && key_equal(own, k) ? c->observer[i] : NULL;
	return memo_observer(c->w->study->memo, key_add_key(c->tensor[i], k));
}

static int observed_at(const struct calibration *c, int value, struct key k)
{
	for (int i = c->first_of[value]; i >= 0; i = c->next_of[i])
		if (ranges_of(c, i, k))
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

static void find_parts(struct calibration *c, int i)
{
	struct parts *p = &c->parts[i];
	struct key k;
	if (!c->observer[i] || c->from[i] > 0 || c->w->samples == 1 || !observer_joins(c->observer[i]) || !observer_gathers(c->observer[i], 0, &k))
		return;
	if (add_parts(c, p, c->w->plan->observe[i].value, k))
		c->from[i] = 1;
	else
		p->n = 0;
}

// Once its parts have been read: before its second phase, or at the end. Called under the lock, or by one thread.
static void join_parts(struct calibration *c, int i)
{
	struct parts *p = &c->parts[i];
	struct key k;
	if (p->n == 0 || p->joined || !observer_gathers(c->observer[i], 0, &k))
		return;
	p->joined = true;
	for (int part = 0; part < p->n; part++) {
		if (c->observer[p->at[part]])
			join_parts(c, p->at[part]);
		observer_join(c->observer[i], ranges_of(c, p->at[part], k));
	}
}

// Phases build on one another over all samples; those of a single sample follow each other on the tensor at hand.
// Returns whether the last phase was among them.
static bool feed_phases(const struct calibration *c, int i, int round, int sample, const struct tensor *x)
{
	bool ended = false;
	int first = c->first_phase + round, last = c->w->samples == 1 ? OBSERVER_PHASES - 1 : first;
	for (int phase = first > c->from[i] ? first : c->from[i]; phase <= last && phase < observer_phases(c->observer[i]); phase++) {
		observer_feed(c->observer[i], phase, sample, x);
		ended = phase == observer_phases(c->observer[i]) - 1;
	}
	return ended;
}

// By whoever has shown it the last sample: counts of 16 bit are megabytes a tensor, which are not to wait for all the others, and several
// workers search sooner than one. What fails is tried again in the end, where errors come in order.
static void finish_early(struct calibration *c, int i)
{
	struct error ignored;
	c->finished[i] = observer_finish(c->observer[i], &c->scale[i], &c->zero[i], &ignored) == STATUS_OK;
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
	for (int i = c->first_of[s->value]; i >= 0; i = c->next_of[i])
		if (c->observer[i]) {
			pthread_mutex_lock(&c->lock);
			join_parts(c, i);
			pthread_mutex_unlock(&c->lock);
			if (feed_phases(c, i, s->round, s->sample, &x.t) && atomic_fetch_add(&c->fed[i], 1) + 1 == c->w->samples)
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
	const struct graph *g = c->w->study->g;
	for (int i = 0; i < c->w->plan->n_observe; i++) {
		const struct tensor *t = g->value[c->w->plan->observe[i].value].constant;
		for (int round = 0; t && c->observer[i] && round < rounds(c); round++)
			for (int s = 0; s < c->w->samples; s++)
				feed_phases(c, i, round, s, t);
	}
}

static void find_first_phase(struct calibration *c)
{
	c->first_phase = OBSERVER_PHASES;
	for (int i = 0; i < c->w->plan->n_observe; i++)
		if (c->observer[i] && c->from[i] < observer_phases(c->observer[i]) && c->from[i] < c->first_phase)
			c->first_phase = c->from[i];
}

static bool want_round(struct calibration *c, int round)
{
	int phase = c->first_phase + round;
	bool any = false, all = c->w->samples == 1; // of the one sample all phases are read at once
	for (int i = 0; i < c->w->plan->n_observe; i++)
		if (c->observer[i] && (all || phase >= c->from[i]) && (all ? c->from[i] : phase) < observer_phases(c->observer[i]))
			any = c->want[round][c->w->plan->observe[i].value] = true;
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
	struct pass p = {.plan = w->plan, .data = w->study->d, .first = 0, .last = w->samples, .visit = see, .arg = c, .cancel = &w->study->cancel, .done = &w->done, .computed = &w->computed, .reused = &w->reused, .busy_ns = w->busy_ns};
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
	if (atomic_load(&s->cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled");
	enum status st = c->finished[i] ? STATUS_OK : observer_finish(c->observer[i], &c->scale[i], &c->zero[i], err);
	if (st == STATUS_OK)
		memo_set_scale(s->memo, c->key[i], c->scale[i], c->zero[i]);
	else
		graph_error(s->g, c->w->plan->observe[i].value, err);
	return st;
}

// What other observers of the tensor have gathered: with another calibrator, for another width.
static void adopt_gathered(struct calibration *c, int i)
{
	struct key k;
	for (int phase = 0; phase < observer_phases(c->observer[i]) && observer_gathers(c->observer[i], phase, &k); phase++) {
		const struct observer *kept = memo_observer(c->w->study->memo, key_add_key(c->tensor[i], k));
		if (!kept)
			break;
		observer_adopt(c->observer[i], phase, kept);
		c->from[i] = phase + 1;
	}
}

static void keep_gathered(struct calibration *c, int i)
{
	struct memo *m = c->w->study->memo;
	struct key k;
	bool kept = false;
	for (int phase = c->parts[i].n ? 0 : c->from[i]; phase < observer_phases(c->observer[i]); phase++)
		if (observer_gathers(c->observer[i], phase, &k)) {
			memo_set_observer(m, key_add_key(c->tensor[i], k), c->observer[i]);
			kept = true;
		}
	if (kept) {
		memo_own_observer(m, c->observer[i]);
		c->observer[i] = NULL;
	}
}

static enum status observe(struct calibration *c, struct error *err)
{
	struct work *w = c->w;
	for (int i = 0; i < w->plan->n_observe; i++)
		if (c->missing[i]) {
			c->observer[i] = observer_new(w->plan, i, w->samples);
			if (w->look)
				observer_thin(c->observer[i]);
			adopt_gathered(c, i);
		}
	for (int i = 0; i < w->plan->n_observe; i++)
		find_parts(c, i);
	enum status st = gather(c, err);
	for (int i = 0; st == STATUS_OK && i < w->plan->n_observe; i++)
		join_parts(c, i);
	for (int i = 0; st == STATUS_OK && i < w->plan->n_observe; i++)
		if (c->missing[i])
			st = find_scale(c, i, err);
	for (int i = 0; st == STATUS_OK && i < w->plan->n_observe; i++)
		if (c->missing[i])
			keep_gathered(c, i);
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

bool work_knows_scales(struct work *w)
{
	struct error err = {0};
	if (make_plan(w, &err) != STATUS_OK)
		return false; // the run itself will say why
	size_t n = (size_t)w->plan->n_observe + 1;
	struct calibration c = {.w = w, .sim = SIM_WEIGHTS, .key = xcalloc(n, sizeof *c.key),
	    .tensor = xcalloc(n, sizeof *c.tensor), .missing = xcalloc(n, 1), .scale = xcalloc(n, sizeof *c.scale), .zero = xcalloc(n, sizeof *c.zero)};
	int missing = find_missing(&c);
	free(c.key);
	free(c.tensor);
	free(c.missing);
	free(c.scale);
	free(c.zero);
	work_reset(w);
	return missing == 0;
}

static void index_observers(struct calibration *c)
{
	const struct plan *p = c->w->plan;
	for (int v = 0; v < p->g->n_values; v++)
		c->first_of[v] = -1;
	for (int i = p->n_observe - 1; i >= 0; i--) {
		c->next_of[i] = c->first_of[p->observe[i].value];
		c->first_of[p->observe[i].value] = i;
	}
}

enum status work_calibrate(struct work *w, struct error *err)
{
	enum status st = make_plan(w, err);
	if (st != STATUS_OK)
		return st;
	size_t n = (size_t)w->plan->n_observe + 1, values = (size_t)w->study->g->n_values + 1;
	struct calibration c = {.w = w, .sim = w->look ? SIM_FLOAT : SIM_WEIGHTS,
	    .first_of = xcalloc(values, sizeof *c.first_of), .next_of = xcalloc(n, sizeof *c.next_of),
	    .key = xcalloc(n, sizeof *c.key), .tensor = xcalloc(n, sizeof *c.tensor), .missing = xcalloc(n, 1), .from = xcalloc(n, sizeof *c.from), .parts = xcalloc(n, sizeof *c.parts),
	    .observer = xcalloc(n, sizeof *c.observer), .fed = xcalloc(n, sizeof *c.fed), .finished = xcalloc(n, 1),
	    .scale = xcalloc(n, sizeof *c.scale), .zero = xcalloc(n, sizeof *c.zero)};
	for (int i = 0; i < OBSERVER_PHASES; i++)
		c.want[i] = xcalloc(values, 1);
	pthread_mutex_init(&c.lock, NULL);
	index_observers(&c);
	if (find_missing(&c) > 0)
		st = observe(&c, err);
	if (st == STATUS_OK)
		st = plan_finish(w->plan, c.scale, c.zero, w->req.edits, err);
	for (int i = 0; i < w->plan->n_observe; i++)
		observer_free(&c.observer[i]);
	pthread_mutex_destroy(&c.lock);
	free(c.first_of);
	free(c.next_of);
	free(c.key);
	free(c.tensor);
	free(c.missing);
	free(c.from);
	for (int i = 0; i < w->plan->n_observe; i++)
		free(c.parts[i].at);
	free(c.parts);
	free(c.observer);
	for (int i = 0; i < OBSERVER_PHASES; i++)
		free(c.want[i]);
	free(c.fed);
	free(c.finished);
	free(c.scale);
	free(c.zero);
	return st;
}
