// The commands that prepare samples, in three parts: what is asked for, the samples, the step of the history.
#include "qtui/analysis/preparing.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "study_impl.h"

struct preparing {
	const struct study *study;
	struct way way;
	int count;           // of samples that were asked for; 0: the command says how pictures are prepared
	char *text;          // the command
	bool known;          // to the study when it was asked for
	struct dataset *d;   // NULL: known, or not opened yet
};

static bool change(struct preprocess *p, const char *option, const char *value)
{
	struct error ignored; // all that may be said is said at once
	if (strcmp(option, "--mean") == 0)
		return channels_parse(p->mean, value, false, &ignored) == STATUS_OK;
	if (strcmp(option, "--std") == 0)
		return channels_parse(p->std, value, true, &ignored) == STATUS_OK;
	if (strcmp(option, "--resize") == 0)
		return resize_parse(p, value);
	p->bgr = strcmp(value, "bgr") == 0;
	return strcmp(option, "--color") == 0 && (p->bgr || strcmp(value, "rgb") == 0);
}

// Takes `text` over. Nothing is opened that cannot be kept.
static enum status asked(struct preparing **out, const struct study *s, const struct way *w, int count, char *text, struct error *err)
{
	bool known = study_known_way(s, w) >= 0;
	if (!known && study_room_for_way(s, err)) {
		free(text);
		return err->status;
	}
	*out = xcalloc(1, sizeof **out);
	**out = (struct preparing){.study = s, .way = *w, .count = count, .text = text, .known = known};
	return STATUS_OK;
}

enum status preparing_pictures(struct preparing **out, const struct study *s, char **word, int n, struct error *err)
{
	struct preprocess p = *dataset_preprocess(study_dataset(s));
	struct str text = {0};
	struct way w;
	bool first = n == 1 && strcmp(word[0], "auto") == 0, good = n > 0 && (first || n % 2 == 0);
	for (int i = 0; good && !first && i < n; i += 2)
		good = change(&p, word[i], word[i + 1]);
	if (!good)
		return error_set(
		    err, STATUS_USAGE, "pictures are prepared by auto, or by --color rgb|bgr, --mean R,G,B, --std R,G,B, --resize MODE");
	if (first)
		p = *dataset_preprocess(study_first_dataset(s));
	if (study_way_of(&w, s, &p, study_preparation(s)->samples, err))
		return err->status;
	str_add(&text, "preprocess");
	for (int i = 0; i < n; i++)
		str_addf(&text, " %s", word[i]);
	return asked(out, s, &w, 0, str_detach(&text), err);
}

enum status preparing_samples(struct preparing **out, const struct study *s, const char *count, struct error *err)
{
	long long n;
	struct str text = {0};
	struct way w;
	struct way now = study_way(s, s->step[s->current].preparation);
	if (!str_to_int(count, &n) || n < 1 || n > INT_MAX)
		return error_set(err, STATUS_USAGE, "\"%.40s\" samples: give a whole number from 1 on", count);
	if (study_way_of(&w, s, now.prepared ? &now.pre : NULL, (int)n, err))
		return err->status;
	str_addf(&text, "samples %s", count);
	return asked(out, s, &w, (int)n, str_detach(&text), err);
}

bool preparing_opens(const struct preparing *p)
{
	return !p->known;
}

enum status preparing_open(struct preparing *p, struct error *err)
{
	return p->known ? STATUS_OK : study_open_way(&p->d, p->study, &p->way, err);
}

static bool changes(const struct preparing *p, const struct study *s, int preparation)
{
	const struct preparation *now = study_preparation(s);
	return p->count ? dataset_count(s->preparation[preparation].d) != dataset_count(now->d) : &s->preparation[preparation] != now;
}

enum status preparing_end(struct preparing *p, struct study *s, struct error *err)
{
	int preparation = study_known_way(s, &p->way);
	if (preparation < 0) {
		if (study_room_for_way(s, err))
			return err->status;
		preparation = study_add_way(s, &p->way, p->d);
		p->d = NULL;
	}
	if (dataset_count(s->preparation[preparation].d) < p->count)
		log_info("%s has %d samples", s->opt.calib, dataset_count(s->preparation[preparation].d));
	if (!changes(p, s, preparation))
		return study_nothing_changed(err, p->count ? "so many samples there are already" : "pictures are prepared so already");
	study_take_preparation(s, preparation, p->text);
	p->text = NULL;
	return STATUS_OK;
}

void preparing_free(struct preparing **p)
{
	if (!*p)
		return;
	dataset_free(&(*p)->d);
	free((*p)->text);
	free(*p);
	*p = NULL;
}

static enum status at_once(struct preparing *p, struct study *s, struct error *err)
{
	enum status st = preparing_open(p, err);
	if (st == STATUS_OK)
		st = preparing_end(p, s, err);
	preparing_free(&p);
	return st;
}

enum status study_preprocess(struct study *s, char **word, int n, struct error *err)
{
	struct preparing *p = NULL;
	return preparing_pictures(&p, s, word, n, err) ? err->status : at_once(p, s, err);
}

enum status study_samples(struct study *s, const char *count, struct error *err)
{
	struct preparing *p = NULL;
	return preparing_samples(&p, s, count, err) ? err->status : at_once(p, s, err);
}
