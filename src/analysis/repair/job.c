// A repair in the background. What it says is copied under a lock.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../study/background_impl.h"
#include "repair_impl.h"

enum { PERCENT = 100 };
struct repair_job {
	struct background background;
	struct repair *repair;
	struct repair_task *task; // NULL: there is none
	enum repair_work work;
	pthread_mutex_t lock; // guards what follows
	char text[240];
	struct repair_step *step;
	size_t n_steps, cap_steps;
	struct blames *blames; // as far as they are known
	struct frontier *frontier; // likewise
};

static void on_tell(void *arg, const char *text, double progress)
{
	struct repair_job *j = arg;
	pthread_mutex_lock(&j->lock);
	snprintf(j->text, sizeof j->text, "%s", text);
	pthread_mutex_unlock(&j->lock);
	background_tell(&j->background, progress);
}

static void on_step(void *arg, const struct repair_step *s)
{
	struct repair_job *j = arg;
	pthread_mutex_lock(&j->lock);
	j->step = xgrow(j->step, &j->cap_steps, j->n_steps + 1, sizeof *j->step);
	j->step[j->n_steps++] = *s;
	pthread_mutex_unlock(&j->lock);
	study_wake(j->background.study);
}

static void on_blamed(void *arg, struct blames *b)
{
	struct repair_job *j = arg;
	pthread_mutex_lock(&j->lock);
	struct blames *old = j->blames;
	j->blames = b;
	pthread_mutex_unlock(&j->lock);
	blames_drop(&old);
	study_wake(j->background.study);
}

static void on_looked(void *arg, struct frontier *f)
{
	struct repair_job *j = arg;
	pthread_mutex_lock(&j->lock);
	struct frontier *old = j->frontier;
	j->frontier = f;
	pthread_mutex_unlock(&j->lock);
	frontier_drop(&old);
	study_wake(j->background.study);
}

static enum status work(void *arg, struct error *err)
{
	struct repair_job *j = arg;
	struct blames *b = NULL;
	if (j->work == REPAIR_TUNE)
		return repair_tune(j->repair, on_step, j, err);
	if (j->work == REPAIR_FIX)
		return repair_fix(j->repair, on_step, j, err);
	enum status st = repair_blame(j->repair, &b, err);
	if (b)
		on_blamed(j, b);
	return st;
}

enum status repair_job_start(struct repair_job **out, struct study *st, const struct repair_options *opt, enum repair_work what,
    struct error *err)
{
	struct repair_job *j = xcalloc(1, sizeof *j);
	struct repair_options o = *opt;
	j->work = what;
	o.cancel = &j->background.cancel;
	o.tell = on_tell;
	o.blamed = on_blamed;
	o.looked = what == REPAIR_BLAME ? NULL : on_looked;
	o.tell_arg = j;
	pthread_mutex_init(&j->lock, NULL);
	enum status status = repair_task_open(&j->task, st, &j->background.cancel, err);
	if (j->task) {
		o.score = repair_task_score;
		o.score_arg = o.task = j->task;
		o.score_name = repair_task_name(j->task);
	}
	if (status == STATUS_OK && (status = repair_goal_task(&o.goal, o.score_name, err)) != STATUS_OK && !j->task)
		status = error_prefix(err, "no labels and no scorer (:labels FILE, :eval DIR, :scorer COMMAND)");
	if (status == STATUS_OK)
		status = repair_open(&j->repair, st, &o, err);
	if (status == STATUS_OK)
		status = background_start(&j->background, st, PERCENT, work, j, err);
	if (status == STATUS_OK)
		*out = j;
	else
		repair_job_free(&j);
	return status;
}

struct background *repair_job_background(struct repair_job *j)
{
	return &j->background;
}

void repair_job_free(struct repair_job **jp)
{
	struct repair_job *j = *jp;
	if (!j)
		return;
	background_join(&j->background);
	blames_drop(&j->blames);
	frontier_drop(&j->frontier);
	repair_free(&j->repair);
	repair_task_free(&j->task);
	pthread_mutex_destroy(&j->lock);
	free(j->step);
	free(j);
	*jp = NULL;
}

void repair_job_text(struct repair_job *j, char *out, size_t size)
{
	pthread_mutex_lock(&j->lock);
	snprintf(out, size, "%s", j->text);
	pthread_mutex_unlock(&j->lock);
}

int repair_job_steps(struct repair_job *j)
{
	pthread_mutex_lock(&j->lock);
	int n = (int)j->n_steps;
	pthread_mutex_unlock(&j->lock);
	return n;
}

struct repair_step repair_job_step(struct repair_job *j, int i)
{
	pthread_mutex_lock(&j->lock);
	struct repair_step s = j->step[i];
	pthread_mutex_unlock(&j->lock);
	return s;
}

const char *repair_job_task(const struct repair_job *j)
{
	return j->task ? repair_task_name(j->task) : NULL;
}

double repair_job_float_score(struct repair_job *j)
{
	return background_running(&j->background) ? NAN : repair_float_score(j->repair);
}

struct blames *repair_job_blames(struct repair_job *j)
{
	pthread_mutex_lock(&j->lock);
	struct blames *b = blames_take(j->blames);
	pthread_mutex_unlock(&j->lock);
	return b;
}

struct frontier *repair_job_frontier(struct repair_job *j)
{
	pthread_mutex_lock(&j->lock);
	struct frontier *f = frontier_take(j->frontier);
	pthread_mutex_unlock(&j->lock);
	return f;
}

enum status repair_job_end(struct repair_job *j, struct error *err, const char **why)
{
	enum status st = background_end(&j->background, err);
	*why = j->work == REPAIR_BLAME ? "the ranking is made" : repair_end(j->repair);
	return st == STATUS_CANCELLED ? STATUS_OK : st;
}
