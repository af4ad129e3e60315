// The task of a study: measured by the conductor when a run has its figures, behind them or along with them,
// and shown at once where the same network was measured before.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "study_task.h"

// ---- reports

static struct key report_key(const struct study_task *p, const struct plan *plan)
{
	struct key k = key_add_key(p->identity, task_key(p->task, NULL));
	return key_add_key(k, task_key(p->task, plan));
}

static void show(struct work *w, struct task_report *r, bool old)
{
	pthread_mutex_lock(&w->study->publishing);
	task_report_drop(&w->task);
	w->task = r;
	w->task_old = old;
	pthread_mutex_unlock(&w->study->publishing);
}

static void find_nets(struct work *w)
{
	struct study_task *p = w->study->task;
	pthread_mutex_lock(&p->looking);
	p->net[TASK_FLOAT] = task_net(p->task, task_key(p->task, NULL));
	p->network = task_key(p->task, w->plan);
	p->net[TASK_QUANT] = task_net(p->task, p->network);
	pthread_mutex_unlock(&p->looking);
}

// Shows what is known of the plan already.
static bool show_known(struct work *w)
{
	struct study_task *p = w->study->task;
	pthread_mutex_lock(&p->lock);
	struct task_report *r = keymap_get(p->report, report_key(p, w->plan));
	if (r && atomic_load(&r->refs) == 1)
		task_report_place(p->task, r);
	task_report_take(r);
	pthread_mutex_unlock(&p->lock);
	find_nets(w);
	if (r)
		show(w, r, false);
	return r;
}

void study_task_ready(struct work *w)
{
	struct study_task *p = w->study->task;
	struct error err = {0};
	pthread_mutex_lock(&p->lock);
	bool any = keymap_count(p->report) > 0;
	pthread_mutex_unlock(&p->lock);
	if (any && study_task_open(w, &err) == STATUS_OK && p->task)
		show_known(w); // an error is said when the run comes to the task
}

static void keep(struct study_task *p, const struct plan *plan, struct task_report *r)
{
	struct key k = report_key(p, plan);
	pthread_mutex_lock(&p->lock);
	struct task_report *old = keymap_get(p->report, k);
	keymap_put(p->report, k, task_report_take(r));
	pthread_mutex_unlock(&p->lock);
	task_report_drop(&old);
}

// ---- measuring

struct measuring {
	struct work *w;
	struct study_task *p;
	atomic_int done;
	pthread_mutex_t lock;
	double next; // time of the next provisional report
};

static struct task_report *report_now(struct study_task *p, int draws)
{
	return task_report(p->task, p->net[TASK_FLOAT], p->net[TASK_QUANT], draws);
}

// A report now and then, from whichever worker comes by; making them takes a small part of the time.
static void news(void *arg)
{
	enum { SHARE = 8 };
	struct measuring *m = arg;
	double now = clock_seconds();
	atomic_store(&m->w->done, atomic_load(&m->done));
	if (pthread_mutex_trylock(&m->lock) != 0)
		return;
	if (now >= m->next) {
		show(m->w, report_now(m->p, 0), false);
		m->next = fmax(clock_seconds() + .1, now + SHARE * (clock_seconds() - now));
	}
	pthread_mutex_unlock(&m->lock);
	work_tick(m->w);
}

static enum status measure(struct work *w, struct error *err)
{
	struct study_task *p = w->study->task;
	struct measuring m = {.w = w, .p = p};
	struct task_pass pass = {.plan = w->plan, .last = dataset_count(task_dataset(p->task)), .cancel = &w->study->cancel,
	    .done = &m.done, .news = news, .arg = &m};
	double begin = clock_seconds();
	pthread_mutex_init(&m.lock, NULL);
	atomic_store(&w->done, 0);
	w->total_steps = task_samples(p->task);
	enum status st = task_run(p->task, w->study->engine, &pass, err);
	pthread_mutex_destroy(&m.lock);
	if (st != STATUS_OK && st != STATUS_CANCELLED)
		return st;
	struct task_report *r = report_now(p, TASK_DRAWS);
	if (r->samples[TASK_QUANT] == r->total)
		keep(p, w->plan, r);
	show(w, r, false);
	w->timing.task_s = clock_seconds() - begin;
	return st;
}

