// Inputs that decide what an If computes, and have one value in all samples.
#include "onnx_case.h"
#include "qtui/engine/data.h"

#define BOOL ONNX__TENSOR_PROTO__DATA_TYPE__BOOL

// What the samples are said to hold: the values of each input.
struct said {
	const char *name;
	int64_t value[2];
	int n;
};
static int asked;

static int values(int64_t value[2], const struct graph *inputs, int input, const void *arg)
{
	asked++;
	for (const struct said *s = arg; s->name; s++)
		if (!strcmp(s->name, inputs->value[inputs->input[input]].name)) {
			memcpy(value, s->value, sizeof s->value);
			return s->n;
		}
	return 0;
}

static const struct graph *load(struct onnx_case *c, const struct said *said)
{
	asked = 0;
	if (case_load_with(c, &(struct onnx_options){.values = values, .arg = said}))
		fail_msg("%s", c->err.text);
	return c->loaded;
}

static Onnx__GraphProto *branch(struct onnx_case *c, const char *op, const char *name, const char *in)
{
	Onnx__GraphProto *g = case_graph(c);
	case_node_in(c, g, op, name, in, "out");
	case_output(c, g, "out");
	return g;
}

static void add_if(struct onnx_case *c, Onnx__GraphProto *g, const char *name, const char *condition, const char *out, Onnx__GraphProto *yes,
    Onnx__GraphProto *no)
{
	Onnx__NodeProto *n = case_node_in(c, g, "If", name, condition, out);
	case_attr_graph(c, n, "then_branch", yes);
	case_attr_graph(c, n, "else_branch", no);
}

// y = sr == 16000 ? relu(x) : -x
static void rate_case(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4));
	case_input(c, "sr", INT64, 0, NULL);
	case_ints(c, "rate", 1, (const int64_t[]){16000});
	case_node(c, "Equal", "is_16000", "sr rate", "condition");
	add_if(c, c->graph, "if", "condition", "y", branch(c, "Relu", "yes", "x"), branch(c, "Neg", "no", "x"));
	case_output(c, c->graph, "y");
}

void test_onnx_fixed__one_value_takes_the_branch(void **state)
{
	static const struct said said[] = {{"sr", {8000}, 1}, {0}};
	struct onnx_case c;
	rate_case(&c);
	const struct graph *g = load(&c, said);
	assert_int_equal(g->n_nodes, 1);
	assert_string_equal(g->node[0].name, "no");
	assert_string_equal(g->value[g->output[0]].name, "y");
	assert_int_equal(g->origin[g->node[0].origin].fate, FATE_KEPT);
	assert_int_equal(asked, 1);
	case_done(&c);
}

// The interface stays, in the file that is written too; only the constant is read.
void test_onnx_fixed__the_input_stays_an_input(void **state)
{
	static const struct said said[] = {{"sr", {16000}, 1}, {0}};
	struct onnx_case c;
	rate_case(&c);
	case_node(&c, "Cast", "float", "sr", "f");
	case_attr_int(&c, c.graph->node[c.graph->n_node - 1], "to", FLOAT);
	case_node(&c, "Mul", "mul", "y f", "z");
	case_output(&c, c.graph, "z");
	const struct graph *g = load(&c, said);
	const struct value *sr = &g->value[g->input[1]];
	assert_int_equal(g->n_inputs, 2);
	assert_string_equal(sr->name, "sr");
	assert_null(sr->constant);
	assert_int_equal(sr->n_consumers, 0);
	assert_int_equal(*sr->fixed, 16000);
	assert_null(g->value[g->input[0]].fixed);
	case_rewrite(&c);
	assert_int_equal(c.loaded->n_inputs, 2);
	assert_string_equal(c.loaded->value[c.loaded->input[1]].name, "sr");
	assert_null(c.loaded->value[c.loaded->input[1]].fixed);
	assert_int_equal(c.loaded->n_nodes, 2);
	case_done(&c);
}

void test_onnx_fixed__without_one_value_the_if_stays(void **state)
{
	static const struct said two[] = {{"sr", {16000, 8000}, 2}, {0}}, none[] = {{0}};
	struct onnx_case c;
	rate_case(&c);
	assert_int_equal(load(&c, two)->node[1].n_subgraphs, 2);
	assert_int_equal(load(&c, none)->node[1].n_subgraphs, 2);
	assert_null(c.loaded->value[c.loaded->input[1]].fixed);
	case_load(&c);
	assert_int_equal(c.loaded->node[1].n_subgraphs, 2);
	case_done(&c);
}

