// Session files that no program wrote: edits without a journal, edits changed by hand, members of the wrong kind.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/session.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "studies.h"

#define CONV "/model.0/conv/Conv"
#define OTHER "/model.1/conv/Conv"

static struct study *open_with(const char *target)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = target, .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.random = 1, .samples = 1}});
}

static struct study *open_study(void)
{
	return open_with("esp32p4");
}

static enum status apply(struct study *st, const char *text, struct error *err)
{
	struct session *s = NULL;
	const char *path = support_temp_file("session.json", text, strlen(text));
	enum status status = session_read(&s, path, err);
	if (status == STATUS_OK)
		status = session_apply(s, st, err);
	if (s)
		session_free(&s);
	return status;
}

static int precision(const struct study *st, const char *node)
{
	return study_edits(st)->precision[graph_find_node(study_graph(st), node)];
}

static double scale(const struct study *st, const char *node)
{
	return study_edits(st)->scale[graph_output(study_graph(st), graph_find_node(study_graph(st), node))];
}

void test_session__edits_without_a_journal_are_in_force(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	int current;
	assert_int_equal(apply(st, "{\"qtui_session\":1,\"edits\":[{\"node\":\"" CONV "\",\"precision\":\"int16\"},"
	    "{\"node\":\"" OTHER "\",\"scale\":0.0625}]}", &err), STATUS_OK);
	assert_int_equal(precision(st, CONV), PREC_INT16);
	assert_true(scale(st, OTHER) == 0.0625);
	assert_int_equal(study_steps(st, &current), 1);
	assert_true(undoes(st));
	assert_int_equal(precision(st, CONV), -1);
	assert_true(scale(st, OTHER) == 0);
	study_close(&st);
}

void test_session__what_a_hand_changed_goes_over_the_journal(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	int current;
	assert_int_equal(apply(st, "{\"qtui_session\":1,\"journal\":[\"set " CONV " int16\",\"scale " OTHER " 2^-4\"],"
	    "\"edits\":[{\"node\":\"" CONV "\",\"precision\":\"float\"}]}", &err), STATUS_OK);
	assert_int_equal(precision(st, CONV), PREC_FLOAT);
	assert_true(scale(st, OTHER) == 0);
	assert_int_equal(study_steps(st, &current), 3);
	study_close(&st);
}

void test_session__what_agrees_adds_no_step(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	int current;
	assert_int_equal(apply(st, "{\"qtui_session\":1,\"journal\":[\"set " CONV " int16\",\"set " OTHER " int16\"],\"current\":1,"
	    "\"edits\":[{\"node\":\"" CONV "\",\"precision\":\"int16\"}]}", &err), STATUS_OK);
	assert_int_equal(study_steps(st, &current), 2);
	assert_int_equal(current, 1);
	assert_true(redoes(st));
	study_close(&st);
}

void test_session__malformed_members_are_named(void **state)
{
	static const struct {
		const char *text, *says;
	} row[] = {
	    {"{\"qtui_session\":1,\"target\":8}", "\"target\" must be a text"},
	    {"{\"qtui_session\":1,\"model\":\"a.onnx\"}", "\"model\" must be an object"},
	    {"{\"qtui_session\":1,\"calibration\":{\"samples\":\"32\"}}", "\"calibration.samples\" must be a number"},
	    {"{\"qtui_session\":1,\"edits\":{}}", "\"edits\" must be a list"},
	    {"{\"qtui_session\":1,\"journal\":[3]}", "\"journal\" must be a list of texts"},
	    {"{\"qtui_session\":1,\"edits\":[{\"node\":\"nowhere\"}]}", "no node nowhere"},
	    {"{\"qtui_session\":1,\"edits\":[{\"precision\":\"int16\"}]}", "names no node"},
	    {"{\"qtui_session\":1,\"edits\":[{\"node\":\"" CONV "\",\"precision\":\"int7\"}]}", CONV},
	};
	struct study *st = open_study();
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct error err = {0};
		assert_int_not_equal(apply(st, row[i].text, &err), STATUS_OK);
		assert_non_null(strstr(err.text, row[i].says));
		assert_non_null(strstr(err.text, "session.json"));
	}
	study_close(&st);
}

