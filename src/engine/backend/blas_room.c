// OpenBLAS maps a buffer for every thread that is in a call of it, keeps it for the next, and where a limit on address space (ulimit -v)
// forbids one tries again without end. Under a limit as many threads are let in as there is room for buffers.
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "blas.h"

#define BUFFER ((size_t)136 << 20)

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
