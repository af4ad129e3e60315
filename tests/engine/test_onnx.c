// Reading ONNX files: what is in the graph afterwards.
#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>
#include "onnx_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/op.h"

static const float ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// x [1, 4] -> Relu -> Neg -> y
static void small_case(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4));
	case_node(c, "Relu", "first", "x", "h");
	case_node(c, "Neg", "", "h", "y");
	case_output(c, c->graph, "y");
}

void test_onnx__nodes_values_and_origins(void **state)
{
	struct onnx_case c;
	const struct graph *g;
	small_case(&c);
	case_load(&c);
	g = c.loaded;
	assert_int_equal(g->n_nodes, 2);
	assert_int_equal(g->opset, 13);
	assert_string_equal(g->node[0].name, "first");
	assert_string_equal(g->node[1].name, "Neg_1"); // no name in the file: operator and index
	assert_int_equal(graph_find_node(g, "Neg_1"), 1);
	assert_int_equal(graph_find_node(g, "Neg_2"), -1);
	assert_int_equal(graph_no_node(g, "frist", &c.err), STATUS_NOTFOUND);
	assert_non_null(strstr(c.err.text, "the nearest is first"));
	assert_int_equal(g->n_inputs, 1);
	assert_int_equal(g->value[g->input[0]].shape.dim[1], 4);
	assert_int_equal(g->value[graph_find_value(g, "h")].producer, 0);
	assert_int_equal(g->value[graph_find_value(g, "h")].consumer[0], 1);
	assert_true(g->value[g->output[0]].is_output);
	assert_int_equal(strlen(g->sha256), 64);
	case_done(&c);
}

void test_onnx__nodes_are_sorted(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_node(&c, "Add", "last", "a b", "y");
	case_node(&c, "Relu", "second", "a", "b");
	case_node(&c, "Neg", "first", "x", "a");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_string_equal(c.loaded->node[0].name, "first");
	assert_string_equal(c.loaded->node[1].name, "second");
	assert_string_equal(c.loaded->node[2].name, "last");
	case_done(&c);
}

