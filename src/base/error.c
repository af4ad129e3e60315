#include "qtui/base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/str.h"

// The text is made beside the error, because the arguments may point into it.
enum status error_set(struct error *err, enum status s, const char *fmt, ...)
{
	char text[sizeof err->text];
	va_list ap;
	assert(s != STATUS_OK);
	va_start(ap, fmt);
	str_vfit(text, sizeof text, fmt, ap);
	va_end(ap);
	str_oneline(text);
	err->status = s;
	memcpy(err->text, text, sizeof text);
	return s;
}

enum status error_errno(struct error *err, const char *path)
{
	bool stdinput = errno == ENOENT && strcmp(path, "-") == 0; // as other programs call it
	return error_set(err, STATUS_IO, "%s: %s%s", path, strerror(errno), stdinput ? "; standard input is /dev/stdin" : "");
}

enum status error_prefix(struct error *err, const char *fmt, ...)
{
	char prefix[sizeof err->text];
	va_list ap;
	va_start(ap, fmt);
	str_vfit(prefix, sizeof prefix, fmt, ap);
	va_end(ap);
	return error_set(err, err->status, "%s: %s", prefix, err->text);
}

static const char *(*_Atomic before_end)(void);

void error_before_end(const char *(*give_back)(void))
{
	atomic_store(&before_end, give_back);
}

static void write_all(const char *text)
{
	ssize_t n = write(STDERR_FILENO, text, strlen(text));
	(void)n; // nobody is left to be told
}

void error_end(const char *fmt, ...)
{
	static atomic_flag ending = ATOMIC_FLAG_INIT;
	const char *(*give_back)(void) = atomic_load(&before_end), *more;
	char text[sizeof ((struct error *)0)->text];
	va_list ap;
	while (atomic_flag_test_and_set(&ending))
		pause();
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	more = give_back ? give_back() : "";
	write_all("qtui: ");
	write_all(text);
	write_all(more);
	write_all("\n");
	_exit(1);
}
