// A system that gives no threads, or too few: pthread_create is this program's own.
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "studies.h"

static atomic_int left = 1000; // threads that the system gives

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	return atomic_fetch_sub(&left, 1) > 0 ? create(thread, attr, fn, arg) : EAGAIN;
}

static struct study_options options(void)
{
	return (struct study_options){.model = "examples/digits.onnx", .data = {.random = 1}, .method = -1, .threads = 2};
}

// One is the hash of the model's file, two are workers; then none is left for the conductor.
void test_study_threads__without_a_conductor_there_is_no_study(void **state)
{
	struct study_options o = options();
	struct error err = {0};
	struct study *st = NULL;
	atomic_store(&left, 3);
	assert_int_equal(study_open(&st, &o, &err), STATUS_NOMEM);
	atomic_store(&left, 1000);
	assert_null(st);
	assert_non_null(strstr(err.text, "no thread"));
}

void test_study_threads__few_are_enough(void **state)
{
	struct study *st;
	atomic_store(&left, 3);
	struct study_options o = options();
	o.threads = 1;
	st = open_for_test(o);
	wait_for_run(st);
	study_close(&st);
	atomic_store(&left, 1000);
}