void test_onnx__constants_in_every_form_fold(void **state)
{
	static float numbers[] = {1.5f, 2.5f};
	static int64_t integers[] = {2, -1};
	struct onnx_case c;
	Onnx__AttributeProto *a;
	const struct graph *g;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(2, 2));
	a = case_attr(&c, case_node(&c, "Constant", "k0", "", "k0"), "value_floats",
	    ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
	a->floats = numbers, a->n_floats = 2;
	a = case_attr(
	    &c, case_node(&c, "Constant", "k1", "", "k1"), "value_float", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
	a->has_f = true, a->f = 4;
	a = case_attr(
	    &c, case_node(&c, "Constant", "k2", "", "k2"), "value_ints", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
	a->ints = integers, a->n_ints = 2;
	case_node(&c, "Mul", "folded", "k0 k1", "k3");
	case_node(&c, "Add", "kept", "x k3", "s");
	case_node(&c, "Reshape", "reshaped", "s k2", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	g = c.loaded;
	assert_int_equal(g->n_nodes, 1); // the Reshape changes nothing
	assert_string_equal(g->node[0].name, "kept");
	assert_float_equal(((float *)g->value[g->node[0].in[1]].constant->data)[1], 10, 0);
	assert_int_equal(g->origin[0].fate, FATE_FOLDED);
	assert_int_equal(g->origin[3].fate, FATE_FOLDED);
	assert_int_equal(g->origin[4].fate, FATE_KEPT);
	assert_int_equal(g->origin[5].fate, FATE_REMOVED);
	assert_int_equal(graph_find_node(g, "reshaped"), 0);
	assert_string_equal(
	    g->value[g->output[0]].name, "y"); // the output keeps its name, the node's own tensor is found too
	assert_int_equal(graph_find_value(g, "s"), g->output[0]);
	case_done(&c);
}

void test_onnx__shapes_fold_through(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(2, 3, 4));
	case_ints(&c, "zero", 1, (const int64_t[]){0});
	case_ints(&c, "minus", 1, (const int64_t[]){-1});
	case_node(&c, "Shape", "shape", "x", "s");
	case_node(&c, "Gather", "gather", "s zero", "n");
	case_attr_int(&c, case_node(&c, "Concat", "concat", "n minus", "to"), "axis", 0);
	case_node(&c, "Reshape", "flat", "x to", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	assert_int_equal(c.loaded->value[c.loaded->output[0]].shape.dim[1], 12);
	case_done(&c);
}

void test_onnx__identities_keep_the_names_of_outputs(void **state)
{
	struct onnx_case c;
	const struct graph *g;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_node(&c, "Identity", "in", "x", "a");
	case_node(&c, "Relu", "relu", "a", "b");
	case_node(&c, "Identity", "out", "b", "y");
	case_node(&c, "Identity", "again", "b", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	g = c.loaded;
	assert_int_equal(g->n_nodes, 2); // Relu, and one Identity, since two outputs cannot be one tensor
	assert_string_equal(g->value[g->output[0]].name, "y");
	assert_string_equal(g->value[g->output[1]].name, "z");
	assert_int_equal(g->node[0].in[0], g->input[0]);
	assert_int_equal(graph_find_node(g, "in"), -1); // it passed on an input
	assert_int_equal(graph_find_node(g, "out"), 0);
	case_done(&c);
}

void test_onnx__unused_nodes_go(void **state)
{
	struct onnx_case c;
	small_case(&c);
	case_node(&c, "Exp", "unused", "h", "u");
	case_node(&c, "Exp", "unused too", "u", "v");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	assert_int_equal(c.loaded->n_origins, 4);
	assert_int_equal(c.loaded->origin[3].fate, FATE_REMOVED);
	assert_int_equal(c.loaded->origin[3].node, -1);
	assert_int_equal(graph_no_node(c.loaded, "unused", &c.err), STATUS_NOTFOUND);
	assert_non_null(strstr(c.err.text, "node unused is left out"));
	assert_int_equal(graph_no_node(c.loaded, "unusde", &c.err), STATUS_NOTFOUND);
	assert_null(strstr(c.err.text, "nearest")); // it could not be taken either
	case_done(&c);
}

void test_onnx__equal_node_names_are_told_apart(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_node(&c, "Relu", "same", "x", "h");
	case_node(&c, "Neg", "same", "h", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_string_equal(c.loaded->node[0].name, "same");
	assert_true(strcmp(c.loaded->node[1].name, "same"));
	case_done(&c);
}

void test_onnx__initializers_of_all_types(void **state)
{
	static const uint16_t halves[4] = {0x3c00, 0xc100, 0x0001, 0x7c00}; // 1, -2.5, 2^-24, infinity
	static const double doubles[4] = {0.5, -3, 1e300, 0};
	static int32_t narrow[4] = {0x3c00, 0x4000, 0, 0x8000};
	struct onnx_case c;
	const struct graph *g;
	const float *v;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(4));
	case_const(&c, "h", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, DIMS(4), halves, sizeof halves);
	case_const(&c, "d", ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, DIMS(4), doubles, sizeof doubles);
	c.graph->initializer[c.graph->n_initializer++] =
	    case_tensor(&c, "n", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, DIMS(4));
	c.graph->initializer[2]->int32_data = narrow;
	c.graph->initializer[2]->n_int32_data = 4;
	case_node(&c, "Add", "a", "x h", "xa");
	case_node(&c, "Add", "b", "xa d", "xb");
	case_node(&c, "Add", "c", "xb n", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	g = c.loaded;
	v = g->value[g->node[0].in[1]].constant->data;
	assert_true(v[0] == 1 && v[1] == -2.5f && v[2] == 0x1p-24f && v[3] > 1e38f);
	v = g->value[g->node[1].in[1]].constant->data;
	assert_true(v[0] == 0.5f && v[1] == -3 && v[2] > 1e38f);
	v = g->value[g->node[2].in[1]].constant->data;
	assert_true(v[0] == 1 && v[1] == 2 && v[2] == 0 && v[3] == 0);
	case_done(&c);
}

void test_onnx__initializers_that_are_inputs_are_constants(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "w", FLOAT, DIMS(4));
	case_input(&c, "x", FLOAT, DIMS(4));
	case_floats(&c, "w", DIMS(4), ones);
	case_node(&c, "Add", "a", "x w", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_inputs, 1);
	assert_string_equal(c.loaded->value[c.loaded->input[0]].name, "x");
	case_done(&c);
}

// y = x + w, of which w lies outside of the file, at `location`; what the n entries say beside is the caller's.
static void external_case(struct onnx_case *c, Onnx__StringStringEntryProto **entry, size_t n, const char *location)
{
	Onnx__TensorProto *t;
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(4));
	t = c->graph->initializer[c->graph->n_initializer++] = case_tensor(c, "w", FLOAT, DIMS(4));
	t->has_data_location = true;
	t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
	t->external_data = entry;
	t->n_external_data = n;
	for (size_t i = 0; i < n; i++)
		onnx__string_string_entry_proto__init(entry[i]);
	entry[0]->key = (char *)"location", entry[0]->value = (char *)location;
	case_node(c, "Add", "a", "x w", "y");
	case_output(c, c->graph, "y");
}

void test_onnx__external_data_stay_below_the_model(void **state)
{
	static char *const refused[] = {"/etc/hostname", "../outside.bin", "absent.bin", "", "pipe"};
	Onnx__StringStringEntryProto entry[2], *entries[2] = {&entry[0], &entry[1]};
	struct onnx_case c;
	float v[6] = {0, 0, 3, 4, 5, 6};
	external_case(&c, entries, 2, "weights.bin");
	entry[1].key = (char *)"offset", entry[1].value = (char *)"8";
	support_temp_file("weights.bin", v, sizeof v);
	assert_int_equal(mkfifo(support_temp("pipe"), 0600), 0); // nobody writes to it
	case_load(&c);
	assert_memory_equal(c.loaded->value[c.loaded->node[0].in[1]].constant->data, v + 2, 16);
	assert_int_equal(file_write(support_temp("weights.bin"), v, sizeof v, &c.err), STATUS_REFUSED);
	entry[1].value = (char *)"12";
	case_refused(&c, STATUS_FORMAT, "weights.bin");
	entry[1].value = (char *)"-8";
	case_refused(&c, STATUS_FORMAT, "'w'");
	entry[1].value = (char *)"8";
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		entry[0].value = refused[i];
		assert_int_not_equal(case_load_with(&c, NULL), STATUS_OK);
		assert_non_null(strstr(c.err.text, "external data"));
	}
	case_done(&c);
}

// Hugging Face's cache: names in one directory are links to contents in another.
void test_onnx__external_data_beside_what_the_model_links_to(void **state)
{
	Onnx__StringStringEntryProto entry, *entries[1] = {&entry};
	struct onnx_case c;
	float v[4] = {1, 2, 3, 4};
	struct graph *g = NULL;
	struct error err;
	char link[512], data[512];
	external_case(&c, entries, 1, "model.onnx_data");
	assert_int_equal(file_mkdirs(support_temp("blobs"), &err), STATUS_OK);
	assert_int_equal(file_mkdirs(support_temp("snapshots"), &err), STATUS_OK);
	case_save(&c, "blobs/aaa");
	support_temp_file("blobs/bbb", v, sizeof v);
	snprintf(link, sizeof link, "%s", support_temp("snapshots/model.onnx"));
	snprintf(data, sizeof data, "%s", support_temp("snapshots/model.onnx_data"));
	assert_int_equal(symlink("../blobs/aaa", link), 0);
	assert_int_equal(symlink("../blobs/bbb", data), 0);
	assert_int_equal(onnx_load(&g, link, NULL, &err), STATUS_OK);
	assert_memory_equal(g->value[g->node[0].in[1]].constant->data, v, 16);
	graph_free(&g);
	assert_int_equal(unlink(data), 0); // a link to the model alone
	assert_int_equal(rename(support_temp("blobs/bbb"), support_temp("blobs/model.onnx_data")), 0);
	assert_int_equal(onnx_load(&g, link, NULL, &err), STATUS_OK);
	graph_free(&g);
	case_done(&c);
}

// y = condition ? x + x : -x, with x read from outside.
static void if_case(struct onnx_case *c)
{
	Onnx__GraphProto *yes, *no;
	Onnx__NodeProto *n;
	case_init(c);
	yes = case_graph(c);
	no = case_graph(c);
	case_input(c, "x", FLOAT, DIMS(1, 4));
	case_node_in(c, yes, "Relu", "inner", "h", "r");
	case_node_in(c, yes, "Add", "", "r h", "out");
	case_output(c, yes, "out");
	case_node_in(c, no, "Neg", "inner", "h", "out");
	case_output(c, no, "out");
	case_node(c, "Relu", "before", "x", "h");
	n = case_node(c, "If", "if", "condition", "y");
	case_attr_graph(c, n, "then_branch", yes);
	case_attr_graph(c, n, "else_branch", no);
	case_output(c, c->graph, "y");
}

void test_onnx__an_if_with_a_known_condition_is_its_branch(void **state)
{
	struct onnx_case c;
	const struct graph *g;
	if_case(&c);
	case_node(&c, "Shape", "shape", "x", "s");
	case_ints(&c, "want", 2, (const int64_t[]){1, 4});
	case_ints(&c, "one", 1, (const int64_t[]){1});
	case_node(&c, "Gather", "rank", "s one", "width");
	case_ints(&c, "four", 1, (const int64_t[]){4});
	case_node(&c, "Equal", "equal", "width four", "condition");
	case_load(&c);
	g = c.loaded;
	assert_int_equal(g->n_nodes, 3);
	assert_string_equal(g->node[1].name, "inner");
	assert_int_equal(g->node[2].op->id, OP_Add);
	assert_string_equal(g->value[g->output[0]].name, "y");
	assert_int_equal(g->value[g->output[0]].shape.dim[1], 4);
	assert_int_equal(g->node[2].n_subgraphs, 0);
	case_done(&c);
}

static float run_if(const struct graph *g, bool condition, float x)
{
	struct error err;
	float data[4] = {x, x, x, x};
	uint8_t flag = condition;
	struct tensor in[2] = {{.type = DT_F32, .shape = g->value[g->input[0]].shape, .data = data},
	    {.type = DT_BOOL, .shape = g->value[g->input[1]].shape, .data = &flag}},
	              out;
	const struct tensor *list[2] = {&in[0], &in[1]};
	float result;
	if (graph_eval(g, list, &out, 1, &err))
		fail_msg("%s", err.text);
	result = ((float *)out.data)[3];
	tensor_drop(&out);
	return result;
}

void test_onnx__an_if_with_an_unknown_condition_keeps_both(void **state)
{
	struct onnx_case c;
	const struct node *n;
	if_case(&c);
	case_input(&c, "condition", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	n = &c.loaded->node[1];
	assert_int_equal(n->n_subgraphs, 2);
	assert_int_equal(n->n_in, 2); // the condition, and h, which the branches read
	assert_int_equal(n->subgraph[0]->n_inputs, 1);
	assert_int_equal(n->subgraph[0]->n_nodes, 2);
	assert_int_equal(c.loaded->value[c.loaded->output[0]].shape.dim[1], 4);
	for (int times = 0; times < 2; times++) {
		assert_float_equal(run_if(c.loaded, true, 3), 6, 0);
		assert_float_equal(run_if(c.loaded, false, 3), -3, 0);
		case_rewrite(&c); // the graphs inside are written too
	}
	case_done(&c);
}

// A branch that gives what it captures, twice, and a constant.
void test_onnx__branches_that_compute_nothing_are_written(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *yes, *no;
	Onnx__NodeProto *n;
	case_init(&c);
	yes = case_graph(&c);
	no = case_graph(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_input(&c, "condition", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
	case_node_in(&c, yes, "Identity", "one", "h", "p");
	case_node_in(&c, yes, "Identity", "two", "h", "q");
	case_floats(&c, "minus", DIMS(1, 4), (const float[]){-1, -1, -1, -1});
	case_node_in(&c, no, "Neg", "three", "minus", "p");
	case_node_in(&c, no, "Neg", "four", "h", "q");
	for (int i = 0; i < 2; i++) {
		case_output(&c, i ? no : yes, "p");
		case_output(&c, i ? no : yes, "q");
	}
	case_node(&c, "Relu", "before", "x", "h");
	n = case_node(&c, "If", "if", "condition", "a b");
	case_attr_graph(&c, n, "then_branch", yes);
	case_attr_graph(&c, n, "else_branch", no);
	case_node(&c, "Sub", "sub", "a b", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	for (int times = 0; times < 2; times++) {
		assert_float_equal(run_if(c.loaded, true, 3), 0, 0);
		assert_float_equal(run_if(c.loaded, false, 3), 4, 0);
		case_rewrite(&c);
	}
	case_done(&c);
}

void test_onnx__a_branch_that_does_not_fit_is_kept(void **state)
{
	struct onnx_case c;
	Onnx__NodeProto *n;
	if_case(&c);
	case_input(&c, "condition", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
	case_floats(&c, "five", DIMS(5), ones);
	n = c.graph->node[1]->attribute[1]->g->node[0]; // Neg of four becomes Add of four and five
	n->op_type = case_text(&c, "Add");
	n->n_input = case_words(&c, n->input, "h five");
	case_load(&c);
	assert_float_equal(run_if(c.loaded, true, 3), 6, 0);
	case_rewrite(&c); // in a file the other branch stands in its place
	assert_float_equal(run_if(c.loaded, true, 3), 6, 0);
	assert_float_equal(run_if(c.loaded, false, 3), 6, 0);
	case_words(&c, c.graph->node[1]->attribute[0]->g->node[1]->input, "r five"); // now neither fits
	case_refused(&c, STATUS_FORMAT, "Add_1");
	case_done(&c);
}

void test_onnx__dynamic_dimensions_are_fixed(void **state)
{
	struct onnx_input_shape shape = {.name = "x", .shape = {.rank = 4, .dim = {7, 3, 96, 160}}};
	struct onnx_options opt = {.shape = &shape, .n_shapes = 1};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(-1, 3, -2, -3));
	case_input(&c, "twin", FLOAT, DIMS(-1, 3, -2, 8));
	case_node(&c, "Relu", "r", "x", "y");
	case_node(&c, "Relu", "t", "twin", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){4, {1, 3, 640, 640}}));
	assert_int_equal(
	    case_load_with(&c, &opt), STATUS_OK); // the caller's batch is how many samples there are: 1 at a time
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){4, {1, 3, 96, 160}}));
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[1]].shape, &(struct shape){4, {1, 3, 96, 8}}));
	opt.batched = true; // or what is run at once, for every input of that symbol
	assert_int_equal(case_load_with(&c, &opt), STATUS_OK);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){4, {7, 3, 96, 160}}));
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[1]].shape, &(struct shape){4, {7, 3, 96, 8}}));
	shape.shape.dim[2] = 0; // a past before the first token
	assert_int_equal(case_load_with(&c, &opt), STATUS_OK);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){4, {7, 3, 0, 160}}));
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[1]].shape, &(struct shape){4, {7, 3, 0, 8}}));
	shape.shape = (struct shape){3, {3, 96, 160}};
	assert_int_equal(case_load_with(&c, &opt), STATUS_OK);
	assert_int_equal(c.loaded->value[c.loaded->output[1]].shape.dim[0], 1);
	shape.shape = (struct shape){4, {7, 3, 96, 160}};
	shape.shape.dim[1] = 5; // the file says 3
	assert_int_equal(case_load_with(&c, &opt), STATUS_FORMAT);
	case_done(&c);
}