// A member of the wrong kind, wherever it is, is named and not passed over.
void test_session__an_edit_that_decides_nothing_is_named(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	assert_int_equal(apply(st, "{\"qtui_session\":1,\"edits\":[{\"node\":\"" CONV "\",\"precison\":\"int16\"}]}", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, CONV " has neither precision, scale nor calibration"));
	assert_int_equal(apply(st, "{\"qtui_session\":1,\"edits\":[{\"tensor\":\"images\",\"scall\":1}]}", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "tensor images has no scale"));
	study_close(&st);
}

static char *written(const struct study *st, const struct session *base)
{
	struct error err = {0};
	cJSON *root = NULL;
	const char *path = support_temp_file("kept.json", "", 0);
	assert_int_equal(session_write(st, path, base, &err), STATUS_OK);
	assert_int_equal(json_read(&root, path, &err), STATUS_OK);
	char *text = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	return text;
}

void test_session__what_others_have_added_is_kept(void **state)
{
	static const char text[] = "{\"qtui_session\":1,\"ours\":[\"a1\"],\"model\":{\"ours\":\"a2\"},\"calibration\":{\"ours\":\"a3\"},"
	    "\"task\":{\"ours\":\"a4\"},\"latency\":{\"ours\":\"a5\"},\"edits\":[{\"node\":\"" CONV "\",\"precision\":\"int16\","
	    "\"why\":\"a6\"},{\"node\":\"" OTHER "\",\"scale\":0.0625,\"why\":\"a7\"}]}";
	struct study *st = open_study();
	struct error err = {0};
	struct session *s = NULL;
	int node, refused;
	assert_int_equal(session_read(&s, support_temp_file("session.json", text, strlen(text)), &err), STATUS_OK);
	assert_int_equal(session_apply(s, st, &err), STATUS_OK);
	char *with = written(st, s);
	for (int i = 1; i <= 7; i++) {
		const char word[] = {'"', 'a', (char)('0' + i), '"', '\0'};
		assert_non_null(strstr(with, word));
	}
	node = graph_find_node(study_graph(st), CONV);
	assert_int_equal(study_set(st, &node, 1, -1, &refused, &err), STATUS_OK);
	char *without = written(st, s);
	assert_null(strstr(without, "\"a6\"")); // with the edit that it stood beside
	assert_non_null(strstr(without, "\"a7\""));
	free(with);
	free(without);
	session_free(&s);
	study_close(&st);
}

void test_session__wrong_kinds_inside_are_named(void **state)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
	    {"\"edits\": [{\"node\": \"" CONV "\", \"scale\": \"x\"}]", CONV},
	    {"\"edits\": [{\"node\": \"" CONV "\", \"scale\": [1]}]", CONV},
	    {"\"edits\": [{\"node\": \"" CONV "\", \"scale\": 0}]", CONV},
	    {"\"edits\": [{\"node\": \"" CONV "\", \"precision\": 8}]", "\"precision\" must be a text"},
	    {"\"calibration\": {\"preprocess\": {\"mean\": \"0,0,0\"}}", "\"mean\" must be a list"},
	    {"\"calibration\": {\"preprocess\": {\"color\": \"grey\"}}", "grey is neither rgb nor bgr"},
	    {"\"calibration\": {\"preprocess\": {\"resize\": \"twice\"}}", "twice is none of"},
	    {"\"variants\": [1]", "name is one word"},
	    {"\"variants\": [{\"name\": \"a\", \"target\": \"esp32p4\", \"calibration\": \"kl\", \"edits\": 5}]", "\"edits\" must be a list"},
	    {"\"variants\": [{\"name\": \"a\", \"target\": \"esp32p4\", \"calibration\": \"kl\", \"preprocess\": {\"mean\": [1]}}]",
	    "resize is missing"},
	};
	struct study *st = open_study();
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[400];
		struct error err = {0};
		snprintf(text, sizeof text, "{\"qtui_session\": 1, %s}", bad[i].text);
		assert_int_equal(apply(st, text, &err), STATUS_FORMAT);
		if (!strstr(err.text, bad[i].said))
			fail_msg("said %s, not %s", err.text, bad[i].said);
	}
	study_close(&st);
}

