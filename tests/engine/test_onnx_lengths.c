// Lengths of sequences that the model leaves open.
#include <stdio.h>
#include "onnx_case.h"
#include "qtui/base/log.h"

enum { BOOLEAN = ONNX__TENSOR_PROTO__DATA_TYPE__BOOL };

// An input of dimensions with these symbols, '_' for a blank, "-" for none; a number is a size. It is read, so that it stays.
static void add_input(struct onnx_case *c, const char *name, int type, const char *dims)
{
	char *words[4], out[32];
	int rank = (int)case_words(c, words, dims);
	case_input(c, name, type, rank, (const int64_t[]){-1, -1, -1, -1});
	for (int i = 0; i < rank; i++) {
		Onnx__TensorShapeProto__Dimension *d = c->graph->input[c->graph->n_input - 1]->type->tensor_type->shape->dim[i];
		for (char *p = words[i]; *p; p++)
			*p = *p == '_' ? ' ' : *p;
		d->dim_param = words[i];
		if (atoi(words[i])) {
			d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
			d->dim_value = atoi(words[i]);
		}
	}
	snprintf(out, sizeof out, "out_%s", name);
	case_attr_int(c, case_node(c, "Cast", out, name, out), "to", FLOAT);
	case_output(c, c->graph, out);
}

static void assert_input(const struct onnx_case *c, const char *name, const char *want)
{
	char has[64];
	shape_text(&c->loaded->value[graph_find_value(c->loaded, name)].shape, has, sizeof has);
	if (strcmp(has, want))
		fail_msg("%s is %s, not %s", name, has, want);
}

void test_onnx_lengths__of_what_is_read_from_names_and_types(void **state)
{
	static const struct {
		struct {
			const char *name;
			int type;
			const char *dims, *want;
		} in[4];
	} cases[] = {
	    {{{"ids", INT64, "b s", "[1, 128]"}, {"mask", BOOLEAN, "b s", "[1, 128]"}, {"row", FLOAT, "b s 4", "[1, 128, 4]"}}},
	    {{{"hidden", FLOAT, "b s 4", "[1, 128, 4]"}, {"ids", INT64, "b s", "[1, 128]"}}}, // whichever comes first
	    {{{"ids", INT64, "b s", "[1, 128]"}, {"mask", INT64, "b past+s", "[1, 256]"}, {"past0", FLOAT, "b 2 past 4", "[1, 2, 128, 4]"}}},
	    {{{"ids", INT64, "b s", "[1, 128]"}, {"mask", INT64, "b total", "[1, 256]"}, {"past0", FLOAT, "b 2 - 4", "[1, 2, 128, 4]"}}},
	    {{{"mask", INT64, "b past_+_1", "[1, 129]"}, {"past0", FLOAT, "b 2 past 4", "[1, 2, 128, 4]"}}},
	    {{{"sound", FLOAT, "b 8 T", "[1, 8, 128]"}, {"frames", FLOAT, "b frames 4", "[1, 128, 4]"}}},
	    {{{"features", FLOAT, "b n", "[1, 1]"}, {"ids", INT64, "b s", "[1, 128]"}}}, // n may be anything
	    {{{"choices", INT64, "b c s", "[1, 1, 128]"}, {"boxes", INT64, "b n 4", "[1, 128, 4]"}}},
	    {{{"offsets", INT64, "3 b", "[3, 1]"}, {"dense", FLOAT, "b 4", "[1, 4]"}}},
	    {{{"count", INT64, "b", "[1]"}, {"picture", FLOAT, "b 3 h w", "[1, 3, 640, 640]"}, {"ids", INT64, "b s", "[1, 128]"}}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct onnx_case c;
		case_init(&c);
		for (int k = 0; k < 4 && cases[i].in[k].name; k++)
			add_input(&c, cases[i].in[k].name, cases[i].in[k].type, cases[i].in[k].dims);
		case_load(&c);
		for (int k = 0; k < 4 && cases[i].in[k].name; k++)
			assert_input(&c, cases[i].in[k].name, cases[i].in[k].want);
		case_done(&c);
	}
}

// A table of positions is shorter, or nothing but one token fits.
void test_onnx_lengths__are_tried_until_they_fit(void **state)
{
	static const float table[600];
	static const struct {
		int rows;
		const char *want;
	} cases[] = {{128, "[1, 128]"}, {64, "[1, 64]"}, {16, "[1, 16]"}, {7, "[1, 1]"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct onnx_case c;
		char line[300];
		case_init(&c);
		add_input(&c, case_text(&c, i % 2 ? "odd" : "even"), INT64, "b s");
		case_floats(&c, "table", DIMS(1, cases[i].rows), table);
		case_node(&c, "Add", "add", i % 2 ? "out_odd table" : "out_even table", "y");
		case_output(&c, c.graph, "y");
		case_load(&c);
		assert_input(&c, i % 2 ? "odd" : "even", cases[i].want);
		assert_int_equal(log_line(support_log_count() - 1, line, sizeof line), LOG_WARN);
		if (!strstr(line, cases[i].want) || !strstr(line, "data of another shape"))
			fail_msg("%s", line);
		case_done(&c);
	}
}

// The mask is one longer than the past, so one token is new; no picture's size changes that.
void test_onnx_lengths__one_token_behind_a_past(void **state)
{
	struct onnx_case c;
	case_init(&c);
	add_input(&c, "ids", INT64, "b s");
	add_input(&c, "mask", INT64, "b past_sequence_+_1");
	add_input(&c, "past", FLOAT, "b past_sequence");
	case_attr_int(&c, case_node(&c, "Concat", "all", "out_past out_ids", "all"), "axis", 1);
	case_node(&c, "Add", "masked", "all out_mask", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_input(&c, "ids", "[1, 1]");
	assert_input(&c, "past", "[1, 127]");
	assert_input(&c, "mask", "[1, 128]");
	case_done(&c);
}

void test_onnx_lengths__data_say_otherwise(void **state)
{
	struct onnx_input_shape shape[] = {{.name = "ids", .shape = {2, {1, 7}}}, {.name = "past", .shape = {2, {1, 0}}}};
	struct onnx_options opt = {.shape = shape, .n_shapes = 2};
	struct onnx_case c;
	case_init(&c);
	add_input(&c, "mask", INT64, "b past+s");
	add_input(&c, "past", FLOAT, "b past");
	add_input(&c, "ids", INT64, "b s");
	if (case_load_with(&c, &opt))
		fail_msg("%s", c.err.text);
	assert_input(&c, "ids", "[1, 7]");
	assert_input(&c, "past", "[1, 0]");
	assert_input(&c, "mask", "[1, 7]");
	case_done(&c);
}
