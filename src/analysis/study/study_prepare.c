// How many samples there are and how pictures are prepared, as a decision like others. Each way has samples and figures
// of its own, which stay until the study is closed: going back to one computes nothing. The engine's store goes by
// samples: tensors of those that another way has as well are found there.
#include <limits.h>
#include <string.h>
#include "qtui/base/log.h"
#include "study_impl.h"

const struct preparation *study_preparation(const struct study *s)
{
	return &s->preparation[s->step[s->current].preparation];
}

const struct dataset *study_dataset(const struct study *s)
{
	return study_preparation(s)->d;
}

const struct dataset *study_first_dataset(const struct study *s)
{
	return s->preparation[0].d;
}

struct key all_samples_key(const struct dataset *d)
{
	struct key k = {0};
	for (int i = 0; i < dataset_count(d); i++)
		k = key_add_key(k, dataset_key(d, i));
	return k;
}

struct key study_measured_key(const struct study *s, int preparation)
{
	return all_samples_key(s->preparation[s->preparation[preparation].samples ? preparation : 0].d);
}

void study_preparation_use(struct study *s, int preparation)
{
	s->d = s->preparation[preparation].d;
	s->memo = s->preparation[preparation].memo;
}

size_t study_engine_memory(const struct study *s)
{
	size_t each = 2 * sizeof(struct tensor_sums) + sizeof(struct tensor_range), figures = 0, samples = 0;
	for (int i = 0; i < s->n_preparations; i++)
		samples += (size_t)dataset_count(s->preparation[i].d);
	for (int v = 0; v < s->g->n_values; v++)
		figures += s->g->value[v].constant || s->g->value[v].type != DT_F32 ? 0 : each * samples;
	return s->opt.memory > figures ? s->opt.memory - figures : 0;
}

void study_preparations_free(struct study *s)
{
	for (int i = 0; i < s->n_preparations; i++) {
		memo_free(&s->preparation[i].memo);
		dataset_free(&s->preparation[i].d);
	}
}

// The number is raised last: other threads read what it counts.
static void append(struct study *s, struct preparation b)
{
	b.memo = memo_new(dataset_count(b.d));
	s->preparation[s->n_preparations] = b;
	s->n_preparations++;
}

void study_first_preparation(struct study *s, struct dataset *d)
{
	append(s, (struct preparation){.d = d});
	study_preparation_use(s, 0);
}

static int find_preparation(const struct study *s, const struct preprocess *p, int samples)
{
	for (int i = 0; i < s->n_preparations; i++)
		if (s->preparation[i].samples == samples && key_equal(preprocess_key(dataset_preprocess(s->preparation[i].d)), preprocess_key(p)))
			return i;
	return -1;
}

static enum status open_samples(struct dataset **d, const struct study *s, const struct preprocess *p, int samples, struct error *err)
{
	struct dataset_options o = s->opt.data;
	bool as_opened = key_equal(preprocess_key(p), preprocess_key(dataset_preprocess(study_first_dataset(s))));
	if (samples)
		*(o.random ? &o.random : &o.samples) = samples;
	if (!as_opened) {
		o.pre = *p;
		o.pre.mean_set = o.pre.std_set = o.pre.color_set = o.pre.resize_set = true;
	}
	return dataset_open(d, s->opt.calib, s->g, &o, err);
}

static enum status add_preparation(struct study *s, const struct preprocess *p, int samples, struct error *err)
{
	struct preparation b = {.samples = samples};
	if (s->n_preparations == STUDY_PREPARATIONS)
		return error_set(err, STATUS_REFUSED, "%d ways to prepare samples were tried: open the model anew for more", STUDY_PREPARATIONS);
	enum status st = open_samples(&b.d, s, p, samples, err);
	if (st == STATUS_OK)
		append(s, b);
	return st;
}

// ---- the command's words

static bool change(struct preprocess *p, const char *option, const char *value)
{
	struct error ignored; // all that may be said is said at once
	if (strcmp(option, "--mean") == 0)
		return channels_parse(p->mean, value, false, &ignored) == STATUS_OK;
	if (strcmp(option, "--std") == 0)
		return channels_parse(p->std, value, true, &ignored) == STATUS_OK;
	if (strcmp(option, "--resize") == 0)
		return resize_parse(&p->resize, value);
	p->bgr = strcmp(value, "bgr") == 0;
	return strcmp(option, "--color") == 0 && (p->bgr || strcmp(value, "rgb") == 0);
}

static bool has_pictures(const struct study *s)
{
	int w, h;
	struct error ignored;
	const char *file = dataset_count(s->preparation[0].d) > 0 ? dataset_file(s->preparation[0].d, 0) : NULL;
	return file && !s->opt.data.random && image_size(&w, &h, file, &ignored) == STATUS_OK;
}

enum status study_preparation_of(int *out, struct study *s, const struct preprocess *p, int samples, struct error *err)
{
	if (p && !has_pictures(s))
		return error_set(err, STATUS_REFUSED, "the samples are not pictures: whoever made them has prepared them");
	p = p ? p : dataset_preprocess(study_first_dataset(s));
	samples = samples == (s->opt.data.random ? s->opt.data.random : s->opt.data.samples) ? 0 : samples;
	*out = find_preparation(s, p, samples);
	if (*out >= 0)
		return STATUS_OK;
	*out = s->n_preparations;
	return add_preparation(s, p, samples, err);
}

enum status study_find_preparation(int *out, struct study *s, char **word, int n, struct error *err)
{
	struct preprocess p = *dataset_preprocess(study_dataset(s));
	bool first = n == 1 && strcmp(word[0], "auto") == 0, good = n > 0 && (first || n % 2 == 0);
	for (int i = 0; good && !first && i < n; i += 2)
		good = change(&p, word[i], word[i + 1]);
	if (!good)
		return error_set(err, STATUS_USAGE, "pictures are prepared by auto, or by --color rgb|bgr, --mean R,G,B, --std R,G,B, --resize MODE");
	if (first)
		p = *dataset_preprocess(s->preparation[0].d);
	return study_preparation_of(out, s, &p, study_preparation(s)->samples, err);
}

enum status study_find_samples(int *out, struct study *s, const char *count, struct error *err)
{
	long long n;
	const struct preparation *now = study_preparation(s);
	const struct preprocess *p = has_pictures(s) ? dataset_preprocess(now->d) : NULL;
	if (!str_to_int(count, &n) || n < 1 || n > INT_MAX)
		return error_set(err, STATUS_USAGE, "\"%.40s\" samples: give a whole number from 1 on", count);
	enum status st = study_preparation_of(out, s, p, (int)n, err);
	if (st == STATUS_OK && dataset_count(s->preparation[*out].d) < n)
		log_info("%s has %d samples", s->opt.calib, dataset_count(s->preparation[*out].d));
	return st;
}

struct way study_way(const struct study *s, int preparation)
{
	const struct preparation *p = &s->preparation[preparation];
	struct way w = {.samples = p->samples, .pre = *dataset_preprocess(p->d)};
	w.prepared = !key_equal(preprocess_key(&w.pre), preprocess_key(dataset_preprocess(study_first_dataset(s))));
	return w;
}

enum status study_find_way(int *out, struct study *s, const struct way *w, struct error *err)
{
	return study_preparation_of(out, s, w->prepared ? &w->pre : NULL, w->samples, err);
}
