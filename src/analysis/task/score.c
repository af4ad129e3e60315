// A score of the user's own: a program is given each sample's outputs as files, and answers with a number (docs/TASK.md).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/child.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "task_impl.h"

struct scorer {
	char *command;
	atomic_uint failures;    // changes with `why`
	pthread_mutex_t asking;  // over what follows: one sample at a time
	struct error why;        // it failed last
	struct child *child;     // NULL: not begun, or it has failed
	char *dir;               // of the outputs; NULL: not made
};

// ---- opening

static enum status score_open(struct task *t, struct error *err)
{
	if (!t->opt.scorer)
		return error_set(err, STATUS_USAGE, "task score: --scorer COMMAND says which program gives it");
	struct scorer *s = xcalloc(1, sizeof *s);
	s->command = xstrdup(t->opt.scorer);
	pthread_mutex_init(&s->asking, NULL);
	t->state = s;
	return STATUS_OK;
}

static void remove_dir(const char *dir)
{
	struct file_list files = {0};
	struct error ignored;
	if (file_list_dir(&files, dir, &ignored) != STATUS_OK)
		return;
	for (size_t i = 0; i < files.n; i++) {
		char *path = file_join(dir, files.name[i]);
		unlink(path);
		free(path);
	}
	file_list_done(&files);
	rmdir(dir);
}

static void score_close(struct task *t)
{
	struct scorer *s = t->state;
	if (!s)
		return;
	child_end(&s->child);
	if (s->dir)
		remove_dir(s->dir);
	pthread_mutex_destroy(&s->asking);
	free(s->dir);
	free(s->command);
	free(s);
}

static void score_note(struct task *t, char *out, size_t size)
{
	const struct scorer *s = t->state;
	snprintf(out, size, "scored by %s", s->command);
}

struct key score_key(const char *command)
{
	struct key k = key_add_text((struct key){0}, command);
	char *words = xstrdup(command), *rest;
	for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		if (file_is_regular(w))
			k = task_file_key(k, w);
	free(words);
	return k;
}

// ---- asking

// In memory where the system has a place for that: each sample is written, read once and written over.
static enum status make_dir(struct scorer *s, struct error *err)
{
	const char *const where[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};
	for (size_t i = 0; !s->dir && i < sizeof where / sizeof *where; i++) {
		char *dir = where[i] && *where[i] ? file_join(where[i], "qtui-score-XXXXXX") : NULL;
		if (dir && mkdtemp(dir))
			s->dir = dir;
		else
			free(dir);
	}
	return s->dir ? STATUS_OK : error_set(err, STATUS_IO, "no directory for its outputs can be made in /tmp; TMPDIR names another");
}

static enum status name_sample(struct str *out, const struct scorer *s, const struct task *t, int sample, struct error *err)
{
	const char *name = dataset_name(t->d, sample), *file = dataset_file(t->d, sample);
	file = file ? file : "";
	if (strpbrk(file, "\t\n") || strpbrk(name, "\t\n"))
		return error_set(err, STATUS_UNSUPPORTED, "a tab or a line break in its name would end the field: rename it");
	str_addf(out, "%s\t%s\t%s", s->dir, file, name);
	return STATUS_OK;
}

// Blanks around the number, and the \r of other systems, do not count.
static bool read_score(double *score, char *answer)
{
	static const char blanks[] = " \t\r";
	char *begin = answer + strspn(answer, blanks), *end = begin + strlen(begin);
	while (end > begin && strchr(blanks, end[-1]))
		*--end = '\0';
	return str_to_double(begin, score) && isfinite(*score);
}

static enum status ask(double *score, struct scorer *s, const struct task *t, int sample, const struct task_said *said, struct error *err)
{
	char answer[128];
	struct str line = {0};
	enum status st = s->child ? STATUS_OK : child_start(&s->child, s->command, err);
	if (st == STATUS_OK && !s->dir)
		st = make_dir(s, err);
	if (st == STATUS_OK)
		st = tensors_write(s->dir, t->g, true, t->g->output, said->out, t->g->n_outputs, err);
	if (st == STATUS_OK)
		st = name_sample(&line, s, t, sample, err);
	if (st == STATUS_OK)
		st = child_ask(s->child, str_text(&line), answer, sizeof answer, said->stop, err);
	if (st == STATUS_OK && !read_score(score, answer))
		st = error_set(err, STATUS_UNSUPPORTED, "it has answered \"%.60s\", which is no finite number", answer);
	if (st != STATUS_OK)
		child_end(&s->child); // what it might still answer belongs to this sample
	str_done(&line);
	return st;
}

static enum status score_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	struct scorer *s = t->state;
	double score = 0;
	unsigned failures = atomic_load(&s->failures);
	pthread_mutex_lock(&s->asking);
	// What failed while this sample waited its turn would fail again, perhaps after minutes.
	bool failed = atomic_load(&s->failures) != failures;
	enum status st = failed ? s->why.status : ask(&score, s, t, sample, said, err);
	if (failed)
		*err = s->why;
	else if (st != STATUS_OK) {
		s->why = *err;
		atomic_fetch_add(&s->failures, 1);
	}
	pthread_mutex_unlock(&s->asking);
	if (st == STATUS_CANCELLED)
		return st;
	if (st != STATUS_OK)
		return error_prefix(err, "scorer %s", s->command);
	*result = xcalloc(1, sizeof **result);
	**result = (struct task_result){.refs = 1, .bytes = sizeof **result, .value = score};
	return STATUS_OK;
}

static void score_release(struct task_result *r)
{
	free(r);
}

// ---- scoring

static void score_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	r->figure = xcalloc(1, sizeof *r->figure);
	r->n_figures = 1;
	r->figure[0].name = score_ops.figure;
	for (int v = 0; v < TASK_VARIANTS; v++)
		r->figure[0].value[v] = task_mean(t, &f[v], NULL);
}

const struct task_ops score_ops = {
    .name = "score", .figure = "score",
    .labels = -1,
    .open = score_open,
    .close = score_close,
    .note = score_note,
    .read = score_read,
    .release = score_release,
    .score = task_mean,
    .report = score_report,
};