// A scale that is no power of two is the same float when its command is read again; one without measure is refused.
void test_session__a_scale_keeps_its_digits(void **state)
{
	const float odd = 0.123456789f;
	struct study *st = open_study(), *again = open_study();
	struct error err = {0};
	int current;
	(void)state;
	assert_int_equal(scale_node(st, graph_find_node(study_graph(st), OTHER), 0x1p61, &err), STATUS_REFUSED);
	assert_int_equal(scale_node(st, graph_find_node(study_graph(st), OTHER), 0x1p-61, &err), STATUS_REFUSED);
	assert_int_equal(study_steps(st, &current), 0);
	assert_int_equal(study_set_target(st, "onnxruntime", &err), STATUS_OK);
	assert_int_equal(scale_node(st, graph_find_node(study_graph(st), OTHER), (double)odd, &err), STATUS_OK);
	assert_int_equal(study_steps(st, &current), 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(study_command(again, study_step(st, i), &err), STATUS_OK);
	assert_true((float)scale(again, OTHER) == odd);
	assert_int_equal(study_command(again, "scale " OTHER " 2^-4 " CONV, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "scale needs nodes or tensors, each with 2^-4"));
	study_close(&st);
	study_close(&again);
}

// The text of a number may be a bit beside it: a small power of two is one when the session is read again,
// and what was typed is the same edit as what was saved.
void test_session__a_small_scale_is_read_as_it_was_written(void **state)
{
	static const char *const typed[] = {"2^-27", "7.45058059692383e-09"};
	for (int i = 0; i < 2; i++) {
		struct study *st = open_study(), *again = open_study();
		struct error err = {0};
		char text[160];
		snprintf(text, sizeof text, "scale %s %s", OTHER, typed[i]);
		assert_int_equal(study_command(st, text, &err), STATUS_OK);
		assert_true(scale(st, OTHER) == 0x1p-27);
		struct session *saved = NULL;
		const char *path = support_temp("small.json");
		if (session_write(st, path, NULL, &err) || session_read(&saved, path, &err) || session_apply(saved, again, &err))
			fail_msg("%s", err.text);
		assert_true(edits_equal(study_edits(st), study_edits(again)));
		session_free(&saved);
		study_close(&again);
		study_close(&st);
	}
}

// A target comes with its own calibrator, and goes with it.
void test_session__a_target_brings_its_calibrator(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	(void)state;
	assert_int_equal(study_set_target(st, "onnxruntime", &err), STATUS_OK);
	assert_int_equal(study_set_method(st, CALIB_PERCENTILE, &err), STATUS_OK);
	assert_int_equal(study_set_target(st, "xint8", &err), STATUS_OK);
	for (int back = 0; back < 2; back++) {
		struct snapshot *s = study_snapshot(st);
		assert_int_equal(s->method, back ? CALIB_PERCENTILE : target_default_calibration(study_target(st)));
		assert_int_not_equal(target_default_calibration(study_target(st)), CALIB_PERCENTILE);
		snapshot_drop(&s);
		assert_true(undoes(st));
	}
	study_close(&st);
}

// What was undone is gone with the next edit: it is no step between that one and the state before.
void test_session__an_edit_ends_what_could_be_redone(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	const int conv = graph_find_node(study_graph(st), CONV), other = graph_find_node(study_graph(st), OTHER);
	int current;
	(void)state;
	assert_int_equal(study_set(st, &conv, 1, PREC_INT16, NULL, &err), STATUS_OK);
	assert_true(undoes(st));
	assert_int_equal(study_set(st, &other, 1, PREC_FLOAT, NULL, &err), STATUS_OK);
	assert_int_equal(study_steps(st, &current), 1);
	assert_int_equal(current, 1);
	assert_false(redoes(st));
	assert_true(undoes(st));
	assert_true(precision(st, CONV) == -1 && precision(st, OTHER) == -1);
	assert_false(undoes(st));
	assert_true(redoes(st));
	assert_true(precision(st, CONV) == -1 && precision(st, OTHER) == PREC_FLOAT);
	study_close(&st);
}

// The width and the scale of one node are two edits.
void test_session__edits_are_counted(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	const int conv = graph_find_node(study_graph(st), OTHER);
	(void)state;
	assert_int_equal(study_set(st, &conv, 1, PREC_INT16, NULL, &err), STATUS_OK);
	assert_int_equal(scale_node(st, conv, 0.0625, &err), STATUS_OK);
	struct snapshot *s = study_snapshot(st);
	assert_int_equal(s->n_edits, 2);
	snapshot_drop(&s);
	study_close(&st);
}

void test_session__a_calibrator_of_a_node(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	const int conv = graph_find_node(study_graph(st), CONV);
	assert_int_equal(apply(st, "{\"qtui_session\": 1, \"edits\": [{\"node\": \"" CONV "\", \"calibration\": \"mse\"}]}", &err), STATUS_OK);
	assert_int_equal(study_edits(st)->calibrator[conv], CALIB_MSE);
	assert_int_equal(precision(st, CONV), -1);
	struct snapshot *s = study_snapshot(st);
	assert_true(s->row[conv].edited && s->row[conv].calibrator == CALIB_MSE && s->n_edits == 1);
	snapshot_drop(&s);
	const char *path = support_temp("calibrated.json");
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	assert_true(undoes(st));
	assert_int_equal(study_edits(st)->calibrator[conv], -1);
	struct session *saved = NULL;
	assert_int_equal(session_read(&saved, path, &err), STATUS_OK);
	assert_int_equal(session_apply(saved, st, &err), STATUS_OK);
	assert_int_equal(study_edits(st)->calibrator[conv], CALIB_MSE);
	session_free(&saved);
	assert_int_equal(
	    apply(st, "{\"qtui_session\": 1, \"edits\": [{\"node\": \"" CONV "\", \"calibration\": \"best\"}]}", &err), STATUS_FORMAT);
	study_close(&st);
}

void test_session__a_scale_may_be_text(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	assert_int_equal(apply(st, "{\"qtui_session\": 1, \"edits\": [{\"node\": \"" CONV "\", \"scale\": \"2^-3\"}]}", &err), STATUS_OK);
	assert_true(scale(st, CONV) == 0.125);
	study_close(&st);
}

// With a scale goes its zero point: as edits have it, in the journal, and read again.
void test_session__a_zero_point(void **state)
{
	static const char *const bad[] = {"-1", "1.5", "\"a\"", "70000"};
	struct error err = {0};
	struct study *st = open_with("onnxruntime"), *again = open_with("onnxruntime");
	const struct graph *g = study_graph(st);
	int value = graph_output(g, graph_find_node(g, CONV));
	struct session *saved = NULL;
	const char *path = support_temp("zero.json");
	assert_int_equal(
	    apply(st, "{\"qtui_session\": 1, \"edits\": [{\"node\": \"" CONV "\", \"scale\": 0.125, \"zero_point\": 7}]}", &err), STATUS_OK);
	assert_true(study_edits(st)->zero[value] == 7);
	assert_string_equal(study_step(st, 0), "scale " CONV " 2^-3,7");
	assert_int_equal(study_command(st, "scale " CONV " 2^-3,9", &err), STATUS_OK);
	assert_int_equal(study_steps(st, &(int){0}), 2);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	assert_int_equal(session_read(&saved, path, &err), STATUS_OK);
	assert_int_equal(session_apply(saved, again, &err), STATUS_OK);
	assert_true(study_edits(again)->zero[value] == 9);
	assert_true(undoes(again) && study_edits(again)->zero[value] == 7);
	assert_int_equal(study_command(again, "scale " CONV " 2^-3", &err), STATUS_OK); // which follows from the range again
	assert_true(study_edits(again)->zero[value] == ZERO_FOLLOWS);
	assert_int_equal(study_command(again, "scale " CONV " 2^-3,x", &err), STATUS_FORMAT);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[200];
		snprintf(
		    text, sizeof text, "{\"qtui_session\": 1, \"edits\": [{\"node\": \"" CONV "\", \"scale\": 1, \"zero_point\": %s}]}", bad[i]);
		assert_int_not_equal(apply(again, text, &err), STATUS_OK);
	}
	session_free(&saved);
	study_close(&again);
	study_close(&st);
}

