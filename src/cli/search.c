// qtui search: the guided repair in batch: ranks what does the damage, tries remedies, keeps what pays,
// writes the session. qtui tune: the one of them that fits weights, node by node, and the float model that comes of it.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/cost.h"
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/repair.h"
#include "qtui/analysis/report.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/base/thread.h"
#include "qtui/engine/onnx.h"
#include "search_print.h"
#include "verbs.h"

struct search {
	struct options *o;
	struct study *study;
	struct session *session;
	struct repair_task *task;
	struct repair *repair;
	struct repair_options opt;
	bool tune;
	struct blames *blames;
	cJSON *steps;
	char **kept;               // [n_kept] of every remedy the text of a step
	int n_kept;
	size_t cap_kept;
	struct frontier *looked;   // newer than the study's, as the next; NULL: none is
	struct blames *blamed;
	char stage[240];           // under way
	pthread_mutex_t lock;      // of what the worker tells: from `kept` to `stage`
	int n_applied;             // of the remedies that are kept: the study has them
	double saved, saving;      // when the session was saved last, and how long that took, in seconds
	bool warned;               // that it could not be
	atomic_bool cancel;
	atomic_int done;           // thousandths of the stage under way
};

// ---- the work

static void print_figures(const struct search *s, const struct repair_figures *f)
{
	char time[COST_TIME];
	printf("damage %.4f", f->damage);
	if (isfinite(f->snr_db))
		printf("  SNR %.2f dB", f->snr_db);
	if (!isnan(f->score))
		printf("  %s %.*f", task_word(s->opt.score_name), task_decimals(s->opt.score_name, 4), f->score);
	printf("  above 8 bit %.1f %% of the MACs", 100 * f->wide);
	if (!isnan(f->us))
		printf("  %s", cost_time(time, f->us));
}

// What is kept becomes one step of the study's history.
static void keep(struct search *s, const struct repair_step *step)
{
	struct str text = {0};
	for (int i = 0; i < step->n_commands; i++)
		study_add_command(&text, step->command[i]);
	pthread_mutex_lock(&s->lock);
	s->kept = xgrow(s->kept, &s->cap_kept, (size_t)s->n_kept + 1, sizeof *s->kept);
	s->kept[s->n_kept++] = str_detach(&text);
	pthread_mutex_unlock(&s->lock);
}

static void on_looked(void *arg, struct frontier *f)
{
	struct search *s = arg;
	pthread_mutex_lock(&s->lock);
	struct frontier *old = s->looked;
	s->looked = f;
	pthread_mutex_unlock(&s->lock);
	frontier_drop(&old);
}

static void on_blamed(void *arg, struct blames *b)
{
	struct search *s = arg;
	pthread_mutex_lock(&s->lock);
	struct blames *old = s->blamed;
	s->blamed = b;
	pthread_mutex_unlock(&s->lock);
	blames_drop(&old);
}

static void on_step(void *arg, const struct repair_step *step)
{
	struct search *s = arg;
	cJSON *o = cJSON_CreateObject();
	json_add_text(o, "kind", repair_kind_name(step->kind));
	cJSON *commands = cJSON_AddArrayToObject(o, "commands");
	for (int i = 0; i < step->n_commands; i++)
		cJSON_AddItemToArray(commands, cJSON_CreateString(step->command[i]));
	json_add_text(o, "reason", step->reason);
	cJSON_AddBoolToObject(o, "kept", step->kept);
	json_add_number(o, "expected", step->expected);
	cJSON_AddItemToObject(o, "before", repair_figures_json(&step->before));
	cJSON_AddItemToObject(o, "after", repair_figures_json(&step->after));
	cJSON_AddItemToArray(s->steps, o);
	if (step->kept)
		keep(s, step);
	if (options_take_stdout(s->o))
		return;
	lines_begin();
	printf("%s %-11s ", step->kept ? "kept  " : "undone", repair_kind_name(step->kind));
	print_figures(s, &step->after);
	puts("");
	say("       %s\n", step->reason);
	for (int i = 0; i < step->n_commands; i++)
		say("       %.200s%s\n", step->command[i], strlen(step->command[i]) > 200 ? " ..." : "");
	lines_end();
}

