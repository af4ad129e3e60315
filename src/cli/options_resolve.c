// What the texts of options say: numbers, names, files that are there, results that lie apart.
#include <string.h>
#include "config.h"
#include "qtui/analysis/preprocess.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/cli/options.h"
#include "shapes.h"

static enum status read_channels(float out[4], bool *set, const char *option, const char *text, bool divides, struct error *err)
{
	if (!text)
		return STATUS_OK;
	*set = true;
	return channels_parse(out, text, divides, err) == STATUS_OK ? STATUS_OK : error_set(err, STATUS_USAGE, "%s %s", option, err->text);
}

static enum status resolve_numbers(struct options *o, struct error *err)
{
	static const long long most = 1000000000;
	long long samples = 0, threads = 0, seed = 0;
	const struct {
		const char *option, *text;
		long long least, *out;
	} number[] = {{"samples", o->samples, 1, &samples}, {"threads", o->threads, 1, &threads}, {"seed", o->seed, 0, &seed}};
	for (size_t i = 0; i < sizeof number / sizeof *number; i++)
		if (number[i].text &&
		    (!str_to_int(number[i].text, number[i].out) || *number[i].out < number[i].least || *number[i].out > most))
			return error_set(err, STATUS_USAGE, "--%s %s: a whole number from %lld to %lld is needed", number[i].option, number[i].text,
			    number[i].least, most);
	o->study.data.samples = (int)samples;
	o->study.threads = threads > 512 ? 512 : (int)threads;
	o->study.data.seed = (uint64_t)seed;
	o->study.data.seed_set = o->seed != NULL;
	if (o->memory && (!str_to_size(o->memory, &o->study.memory) || o->study.memory == 0))
		return error_set(err, STATUS_USAGE, "--memory %s: a size like 512M or 2G is needed", o->memory);
	return STATUS_OK;
}

// "NODE=METHOD" is an edit.
static void take_method(struct options *o)
{
	for (int i = 0; i < o->calibration.n; i++)
		if (!strchr(o->calibration.at[i], '='))
			o->method = o->calibration.at[i];
}

static enum status resolve_names(struct options *o, struct error *err)
{
	struct preprocess *p = &o->study.data.pre;
	enum calib_method m;
	o->study.method = -1;
	if (o->method) {
		if (!calib_parse(&m, o->method))
			return error_set(err, STATUS_USAGE, "--calibration %s: minmax, percentile, kl or mse", o->method);
		o->study.method = (int)m;
	}
	if (o->backend && !backend_parse(&o->study.backend, o->backend))
		return error_set(err, STATUS_USAGE, "--backend %s: onednn, blas or ref", o->backend);
	if (o->color) {
		p->color_set = true;
		p->bgr = strcmp(o->color, "bgr") == 0;
		if (!p->bgr && strcmp(o->color, "rgb") != 0)
			return error_set(err, STATUS_USAGE, "--color %s: rgb or bgr", o->color);
	}
	if (o->resize && !(p->resize_set = resize_parse(p, o->resize)))
		return error_set(err, STATUS_USAGE, "--resize %s: " RESIZE_SYNTAX, o->resize);
	return STATUS_OK;
}

// They are read behind the run, which may take minutes.
static enum status check_data(const struct options *o, struct error *err)
{
	const struct {
		const char *option, *path;
	} needed[] = {{"--eval", o->eval}, {"--labels", o->labels}, {"--calib", o->calib}};
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (needed[i].path && !file_exists(needed[i].path))
			return error_set(err, STATUS_NOTFOUND, "%s %s: there is no such file or directory", needed[i].option, needed[i].path);
	return STATUS_OK;
}

// A program of the user's stands in for what these options say.
static enum status check_programs(const struct options *o, enum task_kind kind, struct error *err)
{
	static const char boxes[] = "a program of your own reads the boxes, for --task detect";
	static const char scorer[] = "the scorer finds what is right by itself";
	const struct {
		const char *program, *given, *option, *beside, *why;
	} rule[] = {
	    {"--boxes", o->boxes, "--decoder", o->decoder, boxes},
	    {"--boxes", o->boxes, "--scorer", o->scorer, boxes},
	    {"--boxes", o->boxes, "--task", kind == TASK_DETECT ? NULL : o->task, boxes},
	    {"--scorer", o->scorer, "--labels", o->labels, scorer},
	    {"--scorer", o->scorer, "--decoder", o->decoder, scorer},
	    {"--scorer", o->scorer, "--nms", o->nms, scorer},
	    {"--scorer", o->scorer, "--task", kind == TASK_SCORE ? NULL : o->task, scorer},
	};
	for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
		if (rule[i].given && rule[i].beside)
			return error_set(err, STATUS_USAGE, "%s and %s exclude each other: %s", rule[i].program, rule[i].option, rule[i].why);
	if (kind == TASK_SCORE && !o->scorer)
		return error_set(err, STATUS_USAGE, "--task score: --scorer COMMAND says which program gives the score");
	return STATUS_OK;
}

