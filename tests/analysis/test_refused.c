// What a target refuses is said: of edits that stand in a session and then come to another target, and of many at once.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/report.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/engine/op.h"
#include "studies.h"

static struct study *open_with(const char *target)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = target, .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.random = 1, .samples = 1}});
}

static int count_warnings(int from, const char *text)
{
	char line[480];
	int n = 0;
	for (int i = from; i < support_log_count(); i++)
		n += log_line(i, line, sizeof line) == LOG_WARN && strstr(line, text);
	return n;
}

static void set_all_convs(struct study *st, int precision)
{
	struct error err = {0};
	int *nodes, n;
	assert_int_equal(study_select(st, "op:Conv", NULL, &nodes, &n, &err), STATUS_OK);
	assert_true(n > 10);
	assert_int_equal(study_set(st, nodes, n, precision, NULL, &err), STATUS_OK);
	free(nodes);
}

static void assert_in_report(const struct study *st, const struct snapshot *snap, const char *name, const char *text)
{
	struct error err = {0};
	struct bytes b;
	const char *path = support_temp(name);
	assert_int_equal(report_write(st, snap, path, &err), STATUS_OK);
	assert_int_equal(file_read(&b, path, 1 << 24, &err), STATUS_OK);
	assert_non_null(strstr((const char *)b.data, text));
	bytes_done(&b);
}

void test_refused__edits_that_come_to_another_target_are_told(void **state)
{
	struct error err = {0};
	struct study *st = open_with("esp32p4");
	set_all_convs(st, PREC_INT16);
	int before = support_log_count();
	wait_for_run(st);
	assert_int_equal(count_warnings(before, "refused"), 0);
	assert_int_equal(study_set_target(st, "xint8", &err), STATUS_OK);
	struct snapshot *snap = run_study(st);
	assert_int_equal(count_warnings(before, "an edit in force is refused: /model.0/conv/Conv: target xint8 has no 16-bit form"), 1);
	assert_int_equal(count_warnings(before, "an edit in force is refused"), 5);
	assert_int_equal(count_warnings(before, " more edits in force"), 1);
	assert_in_report(st, snap, "refused.md", "## Refused edits\n\n- /model.0/conv/Conv: target xint8 has no 16-bit form");
	assert_in_report(st, snap, "refused.html", "<h2>Refused edits</h2>\n<p>/model.0/conv/Conv: target xint8 has no 16-bit form");
	snapshot_drop(&snap);
	wait_for_run(st); // they are told once
	assert_int_equal(count_warnings(before, "an edit in force is refused"), 5);
	assert_true(undoes(st));
	wait_for_run(st);
	int told = log_warnings();
	assert_true(redoes(st));
	wait_for_run(st);
	assert_int_equal(log_warnings(), told + 6); // and once more when they come back
	study_close(&st);
}

// A session that names no target, as a script writes it, is taken under the one that is given.
void test_refused__what_a_session_asks_in_vain_is_told(void **state)
{
	static const char text[] = "{\"qtui_session\": 1, \"edits\": [{\"node\": \"/model.0/conv/Conv\", \"precision\": \"int8\"}, "
	                           "{\"node\": \"/model.12/Concat_4\", \"precision\": \"int8\"}]}";
	struct error err = {0};
	struct session *s = NULL;
	struct study *st = open_with("tensorrt");
	int before = support_log_count();
	assert_int_equal(session_read(&s, support_temp_file("vain.json", text, sizeof text - 1), &err), STATUS_OK);
	assert_int_equal(session_apply(s, st, &err), STATUS_OK);
	assert_int_equal(count_warnings(before, "1 of 2 nodes that are set refuse it: /model.12/Concat_4: target tensorrt"), 1);
	session_free(&s);
	study_close(&st);
}

// The scale would be that of the Mul's output. (The screen gives it to what its row shows, and says so.) A session from before is
// taken all the same.
void test_refused__a_scale_inside_of_one_operator(void **state)
{
	struct error err = {0};
	struct study *st = open_with("esp32p4");
	const struct graph *g = study_graph(st);
	int refused, at, *value, n;
	static const char *const taken[] = {"/model.0/act/Mul", "/model.0/conv/Conv"};
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		assert_int_equal(study_select_outputs(st, taken[i], NULL, &value, &n, &err), STATUS_OK);
		assert_int_equal(study_scale_all(st, value, n, 0x1p-4, ZERO_FOLLOWS, &refused, &err), STATUS_OK);
		assert_int_equal(refused, 0);
		free(value);
	}
	at = graph_output(g, graph_find_node(g, "/model.0/act/Sigmoid"));
	assert_int_equal(study_scale_all(st, &at, 1, 0x1p-4, ZERO_FOLLOWS, &refused, &err), STATUS_REFUSED);
	assert_string_equal(err.text,
	    "/model.0/act/Sigmoid: it is inside of one operator, which ends with /model.0/act/Mul: give the scale to that node");
	assert_int_equal(study_command(st, "scale /model.0/act/Sigmoid 2^-4", &err), STATUS_OK);
	study_close(&st);
}

void test_refused__the_reason_of_one_names_the_others(void **state)
{
	struct error err = {0};
	struct study *st = open_with("xint8");
	const struct graph *g = study_graph(st);
	int nodes[6], n = 0;
	for (int i = 0; n < 6; i++)
		if (strcmp(g->node[i].op->name, "Conv") == 0)
			nodes[n++] = i;
	assert_int_equal(study_set(st, nodes, 2, PREC_INT16, NULL, &err), STATUS_REFUSED);
	char text[480];
	snprintf(text, sizeof text, "%s: target xint8 has no 16-bit form: it stays int8; refused too: %s", g->node[nodes[1]].name,
	    g->node[nodes[0]].name);
	assert_string_equal(err.text, text);
	assert_int_equal(study_set(st, nodes, 6, PREC_INT16, NULL, &err), STATUS_REFUSED);
	assert_true(strstr(err.text, g->node[nodes[2]].name) && strstr(err.text, " and 2 more"));
	assert_int_equal(study_set(st, nodes, 1, PREC_INT16, NULL, &err), STATUS_REFUSED);
	assert_null(strstr(err.text, "refused too"));
	int refused, values[2] = {graph_output(g, nodes[0]), graph_output(g, nodes[1])};
	assert_int_equal(study_scale_all(st, values, 2, 0.3, ZERO_FOLLOWS, &refused, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "; refused too: "));
	study_close(&st);
}
