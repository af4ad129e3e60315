// Functions of the model: what they compute, and what is refused.
#include "onnx_case.h"
#include "qtui/engine/eval.h"

#define FUNCTIONS_MAX 6

struct functions_case {
	struct onnx_case c;
	Onnx__FunctionProto *list[FUNCTIONS_MAX];
	Onnx__GraphProto *body[FUNCTIONS_MAX]; // where their nodes are collected
};

// Words: names of inputs, outputs and attributes.
static Onnx__GraphProto *add_function(struct functions_case *f, const char *name, const char *in, const char *out, const char *attributes)
{
	struct onnx_case *c = &f->c;
	Onnx__FunctionProto *p = case_new(c, sizeof *p);
	onnx__function_proto__init(p);
	p->name = case_text(c, name);
	p->domain = case_text(c, "mine");
	p->input = case_new(c, MANY * sizeof(char *));
	p->output = case_new(c, MANY * sizeof(char *));
	p->attribute = case_new(c, MANY * sizeof(char *));
	p->n_input = case_words(c, p->input, in);
	p->n_output = case_words(c, p->output, out);
	p->n_attribute = case_words(c, p->attribute, attributes);
	c->model.functions = f->list;
	f->list[c->model.n_functions] = p;
	f->body[c->model.n_functions] = case_graph(c);
	return f->body[c->model.n_functions++];
}

static void load(struct functions_case *f, enum status want)
{
	for (size_t i = 0; i < f->c.model.n_functions; i++) {
		f->list[i]->node = f->body[i]->node;
		f->list[i]->n_node = f->body[i]->n_node;
	}
	assert_int_equal(case_load_with(&f->c, NULL), want);
}

static void refer(struct functions_case *f, Onnx__NodeProto *n, const char *name, const char *to)
{
	case_attr(&f->c, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)->ref_attr_name = case_text(&f->c, to);
}

static Onnx__NodeProto *call(struct functions_case *f, Onnx__GraphProto *g, const char *op, const char *name, const char *in, const char *out)
{
	Onnx__NodeProto *n = case_node_in(&f->c, g, op, name, in, out);
	n->domain = case_text(&f->c, "mine");
	return n;
}

static void give_slope(struct functions_case *f, Onnx__NodeProto *n, float slope)
{
	Onnx__AttributeProto *a = case_attr(&f->c, n, "slope", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
	a->has_f = true;
	a->f = slope;
}

static float run(const struct graph *g, float x)
{
	struct error err;
	float data[1] = {x};
	struct tensor in = {.type = DT_F32, .shape = {1, {1}}, .data = data}, out;
	const struct tensor *list[1] = {&in};
	float result;
	if (graph_eval(g, list, &out, 1, &err))
		fail_msg("%s", err.text);
	result = *(float *)out.data;
	tensor_drop(&out);
	return result;
}

// Leaky(v; slope) = LeakyRelu(v) + v, through a name that the graph has too;
// Twice(v) = Leaky(Leaky(v; 0.5); the operator's own 0.01).
static void twice_case(struct functions_case *f)
{
	Onnx__GraphProto *body;
	*f = (struct functions_case){0};
	case_init(&f->c);
	case_input(&f->c, "x", FLOAT, DIMS(1));
	body = add_function(f, "Leaky", "v", "w", "slope");
	refer(f, case_node_in(&f->c, body, "LeakyRelu", "leaky", "v", "t"), "alpha", "slope");
	case_node_in(&f->c, body, "Add", "sum", "t v", "w");
	body = add_function(f, "Twice", "v", "w", "");
	give_slope(f, call(f, body, "Leaky", "first", "v", "t"), 0.5f);
	call(f, body, "Leaky", "", "t", "w");
}

void test_onnx_functions__calls_give_way_to_their_nodes(void **state)
{
	struct functions_case f;
	twice_case(&f);
	case_node(&f.c, "Neg", "before", "x", "t");
	call(&f, f.c.graph, "Twice", "outer", "t", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_OK);
	assert_int_equal(f.c.loaded->n_nodes, 5);
	assert_string_equal(f.c.loaded->node[1].name, "outer/first/leaky");
	assert_true(graph_find_value(f.c.loaded, "outer/first/t") >= 0);
	assert_float_equal(run(f.c.loaded, -3), 12, 1e-5);
	assert_float_equal(run(f.c.loaded, 2), -3 * 1.01, 1e-5);
	case_done(&f.c);
}

// A field that the description of the format is too old for.
static void add_field(struct onnx_case *c, ProtobufCMessage *m, uint32_t tag, const void *data, size_t size)
{
	ProtobufCMessageUnknownField *f = case_new(c, (m->n_unknown_fields + 1) * sizeof *f);

	assert_true(size < 128);
	if (m->n_unknown_fields)
		memcpy(f, m->unknown_fields, m->n_unknown_fields * sizeof *f);
	m->unknown_fields = f;
	f += m->n_unknown_fields++;
	*f = (ProtobufCMessageUnknownField){.tag = tag, .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, .len = size + 1};
	f->data = case_new(c, size + 1);
	f->data[0] = (uint8_t)size;
	memcpy(f->data + 1, data, size);
}

static void add_default(struct onnx_case *c, Onnx__FunctionProto *p, const char *name, float v)
{
	Onnx__AttributeProto a = ONNX__ATTRIBUTE_PROTO__INIT;
	uint8_t packed[128];
	a.name = (char *)name;
	a.has_type = a.has_f = true;
	a.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
	a.f = v;
	add_field(c, &p->base, 11, packed, onnx__attribute_proto__pack(&a, packed));
}

void test_onnx_functions__attributes_have_defaults(void **state)
{
	struct functions_case f;
	twice_case(&f);
	f.list[0]->n_attribute = 0;
	add_default(&f.c, f.list[0], "other", 9);
	add_default(&f.c, f.list[0], "slope", 3);
	call(&f, f.c.graph, "Twice", "outer", "x", "y"); // the first call in it gives .5, the second nothing
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_OK);
	assert_float_equal(run(f.c.loaded, -2), -3 * 4, 1e-5);
	case_done(&f.c);
	twice_case(&f);
	f.list[0]->n_attribute = 0;
	add_field(&f.c, &f.list[0]->base, 11, "\x0a\x7fslope", 7); // cut off
	call(&f, f.c.graph, "Leaky", "leaky", "x", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_FORMAT);
	case_done(&f.c);
}

