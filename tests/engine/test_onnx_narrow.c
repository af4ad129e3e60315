// Elements that C has no type for: integers of 4 bits, floats of 8 and 4, text, and tensors that are stored sparsely.
#include <math.h>
#include "node_run.h"
#include "onnx_case.h"
#include "qtui/engine/eval.h"

enum { UINT4 = 21, INT4 = 22, STRING = ONNX__TENSOR_PROTO__DATA_TYPE__STRING };

// x + w, so that w stays
static void sum_case(struct onnx_case *c, int64_t n)
{
	case_init(c);
	c->opset.version = 21;
	case_input(c, "x", FLOAT, 1, &n);
	case_node(c, "Add", "sum", "x w", "y");
	case_output(c, c->graph, "y");
}

static const struct tensor *constant_of(const struct onnx_case *c, const char *name)
{
	const struct tensor *t = c->loaded->value[graph_find_value(c->loaded, name)].constant;
	assert_non_null(t);
	return t;
}

static const struct narrow_row {
	int type, n;
	uint8_t code[8];
	float value[8];
} rows[] = {
    {17, 8, {0x00, 0x01, 0x08, 0x38, 0xb9, 0x7e, 0x7f, 0xff}, {0, 0x1p-9f, 0x1p-6f, 1, -1.125f, 448, NAN, NAN}},
    {18, 6, {0x01, 0x08, 0x40, 0x7f, 0xff, 0x80}, {0x1p-10f, 0x1p-7f, 1, 240, -240, NAN}},
    {19, 8, {0x01, 0x04, 0x3c, 0x7b, 0x7c, 0xfc, 0x7d, 0xbd}, {0x1p-16f, 0x1p-14f, 1, 57344, INFINITY, -INFINITY, NAN, -1.25f}},
    {20, 5, {0x01, 0x40, 0x7f, 0xff, 0x80}, {0x1p-17f, 1, 57344, -57344, NAN}},
    {23, 8, {0x10, 0x32, 0x54, 0x98}, {0, .5f, 1, 1.5f, 2, 3, -0.0f, -.5f}},
    {24, 3, {127, 0, 255}, {1, 0x1p-127f, NAN}},
};

void test_onnx_narrow__floats_of_few_bits(void **state)
{
	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		const struct narrow_row *row = &rows[r];
		struct onnx_case c;
		sum_case(&c, row->n);
		case_const(&c, "w", row->type, DIMS(row->n), row->code, (size_t)(row->type == 23 ? row->n / 2 : row->n));
		case_load(&c);
		for (int i = 0; i < 2 * row->n; i++) {
			float want = row->value[i % row->n], got = ((const float *)constant_of(&c, "w")->data)[i % row->n];
			if (isnan(want) ? !isnan(got) : got != want)
				fail_msg("type %d: element %d is %g, not %g", row->type, i, (double)got, (double)want);
			if (i == row->n - 1)
				case_rewrite(&c);
		}
		case_done(&c);
	}
}

// x -> QuantizeLinear of 4 bits -> DequantizeLinear; the zero point is of the type.
static void pair_case(struct onnx_case *c, int type, uint8_t zero)
{
	case_init(c);
	c->opset.version = 21;
	case_input(c, "x", FLOAT, DIMS(4));
	case_floats(c, "scale", 0, NULL, (const float[]){.5f});
	case_const(c, "zero", type, 0, NULL, &zero, 1);
	case_node(c, "QuantizeLinear", "quantize", "x scale zero", "codes");
	case_node(c, "DequantizeLinear", "dequantize", "codes scale zero", "y");
	case_output(c, c->graph, "y");
}

void test_onnx_narrow__codes_of_four_bits_stay_so_when_written(void **state)
{
	struct onnx_case c;
	for (int sign = 0; sign < 2; sign++) {
		pair_case(&c, sign ? INT4 : UINT4, 0x0d);
		case_load(&c);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(constant_of(&c, "zero")->type, sign ? DT_I4 : DT_U4);
			assert_int_equal(*(const int8_t *)constant_of(&c, "zero")->data, sign ? -3 : 13);
			assert_int_equal(c.loaded->value[graph_find_value(c.loaded, "codes")].type, sign ? DT_I4 : DT_U4);
			case_rewrite(&c);
		}
		case_done(&c);
	}
}

// The engine has them as floats; the type of the zero point says what to round to, and both are in the file again.
void test_onnx_narrow__codes_of_floats_stay_so_when_written(void **state)
{
	static const float x[4] = {.3f, -7, 10, 1000}, want[4] = {.3125f, -7, 10, 224};
	struct onnx_case c;
	pair_case(&c, 17, 0);
	case_load(&c);
	for (int again = 0; again < 2; again++) {
		const struct tensor in = {.type = DT_F32, .shape = shape_of(1, (const int64_t[]){4}), .data = (void *)x}, *list = &in;
		struct tensor y;
		assert_int_equal(c.loaded->value[graph_find_value(c.loaded, "zero")].minifloat, 17);
		assert_int_equal(c.loaded->value[graph_find_value(c.loaded, "codes")].minifloat, 17);
		assert_int_equal(graph_eval(c.loaded, &list, &y, 1, &c.err), STATUS_OK);
		assert_memory_equal(y.data, want, sizeof want);
		tensor_drop(&y);
		case_rewrite(&c);
	}
	case_done(&c);
}

