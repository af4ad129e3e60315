// Depths: how many of a sample's pixels the network has within a factor of the true depth, and by how much it is off; means
// over the samples. Networks say depths in metres, or (as MiDaS and what follows it) depths or inverse depths up to a scale and
// a shift, which least squares find for each sample, as their authors measure them. What a network says is told by the
// float network's own outputs: the samples vote.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../decode/floats.h"
#include "../decode/head.h"
#include "../decode/pixels.h"
#include "../task_impl.h"
#include "made.h"
#include "qtui/base/mem.h"

static const double WITHIN = 1.25;

enum fit { FIT_NONE, FIT_DEPTH, FIT_INVERSE };
static const struct reading {
	const char *name;
	double metres; // of one in the labels
	enum fit fit;
} readings[] = {
    {"depths in the labels' unit", 1, FIT_NONE},
    {"metres, the labels millimetres", 1 / 1000., FIT_NONE}, // NYU, ScanNet
    {"metres, the labels 256ths", 1 / 256., FIT_NONE},       // KITTI
    {"metres, the labels 5000ths", 1 / 5000., FIT_NONE},     // TUM
    {"depths up to scale and shift", 1, FIT_DEPTH},
    {"inverse depths up to scale and shift", 1, FIT_INVERSE},
};
enum { READINGS = sizeof readings / sizeof *readings, NO_VOTE = -1 };
enum { DELTA1, ABS_REL, RMSE, FIGURES }; // RMSE: NAN where the unit is not known
static const char *const figure_name[FIGURES] = {"delta1", "abs_rel", "rmse"};

struct depths { // of one sample; without a true depth anywhere it has no vote, no figures and no pictures
	struct task_result base; // value: delta1 as the sample itself would have it read
	int vote;                // of this sample, for one of the readings
	double figure[READINGS][FIGURES];
	struct made made;        // pictures: what is near is light
};
// ---- one sample

struct pairs { // of pixels that have a true depth
	float *said, *truth;
	int64_t n;
};
// z = times * said + plus, of inverse depths 1 / that, but not more than `most`. NAN: what is said is no finite number.
struct line {
	double times, plus, most;
};

static double depth_of(const struct reading *r, const struct line *l, double said)
{
	double z = l->times * said + l->plus;
	if (!isfinite(said))
		return NAN;
	return r->fit == FIT_INVERSE ? z > 1 / l->most ? 1 / z : l->most : z;
}

static struct line fit_line(const struct reading *r, const struct pairs *p)
{
	struct line l = {1, 0, 0};
	double n = 0, x = 0, y = 0, xx = 0, xy = 0;
	for (int64_t i = 0; i < p->n; i++) {
		double s = (double)p->said[i], d = (double)p->truth[i] * r->metres, to = r->fit == FIT_INVERSE ? 1 / d : d;
		l.most = fmax(l.most, d);
		if (!isfinite(s))
			continue;
		n++;
		x += s;
		y += to;
		xx += s * s;
		xy += s * to;
	}
	double spread = n * xx - x * x;
	if (r->fit == FIT_NONE || n == 0)
		return l;
	l.times = spread > 0 ? (n * xy - x * y) / spread : 0;
	l.plus = (y - l.times * x) / n;
	return l;
}

static void measure(double figure[FIGURES], const struct reading *r, const struct pairs *p)
{
	struct line l = fit_line(r, p);
	double within = 0, relative = 0, square = 0;
	for (int64_t i = 0; i < p->n; i++) {
		double d = (double)p->truth[i] * r->metres, z = depth_of(r, &l, (double)p->said[i]), off = isfinite(z) ? fabs(z - d) : d;
		within += z > 0 && fmax(z / d, d / z) < WITHIN;
		relative += off / d;
		square += off * off;
	}
	figure[DELTA1] = within / (double)p->n;
	figure[ABS_REL] = relative / (double)p->n;
	figure[RMSE] = r->fit == FIT_NONE ? sqrt(square / (double)p->n) : NAN;
}

