// The damage of a plan: the quantized network over a few samples beside the float one, compared by what they detect, or else channel by
// channel at the points. Sums are kept a sample and merge in the order of samples. The float network runs when the first plan is not
// known yet.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/hash.h"
#include "../task/boxes.h"
#include "repair_impl.h"

static const double SEEN = 0.25; // boxes_mass of a sample: where there is less, there is nothing to compare boxes by
static const double FAINT = 0.05;

struct moments {
	double sum, square;               // of the float tensor
	double other_sum, other_square;   // of the quantized one
	double noise;                     // squares of the difference
};
struct probe {
	const struct graph *g;
	struct engine *engine;
	const atomic_bool *cancel;
	struct point *point;
	int n_points, samples, runs;
	bool *want;              // [n_values]
	const struct boxes_reader *reader; // NULL: the network is no detector that can be read
	struct tensor *out;      // [samples * n_outputs] of the pass under way, where there is a reader
	struct boxes **box[2];   // [samples] of the float network, and of the plan that was measured last
	struct tensor *ref;      // [samples * n_points] of the float network
	struct moments **channel;  // [samples * n_points][channels]
	struct repair_memo *memo; // the study's
	struct key identity;     // of the samples
	bool has_ref;
	atomic_bool failed;
	enum sim sim;            // of the pass under way
};

static void drop_outputs(struct probe *p)
{
	for (int i = 0; p->out && i < p->samples * p->g->n_outputs; i++)
		tensor_drop(&p->out[i]);
}

static void drop_boxes(struct probe *p, int of)
{
	for (int i = 0; p->box[of] && i < p->samples; i++)
		boxes_free(&p->box[of][i]);
}

void probe_free(struct probe **pp)
{
	struct probe *p = *pp;
	if (!p)
		return;
	drop_outputs(p);
	drop_boxes(p, 0);
	drop_boxes(p, 1);
	free(p->out);
	free(p->box[0]);
	free(p->box[1]);
	for (int i = 0; i < p->samples * p->n_points; i++) {
		tensor_drop(&p->ref[i]);
		free(p->channel[i]);
	}
	free(p->ref);
	free(p->channel);
	free(p->want);
	free(p->point);
	free(p);
	*pp = NULL;
}

static enum status as_plain(struct rep *out, struct rep *from, int width, struct error *err)
{
	struct rep dense = {0};
	enum status st = rep_to_float(&dense, from, width, err);
	if (st == STATUS_OK)
		st = rep_to_layout(out, &dense, LAYOUT_PLAIN, width, err);
	rep_drop(&dense);
	return st;
}

static void measure_float(const struct point *pt, struct moments *m, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		struct moments *c = &m[i / pt->inner % pt->channels];
		c->sum += (double)x[i];
		c->square += (double)x[i] * (double)x[i];
	}
}

static void measure_noise(const struct point *pt, struct moments *m, const float *x, const float *ref, int64_t n)
{
	for (int64_t c = 0; c < pt->channels; c++)
		m[c].noise = m[c].other_sum = m[c].other_square = 0;
	for (int64_t i = 0; i < n; i++) {
		struct moments *c = &m[i / pt->inner % pt->channels];
		double v = isfinite(x[i]) ? (double)x[i] : 0, d = v - (double)ref[i];
		c->noise += d * d;
		c->other_sum += v;
		c->other_square += v * v;
	}
}

static void take(struct probe *p, int point, int sample, const struct tensor *x)
{
	int at = sample * p->n_points + point;
	struct tensor *ref = &p->ref[at];
	const struct point *pt = &p->point[point];
	if (p->sim == SIM_FLOAT) {
		*ref = tensor_share(x);
		measure_float(pt, p->channel[at], x->data, tensor_count(x));
	} else {
		int64_t n = tensor_count(x) < tensor_count(ref) ? tensor_count(x) : tensor_count(ref);
		measure_noise(pt, p->channel[at], x->data, ref->data, n);
	}
}

static void see(void *arg, const struct sighting *s)
{
	struct probe *p = arg;
	struct rep plain = {0};
	struct error err = {0};
	if (!s->rep[p->sim])
		return;
	if (as_plain(&plain, s->rep[p->sim], s->width, &err) != STATUS_OK) {
		atomic_store(&p->failed, true);
		return;
	}
	for (int i = 0; i < p->n_points; i++)
		if (p->point[i].value == s->value)
			take(p, i, s->sample, &plain.t);
	for (int i = 0; p->reader && i < p->g->n_outputs; i++)
		if (p->g->output[i] == s->value && !p->out[s->sample * p->g->n_outputs + i].data)
			p->out[s->sample * p->g->n_outputs + i] = tensor_share(&plain.t);
	rep_drop(&plain);
}

