// The preparation half of a survey: whether pictures reach the network as they did in training. The labels know,
// and without them what a BatchNormalization in the file says of the first layer; so the float network is scored with
// the pictures prepared in other ways that are common, one property changed at a time, and then from the best of them
// again, since mistakes come together (BGR in 0..255). Each is chosen on some samples and must prove itself on others; both are
// spread over all, which lie in order of their classes mostly.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "survey_impl.h"

enum { SCREENED = 24, LEAST = 8 }; // samples to choose on; to prove anything on
enum { ROUNDS = 3 };               // properties that are changed at most, one after the other
static const double PROMISING = 0.5, PROVEN = 3; // of the paired differences: mean over standard error
static const double SCREENING = 0.6, PROVING = 0.7; // of the work that is left
// Of an agreement of 1. Channels' statistics differ between one set of pictures and another,
// and a wrong range shifts them by far more.
static const double WORTH = 0.02, WORTH_STATISTICS = 0.1;

// ---- the ways

struct way {
	const char *option;
	float mean[3], std;          // in the channel order of the model
	float deviation[3];          // with std 0: one a channel
	bool scale, swap;
	enum resize_mode resize;     // with neither scale nor swap
	double share;
};
static const struct way ways[] = {
    {.option = "--color", .swap = true},
    {.option = "--mean 0 --std 1", .scale = true, .std = 1},
    {.option = "--mean 0 --std 255", .scale = true, .std = 255},
    {.option = "--mean 127.5 --std 127.5", .scale = true, .mean = {127.5f, 127.5f, 127.5f}, .std = 127.5f},
    {.option = "--mean 123.675,116.28,103.53 --std 58.395,57.12,57.375", .scale = true, .mean = {123.675f, 116.28f, 103.53f},
        .deviation = {58.395f, 57.12f, 57.375f}},
    {.option = "--mean 104,117,123 --std 1", .scale = true, .mean = {104, 117, 123}, .std = 1},
    {.option = "--resize stretch", .resize = RESIZE_STRETCH},
    {.option = "--resize letterbox", .resize = RESIZE_LETTERBOX},
    {.option = "--resize corner", .resize = RESIZE_CORNER},
    {.option = "--resize crop", .resize = RESIZE_CROP},
    {.option = "--resize crop:0.875", .resize = RESIZE_CROP, .share = 0.875},
};
enum { WAYS = sizeof ways / sizeof *ways };

// A preparation with what it differs in from the one in force.
struct prepared {
	struct preprocess pre;
	const char *scale, *resize;  // options, or NULL
	bool swapped;
};

static bool same_scale(const struct preprocess *a, const struct preprocess *b)
{
	for (int c = 0; c < 3; c++)
		if (fabsf(a->mean[c] - b->mean[c]) > 1 || fabsf(a->std[c] - b->std[c]) > 0.02f * fabsf(b->std[c]))
			return false;
	return true;
}

// False: that is how it is already.
static bool change(struct prepared *p, const struct way *w)
{
	struct preprocess was = p->pre;
	if (w->swap) {
		p->pre.bgr = !p->pre.bgr;
		p->swapped = !p->swapped;
		return true;
	}
	if (!w->scale) {
		p->pre.resize = w->resize;
		p->pre.share = w->share;
		p->resize = w->option;
		return was.resize != w->resize || was.share != w->share;
	}
	for (int c = 0; c < 3; c++) {
		p->pre.mean[c] = w->mean[c];
		p->pre.std[c] = w->std > 0 ? w->std : w->deviation[c];
	}
	p->scale = w->option;
	return !same_scale(&was, &p->pre);
}

static void describe(char *out, size_t size, const struct prepared *p)
{
	snprintf(out, size, "%s%s%s%s%s", p->swapped ? (p->pre.bgr ? "--color bgr" : "--color rgb") : "", p->swapped && p->scale ? " " : "",
	    p->scale ? p->scale : "", (p->swapped || p->scale) && p->resize ? " " : "", p->resize ? p->resize : "");
}

// ---- their scores

struct scores {
	double *value;               // [samples of the data set] NAN: not known
	const int *sample;           // those that were scored
	int n;
	enum task_kind kind;
};

