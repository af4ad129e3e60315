// Which task a study measures: what is wished for, by the study's thread,
// and its labels and samples, which the conductor opens.
#include <stdlib.h>
#include "study_task.h"

struct task_wish task_wish_copy(const struct task_wish *w)
{
	return (struct task_wish){.data = xstrdup(w->data),
	    .labels = xstrdup(w->labels),
	    .decoder = xstrdup(w->decoder),
	    .kind = xstrdup(w->kind),
	    .scorer = xstrdup(w->scorer),
	    .boxes_by = xstrdup(w->boxes_by),
	    .rests = w->rests,
	    .iou = w->iou,
	    .none = w->none};
}

void task_wish_done(struct task_wish *w)
{
	free((char *)w->data);
	free((char *)w->labels);
	free((char *)w->decoder);
	free((char *)w->kind);
	free((char *)w->scorer);
	free((char *)w->boxes_by);
}

struct task_options task_wish_options(const struct task_wish *w)
{
	struct task_options o = {
	    .kind = -1, .labels = w->labels, .decoder = w->decoder, .scorer = w->scorer, .boxes_by = w->boxes_by, .iou = w->iou};
	enum task_kind kind;
	if (w->rests)
		return (struct task_options){.kind = TASK_AGREE, .iou = w->iou};
	if (w->scorer)
		o.kind = TASK_SCORE;
	else if (w->boxes_by)
		o.kind = TASK_DETECT;
	else if (w->kind && task_kind_parse(&kind, w->kind))
		o.kind = (int)kind;
	return o;
}

// The user has asked for a task, in contrast to labels that were found beside the samples.
static bool is_explicit(const struct task_wish *w)
{
	return w->data || w->labels || w->decoder || w->kind || w->scorer || w->boxes_by;
}

static bool is_wanted(const struct task_wish *w, const struct study *s)
{
	return !w->none && !w->rests && !s->opt.no_task && (is_explicit(w) || !s->opt.calibrate_only);
}

struct study_task *study_task_new(const struct task_wish *wish)
{
	struct study_task *p = xcalloc(1, sizeof *p);
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->looking, NULL);
	p->wish = task_wish_copy(wish);
	p->wished = 1;
	p->report = keymap_new();
	return p;
}

static struct key identity_of(const struct task *t)
{
	struct key k = task_labels_key(t);
	for (int i = 0; i < dataset_count(task_dataset(t)); i++)
		if (task_has_label(t, i))
			k = key_add_key(k, dataset_key(task_dataset(t), i));
	return k;
}

struct task_lease *task_lease_new(struct task *t, struct dataset *d)
{
	struct task_lease *l = xcalloc(1, sizeof *l);
	*l = (struct task_lease){.refs = 1, .task = t, .data = d, .identity = identity_of(t)};
	return l;
}

void task_lease_drop(struct task_lease **lp)
{
	struct task_lease *l = *lp;
	*lp = NULL;
	if (!l || atomic_fetch_sub(&l->refs, 1) != 1)
		return;
	task_free(&l->task);
	dataset_free(&l->data);
	free(l);
}

struct task_lease *study_task_lease(const struct study *s)
{
	struct study_task *p = s->task;
	pthread_mutex_lock(&p->looking);
	struct task_lease *l = p->lease;
	if (l)
		atomic_fetch_add(&l->refs, 1);
	pthread_mutex_unlock(&p->looking);
	return l;
}

static void close_task(struct study_task *p)
{
	if (!p->lease)
		dataset_free(&p->data); // of a task that could not be opened
	task_lease_drop(&p->lease);
	p->task = NULL;
	p->data = NULL;
	p->net[TASK_FLOAT] = p->net[TASK_QUANT] = p->noted = NULL;
}

static void drop_report(struct key k, void *value, void *arg)
{
	struct task_report *r = value;
	(void)k, (void)arg;
	task_report_drop(&r);
}

void study_task_free(struct study_task **pp)
{
	struct study_task *p = *pp;
	if (!p)
		return;
	close_task(p);
	keymap_each(p->report, drop_report, NULL);
	keymap_free(&p->report);
	task_wish_done(&p->wish);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->looking);
	free(p);
	*pp = NULL;
}

void study_set_task(struct study *s, const struct task_wish *wish)
{
	struct study_task *p = s->task;
	struct task_wish now = task_wish_copy(wish);
	pthread_mutex_lock(&p->lock);
	struct task_wish old = p->wish;
	p->wish = now;
	p->wished++;
	pthread_mutex_unlock(&p->lock);
	task_wish_done(&old);
	study_blames_lose_task(s);
}

const struct task_wish *study_task_wish(const struct study *s)
{
	return &s->task->wish;
}

bool study_task_due(const struct work *w)
{
	struct study_task *p = w->study->task;
	pthread_mutex_lock(&p->lock);
	bool wanted = is_wanted(&p->wish, w->study);
	pthread_mutex_unlock(&p->lock);
	return wanted;
}

// ---- opening

static enum status open_data(struct study *s, struct study_task *p, const struct task_wish *w, struct error *err)
{
	const char *path = w->data ? w->data : s->opt.calib;
	struct dataset_options all = {.pre = s->opt.data.pre, .prepared = study_has_pictures(s)};
	if (s->d != s->preparation[0].d) {
		all.pre = *dataset_preprocess(s->d);
		all.pre.mean_set = all.pre.std_set = all.pre.color_set = all.pre.resize_set = true;
	}
	if (!is_explicit(w) || (!w->data && s->opt.data.random))
		return STATUS_OK; // the study's own samples
	return dataset_open(&p->data, path, s->g, &all, err);
}

static enum status open_wish(struct study *s, struct study_task *p, const struct task_wish *w, struct error *err)
{
	const struct task_options o = task_wish_options(w);
	if (w->kind && o.kind < 0)
		return task_kind_unknown("task", w->kind, err);
	enum status st = open_data(s, p, w, err);
	if (st == STATUS_OK)
		st = task_open(&p->task, s->g, p->data ? p->data : s->d, &o, err);
	// Nobody asked for a task and there are no labels: agreement of outputs would say
	// no more than their own figures.
	if (st == STATUS_OK && !is_explicit(w) && task_kind(p->task) == TASK_AGREE)
		task_free(&p->task);
	return st;
}

enum status study_task_open(struct work *w, struct error *err)
{
	struct study_task *p = w->study->task;
	pthread_mutex_lock(&p->lock);
	struct task_wish wish = task_wish_copy(&p->wish);
	unsigned wished = p->wished;
	pthread_mutex_unlock(&p->lock);
	enum status st = STATUS_OK;
	p->tried = wished;
	if (wished != p->opened || p->preparation != w->req.preparation) {
		pthread_mutex_lock(&p->looking);
		close_task(p);
		p->asked = is_explicit(&wish);
		st = is_wanted(&wish, w->study) ? open_wish(w->study, p, &wish, err) : STATUS_OK;
		p->lease = p->task ? task_lease_new(p->task, p->data) : NULL;
		p->identity = p->task ? key_add_int(p->lease->identity, w->study->opt.backend) : (struct key){0};
		p->preparation = w->req.preparation;
		p->opened = st == STATUS_OK ? wished : 0; // else it is tried again with the next run
		pthread_mutex_unlock(&p->looking);
	}
	task_wish_done(&wish);
	return st;
}
