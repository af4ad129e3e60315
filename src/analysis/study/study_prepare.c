// How pictures are prepared, as a decision like others. Each way has samples and figures of its own,
// which stay until the study is closed: going back to one computes nothing.
#include <string.h>
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

void study_preparation_use(struct study *s, int preparation)
{
	s->d = s->preparation[preparation].d;
	s->memo = s->preparation[preparation].memo;
}

void study_preparations_free(struct study *s)
{
	for (int i = 0; i < s->n_preparations; i++) {
		memo_free(&s->preparation[i].memo);
		dataset_free(&s->preparation[i].d);
	}
}

static int find_preparation(const struct study *s, const struct preprocess *p)
{
	for (int i = 0; i < s->n_preparations; i++)
		if (key_equal(preprocess_key(dataset_preprocess(s->preparation[i].d)), preprocess_key(p)))
			return i;
	return -1;
}

static enum status add_preparation(struct study *s, const struct preprocess *p, struct error *err)
{
	struct dataset_options o = s->opt.data;
	struct preparation b = {0};
	if (s->n_preparations == STUDY_PREPARATIONS)
		return error_set(err, STATUS_REFUSED, "%d ways of preparation were tried: open the model anew for more", STUDY_PREPARATIONS);
	o.pre = *p;
	o.pre.mean_set = o.pre.std_set = o.pre.color_set = o.pre.resize_set = true;
	enum status st = dataset_open(&b.d, s->opt.calib, s->g, &o, err);
	if (st != STATUS_OK)
		return st;
	b.memo = memo_new(dataset_count(b.d));
	s->preparation[s->n_preparations++] = b;
	return STATUS_OK;
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

enum status study_preparation_of(int *out, struct study *s, const struct preprocess *p, struct error *err)
{
	if (!has_pictures(s))
		return error_set(err, STATUS_REFUSED, "the samples are not pictures: whoever made them has prepared them");
	*out = find_preparation(s, p);
	if (*out >= 0)
		return STATUS_OK;
	*out = s->n_preparations;
	return add_preparation(s, p, err);
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
	return study_preparation_of(out, s, &p, err);
}
