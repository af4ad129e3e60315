#include "background_impl.h"
#include <math.h>
#include <stdlib.h>
#include "qtui/base/thread.h"

static void *run(void *background)
{
	struct background *b = background;
	thread_yield();
	if (b->work(b->arg, &b->error) == STATUS_OK)
		b->error = (struct error){0}; // what was tried in vain on the way
	atomic_store(&b->over, true);
	study_wake(b->study);
	return NULL;
}

enum status background_start(struct background *b, struct study *st, int steps, background_fn *work, void *arg, struct error *err)
{
	b->study = st;
	b->steps = steps;
	b->work = work;
	b->arg = arg;
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

enum status background_new(struct background **out, struct study *st, background_fn *work, void *arg, struct error *err)
{
	struct background *b = xcalloc(1, sizeof *b);
	enum status status = background_start(b, st, 1, work, arg, err);
	if (status == STATUS_OK)
		*out = b;
	else
		free(b);
	return status;
}

enum status background_wait(struct background *b, struct error *err)
{
	background_join(b);
	return background_end(b, err);
}

void background_free(struct background **bp)
{
	struct background *b = *bp;
	*bp = NULL;
	if (!b)
		return;
	background_join(b);
	free(b);
}