static void on_tell(void *arg, const char *text, double progress)
{
	struct search *s = arg;
	pthread_mutex_lock(&s->lock);
	snprintf(s->stage, sizeof s->stage, "%s", text);
	pthread_mutex_unlock(&s->lock);
	atomic_store(&s->done, (int)(progress * 1000));
}

static void stage_under_way(void *arg, char *out, size_t size)
{
	struct search *s = arg;
	pthread_mutex_lock(&s->lock);
	snprintf(out, size, "%s", s->stage);
	pthread_mutex_unlock(&s->lock);
}

static enum status work(void *arg, struct error *err)
{
	struct search *s = arg;
	enum status st = repair_open(&s->repair, s->study, &s->opt, err);
	if (st == STATUS_OK)
		st = repair_prepare(s->repair, err);
	if (st == STATUS_OK && s->o->blame) {
		st = repair_blame(s->repair, &s->blames, err);
		if (s->blames)
			on_blamed(s, blames_take(s->blames));
		return st;
	}
	if (st == STATUS_OK && !options_take_stdout(s->o)) {
		lines_begin();
		puts("damage: how far the result is from the float network's, 0 the same, 1 unlike it (docs/REPAIR.md)");
		printf("begin              ");
		print_figures(s, repair_begin(s->repair));
		puts("");
		lines_end();
	}
	if (st == STATUS_OK)
		st = (s->tune ? repair_tune : repair_fix)(s->repair, on_step, s, err);
	return st;
}

// Where a search spends time on a board, how much of that is measured at the width that it may widen to.
static void print_times(const struct search *s)
{
	struct snapshot *snap = study_snapshot(s->study);
	enum precision wide = target_has_precision(study_target(s->study), 16) ? PREC_INT16 : PREC_FLOAT;
	char time[COST_TIME], phrase[COST_PHRASE];
	for (int i = 0; i < 2 && snap->costs->latency; i++) {
		enum precision p = i ? wide : PREC_INT8;
		const struct cost_sum sum = costs_sum_all(snap->costs, p);
		printf("all at %-11s %s: %s\n", precision_name(p), cost_time(time, sum.all), costs_phrase(phrase, &sum));
	}
	snapshot_drop(&snap);
}

// ---- showing

static enum status write_json(struct search *s, struct error *err)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "qtui", 1);
	json_add_text(o, "model", study_graph(s->study)->path);
	json_add_text(o, "target", target_name(study_target(s->study)));
	json_add_number(o, "task_float", repair_float_score(s->repair));
	struct snapshot *snap = study_snapshot(s->study);
	if (snap->costs->latency)
		cJSON_AddItemToObject(o, "latency", latency_json(snap));
	snapshot_drop(&snap);
	cJSON_AddItemToObject(o, "begin", repair_figures_json(repair_begin(s->repair)));
	cJSON_AddItemToObject(o, "end", repair_figures_json(repair_now(s->repair)));
	if (s->blames)
		cJSON_AddItemToObject(o, "blame", blames_json(s->blames, study_graph(s->study)));
	else
		json_add_text(o, "stopped", repair_end(s->repair));
	if (!s->blames)
		cJSON_AddItemToObject(o, "pareto", frontier_json(repair_frontier(s->repair), study_graph(s->study)));
	cJSON_AddItemToObject(o, "steps", cJSON_Duplicate(s->steps, true));
	cJSON_AddItemToObject(o, "tuned", search_print_tuned_json(s->repair, study_graph(s->study)));
	enum status st = json_write(o, s->o->json, false, err);
	cJSON_Delete(o);
	return st;
}

