// What tells two results apart in the store and in session files.
#include "onnx_case.h"
#include "qtui/engine/run.h"

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define BOOL ONNX__TENSOR_PROTO__DATA_TYPE__BOOL

// OUT = condition ? YES(x) : NO(x), under a condition that is an input of the network.
static void add_if(struct onnx_case *c, const char *yes, const char *no, const char *out)
{
	Onnx__GraphProto *branch[2] = {case_graph(c), case_graph(c)};
	for (int i = 0; i < 2; i++) {
		case_node_in(c, branch[i], i ? no : yes, "inner", "x", "r");
		case_output(c, branch[i], "r");
	}
	Onnx__NodeProto *n = case_node(c, "If", out, "condition", out);
	case_attr_graph(c, n, "then_branch", branch[0]);
	case_attr_graph(c, n, "else_branch", branch[1]);
	case_output(c, c->graph, out);
}

static struct key *keys_of(const struct graph *g)
{
	struct key *k = xcalloc((size_t)g->n_values, sizeof *k);
	engine_keys(g, NULL, SIM_FLOAT, k);
	return k;
}

void test_keys__two_ifs_on_one_condition_differ_by_their_branches(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, 1, (const int64_t[]){4});
	case_input(&c, "condition", BOOL, 0, NULL);
	add_if(&c, "Neg", "Abs", "a");
	add_if(&c, "Neg", "Relu", "b");
	add_if(&c, "Neg", "Abs", "a_again");
	case_load(&c);
	const struct graph *g = c.loaded;
	assert_int_equal(g->n_outputs, 3);
	struct key *k = keys_of(g);
	assert_false(key_equal(k[g->output[0]], k[g->output[1]]));
	assert_true(key_equal(k[g->output[0]], k[g->output[2]]));
	free(k);
	case_done(&c);
}

void test_keys__attributes_and_inputs_tell_results_apart_and_names_do_not(void **state)
{
	struct onnx_case c;
	static const int64_t square[] = {4, 4}, axis[] = {0, 1, 0};
	static const char *const out[] = {"a", "b", "c"};
	case_init(&c);
	case_input(&c, "x", FLOAT, 2, square);
	case_input(&c, "y", FLOAT, 2, square);
	for (int i = 0; i < 3; i++) {
		case_attr_int(&c, case_node(&c, "Softmax", out[i], "x", out[i]), "axis", axis[i]);
		case_output(&c, c.graph, out[i]);
	}
	case_attr_int(&c, case_node(&c, "Softmax", "d", "y", "d"), "axis", axis[0]);
	case_output(&c, c.graph, "d");
	case_load(&c);
	const struct graph *g = c.loaded;
	struct key *k = keys_of(g);
	assert_false(key_equal(k[g->output[0]], k[g->output[1]]));
	assert_true(key_equal(k[g->output[0]], k[g->output[2]]));
	assert_false(key_equal(k[g->output[0]], k[g->output[3]]));
	free(k);
	case_done(&c);
}
