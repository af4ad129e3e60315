// How many samples there are and how pictures are prepared, as a decision like others. Each way has samples and figures
// of its own, whose latest stay until the study is closed: going back to one computes nothing. The engine's store goes
// by samples: tensors of those that another way has as well are found there.
#include "../measure/figures.h"
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

// Figures of one run on all samples: before there are any, that much of the memory is theirs.
static size_t expected_bytes(const struct study *s)
{
	size_t each = 2 * sizeof(struct tensor_sums) + sizeof(struct tensor_range), figures = 0, samples = 0;
	for (int i = 0; i < s->n_preparations; i++)
		samples += (size_t)dataset_count(s->preparation[i].d);
	for (int v = 0; v < s->g->n_values; v++)
		figures += s->g->value[v].constant || s->g->value[v].type != DT_F32 ? 0 : each * samples;
	return figures;
}

static size_t figures_bytes(const struct study *s)
{
	size_t bytes = 0;
	for (int i = 0; i < s->n_preparations; i++)
		bytes += memo_bytes(s->preparation[i].memo);
	return bytes;
}

size_t study_engine_memory(const struct study *s)
{
	size_t expected = expected_bytes(s), held = figures_bytes(s), figures = held > expected ? held : expected;
	return s->opt.memory > figures ? s->opt.memory - figures : 0;
}

void study_forget_figures(struct study *s)
{
	enum { LONGEST = 8 * STUDY_RECENT, SHARE = 4 };
	bool over = figures_bytes(s) > s->opt.memory / SHARE;
	for (unsigned runs = LONGEST; runs >= STUDY_RECENT && figures_bytes(s) > s->opt.memory / SHARE; runs /= 2)
		for (int i = 0; i < s->n_preparations; i++)
			memo_forget(s->preparation[i].memo, runs);
	if (over)
		mem_trim();
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

// ---- ways

struct way study_way(const struct study *s, int preparation)
{
	const struct preparation *p = &s->preparation[preparation];
	struct way w = {.samples = p->samples, .pre = *dataset_preprocess(p->d)};
	w.prepared = !key_equal(preprocess_key(&w.pre), preprocess_key(dataset_preprocess(study_first_dataset(s))));
	return w;
}

bool study_has_pictures(const struct study *s)
{
	int w, h;
	struct error ignored;
	const char *file = dataset_count(s->preparation[0].d) > 0 ? dataset_file(s->preparation[0].d, 0) : NULL;
	return file && !s->opt.data.random && image_size(&w, &h, file, &ignored) == STATUS_OK;
}

enum status study_way_of(struct way *out, const struct study *s, const struct preprocess *pre, int samples, struct error *err)
{
	const struct preprocess *first = dataset_preprocess(study_first_dataset(s));
	int opened_with = s->opt.data.random ? s->opt.data.random : s->opt.data.samples;
	if (pre && !study_has_pictures(s))
		return error_set(err, STATUS_REFUSED, "the samples are not pictures: whoever made them has prepared them");
	*out = (struct way){.pre = pre ? *pre : *first, .samples = samples == opened_with ? 0 : samples};
	out->prepared = !key_equal(preprocess_key(&out->pre), preprocess_key(first));
	return STATUS_OK;
}

int study_known_way(const struct study *s, const struct way *w)
{
	for (int i = 0; i < s->n_preparations; i++)
		if (s->preparation[i].samples == w->samples &&
		    key_equal(preprocess_key(dataset_preprocess(s->preparation[i].d)), preprocess_key(&w->pre)))
			return i;
	return -1;
}

enum status study_room_for_way(const struct study *s, struct error *err)
{
	if (s->n_preparations < STUDY_PREPARATIONS)
		return STATUS_OK;
	return error_set(err, STATUS_REFUSED, "%d ways to prepare samples were tried: open the model anew for more", STUDY_PREPARATIONS);
}

struct dataset_options study_way_options(const struct study *s, const struct way *w)
{
	struct dataset_options o = s->opt.data;
	if (w->samples)
		*(o.random ? &o.random : &o.samples) = w->samples;
	o.prepared = !w->prepared; // more samples are prepared as those that were opened
	if (w->prepared) {
		o.pre = w->pre;
		o.pre.mean_set = o.pre.std_set = o.pre.color_set = o.pre.resize_set = true;
	}
	return o;
}

enum status study_open_way(struct dataset **d, const struct study *s, const struct way *w, struct error *err)
{
	struct dataset_options o = study_way_options(s, w);
	return dataset_open(d, s->opt.calib, s->g, &o, err);
}

void study_add_samples(struct str *out, const struct study *s)
{
	struct way w = study_way(s, s->step[s->current].preparation);
	struct dataset_options o = study_way_options(s, &w);
	if (!o.random)
		str_add(out, s->opt.calib);
	if (o.random || o.samples)
		str_addf(out, "%s %d", o.random ? "--random-data" : " --samples", o.random ? o.random : o.samples);
	if (o.random && o.seed)
		str_addf(out, " --seed %llu", (unsigned long long)o.seed);
	preprocess_add(out, &o.pre);
}

int study_add_way(struct study *s, const struct way *w, struct dataset *d)
{
	append(s, (struct preparation){.samples = w->samples, .d = d});
	return s->n_preparations - 1;
}

enum status study_find_way(int *out, struct study *s, const struct way *w, struct error *err)
{
	struct way own;
	struct dataset *d = NULL;
	if (study_way_of(&own, s, w->prepared ? &w->pre : NULL, w->samples, err))
		return err->status;
	*out = study_known_way(s, &own);
	if (*out >= 0)
		return STATUS_OK;
	if (study_room_for_way(s, err) || study_open_way(&d, s, &own, err))
		return err->status;
	*out = study_add_way(s, &own, d);
	return STATUS_OK;
}