static enum status show(struct search *s, struct error *err)
{
	if (options_take_stdout(s->o))
		return s->o->json ? write_json(s, err) : STATUS_OK;
	if (s->blames) {
		search_print_blames(s->blames, study_graph(s->study));
	} else {
		search_print_tuned(s->repair, study_graph(s->study));
		search_print_frontier(repair_frontier(s->repair), s->opt.score_name);
		printf("end                ");
		print_figures(s, repair_now(s->repair));
		printf("\n%d edit%s kept; %s", s->n_kept, plural(s->n_kept), repair_end(s->repair));
		if (!isnan(repair_float_score(s->repair)))
			printf("; %s of the float network %.*f", task_word(s->opt.score_name), task_decimals(s->opt.score_name, 4),
			    repair_float_score(s->repair));
		puts("");
		if (s->n_kept > 0 && isnan(repair_float_score(s->repair)))
			puts("these figures are of the samples that it chose by; on others: qtui eval MODEL OTHERS --session FILE");
	}
	return s->o->json ? write_json(s, err) : STATUS_OK;
}

// ---- the verb

static enum status write_model(const struct search *s, struct error *err)
{
	const struct tuning *t = repair_tuning(s->repair);
	if (!tuning_count(t))
		return error_set(err, STATUS_REFUSED, "%s is not written, no weights were tuned: %s", s->o->output, repair_end(s->repair));
	return onnx_save_tuned(s->o->output, study_graph(s->study), t, err);
}

static enum status read_options(struct search *s, struct error *err)
{
	const struct options *o = s->o;
	s->opt = (struct repair_options){.goal = repair_goal_default, .cancel = &s->cancel, .tell = on_tell, .tell_arg = s};
	if (o->blame)
		s->opt.blamed = on_blamed;
	else
		s->opt.looked = on_looked;
	for (int i = 0; i < o->until.n; i++) {
		enum status st = repair_goal_parse(&s->opt.goal, o->until.at[i], err);
		if (st != STATUS_OK)
			return error_prefix(err, "--until");
	}
	if (o->budget && !str_to_seconds(o->budget, &s->opt.seconds))
		return error_set(err, STATUS_USAGE, "--budget %s: a time like 90 (seconds), 90s, 2m or 1h is needed", o->budget);
	enum status st = check_output(o->json, err);
	if (st == STATUS_OK)
		st = check_output(o->output, err);
	return st == STATUS_OK ? check_session(o, err) : st;
}

// The next remedy that is kept and that the study does not have; NULL: it has them all.
static const char *next_kept(struct search *s)
{
	pthread_mutex_lock(&s->lock);
	const char *text = s->n_applied < s->n_kept ? s->kept[s->n_applied] : NULL;
	pthread_mutex_unlock(&s->lock);
	return text;
}

// The study gets what the search has found since it got it last; *news: there is something.
static enum status apply(struct search *s, bool *news, struct error *err)
{
	enum status st = STATUS_OK;
	pthread_mutex_lock(&s->lock);
	struct frontier *looked = s->looked;
	struct blames *blamed = s->blamed;
	s->looked = NULL;
	s->blamed = NULL;
	pthread_mutex_unlock(&s->lock);
	*news = looked || blamed;
	if (looked)
		study_set_frontier(s->study, looked);
	if (blamed)
		study_set_blames(s->study, blamed);
	frontier_drop(&looked);
	blames_drop(&blamed);
	for (const char *text; st == STATUS_OK && (text = next_kept(s)); s->n_applied += st == STATUS_OK) {
		st = study_command(s->study, text, err);
		*news = true;
	}
	return st;
}

// What was kept is saved after Ctrl-C, too, and what accuracy costs is, where nothing was kept.
static enum status save(struct search *s, struct error *err)
{
	bool news;
	enum status st = apply(s, &news, err);
	return st == STATUS_OK ? save_session(s->study, s->session, s->o, err) : st;
}