// An input is not given away where that settles nothing.
void test_onnx_fixed__what_something_else_decides_too_stays(void **state)
{
	static const struct said said[] = {{"sr", {16000}, 1}, {"flag", {1}, 1}, {0}};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_input(&c, "sr", INT64, 0, NULL);
	case_ints(&c, "rate", 1, (const int64_t[]){16000});
	case_floats(&c, "zero", DIMS(1), (const float[]){0});
	case_node(&c, "Equal", "is_16000", "sr rate", "right");
	case_node(&c, "ReduceMax", "max", "x", "largest");
	case_node(&c, "Greater", "loud", "largest zero", "is_loud");
	case_node(&c, "And", "and", "right is_loud", "condition");
	add_if(&c, c.graph, "if", "condition", "y", branch(&c, "Relu", "yes", "x"), branch(&c, "Neg", "no", "x"));
	case_output(&c, c.graph, "y");
	const struct graph *g = load(&c, said);
	assert_int_equal(asked, 0);
	assert_int_equal(g->node[g->n_nodes - 1].n_subgraphs, 2);
	assert_null(g->value[g->input[1]].fixed);
	case_done(&c);
}

// An If in the branch of another, which asks another input, and a branch that reads the first one.
void test_onnx_fixed__branches_of_branches(void **state)
{
	static const struct said said[] = {{"sr", {16000}, 1}, {"flag", {0}, 1}, {0}};
	struct onnx_case c;
	Onnx__GraphProto *yes;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_input(&c, "sr", INT64, 0, NULL);
	case_input(&c, "flag", BOOL, DIMS(1));
	case_ints(&c, "rate", 1, (const int64_t[]){16000});
	case_node(&c, "Equal", "is_16000", "sr rate", "condition");
	yes = case_graph(&c);
	case_node_in(&c, yes, "Cast", "float", "sr", "f");
	case_attr_int(&c, yes->node[0], "to", FLOAT);
	case_node_in(&c, yes, "Mul", "mul", "x f", "scaled");
	add_if(&c, yes, "inner", "flag", "out", branch(&c, "Relu", "yes", "scaled"), branch(&c, "Neg", "no", "scaled"));
	case_output(&c, yes, "out");
	add_if(&c, c.graph, "if", "condition", "y", yes, branch(&c, "Abs", "abs", "x"));
	case_output(&c, c.graph, "y");
	const struct graph *g = load(&c, said);
	assert_int_equal(g->n_nodes, 2);
	assert_string_equal(g->node[0].name, "mul");
	assert_float_equal(*(float *)g->value[g->node[0].in[1]].constant->data, 16000, 0);
	assert_string_equal(g->node[1].name, "no");
	assert_int_equal(*g->value[g->input[2]].fixed, 0);
	case_done(&c);
}

// Where an If is left because its own input differs, those that others ask are still fixed,
// and every input is asked once.
void test_onnx_fixed__each_if_by_itself(void **state)
{
	static const struct said said[] = {{"a", {1}, 1}, {"b", {0, 1}, 2}, {0}};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_input(&c, "a", BOOL, 0, NULL);
	case_input(&c, "b", BOOL, 0, NULL);
	add_if(&c, c.graph, "one", "a", "p", branch(&c, "Relu", "one_yes", "x"), branch(&c, "Neg", "one_no", "x"));
	add_if(&c, c.graph, "two", "b", "q", branch(&c, "Relu", "two_yes", "p"), branch(&c, "Neg", "two_no", "p"));
	add_if(&c, c.graph, "three", "b", "y", branch(&c, "Relu", "three_yes", "q"), branch(&c, "Neg", "three_no", "q"));
	case_output(&c, c.graph, "y");
	const struct graph *g = load(&c, said);
	assert_int_equal(g->n_nodes, 3);
	assert_string_equal(g->node[0].name, "one_yes");
	assert_int_equal(g->node[1].n_subgraphs, 2);
	assert_int_equal(g->node[2].n_subgraphs, 2);
	assert_int_equal(*g->value[g->input[1]].fixed, 1);
	assert_null(g->value[g->input[2]].fixed);
	assert_true(asked <= 3);
	case_done(&c);
}

void test_onnx_fixed__another_value_is_refused(void **state)
{
	const int64_t fixed = 16000;
	const struct value sr = {.name = "sr", .type = DT_I64, .fixed = &fixed}, any = {.name = "n", .type = DT_I64};
	int64_t data = 16000;
	const struct tensor t = {.type = DT_I64, .shape = {.rank = 0}, .data = &data};
	struct error err = {0};
	assert_int_equal(input_as_fixed(&sr, &t, &err), STATUS_OK);
	data = 8000;
	assert_int_equal(input_as_fixed(&any, &t, &err), STATUS_OK);
	assert_int_equal(input_as_fixed(&sr, &t, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "'sr' is 8000"));
	assert_non_null(strstr(err.text, "16000"));
}