void test_onnx_functions__overloads_are_told_apart(void **state)
{
	struct functions_case f;
	Onnx__GraphProto *body;
	Onnx__NodeProto *n;
	twice_case(&f);
	body = add_function(&f, "Twice", "v", "w", "");
	case_node_in(&f.c, body, "Neg", "neg", "v", "w");
	add_field(&f.c, &f.list[2]->base, 13, "other", 5);
	n = call(&f, f.c.graph, "Twice", "first", "x", "t");
	add_field(&f.c, &n->base, 8, "other", 5);
	call(&f, f.c.graph, "Twice", "second", "t", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_OK);
	assert_float_equal(run(f.c.loaded, 2), -3 * 1.01, 1e-5);
	case_done(&f.c);
}

// The graphs inside a function read its names; those inside the model may call.
void test_onnx_functions__graphs_inside(void **state)
{
	struct functions_case f;
	Onnx__GraphProto *body, *yes, *no;
	Onnx__NodeProto *n;
	twice_case(&f);
	body = add_function(&f, "Either", "v", "w", "");
	yes = case_graph(&f.c);
	no = case_graph(&f.c);
	case_node_in(&f.c, body, "Abs", "abs", "v", "a");
	case_node_in(&f.c, body, "Equal", "equal", "a v", "condition");
	case_node_in(&f.c, yes, "Neg", "neg", "a", "out");
	case_output(&f.c, yes, "out");
	call(&f, no, "Twice", "two", "v", "out");
	case_output(&f.c, no, "out");
	n = case_node_in(&f.c, body, "If", "if", "condition", "w");
	case_attr_graph(&f.c, n, "then_branch", yes);
	case_attr_graph(&f.c, n, "else_branch", no);
	call(&f, f.c.graph, "Either", "either", "x", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_OK);
	assert_float_equal(run(f.c.loaded, 7), -7, 0);
	assert_float_equal(run(f.c.loaded, -2), -3 * 1.01, 1e-5);
	case_done(&f.c);
}

