// What qtui compare says for people.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compare_print.h"
#include "qtui/analysis/task.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "verbs.h"

enum { SHOWN = 10, DECISIONS = 40, CELL = 32 };

static const cJSON *member(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static void cell_snr(char *out, size_t size, const cJSON *row, const char *side)
{
	const cJSON *v = member(member(row, "snr_db"), side);
	if (cJSON_IsNumber(v))
		snprintf(out, size, "%.2f", v->valuedouble);
	else
		snprintf(out, size, "%s", strcmp(json_text(row, "exact", ""), side) == 0 ? "exact" : "-");
}

static void print_snr_row(const cJSON *row, const char *name)
{
	char a[CELL], b[CELL];
	double gain = json_number(row, "gain_db", NAN);
	cell_snr(a, sizeof a, row, "a");
	cell_snr(b, sizeof b, row, "b");
	if (isfinite(gain))
		say("%9s%9s%+9.2f  %s\n", a, b, gain, name);
	else
		say("%9s%9s%9s  %s\n", a, b, "-", name);
}

// A row of a further output goes by the tensor's name.
static const char *row_name(const cJSON *row)
{
	return json_text(row, "tensor", json_text(row, "name", ""));
}

// "int16", "2^-4", "zp 12": of a row's differences those of one side that are decided; "." : it has what the other lacks.
static void add_side(char *out, size_t size, const cJSON *row, const char *side)
{
	const cJSON *precision = member(member(row, "precision"), side), *scale = member(member(row, "scale"), side);
	const cJSON *first = cJSON_GetArrayItem(scale, 0), *zero = cJSON_GetArrayItem(member(member(row, "zero_point"), side), 0);
	char text[SCALE_TEXT], scale_part[SCALE_TEXT + 8] = "", zero_part[24] = "";
	if (cJSON_IsNumber(first))
		snprintf(scale_part, sizeof scale_part, "%s%s ", scale_text(text, first->valuedouble, 5),
		    cJSON_GetArraySize(scale) > 1 ? " ..." : "");
	if (cJSON_IsNumber(zero))
		snprintf(zero_part, sizeof zero_part, "zp %.0f ", zero->valuedouble);
	const char *name = cJSON_IsString(precision) ? precision->valuestring : "";
	int used = snprintf(out, size, "%s%s%s%s", name, name[0] ? " " : "", scale_part, zero_part);
	if (used == 0)
		snprintf(out, size, "%s", strcmp(json_text(row, "only_in", side), side) == 0 ? "." : "-");
	else if ((size_t)used < size)
		out[used - 1] = 0;
}

static bool is_decision(const cJSON *row)
{
	static const char *const key[] = {"precision", "scale", "zero_point", "requested", "calibration", "only_in"};
	for (size_t i = 0; i < sizeof key / sizeof *key; i++)
		if (member(row, key[i]))
			return true;
	return false;
}

static void print_decisions(const cJSON *nodes)
{
	const cJSON *row;
	int n = 0, shown = 0;
	cJSON_ArrayForEach(row, nodes)
		n += is_decision(row);
	if (n)
		printf("\n%d node%s with another precision, scale or zero point (. as in the other):\n  %-*s%-*s%s\n", n, plural(n), CELL, "A",
		    CELL, "B", "node");
	else
		printf("\nNo node has another precision, scale or zero point.\n");
	cJSON_ArrayForEach(row, nodes)
	{
		char a[CELL], b[CELL];
		if (!is_decision(row) || shown++ >= DECISIONS)
			continue;
		add_side(a, sizeof a, row, "a");
		add_side(b, sizeof b, row, "b");
		say("  %-*s%-*s%s\n", CELL, a, CELL, b, row_name(row));
	}
	if (n > DECISIONS)
		printf("  and %d more; --json has all\n", n - DECISIONS);
}

// Where one side is exact no difference is greater; NAN: there is none.
static double change_of(const cJSON *row)
{
	return member(row, "exact") ? INFINITY : fabs(json_number(row, "gain_db", NAN));
}

static int by_change(const void *a, const void *b)
{
	double x = change_of(*(const cJSON *const *)a), y = change_of(*(const cJSON *const *)b);
	return (x < y) - (x > y);
}

static void print_gains(const cJSON *nodes)
{
	int n = 0;
	const cJSON *row, **order = xcalloc((size_t)cJSON_GetArraySize(nodes) + 1, sizeof *order);
	cJSON_ArrayForEach(row, nodes)
		if (!isnan(change_of(row)))
			order[n++] = row;
	qsort(order, (size_t)n, sizeof *order, by_change);
	if (n)
		printf("\nThe nodes that gained or lost most (graphwise SNR in dB, higher is better):\n%9s%9s%9s  node\n", "A", "B", "gain");
	for (int i = 0; i < n && i < SHOWN; i++)
		print_snr_row(order[i], row_name(order[i]));
	free(order);
}

// Noise over signal that the node makes by itself; decibels would bring forward what is far from mattering.
static double own_noise(const cJSON *row, const char *side)
{
	return pow(10, -json_number(member(row, "layerwise_snr_db"), side, NAN) / 10);
}

static double own_change(const cJSON *row)
{
	double change = own_noise(row, "b") - own_noise(row, "a");
	return isfinite(change) ? change : 0;
}

static int by_own_change(const void *a, const void *b)
{
	double x = fabs(own_change(*(const cJSON *const *)a)), y = fabs(own_change(*(const cJSON *const *)b));
	return (x < y) - (x > y);
}

static void print_own(const cJSON *row)
{
	char a[CELL], b[CELL], decided[2 * CELL + 16] = "";
	double x = json_number(member(row, "layerwise_snr_db"), "a", NAN), y = json_number(member(row, "layerwise_snr_db"), "b", NAN);
	add_side(a, sizeof a, row, "a");
	add_side(b, sizeof b, row, "b");
	if (is_decision(row))
		snprintf(decided, sizeof decided, ": %s -> %s", a, b);
	say("%9.2f%9.2f%+9.2f  %s%s\n", x, y, y - x, row_name(row), decided);
}

// Where the difference comes from: graphwise figures fall at a node and at all that read it.
static void print_causes(const cJSON *nodes)
{
	int n = 0;
	const cJSON *row, **order = xcalloc((size_t)cJSON_GetArraySize(nodes) + 1, sizeof *order);
	cJSON_ArrayForEach(row, nodes)
		if (own_change(row) != 0)
			order[n++] = row;
	qsort(order, (size_t)n, sizeof *order, by_own_change);
	if (n)
		printf("\nThe nodes whose own noise changed most (SNR of each alone; what reads them inherits it):\n%9s%9s%9s  node\n", "A", "B",
		    "gain");
	for (int i = 0; i < n && i < SHOWN; i++)
		print_own(order[i]);
	free(order);
}

static void print_task(const cJSON *task)
{
	const cJSON *a = member(member(task, "a"), "quantized"), *b = member(member(task, "b"), "quantized");
	const char *name = a && a->child ? a->child->string : NULL;
	double x = name ? json_number(a, name, NAN) : NAN, y = name ? json_number(b, name, NAN) : NAN;
	int digits = name ? task_decimals(name, 4) : 0;
	if (isfinite(x) && isfinite(y))
		printf("%9.*f%9.*f%+9.*f  %s\n", digits, x, digits, y, digits, y - x, task_word(name));
}

static double wide_share(const cJSON *macs)
{
	double narrow = json_number(macs, "int8", 0), wide = json_number(macs, "int16", 0) + json_number(macs, "float", 0);
	return 100 * wide / (narrow + wide);
}

static void print_macs(const cJSON *macs)
{
	double x = wide_share(member(macs, "a")), y = wide_share(member(macs, "b"));
	if (isfinite(x) && isfinite(y))
		printf("%9.1f%9.1f%+9.1f  %% of the MACs above 8 bit\n", x, y, y - x);
}

static void print_side(const char *letter, const char *path, const cJSON *side)
{
	const char *target = json_text(side, "target", NULL);
	say("%s  %s", letter, path);
	int samples = (int)json_number(side, "samples", 0);
	if (target)
		say(": %s, %s, %d sample%s", target, json_text(side, "calibration", ""), samples, plural(samples));
	printf("\n");
}

void compare_print_comparison(const cJSON *j, const char *const *path)
{
	const cJSON *row, *nodes = member(j, "nodes");
	print_side("A", path[0], member(j, "a"));
	print_side("B", path[1], member(j, "b"));
	printf("\n%9s%9s%9s  output (graphwise SNR in dB, higher is better)\n", "A", "B", "gain");
	cJSON_ArrayForEach(row, member(j, "outputs"))
		print_snr_row(row, json_text(row, "tensor", ""));
	print_task(member(j, "task"));
	print_macs(member(j, "macs"));
	print_decisions(nodes);
	print_causes(nodes);
	print_gains(nodes);
}

// What differs and has no SNR (NaN or infinity is in one of the two, or A is nothing but zeros) is the worst.
static double snr_of(const cJSON *row)
{
	return json_bool(row, "exact", false) ? INFINITY : json_number(row, "snr_db", -INFINITY);
}

static int by_snr(const void *a, const void *b)
{
	double x = snr_of(*(const cJSON *const *)a), y = snr_of(*(const cJSON *const *)b);
	return (x > y) - (x < y);
}

// SNR and cosine, which a tensor of zeros has not.
static void print_likeness(const cJSON *row)
{
	double snr = json_number(row, "snr_db", NAN), cosine = json_number(row, "cosine", NAN);
	bool exact = json_bool(row, "exact", false);
	if (isfinite(snr))
		printf("%9.2f", snr);
	else
		printf("%9s", exact ? "exact" : "-");
	if (isfinite(cosine) && !exact)
		printf("%9.4f", cosine);
	else
		printf("%9s", exact ? "" : "-");
}

// Behind a name: why there is no SNR. Of finite numbers there is an MSE, and then A has nothing to compare with.
static const char *why_no_snr(const cJSON *row)
{
	if (json_bool(row, "exact", false) || member(row, "snr_db"))
		return "";
	return member(row, "mse") ? "  (A is all zeros)" : "  (NaN or infinite in A or B)";
}

static void print_distance(const cJSON *row)
{
	print_likeness(row);
	say("  %s%s\n", json_text(row, "tensor", ""), why_no_snr(row));
}

void compare_print_models(const cJSON *j, const char *const *path)
{
	const cJSON *row, *tensors = member(j, "tensors"), **order;
	int n = 0;
	order = xcalloc((size_t)cJSON_GetArraySize(tensors) + 1, sizeof *order);
	cJSON_ArrayForEach(row, tensors)
		order[n++] = row;
	qsort(order, (size_t)n, sizeof *order, by_snr);
	say("A  %s\n", path[0]);
	say("B  %s\n", path[1]);
	int samples = (int)json_number(j, "samples", 0);
	printf("%d sample%s, %d tensor%s of the same name\n\n%9s%9s  output: B against A (SNR in dB, higher is better)\n", samples,
	    plural(samples), n, plural(n), "SNR dB", "cosine");
	cJSON_ArrayForEach(row, member(j, "outputs"))
		print_distance(row);
	printf("%s", n && !json_bool(order[0], "exact", false) ? "\nThe tensors that differ most:\n" : "\nNo tensor differs.\n");
	for (int i = 0; i < n && i < SHOWN && !json_bool(order[i], "exact", false); i++)
		print_distance(order[i]);
	free(order);
}

// "mean" and "worst" of a figure, where any file has it.
static void print_figure(const cJSON *j, const char *key, const char *name, int digits, bool high_is_good)
{
	const cJSON *row;
	double worst = NAN, mean = json_number(member(j, "mean"), key, NAN);
	cJSON_ArrayForEach(row, member(j, "files"))
	{
		double v = json_number(row, key, NAN);
		if (!isnan(v) && (isnan(worst) || (high_is_good ? v < worst : v > worst)))
			worst = v;
	}
	if (!isnan(mean))
		printf("%12.*f%12.*f  %s\n", digits, mean, digits, worst, name);
}

static void print_problems(const cJSON *files)
{
	const cJSON *row;
	int n = 0;
	cJSON_ArrayForEach(row, files)
	{
		const char *problem = json_text(row, "problem", NULL), *layout = json_text(row, "layout", NULL);
		n += problem || layout;
		if (problem && n <= SHOWN)
			say("not compared: %s\n", problem);
		if (layout && n <= SHOWN)
			say("%s: %s\n", json_text(row, "file", ""), layout);
	}
	if (n > SHOWN)
		printf("and %d more, which --json has\n", n - SHOWN);
}

static void print_file(const cJSON *row)
{
	print_likeness(row);
	double most = json_number(row, "max_error", NAN);
	if (isfinite(most))
		printf("%12.4g", most);
	else
		printf("%12s", "-");
	say("  %s%s\n", json_text(row, "file", ""), why_no_snr(row));
}

void compare_print_collections(const cJSON *j, const char *const *path)
{
	const cJSON *row, *files = member(j, "files"), **order;
	int n = 0, exact = 0, only[2] = {cJSON_GetArraySize(member(j, "only_in_a")), cJSON_GetArraySize(member(j, "only_in_b"))};
	order = xcalloc((size_t)cJSON_GetArraySize(files) + 1, sizeof *order);
	cJSON_ArrayForEach(row, files)
	{
		exact += json_bool(row, "exact", false);
		if (!json_bool(row, "exact", false) && !json_text(row, "problem", NULL))
			order[n++] = row;
	}
	qsort(order, (size_t)n, sizeof *order, by_snr);
	say("A  %s: %d more\n", path[0], only[0]);
	say("B  %s: %d more\n", path[1], only[1]);
	printf("%d of the same name, %d exactly the same\n\n%12s%12s  B against A\n", cJSON_GetArraySize(files), exact, "mean", "worst");
	print_figure(j, "snr_db", "SNR dB (of those that differ)", 2, true);
	print_figure(j, "cosine", "cosine", 4, true);
	print_figure(j, "l2", "L2 distance", 4, false);
	print_figure(j, "psnr_db", "PSNR dB", 2, true);
	print_figure(j, "ssim", "SSIM", 4, true);
	if (n)
		printf("\n%9s%9s%12s  those that differ most\n", "SNR dB", "cosine", "max error");
	for (int i = 0; i < n && i < SHOWN; i++)
		print_file(order[i]);
	print_problems(files);
	free(order);
}