// From the outputs of the pass to boxes. Constant outputs do not come by in a pass.
static enum status read_boxes(struct probe *p, int samples, struct error *err)
{
	int of = p->sim != SIM_FLOAT, n = p->g->n_outputs;
	enum status st = STATUS_OK;
	drop_boxes(p, of);
	for (int s = 0; s < samples && st == STATUS_OK; s++) {
		for (int i = 0; i < n; i++)
			if (p->g->value[p->g->output[i]].constant)
				p->out[s * n + i] = tensor_share(p->g->value[p->g->output[i]].constant);
		st = boxes_read(&p->box[of][s], p->reader, &p->out[s * n], err);
	}
	return st;
}

static enum status run(struct probe *p, const struct plan *plan, int samples, struct error *err)
{
	struct pass pass = {.plan = plan, .last = samples, .visit = see, .arg = p, .cancel = p->cancel};
	p->sim = plan ? SIM_FULL : SIM_FLOAT;
	pass.want[p->sim] = p->want;
	atomic_store(&p->failed, false);
	enum status st = engine_pass(p->engine, &pass, err);
	if (st == STATUS_OK && atomic_load(&p->failed)) {
		error_set(err, STATUS_NOMEM, "no memory to compare the outputs");
		st = graph_error(p->g, -1, err);
	}
	if (st == STATUS_OK && p->reader)
		st = read_boxes(p, samples, err);
	drop_outputs(p);
	p->runs++;
	return st;
}

static void want_outputs(struct probe *p, const struct boxes_reader *reader)
{
	p->reader = reader;
	p->out = xcalloc((size_t)(p->samples * p->g->n_outputs) + 1, sizeof *p->out);
	for (int i = 0; i < 2; i++)
		p->box[i] = xcalloc((size_t)p->samples + 1, sizeof(struct boxes *));
	for (int i = 0; i < p->g->n_outputs; i++)
		p->want[p->g->output[i]] |= !p->g->value[p->g->output[i]].constant;
}

enum status probe_new(struct probe **out, const struct graph *g, struct engine *e, struct repair_memo *memo,
    const struct boxes_reader *reader, int samples, const struct dataset *d, const atomic_bool *cancel, struct error *err)
{
	struct probe *p = xcalloc(1, sizeof *p);
	*p = (struct probe){.g = g, .engine = e, .memo = memo, .cancel = cancel, .samples = samples};
	for (int i = 0; i < samples; i++)
		p->identity = key_add_key(p->identity, dataset_key(d, i));
	p->point = points_find(g, &p->n_points);
	p->want = xcalloc((size_t)g->n_values + 1, 1);
	p->ref = xcalloc((size_t)(samples * p->n_points) + 1, sizeof *p->ref);
	p->channel = xcalloc((size_t)(samples * p->n_points) + 1, sizeof *p->channel);
	for (int i = 0; i < p->n_points; i++)
		p->want[p->point[i].value] = true;
	if (reader)
		want_outputs(p, reader);
	for (int i = 0; i < samples * p->n_points; i++)
		p->channel[i] = xcalloc((size_t)p->point[i % p->n_points].channels, sizeof **p->channel);
	enum status st = p->n_points ? STATUS_OK :
	    error_set(err, STATUS_UNSUPPORTED, "the model has no float output that could be compared");
	if (st == STATUS_OK)
		*out = p;
	else
		probe_free(&p);
	return st;
}

static struct moments pool(const struct probe *p, int samples, int point, int64_t channel, double *count)
{
	struct moments m = {0};
	*count = 0;
	for (int s = 0; s < samples; s++) {
		const struct moments *one = &p->channel[s * p->n_points + point][channel];
		m.sum += one->sum;
		m.square += one->square;
		m.other_sum += one->other_sum;
		m.other_square += one->other_square;
		m.noise += one->noise;
		*count += (double)tensor_count(&p->ref[s * p->n_points + point]) / (double)p->point[point].channels;
	}
	return m;
}

static double variance_of(const struct moments *m, double count)
{
	return count > 0 ? fmax(0, m->square / count - m->sum / count * (m->sum / count)) : 0;
}

