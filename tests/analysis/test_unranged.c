// Tensors and constants in which nothing is finite: they have no scale and stay float, and all else has its figures.
#include <math.h>
#include <string.h>
#include "engine/onnx_case.h"
#include "qtui/analysis/findings.h"
#include "qtui/analysis/session.h"
#include "qtui/base/log.h"
#include "repair_case.h"

static int count_warnings(int from, const char *text)
{
	char line[512];
	int n = 0;
	for (int i = from; i < support_log_count(); i++)
		n += log_line(i, line, sizeof line) == LOG_WARN && strstr(line, text);
	return n;
}

// A branch of infinite numbers, of two parts that a Concat joins, beside one of numbers.
static struct study *open_lost(struct onnx_case *file, const char *target)
{
	case_begin_conv(file, "y");
	case_floats(file, "thousand", DIMS(1), (const float[]){1000});
	case_node(file, "Add", "add", "y thousand", "n");
	case_node(file, "Exp", "exp", "n", "l");
	case_node(file, "Exp", "root", "n", "r");
	case_attr_int(file, case_node(file, "Concat", "join", "l r", "j"), "axis", 1);
	case_node(file, "Conv", "again", "l w", "z");
	case_node(file, "Add", "sum", "l y", "s");
	case_node(file, "Conv", "good", "y w", "g");
	case_output(file, file->graph, "j");
	case_output(file, file->graph, "z");
	case_output(file, file->graph, "g");
	case_output(file, file->graph, "s");
	case_node(file, "Flatten", "flat", "l", "f");
	case_node(file, "Mul", "times", "f thousand", "t");
	case_output(file, file->graph, "t");
	return open_for_test((struct study_options){.model = case_save(file, "lost.onnx"), .target = target, .method = CALIB_MINMAX,
	    .data = {.random = 2}, .threads = 2});
}

static const struct node_row *row_of(const struct snapshot *s, const char *name)
{
	return &s->row[graph_find_node(s->g, name)];
}

static int count_findings(const struct snapshot *s, const char *node)
{
	int n = 0;
	for (int i = 0; i < s->findings->n; i++) {
		const struct finding *f = &s->findings->at[i];
		for (int k = 0; f->rule == FINDING_no_range && k < f->n_nodes; k++)
			n += strcmp(s->g->node[f->node[k]].name, node) == 0;
	}
	return n;
}

static void has_no_figures(const struct snapshot *s, const char *node)
{
	assert_int_equal(row_of(s, node)->precision, PREC_FLOAT);
	assert_null(snapshot_output(s, graph_find_node(s->g, node)));
}

static void has_figures(const struct snapshot *s, const char *node)
{
	const struct site *site = snapshot_output(s, graph_find_node(s->g, node));
	assert_int_equal(row_of(s, node)->precision, PREC_INT8);
	assert_non_null(site);
	assert_true(site->scale[0] > 0 && figures_snr(&site->graphwise) > 20);
}

void test_unranged__the_rest_of_the_network_has_figures(void **state)
{
	static const char *const lost[] = {"exp", "root", "join", "again", "sum", "flat", "times"}, *const said[] = {
		("nothing in tensor l is finite, nor in 5 more: without a range there is no scale, so that it stays float and has no figures; "
		 "tensor l is the first with infinite numbers, in sample random#0: node exp (Exp) makes them of finite ones"),
		"nothing in tensor r is finite: without a range", "node root (Exp) makes them of finite ones"};
	struct onnx_case file;
	int before = support_log_count();
	struct study *st = open_lost(&file, "esp32p4");
	for (int run = 0; run < 2; run++) {
		struct snapshot *s = run_study(st);
		for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
			has_no_figures(s, lost[i]);
		has_figures(s, "add");
		has_figures(s, "good");
		assert_int_equal(count_findings(s, "exp"), 1);
		assert_int_equal(count_findings(s, "root"), 1);
		assert_int_equal(count_findings(s, "again") + count_findings(s, "join") + count_findings(s, "times"), 0);
		assert_true(isnan(figures_snr(&s->output[1])) && !s->output[1].pooled.exact);
		snapshot_drop(&s);
		if (run == 0)
			assert_int_equal(scale_node(st, graph_find_node(study_graph(st), "conv"), 0x1p-5, &file.err), STATUS_OK);
	}
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		assert_int_equal(count_warnings(before, said[i]), 1);
	study_close(&st);
	case_done(&file);
}

// The terms of a sum have one scale there, which is not that of what has none.
void test_unranged__nothing_joins_it_to_a_scale(void **state)
{
	struct onnx_case file;
	struct study *st = open_lost(&file, "tensorrt");
	struct snapshot *s = run_study(st);
	assert_int_equal(plan_in(snapshot_plan(s), graph_find_node(s->g, "add"), 0)->state, SLOT_ACTIVE);
	assert_int_equal(plan_in(snapshot_plan(s), graph_find_node(s->g, "sum"), 0)->state, SLOT_FLOAT);
	has_no_figures(s, "sum");
	snapshot_drop(&s);
	study_close(&st);
	case_done(&file);
}