// The unit that comes nearest, where it has half the pixels that the best fit has: a fit, which may choose two numbers, nearly
// always has more.
static int vote_of(const double figure[READINGS][FIGURES])
{
	int best[2] = {NO_VOTE, NO_VOTE};
	for (int i = 0; i < READINGS; i++) {
		int *to = &best[readings[i].fit != FIT_NONE];
		if (*to == NO_VOTE || figure[i][ABS_REL] < figure[*to][ABS_REL])
			*to = i;
	}
	return figure[best[0]][DELTA1] >= figure[best[1]][DELTA1] / 2 ? best[0] : best[1];
}

// As much light as the logarithm of a depth is below the greatest of the truth.
static float light(double z, const double range[2])
{
	double span = log(range[1]) - log(range[0]);
	return (float)(255 * fmin(fmax(z > 0 && span > 0 ? (log(range[1]) - log(z)) / span : 0, 0), 1));
}

struct depth_maps { // of a sample: the truth and what is said there, both [h, w]
	struct truth truth;
	float *said; // NAN: outside of what the network sees
	double range[2]; // of the true depths
};

static bool has_depth(const struct depth_maps *m, int64_t i)
{
	return m->truth.at[i] > 0 && isfinite(m->truth.at[i]);
}

static void find_range(struct depth_maps *m)
{
	m->range[0] = INFINITY;
	m->range[1] = 0;
	for (int64_t i = 0; i < m->truth.n; i++)
		if (has_depth(m, i)) {
			m->range[0] = fmin(m->range[0], (double)m->truth.at[i]);
			m->range[1] = fmax(m->range[1], (double)m->truth.at[i]);
		}
}

static struct pairs pairs_of(const struct depth_maps *m)
{
	struct pairs p = {xcalloc((size_t)m->truth.n + 1, sizeof *p.said), xcalloc((size_t)m->truth.n + 1, sizeof *p.truth), 0};
	for (int64_t i = 0; i < m->truth.n; i++)
		if (has_depth(m, i) && !isnan(m->said[i])) {
			p.said[p.n] = m->said[i];
			p.truth[p.n++] = m->truth.at[i];
		}
	return p;
}

static void pairs_done(struct pairs *p)
{
	free(p->said);
	free(p->truth);
}

static void maps_done(struct depth_maps *m)
{
	truth_done(&m->truth);
	free(m->said);
}

// Where there is no true depth both planes have what is said, so that no error is seen there.
static void keep_picture(struct depths *to, const struct depth_maps *m, const struct pairs *p, double most)
{
	const struct reading *r = &readings[to->vote];
	struct line l = fit_line(r, p);
	const struct area all = {0, 0, m->truth.w, m->truth.h};
	float *said = xcalloc((size_t)m->truth.n, sizeof *said), *truth = xcalloc((size_t)m->truth.n, sizeof *truth);
	for (int64_t i = 0; i < m->truth.n; i++) {
		said[i] = isnan(m->said[i]) ? 0 : light(depth_of(r, &l, (double)m->said[i]) / r->metres, m->range);
		truth[i] = has_depth(m, i) && !isnan(m->said[i]) ? light((double)m->truth.at[i], m->range) : said[i];
	}
	made_keep(&to->made, &(struct pair){said, truth, 1, m->truth.w, m->truth.h, false}, &all, most);
	free(said);
	free(truth);
}

// ---- reading

// Arrays lie in the input as they are.
static struct placement place_of(const struct task *t, int sample)
{
	struct placement where;
	struct error ignored;
	int w, h;
	head_input(&w, &h, t->g);
	if (dataset_place(t->d, sample, &where, &ignored) == STATUS_OK)
		return where;
	return (struct placement){w, h, w, h, 1, 1, 0, 0};
}

static enum status read_truth(struct truth *out, const struct task *t, int sample, const struct placement *where, struct error *err)
{
	const char *file = t->labels->label[sample].file, *name = file ? file : t->labels->source;
	enum status st = labels_truth(out, t->labels, sample, err);
	if (st == STATUS_OK && (int64_t)out->w * out->h != out->n)
		st = error_set(err, STATUS_FORMAT, "%s: depths are a number for each pixel, as an array [H, W]", name);
	if (st == STATUS_OK && !pixels_have_proportions(out->w, out->h, where->image_w, where->image_h))
		st = error_set(err, STATUS_FORMAT, "%s has %d x %d depths, its sample %d x %d pixels", name, out->w, out->h, where->image_w,
		    where->image_h);
	if (st != STATUS_OK)
		truth_done(out);
	return st;
}

