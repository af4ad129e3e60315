// Numbers out of text. strtod obeys LC_NUMERIC, which the program leaves at "C".
#include "qtui/base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// strtoll and strtod skip blanks and take hexadecimal; we do neither.
static bool begins_as_number(const char *s)
{
	return *s && !isspace((unsigned char)*s);
}

bool str_to_int(const char *s, long long *out)
{
	char *end;
	if (!begins_as_number(s))
		return false;
	errno = 0;
	*out = strtoll(s, &end, 10);
	return errno == 0 && end != s && *end == '\0';
}

static bool leading_double(const char *s, double *out, char **end)
{
	if (!begins_as_number(s) || s[strcspn(s, "xX")] != '\0')
		return false;
	*out = strtod(s, end);
	return *end != s && isfinite(*out);
}

bool str_to_double(const char *s, double *out)
{
	char *end;
	return leading_double(s, out, &end) && *end == '\0';
}

// The power of 1024 that a unit names; -1 when it is none.
static int unit_power(const char *unit)
{
	static const char letters[] = "KMGT";
	const char *at;
	int power = 0;
	if (*unit && (at = strchr(letters, toupper((unsigned char)*unit)))) {
		power = (int)(at - letters) + 1;
		unit++;
		if (*unit == 'i')
			unit++;
	}
	if (*unit == 'B' || *unit == 'b')
		unit++;
	return *unit == '\0' ? power : -1;
}

bool str_to_size(const char *s, size_t *out)
{
	double v;
	char *end;
	int power;
	if (!leading_double(s, &v, &end) || (power = unit_power(end)) < 0)
		return false;
	v = ldexp(v, 10 * power);
	if (signbit(v) || v >= 0x1p63)
		return false;
	*out = (size_t)v;
	return true;
}

static double unit_seconds(const char *unit)
{
	static const struct {
		const char *name;
		double seconds;
	} known[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, unit) == 0)
			return known[i].seconds;
	return NAN;
}

bool str_to_seconds(const char *s, double *out)
{
	static const double most = 1e9; // thirty years; beyond it there is rather a name of sixteen digits
	double v;
	char *end;
	if (!leading_double(s, &v, &end))
		return false;
	v *= unit_seconds(end);
	if (!(v > 0 && v <= most))
		return false;
	*out = v;
	return true;
}
