// Where what a session names is by now: it may have been moved together with the session, or checked out elsewhere.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/engine/target.h"
#include "../study/study_impl.h"
#include "session_impl.h"

// The longest end of a path that is there below the directory of the session, heap; NULL: none is.
static char *find_below(const char *session, const char *path)
{
	char *real = file_follow(session), *dir = file_dir(real), *found = NULL;
	for (const char *end = path; !found && *(end += strspn(end, "/")); end += strcspn(end, "/")) {
		found = file_join(dir, end);
		if (!file_exists(found)) {
			free(found);
			found = NULL;
		}
	}
	free(dir);
	free(real);
	return found;
}

// What is there now in place of what is not where it was, heap; NULL: it is there, or nothing is found.
static char *find_moved(const struct session *s, const char *path)
{
	return file_exists(path) ? NULL : find_below(s->path, path);
}

static void tell_moved(const struct session *s, const char *what, const char *path, const char *found)
{
	log_warn("%s: the %s %s: not there, %s takes its place", s->path, what, path, found);
}

bool session_has_samples(const struct session *s)
{
	char *found = s->calib ? find_moved(s, s->calib) : NULL;
	bool there = found || (s->calib && file_exists(s->calib));
	free(found);
	return there;
}

static void find_place(struct session *s, const char *in, const char *key, const char *what)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(s->root, in), key);
	char *found = item ? find_moved(s, item->valuestring) : NULL;
	if (!found)
		return;
	tell_moved(s, what, item->valuestring, found);
	cJSON_SetValuestring(item, found);
	free(found);
}

// ---- the files of targets: one may be named in many places, and is told once

struct moved {
	char **from;
	int n;
};

static bool is_moved(const struct moved *m, const char *path)
{
	for (int i = 0; i < m->n; i++)
		if (strcmp(m->from[i], path) == 0)
			return true;
	return false;
}

static bool is_first(struct moved *m, const char *path)
{
	if (is_moved(m, path))
		return false;
	m->from = xrealloc(m->from, ((size_t)m->n + 1) * sizeof *m->from);
	m->from[m->n++] = xstrdup(path);
	return true;
}

// The same target where its file is now, with the members behind it, heap; NULL: it stays as it is.
static char *find_target(const struct session *s, const char *name, struct moved *m)
{
	struct str now = {0}, path = {0};
	size_t n = target_path(name);
	str_addn(&path, name, n);
	char *found = n ? find_moved(s, str_text(&path)) : NULL;
	if (found)
		str_addf(&now, "%s%s", found, name + n);
	bool fits = found && now.len < TARGET_NAME;
	if (fits && is_first(m, str_text(&path)))
		tell_moved(s, "target", str_text(&path), found);
	free(found);
	str_done(&path);
	if (fits)
		return str_detach(&now);
	str_done(&now);
	return NULL;
}

static void move_member(const struct session *s, const cJSON *object, struct moved *m)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "target");
	char *now = cJSON_IsString(item) ? find_target(s, item->valuestring, m) : NULL;
	if (now)
		cJSON_SetValuestring(item, now);
	free(now);
}

static void move_members(const struct session *s, const char *list, struct moved *m)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(s->root, list))
	{
		move_member(s, item, m);
		move_member(s, cJSON_GetObjectItemCaseSensitive(item, "state"), m);
	}
}

// "target NAME" with the target where its file is now, heap; NULL: the command stays as it is.
static char *find_command_target(const struct session *s, const char *command, struct moved *m)
{
	static const char begin[] = "target ";
	struct str word = {0}, text = {0};
	if (!str_has_prefix(command, begin))
		return NULL;
	for (const char *at = command + sizeof begin - 1; *at; at++) {
		at += *at == '\\' && at[1];
		str_addn(&word, at, 1);
	}
	char *now = find_target(s, str_text(&word), m);
	if (now) {
		str_add(&text, begin);
		study_add_word(&text, now);
	}
	str_done(&word);
	if (!now)
		return NULL;
	free(now);
	return str_detach(&text);
}

// A step may be several commands.
static void move_step(const struct session *s, char **step, struct moved *m)
{
	struct str text = {0};
	const char *rest = *step;
	bool any = false;
	while (*rest) {
		char *command = study_next_command(&rest), *now = find_command_target(s, command, m);
		study_add_command(&text, now ? now : command);
		any |= now != NULL;
		free(command);
		free(now);
	}
	if (any) {
		free(*step);
		*step = str_detach(&text);
	}
	str_done(&text);
}

// What is nowhere is as the session was written with it.
static void keep_targets(const struct session *s, const struct moved *m)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(s->root, "target_files"))
	{
		target_keep(item->string, item->valuestring);
		if (!file_exists(item->string) && !is_moved(m, item->string))
			log_warn("%s: the target %s: not there, what the session keeps of it takes its place", s->path, item->string);
	}
}

void session_find_targets(struct session *s)
{
	struct moved m = {0};
	move_member(s, s->root, &m);
	move_member(s, cJSON_GetObjectItemCaseSensitive(s->root, "pareto"), &m);
	move_members(s, "variants", &m);
	move_members(s, "runs", &m);
	for (int i = 0; i < s->n_commands; i++)
		move_step(s, &s->command[i], &m);
	keep_targets(s, &m);
	free(s->target);
	s->target = xstrdup(json_text(s->root, "target", NULL));
	for (int i = 0; i < m.n; i++)
		free(m.from[i]);
	free(m.from);
}

void session_find_places(struct session *s, const struct study_options *given)
{
	const struct {
		const char *given, *in, *key, *what;
	} place[] = {{given->model, "model", "path", "model"}, {given->data.random ? "" : given->calib, "calibration", "path", "calibration data"},
	    {given->task.data, "task", "data", "task's data"}, {given->task.labels, "task", "labels", "labels"},
	    {NULL, "latency", "path", "times"}};
	for (size_t i = 0; i < sizeof place / sizeof *place; i++)
		if (!place[i].given)
			find_place(s, place[i].in, place[i].key, place[i].what);
	free(s->model);
	free(s->calib);
	s->model = xstrdup(json_text(cJSON_GetObjectItemCaseSensitive(s->root, "model"), "path", NULL));
	s->calib = xstrdup(json_text(cJSON_GetObjectItemCaseSensitive(s->root, "calibration"), "path", NULL));
	session_read_task(&s->task, cJSON_GetObjectItemCaseSensitive(s->root, "task"));
}
