// Scales as they are typed and shown: a power of two as such.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "qtui/analysis/study.h"
#include "qtui/base/str.h"

static bool number_parse(const char *text, double *out)
{
	double exponent;
	if (str_has_prefix(text, "2^") && str_to_double(text + 2, &exponent) && exponent == rint(exponent) && fabs(exponent) <= 60) {
		*out = ldexp(1, (int)exponent);
		return true;
	}
	return str_to_double(text, out) && *out > 0;
}

bool scale_parse(const char *text, double *scale, int32_t *zero)
{
	char number[SCALE_TEXT];
	const char *comma = strchr(text, ',');
	long long code;
	*zero = ZERO_FOLLOWS;
	*scale = 0;
	if (strcmp(text, "auto") == 0)
		return true;
	if (!comma)
		return number_parse(text, scale);
	if ((size_t)(comma - text) >= sizeof number || !str_to_int(comma + 1, &code) || code < INT16_MIN || code > UINT16_MAX)
		return false;
	snprintf(number, sizeof number, "%.*s", (int)(comma - text), text);
	*zero = (int32_t)code;
	return number_parse(number, scale);
}

bool scale_exponent(double scale, int *out)
{
	bool is_power = frexp(scale, out) == 0.5;
	--*out;
	return is_power;
}

char *scale_text(char out[SCALE_TEXT], double scale, int digits)
{
	int exponent;
	if (scale_exponent(scale, &exponent))
		snprintf(out, SCALE_TEXT, "2^%d", exponent);
	else
		snprintf(out, SCALE_TEXT, "%.*g", digits, scale);
	return out;
}
