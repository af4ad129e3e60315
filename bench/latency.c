// The time from a key to the paint that answers it, in a pseudo terminal, while the program computes.
//   latency SECONDS PROGRAM ARGUMENT...   prints key_p50_ms, key_p99_ms, key_max_ms, keys; the program is ended afterwards
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_KEYS = 4096, PAUSE_MS = 31, SETTLE_MS = 4, GIVE_UP_MS = 1000 };

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

// Reads what comes within `ms`; false when nothing did or the program has gone.
static bool take(int fd, int ms)
{
	char text[1 << 16];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, ms) > 0 && read(fd, text, sizeof text) > 0;
}

static void drain(int fd, int quiet_ms)
{
	while (take(fd, quiet_ms))
		;
}

static void wait_ms(int fd, double ms)
{
	for (double end = now_ms() + ms; now_ms() < end;)
		take(fd, 1);
}

// Keys that move the selection down and up: each changes the screen. It begins well inside the list,
// since the selection goes with its node when figures reorder the list, and at an end a key would change nothing.
static int press_keys(int fd, double seconds, double *ms)
{
	static const char inside[] = "jjjjjjjjjjjj";
	int n = 0;
	if (write(fd, inside, sizeof inside - 1) < 0)
		return 0;
	for (double end = now_ms() + 1e3 * seconds; n < MAX_KEYS && now_ms() < end; n++) {
		wait_ms(fd, PAUSE_MS);
		drain(fd, SETTLE_MS); // a progress bar may just be painted
		double begin = now_ms();
		if (write(fd, n % 2 ? "k" : "j", 1) != 1 || !take(fd, GIVE_UP_MS))
			break;
		ms[n] = now_ms() - begin;
	}
	return n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double ms[MAX_KEYS];
	struct winsize size = {.ws_row = 40, .ws_col = 120};
	int fd;
	if (argc < 3) {
		fprintf(stderr, "usage: latency SECONDS PROGRAM ARGUMENT...\n");
		return 2;
	}
	pid_t child = forkpty(&fd, NULL, NULL, &size);
	if (child == 0) {
		setenv("TERM", "xterm-256color", 1);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	wait_ms(fd, 1500);
	int n = press_keys(fd, atof(argv[1]), ms);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	qsort(ms, (size_t)n, sizeof *ms, by_value);
	if (n > 0)
		printf("keys %d\nkey_p50_ms %.3g\nkey_p99_ms %.3g\nkey_max_ms %.3g\n", n, ms[n / 2], ms[n * 99 / 100], ms[n - 1]);
	return n > 0 ? 0 : 1;
}