static void read_values(struct scores *s, struct task *t)
{
	const struct task_net *net = task_net(t, task_key(t, NULL));
	struct task_report *r = task_report(t, net, net, 0);
	for (int i = 0; i < s->n; i++)
		s->value[s->sample[i]] = NAN;
	for (int i = 0; i < r->n_samples; i++)
		s->value[r->sample[i].sample] = r->sample[i].value[TASK_FLOAT];
	task_report_drop(&r);
}

static enum status score(struct scores *s, const struct survey_work *w, const struct preprocess *pre, struct error *err)
{
	struct dataset_options o = {.pre = *pre, .prepared = true};
	struct task_pass pass = {.last = s->n, .sample = s->sample, .cancel = w->opt->cancel, .news = survey_step, .arg = (void *)w};
	struct dataset *d = NULL;
	struct task *t = NULL;
	struct engine *e = NULL;
	o.pre.mean_set = o.pre.std_set = o.pre.color_set = o.pre.resize_set = true;
	enum status st = dataset_open(&d, w->eval, w->g, &o, err);
	if (st == STATUS_OK)
		st = task_open(&t, w->g, d, &w->opt->task, err);
	if (st == STATUS_OK) {
		s->kind = task_kind(t);
		e = engine_new(w->g, d, &w->engine);
		if (s->kind != TASK_AGREE)
			st = task_run(t, e, &pass, err);
	}
	if (st == STATUS_OK && s->kind != TASK_AGREE)
		read_values(s, t);
	else if (st == STATUS_OK && survey_has_statistics(w->g))
		st = survey_statistics(s->value, s->sample, s->n, w, e, err);
	engine_free(&e);
	task_free(&t);
	dataset_free(&d);
	return st;
}

struct paired {
	double before, after, t;
	int n;
};

static struct paired compare(const struct scores *a, const struct scores *b)
{
	struct paired p = {0};
	double sum = 0, squares = 0;
	for (int i = 0; i < a->n; i++) {
		double before = a->value[a->sample[i]], after = b->value[a->sample[i]], d = after - before;
		if (!isfinite(d))
			continue;
		p.before += before;
		p.after += after;
		sum += d;
		squares += d * d;
		p.n++;
	}
	if (p.n < 2)
		return p;
	double variance = fmax(squares - sum * sum / p.n, 0) / (p.n - 1);
	p.before /= p.n;
	p.after /= p.n;
	p.t = sum / sqrt(variance * p.n + 1e-12);
	return p;
}

static double worth(const struct scores *s)
{
	return s->kind == TASK_AGREE ? WORTH_STATISTICS : WORTH * task_unit(task_figure_name(s->kind));
}

// ---- the search

struct trial {
	const struct survey_work *w;
	int *sample;                 // [all] first those to choose on
	int screen, all;             // how many these are, and all
	struct scores now, other;
	int ways;
};

static enum status score_both(struct trial *t, const struct prepared *now, const struct prepared *other, struct error *err)
{
	enum status st = score(&t->now, t->w, &now->pre, err);
	return st == STATUS_OK ? score(&t->other, t->w, &other->pre, err) : st;
}

static void look_at(struct trial *t, int from, int to)
{
	t->now.sample = t->other.sample = t->sample + from;
	t->now.n = t->other.n = to - from;
}

static int count_ways(const struct prepared *from)
{
	int n = 0;
	for (int i = 0; i < WAYS; i++) {
		struct prepared p = *from;
		n += change(&p, &ways[i]);
	}
	return n;
}

// The best of the ways that differ in one property from *from; *chosen stays as it is where none is promising.
static enum status screen(struct trial *t, const struct prepared *from, struct prepared *chosen, bool *found, struct error *err)
{
	look_at(t, 0, t->screen);
	survey_part(t->w, SCREENING, t->screen * (1 + count_ways(from)));
	*found = false;
	enum status st = score(&t->now, t->w, &from->pre, err);
	double best = worth(&t->now);
	for (int i = 0; i < WAYS && st == STATUS_OK; i++) {
		struct prepared p = *from;
		if (!change(&p, &ways[i]))
			continue;
		st = score(&t->other, t->w, &p.pre, err);
		struct paired c = compare(&t->now, &t->other);
		t->ways++;
		if (st == STATUS_OK && c.t > PROMISING && c.after - c.before > best) {
			best = c.after - c.before;
			*chosen = p;
			*found = true;
		}
	}
	return st;
}