static enum status read_maps(struct depth_maps *m, struct task *t, int sample, const struct tensor *out, struct error *err)
{
	struct placement where = place_of(t, sample);
	struct pixels p;
	float *heap;
	*m = (struct depth_maps){0};
	if (!pixels_find(&p, t->g, out, where.input_w, where.input_h) || p.channels != 1)
		return error_set(err, STATUS_UNSUPPORTED, "no output is a map of one number for each pixel");
	enum status st = read_truth(&m->truth, t, sample, &where, err);
	if (st != STATUS_OK)
		return st;
	struct pixel_lines *l = pixel_lines_new(&p, output_floats(&out[p.output], &heap), &where, m->truth.w, m->truth.h);
	m->said = xcalloc((size_t)m->truth.n + 1, sizeof *m->said);
	for (int y = 0; y < m->truth.h; y++) {
		const float *line = pixel_value_line(l, y);
		for (int x = 0; x < m->truth.w; x++)
			m->said[(size_t)y * (size_t)m->truth.w + (size_t)x] = line[x];
	}
	pixel_lines_free(&l);
	free(heap);
	find_range(m);
	return STATUS_OK;
}

// [n_samples] of the float network's outputs, or NO_VOTE. The lock guards them.
static int *votes_of(const struct task *t)
{
	return t->state;
}

static enum status depth_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	struct depth_maps m;
	enum status st = read_maps(&m, t, sample, said->out, err);
	if (st != STATUS_OK)
		return st;
	struct pairs p = pairs_of(&m);
	struct depths *d = xcalloc(1, sizeof *d);
	for (int i = 0; i < READINGS; i++)
		measure(d->figure[i], &readings[i], &p);
	d->vote = p.n ? vote_of((const double(*)[FIGURES])d->figure) : NO_VOTE;
	if (p.n)
		keep_picture(d, &m, &p, made_share(t->labels->n_known));
	d->base = (struct task_result){.refs = 1, .bytes = sizeof *d + d->made.bytes, .value = p.n ? d->figure[d->vote][DELTA1] : NAN};
	if (said->out == said->float_out) {
		pthread_mutex_lock(&t->lock);
		votes_of(t)[sample] = d->vote;
		pthread_mutex_unlock(&t->lock);
	}
	*result = &d->base;
	pairs_done(&p);
	maps_done(&m);
	return STATUS_OK;
}

static void depth_release(struct task_result *r)
{
	made_done(&((struct depths *)r)->made);
	free(r);
}

// ---- how it is read

static int most_votes(const int *vote, int n)
{
	int count[READINGS] = {0}, best = 0, all = 0;
	for (int i = 0; i < n; i++)
		if (vote[i] != NO_VOTE) {
			count[vote[i]]++;
			all++;
		}
	for (int i = 0; i < READINGS; i++)
		best = count[i] > count[best] ? i : best;
	return all ? best : NO_VOTE;
}

// The lock is held.
static int reading_of(const struct task *t)
{
	return most_votes(votes_of(t), t->n_samples);
}

// That of the float network; of a network whose float one has not been asked, as it tells itself.
static void *depth_pool(const struct task *t, struct task_result *const *at, int n)
{
	int *reading = xcalloc(1, sizeof *reading), *own = xcalloc((size_t)n + 1, sizeof *own);
	pthread_mutex_lock(&((struct task *)t)->lock);
	*reading = reading_of(t);
	pthread_mutex_unlock(&((struct task *)t)->lock);
	for (int i = 0; i < n; i++)
		own[i] = at[i] ? ((const struct depths *)at[i])->vote : NO_VOTE;
	if (*reading == NO_VOTE)
		*reading = most_votes(own, n);
	free(own);
	return reading;
}

