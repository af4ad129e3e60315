#include "qtui/tui/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qtui/analysis/study.h"
#include "qtui/analysis/task.h"

static char *dash(char *out)
{
	snprintf(out, FIGURE, "–");
	return out;
}

char *format_db(char *out, double v)
{
	if (isnan(v))
		return dash(out);
	if (isinf(v))
		snprintf(out, FIGURE, "%s", v > 0 ? "exact" : "-inf");
	else
		snprintf(out, FIGURE, fabs(v) < 999.95 ? "%.1f" : "%.0e", shown_db(v));
	return out;
}

char *format_decibels(char *out, double v)
{
	format_db(out, v);
	if (isfinite(v))
		strcat(out, " dB"); // of at most 8 characters
	return out;
}

char *format_change(char *out, double v)
{
	if (!isfinite(v) || v == 0)
		out[0] = '\0';
	else
		snprintf(out, FIGURE, "%+.1f", shown_db(v));
	return out;
}

char *format_unit(char *out, double v)
{
	if (!isfinite(v))
		return dash(out);
	snprintf(out, FIGURE, v < 0 ? "%.3f" : "%.4f", v); // as wide with its sign
	return out;
}

// Without the 0 before the point, as such figures are written.
static char *without_zero(char *out)
{
	char *zero = out + strspn(out, "+-");
	if (zero[0] == '0' && zero[1] == '.')
		memmove(zero, zero + 1, strlen(zero));
	return out;
}

static char *format_score(char *out, double v)
{
	if (!isfinite(v))
		return dash(out);
	snprintf(out, FIGURE, "%.3f", v);
	return without_zero(out);
}

char *format_score2(char *out, double v)
{
	if (!isfinite(v))
		return dash(out);
	snprintf(out, FIGURE, "%.2f", v);
	return without_zero(out);
}

static char *format_gain(char *out, double v)
{
	if (!isfinite(v))
		return dash(out);
	snprintf(out, FIGURE, "%+.3f", fabs(v) < .0005 ? 0.0 : v);
	return without_zero(out);
}

char *format_figure(char *out, const char *name, double v)
{
	int decimals = task_decimals(name, 0);
	if (!decimals || !isfinite(v))
		return format_score(out, v);
	snprintf(out, FIGURE, "%.*f", decimals, v);
	return out;
}

char *format_figure_gain(char *out, const char *name, double v)
{
	int decimals = task_decimals(name, 0);
	if (!decimals || !isfinite(v))
		return format_gain(out, v);
	snprintf(out, FIGURE, "%+.*f", decimals, fabs(v) < 0.5 * pow(10, -decimals) ? 0.0 : v);
	return out;
}

char *format_spread(char *out, const char *name, const struct task_interval *i)
{
	char low[FIGURE], high[FIGURE];
	double half = (i->high - i->low) / 2;
	bool seems = fabs(i->difference) <= half;
	if (seems == task_may_be_chance(i))
		snprintf(out, SPREAD, " ±%s", format_figure(low, name, half));
	else
		snprintf(out, SPREAD, ", %s to %s", format_figure_gain(low, name, i->low), format_figure_gain(high, name, i->high));
	return out;
}

char *format_blame(char *out, double v)
{
	if (!isfinite(v))
		return dash(out);
	snprintf(out, FIGURE, fabs(v) < .00005 ? "%.4f" : "%+.4f", fabs(v) < .00005 ? 0.0 : v);
	return without_zero(out);
}

// An exponent of one or two digits, as people write it: 2.1e-3, not 2.1e-03.
char *format_small(char *out, double v)
{
	char text[FIGURE], *e;
	if (!isfinite(v))
		return dash(out);
	if (v == 0 || (fabs(v) >= 0.01 && fabs(v) < 1000)) {
		snprintf(out, FIGURE, "%.3g", v);
		return out;
	}
	snprintf(text, sizeof text, "%.1e", v);
	e = strchr(text, 'e');
	snprintf(out, FIGURE, "%.*se%d", (int)(e - text), text, atoi(e + 1));
	return out;
}

char *format_percent(char *out, double v)
{
	if (!isfinite(v))
		return dash(out);
	if (v > 0 && v < 0.01)
		snprintf(out, FIGURE, "<0.01");
	else
		snprintf(out, FIGURE, v == 0 ? "%.0f" : v < 9.995 ? "%.2f" : "%.1f", v);
	return out;
}

char *format_count(char *out, double v)
{
	static const char unit[] = " kMGTP";
	int i = 0;
	if (!isfinite(v))
		return dash(out);
	for (; fabs(v) >= 999.5 && i < 5; i++)
		v /= 1000;
	if (i == 0)
		snprintf(out, FIGURE, "%.0f", v);
	else
		snprintf(out, FIGURE, fabs(v) < 9.95 ? "%.1f %c" : "%.0f %c", v, unit[i]);
	return out;
}

char *format_int(char *out, double v)
{
	if (!isfinite(v))
		return dash(out);
	snprintf(out, FIGURE, "%.0f", v);
	return out;
}

char *format_value(char *out, double v)
{
	if (isnan(v))
		return dash(out);
	snprintf(out, FIGURE, "%.4g", v);
	return out;
}

char *format_scale(char *out, double v)
{
	char text[SCALE_TEXT];
	if (isnan(v))
		return dash(out);
	snprintf(out, FIGURE, "%s", scale_text(text, v, 4));
	return out;
}

char *format_rate(char *out, double v)
{
	if (!isfinite(v) || v <= 0)
		return dash(out);
	snprintf(out, FIGURE, "%.*f", v < 1 ? 2 : v < 10 ? 1 : 0, v);
	return out;
}

char *format_seconds(char *out, double v)
{
	if (!isfinite(v) || v < 0)
		return dash(out);
	if (v < 60)
		snprintf(out, FIGURE, v < 9.95 ? "%.2g s" : "%.0f s", v < 0.01 ? 0.01 : v);
	else
		snprintf(out, FIGURE, "%d:%02d min", (int)(v / 60), (int)v % 60);
	return out;
}

char *format_date(char *out, double v)
{
	struct tm tm;
	time_t t = (time_t)v;
	if (!(v > 0) || !localtime_r(&t, &tm) || !strftime(out, FIGURE, "%Y-%m-%d %H:%M", &tm))
		return dash(out);
	return out;
}
