#include "background_impl.h"
#include <math.h>
#include "qtui/base/jobs.h"

static void *run(void *arg)
{
	struct background *b = arg;
	thread_yield();
	(void)!b->work(b->job, &b->error);
	atomic_store(&b->over, true);
	study_wake(b->study);
	return NULL;
}

enum status background_start(struct background *b, struct study *st, int steps, background_fn *work, void *job, struct error *err)
{
	b->study = st;
	b->steps = steps;
	b->work = work;
	b->job = job;
	b->started = thread_start(&b->thread, run, b);
	return b->started ? STATUS_OK : error_set(err, STATUS_NOMEM, "no thread to be had");
}

bool background_running(const struct background *b)
{
	return !atomic_load(&b->over);
}

double background_progress(const struct background *b)
{
	return fmin(1, (double)atomic_load(&b->done) / b->steps);
}

void background_tell(struct background *b, double progress)
{
	atomic_store(&b->done, (int)(progress * b->steps));
	study_wake(b->study);
}

void background_cancel(struct background *b)
{
	atomic_store(&b->cancel, true);
}

enum status background_end(const struct background *b, struct error *err)
{
	*err = b->error;
	return err->status;
}

void background_join(struct background *b)
{
	background_cancel(b);
	if (b->started)
		pthread_join(b->thread, NULL);
	b->started = false;
}
