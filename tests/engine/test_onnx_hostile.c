// Files that are wrong: each is refused with a message that says where, and none crashes, hangs or fills the memory.
#include <math.h>
#include <stdio.h>
#include "onnx_case.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/engine/run.h"

static const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};

static void relu_case(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4));
	case_floats(c, "w", DIMS(4), ones);
	case_node(c, "Add", "add", "x w", "h");
	case_node(c, "Relu", "relu", "h", "y");
	case_output(c, c->graph, "y");
}

static void check_bytes(const uint8_t *data, size_t size)
{
	struct graph *g = NULL;
	struct error err;
	enum status s = onnx_load(&g, support_temp_file("bytes.onnx", data, size), NULL, &err);
	assert_true(s ? !g && err.text[0] && err.status == s : g != NULL);
	graph_free(&g);
}

void test_onnx_hostile__every_truncation(void **state)
{
	struct onnx_case c;
	struct bytes b;
	relu_case(&c);
	assert_int_equal(file_read(&b, case_save(&c, "whole.onnx"), 1 << 20, &c.err), STATUS_OK);
	for (size_t n = 0; n < b.size; n++)
		check_bytes(b.data, n);
	bytes_done(&b);
	case_done(&c);
}

// The messages of the file one after the other, then its tensors.
void test_onnx_hostile__no_memory(void **state)
{
	enum status s = STATUS_NOMEM;
	struct onnx_case c;
	const char *path;
	int n;
	relu_case(&c);
	path = case_save(&c, "whole.onnx");
	for (n = 1; s; n++) {
		struct graph *g = NULL;
		mem_fail_at(n);
		s = onnx_load(&g, path, NULL, &c.err);
		mem_fail_at(0);
		assert_int_equal(s, g ? STATUS_OK : STATUS_NOMEM);
		assert_true(!s || strstr(c.err.text, "no memory"));
		graph_free(&g);
	}
	assert_in_range(n, 40, 1000);
	case_done(&c);
}

void test_onnx_hostile__every_byte_changed(void **state)
{
	struct onnx_case c;
	struct bytes b;
	relu_case(&c);
	assert_int_equal(file_read(&b, case_save(&c, "whole.onnx"), 1 << 20, &c.err), STATUS_OK);
	for (size_t n = 0; n < b.size; n++)
		for (int bit = 0; bit < 8; bit += 1) {
			b.data[n] ^= (uint8_t)(1 << bit);
			check_bytes(b.data, b.size);
			b.data[n] ^= (uint8_t)(1 << bit);
		}
	bytes_done(&b);
	case_done(&c);
}

void test_onnx_hostile__garbage(void **state)
{
	struct support_random r = {.state = 5};
	uint8_t data[512];
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof data; i++)
			data[i] = (uint8_t)support_random_bits(&r);
		check_bytes(data, sizeof data);
	}
}

// A graph in an attribute in a node in a graph ..., ten thousand deep: eight bytes a level.
void test_onnx_hostile__deep_nesting(void **state)
{
	enum { LEVELS = 10000 };
	uint8_t *data = xmalloc(LEVELS * 16);
	size_t at = LEVELS * 16, size = 0;
	const uint8_t tags[3] = {6 << 3 | 2, 5 << 3 | 2, 1 << 3 | 2}; // attribute.g, node.attribute, graph.node
	for (int level = 0; level < LEVELS; level++) {
		size_t n = size;
		uint8_t length[5];
		int digits = 0;
		do {
			length[digits++] = (uint8_t)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
			n >>= 7;
		} while (n);
		at -= (size_t)digits + 1;
		data[at] = level == LEVELS - 1 ? 7 << 3 | 2 : tags[level % 3];
		memcpy(data + at + 1, length, (size_t)digits);
		size += (size_t)digits + 1;
	}
	check_bytes(data + at, size);
	free(data);
}

