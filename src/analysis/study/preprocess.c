// How pictures are prepared, in the words of options, commands and sessions.
#include <math.h>
#include <string.h>
#include "qtui/analysis/session.h"
#include "qtui/base/str.h"

static const char *const resize_name[] = {
    [RESIZE_STRETCH] = "stretch", [RESIZE_LETTERBOX] = "letterbox", [RESIZE_CORNER] = "corner", [RESIZE_CROP] = "crop"};

const char *resize_text(enum resize_mode m)
{
	return resize_name[m];
}

bool resize_parse(enum resize_mode *out, const char *name)
{
	for (size_t i = 0; name && i < sizeof resize_name / sizeof *resize_name; i++)
		if (strcmp(name, resize_name[i]) == 0) {
			*out = (enum resize_mode)i;
			return true;
		}
	return false;
}

// The number that `text` begins with, up to a comma or the end, as a float.
static bool leading_channel(float *out, const char *text)
{
	char word[64];
	double v;
	size_t length = strcspn(text, ",");
	if (length >= sizeof word)
		return false;
	memcpy(word, text, length);
	word[length] = '\0';
	if (!str_to_double(word, &v))
		return false;
	*out = (float)v;
	return isfinite(*out);
}

enum status channels_parse(float out[4], const char *text, bool divides, struct error *err)
{
	const char *at = text, *comma = text;
	int n = 0;
	for (; comma; n++, at = comma + 1) {
		if (n == 4 || !leading_channel(&out[n], at))
			return error_set(err, STATUS_USAGE, "%s: one number, or one a channel, like 123.7,116.3,103.5", text);
		if (divides && !(out[n] > 0))
			return error_set(err, STATUS_USAGE, "%s: what x is divided by must be above 0", text);
		comma = strchr(at, ',');
	}
	if (n == 2)
		return error_set(err, STATUS_USAGE, "%s: one number, or one a channel, like 123.7,116.3,103.5", text);
	for (int i = n; i < 4; i++)
		out[i] = n == 1 ? out[0] : divides;
	return STATUS_OK;
}
