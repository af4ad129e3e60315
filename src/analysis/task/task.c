// Tasks: opening, and what all kinds have in common.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "task_impl.h"

static const struct task_ops *const kinds[TASK_KINDS] = {
    [TASK_DETECT] = &detect_ops, [TASK_CLASSIFY] = &classify_ops, [TASK_AGREE] = &agree_ops};

const char *task_kind_name(enum task_kind k)
{
	return kinds[k]->name;
}

bool task_kind_parse(enum task_kind *out, const char *name)
{
	for (int k = 0; k < TASK_KINDS; k++)
		if (strcmp(kinds[k]->name, name) == 0) {
			*out = (enum task_kind)k;
			return true;
		}
	return false;
}

// ---- opening

// C of [C], [1, C], [1, C, 1, 1]; 0 for other shapes.
static int64_t class_count(const struct shape *s)
{
	int64_t n = shape_count(s);
	return n > 1 && s->rank >= 1 && s->dim[s->rank > 1] == n ? n : 0;
}

static bool is_classifier(const struct graph *g)
{
	const char *task = graph_metadata(g, "task");
	if (task)
		return strcmp(task, "classify") == 0;
	for (int i = 0; i < g->n_outputs; i++)
		if (class_count(&g->value[g->output[i]].shape) == 0)
			return false;
	return g->n_outputs > 0;
}

// Labels beside the data set: of the kind that was asked for, else of the one that the model looks like, else of the
// other.
static char *find_labels(const struct task *t, bool folders)
{
	const char *dataset = dataset_path(t->d);
	bool boxes = t->opt.kind < 0 ? !is_classifier(t->g) : t->opt.kind == TASK_DETECT;
	char *found = t->opt.kind == TASK_AGREE ? NULL : labels_find(dataset, boxes);
	return found || t->opt.kind >= 0 || folders ? found : labels_find(dataset, !boxes);
}

static enum status read_labels(struct task *t, struct error *err)
{
	struct placement where;
	struct labels_samples s = {.n = t->n_samples};
	const char **file = xcalloc((size_t)t->n_samples + 1, sizeof *file);
	enum status st = STATUS_OK;
	for (int i = 0; i < t->n_samples; i++)
		file[i] = dataset_file(t->d, i);
	s.file = file;
	if (t->n_samples && !file[0] && dataset_place(t->d, 0, &where, err) == STATUS_OK) {
		s.w = where.input_w;
		s.h = where.input_h;
	}
	bool folders =
	    t->opt.kind != TASK_DETECT && t->opt.kind != TASK_AGREE && is_classifier(t->g) && labels_are_folders(&s);
	char *path = t->opt.labels ? xstrdup(t->opt.labels) : find_labels(t, folders);
	if (path || folders)
		st = labels_read(&t->labels, path, &s, err);
	free(path);
	free(file);
	return st;
}

static enum status choose_kind(struct task *t, struct error *err)
{
	enum task_kind natural = !t->labels                        ? TASK_AGREE
	                         : t->labels->kind == LABELS_BOXES ? TASK_DETECT
	                                                           : TASK_CLASSIFY;
	t->kind = t->opt.kind < 0 ? natural : (enum task_kind)t->opt.kind;
	if (t->kind == natural || t->kind == TASK_AGREE)
		return STATUS_OK;
	if (!t->labels)
		return error_set(
		    err, STATUS_NOTFOUND, "%s: no labels lie beside it; name them with --labels", dataset_path(t->d));
	return error_set(err, STATUS_USAGE, "%s holds %s; --task %s needs %s", t->labels->source,
	    natural == TASK_DETECT ? "boxes" : "a class for each sample", task_kind_name(t->kind),
	    natural == TASK_DETECT ? "a class for each sample" : "boxes");
}

enum status task_open(struct task **out, const struct graph *g, const struct dataset *d, const struct task_options *opt,
    struct error *err)
{
	struct task *t = xcalloc(1, sizeof *t);
	*t = (struct task){.g = g, .d = d, .opt = *opt, .n_samples = dataset_count(d)};
	pthread_mutex_init(&t->lock, NULL);
	names_of_model(&t->names, g);
	enum status st = read_labels(t, err);
	if (st == STATUS_OK)
		st = choose_kind(t, err);
	if (st == STATUS_OK) {
		t->ops = kinds[t->kind];
		st = t->ops->open(t, err);
	}
	t->opt.labels = t->opt.decoder = NULL;
	if (st != STATUS_OK)
		task_free(&t);
	*out = t;
	return st;
}