static enum status resolve_task(struct options *o, struct error *err)
{
	struct task_wish *w = &o->study.task;
	enum task_kind kind = TASK_KINDS;
	*w = (struct task_wish){.data = o->eval, .labels = o->labels, .decoder = o->decoder, .kind = o->task, .scorer = o->scorer,
	    .boxes_by = o->boxes};
	if (check_data(o, err) != STATUS_OK)
		return err->status;
	if (o->task && !task_kind_parse(&kind, o->task))
		return task_kind_unknown("--task", o->task, err);
	if (check_programs(o, kind, err) != STATUS_OK)
		return err->status;
	if (o->scorer)
		w->kind = NULL; // which the scorer says; a session keeps a kind and starts no program
	if (o->decoder && task_decoder_check(o->decoder, err) != STATUS_OK)
		return err->status = STATUS_USAGE;
	if (o->nms && strcmp(o->nms, "none") == 0)
		w->iou = -1;
	else if (o->nms && (!str_to_double(o->nms, &w->iou) || w->iou <= 0 || w->iou > 1))
		return error_set(err, STATUS_USAGE, "--nms %s: a number above 0 and up to 1, or none", o->nms);
	return STATUS_OK;
}

// Of two results in one file, or on standard output, one would be lost or both.
static enum status check_results_apart(const struct options *o, struct error *err)
{
	const struct {
		const char *option, *path;
	} result[] = {{"--json", o->json}, {"--report", o->report}, {"-o", o->output}};
	for (size_t i = 0; i < sizeof result / sizeof *result; i++)
		for (size_t k = 0; k < i; k++)
			if (result[i].path && result[k].path && file_is_same(result[i].path, result[k].path))
				return error_set(err, STATUS_USAGE, "%s and %s are both to be written to %s", result[k].option, result[i].option,
				    result[i].path);
	return STATUS_OK;
}

// A decision that is read is a file that somebody wrote. (Models and samples are kept by file_keep.)
// What export writes is a decision, too: a table may be brought up to date in its place.
static enum status check_decisions_stay(const struct options *o, unsigned verb, struct error *err)
{
	const char *const result[] = {o->json, o->report, verb == VERB_EXPORT ? NULL : o->output};
	const char *const read[] = {o->config, o->target, o->theme, o->script};
	enum { N_READ = sizeof read / sizeof *read };
	for (size_t i = 0; i < sizeof result / sizeof *result; i++)
		for (int k = 0; result[i] && k < N_READ + o->import.n; k++) {
			const char *path = k < N_READ ? read[k] : o->import.at[k - N_READ];
			if (path && file_exists(path) && !file_is_dir(path) && file_is_same(path, result[i]))
				return error_set(err, STATUS_USAGE, "%s is read here and is not written over: give another name", result[i]);
		}
	return STATUS_OK;
}

bool options_take_stdout(const struct options *o)
{
	const char *const result[] = {o->json, o->report, o->output, o->session};
	for (size_t i = 0; i < sizeof result / sizeof *result; i++)
		if (result[i] && strcmp(result[i], "-") == 0)
			return true;
	return false;
}

enum status options_resolve(struct options *o, unsigned verb, struct error *err)
{
	struct preprocess *p = &o->study.data.pre;
	take_method(o);
	enum status st = shapes_read(o, err);
	if (st == STATUS_OK && o->config)
		st = config_read(o, verb, err);
	if (st == STATUS_OK)
		st = resolve_names(o, err);
	if (st == STATUS_OK)
		st = resolve_numbers(o, err);
	if (st == STATUS_OK)
		st = resolve_task(o, err);
	if (st == STATUS_OK)
		st = read_channels(p->mean, &p->mean_set, "--mean", o->mean, false, err);
	if (st == STATUS_OK)
		st = read_channels(p->std, &p->std_set, "--std", o->std, true, err);
	if (st == STATUS_OK)
		st = check_results_apart(o, err);
	if (st == STATUS_OK)
		st = check_decisions_stay(o, verb, err);
	o->study.data.random = o->random;
	o->study.target = o->target;
	o->study.truncate = o->truncate.at;
	o->study.n_truncate = o->truncate.n;
	return st;
}
