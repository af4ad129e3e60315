// The history of runs: what sessions carry from one sitting to the next,
// what is read of files that are not ours, and its bounds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/history.h"
#include "qtui/analysis/session.h"
#include "qtui/base/json.h"
#include "studies.h"

#define CONV "/model.0/conv/Conv"
#define CLASS_CONV "/model.12/cv3.0/cv3.0.2/Conv"

static struct study *open_with(uint64_t seed)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = "esp32p4", .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.random = 1, .samples = 1, .seed = seed}});
}

static struct study *open_study(void)
{
	return open_with(0);
}

static void set_node(struct study *st, const char *name, int precision)
{
	struct error err = {0};
	int n = graph_find_node(study_graph(st), name);
	assert_int_equal(study_set(st, &n, 1, precision, NULL, &err), STATUS_OK);
}

static void set(struct study *st, int precision)
{
	set_node(st, CONV, precision);
}

static void save(const struct study *st, const char *path)
{
	struct error err = {0};
	if (session_write(st, path, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
}

static enum status apply(struct study *st, const char *path, struct error *err)
{
	struct session *s = NULL;
	enum status status = session_read(&s, path, err);
	if (status == STATUS_OK)
		status = session_apply(s, st, err);
	session_free(&s);
	return status;
}

static void resume(struct study *st, const char *path)
{
	struct error err = {0};
	if (apply(st, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
}

static struct run_record figures(struct study *st, const char *what)
{
	struct error err = {0};
	struct run_record r;
	if (study_figures(&r, st, what, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return r;
}

// Two runs of a first sitting, in a file.
static const char *first_sitting(void)
{
	const char *path = support_temp_file("history.json", "", 0);
	struct study *st = open_study();
	snapshot_drop(&(struct snapshot *){run_study(st)});
	set(st, PREC_INT16);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	save(st, path);
	study_close(&st);
	return path;
}

void test_history__comes_back_as_it_was(void **state)
{
	const char *path = first_sitting();
	struct study *st = open_study();
	resume(st, path);
	set(st, PREC_FLOAT);
	struct snapshot *s = run_study(st);
	assert_int_equal(s->n_runs, 3);
	assert_true(s->run[0].earlier && s->run[1].earlier && !s->run[2].earlier);
	assert_int_equal(s->run[2].number, 3);
	assert_string_equal(s->run[1].title, "set " CONV " int16");
	assert_int_equal(s->run[1].n_edits, 1);
	assert_true(s->run[0].when > 0 && s->run[0].when <= s->run[1].when && s->run[1].when <= s->run[2].when);
	assert_true(isfinite(s->run[0].out_snr_db) && isfinite(s->run[0].mean_snr_db));
	snapshot_drop(&s);
	struct run_record then = figures(st, "1"), now = figures(st, "now");
	int conv = graph_find_node(study_graph(st), CONV);
	assert_int_equal(then.nodes->precision[conv], PREC_INT8);
	assert_int_equal(now.nodes->precision[conv], PREC_FLOAT);
	assert_true(key_equal(then.note.samples, now.note.samples));
	run_record_done(&then);
	run_record_done(&now);
	study_close(&st);
}

void test_history__a_run_has_the_noise_that_a_node_in_float_passes_on(void **state)
{
	struct study *st = open_study();
	set_node(st, CLASS_CONV, PREC_FLOAT);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct run_record now = figures(st, "now");
	int conv = graph_find_node(study_graph(st), CLASS_CONV);
	assert_int_equal(now.nodes->precision[conv], PREC_FLOAT);
	assert_true(isfinite(now.nodes->snr_db[conv]));
	assert_true(now.nodes->scale[conv] == 0);
	run_record_done(&now);
	study_close(&st);
}

void test_history__a_run_behind_several_steps_says_so(void **state)
{
	struct study *st = open_study();
	snapshot_drop(&(struct snapshot *){run_study(st)});
	set(st, PREC_INT16);
	set(st, PREC_FLOAT);
	struct snapshot *s = run_study(st);
	assert_string_equal(s->run[1].title, "2 steps to set " CONV " float");
	snapshot_drop(&s);
	assert_true(undoes(st));
	s = run_study(st);
	assert_string_equal(s->run[2].title, "set " CONV " int16");
	snapshot_drop(&s);
	study_close(&st);
}

// What a step sets stands at its end, and a long one keeps it.
void test_history__a_long_step_has_its_end(void **state)
{
	char *word[] = {"--color", "rgb", "--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375", "--resize", "letterbox"};
	struct error err = {0};
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = 2},
	    .threads = 1, .method = CALIB_MINMAX, .backend = BACKEND_ONEDNN, .target = "esp32p4", .task = {.none = true}});
	snapshot_drop(&(struct snapshot *){run_study(st)});
	if (study_preprocess(st, word, sizeof word / sizeof *word, &err))
		fail_msg("%s", err.text);
	struct snapshot *s = run_study(st);
	const char *title = s->run[s->n_runs - 1].title, *end = strstr(title, " letterbox");
	if (memcmp(title, "preprocess ", 11) || !end || strlen(end) != 10)
		fail_msg("%s", title);
	snapshot_drop(&s);
	study_close(&st);
}

// Nothing was computed: the history has no new line for it, and the sitting goes on from the last one.
void test_history__a_sitting_goes_on_with_the_last_run(void **state)
{
	const char *path = first_sitting();
	struct study *st = open_study();
	resume(st, path);
	struct snapshot *s = run_study(st);
	assert_int_equal(s->n_runs, 2);
	assert_true(s->run[0].earlier && !s->run[1].earlier);
	assert_string_equal(s->run[1].title, "set " CONV " int16");
	snapshot_drop(&s);
	study_close(&st);
}

void test_history__figures_are_those_that_were_saved(void **state)
{
	const char *path = first_sitting();
	struct study *st = open_study();
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct run_record fresh = figures(st, "now");
	resume(st, path);
	struct run_record saved = figures(st, "1");
	for (int i = 0; i < fresh.nodes->n; i++) {
		assert_int_equal(saved.nodes->precision[i], fresh.nodes->precision[i]);
		assert_true(saved.nodes->scale[i] == fresh.nodes->scale[i]);
		assert_true(isfinite(fresh.nodes->snr_db[i]) ? fabsf(saved.nodes->snr_db[i] - fresh.nodes->snr_db[i]) < 0.006F :
		    isnan(saved.nodes->snr_db[i]) == isnan(fresh.nodes->snr_db[i]));
	}
	run_record_done(&fresh);
	run_record_done(&saved);
	study_close(&st);
}

// Opened in the middle of a sitting, twice: its runs come before those of now, and once.
void test_history__a_file_opened_later_comes_before(void **state)
{
	const char *path = first_sitting();
	struct study *st = open_study();
	snapshot_drop(&(struct snapshot *){run_study(st)});
	resume(st, path);
	resume(st, path);
	set(st, PREC_FLOAT);
	struct snapshot *s = run_study(st);
	assert_int_equal(s->n_runs, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(s->run[i].number, i + 1);
		assert_int_equal(s->run[i].earlier, i < 2);
	}
	snapshot_drop(&s);
	study_close(&st);
}

void test_history__other_samples_are_told_apart(void **state)
{
	const char *path = first_sitting();
	struct study *st = open_with(7);
	resume(st, path);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct run_record then = figures(st, "2"), now = figures(st, "now");
	assert_true(key_equal(then.note.decision, now.note.decision));
	assert_false(key_equal(then.note.samples, now.note.samples));
	run_record_done(&then);
	run_record_done(&now);
	study_close(&st);
}

// A variant has the figures of its latest run, in whichever sitting that was.
void test_history__variants_find_theirs(void **state)
{
	const char *path = support_temp_file("variants.json", "", 0);
	struct error err = {0};
	bool made;
	struct study *st = open_study();
	assert_int_equal(study_variant(st, "base", &made, &err), STATUS_OK);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	save(st, path);
	study_close(&st);
	st = open_study();
	resume(st, path);
	struct run_record r = figures(st, "base");
	assert_true(r.note.earlier && r.nodes);
	run_record_done(&r);
	study_close(&st);
}

static enum precision conv_now(const struct study *st)
{
	return (enum precision)study_edits(st)->precision[graph_find_node(study_graph(st), CONV)];
}

static void go_to_run(struct study *st, const char *number)
{
	struct error err = {0};
	bool made = true;
	if (study_variant(st, number, &made, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_false(made);
}

// What was decided in a run of this sitting, or of an earlier one, comes back in one step,
// which a journal can say again.
void test_history__a_run_is_taken_back(void **state)
{
	const char *path = first_sitting(), *again = support_temp_file("again.json", "", 0);
	struct error err = {0};
	struct study *st = open_study();
	int steps, now;
	resume(st, path);
	assert_int_equal(study_set_target(st, "xquant", &err), STATUS_OK);
	set(st, PREC_FLOAT);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	go_to_run(st, "2");
	assert_int_equal(conv_now(st), PREC_INT16);
	assert_string_equal(target_name(study_target(st)), "esp32p4");
	go_to_run(st, "3");
	assert_int_equal(conv_now(st), PREC_FLOAT);
	assert_string_equal(target_name(study_target(st)), "xquant");
	study_steps(st, &steps);
	go_to_run(st, "3"); // as it is
	study_steps(st, &now);
	assert_int_equal(steps, now);
	assert_true(undoes(st));
	assert_int_equal(conv_now(st), PREC_INT16);
	assert_string_equal(study_step(st, now - 2), "variant run-2");
	save(st, again);
	study_close(&st);
	st = open_study();
	resume(st, again);
	assert_int_equal(conv_now(st), PREC_INT16);
	study_close(&st);
}

void test_history__runs_that_do_not_say_are_refused(void **state)
{
	static const char text[] =
	    "{\"qtui_session\": 1, \"runs\": ["
	    "{\"run\": 1, \"time\": 1, \"calibration\": \"kl\"},"
	    "{\"run\": 2, \"time\": 2, \"calibration\": \"kl\", \"state\": {\"target\": \"esp32p4\", \"edits\": [{\"node\": \"gone\", "
	    "\"precision\": \"int16\"}]}},"
	    "{\"run\": 3, \"time\": 3, \"calibration\": \"kl\", \"state\": {\"target\": \"nowhere\", \"edits\": []}}]}";
	struct study *st = open_study();
	bool made;
	resume(st, support_temp_file("bare.json", text, sizeof text - 1));
	for (int run = 1; run <= 4; run++) {
		struct error err = {0};
		char number[] = {(char)('0' + run), '\0'};
		assert_int_equal(study_variant(st, number, &made, &err), run < 3 ? STATUS_REFUSED : STATUS_NOTFOUND);
		assert_non_null(strstr(err.text, run < 3 ? "does not say what was decided" : run == 3 ? "nowhere" : "runs are 1 to 3"));
	}
	assert_int_equal(study_variants(st), 0);
	study_close(&st);
}

void test_history__malformed_runs_are_named(void **state)
{
	static const struct {
		const char *run, *said;
	} bad[] = {
	    {"1", "must be an object"},
	    {"{\"title\": 3}", "\"title\" must be a text"},
	    {"{\"time\": \"now\"}", "\"time\" must be a number"},
	    {"{\"time\": -1}", "\"time\" must be in seconds"},
	    {"{\"time\": 1e300, \"calibration\": \"kl\"}", "\"time\" must be in seconds"},
	    {"{\"calibration\": \"guess\"}", "\"calibration\" is missing or unknown"},
	    {"{\"calibration\": \"kl\", \"task\": []}", "\"task\" must be an object"},
	    {"{\"calibration\": \"kl\", \"node_scale\": 1}", "\"node_scale\" must be a list"},
	    {"{\"calibration\": \"kl\", \"state\": {\"edits\": 1}}", "\"state\": \"edits\" must be a list"},
	    {"{\"calibration\": \"kl\", \"state\": {\"preprocess\": {\"color\": \"grey\"}}}", "\"state\": \"preprocess\": \"color\""},
	    {"{\"calibration\": \"kl\", \"state\": {\"samples\": -1}}", "\"state\": \"samples\" must be a number"},
	};
	struct study *st = open_study();
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[400];
		struct error err = {0};
		snprintf(text, sizeof text, "{\"qtui_session\": 1, \"runs\": [{\"calibration\": \"kl\"}, %s]}", bad[i].run);
		assert_int_equal(apply(st, support_temp_file("bad.json", text, strlen(text)), &err), STATUS_FORMAT);
		if (!strstr(err.text, bad[i].said) || !strstr(err.text, "the 2."))
			fail_msg("said %s, not %s", err.text, bad[i].said);
	}
	struct snapshot *s = run_study(st);
	assert_int_equal(s->n_runs, 1); // of a file that is refused nothing is taken
	snapshot_drop(&s);
	study_close(&st);
}

// Numbers that are none, nodes of another graph, numbers of runs that repeat: what can be read is.
void test_history__strange_runs_are_bounded(void **state)
{
	static const char text[] =
	    "{\"qtui_session\": 1, \"runs\": ["
	    "{\"run\": 7, \"time\": 1, \"calibration\": \"kl\", \"worst_snr_db\": 1e308, \"mean_snr_db\": true, \"edits\": -4},"
	    "{\"run\": 7, \"time\": 2, \"calibration\": \"kl\", \"node_precision\": \"88\", \"node_snr_db\": [1, 2], \"node_scale\": [\"a\", -1]},"
	    "{\"run\": 8, \"time\": 2, \"calibration\": \"kl\", \"title\": \"the same once more\"},"
	    "{\"run\": 1e99, \"time\": 3, \"calibration\": \"kl\", \"task\": {\"name\": \"a metric of a long name\", \"float\": 1, "
	    "\"quantized\": 0.5}}]}";
	struct study *st = open_study();
	resume(st, support_temp_file("strange.json", text, sizeof text - 1));
	struct snapshot *s = run_study(st);
	assert_int_equal(s->n_runs, 4);
	assert_int_equal(s->run[0].number, 7);
	assert_int_equal(s->run[3].number, 10);
	assert_true(isnan(s->run[0].out_snr_db) && isinf(s->run[0].mean_snr_db));
	assert_int_equal(s->run[0].n_edits, 0);
	assert_true(s->run[2].task_quant == 0.5);
	snapshot_drop(&s);
	struct run_record r = figures(st, "8");
	assert_null(r.nodes);
	study_close(&st);
}

static const struct graph no_graph; // whose nodes have no further outputs

static struct run_record record(uint64_t decision, uint64_t samples, int computed)
{
	return (struct run_record){.note = {.decision = {decision, 0}, .samples = {samples, 0}, .computed = computed, .out_snr_db = 10}};
}

// What has computed something, or is of another decision or of other samples, is a run of its own.
void test_history__only_the_same_goes_on(void **state)
{
	const struct {
		struct run_record next;
		size_t n;
	} next[] = {{record(1, 2, 0), 1}, {record(1, 2, 1), 2}, {record(3, 2, 0), 2}, {record(1, 3, 0), 2}};
	for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
		struct history h = {0};
		struct run_record last = record(1, 2, 5), now = next[i].next;
		last.note.earlier = true;
		history_add(&h, &last);
		history_add(&h, &now);
		assert_int_equal(h.n, next[i].n);
		assert_false(h.at[h.n - 1].note.earlier);
		now = next[i].next;
		history_add(&h, &now); // of this sitting each is one
		assert_int_equal(h.n, next[i].n + 1);
		history_done(&h);
	}
}

// Of the runs of one decision the latest that has figures of nodes is the one to compare with.
void test_history__figures_outlive_later_runs_without(void **state)
{
	struct snapshot s = {.g = &no_graph};
	struct history h = {0};
	struct run_record first = run_record_of(&s), bare = record(0, 0, 1), other = record(1, 0, 1);
	history_add(&h, &first);
	history_add(&h, &bare);
	history_add(&h, &other);
	assert_ptr_equal(history_of(&h, (struct key){0}, (struct key){0}), &h.at[0]);
	run_record_done(&h.at[0]);
	assert_ptr_equal(history_of(&h, (struct key){0}, (struct key){0}), &h.at[1]);
	assert_null(history_of(&h, (struct key){1, 1}, (struct key){0}));
	history_done(&h);
}

void test_history__the_last_run_keeps_its_nodes(void **state)
{
	enum { NODES = HISTORY_NODES_KEPT + 1 };
	struct node_row *row = xcalloc(NODES, sizeof *row);
	struct snapshot s = {.g = &no_graph, .n_rows = NODES, .row = row};
	struct history h = {0};
	for (int i = 0; i < NODES; i++)
		row[i].fused_into = -1;
	for (int i = 0; i < 2; i++) {
		struct run_record r = run_record_of(&s);
		history_add(&h, &r);
	}
	assert_null(h.at[0].nodes);
	assert_non_null(h.at[1].nodes);
	history_done(&h);
	free(row);
}

// Hundreds of runs on thousands of nodes: the newest keep their nodes, all lines stay, the text is of a few MB.
void test_history__is_bounded(void **state)
{
	enum { NODES = 2000, RUNS = HISTORY_KEPT + 100 };
	struct node_row *row = xcalloc(NODES, sizeof *row);
	struct snapshot s = {.g = &no_graph, .n_rows = NODES, .row = row};
	struct history h = {0};
	size_t with_nodes = 0;
	for (int i = 0; i < NODES; i++)
		row[i].fused_into = -1;
	for (int i = 0; i < RUNS; i++) {
		struct run_record r = run_record_of(&s);
		r.note.out_snr_db = 10;
		for (int n = 0; n < NODES; n++) {
			r.nodes->snr_db[n] = 12.34F;
			r.nodes->scale[n] = 0.0123456789F;
		}
		history_add(&h, &r);
	}
	assert_int_equal(h.n, HISTORY_KEPT);
	assert_int_equal(h.at[h.n - 1].note.number, RUNS);
	for (size_t i = 0; i < h.n; i++)
		with_nodes += h.at[i].nodes != NULL;
	assert_in_range(with_nodes, HISTORY_NODES_KEPT / NODES - 1, HISTORY_NODES_KEPT / NODES);
	assert_non_null(h.at[h.n - 1].nodes);
	cJSON *j = history_json(&h, NULL);
	char *text = cJSON_PrintUnformatted(j);
	assert_in_range(strlen(text), 1 << 20, 4 << 20);
	cJSON_free(text);
	cJSON_Delete(j);
	history_done(&h);
	free(row);
}