void test_onnx_hostile__wiring(void **state)
{
	struct onnx_case c;
	relu_case(&c);
	case_node(&c, "Neg", "lost", "nowhere", "z");
	case_refused(&c, STATUS_FORMAT, "node lost (Neg): input 'nowhere'");
	case_done(&c);
	relu_case(&c);
	case_node(&c, "Neg", "twice", "x", "h");
	case_refused(&c, STATUS_FORMAT, "'h' is defined twice");
	case_done(&c);
	relu_case(&c);
	case_node(&c, "Add", "one", "x q", "p");
	case_node(&c, "Add", "two", "x p", "q");
	case_refused(&c, STATUS_FORMAT, "cycle");
	case_done(&c);
	relu_case(&c);
	case_node(&c, "Add", "self", "x s", "s");
	case_refused(&c, STATUS_FORMAT, "self");
	case_done(&c);
	relu_case(&c);
	case_output(&c, c.graph, "absent");
	case_refused(&c, STATUS_FORMAT, "absent");
	case_done(&c);
	relu_case(&c);
	case_node(&c, "Relu", "wide", "x h", "z");
	case_refused(&c, STATUS_FORMAT, "wide");
	case_done(&c);
	relu_case(&c);
	c.graph->n_output = 0;
	case_refused(&c, STATUS_FORMAT, "the model has no outputs");
	case_done(&c);
}

void test_onnx_hostile__operators(void **state)
{
	struct onnx_case c;
	relu_case(&c);
	case_node(&c, "Frobnicate", "odd", "x", "z");
	case_refused(&c, STATUS_UNSUPPORTED, "node odd: operator Frobnicate (opset 13)");
	case_done(&c);
	relu_case(&c);
	case_node(&c, "Relu", "odd", "x", "z")->domain = (char *)"my.domain";
	case_refused(&c, STATUS_UNSUPPORTED, "my.domain.Relu");
	case_done(&c);
	relu_case(&c);
	case_attr_int(&c, case_node(&c, "Softmax", "i", "x", "z"), "axis", 7); // the name is a letter of the text, too
	case_output(&c, c.graph, "z");
	case_refused(&c, STATUS_FORMAT, "node i (Softmax): axis 7");
	case_done(&c);
}

void test_onnx_hostile__opsets_that_are_not_known(void **state)
{
	struct onnx_case c;
	int before = support_log_count();
	relu_case(&c);
	c.opset.version = 99; // taken, and said
	case_load(&c);
	assert_int_equal(support_log_count(), before + 1);
	case_done(&c);
	relu_case(&c);
	c.opset.version = 0;
	case_refused(&c, STATUS_FORMAT, "node add: operator Add: the file names no opset");
	case_done(&c);
}

void test_onnx_hostile__tensors(void **state)
{
	struct onnx_case c;
	relu_case(&c);
	c.graph->initializer[0]->raw_data.len = 12;
	case_refused(&c, STATUS_FORMAT, "initializer 'w'");
	c.graph->initializer[0]->dims[0] = INT64_MAX;
	case_refused(&c, STATUS_FORMAT, "initializer 'w'");
	c.graph->initializer[0]->dims[0] = -4;
	case_refused(&c, STATUS_FORMAT, "initializer 'w'");
	c.graph->initializer[0]->dims[0] = 4;
	c.graph->initializer[0]->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
	case_refused(&c, STATUS_UNSUPPORTED, "'w', which it reads, has elements of type string");
	c.graph->initializer[0]->data_type = 22;
	case_refused(&c, STATUS_FORMAT, "initializer 'w'"); // too many bytes
	c.graph->initializer[0]->data_type = 99;
	case_refused(&c, STATUS_UNSUPPORTED, "has elements of type unknown");
	case_done(&c);
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1 << 20, 1 << 20, 1 << 20));
	case_node(&c, "Relu", "relu", "x", "y");
	case_output(&c, c.graph, "y");
	case_refused(&c, STATUS_UNSUPPORTED, "'x'");
	case_done(&c);
}

