// What OpenBLAS needs under a limit on address space (ulimit -v): it maps a buffer for every thread of its own, and one
// for every thread that is in a call of it, which it keeps for the next; where the limit forbids one it tries again
// without end. So it gets no threads of its own there, and as many of ours are let in as there is room for buffers.
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>
#include "blas.h"

#define BUFFER ((size_t)136 << 20)

// Its threads map their buffers when they begin: under a limit the program begins anew with as many as it uses.
// The first thing of all that runs, before the libraries' own beginnings.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { PROGRAM_MB = 128 }; // of address space: with less the libraries do not begin
static const char alone[] = "OPENBLAS_NUM_THREADS=1";

// The first of its name is the one that counts.
static bool is_alone(char **env)
{
	while (*env && strncmp(*env, alone, sizeof alone - 2) != 0)
		env++;
	return *env && strcmp(*env, alone) == 0;
}

static void begin_anew(char **argv, char **env)
{
	const char *self = (const char *)getauxval(AT_EXECFN);
	size_t n = 0;
	while (env[n])
		n++;
	char **with = malloc((n + 2) * sizeof *with);
	if (self && with) {
		with[0] = (char *)alone;
		memcpy(with + 1, env, (n + 1) * sizeof *with);
		execve(self, argv, with);
	}
	error_end("there is a limit on address space (ulimit -v): set %s", alone);
}

static void begin(int argc, char **argv, char **env)
{
	struct rlimit r;
	(void)argc;
	if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return;
	if (r.rlim_cur >> 20 < PROGRAM_MB)
		error_end("the limit on address space (ulimit -v) is %d MB: %d are needed to begin", (int)(r.rlim_cur >> 20), PROGRAM_MB);
	if (!is_alone(env))
		begin_anew(argv, env);
}
__attribute__((section(".preinit_array"), used)) static void (*const begin_first)(int, char **, char **) = begin;
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static int buffers, inside;
static bool limited;

__attribute__((constructor)) static void look(void)
{
	limited = mem_address_space_left() != SIZE_MAX;
}

static bool has_buffer(void)
{
	if (inside == buffers && mem_address_space_left() > BUFFER)
		buffers++;
	return inside < buffers;
}

void blas_enter(void)
{
	if (!limited)
		return;
	pthread_mutex_lock(&lock);
	while (!has_buffer()) {
		if (buffers == 0)
			error_end("OpenBLAS needs %zu MB for a product: the limit on address space (ulimit -v) leaves %zu", BUFFER >> 20,
			    mem_address_space_left() >> 20);
		pthread_cond_wait(&left, &lock);
	}
	inside++;
	pthread_mutex_unlock(&lock);
}

void blas_leave(void)
{
	if (!limited)
		return;
	pthread_mutex_lock(&lock);
	inside--;
	pthread_cond_signal(&left);
	pthread_mutex_unlock(&lock);
}
