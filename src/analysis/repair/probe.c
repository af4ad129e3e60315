// The damage of a plan: the quantized network over a few samples, which stand for all, beside the float one, compared by what
// they detect, or else channel by channel at the points (concord.c). The float network runs when the first plan is not known yet.
#include <math.h>
#include <stdlib.h>
#include "../task/kinds/boxes.h"
#include "qtui/base/hash.h"
#include "repair_impl.h"

static const double SEEN = 0.25; // boxes_mass of a sample: where there is less, there is nothing to compare boxes by
static const double FAINT = 0.05; // of damage: what the points say where boxes are few
static const double BOXES = 0.75; // of damage, of a decoder of queries: what boxes say

struct probe {
	const struct graph *g;
	const struct dataset *data;
	struct engine *engine;
	const atomic_bool *cancel;
	struct point *point;
	int n_points, samples, runs;
	int *sample;                       // [samples] of the data set
	int *place;                        // [of the data set] of each in `sample`; -1: it is not probed
	bool *want;                        // [n_values]
	struct concord **concord;          // [n_points]
	const struct boxes_reader *reader; // NULL: the network is no detector that can be read
	bool queries;                      // it decodes queries
	struct tensor *out;                // [samples * n_outputs] of the pass under way, where there is a reader
	struct boxes **box[2];             // [samples] of the float network, and of the plan that was measured last
	struct repair_memo *memo;          // the study's
	struct key identity;               // of the samples
	enum sim sim;                      // of the pass under way
	bool has_ref;                      // the float network has run
	atomic_bool failed;                // memory, in the pass under way
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
	for (int i = 0; i < p->n_points; i++)
		concord_free(&p->concord[i]);
	free(p->concord);
	free(p->want);
	free(p->point);
	free(p->sample);
	free(p->place);
	free(p);
	*pp = NULL;
}

enum status rep_as_plain(struct rep *out, struct rep *from, int width, struct error *err)
{
	struct rep dense = {0};
	enum status st = rep_to_float(&dense, from, width, err);
	if (st == STATUS_OK)
		st = rep_to_layout(out, &dense, LAYOUT_PLAIN, width, err);
	rep_drop(&dense);
	return st;
}

static void see(void *arg, const struct sighting *s)
{
	struct probe *p = arg;
	struct rep plain = {0};
	struct error err = {0};
	int sample = p->place[s->sample];
	if (!s->rep[p->sim])
		return;
	if (rep_as_plain(&plain, s->rep[p->sim], s->width, &err) != STATUS_OK) {
		atomic_store(&p->failed, true);
		return;
	}
	for (int i = 0; i < p->n_points; i++)
		if (p->point[i].value == s->value)
			(p->sim == SIM_FLOAT ? concord_float : concord_quantized)(p->concord[i], sample, &plain.t);
	for (int i = 0; p->reader && i < p->g->n_outputs; i++)
		if (p->g->output[i] == s->value && !p->out[sample * p->g->n_outputs + i].data)
			p->out[sample * p->g->n_outputs + i] = tensor_share(&plain.t);
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
		const struct sample_outputs one = {p->g, p->data, p->sample[s], &p->out[s * n], p->cancel};
		st = boxes_read(&p->box[of][s], p->reader, &one, err);
	}
	return st;
}

enum status probe_pass(struct engine *e, const struct pass *p, const struct graph *g, atomic_bool *failed, struct error *err)
{
	atomic_store(failed, false);
	enum status st = engine_pass(e, p, err);
	if (st != STATUS_OK || !atomic_load(failed))
		return st;
	error_set(err, STATUS_NOMEM, "no memory to compare the outputs");
	return graph_error(g, -1, err);
}

static enum status run(struct probe *p, const struct plan *plan, int samples, struct error *err)
{
	struct pass pass = {.plan = plan, .last = samples, .sample = p->sample, .visit = see, .arg = p, .cancel = p->cancel};
	p->sim = plan ? SIM_FULL : SIM_FLOAT;
	pass.want[p->sim] = p->want;
	enum status st = probe_pass(p->engine, &pass, p->g, &p->failed, err);
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
		p->box[i] = xcalloc((size_t)p->samples + 1, sizeof *p->box[i]);
	for (int i = 0; i < p->g->n_outputs; i++)
		p->want[p->g->output[i]] |= !p->g->value[p->g->output[i]].constant;
}

// Samples lie in the order of their classes as a rule, and a few that are clipped make all the noise there is.
int *probe_choose(int count, int samples, int noisiest)
{
	int *at = xcalloc((size_t)samples + 1, sizeof *at), n = 0;
	int64_t part = noisiest < 0 ? 0 : ((noisiest + 1) * (int64_t)samples - 1) / count; // of `samples` equal ones, where it lies
	int step = samples < count ? 3 : 1;
	for (int k = 0; k < step; k++)
		for (int64_t i = (part + k) % step; i < samples; i += step)
			at[n++] = noisiest >= 0 && i == part ? noisiest : (int)(i * count / samples);
	return at;
}