// A search takes hours, and a machine that goes down, or kill -9, shall not take all of them along. No more than a
// twentieth of the time goes into it.
static void save_meanwhile(void *arg)
{
	enum { SHARE = 20 };
	struct search *s = arg;
	struct error err = {0};
	double begin = clock_seconds();
	bool news;
	if (begin < s->saved + SHARE * s->saving)
		return;
	enum status st = apply(s, &news, &err);
	if (st == STATUS_OK && news)
		st = save_session(s->study, s->session, s->o, &err);
	if (st != STATUS_OK && !s->warned)
		log_warn("not saved meanwhile: %s", err.text); // at the end it is tried again, and is an error then
	s->warned |= st != STATUS_OK;
	s->saved = clock_seconds();
	s->saving = s->saved - begin;
}

// `st`: what became of the repair and of the session, with its text in err.
static enum status finish(struct search *s, enum status st, struct error *err)
{
	const struct options *o = s->o;
	bool stopped = atomic_load(&s->cancel);
	struct error of_json = {0}, of_model = {0};
	st = first_failure(st, show(s, &of_json), &of_json, err);
	if (o->output && (!stopped || tuning_count(repair_tuning(s->repair))))
		st = first_failure(st, write_model(s, &of_model), &of_model, err);
	return st == STATUS_OK && stopped ? error_set(err, STATUS_CANCELLED, "cancelled; what was kept until then stands") : st;
}

// The repair, until what it has kept is saved, which it is if it fails, too. *shows: there is something to be shown.
static enum status repair(struct search *s, bool *shows, struct error *err)
{
	const struct options *o = s->o;
	struct error of_session = {0};
	const struct watch watch = {work, s, o->blame ? "blame" : s->tune ? "tune" : "fix", &s->done, 1000, &s->cancel, .quiet = o->quiet,
	    .stage = stage_under_way, .limit = s->opt.seconds, .meanwhile = o->session ? save_meanwhile : NULL};
	interrupts_hold();
	enum status st = run_watched(&watch, err);
	*shows = st == STATUS_OK || s->n_kept;
	if (*shows)
		st = first_failure(st, save(s, &of_session), &of_session, err);
	interrupts_release();
	return st;
}

static enum status run(struct search *s, struct error *err)
{
	struct options *o = s->o;
	o->study.calibrate_only = o->may_start_session = true;
	enum status st = open_study(&s->study, &s->session, o, err);
	if (st == STATUS_OK)
		st = run_study(s->study, o->quiet, err);
	if (st == STATUS_OK)
		st = repair_task_open(&s->task, s->study, &s->cancel, err);
	s->opt.score_name = s->task ? repair_task_name(s->task) : NULL;
	if (st == STATUS_OK && (st = repair_goal_task(&s->opt.goal, s->opt.score_name, err)) != STATUS_OK)
		st = error_prefix(err, s->task ? "--until" : "--until: labels are needed, or a scorer (--labels, --scorer)");
	if (st != STATUS_OK)
		return st;
	s->opt.score = s->task ? repair_task_score : NULL;
	s->opt.score_arg = s->opt.task = s->task;
	if (!options_take_stdout(o))
		print_times(s);
	bool shows;
	st = repair(s, &shows, err);
	return shows ? finish(s, st, err) : st;
}

static int search(struct options *o, bool tune)
{
	struct error err = {0};
	o->repairs = !o->blame;
	struct search s = {.o = o, .tune = tune, .lock = PTHREAD_MUTEX_INITIALIZER, .steps = cJSON_CreateArray()};
	enum status st = read_options(&s, &err);
	if (st == STATUS_OK)
		st = run(&s, &err);
	blames_drop(&s.blames);
	blames_drop(&s.blamed);
	frontier_drop(&s.looked);
	repair_free(&s.repair);
	repair_task_free(&s.task);
	cJSON_Delete(s.steps);
	for (int i = 0; i < s.n_kept; i++)
		free(s.kept[i]);
	free(s.kept);
	study_close(&s.study);
	session_free(&s.session);
	return st == STATUS_OK ? EXIT_DONE : fail(&err);
}

int verb_search(struct options *o)
{
	return search(o, false);
}

int verb_tune(struct options *o)
{
	return search(o, true);
}
