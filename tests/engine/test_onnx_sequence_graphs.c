// Nodes with graphs inside that read or carry sequences.
#include "onnx_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/op.h"

#define BOOL ONNX__TENSOR_PROTO__DATA_TYPE__BOOL

// x is [4]: -1, 0, 1, 2. Constants: zero to three, and the list four.
static void begin(struct onnx_case *c)
{
	static const char *const names[] = {"zero", "one", "two", "three"};
	case_init(c);
	c->opset.version = 17;
	case_input(c, "x", FLOAT, DIMS(4));
	for (int64_t i = 0; i < 4; i++)
		case_ints(c, names[i], 1, &i)->n_dims = 0;
	case_ints(c, "four", 1, (const int64_t[]){4});
}

static void check(struct onnx_case *c, const char *out, int n, const float *want)
{
	float x[4] = {-1, 0, 1, 2};
	struct tensor in = {.type = DT_F32, .shape = {1, {4}}, .data = x}, y;
	const struct tensor *list[1] = {&in};
	c->graph->n_output = 0;
	case_output(c, c->graph, out);
	case_load(c);
	if (graph_eval(c->loaded, list, &y, 1, &c->err))
		fail_msg("%s", c->err.text);
	assert_int_equal(y.type, DT_F32);
	assert_int_equal(tensor_count(&y), n);
	for (int i = 0; i < n; i++)
		assert_float_equal(((const float *)y.data)[i], want[i], 0);
	tensor_drop(&y);
}

// A body that is given the iteration's number i, `going`, and a carried list and number.
static Onnx__GraphProto *loop_body(struct onnx_case *c)
{
	Onnx__GraphProto *body = case_graph(c);
	body->input[body->n_input++] = case_value(c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(c, "going", BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(c, "list", FLOAT, 0, NULL);
	body->input[body->n_input++] = case_value(c, "sum", FLOAT, 1, (const int64_t[]){4});
	return body;
}

// The body of torch.onnx's as_strided: only the first iteration does without the list, which is empty in it.
static void strided_loop(struct onnx_case *c, const char *trips)
{
	Onnx__GraphProto *body = loop_body(c), *then = case_graph(c), *other = case_graph(c);
	Onnx__NodeProto *choose;
	case_node_in(c, body, "Equal", "first", "i zero", "is_first");
	case_node_in(c, then, "Identity", "same", "x", "begun");
	case_output(c, then, "begun");
	case_attr_int(c, case_node_in(c, other, "ConcatFromSequence", "join", "list", "all"), "axis", 0);
	case_attr_int(c, case_node_in(c, other, "ReduceSum", "total", "all", "added"), "keepdims", 1);
	case_output(c, other, "added");
	choose = case_node_in(c, body, "If", "choose", "is_first", "piece");
	case_attr_graph(c, choose, "then_branch", then);
	case_attr_graph(c, choose, "else_branch", other);
	case_node_in(c, body, "SequenceInsert", "append", "list piece", "longer");
	case_node_in(c, body, "Add", "add", "sum piece", "more");
	case_output(c, body, "still");
	case_output(c, body, "longer");
	case_output(c, body, "more");
	case_node(c, "SequenceEmpty", "empty", "", "none");
	case_attr_graph(c, case_node(c, "Loop", "loop", trips, "pieces y"), "body", body);
	case_node_in(c, body, "Identity", "on", "going", "still");
}

// 2 = the sum of x; then the sum of the list each time: 2, 4, 8.
void test_onnx_sequence_graphs__a_loop_reads_the_list_that_it_carries(void **state)
{
	struct onnx_case c;
	begin(&c);
	strided_loop(&c, "four - none x");
	check(&c, "y", 4, (const float[]){-2 + 2 + 4 + 8, 0 + 2 + 4 + 8, 2 + 2 + 4 + 8, 4 + 2 + 4 + 8});
	for (int i = 0; i < c.loaded->n_nodes; i++)
		assert_string_not_equal(c.loaded->node[i].op->name, "Loop");
	assert_true(graph_find_value(c.loaded, "pieces/iteration_3/piece") >= 0);
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "join", "pieces", "z"), "axis", 0);
	check(&c, "z", 7, (const float[]){-1, 0, 1, 2, 2, 4, 8});
	case_done(&c);
	begin(&c);
	strided_loop(&c, "zero - none x"); // not once
	check(&c, "y", 4, (const float[]){-1, 0, 1, 2});
	case_done(&c);
}