void study_task_fetch(struct study *s, const struct plan *plan, int sample)
{
	struct study_task *p = s->task;
	struct error err;
	struct task_pass pass = {.plan = plan, .first = sample, .last = sample + 1, .cancel = &s->cancel};
	if (p->task && sample < dataset_count(task_dataset(p->task)) && task_run(p->task, s->engine, &pass, &err) == STATUS_OK)
		study_look_again(s);
}

static void set_problem(struct work *w, const char *text)
{
	struct study_task *p = w->study->task;
	if (*text && !p->asked && strcmp(p->problem, text) != 0) // else it is the error of the run
		log_warn("the task is not measured: %s", text);
	pthread_mutex_lock(&w->study->publishing);
	snprintf(p->problem, sizeof p->problem, "%s", text);
	p->problem_asked = p->asked;
	p->problem_wish = p->tried;
	pthread_mutex_unlock(&w->study->publishing);
}

enum status study_task_run(struct work *w, struct error *err)
{
	struct study_task *p = w->study->task;
	enum status st = study_task_open(w, err);
	if (st == STATUS_OK && !p->task)
		show(w, NULL, false);
	if (st == STATUS_OK && p->task && !show_known(w))
		st = measure(w, err);
	bool failed = st != STATUS_OK && st != STATUS_CANCELLED;
	set_problem(w, failed ? err->text : "");
	if (!failed)
		return st;
	show(w, NULL, false);
	if (p->asked)
		return st;
	*err = (struct error){0}; // said above; the run has not failed
	return STATUS_OK;
}

void study_task_gather(struct work *w)
{
	struct study_task *p = w->study->task;
	struct error err = {0}; // said when the run comes to the task
	if (!study_task_due(w) || study_task_open(w, &err) != STATUS_OK || !p->task || p->data || show_known(w))
		return;
	struct task_pass pass = {.plan = w->plan, .last = dataset_count(task_dataset(p->task)), .cancel = &w->study->cancel};
	w->gather = task_gather_new(p->task, &pass);
}

void study_task_clear(struct work *w)
{
	set_problem(w, "");
	show(w, NULL, false);
}

void run_note_task(struct run_note *n, const struct task_report *r)
{
	snprintf(n->task_name, sizeof n->task_name, "%s", r->figure[0].name);
	n->task_float = r->figure[0].value[TASK_FLOAT];
	n->task_quant = r->figure[0].value[TASK_QUANT];
}

void study_task_note(struct work *w, struct run_note *n)
{
	struct study_task *p = w->study->task;
	const struct task_report *r = w->task;
	if (!r || w->task_old || r->samples[TASK_QUANT] < r->total)
		return;
	run_note_task(n, r);
	if (p->noted && p->noted != p->net[TASK_QUANT])
		n->has_task_change = task_interval(p->task, p->noted, p->net[TASK_QUANT], TASK_DRAWS, 0, &n->task_change) &&
		                     n->task_change.samples == r->total;
	p->noted = p->net[TASK_QUANT];
}

// ---- sessions

static void save_report(struct key k, void *value, void *arg)
{
	char name[33];
	key_text(k, name);
	cJSON_AddItemToObject(arg, name, task_report_json(value));
}

void study_task_save(const struct study *s, struct cJSON *to)
{
	struct study_task *p = s->task;
	pthread_mutex_lock(&p->lock);
	keymap_each(p->report, save_report, to);
	pthread_mutex_unlock(&p->lock);
}

void study_task_load(struct study *s, struct key k, const struct cJSON *report)
{
	struct study_task *p = s->task;
	struct task_report *r = task_report_parse(report);
	if (!r)
		return;
	pthread_mutex_lock(&p->lock);
	struct task_report *old = keymap_get(p->report, k);
	keymap_put(p->report, k, r);
	pthread_mutex_unlock(&p->lock);
	task_report_drop(&old);
}
