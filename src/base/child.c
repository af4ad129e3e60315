#include "qtui/base/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "qtui/base/mem.h"
#include "qtui/base/pipe.h"
#include "qtui/base/thread.h"

enum { LOOK_MS = 20, PIECE = 512 }; // how often a wait looks at what may end it; what a pipe that is ready takes at once
enum { WORDS = 2048 };              // kept of its standard error

struct child {
	pid_t pid;
	int to, from, errors; // its standard input, output and error; errors -1: it has closed it
	bool failed;          // it has not answered as it should: nobody waits for it any more
	char said[WORDS];     // last, on its standard error
	size_t n_said;
};

static enum status spawn(struct child *c, int in, int out, int errors, const char *command, struct error *err)
{
	char *const argv[] = {"sh", "-c", (char *)command, NULL};
	extern char **environ;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	int failed = posix_spawn(&c->pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return failed ? error_set(err, STATUS_IO, "%s: %s", command, strerror(failed)) : STATUS_OK;
}

enum status child_start(struct child **out, const char *command, struct error *err)
{
	struct child *c = xcalloc(1, sizeof *c);
	int in[2] = {-1, -1}, from[2] = {-1, -1}, errors[2] = {-1, -1};
	enum status st = STATUS_OK;
	*out = NULL;
	if (!pipe_open(in, false) || !pipe_open(from, false) || !pipe_open(errors, false))
		st = error_set(err, STATUS_IO, "%s: %s", command, strerror(errno));
	if (st == STATUS_OK)
		st = spawn(c, in[0], from[1], errors[1], command, err);
	if (st != STATUS_OK) {
		pipe_close(in);
		pipe_close(from);
		pipe_close(errors);
		free(c);
		return st;
	}
	close(in[0]);
	close(from[1]);
	close(errors[1]);
	c->to = in[1];
	c->from = from[0];
	c->errors = errors[0];
	*out = c;
	return STATUS_OK;
}

// ---- its standard error, of which the end is kept

static void keep(struct child *c, const char *text, size_t n)
{
	size_t old = n + c->n_said > WORDS ? WORDS - n : c->n_said;
	memmove(c->said, c->said + c->n_said - old, old);
	memcpy(c->said + old, text, n);
	c->n_said = old + n;
}

// What is there, and no more than a pipe holds: it may never end.
static void listen(struct child *c)
{
	enum { PIPE = 1 << 16 };
	char text[WORDS];
	for (size_t all = 0; c->errors >= 0 && all < PIPE && poll(&(struct pollfd){.fd = c->errors, .events = POLLIN}, 1, 0) > 0;) {
		ssize_t n = read(c->errors, text, sizeof text);
		if (n > 0)
			keep(c, text, (size_t)n);
		else if (n == 0 || errno != EINTR) {
			close(c->errors);
			c->errors = -1;
		}
		all += n > 0 ? (size_t)n : 0;
	}
}

// ---- the end

// The last line on its standard error that has more than blanks; "" where there is none.
static void last_words(const struct child *c, char *out, size_t size)
{
	size_t end = c->n_said, from;
	while (end > 0 && strchr(" \t\r\n", c->said[end - 1]))
		end--;
	for (from = end; from > 0 && c->said[from - 1] != '\n';)
		from--;
	snprintf(out, size, "%.*s", (int)(end - from < size ? end - from : size - 1), c->said + from);
}

// Has it ended, or does it within `ms`? It is not waited for yet, so that its number stays its own.
static bool is_over(struct child *c, int ms)
{
	for (int waited = 0; c->pid; waited += LOOK_MS) {
		siginfo_t info = {.si_pid = 0};
		bool over = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
		listen(c);
		if (over || waited >= ms)
			return over;
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
	}
	return true;
}

// What it has left running goes with it. Returns how it ended, as waitpid has it.
static int reap(struct child *c)
{
	int status = 0;
	if (c->pid) {
		kill(-c->pid, SIGKILL);
		waitpid(c->pid, &status, 0);
	}
	c->pid = 0;
	return status;
}

enum { SOON_MS = 500 }; // in which one that ends has ended

static enum status say_end(struct child *c, struct error *err)
{
	char words[400];
	bool ended = is_over(c, SOON_MS);
	int status = ended ? reap(c) : 0;
	last_words(c, words, sizeof words);
	const char *colon = *words ? ": " : "";
	if (!ended)
		return error_set(err, STATUS_UNSUPPORTED, "it has closed its output%s%s", colon, words);
	if (WIFSIGNALED(status))
		return error_set(err, STATUS_UNSUPPORTED, "it was ended by signal %d%s%s", WTERMSIG(status), colon, words);
	return error_set(err, STATUS_UNSUPPORTED, "it has ended with exit code %d%s%s", WEXITSTATUS(status), colon, words);
}

// It speaks without being asked. One that ends at once does not wait to be asked at all, which is what has to be mended.
static enum status say_more(struct child *c, struct error *err)
{
	if (is_over(c, SOON_MS))
		return say_end(c, err);
	return error_set(err, STATUS_UNSUPPORTED, "it says more than a line for each that it gets");
}

void child_end(struct child **cp)
{
	enum { POLITE_MS = 300 };
	struct child *c = *cp;
	*cp = NULL;
	if (!c)
		return;
	close(c->to);
	close(c->from);
	is_over(c, c->failed ? 0 : POLITE_MS);
	reap(c);
	if (c->errors >= 0)
		close(c->errors);
	free(c);
}

// ---- asking

static bool is_stopped(const atomic_bool *stop)
{
	return stop && atomic_load(stop);
}

// Waits until the descriptor is ready, or there is a reason to wait no longer.
static enum status wait_for(struct child *c, int fd, short events, const atomic_bool *stop, double until, struct error *err)
{
	for (;;) {
		struct pollfd p[2] = {{.fd = fd, .events = events}, {.fd = c->errors, .events = POLLIN}};
		if (is_stopped(stop))
			return error_set(err, STATUS_CANCELLED, "cancelled");
		if (clock_seconds() > until)
			return error_set(err, STATUS_UNSUPPORTED, "it has not answered for %d s; does it flush its output?", CHILD_PATIENCE);
		if (poll(p, 2, LOOK_MS) > 0 && p[1].revents)
			listen(c);
		if (p[0].revents)
			return STATUS_OK;
	}
}

// A program that reads no more must not end this one: SIGPIPE is held back, and taken off.
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
	sigset_t pipe, before;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	ssize_t n = write(fd, data, size);
	int why = errno;
	if (n < 0 && why == EPIPE)
		while (sigtimedwait(&pipe, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return n;
}

static enum status send(struct child *c, const char *text, const atomic_bool *stop, double until, struct error *err)
{
	for (size_t left = strlen(text); left;) {
		enum status st = wait_for(c, c->to, POLLOUT, stop, until, err);
		if (st != STATUS_OK)
			return st;
		ssize_t n = write_quietly(c->to, text, left < PIECE ? left : PIECE);
		if (n < 0 && errno != EINTR)
			return say_end(c, err);
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return STATUS_OK;
}

// Is there of what it was asked that it has not read? Then what it says is no answer.
static bool has_unread(const struct child *c)
{
	int n = 0;
	return ioctl(c->to, FIONREAD, &n) == 0 && n > 0;
}

static enum status receive(struct child *c, char *answer, size_t size, const atomic_bool *stop, double until, struct error *err)
{
	for (size_t used = 0; used + 1 < size;) {
		enum status st = wait_for(c, c->from, POLLIN, stop, until, err);
		if (st != STATUS_OK)
			return st;
		ssize_t n = read(c->from, answer + used, size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return say_end(c, err);
		used += (size_t)n;
		answer[used] = '\0';
		char *end = memchr(answer, '\n', used);
		if (end && (end + 1 < answer + used || has_unread(c)))
			return say_more(c, err);
		if (end) {
			*end = '\0';
			return STATUS_OK;
		}
	}
	return error_set(err, STATUS_UNSUPPORTED, "its answer has no end: %.40s...", answer);
}

static enum status ask(struct child *c, const char *line, char *answer, size_t size, const atomic_bool *stop, struct error *err)
{
	struct pollfd early = {.fd = c->from, .events = POLLIN};
	double until = clock_seconds() + CHILD_PATIENCE;
	if (poll(&early, 1, 0) > 0 && early.revents & POLLIN) // behind its last answer, or before it was asked at all
		return say_more(c, err);
	char *text = xcalloc(strlen(line) + 2, 1);
	snprintf(text, strlen(line) + 2, "%s\n", line);
	enum status st = send(c, text, stop, until, err);
	free(text);
	return st == STATUS_OK ? receive(c, answer, size, stop, until, err) : st;
}

enum status child_ask(struct child *c, const char *line, char *answer, size_t size, const atomic_bool *stop, struct error *err)
{
	enum status st = ask(c, line, answer, size, stop, err);
	c->failed |= st != STATUS_OK;
	return st;
}