void test_onnx_sequence_graphs__a_loop_that_may_stop_is_refused(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *body;
	begin(&c);
	strided_loop(&c, "four - none x");
	body = c.graph->node[c.graph->n_node - 1]->attribute[0]->g;
	body->n_node--; // that which goes on as before
	case_node_in(&c, body, "Less", "on", "i two", "still");
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "node loop (Loop): 'none', which it reads, is a sequence");
	case_done(&c);
	begin(&c);
	case_input(&c, "trips", INT64, 0, NULL);
	strided_loop(&c, "trips - none x");
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "node loop (Loop): 'none', which it reads, is a sequence");
	case_done(&c);
}

// for piece in x.unbind(): how many there are is known when it runs.
void test_onnx_sequence_graphs__a_loop_reads_as_many_as_there_are(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *body;
	begin(&c);
	body = case_graph(&c);
	body->input[body->n_input++] = case_value(&c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(&c, "going", BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(&c, "sum", FLOAT, 0, NULL);
	case_node_in(&c, body, "SequenceAt", "at", "pieces i", "piece");
	case_node_in(&c, body, "Add", "add", "sum piece", "more");
	case_node_in(&c, body, "Identity", "on", "going", "still");
	case_output(&c, body, "still");
	case_output(&c, body, "more");
	case_attr_int(&c, case_node(&c, "SplitToSequence", "unbind", "x", "pieces"), "keepdims", 0);
	case_node(&c, "SequenceLength", "length", "pieces", "n");
	case_floats(&c, "nothing", 0, NULL, (const float[]){0});
	case_attr_graph(&c, case_node(&c, "Loop", "loop", "n - nothing", "y"), "body", body);
	check(&c, "y", 1, (const float[]){2});
	assert_int_equal(graph_find_value(c.loaded, "y/iteration_0/piece"), -1);
	case_done(&c);
}

// for piece in pieces: the list is from outside, and `half` is the body's own.
void test_onnx_sequence_graphs__a_loop_reads_a_list_from_outside(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *body;
	begin(&c);
	body = case_graph(&c);
	body->input[body->n_input++] = case_value(&c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(&c, "going", BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(&c, "sum", FLOAT, 0, NULL);
	case_floats(&c, "half", 0, NULL, (const float[]){0.5f});
	body->initializer[body->n_initializer++] = c.graph->initializer[--c.graph->n_initializer];
	case_node_in(&c, body, "SequenceAt", "at", "pieces i", "piece");
	case_node_in(&c, body, "Mul", "halve", "piece half", "halved");
	case_node_in(&c, body, "Add", "add", "sum halved", "more");
	case_attr_int(&c, case_node_in(&c, body, "Cast", "on", "going", "still"), "to", BOOL);
	case_output(&c, body, "still");
	case_output(&c, body, "more");
	case_node(&c, "SplitToSequence", "split", "x one", "pieces");
	case_attr_graph(&c, case_node(&c, "Loop", "loop", "three - x", "y"), "body", body);
	check(&c, "y", 4, (const float[]){-1, 0, 1, 2}); // -.5 + 0 + .5
	case_done(&c);
}

// (-element + other) * x
static void map(struct onnx_case *c, const char *others)
{
	Onnx__GraphProto *body;
	begin(c);
	body = case_graph(c);
	body->input[body->n_input++] = case_value(c, "e", FLOAT, 0, NULL);
	body->input[body->n_input++] = case_value(c, "other", FLOAT, 0, NULL);
	body->input[body->n_input++] = case_value(c, "all", FLOAT, 0, NULL);
	case_node_in(c, body, "Neg", "neg", "e", "minus");
	case_node_in(c, body, "Add", "add", "minus other", "sum");
	case_node_in(c, body, "Mul", "mul", "sum all", "product");
	case_output(c, body, "product");
	case_output(c, body, "e");
	case_node(c, "SplitToSequence", "split", "x one", "pieces");
	case_node(c, "SequenceConstruct", "construct", others, "others");
	case_attr_graph(c, case_node(c, "SequenceMap", "map", "pieces others x", "mapped same"), "body", body);
	case_attr_int(c, case_node(c, "ConcatFromSequence", "join_same", "same", "z"), "axis", 0);
	case_node(c, "SequenceAt", "at", "mapped three", "y");
}

void test_onnx_sequence_graphs__a_map_over_elements(void **state)
{
	struct onnx_case c;
	map(&c, "x x x x");
	check(&c, "y", 4, (const float[]){3, 0, -1, 0});
	check(&c, "z", 4, (const float[]){-1, 0, 1, 2});
	case_done(&c);
	map(&c, "x x x"); // fewer than the first list has
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "node map: SequenceMap needs the length of its sequence");
	case_done(&c);
}

// An input that another node leaves out was that list.
void test_onnx_sequence_graphs__a_map_need_not_give_a_list(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *body;
	begin(&c);
	body = case_graph(&c);
	body->input[body->n_input++] = case_value(&c, "element", FLOAT, 0, NULL);
	case_node_in(&c, body, "Neg", "neg", "element", "minus");
	case_output(&c, body, "minus");
	case_output(&c, body, "element");
	case_node(&c, "SequenceConstruct", "construct", "x x", "both");
	case_attr_graph(&c, case_node(&c, "SequenceMap", "map", "both", "mapped -"), "body", body);
	case_node(&c, "SequenceAt", "at", "mapped one", "first");
	case_floats(&c, "most", 0, NULL, (const float[]){0});
	case_node(&c, "Clip", "clip", "first - most", "y");
	check(&c, "y", 4, (const float[]){0, 0, -1, -2});
	case_done(&c);
}

// Each branch gives a list, of which one element is from outside. `less`: how many the second leaves out.
static void choice(struct onnx_case *c, const char *condition, bool less)
{
	Onnx__GraphProto *then, *other;
	Onnx__NodeProto *choose;
	begin(c);
	then = case_graph(c);
	other = case_graph(c);
	case_attr_int(c, case_node(c, "ReduceMax", "top", "x", "highest"), "keepdims", 0);
	case_attr_int(c, case_node(c, "Cast", "as_int", "highest", "two_too"), "to", INT64);
	case_node(c, "Equal", "ask", condition, "asked");
	case_node_in(c, then, "Neg", "neg", "x", "minus");
	case_node_in(c, then, "SequenceConstruct", "list", "minus x", "first_list");
	case_output(c, then, "first_list");
	case_output(c, then, "minus");
	case_node_in(c, other, "Abs", "abs", "x", "size");
	case_node_in(c, other, "SequenceConstruct", "list2", less ? "x" : "x size", "second_list");
	case_output(c, other, "second_list");
	case_output(c, other, "size");
	choose = case_node(c, "If", "choose", "asked", "list beside");
	case_attr_graph(c, choose, "then_branch", then);
	case_attr_graph(c, choose, "else_branch", other);
	case_attr_int(c, case_node(c, "ConcatFromSequence", "join", "list", "joined"), "axis", 0);
	case_attr_int(c, case_node(c, "Concat", "add", "joined beside", "y"), "axis", 0);
}

void test_onnx_sequence_graphs__branches_give_a_list(void **state)
{
	static const float first[] = {1, 0, -1, -2, -1, 0, 1, 2, 1, 0, -1, -2}, second[] = {-1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2};
	static const struct {
		const char *condition;
		const float *want;
	} cases[] = {{"two two", first}, {"one two", second}, {"two_too two", first}, {"two_too one", second}}; // known, and not
	struct onnx_case c;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		choice(&c, cases[i].condition, false);
		check(&c, "y", 12, cases[i].want);
		case_done(&c);
	}
	choice(&c, "two_too two", true);
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "node join: ConcatFromSequence needs the length of its sequence");
	case_done(&c);
}

// A file of some kilobytes asked for gigabytes of nodes: a loop in a loop in a loop.
void test_onnx_sequence_graphs__repeated_nodes_are_bounded(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *inner = NULL;
	begin(&c);
	case_ints(&c, "many", 1, (const int64_t[]){4000});
	for (int depth = 0; depth < 3; depth++) {
		Onnx__GraphProto *body = case_graph(&c);
		body->input[body->n_input++] = case_value(&c, depth == 0 ? "i0" : depth == 1 ? "i1" : "i2", INT64, 0, NULL);
		body->input[body->n_input++] = case_value(&c, "going", BOOL, 0, NULL);
		case_output(&c, body, "going");
		if (inner)
			case_attr_graph(&c, case_node_in(&c, body, "Loop", "inside", "many -", depth == 1 ? "r0" : "r1"), "body", inner);
		else
			case_node_in(&c, body, "SequenceAt", "at", "both i0", "piece");
		case_output(&c, body, depth == 0 ? "piece" : depth == 1 ? "r0" : "r1");
		inner = body;
	}
	case_node(&c, "SequenceConstruct", "construct", "x x", "both");
	case_attr_graph(&c, case_node(&c, "Loop", "loop", "many -", "y"), "body", inner);
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "SequenceAt needs the length of its sequence");
	case_done(&c);
}
