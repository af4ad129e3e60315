// Waiting for a run: a bar on a terminal, a line every few seconds elsewhere. Ctrl-C cancels the run.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/jobs.h"
#include "verbs.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

enum { LINE_EVERY_S = 5 };

struct progress {
	const char *what;
	double share, seconds, left, rate; // left < 0, rate 0: not known
};

static void draw_bar(const struct progress *p)
{
	enum { WIDTH = 30 };
	char bar[WIDTH + 1];
	int full = (int)(p->share * WIDTH);
	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r%-11s [%s] %3.0f %%  %.1f s", p->what, bar, p->share * 100, p->seconds);
	if (p->rate > 0)
		fprintf(stderr, ", %.3g samples/s", p->rate);
	if (p->left >= 0)
		fprintf(stderr, ", %.0f s left ", p->left);
	fputs("\033[K", stderr);
}

// A bar on a terminal, else a line now and then; *said is when the last one was written.
static void show(const struct progress *p, bool terminal, double *said)
{
	if (terminal) {
		draw_bar(p);
	} else if (clock_seconds() - *said > LINE_EVERY_S) {
		fprintf(stderr, "%s %.0f %%, %.0f s\n", p->what, p->share * 100, p->seconds);
		*said = clock_seconds();
	}
}

static void catch_interrupt(struct sigaction *old)
{
	struct sigaction act = {.sa_handler = on_interrupt};
	sigemptyset(&act.sa_mask);
	sigaction(SIGINT, &act, old);
}

enum status run_study(struct study *st, bool quiet, struct error *err)
{
	struct sigaction old;
	bool terminal = !quiet && isatty(STDERR_FILENO);
	double said = clock_seconds();
	catch_interrupt(&old);
	study_run(st);
	while (study_running(st)) {
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 100);
		if (interrupted)
			study_cancel(st);
		struct snapshot *s = study_snapshot(st);
		if (!quiet)
			show(&(struct progress){stage_name(s->stage), s->progress, s->seconds, s->left, s->rate}, terminal, &said);
		snapshot_drop(&s);
	}
	if (terminal)
		fputs("\r\033[K", stderr);
	sigaction(SIGINT, &old, NULL);
	return study_wait(st, err);
}

// ---- work that is no study's run

struct watched {
	enum status (*fn)(void *arg, struct error *err);
	void *arg;
	struct error *err;
	enum status status;
	atomic_bool over;
};

static void *watched_thread(void *arg)
{
	struct watched *w = arg;
	w->status = w->fn(w->arg, w->err);
	atomic_store(&w->over, true);
	return NULL;
}

enum status run_watched(enum status (*fn)(void *arg, struct error *err), void *arg, const char *what, atomic_int *done, int total,
    atomic_bool *cancel, bool quiet, struct error *err)
{
	struct watched w = {.fn = fn, .arg = arg, .err = err};
	struct sigaction old;
	bool terminal = !quiet && isatty(STDERR_FILENO);
	double begin = clock_seconds(), said = begin;
	pthread_t thread;
	catch_interrupt(&old);
	if (pthread_create(&thread, NULL, watched_thread, &w) != 0)
		return error_set(err, STATUS_NOMEM, "no thread to be had");
	while (!atomic_load(&w.over)) {
		poll(NULL, 0, 50);
		if (interrupted)
			atomic_store(cancel, true);
		double share = total ? (double)atomic_load(done) / total : 0, seconds = clock_seconds() - begin;
		if (!quiet)
			show(&(struct progress){what, share, seconds, share > 0 ? seconds * (1 - share) / share : -1, 0}, terminal, &said);
	}
	pthread_join(thread, NULL);
	if (terminal)
		fputs("\r\033[K", stderr);
	sigaction(SIGINT, &old, NULL);
	return w.status;
}
