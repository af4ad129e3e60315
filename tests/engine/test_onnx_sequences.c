// Sequences of tensors, taken apart at load.
#include <stdio.h>
#include "onnx_case.h"
#include "qtui/engine/eval.h"

// x is [4, 2]: 0 .. 7.
static void begin(struct onnx_case *c)
{
	case_init(c);
	c->opset.version = 17;
	case_input(c, "x", FLOAT, DIMS(4, 2));
}

static void check(struct onnx_case *c, const char *out, int n, const float *want)
{
	float x[8];
	struct tensor in = {.type = DT_F32, .shape = {2, {4, 2}}, .data = x}, y;
	const struct tensor *list[1] = {&in};
	for (int i = 0; i < 8; i++)
		x[i] = (float)i;
	c->graph->n_output = 0;
	case_output(c, c->graph, out);
	case_load(c);
	if (graph_eval(c->loaded, list, &y, 1, &c->err))
		fail_msg("%s", c->err.text);
	assert_int_equal(tensor_count(&y), n);
	assert_memory_equal(y.data, want, (size_t)n * sizeof *want);
	tensor_drop(&y);
}

void test_onnx_sequences__elements_are_put_together(void **state)
{
	struct onnx_case c;
	begin(&c);
	case_ints(&c, "last", 1, (const int64_t[]){-1});
	case_ints(&c, "sizes", 2, (const int64_t[]){1, 3});
	case_attr_int(&c, case_node(&c, "SplitToSequence", "split", "x sizes", "parts"), "axis", 0);
	case_node(&c, "SequenceAt", "at", "parts last", "second");
	case_node(&c, "Neg", "neg", "second", "n");
	case_node(&c, "SequenceInsert", "insert", "parts n last", "more"); // before the last
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "join", "more", "y"), "axis", 0);
	check(&c, "y", 14, (const float[]){0, 1, -2, -3, -4, -5, -6, -7, 2, 3, 4, 5, 6, 7});
	case_done(&c);
}

void test_onnx_sequences__elements_are_taken_out(void **state)
{
	struct onnx_case c;
	begin(&c);
	case_ints(&c, "second", 1, (const int64_t[]){1});
	case_node(&c, "Neg", "neg", "x", "n");
	case_node(&c, "Abs", "abs", "n", "a");
	case_node(&c, "SequenceConstruct", "construct", "a n x", "all");
	case_node(&c, "SequenceErase", "erase", "all second", "two"); // a x
	case_node(&c, "SequenceErase", "erase_last", "two", "one");   // a
	case_node(&c, "SequenceInsert", "insert", "one n", "more");   // a n
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "join", "more", "y"), "axis", 0);
	check(&c, "y", 16, (const float[]){0, 1, 2, 3, 4, 5, 6, 7, -0.0f, -1, -2, -3, -4, -5, -6, -7});
	case_done(&c);
	begin(&c);
	case_ints(&c, "far", 1, (const int64_t[]){2});
	case_node(&c, "SequenceConstruct", "construct", "x x", "all");
	case_node(&c, "SequenceErase", "erase", "all far", "one");
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "join", "one", "y"), "axis", 0);
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "SequenceErase");
	case_done(&c);
}

void test_onnx_sequences__are_stacked_along_a_new_axis(void **state)
{
	struct onnx_case c;
	Onnx__NodeProto *n;
	begin(&c);
	case_node(&c, "Neg", "neg", "x", "n");
	case_node(&c, "SequenceConstruct", "construct", "x n", "both");
	n = case_node(&c, "ConcatFromSequence", "join", "both", "y");
	case_attr_int(&c, n, "axis", -1);
	case_attr_int(&c, n, "new_axis", 1);
	check(&c, "y", 16, (const float[]){0, -0.0f, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7});
	assert_int_equal(c.loaded->value[c.loaded->output[0]].shape.rank, 3);
	case_done(&c);
}