// One picture without a batch (torchvision's detectors); a state of three layers has its sizes from elsewhere.
void test_onnx__sizes_of_a_picture_without_a_batch(void **state)
{
	static const struct {
		int64_t declared[3], loaded[3];
	} cases[] = {{{3, -1, -2}, {3, 640, 640}}, {{-1, -2, 3}, {640, 640, 3}}, {{3, -1, 128}, {3, 1, 128}}, {{-1, -2, 4}, {1, 1, 4}}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, 3, cases[i].declared);
		case_node(&c, "Relu", "r", "x", "y");
		case_output(&c, c.graph, "y");
		case_load(&c);
		const struct shape *got = &c.loaded->value[c.loaded->output[0]].shape;
		if (!shape_equal(got, &(struct shape){3, {cases[i].loaded[0], cases[i].loaded[1], cases[i].loaded[2]}}))
			fail_msg("case %zu: [%d, %d, %d]", i, (int)got->dim[0], (int)got->dim[1], (int)got->dim[2]);
		case_done(&c);
	}
}

// The number of samples in front; a subdirectory has the name of its input as far as a file may have it.
void test_onnx__a_stack_of_samples_tells_a_shape(void **state)
{
	struct onnx_input_shape shape = {.name = "rnn_h", .shape = {.rank = 4, .dim = {9, 2, 1, 12}}};
	struct onnx_options opt = {.shape = &shape, .n_shapes = 1};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "rnn/h", FLOAT, DIMS(2, -1, -2));
	case_node(&c, "Relu", "r", "rnn/h", "y");
	case_output(&c, c.graph, "y");
	assert_int_equal(case_load_with(&c, &opt), STATUS_OK);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){3, {2, 1, 12}}));
	opt.batched = true; // one run computes the samples of a stack one by one
	assert_int_equal(case_load_with(&c, &opt), STATUS_OK);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){3, {2, 1, 12}}));
	case_done(&c);
}