// What a session cannot be opened with leaves the study as it was.
void test_session__one_that_fails_changes_nothing(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	int current;
	assert_int_equal(study_command(st, "set " OTHER " float", &err), STATUS_OK);
	const char *text =
	    "{\"qtui_session\": 1, \"target\": \"onnxruntime\", \"journal\": [\"set " CONV " int16\", \"set /no/such int16\"],"
	    "\"pareto\": {\"target\": \"onnxruntime\", \"states\": [{\"calibration\": \"kl\", \"figures\": {\"damage\": 0.1, \"cost\": 1}, "
	    "\"edits\": []}]},"
	    "\"variants\": [{\"name\": \"theirs\", \"target\": \"onnxruntime\", \"calibration\": \"mse\", \"edits\": []}]}";
	assert_int_not_equal(apply(st, text, &err), STATUS_OK);
	assert_non_null(strstr(err.text, "edit 2"));
	assert_int_equal(study_variants(st), 0);
	assert_null(study_frontier(st));
	assert_int_equal(study_steps(st, &current), 1);
	assert_int_equal(current, 1);
	assert_int_equal(precision(st, CONV), -1);
	assert_int_equal(precision(st, OTHER), PREC_FLOAT);
	assert_string_equal(target_name(study_target(st)), "esp32p4");
	study_close(&st);
}

