// Waiting for a run: a bar on a terminal, a line every few seconds elsewhere. Ctrl-C cancels the run.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "qtui/base/pipe.h"
#include "qtui/base/thread.h"
#include "qtui/base/str.h"
#include "verbs.h"

static volatile sig_atomic_t interrupted, working;

// The first one ends the work in good order, between two steps. One of them may wait for a pipe,
// or take an hour: who insists is let go, but not while the work's result is being saved.
enum { INTERRUPTS_AT_ONCE = 3 };

static void on_interrupt(int sig)
{
	(void)sig;
	if (++interrupted >= INTERRUPTS_AT_ONCE && working)
		_exit(EXIT_INTERRUPTED);
}

enum { LINE_EVERY_S = 5, STAGE_TEXT = 240, LONGEST_LINE = 400 };

struct progress {
	const char *what, *stage;          // stage "": none
	double share, seconds, left, rate; // left < 0, rate 0: not known
};

static bool bar_stands; // in the line of the cursor; guarded by the lock of stderr

static int columns(void)
{
	struct winsize ws;
	int n = !ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 0 ? ws.ws_col : 80;
	return n < LONGEST_LINE ? n : LONGEST_LINE;
}

void lines_begin(void)
{
	flockfile(stderr);
	if (bar_stands)
		fputs("\r\033[K", stderr);
	bar_stands = false;
}

void lines_end(void)
{
	fflush(stdout);
	funlockfile(stderr);
}

// A longer line than the terminal's would leave its beginning behind.
static void draw_bar(const struct progress *p)
{
	enum { WIDE = 30, NARROW = 12 }; // a stage's name has the room of the others
	char bar[WIDE + 1] = "";
	struct str line = {0};
	int width = p->stage[0] ? NARROW : WIDE, full = (int)(p->share * width);
	for (int i = 0; i < width; i++)
		bar[i] = i < full ? '#' : '.';
	str_addf(&line, "%-*s [%s] %3.0f %%  %.1f s", p->stage[0] ? 0 : 11, p->what, bar, p->share * 100, p->seconds);
	if (p->rate > 0)
		str_addf(&line, ", %.3g samples/s", p->rate);
	if (p->left >= 0)
		str_addf(&line, ", %.0f s left", p->left);
	str_addf(&line, "%s%s", p->stage[0] ? "  " : "", p->stage);
	if (line.len >= (size_t)columns())
		line.text[columns() - 1] = '\0';
	str_oneline(line.text);
	flockfile(stderr);
	fprintf(stderr, "\r%s\033[K", line.text);
	bar_stands = true;
	funlockfile(stderr);
	str_done(&line);
}

static void take_bar_away(void)
{
	lines_begin();
	lines_end();
}

// A bar on a terminal, else a line now and then; *said is when the last one was written.
static void show(const struct progress *p, bool terminal, double *said)
{
	if (terminal) {
		draw_bar(p);
	} else if (clock_seconds() - *said > LINE_EVERY_S) {
		fprintf(stderr, "%s %.0f %%, %.0f s%s%s\n", p->what, p->share * 100, p->seconds, p->stage[0] ? ": " : "", p->stage);
		*said = clock_seconds();
	}
}

// What ends the work and keeps what it has found: Ctrl-C, the line that dropped
// (unless nohup has it ignored), a system that goes down.
static const int ending[] = {SIGINT, SIGHUP, SIGTERM};
enum { N_ENDING = sizeof ending / sizeof *ending };

static struct sigaction before[N_ENDING]; // they are held
static int holds;

void interrupts_hold(void)
{
	struct sigaction act = {.sa_handler = on_interrupt};
	sigemptyset(&act.sa_mask);
	for (int i = 0; holds == 0 && i < N_ENDING; i++) {
		sigaction(ending[i], NULL, &before[i]);
		if (ending[i] == SIGINT || before[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &act, NULL);
	}
	holds++;
}

void interrupts_release(void)
{
	holds -= holds > 0;
	for (int i = 0; holds == 0 && i < N_ENDING; i++)
		sigaction(ending[i], &before[i], NULL);
}

static void begin_work(void)
{
	interrupts_hold();
	working = true;
}

static void end_work(void)
{
	working = false;
	interrupts_release();
}

enum status run_study(struct study *st, bool quiet, struct error *err)
{
	bool terminal = !quiet && isatty(STDERR_FILENO);
	double said = clock_seconds();
	begin_work();
	study_run(st);
	while (study_running(st)) {
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 100);
		if (interrupted)
			study_cancel(st);
		struct snapshot *s = study_snapshot(st);
		if (!quiet)
			show(&(struct progress){stage_name(s->stage), "", s->progress, s->seconds, s->left, s->rate}, terminal, &said);
		snapshot_drop(&s);
	}
	if (terminal)
		take_bar_away();
	end_work();
	return study_wait(st, err);
}

// ---- work that is no study's run

struct watched {
	const struct watch *of;
	struct error *err;
	enum status status;
	int over; // the end of a pipe, closed when the work is over
};

static void *watched_thread(void *arg)
{
	struct watched *w = arg;
	w->status = w->of->fn(w->of->arg, w->err);
	close(w->over);
	return NULL;
}

static double time_left(const struct watch *w, double share, double seconds)
{
	if (w->limit > 0)
		return w->limit > seconds ? w->limit - seconds : 0;
	return share > 0 && !w->stage ? seconds * (1 - share) / share : -1;
}

static void show_watched(const struct watch *w, double seconds, bool terminal, double *said)
{
	char stage[STAGE_TEXT] = "";
	double share = w->total ? (double)atomic_load(w->done) / w->total : 0;
	if (w->stage)
		w->stage(w->arg, stage, sizeof stage);
	str_oneline(stage);
	show(&(struct progress){w->what, stage, share, seconds, time_left(w, share, seconds), 0}, terminal, said);
}

// It may be the saving of a result.
static void do_meanwhile(const struct watch *w)
{
	working = false;
	if (w->meanwhile)
		w->meanwhile(w->arg);
	working = true;
}

enum status run_watched(const struct watch *of, struct error *err)
{
	bool terminal = !of->quiet && isatty(STDERR_FILENO);
	double begin = clock_seconds(), said = begin;
	pthread_t thread;
	int end[2];
	if (!pipe_open(end, false))
		return error_set(err, STATUS_NOMEM, "no pipe to be had");
	struct watched w = {.of = of, .err = err, .over = end[1]};
	if (!thread_start(&thread, watched_thread, &w)) {
		pipe_close(end);
		return error_set(err, STATUS_NOMEM, "no thread to be had");
	}
	begin_work();
	for (struct pollfd over = {.fd = end[0], .events = POLLIN}; !over.revents;) {
		poll(&over, 1, 50);
		if (interrupted)
			atomic_store(of->cancel, true);
		do_meanwhile(of);
		if (!of->quiet)
			show_watched(of, clock_seconds() - begin, terminal, &said);
	}
	pthread_join(thread, NULL);
	close(end[0]);
	if (terminal)
		take_bar_away();
	end_work();
	return w.status;
}
