// A session that is opened over other decisions: each undo leads to a state that somebody had.
#include "studies.h"

#include "qtui/analysis/session.h"

#define CONV "/model.2/cv2/conv/Conv"
#define OTHER "/model.0/conv/Conv"

static const char journal[] = "{\"qtui_session\":1,\"target\":\"esp32p4\",\"journal\":[\"set " CONV " float\",\"scale " CONV " 2^-4\"]}";

struct seen {
	int conv, other;
	double scale;
	enum calib_method method;
	const char *target;
};

static void assert_seen(const struct study *st, const struct seen *want)
{
	const struct graph *g = study_graph(st);
	const int conv = graph_find_node(g, CONV), other = graph_find_node(g, OTHER);
	struct snapshot *s = study_snapshot((struct study *)st);
	assert_int_equal(study_edits(st)->precision[conv], want->conv);
	assert_int_equal(study_edits(st)->precision[other], want->other);
	assert_true(study_edits(st)->scale[graph_output(g, conv)] == want->scale);
	assert_int_equal(s->method, want->method);
	assert_string_equal(target_name(study_target(st)), want->target);
	snapshot_drop(&s);
}

void test_undo_opened__no_state_is_a_mixture(void **state)
{
	static const struct seen back[] = {{PREC_FLOAT, -1, 0x1p-4, CALIB_KL, "esp32p4"}, {PREC_FLOAT, -1, 0, CALIB_KL, "esp32p4"},
	    {-1, -1, 0, CALIB_KL, "esp32p4"}, {-1, PREC_INT16, 0, CALIB_MSE, "onnxruntime"}};
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .target = "esp32p4", .method = CALIB_KL, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.random = 1, .samples = 1}});
	struct session *s = NULL;
	struct error err = {0};
	const int other = graph_find_node(study_graph(st), OTHER);
	assert_int_equal(study_set_target(st, "onnxruntime", &err), STATUS_OK);
	assert_int_equal(study_set(st, &other, 1, PREC_INT16, NULL, &err), STATUS_OK);
	assert_int_equal(study_set_method(st, CALIB_MSE, &err), STATUS_OK);
	const char *path = support_temp_file("over.json", journal, sizeof journal - 1);
	if (session_read(&s, path, &err) || session_apply(s, st, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof back / sizeof *back; i++) {
		assert_seen(st, &back[i]);
		assert_true(undoes(st));
	}
	session_free(&s);
	study_close(&st);
}