// By a cast there and back, of a number and like a constant of the file.
void test_onnx_narrow__casts_to_floats_of_few_bits_round(void **state)
{
	static const float x[4] = {.3f, -7.4f, 10, 1000}, want[2][4] = {{.3125f, -7.5f, 10, NAN}, {.3125f, -7, 10, 1024}};
	for (int like = 0; like < 2; like++) {
		struct onnx_case c;
		case_init(&c);
		c.opset.version = 19;
		case_input(&c, "x", FLOAT, DIMS(4));
		case_const(&c, "zero", 19, DIMS(1), &(uint8_t){0}, 1);
		Onnx__NodeProto *n = case_node(&c, like ? "CastLike" : "Cast", "narrow", like ? "x zero" : "x", "codes");
		case_attr_int(&c, n, "saturate", 0);
		if (!like)
			case_attr_int(&c, n, "to", 17);
		case_attr_int(&c, case_node(&c, "Cast", "back", "codes", "y"), "to", FLOAT);
		case_output(&c, c.graph, "y");
		case_load(&c);
		for (int again = 0; again < 2; again++) {
			const struct tensor in = {.type = DT_F32, .shape = shape_of(1, (const int64_t[]){4}), .data = (void *)x}, *list = &in;
			struct tensor y;
			assert_int_equal(c.loaded->n_nodes, 2);
			assert_int_equal(graph_eval(c.loaded, &list, &y, 1, &c.err), STATUS_OK);
			for (int i = 0; i < 4; i++)
				assert_true(isnan(want[like][i]) ? isnan(((float *)y.data)[i]) : ((float *)y.data)[i] == want[like][i]);
			tensor_drop(&y);
			case_rewrite(&c);
		}
		case_done(&c);
	}
}

// Two columns in blocks of two rows: an odd number of codes, packed in bytes or, two each, in the typed field.
void test_onnx_narrow__weights_of_four_bits_in_blocks(void **state)
{
	static const uint8_t packed[3] = {0x81, 0x7f, 0x02};
	static const float want[5] = {1, -8, -1 * 2, 7 * 2, 2 * 4};
	for (int field = 0; field < 2; field++) {
		struct onnx_case c;
		Onnx__TensorProto *t;
		sum_case(&c, 5);
		t = case_const(&c, "codes", INT4, DIMS(5), packed, sizeof packed);
		if (field) {
			t->has_raw_data = false;
			t->n_int32_data = 3;
			t->int32_data = arena_memdup(c.arena, (const int32_t[]){0x81, 0x7f, 0x02}, 3 * sizeof(int32_t));
		}
		case_floats(&c, "scales", 1, (const int64_t[]){3}, (const float[]){1, 2, 4});
		Onnx__NodeProto *n = case_node(&c, "DequantizeLinear", "dequantize", "codes scales", "w");
		case_attr_int(&c, n, "axis", 0);
		case_attr_int(&c, n, "block_size", 2);
		case_load(&c);
		assert_int_equal(c.loaded->n_nodes, 1);
		assert_memory_equal(constant_of(&c, "w")->data, want, sizeof want);
		case_done(&c);
	}
}

static void check_saturation(enum dtype type, const float *want)
{
	const float x[4] = {-100, -.3f, .6f, 100}, scale = .25f;
	int8_t zero = 2;
	struct node_run r;
	node_run_init(&r, "", "QuantizeLinear", 21, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(4), x);
	node_run_add(&r, DT_F32, SCALAR, &scale);
	node_run_add(&r, type, SCALAR, &zero);
	node_run(&r);
	assert_int_equal(r.out[0].type, type);
	for (int i = 0; i < 4; i++)
		assert_int_equal(((const int8_t *)r.out[0].data)[i], (int)want[i]);
	node_run_done(&r);
}

void test_onnx_narrow__codes_end_at_four_bits(void **state)
{
	check_saturation(DT_I4, (const float[]){-8, 1, 4, 7});
	check_saturation(DT_U4, (const float[]){0, 1, 4, 15});
}

static void add_text(struct onnx_case *c, const char *name)
{
	Onnx__TensorProto *t = case_tensor(c, name, STRING, DIMS(1));
	t->n_string_data = 1;
	t->string_data = case_new(c, sizeof *t->string_data);
	t->string_data[0] = (ProtobufCBinaryData){.len = 3, .data = (uint8_t *)case_text(c, "cat")};
	c->graph->initializer[c->graph->n_initializer++] = t;
}