void test_onnx_sequences__pieces_are_cut_where_they_are_read(void **state)
{
	struct onnx_case c;
	Onnx__NodeProto *n;
	begin(&c);
	case_const(&c, "three", INT64, 0, NULL, &(int64_t){3}, sizeof(int64_t));
	case_const(&c, "one", INT64, 0, NULL, &(int64_t){1}, sizeof(int64_t));
	case_node(&c, "SplitToSequence", "split", "x three", "parts");
	case_node(&c, "SequenceAt", "at", "parts one", "short");
	n = case_node(&c, "SplitToSequence", "unbind", "x", "columns");
	case_attr_int(&c, n, "axis", 1);
	case_attr_int(&c, n, "keepdims", 0);
	case_node(&c, "SequenceAt", "column", "columns one", "odd");
	check(&c, "short", 2, (const float[]){6, 7});
	check(&c, "odd", 4, (const float[]){1, 3, 5, 7});
	assert_int_equal(c.loaded->value[c.loaded->output[0]].shape.rank, 1);
	case_done(&c);
}

void test_onnx_sequences__pieces_are_counted_and_joined(void **state)
{
	struct onnx_case c;
	Onnx__NodeProto *n;
	begin(&c);
	n = case_node(&c, "SplitToSequence", "unbind", "x", "rows");
	case_attr_int(&c, n, "keepdims", 0);
	case_node(&c, "SequenceLength", "length", "rows", "n");
	case_attr_int(&c, case_node(&c, "Cast", "cast", "n", "count"), "to", FLOAT);
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "join", "rows", "flat"), "axis", 0);
	n = case_node(&c, "ConcatFromSequence", "stack", "rows", "y");
	case_attr_int(&c, n, "axis", 0);
	case_attr_int(&c, n, "new_axis", 1);
	check(&c, "count", 1, (const float[]){4});
	check(&c, "flat", 8, (const float[]){0, 1, 2, 3, 4, 5, 6, 7});
	assert_int_equal(c.loaded->value[c.loaded->output[0]].shape.rank, 1);
	check(&c, "y", 8, (const float[]){0, 1, 2, 3, 4, 5, 6, 7});
	assert_int_equal(c.loaded->value[c.loaded->output[0]].shape.rank, 2);
	case_done(&c);
}

static void scalar(struct onnx_case *c, const char *name, int64_t v)
{
	case_const(c, name, INT64, 0, NULL, &v, sizeof v);
}

// x has four rows: pieces of three of them, the last one shorter, from the end, counted, and joined otherwise.
void test_onnx_sequences__pieces_of_one_size_from_the_end(void **state)
{
	struct onnx_case c;
	begin(&c);
	scalar(&c, "three", 3);
	scalar(&c, "last", -1);
	scalar(&c, "first", -2);
	case_node(&c, "SplitToSequence", "split", "x three", "parts");
	case_node(&c, "SequenceAt", "at", "parts last", "short");
	case_node(&c, "SequenceAt", "before", "parts first", "long");
	case_node(&c, "SequenceLength", "length", "parts", "n");
	case_attr_int(&c, case_node(&c, "Cast", "cast", "n", "count"), "to", FLOAT);
	check(&c, "short", 2, (const float[]){6, 7});
	check(&c, "long", 6, (const float[]){0, 1, 2, 3, 4, 5});
	check(&c, "count", 1, (const float[]){2});
	assert_int_equal(c.loaded->value[c.loaded->output[0]].shape.rank, 0);
	case_done(&c);
}

void test_onnx_sequences__pieces_are_joined_along_another_axis(void **state)
{
	struct onnx_case c;
	Onnx__NodeProto *n;
	begin(&c);
	scalar(&c, "two", 2);
	case_node(&c, "SplitToSequence", "split", "x two", "halves");
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "beside", "halves", "wide"), "axis", 1);
	n = case_node(&c, "SplitToSequence", "unbind", "x", "columns");
	case_attr_int(&c, n, "axis", 1);
	case_attr_int(&c, n, "keepdims", 0);
	case_node(&c, "SequenceErase", "erase", "columns", "fewer");
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "below", "columns", "long"), "axis", 0);
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "one", "fewer", "even"), "axis", 0);
	check(&c, "wide", 8, (const float[]){0, 1, 4, 5, 2, 3, 6, 7});
	check(&c, "long", 8, (const float[]){0, 2, 4, 6, 1, 3, 5, 7});
	check(&c, "even", 4, (const float[]){0, 2, 4, 6});
	case_done(&c);
}

