#include "qtui/base/error.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
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
	return error_set(err, STATUS_IO, "%s: %s", path, strerror(errno));
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