// The picture is the second input: a shape without a name would be its own.
void test_onnx__shapes_by_the_place_of_their_input(void **state)
{
	struct onnx_input_shape shape[] = {{.place = 1, .shape = {2, {1, 7}}}, {.place = 2, .shape = {4, {1, 3, 96, 160}}}};
	struct onnx_options opt = {.shape = shape, .n_shapes = 2, .batched = true};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "tokens", FLOAT, DIMS(-1, -2));
	case_input(&c, "picture", FLOAT, DIMS(-1, 3, -3, -4));
	case_node(&c, "Relu", "r", "tokens", "y");
	case_node(&c, "Relu", "s", "picture", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	assert_int_equal(case_load_with(&c, &opt), STATUS_OK);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){2, {1, 7}}));
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[1]].shape, &(struct shape){4, {1, 3, 96, 160}}));
	case_done(&c);
}

void test_onnx__a_plane_is_not_one_element(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "latent", FLOAT, DIMS(-1, 4, -2, -3));
	case_input(&c, "tokens", FLOAT, DIMS(-1, -4));
	case_node(&c, "Relu", "r", "latent", "y");
	case_node(&c, "Relu", "t", "tokens", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){4, {1, 4, 64, 64}}));
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[1]].shape, &(struct shape){2, {1, 1}}));
	case_done(&c);
}

