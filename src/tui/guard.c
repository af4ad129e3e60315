#include "qtui/tui/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "qtui/base/file.h"
#include "qtui/base/pipe.h"

static const int asked[] = {SIGWINCH, SIGTERM, SIGHUP, SIGQUIT, SIGINT, SIGTSTP, SIGCONT};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_ASKED = sizeof asked / sizeof *asked, N_CRASHES = sizeof crashes / sizeof *crashes };

// A text that changes while handlers may read it: the next one is made beside the one that is shown.
struct text {
	char made[2][512];
	int last;
	const char *_Atomic shown;
};
// What handlers may touch: all of it is set before they are installed, except the texts.
static struct {
	int pipe[2];
	struct sigaction old[N_ASKED], old_crash[N_CRASHES];
	struct termios terminal;
	int has_terminal;
	struct text reset, message;
	char stack[1 << 16]; // of the handlers of crashes in the first thread, which may come of its own having no room left
} guard = {.reset.shown = "", .message.shown = ""};

static void on_signal(int sig)
{
	int saved = errno;
	unsigned char byte = (unsigned char)sig;
	ssize_t n = write(guard.pipe[1], &byte, 1);
	(void)n; // a full pipe holds enough signals already
	errno = saved;
}

static void say(int fd, const char *text)
{
	ssize_t n = write(fd, text, strlen(text));
	(void)n;
}

// Only calls that are allowed in a handler.
static const char *give_back(void)
{
	say(STDOUT_FILENO, guard.reset.shown);
	if (guard.has_terminal)
		tcsetattr(STDIN_FILENO, TCSANOW, &guard.terminal);
	return guard.message.shown;
}

// A mapped file that has become shorter is no crash.
static void on_crash(int sig, siginfo_t *info, void *context)
{
	const char *message;
	(void)context;
	if (sig == SIGBUS && file_map_fault(info->si_addr))
		return;
	signal(sig, SIG_DFL);
	message = give_back();
	say(STDERR_FILENO, "\r\nqtui has crashed");
	say(STDERR_FILENO, message);
	say(STDERR_FILENO, "\r\n");
	raise(sig);
}

static void install(void)
{
	struct sigaction on = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	stack_t stack = {.ss_sp = guard.stack, .ss_size = sizeof guard.stack};

	sigemptyset(&on.sa_mask);
	sigemptyset(&crash.sa_mask);
	sigaltstack(&stack, NULL);
	for (int i = 0; i < N_ASKED; i++)
		sigaction(asked[i], &on, &guard.old[i]);
	for (int i = 0; i < N_CRASHES; i++)
		sigaction(crashes[i], &crash, &guard.old_crash[i]);
	error_before_end(give_back);
}

enum status guard_open(struct error *err)
{
	if (!pipe_open(guard.pipe, true))
		return error_set(err, STATUS_IO, "no pipe for signals: %s", strerror(errno));
	guard.has_terminal = tcgetattr(STDIN_FILENO, &guard.terminal) == 0;
	install();
	return STATUS_OK;
}

void guard_close(void)
{
	stack_t off = {.ss_flags = SS_DISABLE};

	error_before_end(NULL);
	for (int i = 0; i < N_ASKED; i++)
		sigaction(asked[i], &guard.old[i], NULL);
	for (int i = 0; i < N_CRASHES; i++)
		sigaction(crashes[i], &guard.old_crash[i], NULL);
	sigaltstack(&off, NULL);
	pipe_close(guard.pipe);
}

int guard_fd(void)
{
	return guard.pipe[0];
}

int guard_signal(void)
{
	unsigned char byte;
	return read(guard.pipe[0], &byte, 1) == 1 ? byte : 0;
}

static void show(struct text *t, const char *text)
{
	t->last = !t->last;
	snprintf(t->made[t->last], sizeof t->made[0], "%s", text);
	t->shown = t->made[t->last];
}

void guard_crash(const char *reset, const char *message)
{
	if (reset)
		show(&guard.reset, reset);
	if (message)
		show(&guard.message, message);
}
