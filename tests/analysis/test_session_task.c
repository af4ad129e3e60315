// The task of a session beside what is given: the same data and labels under another name are the session's task.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/session.h"
#include "studies.h"

static char *data, *labels, *other, *alias; // files; `alias` is another name of `data`

static char *file(const char *name)
{
	char *path = realpath(support_temp_file(name, name, strlen(name)), NULL);
	assert_non_null(path);
	return path;
}

static void make_files(void)
{
	data = file("data.txt");
	labels = file("labels.csv");
	other = file("other.txt");
	alias = strdup(support_temp("alias.txt"));
	assert_int_equal(symlink(data, alias), 0);
}

static void forget_files(void)
{
	unlink(alias);
	char *const all[] = {data, labels, other, alias};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

// Of a session that calibrates on `data` and has this task (its members), beside what is given.
static struct session *merge(struct task_wish *w, const char *task)
{
	char text[1024];
	struct session *s = NULL;
	struct error err = {0};
	struct study_options o = {.method = -1, .task = *w};
	int n = snprintf(text, sizeof text, "{\"qtui_session\": 1, \"calibration\": {\"path\": \"%s\"}, \"task\": {%s}}", data, task);
	if (session_read(&s, support_temp_file("task.json", text, (size_t)n), &err) != STATUS_OK)
		fail_msg("%s", err.text);
	session_options(s, &o);
	*w = o.task;
	return s;
}

static void assert_merged(struct task_wish w, const char *task, const char *has_data, const char *has_labels)
{
	struct session *s = merge(&w, task);
	if (has_data)
		assert_string_equal(w.data, has_data);
	else
		assert_null(w.data);
	if (has_labels)
		assert_string_equal(w.labels, has_labels);
	else
		assert_null(w.labels);
	session_free(&s);
}

void test_session_task__its_own_data_keep_its_labels(void **state)
{
	char task[512], on_calibration[512];
	make_files();
	snprintf(task, sizeof task, "\"data\": \"%s\", \"labels\": \"%s\"", data, labels);
	snprintf(on_calibration, sizeof on_calibration, "\"labels\": \"%s\"", labels);
	assert_merged((struct task_wish){.data = data}, task, data, labels);
	assert_merged((struct task_wish){.data = alias}, task, alias, labels);
	assert_merged((struct task_wish){.labels = labels}, task, data, labels);
	assert_merged((struct task_wish){.data = alias}, on_calibration, alias, labels);
	assert_merged((struct task_wish){0}, task, data, labels);
	forget_files();
}

void test_session_task__other_data_or_labels_are_another_task(void **state)
{
	char task[512];
	make_files();
	snprintf(task, sizeof task, "\"data\": \"%s\", \"labels\": \"%s\"", data, labels);
	assert_merged((struct task_wish){.data = other}, task, other, NULL);
	assert_merged((struct task_wish){.labels = other}, task, NULL, other);
	assert_merged((struct task_wish){.data = data, .labels = other}, task, data, other);
	forget_files();
}
