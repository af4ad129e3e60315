// Scales as they are typed and shown: a power of two as such.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "qtui/analysis/study.h"
#include "qtui/base/str.h"

bool scale_parse(const char *text, double *out)
{
	double exponent;
	if (strcmp(text, "auto") == 0) {
		*out = 0;
		return true;
	}
	if (str_has_prefix(text, "2^") && str_to_double(text + 2, &exponent) && exponent == rint(exponent) && fabs(exponent) <= 60) {
		*out = ldexp(1, (int)exponent);
		return true;
	}
	return str_to_double(text, out) && *out > 0;
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
