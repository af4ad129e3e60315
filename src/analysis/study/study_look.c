// Looks: a sample's picture and what the networks said of it, made by a thread of its own,
// since a run may take long and whoever goes through the samples does not want to wait for it.
// What no run has measured yet is fetched by the conductor when it is idle.
#include <stdlib.h>
#include "study_task.h"

static const double least_score = .25; // boxes below it are not shown, as detectors are commonly run
enum { PICTURE_SIDE = 640 };           // pixels: more than a terminal shows

struct looker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool started, quit;
	int wanted;      // -1: nothing
	bool pending;    // `wanted` is to be looked at, again perhaps
	bool incomplete; // the last look lacked what the networks say
};

// ---- pictures

// Each pixel is the mean of those that it stands for.
static void shrink(struct task_look *l, const uint8_t *from, int w, int h)
{
	l->scale = w > h ? (double)PICTURE_SIDE / w : (double)PICTURE_SIDE / h;
	l->scale = l->scale < 1 ? l->scale : 1;
	l->w = (int)(w * l->scale) > 0 ? (int)(w * l->scale) : 1;
	l->h = (int)(h * l->scale) > 0 ? (int)(h * l->scale) : 1;
	l->rgb = mem_try_array((size_t)l->w * (size_t)l->h, 3);
	for (int y = 0; l->rgb && y < l->h; y++)
		for (int x = 0; x < l->w; x++) {
			int x0 = (int)((int64_t)x * w / l->w), x1 = (int)((int64_t)(x + 1) * w / l->w);
			int y0 = (int)((int64_t)y * h / l->h), y1 = (int)((int64_t)(y + 1) * h / l->h);
			long sum[3] = {0}, n = (long)(x1 - x0) * (y1 - y0);
			for (int v = y0; v < y1; v++)
				for (int u = x0; u < x1; u++)
					for (int c = 0; c < 3; c++)
						sum[c] += from[3 * ((size_t)v * (size_t)w + (size_t)u) + (size_t)c];
			for (int c = 0; c < 3; c++)
				l->rgb[3 * ((size_t)y * (size_t)l->w + (size_t)x) + (size_t)c] = (uint8_t)(sum[c] / n);
		}
}

static void add_picture(struct task_look *l)
{
	struct error err;
	uint8_t *rgb = NULL;
	int w, h;
	if (!l->file || image_read(&rgb, &w, &h, l->file, &err) != STATUS_OK)
		return; // arrays have no picture
	shrink(l, rgb, w, h);
	free(rgb);
}

// ---- looking

static struct task_look *look_at(struct study *s, int sample)
{
	struct study_task *p = s->task;
	struct task_look *l = NULL;
	pthread_mutex_lock(&p->looking);
	if (p->task && p->net[TASK_QUANT] && sample < dataset_count(task_dataset(p->task)))
		l = task_look_new(p->task, p->net[TASK_FLOAT], p->net[TASK_QUANT], p->network, sample, least_score);
	pthread_mutex_unlock(&p->looking);
	if (l && !l->made[TASK_QUANT] && l->kind != TASK_RESTORE)
		add_picture(l);
	return l;
}

static void *look_loop(void *arg)
{
	struct study *s = arg;
	struct looker *k = s->looker;
	pthread_mutex_lock(&k->lock);
	while (!k->quit) {
		if (!k->pending || k->wanted < 0) {
			pthread_cond_wait(&k->changed, &k->lock);
			continue;
		}
		int sample = k->wanted;
		k->pending = false;
		pthread_mutex_unlock(&k->lock);
		struct task_look *l = look_at(s, sample);
		bool incomplete = l && !l->known;
		if (l)
			study_publish_look(s, l);
		if (incomplete)
			study_fetch(s, sample);
		pthread_mutex_lock(&k->lock);
		k->incomplete = incomplete;
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

void study_look(struct study *s, int sample)
{
	struct looker *k = s->looker;
	pthread_mutex_lock(&k->lock);
	if (!k->started)
		k->started = thread_start(&k->thread, look_loop, s);
	k->wanted = sample;
	k->pending = true;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->lock);
}

void study_look_again(struct study *s)
{
	struct looker *k = s->looker;
	pthread_mutex_lock(&k->lock);
	k->pending |= k->incomplete;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->lock);
}

struct looker *looker_new(void)
{
	struct looker *k = xcalloc(1, sizeof *k);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->changed, NULL);
	k->wanted = -1;
	return k;
}

void looker_free(struct looker **kp)
{
	struct looker *k = *kp;
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->quit = true;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->lock);
	if (k->started)
		pthread_join(k->thread, NULL);
	pthread_cond_destroy(&k->changed);
	pthread_mutex_destroy(&k->lock);
	free(k);
	*kp = NULL;
}