// One less Lin's concordance: the mean squared difference over both variances and the squared difference of the means.
static double discord(const struct moments *m, double count)
{
	double shift = (m->sum - m->other_sum) / count, other = m->other_sum / count;
	double other_variance = fmax(0, m->other_square / count - other * other);
	return fmin(1, m->noise / count / (variance_of(m, count) + other_variance + shift * shift));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// The middle one of the channels' variances.
static double typical(const double *variance, int64_t n)
{
	double *sorted = xcalloc((size_t)n + 1, sizeof *sorted);
	memcpy(sorted, variance, (size_t)n * sizeof *sorted);
	qsort(sorted, (size_t)n, sizeof *sorted, by_value);
	double middle = sorted[n / 2];
	free(sorted);
	return middle;
}

// A channel that says less than others (a class that none of the samples shows) counts less: there everything is noise.
static void add_point(const struct probe *p, int samples, int point, struct damage *d)
{
	int64_t n = p->point[point].channels;
	double damage = 0, weights = 0, signal = 0, noise = 0, count = 0;
	double *variance = xcalloc((size_t)n + 1, sizeof *variance);
	struct moments *m = xcalloc((size_t)n + 1, sizeof *m);
	for (int64_t c = 0; c < n; c++) {
		m[c] = pool(p, samples, point, c, &count);
		variance[c] = variance_of(&m[c], count);
		signal += m[c].square;
		noise += m[c].noise;
	}
	double middle = typical(variance, n);
	for (int64_t c = 0; c < n; c++) {
		if (!(variance[c] > 1e-9 * m[c].square / count))
			continue; // it does not vary
		double weight = variance[c] / (variance[c] + middle);
		damage += weight * discord(&m[c], count);
		weights += weight;
	}
	d->damage += weights > 0 ? damage / weights : 0;
	d->snr_db = fmin(d->snr_db, noise > 0 ? 10 * log10(signal / noise) : INFINITY);
	free(variance);
	free(m);
}

static struct key key_of_points(const struct probe *p, const struct plan *plan, int samples)
{
	struct key *all = xcalloc((size_t)p->g->n_values + 1, sizeof *all), k = key_add_int(p->identity, samples);
	engine_keys(p->g, plan, SIM_FULL, all);
	for (int i = 0; i < p->n_points; i++)
		k = key_add_key(k, all[p->point[i].value]);
	for (int i = 0; p->reader && i < p->g->n_outputs; i++)
		k = key_add_key(k, all[p->g->output[i]]);
	free(all);
	return k;
}

// What a pass that was cancelled has left is not to be added to.
static void forget_ref(struct probe *p)
{
	for (int i = 0; i < p->samples * p->n_points; i++) {
		tensor_drop(&p->ref[i]);
		memset(p->channel[i], 0, (size_t)p->point[i % p->n_points].channels * sizeof **p->channel);
	}
}

// Sums of a channel that holds NaN or infinite numbers are none. Where all are, no damage could be told from none.
static enum status check_ref(const struct probe *p, struct error *err)
{
	for (int i = 0; i < p->samples * p->n_points; i++)
		for (int64_t c = 0; c < p->point[i % p->n_points].channels; c++)
			if (isfinite(p->channel[i][c].square))
				return STATUS_OK;
	error_set(err, STATUS_UNSUPPORTED, "what the float network gives is not made of finite numbers: check the model's weights and the samples");
	return graph_error(p->g, -1, err);
}

static enum status run_float(struct probe *p, struct error *err)
{
	enum status st = p->has_ref ? STATUS_OK : run(p, NULL, p->samples, err);
	if (st == STATUS_OK && !p->has_ref)
		st = check_ref(p, err);
	p->has_ref = st == STATUS_OK;
	if (!p->has_ref)
		forget_ref(p);
	return st;
}

static bool sees_enough(const struct probe *p, int samples)
{
	double mass = 0;
	for (int i = 0; i < samples; i++)
		mass += boxes_mass(p->box[0][i]);
	return mass > SEEN * samples;
}

// Where hardly a box is left, the points tell one ruin from another: they move the damage by at most FAINT.
static double by_boxes(double apart, double at_points)
{
	double lost = fmax(0, (apart - REPAIR_RUINED) / (1 - REPAIR_RUINED));
	return apart - lost * FAINT * (1 - at_points);
}

static enum status measure(struct probe *p, const struct plan *plan, int samples, struct damage *out, struct error *err)
{
	enum status st = run_float(p, err);
	if (st == STATUS_OK)
		st = run(p, plan, samples, err);
	*out = (struct damage){.snr_db = INFINITY};
	for (int i = 0; i < p->n_points && st == STATUS_OK; i++)
		add_point(p, samples, i, out);
	out->damage /= p->n_points;
	if (st == STATUS_OK && p->reader && sees_enough(p, samples))
		out->damage = by_boxes(boxes_apart((const struct boxes *const *)p->box[0], (const struct boxes *const *)p->box[1], samples), out->damage);
	return st;
}

static enum status look_up(struct probe *p, const struct plan *plan, int samples, struct damage *out, struct error *err)
{
	struct key k = key_of_points(p, plan, samples);
	struct repair_known known;
	enum status st = STATUS_OK;
	if (repair_memo_get(p->memo, k, &known)) {
		*out = (struct damage){known.damage, known.snr_db};
		return st;
	}
	st = measure(p, plan, samples, out, err);
	if (st == STATUS_OK)
		repair_memo_put(p->memo, k, &(struct repair_known){out->damage, out->snr_db, NAN});
	return st;
}

enum status probe_damage(struct probe *p, const struct plan *plan, struct damage *out, struct error *err)
{
	return look_up(p, plan, p->samples, out, err);
}

enum status probe_alone(struct probe *p, const struct plan *plan, struct damage *out, struct error *err)
{
	return look_up(p, plan, (p->samples + 2) / 3, out, err);
}

int probe_runs(const struct probe *p)
{
	return p->runs;
}

int probe_samples(const struct probe *p)
{
	return p->samples;
}