static enum status depth_open(struct task *t, struct error *err)
{
	struct pixels p;
	int w, h;
	head_input(&w, &h, t->g);
	if (task_outputs_known(t->g) && (!pixels_find(&p, t->g, NULL, w, h) || p.channels != 1))
		return error_set(err, STATUS_UNSUPPORTED, "%s: depths, but no output of the model is a map of one number for each pixel",
		    t->labels->source);
	int *vote = xcalloc((size_t)t->n_samples + 1, sizeof *vote);
	for (int i = 0; i < t->n_samples; i++)
		vote[i] = NO_VOTE;
	t->state = vote;
	return STATUS_OK;
}

static void depth_close(struct task *t)
{
	free(t->state);
	t->state = NULL;
}

static void depth_note(struct task *t, char *out, size_t size)
{
	int reading = reading_of(t);
	snprintf(out, size, "depths %s (%d of %d samples)%s%s", t->labels->source, t->labels->n_known, t->n_samples,
	    reading == NO_VOTE ? "" : "; the network says ", reading == NO_VOTE ? "" : readings[reading].name);
}

// ---- scoring

// NAN: the sample has none.
static double figure_of(const struct frozen *f, int sample, int figure)
{
	int reading = *(const int *)f->pool;
	return f->at[sample] && reading != NO_VOTE ? ((const struct depths *)f->at[sample])->figure[reading][figure] : NAN;
}

static double depth_score(const struct task *t, const struct frozen *f, const int *weight)
{
	(void)t;
	return task_mean_of(f, figure_of, DELTA1, weight);
}

static double depth_value(const struct frozen *f, int sample)
{
	return figure_of(f, sample, DELTA1);
}

static void depth_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	(void)t;
	task_report_means(r, f, figure_of, figure_name, FIGURES, RMSE);
}

// ---- a look

// As large as the pictures that are kept; black where there is no depth. Heap, or NULL: what was measured had it, and it may be gone.
static uint8_t *truth_of(const struct task *t, int sample, const struct made *like)
{
	struct placement where = place_of(t, sample);
	struct depth_maps m = {0};
	struct error ignored;
	if (read_truth(&m.truth, t, sample, &where, &ignored))
		return NULL;
	find_range(&m);
	const struct area all = {0, 0, m.truth.w, m.truth.h};
	for (int64_t i = 0; i < m.truth.n; i++)
		m.truth.at[i] = has_depth(&m, i) ? light((double)m.truth.at[i], m.range) : 0;
	uint8_t *rgb = made_rgb(&(struct pair){NULL, m.truth.at, 1, m.truth.w, m.truth.h, false}, &all, m.truth.at, like->w, like->h);
	maps_done(&m);
	return rgb;
}

static void depth_look(struct task *t, const struct looked *at, struct task_look *l)
{
	const struct depths *a = (const struct depths *)at->result[TASK_FLOAT], *b = (const struct depths *)at->result[TASK_QUANT];
	if (!a || !b || a->vote == NO_VOTE || b->vote == NO_VOTE || !made_look(l, &a->made, &b->made))
		return;
	pthread_mutex_lock(&t->lock);
	int reading = reading_of(t);
	pthread_mutex_unlock(&t->lock);
	reading = reading == NO_VOTE ? a->vote : reading;
	l->rgb = truth_of(t, l->sample, &a->made);
	for (int i = 0; i < FIGURES; i++)
		if (!isnan(a->figure[reading][i]))
			l->figure[l->n_figures++] = (struct task_figure){figure_name[i], {a->figure[reading][i], b->figure[reading][i]}};
}

const struct task_ops depth_ops = {
    .name = "depth", .figure = "delta1",
    .labels = LABELS_VALUES,
    .shows = SHOWS_FIGURES,
    .open = depth_open,
    .close = depth_close,
    .note = depth_note,
    .read = depth_read,
    .release = depth_release,
    .pool = depth_pool,
    .drain = free,
    .score = depth_score,
    .value = depth_value,
    .report = depth_report,
    .look = depth_look,
};
