#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/session_writer.h"
#include "qtui/base/file.h"
#include "qtui/base/pipe.h"
#include "qtui/base/thread.h"
#include "qtui/base/mem.h"

struct session_writer {
	char *path;
	pthread_t thread;
	bool threaded;             // else put writes at once
	int pipe[2];               // a byte for every writing that ended otherwise than the one before it
	pthread_mutex_t lock;      // guards what follows
	pthread_cond_t changed;
	struct session_save *next; // NULL: nothing waits
	bool writing, quit;
	struct error error, told;  // of the latest writing; of the one that was told last
};

static void write_one(struct session_writer *w, struct session_save *s)
{
	struct error err = {0};
	char *dir = file_dir(w->path);
	enum status st = file_mkdirs(dir, &err);
	free(dir);
	if (st == STATUS_OK)
		st = session_save_end(&s, w->path, &err);
	session_save_free(&s);
	if (st == STATUS_OK)
		err = (struct error){0};
	pthread_mutex_lock(&w->lock);
	bool news = strcmp(err.text, w->error.text) != 0;
	w->error = err;
	w->writing = false;
	ssize_t n = news ? write(w->pipe[1], "", 1) : 0;
	(void)n; // a full pipe tells as much
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

// The next to be written; NULL: there will be none.
static struct session_save *next(struct session_writer *w)
{
	pthread_mutex_lock(&w->lock);
	while (!w->next && !w->quit)
		pthread_cond_wait(&w->changed, &w->lock);
	struct session_save *s = w->next;
	w->next = NULL;
	w->writing = s != NULL;
	pthread_mutex_unlock(&w->lock);
	return s;
}

static void *work(void *arg)
{
	struct session_save *s;
	thread_yield(); // to whoever answers keys
	while ((s = next(arg)))
		write_one(arg, s);
	return NULL;
}

struct session_writer *session_writer_new(const char *path)
{
	struct session_writer *w = xcalloc(1, sizeof *w);
	*w = (struct session_writer){
	    .path = xstrdup(path), .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	(void)!pipe_open(w->pipe, true); // without one, failures are told when somebody asks
	w->threaded = thread_start(&w->thread, work, w);
	return w;
}

void session_writer_put(struct session_writer *w, struct session_save *s)
{
	if (!w->threaded) {
		write_one(w, s);
		return;
	}
	pthread_mutex_lock(&w->lock);
	struct session_save *old = w->next;
	w->next = s;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	session_save_free(&old);
}

int session_writer_fd(const struct session_writer *w)
{
	return w->pipe[0];
}

bool session_writer_news(struct session_writer *w, struct error *err)
{
	char bytes[64];
	while (w->pipe[0] >= 0 && read(w->pipe[0], bytes, sizeof bytes) > 0)
		continue;
	pthread_mutex_lock(&w->lock);
	bool news = strcmp(w->error.text, w->told.text) != 0;
	*err = w->told = w->error;
	pthread_mutex_unlock(&w->lock);
	return news;
}

bool session_writer_lost(struct session_writer *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->next || w->writing)
		pthread_cond_wait(&w->changed, &w->lock);
	bool lost = w->error.status != STATUS_OK;
	pthread_mutex_unlock(&w->lock);
	return lost;
}

enum status session_writer_free(struct session_writer **wp, struct error *err)
{
	struct session_writer *w = *wp;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->threaded)
		pthread_join(w->thread, NULL);
	pipe_close(w->pipe);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	*err = w->error;
	free(w->path);
	free(w);
	*wp = NULL;
	return err->status;
}
