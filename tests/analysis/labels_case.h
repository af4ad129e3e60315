// Files of labels, alone and in directories of their own, and what is read of them.
#ifndef TESTS_ANALYSIS_LABELS_CASE_H
#define TESTS_ANALYSIS_LABELS_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/task/labels/labels.h"
#include "qtui/base/file.h"
#include "support.h"

static const char *const three_pictures[] = {"x/a.jpg", "x/b.jpg", "x/c.jpg"};
static const struct labels_samples three = {.file = three_pictures, .n = 3, .w = 64, .h = 48};

static inline const char *write_text(const char *name, const char *text)
{
	return support_temp_file(name, text, strlen(text));
}

// The caller frees them.
static inline struct labels *read_ok(const char *path, const struct labels_samples *s)
{
	struct labels *l;
	struct error err = {0};
	if (labels_read(&l, path, s, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return l;
}

// They are refused with an error that says so. Returns its status.
static inline enum status read_bad(const char *path, const struct labels_samples *s, const char *says)
{
	struct labels *l;
	struct error err = {0};
	assert_int_not_equal(labels_read(&l, path, s, &err), STATUS_OK);
	assert_null(l);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
	return err.status;
}

static inline void write_in(const char *dir, const char *name, const char *text)
{
	struct error err;
	char *path = file_join(dir, name);
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	assert_int_equal(file_write(path, text, strlen(text), &err), STATUS_OK);
	free(path);
}

#endif