// An edit cannot give what no range gives; a scale by hand can.
void test_unranged__what_edits_say(void **state)
{
	struct onnx_case file;
	struct study *st = open_lost(&file, "esp32p4");
	if (study_command(st, "set exp int16", &file.err) || study_command(st, "scale again 2^-3", &file.err))
		fail_msg("%s", file.err.text);
	struct snapshot *s = run_study(st);
	has_no_figures(s, "exp");
	assert_string_equal(row_of(s, "exp")->refused, "nothing in its output is finite: it has no scale and stays float");
	assert_null(row_of(s, "root")->refused);
	assert_int_equal(row_of(s, "again")->precision, PREC_INT8);
	const struct site *site = snapshot_output(s, graph_find_node(s->g, "again"));
	assert_float_equal(site->scale[0], 0.125, 0);
	snapshot_drop(&s);
	study_close(&st);
	case_done(&file);
}

// That there is no scale is known to who opens the session.
void test_unranged__nothing_is_computed_for_a_session(void **state)
{
	struct error err = {0};
	struct onnx_case file, other;
	struct session *saved = NULL;
	const char *path = support_temp("unranged.json");
	struct study *st = open_lost(&file, "esp32p4"), *again = open_lost(&other, "esp32p4");
	wait_for_run(st);
	if (session_write(st, path, NULL, &err) || session_read(&saved, path, &err) || session_apply(saved, again, &err))
		fail_msg("%s", err.text);
	struct snapshot *s = run_study(again);
	assert_int_equal(s->computed, 0);
	has_figures(s, "good");
	has_no_figures(s, "exp");
	snapshot_drop(&s);
	session_free(&saved);
	study_close(&st);
	study_close(&again);
	case_done(&file);
	case_done(&other);
}

// A search calibrates for itself, once an edit asks for ranges that the run did not see.
void test_unranged__a_search_goes_past_it(void **state)
{
	struct error err = {0};
	struct onnx_case file;
	struct study *st = open_lost(&file, "esp32p4");
	wait_for_run(st);
	struct repair *r = open_unread(st, (struct repair_options){0});
	struct edits *e = edits_copy(r->now.edits);
	struct plan *p = NULL;
	e->precision[graph_find_node(r->g, "add")] = PREC_INT16;
	assert_int_equal(scales_plan(r->scales, &p, &(struct trial){.edits = e, .method = CALIB_PERCENTILE}, &err), STATUS_OK);
	assert_int_equal(p->precision[graph_find_node(r->g, "exp")], PREC_FLOAT);
	assert_int_equal(p->precision[graph_find_node(r->g, "add")], PREC_INT16);
	plan_free(&p);
	edits_free(&e);
	repair_free(&r);
	study_close(&st);
	case_done(&file);
}

// -infinity is what masks are made of: as a constant, one for all or one for each element, and in a channel of a weight.
void test_unranged__constants_of_masks(void **state)
{
	static const char *const targets[] = {"esp32p4", "a8w8", "onnxruntime", "tensorrt"};
	int per_channel = 0;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct onnx_case file;
		float mask[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, w[4] = {1, .5f, -INFINITY, -INFINITY};
		case_begin_conv(&file, "y");
		case_floats(&file, "mask", DIMS(1, 4, 1, 1), mask);
		case_floats(&file, "v", DIMS(2, 2, 1, 1), w);
		case_node(&file, "Max", "max", "y mask", "m");
		case_node(&file, "Conv", "good", "m w", "g");
		case_attr_int(&file, case_node(&file, "Conv", "bad", "y v", "b"), "group", 2);
		case_output(&file, file.graph, "g");
		case_output(&file, file.graph, "b");
		struct study *st = open_for_test((struct study_options){.model = case_save(&file, "mask.onnx"), .target = targets[i],
		    .method = CALIB_MINMAX, .data = {.random = 2}, .threads = 1});
		struct snapshot *s = run_study(st);
		has_figures(s, "good");
		const struct plan *p = snapshot_plan(s);
		assert_int_equal(plan_in(p, graph_find_node(s->g, "max"), 1)->state, SLOT_FLOAT);
		const struct slot *bad = plan_in(p, graph_find_node(s->g, "bad"), 1);
		assert_int_equal(bad->state, bad->quant.axis < 0 ? SLOT_ACTIVE : SLOT_FLOAT);
		per_channel += bad->quant.axis >= 0;
		assert_int_equal(plan_in(p, graph_find_node(s->g, "good"), 1)->state, SLOT_ACTIVE);
		snapshot_drop(&s);
		study_close(&st);
		case_done(&file);
	}
	assert_in_range(per_channel, 1, 3);
}
