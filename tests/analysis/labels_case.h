// Files of labels in directories of their own.
#ifndef TESTS_ANALYSIS_LABELS_CASE_H
#define TESTS_ANALYSIS_LABELS_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/task/labels/labels.h"
#include "qtui/base/file.h"
#include "support.h"

static inline void write_in(const char *dir, const char *name, const char *text)
{
	struct error err;
	char *path = file_join(dir, name);
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	assert_int_equal(file_write(path, text, strlen(text), &err), STATUS_OK);
	free(path);
}

#endif