// A picture for a detector has objects of many classes, and boxes decide, not noise: the first serve as well as any.
static int *first_samples(int samples)
{
	int *at = xcalloc((size_t)samples + 1, sizeof *at);
	for (int i = 0; i < samples; i++)
		at[i] = i;
	return at;
}

static void choose(struct probe *p, const struct repair *r)
{
	int count = dataset_count(p->data);
	p->sample = r->reader ? first_samples(p->samples) : probe_choose(count, p->samples, r->noisiest);
	p->place = xcalloc((size_t)count + 1, sizeof *p->place);
	for (int i = 0; i < count; i++)
		p->place[i] = -1;
	for (int i = 0; i < p->samples; i++) {
		p->place[p->sample[i]] = i;
		p->identity = key_add_key(p->identity, dataset_key(p->data, p->sample[i]));
	}
}

enum status probe_new(struct probe **out, const struct repair *r, int samples, struct error *err)
{
	int n_points;
	struct point *point = points_find(r->g, &n_points);
	if (!n_points) {
		free(point);
		return points_missing(r->g, err);
	}
	struct probe *p = xcalloc(1, sizeof *p);
	*p = (struct probe){.g = r->g, .data = r->data, .engine = r->engine, .memo = r->memo, .cancel = r->opt.cancel, .samples = samples,
	    .point = point, .n_points = n_points};
	choose(p, r);
	p->want = xcalloc((size_t)r->g->n_values + 1, 1);
	p->concord = xcalloc((size_t)n_points, sizeof *p->concord);
	for (int i = 0; i < n_points; i++) {
		p->want[point[i].value] = true;
		p->concord[i] = concord_new(&point[i], samples);
	}
	p->queries = r->queries;
	if (r->reader)
		want_outputs(p, r->reader);
	*out = p;
	return STATUS_OK;
}

static struct key key_of_points(const struct probe *p, const struct plan *plan, int samples)
{
	struct key *all = xcalloc((size_t)p->g->n_values + 1, sizeof *all), k = key_add_int(p->identity, samples);
	engine_keys(p->g, plan, SIM_FULL, all);
	for (int i = 0; i < p->n_points; i++)
		k = key_add_key(k, all[p->point[i].value]);
	for (int i = 0; p->reader && i < p->g->n_outputs; i++)
		k = key_add_key(k, all[p->g->output[i]]);
	if (p->reader)
		k = key_add_key(k, boxes_reader_key(p->reader));
	free(all);
	return k;
}

// Where nothing is finite, no damage could be told from none.
static enum status check_ref(const struct probe *p, struct error *err)
{
	for (int i = 0; i < p->n_points; i++)
		if (concord_finite(p->concord[i]))
			return STATUS_OK;
	error_set(err, STATUS_UNSUPPORTED,
	    "what the float network gives is not made of finite numbers: qtui analyze names the tensor where that begins");
	return graph_error(p->g, -1, err);
}

static enum status run_float(struct probe *p, struct error *err)
{
	enum status st = p->has_ref ? STATUS_OK : run(p, NULL, p->samples, err);
	if (st == STATUS_OK && !p->has_ref)
		st = check_ref(p, err);
	p->has_ref = st == STATUS_OK;
	for (int i = 0; i < p->n_points && !p->has_ref; i++)
		concord_forget(p->concord[i]); // what a pass that was cancelled has left is not to be added to
	return st;
}

static bool sees_enough(const struct probe *p, int samples)
{
	double mass = 0;
	int compared = 0;
	for (int i = 0; i < samples; i++) {
		bool both = p->box[0][i] && p->box[1][i];
		mass += both ? boxes_mass(p->box[0][i]) : 0;
		compared += both;
	}
	return mass > SEEN * compared;
}

// Where hardly a box is left, the points tell one ruin from another: they move the damage by at most FAINT.
static double by_boxes(double apart, double at_points)
{
	double lost = fmax(0, (apart - REPAIR_RUINED) / (1 - REPAIR_RUINED));
	return apart - lost * FAINT * (1 - at_points);
}

// Of a decoder of queries hardly a box is left until most of it is mended; on the way there the points speak alone,
// which do not see the decoder.
static double by_both(double apart, double at_points)
{
	return BOXES * fmin(apart / REPAIR_RUINED, 1) + (1 - BOXES) * at_points;
}

static enum status measure(struct probe *p, const struct plan *plan, int samples, struct damage *out, struct error *err)
{
	enum status st = run_float(p, err);
	if (st == STATUS_OK)
		st = run(p, plan, samples, err);
	*out = (struct damage){.snr_db = INFINITY};
	for (int i = 0; i < p->n_points && st == STATUS_OK; i++) {
		struct damage d = concord_damage(p->concord[i], samples);
		out->damage += d.damage;
		out->snr_db = fmin(out->snr_db, d.snr_db);
	}
	out->damage /= p->n_points;
	const struct boxes *const *truth = (const struct boxes *const *)p->box[0], *const *seen = (const struct boxes *const *)p->box[1];
	if (st == STATUS_OK && p->reader && sees_enough(p, samples))
		out->damage = (p->queries ? by_both : by_boxes)(boxes_apart(truth, seen, samples), out->damage);
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

bool probe_has(const struct probe *p, int sample)
{
	return p->place[sample] >= 0;
}