// Broadcasting makes a small file ask for a large constant: it is not computed at load.
void test_onnx_hostile__folding_is_bounded(void **state)
{
	struct onnx_case c;
	char in[32], out[32];
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1));
	case_floats(&c, "one", DIMS(1), ones);
	case_ints(&c, "to", 2, (const int64_t[]){4096, 4096});
	case_node(&c, "Expand", "big0", "one to", "big0"); // 64 MiB each
	for (int i = 1; i < 40; i++) {
		snprintf(in, sizeof in, "big%d one", i - 1);
		snprintf(out, sizeof out, "big%d", i);
		case_node(&c, "Add", out, in, out);
	}
	case_node(&c, "Add", "end", "big39 x", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_true(c.loaded->n_nodes > 30);
	case_done(&c);
}

// Small files may ask for much work on constants as well: windows as large as their input, and many products.
void test_onnx_hostile__work_on_constants_is_bounded(void **state)
{
	enum { PRODUCTS = 24 }; // each taken for 2^32 multiplications at the most
	struct onnx_case c;
	char in[32], out[32];
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1));
	case_floats(&c, "one", DIMS(1), ones);
	case_ints(&c, "to", 4, (const int64_t[]){1, 1, 512, 512});
	case_node(&c, "Expand", "wide", "one to", "wide");
	case_attr_ints(&c, case_node(&c, "MaxPool", "pool", "wide", "pooled"), "kernel_shape", 2, (const int64_t[]){256, 256});
	case_ints(&c, "square", 2, (const int64_t[]){256, 256});
	case_node(&c, "Expand", "matrix", "one square", "p0");
	for (int i = 1; i <= PRODUCTS; i++) {
		snprintf(in, sizeof in, "p%d p0", i - 1);
		snprintf(out, sizeof out, "p%d", i);
		case_node(&c, "MatMul", out, in, out);
	}
	case_node(&c, "ReduceMax", "largest", "pooled", "largest");
	snprintf(in, sizeof in, "p%d x", PRODUCTS);
	case_node(&c, "Add", "end", in, "y");
	case_node(&c, "Add", "sum", "y largest", "z");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_true(graph_find_node(c.loaded, "pool") >= 0);
	assert_in_range(c.loaded->n_nodes, PRODUCTS / 3, PRODUCTS - PRODUCTS / 3);
	case_done(&c);
}

// Behind a Relu it would be 0, and nobody would see it.
void test_onnx_hostile__weights_that_are_no_numbers_are_told(void **state)
{
	const float w[] = {1, NAN, 1, -INFINITY};
	struct onnx_case c;
	char line[256];
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_floats(&c, "w", DIMS(4), w);
	case_node(&c, "Add", "add", "x w", "h");
	case_node(&c, "Relu", "relu", "h", "y");
	case_output(&c, c.graph, "y");
	assert_int_equal(onnx_load(&c.loaded, case_save(&c, "spoilt.onnx"), NULL, &c.err), STATUS_OK);
	assert_int_equal(log_line(support_log_count() - 1, line, sizeof line), LOG_WARN);
	assert_non_null(strstr(line, "the model's constant 'w' holds NaN"));
	case_done(&c);
}

// The file has no such constant as the weights become.
void test_onnx_hostile__a_variance_below_zero_is_named(void **state)
{
	static const float one[] = {1, 1, 1, 1}, zeros[4] = {0}, var[] = {1, 1e-20f, -2, 1};
	for (int odd = 0; odd < 2; odd++) {
		struct onnx_case c;
		char line[256];
		int before = support_log_count(), said = 0;
		case_begin_conv(&c, "h");
		case_floats(&c, "ones", DIMS(4), one);
		case_floats(&c, "zeros", DIMS(4), zeros);
		case_floats(&c, "var", DIMS(4), odd ? var : one);
		case_node(&c, "BatchNormalization", "bn", "h ones zeros zeros var", "y");
		case_output(&c, c.graph, "y");
		case_load(&c);
		for (int i = before; i < support_log_count(); i++)
			said += log_line(i, line, sizeof line) == LOG_WARN &&
			    strstr(line, "node bn (BatchNormalization): channel 2 has the scale 1, shift 0, mean 0 and variance -2 (epsilon 1e-05)");
		assert_int_equal(said, odd);
		case_done(&c);
	}
}

