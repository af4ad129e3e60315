// A session read or written while the screen goes on, or another file.
#include <stdlib.h>
#include "../study/background_impl.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"

struct session_job {
	struct background background;
	struct study *study;
	char *path[SESSION_JOB_READS];
	int n;
	bool weights, spare;
	struct session *read[SESSION_JOB_READS]; // the thread's until it is over, as is the next
	struct session_save *save;               // NULL: it reads
	session_job_work *other;                 // NULL: it is about sessions
	void *arg;
};

static enum status spare_others(const char *path, struct error *err)
{
	struct session *old = NULL;
	enum status st = file_exists(path) ? session_read(&old, path, err) : STATUS_OK;
	session_free(&old);
	return st == STATUS_OK ? st : error_set(err, STATUS_REFUSED, "%.200s is there and is no session: give another name", path);
}

static enum status read_all(struct session_job *j, struct error *err)
{
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < j->n; i++)
		st = session_read(&j->read[i], j->path[i], err);
	if (st == STATUS_OK && j->weights)
		st = session_read_tuned(j->read[0], j->study, err);
	return st;
}

static enum status work(void *arg, struct error *err)
{
	struct session_job *j = arg;
	if (j->other)
		return j->other(j->arg, err);
	if (!j->save)
		return read_all(j, err);
	if (j->spare && spare_others(j->path[0], err) != STATUS_OK)
		return err->status;
	return session_save_end(&j->save, j->path[0], err);
}

static struct session_job *job_new(struct study *st, const char *const *path, int n)
{
	struct session_job *j = xcalloc(1, sizeof *j);
	j->study = st;
	for (; j->n < n; j->n++)
		j->path[j->n] = xstrdup(path[j->n]);
	return j;
}

static enum status start(struct session_job **out, struct session_job *j, struct error *err)
{
	enum status st = background_start(&j->background, j->study, 1, work, j, err);
	if (st == STATUS_OK)
		*out = j;
	else
		session_job_free(&j);
	return st;
}

enum status session_job_read(struct session_job **out, struct study *st, const char *const *path, int n, bool weights, struct error *err)
{
	struct session_job *j = job_new(st, path, n);
	j->weights = weights;
	return start(out, j, err);
}

enum status session_job_write(struct session_job **out, struct study *st, const char *path, const struct session *base, bool spare, struct error *err)
{
	struct session_job *j = job_new(st, &path, 1);
	j->spare = spare;
	j->save = session_save_begin(st, base);
	return start(out, j, err);
}

enum status session_job_other(struct session_job **out, struct study *st, session_job_work *other, void *arg, struct error *err)
{
	struct session_job *j = xcalloc(1, sizeof *j);
	*j = (struct session_job){.study = st, .other = other, .arg = arg};
	return start(out, j, err);
}

struct background *session_job_background(struct session_job *j)
{
	return &j->background;
}

enum status session_job_end(struct session_job *j, struct error *err)
{
	background_join(&j->background);
	return background_end(&j->background, err);
}

struct session *session_job_take(struct session_job *j, int i)
{
	struct session *s = j->read[i];
	j->read[i] = NULL;
	return s;
}

void session_job_free(struct session_job **jp)
{
	struct session_job *j = *jp;
	*jp = NULL;
	if (!j)
		return;
	background_join(&j->background);
	for (int i = 0; i < j->n; i++) {
		session_free(&j->read[i]);
		free(j->path[i]);
	}
	session_save_free(&j->save);
	free(j);
}