void task_free(struct task **tp)
{
	struct task *t = *tp;
	if (!t)
		return;
	if (t->ops)
		t->ops->close(t);
	labels_free(&t->labels);
	names_done(&t->names);
	pthread_mutex_destroy(&t->lock);
	free(t);
	*tp = NULL;
}

enum task_kind task_kind(const struct task *t)
{
	return t->kind;
}

void task_note(struct task *t, char *out, size_t size)
{
	pthread_mutex_lock(&t->lock);
	t->ops->note(t, out, size);
	pthread_mutex_unlock(&t->lock);
}

// ---- adding

enum status task_add(
    struct task *t, int sample, const struct tensor *float_out, const struct tensor *quant_out, struct error *err)
{
	const struct tensor *const out[TASK_VARIANTS] = {[TASK_FLOAT] = float_out, [TASK_QUANT] = quant_out};
	enum status st = t->ops->add(t, sample, out, err);
	return st == STATUS_OK ? st : error_prefix(err, "%s", dataset_name(t->d, sample));
}

void task_forget(struct task *t, enum task_variant v)
{
	pthread_mutex_lock(&t->lock);
	t->ops->forget(t, v);
	pthread_mutex_unlock(&t->lock);
}

static float integer_at(const struct tensor *t, int64_t i)
{
	switch (t->type) {
	case DT_I8:
		return ((const int8_t *)t->data)[i];
	case DT_U8:
	case DT_BOOL:
		return ((const uint8_t *)t->data)[i];
	case DT_I16:
		return ((const int16_t *)t->data)[i];
	case DT_U16:
		return ((const uint16_t *)t->data)[i];
	case DT_I32:
		return (float)((const int32_t *)t->data)[i];
	case DT_U32:
		return (float)((const uint32_t *)t->data)[i];
	case DT_I64:
		return (float)((const int64_t *)t->data)[i];
	case DT_U64:
		return (float)((const uint64_t *)t->data)[i];
	default:
		return NAN;
	}
}

const float *task_floats(const struct tensor *t, float **heap)
{
	int64_t n = tensor_count(t);
	*heap = NULL;
	if (t->type == DT_F32)
		return t->data;
	*heap = xcalloc((size_t)n + 1, sizeof **heap);
	for (int64_t i = 0; i < n; i++)
		(*heap)[i] = integer_at(t, i);
	return *heap;
}

int task_class_output(const struct graph *g, const struct tensor *out)
{
	int best = -1;
	int64_t most = 0;
	for (int i = 0; i < g->n_outputs; i++)
		if (class_count(&out[i].shape) > most) {
			most = class_count(&out[i].shape);
			best = i;
		}
	return best;
}

// ---- asking

struct frozen_pair {
	struct frozen *at[TASK_VARIANTS];
};

static struct frozen_pair freeze(struct task *t)
{
	struct frozen_pair f;
	pthread_mutex_lock(&t->lock);
	for (int v = 0; v < TASK_VARIANTS; v++)
		f.at[v] = t->ops->freeze(t, (enum task_variant)v);
	pthread_mutex_unlock(&t->lock);
	return f;
}

static void thaw(const struct task *t, struct frozen_pair *f)
{
	for (int v = 0; v < TASK_VARIANTS; v++)
		t->ops->thaw(&f->at[v]);
}

// Samples that have both variants; without a float variant of its own (TASK_AGREE) the quantized one is enough.
static int paired_samples(const struct task *t, const struct frozen_pair *f, int *out)
{
	int n = 0;
	for (int i = 0; i < t->n_samples; i++)
		if (t->ops->has(f->at[TASK_QUANT], i) && (t->kind == TASK_AGREE || t->ops->has(f->at[TASK_FLOAT], i)))
			out[n++] = i;
	return n;
}

static double loss(const struct task_sample *s)
{
	double before = isnan(s->value[TASK_FLOAT]) ? 1 : s->value[TASK_FLOAT];
	return isnan(s->value[TASK_QUANT]) ? 0 : before - s->value[TASK_QUANT];
}

static int by_loss(const void *a, const void *b)
{
	const struct task_sample *x = a, *y = b;
	double lx = loss(x), ly = loss(y);
	return lx != ly ? (lx > ly ? -1 : 1) : (x->sample > y->sample) - (x->sample < y->sample);
}

