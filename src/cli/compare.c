// qtui compare: two sessions or analyses, or two models on the same samples:
// what differs, node by node, and what it bought.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/compare.h"
#include "qtui/analysis/report.h"
#include "qtui/analysis/task.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "verbs.h"

enum { SHOWN = 10, DECISIONS = 40, CELL = 32 };

// ---- what is compared

static enum status analyse_session(cJSON **out, const char *path, const struct options *o, struct error *err)
{
	struct study *st = NULL;
	struct session *se = NULL;
	struct options own = {.session = path, .quiet = o->quiet, .study = o->study};
	own.study.batch = true;
	enum status status = open_study(&st, &se, &own, err);
	if (status == STATUS_OK)
		status = run_study(st, o->quiet, err);
	if (status == STATUS_OK) {
		struct snapshot *s = study_snapshot(st);
		*out = report_json(st, s);
		snapshot_drop(&s);
	}
	study_close(&st);
	session_free(&se);
	return status;
}

static enum status read_analysis(cJSON **out, const char *path, const struct options *o, struct error *err)
{
	cJSON *root = NULL;
	enum status st = json_read(&root, path, err);
	if (st != STATUS_OK)
		return st;
	if (cJSON_GetObjectItemCaseSensitive(root, "qtui_session")) {
		cJSON_Delete(root);
		return analyse_session(out, path, o, err);
	}
	if (cJSON_GetObjectItemCaseSensitive(root, "qtui")) {
		*out = root;
		return STATUS_OK;
	}
	cJSON_Delete(root);
	return error_set(err, STATUS_FORMAT, "%s: neither a session nor an analysis (qtui analyze --json): nothing to compare", path);
}

static enum status compare_files(cJSON **out, const struct options *o, struct error *err)
{
	cJSON *side[2] = {NULL, NULL};
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < 2; i++)
		st = read_analysis(&side[i], o->positional.at[i], o, err);
	if (st == STATUS_OK)
		*out = compare_analyses(side[0], side[1]);
	cJSON_Delete(side[0]);
	cJSON_Delete(side[1]);
	return st;
}

struct models {
	struct compare_models in;
	cJSON *out;
	atomic_int done;
	atomic_bool cancel;
};

static enum status run_models(void *arg, struct error *err)
{
	struct models *m = arg;
	return compare_models(&m->out, &m->in, &m->done, &m->cancel, err);
}

// The first model is opened as a study is, so that samples and preprocessing mean the same as everywhere.
static enum status compare_networks(cJSON **out, struct options *o, struct error *err)
{
	struct study *st = NULL;
	struct session *se = NULL;
	struct graph *b = NULL;
	struct models m = {0};
	const char *second = o->positional.at[1];
	o->positional.n -= 1;
	o->positional.at[1] = o->positional.n > 1 ? o->positional.at[2] : NULL;
	enum status status = open_study(&st, &se, o, err);
	if (status == STATUS_OK)
		status = study_load(&b, st, second, true, err);
	if (status == STATUS_OK)
		status = graph_fits(b, 1, err);
	if (status == STATUS_OK) {
		const struct study_options *so = study_options(st);
		m.in = (struct compare_models){.a = study_graph(st), .b = b, .d = study_dataset(st),
		    .engine = {.backend = so->backend, .threads = so->threads, .memory = so->memory}};
		const struct watch work = {run_models, &m, "comparing", &m.done, dataset_count(m.in.d), &m.cancel, .quiet = o->quiet};
		status = run_watched(&work, err);
	}
	*out = m.out;
	session_free(&se);
	study_close(&st);
	graph_free(&b);
	return status;
}

// ---- the table

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
		snprintf(scale_part, sizeof scale_part, "%s%s ", scale_text(text, first->valuedouble, 5), cJSON_GetArraySize(scale) > 1 ? " ..." : "");
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
		printf("\n%d node%s with another precision, scale or zero point (. as in the other):\n  %-*s%-*s%s\n", n, plural(n), CELL, "A", CELL, "B", "node");
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