static void relu_case(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(2));
	case_node(c, "Relu", "relu", "x", "y");
	case_output(c, c->graph, "y");
	add_text(c, "labels");
}

void test_onnx_narrow__text_may_be_there_but_not_be_read(void **state)
{
	struct onnx_case c;
	relu_case(&c);
	case_attr(&c, case_node(&c, "Constant", "k", "", "names"), "value_strings", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	case_node(&c, "Gather", "pick", "names x", "picked");
	case_refused(&c, STATUS_UNSUPPORTED, "node pick (Gather): 'names', which it reads, has elements of type string");
	case_done(&c);
	relu_case(&c);
	c.graph->n_output = 0;
	case_output(&c, c.graph, "labels");
	case_refused(&c, STATUS_UNSUPPORTED, "output 'labels' has elements of type string");
	case_done(&c);
}

// [2, 3] of which n are stored
static Onnx__SparseTensorProto *add_sparse(struct onnx_case *c, const float *v, int64_t n, const int64_t *index, int64_t columns)
{
	Onnx__SparseTensorProto *t = case_new(c, sizeof *t);
	onnx__sparse_tensor_proto__init(t);
	t->values = case_tensor(c, "w", FLOAT, 1, &n);
	case_raw(c, t->values, v, (size_t)n * sizeof *v);
	t->indices = case_tensor(c, "", INT64, columns ? 2 : 1, (const int64_t[]){n, columns});
	case_raw(c, t->indices, index, (size_t)(n * (columns ? columns : 1)) * sizeof *index);
	t->n_dims = 2;
	t->dims = arena_memdup(c->arena, (const int64_t[]){2, 3}, 2 * sizeof(int64_t));
	c->graph->sparse_initializer = case_new(c, sizeof *c->graph->sparse_initializer);
	c->graph->sparse_initializer[c->graph->n_sparse_initializer++] = t;
	return t;
}

void test_onnx_narrow__sparse_tensors_become_dense(void **state)
{
	static const int64_t linear[2] = {1, 5}, pairs[4] = {0, 1, 1, 2}, outside[4] = {0, 1, 1, 3};
	static const float want[6] = {0, 2, 0, 0, 0, -3};
	struct onnx_case c;
	for (int columns = 0; columns <= 2; columns += 2) {
		sum_case(&c, 3);
		add_sparse(&c, (const float[]){2, -3}, 2, columns ? pairs : linear, columns);
		case_load(&c);
		assert_memory_equal(constant_of(&c, "w")->data, want, sizeof want);
		case_done(&c);
	}
	sum_case(&c, 3);
	add_sparse(&c, (const float[]){2, -3}, 2, outside, 2);
	case_refused(&c, STATUS_FORMAT, "initializer 'w': the index of value 1");
	case_done(&c);
	sum_case(&c, 3);
	add_sparse(&c, (const float[]){2, -3}, 2, linear, 0)->dims[0] = 1 << 20;
	case_refused(&c, STATUS_UNSUPPORTED, "too many when dense");
	case_done(&c);
}

// Types of outputs, and the bytes of a float that their values keep; 0: as all here.
static const struct {
	int type, bytes;
} widths[] = {{FLOAT, 0}, {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, 2}, {ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, 8}};

// What stands for a tensor that is gone keeps the type of the output whose name it takes.
void test_onnx_narrow__outputs_keep_their_width(void **state)
{
	for (size_t r = 0; r < sizeof widths / sizeof *widths; r++) {
		struct onnx_case c;
		int64_t dim = 3;
		case_init(&c);
		case_input(&c, "x", widths[r].type, 1, &dim);
		case_node(&c, "Relu", "relu", "x", "z");
		case_node(&c, "Identity", "same", "z", "y");
		case_output(&c, c.graph, "y");
		c.graph->output[0]->type->tensor_type->elem_type = widths[r].type;
		case_load(&c);
		assert_int_equal(c.loaded->value[c.loaded->output[0]].float_bytes, widths[r].bytes);
		case_done(&c);
	}
}

// So does one whose shape and type are not known before it runs.
void test_onnx_narrow__outputs_of_unknown_shape_keep_their_width(void **state)
{
	for (size_t r = 0; r < sizeof widths / sizeof *widths; r++) {
		struct onnx_case c;
		int64_t dim = 3;
		case_init(&c);
		case_input(&c, "x", widths[r].type, 1, &dim);
		case_input(&c, "taken", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 1, &dim);
		case_node(&c, "Compress", "chosen", "x taken", "y");
		case_output(&c, c.graph, "y");
		c.graph->output[0]->type->tensor_type->elem_type = widths[r].type;
		case_load(&c);
		const struct value *y = &c.loaded->value[c.loaded->output[0]];
		assert_int_equal(y->type, DT_NONE);
		assert_int_equal(y->float_bytes, widths[r].bytes);
		case_done(&c);
	}
}
