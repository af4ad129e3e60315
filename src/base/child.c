#include "qtui/base/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/pipe.h"
#include "qtui/base/thread.h"

enum { LOOK_MS = 20, PIECE = 512 }; // how often a wait looks at what may end it; what a pipe that is ready takes at once

struct child {
	pid_t pid;
	int to, from; // its standard input and output
	int said;     // on its standard error; a file without a name
	bool failed;  // it has not answered as it should: nobody waits for it any more
};

static enum status spawn(struct child *c, int in, int out, const char *command, struct error *err)
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
	posix_spawn_file_actions_adddup2(&files, c->said, STDERR_FILENO);
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
	int in[2] = {-1, -1}, from[2] = {-1, -1};
	enum status st = STATUS_OK;
	*out = NULL;
	c->said = file_nameless(0);
	if (c->said < 0)
		st = error_set(err, STATUS_IO, "%s: no directory for temporary files can be written: set TMPDIR", command);
	else if (!pipe_open(in, false) || !pipe_open(from, false))
		st = error_set(err, STATUS_IO, "%s: %s", command, strerror(errno));
	if (st == STATUS_OK)
		st = spawn(c, in[0], from[1], command, err);
	if (st != STATUS_OK) {
		pipe_close(in);
		pipe_close(from);
		if (c->said >= 0)
			close(c->said);
		free(c);
		return st;
	}
	close(in[0]);
	close(from[1]);
	c->to = in[1];
	c->from = from[0];
	*out = c;
	return STATUS_OK;
}

// ---- the end

// The last line on its standard error that has more than blanks; "" where there is none.
static void last_words(const struct child *c, char *out, size_t size)
{
	char tail[2048], *line = tail;
	off_t end = lseek(c->said, 0, SEEK_END), from = end > (off_t)sizeof tail - 1 ? end - (off_t)sizeof tail + 1 : 0;
	ssize_t n = end > 0 ? pread(c->said, tail, sizeof tail - 1, from) : 0;
	n = n > 0 ? n : 0;
	while (n > 0 && strchr(" \t\r\n", tail[n - 1]))
		n--;
	tail[n] = '\0';
	for (char *at = tail; (at = strchr(at, '\n')); line = at)
		at++;
	snprintf(out, size, "%.*s", (int)size - 1, line);
}

// False: it still runs.
static bool has_ended(struct child *c, int *status, int ms)
{
	for (int waited = 0;; waited += LOOK_MS) {
		pid_t pid = waitpid(c->pid, status, WNOHANG);
		if (pid != 0)
			return c->pid = 0, true;
		if (waited >= ms)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
	}
}

static enum status say_end(struct child *c, struct error *err)
{
	enum { SOON_MS = 500 };
	char words[400];
	int status = 0;
	const char *colon;
	bool ended = has_ended(c, &status, SOON_MS);
	last_words(c, words, sizeof words);
	colon = *words ? ": " : "";
	if (!ended)
		return error_set(err, STATUS_UNSUPPORTED, "it has closed its output%s%s", colon, words);
	if (WIFSIGNALED(status))
		return error_set(err, STATUS_UNSUPPORTED, "it was ended by signal %d%s%s", WTERMSIG(status), colon, words);
	return error_set(err, STATUS_UNSUPPORTED, "it has ended with exit code %d%s%s", WEXITSTATUS(status), colon, words);
}

void child_end(struct child **cp)
{
	enum { POLITE_MS = 300 };
	struct child *c = *cp;
	int status;
	*cp = NULL;
	if (!c)
		return;
	close(c->to);
	close(c->from);
	if (c->pid && !has_ended(c, &status, c->failed ? 0 : POLITE_MS)) {
		kill(-c->pid, SIGKILL);
		waitpid(c->pid, &status, 0);
	}
	close(c->said);
	free(c);
}

// ---- asking

static bool is_stopped(const atomic_bool *stop)
{
	return stop && atomic_load(stop);
}

// Waits until the descriptor is ready, or there is a reason to wait no longer.
static enum status wait_for(int fd, short events, const atomic_bool *stop, double until, struct error *err)
{
	for (struct pollfd p = {.fd = fd, .events = events};;) {
		if (is_stopped(stop))
			return error_set(err, STATUS_CANCELLED, "cancelled");
		if (clock_seconds() > until)
			return error_set(err, STATUS_UNSUPPORTED, "it has not answered for %d s; does it flush its output?", CHILD_PATIENCE);
		if (poll(&p, 1, LOOK_MS) > 0)
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
		enum status st = wait_for(c->to, POLLOUT, stop, until, err);
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

static enum status receive(struct child *c, char *answer, size_t size, const atomic_bool *stop, double until, struct error *err)
{
	for (size_t used = 0; used + 1 < size;) {
		enum status st = wait_for(c->from, POLLIN, stop, until, err);
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
		if (end && end + 1 < answer + used)
			return error_set(err, STATUS_UNSUPPORTED, "it says more than a line for each that it gets");
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
		return error_set(err, STATUS_UNSUPPORTED, "it says more than a line for each that it gets");
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