void test_onnx__a_size_is_sought_at_which_shapes_hold(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(-1, 3, -2, -2));
	case_floats(&c, "grid", DIMS(1, 1, 1, 2), ones);
	case_ints(&c, "to", 4, (const int64_t[]){1, 3, 320 * 160, 2});
	case_node(&c, "Reshape", "baked", "x to", "r");
	case_node(&c, "Add", "add", "r grid", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->value[c.loaded->input[0]].shape.dim[2], 320);
	case_done(&c);
}

void test_onnx__metadata_size_comes_first(void **state)
{
	Onnx__StringStringEntryProto entry = ONNX__STRING_STRING_ENTRY_PROTO__INIT, *entries[1] = {&entry};
	struct onnx_case c;
	case_init(&c);
	entry.key = (char *)"imgsz";
	entry.value = (char *)"[48, 64]";
	c.model.metadata_props = entries;
	c.model.n_metadata_props = 1;
	case_input(&c, "x", FLOAT, DIMS(-1, -2, -3, -4));
	case_node(&c, "Relu", "r", "x", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_true(shape_equal(&c.loaded->value[c.loaded->output[0]].shape, &(struct shape){4, {1, 3, 48, 64}}));
	assert_string_equal(graph_metadata(c.loaded, "imgsz"), "[48, 64]");
	assert_null(graph_metadata(c.loaded, "names"));
	case_done(&c);
}

void test_onnx__keys_follow_structure_and_weights(void **state)
{
	struct onnx_case c;
	struct key first;
	float other[4] = {1, 1, 1, 2};
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(4));
	case_floats(&c, "w", DIMS(4), ones);
	case_node(&c, "Sub", "a", "x w", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	first = c.loaded->key;
	c.graph->node[0]->name = case_text(&c, "renamed");
	case_load(&c);
	assert_true(key_equal(first, c.loaded->key));
	case_words(&c, c.graph->node[0]->input, "w x");
	case_load(&c);
	assert_false(key_equal(first, c.loaded->key));
	case_words(&c, c.graph->node[0]->input, "x w");
	case_raw(&c, c.graph->initializer[0], other, sizeof other);
	case_load(&c);
	assert_false(key_equal(first, c.loaded->key));
	case_done(&c);
}

void test_onnx__a_list_of_words_is_a_text(void **state)
{
	static const char *const names[] = {"Affine", "Relu"};
	struct onnx_case c;
	Onnx__NodeProto *n;
	Onnx__AttributeProto *a;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(3, 1, 4));
	case_floats(&c, "w", DIMS(2, 2, 4), ones);
	case_floats(&c, "r", DIMS(2, 2, 2), ones);
	n = case_node(&c, "RNN", "loop", "x w r", "y");
	case_attr_int(&c, n, "hidden_size", 2);
	a = case_attr(&c, n, "direction", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
	a->s = (ProtobufCBinaryData){.data = (uint8_t *)case_text(&c, "bidirectional"), .len = 13};
	a->has_s = true;
	a = case_attr(&c, n, "activations", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
	a->strings = case_new(&c, sizeof names / sizeof names[0] * sizeof *a->strings);
	for (a->n_strings = 0; a->n_strings < 2; a->n_strings++)
		a->strings[a->n_strings] = (ProtobufCBinaryData){
		    .data = (uint8_t *)case_text(&c, names[a->n_strings]), .len = strlen(names[a->n_strings])};
	case_output(&c, c.graph, "y");
	case_load(&c);
	for (int i = 0; i < c.loaded->node[0].op->n_attrs; i++) {
		const struct attr_spec *spec = &c.loaded->node[0].op->attrs[i];
		if (!strcmp(spec->name, "activations"))
			assert_string_equal(*(const char *const *)((const char *)c.loaded->node[0].attrs + spec->offset), "Affine Relu");
	}
	case_done(&c);
}

// x -> Dropout with the mode of training -> y
static void dropout_case(struct onnx_case *c, float ratio)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4));
	case_floats(c, "ratio", 0, NULL, &ratio);
	case_const(c, "training", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL, "\1", 1);
	case_node(c, "Dropout", "drop", "x ratio training", "h");
	case_node(c, "Neg", "last", "h", "y");
	case_output(c, c->graph, "y");
}

void test_onnx__dropout_of_nothing_is_no_training(void **state)
{
	struct onnx_case c;
	dropout_case(&c, 0.0f);
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	case_done(&c);
	dropout_case(&c, 0.5f);
	case_refused(&c, STATUS_UNSUPPORTED, "training mode");
	case_done(&c);
}

// What ONNX Runtime's optimizer writes when nothing else is asked of it.
void test_onnx__a_model_laid_out_for_one_processor(void **state)
{
	struct onnx_case c;
	float w[8 * 8] = {1};
	case_init(&c);
	case_domain(&c, "com.microsoft.nchwc");
	case_input(&c, "x", FLOAT, DIMS(1, 8, 4, 4));
	case_floats(&c, "w", DIMS(8, 8, 1, 1), w);
	case_node(&c, "Conv", "conv_nchwc", "x w", "y")->domain = case_text(&c, "com.microsoft.nchwc");
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "node conv_nchwc: ONNX Runtime has laid this model out for one processor: take the model from before");
	case_done(&c);
}