// The rows of what is computed: the file does not say how many there are.
void test_onnx_sequences__a_length_that_the_file_does_not_say(void **state)
{
	struct onnx_case c;
	begin(&c);
	scalar(&c, "two", 2);
	case_node(&c, "Relu", "relu", "x", "h");
	case_node(&c, "SplitToSequence", "split", "h two", "halves");
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "beside", "halves", "wide"), "axis", 1);
	case_output(&c, c.graph, "wide");
	case_refused(&c, STATUS_UNSUPPORTED, "ConcatFromSequence needs the length of its sequence");
	c.graph->value_info = case_new(&c, sizeof *c.graph->value_info);
	c.graph->value_info[c.graph->n_value_info++] = case_value(&c, "h", FLOAT, DIMS(4, 2));
	case_load(&c);
	case_done(&c);
}

// for row in x: rows.append(-row); a sum is carried beside the list.
// `position`: where the list is inserted into ("": at its end). Returns its body.
static Onnx__GraphProto *appending_loop(struct onnx_case *c, const char *position)
{
	Onnx__GraphProto *body;
	char inputs[64];
	begin(c);
	case_ints(c, "four", 1, (const int64_t[]){4});
	case_floats(c, "nothing", DIMS(2), (const float[]){0, 0});
	case_ints(c, "first", 1, (const int64_t[]){0});
	snprintf(inputs, sizeof inputs, "list minus%s", position);
	body = case_graph(c);
	body->input[body->n_input++] = case_value(c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(c, "going", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(c, "list", FLOAT, 0, NULL);
	body->input[body->n_input++] = case_value(c, "sum", FLOAT, 1, (const int64_t[]){2});
	case_node_in(c, body, "Gather", "row", "x i", "r");
	case_node_in(c, body, "Neg", "neg", "r", "minus");
	case_node_in(c, body, "SequenceInsert", "append", inputs, "longer");
	case_node_in(c, body, "Add", "add", "sum r", "more");
	case_node_in(c, body, "Identity", "on", "going", "still");
	case_output(c, body, "still");
	case_output(c, body, "longer");
	case_output(c, body, "more");
	case_node(c, "SequenceEmpty", "empty", "", "none");
	case_attr_graph(c, case_node(c, "Loop", "loop", "four - none nothing", "rows total"), "body", body);
	return body;
}

void test_onnx_sequences__a_loop_appends(void **state)
{
	struct onnx_case c;
	Onnx__NodeProto *n;
	appending_loop(&c, "");
	n = case_node(&c, "ConcatFromSequence", "stack", "rows", "y");
	case_attr_int(&c, n, "axis", 0);
	case_attr_int(&c, n, "new_axis", 1);
	case_ints(&c, "last", 1, (const int64_t[]){-1});
	case_node(&c, "SequenceAt", "at", "rows last", "z");
	check(&c, "y", 8, (const float[]){-0.0f, -1, -2, -3, -4, -5, -6, -7});
	check(&c, "z", 2, (const float[]){-6, -7});
	check(&c, "total", 2, (const float[]){12, 16});
	case_done(&c);
	appending_loop(&c, " first"); // in front: the order is another
	n = case_node(&c, "ConcatFromSequence", "stack", "rows", "y");
	case_attr_int(&c, n, "axis", 0);
	check(&c, "y", 8, (const float[]){-6, -7, -4, -5, -2, -3, -0.0f, -1});
	check(&c, "total", 2, (const float[]){12, 16});
	case_done(&c);
}

void test_onnx_sequences__a_loop_appends_to_two_lists(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *body;
	Onnx__NodeProto *n;
	begin(&c);
	case_ints(&c, "four", 1, (const int64_t[]){4});
	body = case_graph(&c);
	body->input[body->n_input++] = case_value(&c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(&c, "going", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(&c, "list", FLOAT, 0, NULL);
	body->input[body->n_input++] = case_value(&c, "other", FLOAT, 0, NULL);
	case_node_in(&c, body, "Gather", "row", "x i", "r");
	case_node_in(&c, body, "Neg", "neg", "r", "minus");
	case_node_in(&c, body, "SequenceInsert", "append", "list minus", "longer");
	case_node_in(&c, body, "SequenceInsert", "append2", "other r", "longer2");
	case_node_in(&c, body, "Identity", "on", "going", "still");
	case_output(&c, body, "still");
	case_output(&c, body, "longer");
	case_output(&c, body, "longer2");
	case_node(&c, "SequenceEmpty", "empty", "", "none");
	case_attr_graph(&c, case_node(&c, "Loop", "loop", "four - none none", "rows others"), "body", body);
	n = case_node(&c, "ConcatFromSequence", "stack", "rows", "y");
	case_attr_int(&c, n, "axis", 0);
	n = case_node(&c, "ConcatFromSequence", "stack2", "others", "z");
	case_attr_int(&c, n, "axis", 0);
	check(&c, "y", 8, (const float[]){-0.0f, -1, -2, -3, -4, -5, -6, -7});
	check(&c, "z", 8, (const float[]){0, 1, 2, 3, 4, 5, 6, 7});
	case_done(&c);
}

// What the body knows of its list besides is not known of a tensor of one iteration: its nodes are there once an iteration.
void test_onnx_sequences__a_list_that_the_loop_reads(void **state)
{
	static const char *const read[] = {"list", "longer"};
	for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
		struct onnx_case c;
		Onnx__GraphProto *body = appending_loop(&c, "");
		Onnx__NodeProto *loop = c.graph->node[c.graph->n_node - 1];
		float first = (float)i;
		case_node_in(&c, body, "SequenceLength", "how_many", read[i], "n");
		case_output(&c, body, "n");
		loop->output[loop->n_output++] = case_text(&c, "lengths");
		case_attr_int(&c, case_node(&c, "Cast", "cast", "lengths", "y"), "to", FLOAT);
		check(&c, "y", 4, (const float[]){first, first + 1, first + 2, first + 3});
		check(&c, "total", 2, (const float[]){12, 16});
		case_done(&c);
	}
}

void test_onnx_sequences__what_is_not_known_is_refused(void **state)
{
	struct onnx_case c;
	begin(&c);
	case_node(&c, "SequenceConstruct", "construct", "x x", "both");
	case_input(&c, "which", INT64, 0, NULL);
	case_node(&c, "SequenceAt", "at", "both which", "y");
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "SequenceAt");
	case_done(&c);
}

// The elements of the first were taken from the second.
void test_onnx_sequences__a_name_that_is_given_twice_is_refused(void **state)
{
	struct onnx_case c;
	for (int by_map = 0; by_map < 2; by_map++) {
		begin(&c);
		case_node(&c, "SequenceConstruct", "construct", "x x", "both");
		if (by_map) {
			Onnx__GraphProto *body = case_graph(&c);
			body->input[body->n_input++] = case_value(&c, "element", FLOAT, 0, NULL);
			case_node_in(&c, body, "Neg", "neg", "element", "minus");
			case_output(&c, body, "minus");
			case_attr_graph(&c, case_node(&c, "SequenceMap", "again", "both", "both"), "body", body);
		} else
			case_node(&c, "Neg", "again", "x", "both");
		case_attr_int(&c, case_node(&c, "ConcatFromSequence", "join", "both", "y"), "axis", 0);
		case_output(&c, c.graph, "y");
		case_refused(&c, STATUS_FORMAT, "tensor 'both' is defined twice");
		case_done(&c);
	}
}

void test_onnx_sequences__a_split_of_nothing_is_refused(void **state)
{
	struct onnx_case c;
	begin(&c);
	case_node(&c, "SplitToSequence", "split", "", "pieces");
	case_attr_int(&c, case_node(&c, "ConcatFromSequence", "join", "pieces", "y"), "axis", 0);
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "node split: SplitToSequence");
	case_done(&c);
}

// Each sequence begins as a copy of the longest one: a file of some kilobytes asked for gigabytes of names.
void test_onnx_sequences__copies_are_bounded(void **state)
{
	enum { LONG = 4000, COPIES = 1100 }; // 4.4 M elements
	static int64_t ones[LONG];
	struct onnx_case c;
	char name[16];
	case_init(&c);
	c.opset.version = 17;
	c.graph->node = case_new(&c, (COPIES + 8) * sizeof *c.graph->node);
	for (int i = 0; i < LONG; i++)
		ones[i] = 1;
	case_input(&c, "x", FLOAT, DIMS(LONG, 2));
	case_ints(&c, "sizes", LONG, ones);
	case_node(&c, "SplitToSequence", "split", "x sizes", "parts");
	for (int i = 0; i < COPIES; i++) {
		snprintf(name, sizeof name, "more%d", i);
		case_node(&c, "SequenceInsert", name, "parts x", name);
	}
	case_node(&c, "SequenceLength", "length", name, "y");
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "SequenceInsert");
	case_done(&c);
}
