// Files with very many nodes: what is done for each of them takes time that grows with the file, not with its square.
// Measured against a file of as many nodes where nothing is wide, on the same machine in the same build.
#include <stdio.h>
#include <time.h>
#include "../../src/engine/run/stretches.h"
#include "onnx_case.h"
#include "plan_case.h"

enum { NODES = 40000, FUNCTIONS = 20000, WORSE = 20 };

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static Onnx__NodeProto *numbered(struct onnx_case *c, const char *op, int i, const char *in, const char *out)
{
	char name[32];
	snprintf(name, sizeof name, "n%d", i);
	return case_node(c, op, name, in, out);
}

// x -> t0; room for `nodes`.
static void begin(struct onnx_case *c, size_t nodes)
{
	case_init(c);
	c->graph->node = case_new(c, (nodes + 2) * sizeof *c->graph->node);
	case_input(c, "x", FLOAT, DIMS(1, 4));
	case_node(c, "Tanh", "first", "x", "t0");
}

static void chain(struct onnx_case *c)
{
	char in[32], out[32];
	begin(c, NODES);
	for (int i = 0; i < NODES; i++) {
		snprintf(in, sizeof in, "t%d", i);
		snprintf(out, sizeof out, "t%d", i + 1);
		numbered(c, "Relu", i, in, out);
	}
	case_output(c, c->graph, out);
	case_load(c);
}

// All read t0, and a Concat reads them all.
static void fan(struct onnx_case *c)
{
	Onnx__NodeProto *all;
	char out[32];
	begin(c, NODES);
	for (int i = 0; i < NODES; i++) {
		snprintf(out, sizeof out, "u%d", i);
		numbered(c, "Relu", i, "t0", out);
	}
	all = case_node(c, "Concat", "all", "", "y");
	case_attr_int(c, all, "axis", 1);
	all->input = case_new(c, NODES * sizeof *all->input);
	for (int i = 0; i < NODES; i++)
		all->input[all->n_input++] = c->graph->node[i + 1]->output[0];
	case_output(c, c->graph, "y");
	case_load(c);
}

static double time_of_plan(void make(struct onnx_case *), const char *target)
{
	struct onnx_case c;
	struct fixture f;
	make(&c);
	double began = cpu_seconds();
	fixture_plan(&f, c.loaded, target, -1);
	double took = cpu_seconds() - began;
	c.loaded = NULL;
	teardown(&f);
	case_done(&c);
	return took;
}

void test_wide__a_plan_where_one_tensor_has_all_readers(void **state)
{
	static const char *const targets[] = {"esp32p4", "tensorrt", "onnxruntime"};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		double plain = time_of_plan(chain, targets[i]), wide = time_of_plan(fan, targets[i]);
		if (wide > WORSE * plain)
			fail_msg("%s: %.3f s, of a chain %.3f s", targets[i], wide, plain);
	}
}

void test_wide__stretches_of_a_network_that_fits(void **state)
{
	enum { ROOM = 256 << 20, SAMPLES = 2 };
	struct onnx_case c;
	struct stretches found;
	struct steps steps;
	double began = cpu_seconds();
	chain(&c);
	double load = cpu_seconds() - began;
	bool *want = case_new(&c, (size_t)c.loaded->n_values);
	memset(want, 1, (size_t)c.loaded->n_values);
	steps_build(&steps, c.loaded, NULL, want, false, false);
	began = cpu_seconds();
	stretches_find(&found, c.loaded, &steps, &(struct stretched){.first = want, .any = want, .samples = SAMPLES, .most = ROOM});
	double took = cpu_seconds() - began;
	assert_int_equal(found.n, 1);
	if (took > WORSE * load)
		fail_msg("%.3f s, to make and load the file %.3f s", took, load);
	stretches_done(&found);
	steps_done(&steps);
	case_done(&c);
}

static Onnx__FunctionProto *add_function(struct onnx_case *c, Onnx__FunctionProto *f, int i)
{
	char name[32];
	snprintf(name, sizeof name, "f%d", i);
	onnx__function_proto__init(f);
	f->name = case_text(c, name);
	f->domain = case_text(c, "mine");
	f->input = case_new(c, sizeof *f->input);
	f->output = case_new(c, sizeof *f->output);
	f->n_input = case_words(c, f->input, "v");
	f->n_output = case_words(c, f->output, "w");
	Onnx__GraphProto *body = case_graph(c);
	case_node_in(c, body, "Relu", "relu", "v", "w");
	f->node = body->node;
	f->n_node = body->n_node;
	return f;
}

// As many calls, of so many functions.
static double time_of_calls(int functions)
{
	char in[32], out[32], name[32];
	struct onnx_case c;
	begin(&c, FUNCTIONS);
	c.model.functions = case_new(&c, (size_t)functions * sizeof *c.model.functions);
	for (int i = 0; i < functions; i++)
		c.model.functions[c.model.n_functions++] = add_function(&c, case_new(&c, sizeof(Onnx__FunctionProto)), i);
	for (int i = 0; i < FUNCTIONS; i++) {
		snprintf(in, sizeof in, "t%d", i);
		snprintf(out, sizeof out, "t%d", i + 1);
		snprintf(name, sizeof name, "f%d", i % functions);
		numbered(&c, name, i, in, out)->domain = case_text(&c, "mine");
	}
	case_output(&c, c.graph, out);
	double began = cpu_seconds();
	case_load(&c);
	double took = cpu_seconds() - began;
	assert_int_equal(c.loaded->n_nodes, FUNCTIONS + 1);
	case_done(&c);
	return took;
}

void test_wide__a_function_for_every_call(void **state)
{
	double one = time_of_calls(1), many = time_of_calls(FUNCTIONS);
	if (many > WORSE * one)
		fail_msg("%.3f s, with one function %.3f s", many, one);
}