// On other samples than those it was chosen on, where there are enough.
static enum status prove(struct paired *out, struct trial *t, const struct prepared *now, const struct prepared *chosen, struct error *err)
{
	look_at(t, t->all - t->screen >= LEAST ? t->screen : 0, t->all);
	survey_part(t->w, PROVING, 2 * t->now.n);
	enum status st = score_both(t, now, chosen, err);
	*out = compare(&t->now, &t->other);
	return st;
}

static bool is_proven(const struct paired *p, double worth)
{
	return p->n >= LEAST && p->t > PROVEN && p->after - p->before > worth;
}

static void note(struct survey_preparation *out, const struct paired *p, const struct prepared *chosen)
{
	if (!out->option[0])
		out->now = p->before;
	out->otherwise = p->after;
	out->t = p->t;
	out->samples = p->n;
	describe(out->option, sizeof out->option, chosen);
}

static enum status search(struct survey_preparation *out, struct trial *t, struct error *err)
{
	struct prepared best = {.pre = *dataset_preprocess(t->w->calib)};
	bool found = true;
	enum status st = STATUS_OK;
	for (int round = 0; round < ROUNDS && found && st == STATUS_OK; round++) {
		struct prepared next = best;
		struct paired p = {0};
		st = screen(t, &best, &next, &found, err);
		out->known = st == STATUS_OK && (t->now.kind != TASK_AGREE || survey_has_statistics(t->w->g));
		found = found && out->known;
		if (found)
			st = prove(&p, t, &best, &next, err);
		found = found && st == STATUS_OK && is_proven(&p, worth(&t->now));
		if (found)
			note(out, &p, &next);
		best = next;
	}
	out->kind = t->now.kind;
	out->ways = t->ways;
	return st;
}

// ----

// So many of `count` samples, spread over all: first those to choose on, which are spread likewise. Heap.
static int *choose(int count, int all, int screen)
{
	int *sample = xcalloc((size_t)all + 1, sizeof *sample), first = 0, rest = screen;
	for (int i = 0; i < all; i++) {
		bool chosen = first < screen && (int64_t)first * all / screen == i;
		sample[chosen ? first++ : rest++] = (int)((int64_t)i * count / all);
	}
	return sample;
}

// How many of the samples are pictures; those of other kinds are prepared by whoever made them.
static int count_pictures(const struct survey_work *w)
{
	struct error ignored = {0};
	struct dataset_options o = {.pre = *dataset_preprocess(w->calib), .prepared = true};
	struct dataset *d = NULL;
	int width, height, n = 0;
	if (dataset_open(&d, w->eval, w->g, &o, &ignored) == STATUS_OK && dataset_count(d) > 0 && dataset_file(d, 0) &&
	    image_size(&width, &height, dataset_file(d, 0), &ignored) == STATUS_OK)
		n = dataset_count(d);
	dataset_free(&d);
	return n;
}

enum status survey_prepare(struct survey *out, const struct survey_work *w, struct error *err)
{
	int count = count_pictures(w), n = count < w->samples ? count : w->samples;
	struct trial t = {.w = w, .all = n, .screen = n > 2 * SCREENED ? SCREENED : n};
	struct error why = {0};
	if (n < LEAST)
		return STATUS_OK;
	t.sample = choose(count, t.all, t.screen);
	t.now.value = xcalloc((size_t)count + 1, sizeof *t.now.value);
	t.other.value = xcalloc((size_t)count + 1, sizeof *t.other.value);
	enum status st = search(&out->preparation, &t, &why);
	free(t.now.value);
	free(t.other.value);
	free(t.sample);
	if (st == STATUS_CANCELLED || w->opt->task.labels) {
		*err = why;
		return st;
	}
	return STATUS_OK; // without labels there may be nothing to compare by, which is no error of the survey
}