void test_onnx_functions__what_cannot_be_known_is_refused(void **state)
{
	struct functions_case f;
	Onnx__GraphProto *body;
	twice_case(&f);
	f.list[0]->n_attribute = 0;
	call(&f, f.c.graph, "Leaky", "leaky", "x", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_FORMAT);
	assert_non_null(strstr(f.c.err.text, "no attribute slope"));
	case_done(&f.c);

	f = (struct functions_case){0};
	case_init(&f.c);
	case_input(&f.c, "x", FLOAT, DIMS(1));
	body = add_function(&f, "Endless", "v", "w", "");
	call(&f, body, "Endless", "again", "v", "w");
	call(&f, f.c.graph, "Endless", "first", "x", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_UNSUPPORTED);
	assert_non_null(strstr(f.c.err.text, "nested"));
	case_done(&f.c);
}

// Five functions that call the next sixteen times, and one that computes nothing:
// a million calls in a file of some kilobytes.
void test_onnx_functions__calls_that_multiply_are_counted(void **state)
{
	static const char *const name[] = {"F0", "F1", "F2", "F3", "F4", "F5"};
	struct functions_case f = {0};
	case_init(&f.c);
	case_input(&f.c, "x", FLOAT, DIMS(1));
	for (int level = 0; level < 6; level++) {
		Onnx__GraphProto *body = add_function(&f, name[level], "v", "w", "");
		for (int k = 0; k < 16 && level < 5; k++)
			call(&f, body, name[level + 1], name[k % 6], "v", "w");
	}
	call(&f, f.c.graph, "F0", "first", "x", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_UNSUPPORTED);
	assert_non_null(strstr(f.c.err.text, "nodes"));
	case_done(&f.c);
}

void test_onnx_functions__two_of_one_name_are_refused(void **state)
{
	struct functions_case f;
	Onnx__GraphProto *body;
	twice_case(&f);
	body = add_function(&f, "Twice", "v", "w", "");
	case_node_in(&f.c, body, "Neg", "neg", "v", "w");
	call(&f, f.c.graph, "Twice", "outer", "x", "y");
	case_output(&f.c, f.c.graph, "y");
	load(&f, STATUS_UNSUPPORTED);
	assert_non_null(strstr(f.c.err.text, "2 times"));
	case_done(&f.c);
}

// What means the same in both is read as ever; what does not is named, also inside of an If.
void test_onnx_functions__a_function_of_an_opset_that_does_not_differ(void **state)
{
	static const struct {
		const char *op, *named; // in the function's body, NULL: it loads
		int function, model;    // 0: it says none
	} cases[] = {{"Relu", NULL, 18, 13}, {"Relu", NULL, 13, 18}, {"Softmax", NULL, 17, 13}, {"Softmax", "Softmax differs", 11, 13},
	    {"If", "Softmax differs", 11, 13}, {"If", NULL, 16, 13}, {"Softmax", "of opset 13, the model of 1, and Softmax differs", 13, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct functions_case f = {0};
		struct onnx_case *c = &f.c;
		Onnx__OperatorSetIdProto own = ONNX__OPERATOR_SET_ID_PROTO__INIT, *list[] = {&own};
		case_init(c);
		c->opset.version = cases[i].model;
		c->model.n_opset_import = cases[i].model > 0;
		case_input(c, "x", FLOAT, DIMS(1, 4));
		case_input(c, "which", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
		Onnx__GraphProto *body = add_function(&f, "Fn", "v b", "w", "");
		Onnx__NodeProto *n = case_node_in(c, body, cases[i].op, "n", strcmp(cases[i].op, "If") ? "v" : "b", "w");
		for (int k = 0; k < 2 && !strcmp(cases[i].op, "If"); k++) {
			Onnx__GraphProto *branch = case_graph(c);
			case_node_in(c, branch, k ? "Softmax" : "Relu", "inner", "v", "r");
			case_output(c, branch, "r");
			case_attr_graph(c, n, k ? "else_branch" : "then_branch", branch);
		}
		own.domain = case_text(c, "");
		own.has_version = true;
		own.version = cases[i].function;
		f.list[0]->opset_import = list;
		f.list[0]->n_opset_import = 1;
		call(&f, c->graph, "Fn", "call", "x which", "y");
		case_output(c, c->graph, "y");
		load(&f, cases[i].named ? STATUS_UNSUPPORTED : STATUS_OK);
		if (cases[i].named && !strstr(c->err.text, cases[i].named))
			fail_msg("case %zu: %s", i, c->err.text);
		case_done(c);
	}
}
