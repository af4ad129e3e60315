// Nodes on their own: where nothing before a node is quantized, it gives what it gives in the quantized network.
// And tensors on their own: the first that is not finite.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/onnx_case.h"
#include "qtui/analysis/isolate.h"
#include "qtui/analysis/study.h"
#include "qtui/base/hash.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "studies.h"
#include "support.h"

struct seen {
	const struct graph *g;
	struct key *alone;   // [n_values] of the elements
	bool *shared;        // [n_values] with the quantized network
};

static void see(void *arg, const struct sighting *s)
{
	struct seen *seen = arg;
	const struct rep *full = s->rep[SIM_FULL], *alone = s->rep[SIM_ALONE];
	seen->alone[s->value] = key_add((struct key){0}, alone->t.data, tensor_bytes(&alone->t));
	seen->shared[s->value] = full && full->t.data == alone->t.data;
}

static void run(struct seen *seen, struct engine *e, const struct plan *plan, bool beside_full)
{
	struct error err = {0};
	const struct graph *g = seen->g;
	bool *want = xcalloc((size_t)g->n_values, sizeof *want);
	seen->alone = xcalloc((size_t)g->n_values, sizeof *seen->alone);
	seen->shared = xcalloc((size_t)g->n_values, sizeof *seen->shared);
	for (int n = 0; n < g->n_nodes; n++)
		if (strcmp(g->node[n].op->name, "Conv") == 0)
			want[engine_group_value(g, plan, g->node[n].out[0])] = true;
	struct pass p = {
	    .plan = plan, .want = {[SIM_ALONE] = want, [SIM_FULL] = beside_full ? want : NULL}, .last = 1, .visit = see, .arg = seen};
	if (engine_pass(e, &p, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	free(want);
}

static int count(const bool *set, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += set[i];
	return sum;
}

void test_alone__the_first_node_is_computed_once(void **state)
{
	struct error err = {0};
	struct study *s;
	struct study_options opt = {.model = "examples/digits.onnx", .calib = "examples/calib", .method = CALIB_MINMAX, .data = {.samples = 2},
	    .threads = 2, .calibrate_only = true};
	assert_int_equal(study_open(&s, &opt, &err), STATUS_OK);
	study_run(s);
	assert_int_equal(study_wait(s, &err), STATUS_OK);
	struct snapshot *snap = study_snapshot(s);
	const struct graph *g = study_graph(s);
	struct engine *e = engine_new(g, study_dataset(s), &(struct engine_options){.threads = 1, .memory = (size_t)64 << 20});
	struct seen beside = {.g = g}, by_itself = {.g = g};
	run(&beside, e, snapshot_plan(snap), true);
	run(&by_itself, e, snapshot_plan(snap), false);
	assert_int_equal(count(beside.shared, g->n_values), 1);
	assert_true(beside.shared[engine_group_value(g, snapshot_plan(snap), g->node[0].out[0])]);
	assert_memory_equal(beside.alone, by_itself.alone, (size_t)g->n_values * sizeof *beside.alone);
	free(beside.alone);
	free(beside.shared);
	free(by_itself.alone);
	free(by_itself.shared);
	engine_free(&e);
	snapshot_drop(&snap);
	study_close(&s);
}

// Twice as many rows with each iteration; how many there are is computed.
static void end_in_growing_loop(struct onnx_case *c)
{
	Onnx__GraphProto *body = case_graph(c);
	body->name = case_text(c, "body");
	body->input[body->n_input++] = case_value(c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(c, "go", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(c, "s", FLOAT, DIMS(-1, 4, 6, 6));
	case_node_in(c, body, "Identity", "", "go", "go_on");
	case_attr_int(c, case_node_in(c, body, "Concat", "", "s s", "twice"), "axis", 0);
	case_output(c, body, "go_on");
	case_output(c, body, "twice");
	case_attr_int(c, case_node(c, "ReduceMax", "max", "y", "most"), "keepdims", 0);
	case_attr_int(c, case_node(c, "Cast", "cast", "most", "n"), "to", INT64);
	case_attr_graph(c, case_node(c, "Loop", "loop", "n - y", "z"), "body", body);
	c->graph->output[c->graph->n_output++] = case_value(c, "z", FLOAT, DIMS(-1, 4, 6, 6));
}

static void check_isolated(struct onnx_case *file, const char *name, bool output_known)
{
	struct error err = {0};
	atomic_int done = 0;
	struct study *st = open_for_test((struct study_options){.model = case_save(file, name), .data = {.random = 2}, .threads = 1});
	struct snapshot *s = run_study(st);
	assert_int_equal(s->output[0].known > 0, output_known);
	if (isolate_nodes(st, s, NULL, &done, &err) != STATUS_OK)
		fail_msg("%s: %s", name, err.text);
	const struct figures *f = &study_isolation(st, s)->node[graph_find_node(study_graph(st), "conv")];
	assert_true(f->known == 2 && f->pooled.snr_db > 20 && f->pooled.snr_db < 70);
	snapshot_drop(&s);
	study_close(&st);
	case_done(file);
}

// What the convolution alone does is as much as it does to y, which is all that the network
// computes in floats of a known shape.
void test_alone__outputs_that_are_no_floats_of_a_known_shape(void **state)
{
	struct onnx_case file;
	case_begin_conv(&file, "y");
	case_attr_int(&file, case_node(&file, "ArgMax", "best", "y", "z"), "axis", 1);
	file.graph->output[file.graph->n_output++] = case_value(&file, "z", INT64, DIMS(1, 1, 6, 6));
	check_isolated(&file, "argmax.onnx", false);
	case_begin_conv(&file, "y");
	end_in_growing_loop(&file);
	check_isolated(&file, "growing.onnx", false);
}

// An output that is a constant has no figures, and hides those of the others no more.
void test_alone__an_output_that_is_a_constant(void **state)
{
	struct onnx_case file;
	case_begin_conv(&file, "y");
	case_floats(&file, "anchors", DIMS(3), (const float[]){1, 2, 3});
	case_output(&file, file.graph, "y");
	case_output(&file, file.graph, "anchors");
	check_isolated(&file, "anchors.onnx", true);
}

static int count_warnings(int from, const char *text)
{
	char line[256];
	int n = 0;
	for (int i = from; i < support_log_count(); i++)
		n += log_line(i, line, sizeof line) == LOG_WARN && strstr(line, text);
	return n;
}

// Halves do not reach to a million.
void test_alone__says_what_overflows_when_quantized(void **state)
{
	struct onnx_case file;
	case_begin_conv(&file, "y");
	case_floats(&file, "million", DIMS(1), (const float[]){1e6f});
	case_node(&file, "Mul", "mul", "y million", "z");
	case_output(&file, file.graph, "z");
	int before = support_log_count();
	struct study *st = open_for_test(
	    (struct study_options){.model = case_save(&file, "large.onnx"), .target = "fp16", .data = {.random = 2}, .threads = 1});
	wait_for_run(st);
	assert_int_equal(count_warnings(before, "output z is finite in the float network, and is not when quantized: tensor z is the first "
	                                        "with infinite numbers, in sample random#0: node mul (Mul)"), 1);
	study_close(&st);
	case_done(&file);
}

// A logarithm of what is below 0, and a weight that is infinite: each is told once a study, by its name.
void test_alone__says_where_numbers_stop_being_finite(void **state)
{
	static const char *const said[] = {"tensor l is the first with NaN, in sample random#0: node log (Log) makes them of finite ones",
	    "the model's constant 'infinite' holds infinite numbers"};
	for (int i = 0; i < 2; i++) {
		struct onnx_case file;
		case_begin_conv(&file, "y");
		case_floats(&file, "infinite", DIMS(1, 1, 6, 6), (const float[36]){1, 2, 3, INFINITY});
		case_node(&file, i ? "Mul" : "Log", i ? "mul" : "log", i ? "y infinite" : "y", "l");
		case_node(&file, "Conv", "again", "l w", "z");
		case_output(&file, file.graph, "z");
		int before = support_log_count();
		struct study *st = open_for_test(
		    (struct study_options){.model = case_save(&file, "nonfinite.onnx"), .data = {.random = 2}, .threads = 1});
		for (int run = 0; run < 2; run++) {
			wait_for_run(st);
			if (run == 0)
				assert_int_equal(scale_node(st, graph_find_node(study_graph(st), "conv"), 0.5, &file.err), STATUS_OK);
		}
		assert_int_equal(count_warnings(before, said[i]), 1);
		study_close(&st);
		case_done(&file);
	}
}

// Of what is no number in both networks, an output that is computed in float says nothing: it is not exact.
void test_alone__an_output_that_is_no_number_is_not_exact(void **state)
{
	struct onnx_case file;
	case_begin_conv(&file, "y");
	case_node(&file, "Log", "log", "y", "z");
	case_output(&file, file.graph, "z");
	int before = support_log_count();
	struct study *st = open_for_test((struct study_options){
	    .model = case_save(&file, "nan_in_float.onnx"), .data = {.random = 2}, .threads = 1});
	if (study_command(st, "set conv float", &file.err))
		fail_msg("%s", file.err.text);
	struct snapshot *s = run_study(st);
	assert_true(s->output[0].known && !s->output[0].pooled.exact);
	assert_true(isnan(figures_snr(&s->output[0])));
	assert_int_equal(count_warnings(before, "tensor z is the first with NaN, in sample random#0: node log (Log)"), 1);
	snapshot_drop(&s);
	study_close(&st);
	case_done(&file);
}

static double alone_at_outputs(struct study *st, const char *node)
{
	struct error err = {0};
	struct snapshot *s = run_study(st);
	atomic_int done = 0;
	if (isolate_nodes(st, s, NULL, &done, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	const struct figures f = study_isolation(st, s)->node[graph_find_node(study_graph(st), node)];
	snapshot_drop(&s);
	assert_true(f.known && f.pooled.nsr > 0);
	return f.pooled.nsr;
}

// An output that is NaN in float, and one that is 0, have no noise over signal: the third speaks for the node.
void test_alone__outputs_without_a_signal_are_left_out(void **state)
{
	double nsr[2];
	for (int i = 0; i < 2; i++) {
		struct onnx_case file;
		case_begin_conv(&file, "y");
		case_output(&file, file.graph, "y");
		if (i == 1) {
			case_floats(&file, "nothing", DIMS(1), (const float[]){0});
			case_node(&file, "Sub", "sub", "y y", "d");
			case_node(&file, "Div", "div", "d d", "lost"); // 0 / 0
			case_node(&file, "Mul", "mul", "y nothing", "zeros");
			case_output(&file, file.graph, "lost");
			case_output(&file, file.graph, "zeros");
		}
		struct study *st = open_for_test((struct study_options){
		    .model = case_save(&file, "no_signal.onnx"), .target = "onnxruntime", .data = {.random = 2}, .threads = 1});
		nsr[i] = alone_at_outputs(st, "conv");
		study_close(&st);
		case_done(&file);
	}
	assert_true(nsr[0] == nsr[1]);
}

// xint8 runs a HardSigmoid for a Sigmoid: of a Conv alone that is none of its business, whether Sigmoids are quantized or not.
void test_alone__not_what_runs_in_another_nodes_place(void **state)
{
	static const char conv[] = "/model.12/cv3.1/cv3.1.2/Conv";
	struct error err = {0};
	int n, *sigmoid;
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = "xint8",
	    .method = CALIB_MINMAX, .threads = 1, .backend = BACKEND_ONEDNN, .data = {.samples = 1}, .task = {.none = true}});
	double beside = alone_at_outputs(st, conv);
	assert_int_equal(study_select(st, "op:Sigmoid", NULL, &sigmoid, &n, &err), STATUS_OK);
	assert_int_equal(study_set(st, sigmoid, n, PREC_FLOAT, NULL, &err), STATUS_OK);
	assert_float_equal(beside, alone_at_outputs(st, conv), 1e-9 * beside);
	free(sigmoid);
	study_close(&st);
}