// The journal begins from the session's target and calibration, whatever the study has by then;
// the screen shows where it ends.
void test_session__its_target_is_opened_with_it(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	struct snapshot *s;
	const char *text = "{\"qtui_session\": 1, \"target\": \"onnxruntime\", \"calibration\": {\"method\": \"mse\"},"
	    "\"journal\": [\"set " CONV " float\"]}";
	assert_int_equal(apply(st, text, &err), STATUS_OK);
	assert_string_equal(target_name(study_target(st)), "onnxruntime");
	s = study_snapshot(st);
	assert_string_equal(s->target, "onnxruntime");
	assert_int_equal(s->method, CALIB_MSE);
	assert_int_equal(s->row[graph_find_node(study_graph(st), CONV)].requested, PREC_FLOAT);
	snapshot_drop(&s);
	study_close(&st);
}

// Every target is asked anew what it takes, however many steps were asked about together.
void test_session__a_journal_asks_each_target(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	assert_int_equal(apply(st, "{\"qtui_session\": 1, \"target\": \"esp32p4\", \"journal\": [\"set " CONV " int16\", \"target tensorrt\","
	    " \"set " OTHER " int16\"]}", &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "edit 3: " OTHER ": target tensorrt has no 16-bit form"));
	assert_int_equal(precision(st, CONV), -1);
	assert_int_equal(apply(st, "{\"qtui_session\": 1, \"target\": \"tensorrt\", \"journal\": [\"target esp32p4\", \"set " CONV " int16\"]}",
	    &err), STATUS_OK);
	assert_int_equal(precision(st, CONV), PREC_INT16);
	study_close(&st);
}

// Every plan that is made has a number of its own.
static uint64_t plans_made(const struct study *st)
{
	struct plan *p = plan_bare(study_graph(st), study_target(st));
	uint64_t id = p->id;
	plan_free(&p);
	return id;
}

// The screen waits for it: that hundreds of steps are each possible is asked at once, not with a plan for every step.
void test_session__a_long_journal_takes_few_plans(void **state)
{
	enum { STEPS = 300, FEW = 30 };
	struct str text = {0};
	struct error err = {0};
	struct study *st = open_study();
	struct session *s = NULL;
	const struct graph *g = study_graph(st);
	int current;
	str_add(&text, "{\"qtui_session\": 1, \"target\": \"esp32p4\", \"journal\": [");
	for (int i = 0; i < STEPS; i++)
		str_addf(&text, "%s\"set %s %s\"", i ? ", " : "", g->node[i % g->n_nodes].name, i / g->n_nodes % 2 ? "int16" : "float");
	str_add(&text, "]}");
	assert_int_equal(session_read(&s, support_temp_file("long.json", str_text(&text), text.len), &err), STATUS_OK);
	uint64_t before = plans_made(st);
	if (session_apply(s, st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	uint64_t plans = plans_made(st) - before;
	study_steps(st, &current);
	assert_true(current > STEPS / 2);
	assert_in_range(plans, 1, FEW);
	session_free(&s);
	str_done(&text);
	study_close(&st);
}

// A caller's error may hold what it was told before.
void test_session__an_unknown_edit_is_named_whatever_was_said_before(void **state)
{
	struct error err = {.text = "said before"};
	struct study *st = open_study();
	assert_int_equal(study_command(st, "sett op:Conv int16", &err), STATUS_NOTFOUND);
	assert_int_equal(err.status, STATUS_NOTFOUND);
	assert_string_equal(err.text, "unknown edit: sett op:Conv int16");
	study_close(&st);
}