// An index that is known only when it runs: several models may be at work, as in a comparison.
void test_onnx_hostile__what_fails_when_it_runs_names_the_file(void **state)
{
	static const int64_t index[1] = {100};
	struct tensor at = {.type = DT_I64, .shape = {1, {1}}, .data = (void *)index}, y = {0};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "i", INT64, DIMS(1));
	case_floats(&c, "w", DIMS(8), ones);
	case_node(&c, "Gather", "pick", "w i", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct engine *e = engine_new(c.loaded, NULL, &(struct engine_options){.threads = 1});
	struct inference run = {.in = &at, .want = c.loaded->output, .n_want = 1, .out = &y};
	assert_int_equal(engine_infer(e, NULL, &run, &c.err), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "case.onnx: node pick (Gather): index 100 is out of range"));
	engine_free(&e);
	case_done(&c);
}

// Constant indices out of range are a fault of the file:
// it is told when the file is opened, not when a sample is there.
void test_onnx_hostile__indices_are_judged_when_the_model_opens(void **state)
{
	static const struct {
		const char *op, *inputs, *says;
		int index;
	} faults[] = {
	    {"GatherElements", "x i", "index 9 is out of range for 2 elements", 9},
	    {"ScatterElements", "x i u", "index -3 is out of range for 2 elements", -3},
	    {"ScatterND", "x i u", "index 2 is out of range for 2 elements", 2},
	    {"NegativeLogLikelihoodLoss", "x i", "class 5 is not one of 5", 5},
	    {"SoftmaxCrossEntropyLoss", "x i", "class -1 is not one of 5", -1},
	};
	for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
		for (int good = 0; good < 2; good++) {
			bool loss = strstr(faults[f].op, "Loss");
			struct onnx_case c;
			case_init(&c);
			case_input(&c, "x", FLOAT, DIMS(2, 5));
			Onnx__TensorProto *i = case_ints(&c, "i", loss ? 2 : 1, (const int64_t[]){good ? 1 : faults[f].index, 1});
			if (!loss) {
				i->n_dims = 2;
				i->dims = arena_memdup(c.arena, (const int64_t[]){1, 1}, 2 * sizeof(int64_t));
			}
			case_floats(&c, "u", 2, (const int64_t[]){1, strcmp(faults[f].op, "ScatterND") ? 1 : 5}, ones);
			case_node(&c, faults[f].op, "node", faults[f].inputs, "y");
			case_output(&c, c.graph, "y");
			enum status s = onnx_load(&c.loaded, case_save(&c, "case.onnx"), NULL, &c.err);
			assert_int_equal(s, good ? STATUS_OK : STATUS_FORMAT);
			if (!good && !strstr(c.err.text, faults[f].says))
				fail_msg("%s: %s", faults[f].op, c.err.text);
			case_done(&c);
		}
}

// Terabytes are refused before the first of them is taken.
void test_onnx_hostile__outputs_that_do_not_fit_memory_are_told_first(void **state)
{
	struct onnx_case c;
	for (int large = 0; large < 2; large++) {
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(1));
		case_ints(&c, "to", 2, (const int64_t[]){1 << 20, large ? 1 << 20 : 1});
		case_node(&c, "Expand", "spread", "x to", "y");
		case_output(&c, c.graph, "y");
		case_load(&c);
		assert_int_equal(graph_fits(c.loaded, 2, &c.err), large ? STATUS_NOMEM : STATUS_OK);
		if (large)
			assert_non_null(
			    strstr(c.err.text, "case.onnx: node spread (Expand): its output takes 4194304 MiB, in floats and quantized"));
		case_done(&c);
	}
}