static int by_gain(const void *a, const void *b)
{
	double x = fabs(json_number(*(const cJSON *const *)a, "gain_db", 0)), y = fabs(json_number(*(const cJSON *const *)b, "gain_db", 0));
	return (x < y) - (x > y);
}

static void print_gains(const cJSON *nodes)
{
	int n = 0;
	const cJSON *row, **order = xcalloc((size_t)cJSON_GetArraySize(nodes) + 1, sizeof *order);
	cJSON_ArrayForEach(row, nodes)
		if (member(row, "gain_db"))
			order[n++] = row;
	qsort(order, (size_t)n, sizeof *order, by_gain);
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
		printf("\nThe nodes whose own noise changed most (SNR of each alone; what reads them inherits it):\n%9s%9s%9s  node\n", "A", "B", "gain");
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

static void print_comparison(const cJSON *j, const char *const *path)
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

static int by_snr(const void *a, const void *b)
{
	double x = json_number(*(const cJSON *const *)a, "snr_db", INFINITY), y = json_number(*(const cJSON *const *)b, "snr_db", INFINITY);
	return (x > y) - (x < y);
}

static void print_distance(const cJSON *row)
{
	double snr = json_number(row, "snr_db", NAN);
	if (isfinite(snr))
		say("%9.2f%9.4f  %s\n", snr, json_number(row, "cosine", NAN), json_text(row, "tensor", ""));
	else
		say("%9s%9s  %s\n", json_bool(row, "exact", false) ? "exact" : "-", "", json_text(row, "tensor", ""));
}

static void print_models(const cJSON *j, const char *const *path)
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
	printf("%d sample%s, %d tensors of the same name\n\n%9s%9s  output: B against A (SNR in dB, higher is better)\n", samples,
	    plural(samples), n, "SNR dB", "cosine");
	cJSON_ArrayForEach(row, member(j, "outputs"))
		print_distance(row);
	printf("%s", n && !json_bool(order[0], "exact", false) ? "\nThe tensors that differ most:\n" : "\nNo tensor differs.\n");
	for (int i = 0; i < n && i < SHOWN && !json_bool(order[i], "exact", false); i++)
		print_distance(order[i]);
	free(order);
}

// ---- the verb

// Two files of figures and decisions, or two models?
static enum status is_figures(bool *files, const char *const path[2], struct error *err)
{
	bool json[2] = {false};
	for (int i = 0; i < 2; i++)
		if (json_is_file(&json[i], path[i], err) != STATUS_OK)
			return err->status;
	*files = json[0];
	return json[0] == json[1] ? STATUS_OK : error_set(err, STATUS_USAGE,
	    "%s is a model, the other is not: compare two sessions or analyses, or two models", path[json[0]]);
}

static enum status compare(struct options *o, struct error *err)
{
	const char *path[2];
	cJSON *j = NULL;
	bool files = false;
	if (o->positional.n < 2)
		return error_set(err, STATUS_USAGE, "two files are needed: sessions, analyses (qtui analyze --json), or models");
	memcpy(path, o->positional.at, sizeof path);
	if (is_figures(&files, path, err) != STATUS_OK)
		return err->status;
	if (files && o->positional.n > 2)
		return error_set(err, STATUS_USAGE, "unexpected argument %s", o->positional.at[2]);
	enum status st = check_output(o->json, err);
	if (st == STATUS_OK)
		st = files ? compare_files(&j, o, err) : compare_networks(&j, o, err);
	if (st == STATUS_OK && o->json)
		st = json_write(j, o->json, false, err);
	else if (st == STATUS_OK)
		(files ? print_comparison : print_models)(j, path);
	cJSON_Delete(j);
	return st;
}

int verb_compare(struct options *o)
{
	struct error err = {0};
	return compare(o, &err) == STATUS_OK ? EXIT_DONE : fail(&err);
}
