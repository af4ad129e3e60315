// Errors are one line that a terminal can show, whatever they quote.
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "qtui/base/error.h"

void test_error__set_returns_the_status_and_formats(void **state)
{
	struct error e = {0};
	assert_int_equal(error_set(&e, STATUS_IO, "%s:%d", "file", 7), STATUS_IO);
	assert_int_equal(e.status, STATUS_IO);
	assert_string_equal(e.text, "file:7");
}

void test_error__errno_names_the_file(void **state)
{
	struct error e;
	errno = EACCES;
	assert_int_equal(error_errno(&e, "dir/f"), STATUS_IO);
	assert_string_equal(e.text, "dir/f: Permission denied");
	errno = ENOENT;
	assert_int_equal(error_errno(&e, "-"), STATUS_IO);
	assert_string_equal(e.text, "-: No such file or directory; standard input is /dev/stdin");
}

void test_error__may_quote_its_own_text(void **state)
{
	struct error e;
	error_set(&e, STATUS_IO, "inner");
	error_set(&e, STATUS_FORMAT, "outer (%s)", e.text);
	assert_string_equal(e.text, "outer (inner)");
}

void test_error__prefix_keeps_the_status(void **state)
{
	struct error e;
	error_set(&e, STATUS_NOTFOUND, "no such node");
	assert_int_equal(error_prefix(&e, "%s", "m.onnx"), STATUS_NOTFOUND);
	assert_string_equal(e.text, "m.onnx: no such node");
}

void test_error__is_one_line_without_control_bytes(void **state)
{
	struct error e;
	error_set(&e, STATUS_FORMAT, "a\nb\033[2Jc\177");
	assert_string_equal(e.text, "a b?[2Jc?");
}

void test_error__cuts_long_text_at_a_whole_character(void **state)
{
	struct error e;
	char text[1024];
	for (int shift = 0; shift < 3; shift++) {
		memset(text, 0, sizeof text);
		memset(text, 'x', (size_t)shift);
		for (int i = shift; i + 3 < 900; i += 3)
			memcpy(text + i, "\u20ac", 3);
		error_set(&e, STATUS_FORMAT, "%s", text);
		assert_int_equal((int)(strlen(e.text) - (size_t)shift) % 3, 0);
		assert_in_range(strlen(e.text), sizeof e.text - 3, sizeof e.text - 1);
	}
}

void test_error__of_a_long_name_the_middle_goes(void **state)
{
	struct error e;
	char *name = calloc(1, 1 << 20);
	memset(name, 'n', (1 << 20) - 1);
	error_set(&e, STATUS_FORMAT, "node %s (Conv): its weights are missing", name);
	assert_int_equal(strlen(e.text), sizeof e.text - 1);
	assert_non_null(strstr(e.text, "node nnn"));
	assert_non_null(strstr(e.text, "nnn...nnn"));
	assert_non_null(strstr(e.text, "nnn (Conv): its weights are missing"));
	error_prefix(&e, "%s", "model.onnx");
	assert_non_null(strstr(e.text, "model.onnx: node nnn"));
	assert_non_null(strstr(e.text, "nnn (Conv): its weights are missing"));
	free(name);
}

void test_error__prefix_of_a_full_text_stays_inside(void **state)
{
	struct error e;
	char text[sizeof e.text];
	memset(text, 'y', sizeof text);
	text[sizeof text - 1] = '\0';
	error_set(&e, STATUS_IO, "%s", text);
	error_prefix(&e, "%s", text);
	assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

static const char *left_screen(void)
{
	return "; edits are kept";
}

// Where no error can be returned there is one line, and what a screen adds to it.
void test_error__the_end_is_one_line_and_exit_code_1(void **state)
{
	int status, ends[2];
	char said[100] = "";
	pid_t child;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		error_before_end(left_screen);
		error_end("no memory for %d tensors", 3);
	}
	close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_true(read(ends[0], said, sizeof said - 1) > 0);
	close(ends[0]);
	assert_string_equal(said, "qtui: no memory for 3 tensors; edits are kept\n");
}