static void report_samples(const struct task *t, const struct frozen_pair *f, struct task_report *r)
{
	int *sample = xcalloc((size_t)t->n_samples + 1, sizeof *sample);
	r->n_samples = paired_samples(t, f, sample);
	r->sample = xcalloc((size_t)r->n_samples + 1, sizeof *r->sample);
	for (int i = 0; i < r->n_samples; i++) {
		r->sample[i].sample = sample[i];
		for (int v = 0; v < TASK_VARIANTS; v++)
			r->sample[i].value[v] = t->ops->value(f->at[v], sample[i]);
	}
	qsort(r->sample, (size_t)r->n_samples, sizeof *r->sample, by_loss);
	free(sample);
}

struct task_report *task_report(struct task *t)
{
	struct task_report *r = xcalloc(1, sizeof *r);
	struct frozen_pair f = freeze(t);
	r->kind = t->kind;
	for (int v = 0; v < TASK_VARIANTS; v++)
		for (int i = 0; i < t->n_samples; i++)
			r->samples[v] += t->ops->has(f.at[v], i);
	t->ops->report(t, f.at, r);
	report_samples(t, &f, r);
	thaw(t, &f);
	return r;
}

void task_report_free(struct task_report **r)
{
	if (*r) {
		free((*r)->figure);
		free((*r)->class);
		free((*r)->sample);
	}
	free(*r);
	*r = NULL;
}

// ---- bootstrap

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double difference(const struct task *t, const struct frozen_pair *f, const int *weight)
{
	double quant = t->ops->score(f->at[TASK_QUANT], weight);
	return t->kind == TASK_AGREE ? quant - 1 : quant - t->ops->score(f->at[TASK_FLOAT], weight);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// Fills value[] with the differences of `draws` draws; returns how many are known (a draw may have no objects at all).
static int draw(const struct task *t, const struct frozen_pair *f, const int *sample, int n, int draws, uint64_t seed,
    double *value)
{
	int *weight = xcalloc((size_t)t->n_samples + 1, sizeof *weight), known = 0;
	for (int d = 0; d < draws; d++) {
		memset(weight, 0, (size_t)t->n_samples * sizeof *weight);
		for (int i = 0; i < n; i++)
			weight[sample[next_random(&seed) % (uint64_t)n]]++;
		double v = difference(t, f, weight);
		if (!isnan(v))
			value[known++] = v;
	}
	free(weight);
	return known;
}

static double normal_share(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

static double normal_quantile(double share)
{
	double low = -9, high = 9;
	while (high - low > 1e-9) {
		double middle = (low + high) / 2;
		if (normal_share(middle) < share)
			low = middle;
		else
			high = middle;
	}
	return low;
}

// Bias-corrected percentiles: a draw has samples twice, which shifts an average precision, and by how much is seen from
// the share of draws that are below the figure itself.
static void correct(struct task_interval *out, const double *value, int n)
{
	double below = .5;
	for (int i = 0; i < n; i++)
		below += value[i] < out->difference ? 1 : value[i] > out->difference ? 0 : .5;
	double bias = 2 * normal_quantile(below / (n + 1));
	out->low = fmin(value[(int)(normal_share(bias - 1.96) * (n - 1) + .5)], out->difference);
	out->high = fmax(value[(int)(normal_share(bias + 1.96) * (n - 1) + .5)], out->difference);
}

bool task_interval(struct task *t, int draws, uint64_t seed, struct task_interval *out)
{
	struct frozen_pair f = freeze(t);
	int *sample = xcalloc((size_t)t->n_samples + 1, sizeof *sample);
	int *once = xcalloc((size_t)t->n_samples + 1, sizeof *once);
	int n = paired_samples(t, &f, sample), known = 0;
	double *value = xcalloc((size_t)draws + 1, sizeof *value);
	for (int i = 0; i < n; i++)
		once[sample[i]] = 1;
	if (n >= 2)
		known = draw(t, &f, sample, n, draws, seed, value);
	*out = (struct task_interval){.samples = n};
	if (known) {
		qsort(value, (size_t)known, sizeof *value, by_value);
		out->difference = difference(t, &f, once);
		correct(out, value, known);
	}
	thaw(t, &f);
	free(sample);
	free(once);
	free(value);
	return known > 0;
}
