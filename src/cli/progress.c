// Waiting for a run: a bar on a terminal, a line every few seconds elsewhere. Ctrl-C cancels the run.
#include <poll.h>
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

static void draw_bar(const struct snapshot *s)
{
	enum { WIDTH = 30 };
	char bar[WIDTH + 1];
	int full = (int)(s->progress * WIDTH);
	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r%-11s [%s] %3.0f %%  %.1f s", stage_name(s->stage), bar, s->progress * 100, s->seconds);
	if (s->left >= 0)
		fprintf(stderr, ", %.0f s left ", s->left);
	fputs("\033[K", stderr);
}

enum status run_study(struct study *st, bool quiet, struct error *err)
{
	enum { LINE_EVERY_S = 5 };
	struct sigaction act = {.sa_handler = on_interrupt}, old;
	bool terminal = !quiet && isatty(STDERR_FILENO);
	double said = clock_seconds();
	sigemptyset(&act.sa_mask);
	sigaction(SIGINT, &act, &old);
	study_run(st);
	while (study_running(st)) {
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 100);
		if (interrupted)
			study_cancel(st);
		struct snapshot *s = study_snapshot(st);
		if (terminal)
			draw_bar(s);
		else if (!quiet && clock_seconds() - said > LINE_EVERY_S) {
			fprintf(stderr, "%s %.0f %%, %.0f s\n", stage_name(s->stage), s->progress * 100, s->seconds);
			said = clock_seconds();
		}
		snapshot_drop(&s);
	}
	if (terminal)
		fputs("\r\033[K", stderr);
	sigaction(SIGINT, &old, NULL);
	return study_wait(st, err);
}
