#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../task_impl.h"
#include "qtui/base/child.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { ANSWER_MAX = 1 << 20 }; // bytes: some ten thousand boxes

struct program {
	char *command, *role;
	atomic_uint failures;   // changes with `why`
	pthread_mutex_t asking; // over what follows: one sample at a time
	struct error why;       // it failed last
	struct child *child;    // NULL: not begun, or it has failed
	char *dir;              // of the outputs; NULL: not made
	char *answer;           // [ANSWER_MAX]
};

struct program *program_new(const char *command, const char *role)
{
	struct program *p = xcalloc(1, sizeof *p);
	*p = (struct program){.command = xstrdup(command), .role = xstrdup(role), .answer = xmalloc(ANSWER_MAX)};
	pthread_mutex_init(&p->asking, NULL);
	return p;
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

void program_free(struct program **pp)
{
	struct program *p = *pp;
	*pp = NULL;
	if (!p)
		return;
	child_end(&p->child);
	if (p->dir)
		remove_dir(p->dir);
	pthread_mutex_destroy(&p->asking);
	free(p->answer);
	free(p->dir);
	free(p->role);
	free(p->command);
	free(p);
}

const char *program_command(const struct program *p)
{
	return p->command;
}

struct key program_key(const char *command)
{
	struct key k = key_add_text((struct key){0}, command);
	char *words = xstrdup(command), *rest;
	for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		if (file_is_regular(w))
			k = task_file_key(k, w);
	free(words);
	return k;
}

// In memory where the system has a place for that: each sample is written, read once and written over.
static enum status make_dir(struct program *p, struct error *err)
{
	const char *const where[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};
	for (size_t i = 0; !p->dir && i < sizeof where / sizeof *where; i++) {
		char *dir = where[i] && *where[i] ? file_join(where[i], "qtui-outputs-XXXXXX") : NULL;
		if (dir && mkdtemp(dir))
			p->dir = dir;
		else
			free(dir);
	}
	return p->dir ? STATUS_OK : error_set(err, STATUS_IO, "no directory for its outputs can be made in /tmp; TMPDIR names another");
}

static enum status name_sample(struct str *out, const struct program *p, const struct sample_outputs *of, struct error *err)
{
	const char *name = dataset_name(of->d, of->sample), *file = dataset_file(of->d, of->sample);
	file = file ? file : "";
	if (strpbrk(file, "\t\n") || strpbrk(name, "\t\n"))
		return error_set(err, STATUS_UNSUPPORTED, "a tab or a line break in its name would end the field: rename it");
	str_addf(out, "%s\t%s\t%s", p->dir, file, name);
	return STATUS_OK;
}

static enum status ask(struct program *p, const struct sample_outputs *of, program_read_fn *read, void *to, struct error *err)
{
	struct str line = {0};
	enum status st = p->child ? STATUS_OK : child_start(&p->child, p->command, err);
	if (st == STATUS_OK && !p->dir)
		st = make_dir(p, err);
	if (st == STATUS_OK)
		st = tensors_write(p->dir, of->g, true, of->g->output, of->out, of->g->n_outputs, err);
	if (st == STATUS_OK)
		st = name_sample(&line, p, of, err);
	if (st == STATUS_OK)
		st = child_ask(p->child, str_text(&line), p->answer, ANSWER_MAX, of->stop, err);
	if (st == STATUS_OK)
		st = read(to, p->answer, err);
	if (st != STATUS_OK)
		child_end(&p->child); // what it might still answer belongs to this sample
	str_done(&line);
	return st;
}

enum status program_ask(struct program *p, const struct sample_outputs *of, program_read_fn *read, void *to, struct error *err)
{
	unsigned failures = atomic_load(&p->failures);
	pthread_mutex_lock(&p->asking);
	// What failed while this sample waited its turn would fail again, perhaps after minutes.
	bool failed = atomic_load(&p->failures) != failures;
	enum status st = failed ? p->why.status : ask(p, of, read, to, err);
	if (failed)
		*err = p->why;
	else if (st != STATUS_OK) {
		p->why = *err;
		atomic_fetch_add(&p->failures, 1);
	}
	pthread_mutex_unlock(&p->asking);
	return st == STATUS_OK || st == STATUS_CANCELLED ? st : error_prefix(err, "%s %s", p->role, p->command);
}
