// Small text files, written and compared.
#ifndef TESTS_BASE_FILE_CASE_H
#define TESTS_BASE_FILE_CASE_H

#include <string.h>
#include "support.h"
#include "qtui/base/file.h"

static inline void write_text(const char *path, const char *text)
{
	struct error e;
	if (file_write(path, text, strlen(text), &e))
		fail_msg("%s", e.text);
}

static inline void check_text(const char *path, const char *text)
{
	struct error e;
	struct bytes b;
	if (file_read(&b, path, 1000, &e))
		fail_msg("%s", e.text);
	assert_string_equal((char *)b.data, text);
	assert_int_equal(b.size, strlen(text));
	bytes_done(&b);
	assert_null(b.data);
}

#endif
