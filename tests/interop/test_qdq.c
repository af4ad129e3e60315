// The QDQ model: read back by the program itself it gives what the simulation of the plan gives.
#include <math.h>
#include "study_case.h"
#include "engine/onnx_case.h"
#include "qtui/base/file.h"
#include "qtui/base/npy.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/op.h"

struct qdq_case {
	struct study *st;
	struct graph *g; // of the file
	struct str loss;
};

static void write_and_read(struct qdq_case *c, struct study *st)
{
	const char *path = support_temp("qdq.onnx");
	struct error err = {0};
	*c = (struct qdq_case){.st = st};
	struct str file = case_export(st, "qdq", &c->loss);
	if (file_write(path, str_text(&file), file.len, &err) != STATUS_OK ||
	    onnx_load(&c->g, path, &(struct onnx_options){0}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	str_done(&file);
}

static void done(struct qdq_case *c)
{
	graph_free(&c->g);
	study_close(&c->st);
	str_done(&c->loss);
}

static int count_op(const struct graph *g, enum op_id id, const char *domain)
{
	int n = 0;
	for (int i = 0; i < g->n_nodes; i++)
		n += g->node[i].op->id == id && strcmp(g->node[i].op->domain, domain) == 0;
	return n;
}

static struct tensor run_file(const struct qdq_case *c, const struct tensor *in)
{
	struct error err = {0};
	struct tensor out = {0};
	struct engine *e = engine_new(c->g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	if (engine_infer(e, NULL, &(struct inference){.in = in, .want = c->g->output, .n_want = 1, .out = &out}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	engine_free(&e);
	return out;
}

// How far the file's first output is from the simulation's, as noise over signal.
// Integers and floats add up in other orders: a code next to a tie may change places, and many behind it.
static double noise_on(const struct qdq_case *c, const struct dataset *data, int sample)
{
	struct error err = {0};
	struct tensor in = {0}, want = {0};
	const struct graph *g = study_graph(c->st);
	if (dataset_load(data, sample, &in, NULL, &err) != STATUS_OK ||
	    study_infer(c->st, &(struct inference){.sim = SIM_FULL, .in = &in, .want = g->output, .n_want = 1, .out = &want}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	struct tensor got = run_file(c, &in);
	double sum = 0, signal = 1e-30;
	assert_int_equal(tensor_count(&got), tensor_count(&want));
	for (int64_t i = 0; i < tensor_count(&got); i++) {
		double w = ((float *)want.data)[i], d = ((float *)got.data)[i] - w;
		sum += d * d;
		signal += w * w;
	}
	tensor_drop(&in);
	tensor_drop(&want);
	tensor_drop(&got);
	return sum / signal;
}

static double noise(const struct qdq_case *c)
{
	return noise_on(c, study_dataset(c->st), 0);
}

// Of some samples the least: a tie is met by one of them, a fault by all.
static double least_noise(const struct qdq_case *c)
{
	struct error err = {0};
	struct dataset *d;
	double least = INFINITY;
	if (dataset_open(&d, CALIB, study_graph(c->st), &(struct dataset_options){.samples = 3}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	for (int i = 0; i < dataset_count(d); i++)
		least = fmin(least, noise_on(c, d, i));
	dataset_free(&d);
	return least;
}

void test_qdq__is_the_simulation(void **state)
{
	static const char *const targets[] = {"onnxruntime", "esp32p4", "pytorch", "xint8"};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct qdq_case c;
		write_and_read(&c, case_open(MODEL, CALIB, targets[i]));
		if (!(least_noise(&c) <= 1e-8))
			fail_msg("%s: %g", targets[i], least_noise(&c));
		assert_string_equal(str_text(&c.loss), "");
		assert_true(count_op(c.g, OP_QuantizeLinear, "") > 50);
		done(&c);
	}
}

void test_qdq__writes_what_runs_in_a_nodes_place(void **state)
{
	struct qdq_case c;
	write_and_read(&c, case_open(MODEL, CALIB, "xint8"));
	assert_int_equal(count_op(c.g, OP_Sigmoid, ""), 0);
	assert_in_range(count_op(c.g, OP_HardSigmoid, ""), 20, 200);
	done(&c);
}

void test_qdq__keeps_the_names_of_inputs_and_outputs(void **state)
{
	struct qdq_case c;
	write_and_read(&c, case_open(MODEL, CALIB, "onnxruntime"));
	assert_string_equal(c.g->value[c.g->input[0]].name, "images");
	assert_string_equal(c.g->value[c.g->output[0]].name, "output0");
	assert_non_null(graph_metadata(c.g, "names"));
	done(&c);
}

// Opset 13 has no 16-bit pair of its own: these are of ONNX Runtime's domain, and the wide biases floats.
void test_qdq__mixed_precision(void **state)
{
	struct qdq_case c;
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_set(st, "/model.0/conv/Conv", PREC_INT16);
	case_set(st, "op:Concat", PREC_FLOAT);
	write_and_read(&c, st);
	assert_true(count_op(c.g, OP_QuantizeLinear, "com.microsoft") >= 2);
	assert_non_null(strstr(str_text(&c.loss), "1 bias of more than 32 bits"));
	assert_true(noise(&c) < 1e-3);
	done(&c);
}

void test_qdq__ties_are_told(void **state)
{
	struct qdq_case c;
	write_and_read(&c, case_open(MODEL, CALIB, "esp32s3"));
	assert_non_null(strstr(str_text(&c.loss), "rounds ties to even"));
	done(&c);
}

// No pair stands within a step: a board that rounds there gives something else than the file.
void test_qdq__rounding_within_steps_is_told(void **state)
{
	static const char *const targets[] = {"esp32p4", "onnxruntime"};
	struct onnx_case file;
	float w[3 * 2] = {.5f, -.25f, 1, .75f, .3f, -.6f}, r[3] = {.25f, .5f, -.5f};
	case_init(&file);
	case_input(&file, "x", FLOAT, DIMS(8, 1, 2));
	case_floats(&file, "w", DIMS(1, 3, 2), w);
	case_floats(&file, "r", DIMS(1, 3, 1), r);
	case_attr_int(&file, case_node(&file, "GRU", "gru", "x w r", "y"), "hidden_size", 1);
	case_output(&file, file.graph, "y");
	const char *model = case_save(&file, "gru.onnx");
	for (int i = 0; i < 2; i++) {
		struct qdq_case c;
		write_and_read(&c, case_open(model, NULL, targets[i]));
		const char *told = strstr(str_text(&c.loss), "gru: 1 recurrence that target esp32p4 rounds within every step");
		assert_int_equal(told != NULL, i == 0);
		done(&c);
	}
	case_done(&file);
}

// An older file that no operator ties to its opset is raised to where scales of channels begin,
// without them to where integer kernels do.
void test_qdq__old_opset(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx");
	struct qdq_case c;
	if (!model)
		skip();
	write_and_read(&c, case_open(model, NULL, "onnxruntime"));
	assert_int_equal(c.g->opset, 13);
	assert_true(noise(&c) < 1e-3);
	done(&c);
	write_and_read(&c, case_open(model, NULL, "esp32s3"));
	assert_int_equal(c.g->opset, 10);
	done(&c);
}

// What no integer kernel takes, others compute: on the same rounded parameters.
static void without_kernel(struct onnx_case *c)
{
	float w[256];
	for (int i = 0; i < 256; i++)
		w[i] = (float)((i * 37 + 11) % 101) / 101 - 0.4f;
	case_input(c, "x", FLOAT, DIMS(1, 4, 3, 4, 5));
	case_floats(c, "w", DIMS(8, 4, 2, 2, 2), w);
	case_floats(c, "b", DIMS(8), w + 3);
	case_node(c, "Conv", "volume", "x w b", "volume_y");
	case_ints(c, "to", 4, (int64_t[]){1, 8, 6, 4});
	case_node(c, "Reshape", "flat", "volume_y to", "flat_y");
	case_floats(c, "wt", DIMS(8, 4, 2, 2), w + 60);
	Onnx__NodeProto *n = case_node(c, "ConvTranspose", "groups", "flat_y wt", "groups_y");
	case_attr_int(c, n, "group", 4);
	case_ints(c, "rows", 2, (int64_t[]){35, 16});
	case_node(c, "Reshape", "matrix", "groups_y rows", "matrix_y");
	case_floats(c, "wg", DIMS(16, 6), w + 100);
	case_floats(c, "bg", DIMS(1), w + 7);
	case_node(c, "Gemm", "one_bias", "matrix_y wg bg", "gemm_y");
	case_floats(c, "wm", DIMS(6, 6), w + 20); // tensorrt has a scale a row: as many as there are output channels
	case_node(c, "MatMul", "square", "gemm_y wm", "y");
	case_output(c, c->graph, "y");
}

// The written model is what the study computes, under each of the targets.
static void computes_the_same(const char *model, const char *const *target, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct qdq_case c;
		write_and_read(&c, case_open(model, NULL, target[i]));
		if (noise(&c) > 1e-8)
			fail_msg("%s: %g", target[i], noise(&c));
		done(&c);
	}
}

void test_qdq__parameters_where_no_kernel_rounds_them(void **state)
{
	static const char *const targets[] = {"onnxruntime", "esp32p4", "xint8", "tensorrt"};
	struct onnx_case file;
	case_init(&file);
	without_kernel(&file);
	const char *model = case_save(&file, "volume.onnx");
	computes_the_same(model, targets, sizeof targets / sizeof *targets);
	case_done(&file);
}

// A mean of 36 is one of 7/256 to AMD's NPU: the file has a product with 36 * 7/256
// behind it. The Relu runs with the pool.
void test_qdq__means_of_an_npu(void **state)
{
	static const char *const targets[] = {"xint8", "vint8"};
	struct onnx_case file;
	struct qdq_case c;
	case_begin_conv(&file, "conv_y");
	case_node(&file, "GlobalAveragePool", "mean", "conv_y", "mean_y");
	case_node(&file, "Relu", "relu", "mean_y", "y");
	case_output(&file, file.graph, "y");
	const char *model = case_save(&file, "mean.onnx");
	computes_the_same(model, targets, 2);
	write_and_read(&c, case_open(model, NULL, "xint8"));
	assert_int_equal(count_op(c.g, OP_Mul, ""), 1);
	done(&c);
	case_done(&file);
}

// The model's halves and doubles stay what they are: the file runs in its place.
void test_qdq__keeps_the_elements_of_inputs_and_outputs(void **state)
{
	static const struct {
		int type, bytes;
	} of[] = {{ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, 2}, {ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, 8}};
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct onnx_case file;
		struct qdq_case c;
		float w[4 * 4] = {1, 0.5f, -0.25f, 0.125f, 0.75f};
		case_init(&file);
		case_input(&file, "x", of[i].type, DIMS(1, 4, 6, 6));
		case_floats(&file, "w", DIMS(4, 4, 1, 1), w);
		case_attr_int(&file, case_node(&file, "Cast", "widen", "x", "x_32"), "to", FLOAT);
		case_node(&file, "Conv", "conv", "x_32 w", "y_32");
		case_attr_int(&file, case_node(&file, "Cast", "narrow", "y_32", "y"), "to", of[i].type);
		file.graph->output[file.graph->n_output++] = case_value(&file, "y", of[i].type, DIMS(1, 4, 6, 6));
		write_and_read(&c, case_open(case_save(&file, "half.onnx"), NULL, "onnxruntime"));
		const struct value *in = &c.g->value[c.g->input[0]], *out = &c.g->value[c.g->output[0]];
		assert_true(!strcmp(in->name, "x") && !strcmp(out->name, "y"));
		assert_int_equal(in->float_bytes, of[i].bytes);
		assert_int_equal(out->float_bytes, of[i].bytes);
		assert_true(noise(&c) < 1e-6); // of a half at the output
		done(&c);
		case_done(&file);
	}
}

// Pairs of Casts round: the file is not the float network again.
void test_qdq__casts(void **state)
{
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	case_node(&file, "Relu", "relu", "conv_y", "y");
	case_output(&file, file.graph, "y");
	const char *model = case_save(&file, "casts.onnx");
	for (int i = 0; i < 2; i++) {
		struct qdq_case c;
		write_and_read(&c, case_open(model, NULL, i ? "fp16" : "bf16"));
		assert_true(count_op(c.g, OP_Cast, "") > 2);
		if (noise(&c) > 1e-12)
			fail_msg("%g", noise(&c));
		done(&c);
	}
	case_done(&file);
}

// So do pairs that the model has.
void test_qdq__casts_of_the_model(void **state)
{
	static const int type[] = {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16};
	static const char *const targets[] = {"onnxruntime"};
	for (int i = 0; i < 2; i++) {
		struct onnx_case file;
		case_begin_conv(&file, "conv_y");
		case_node(&file, "Exp", "exact", "conv_y", "exact_y"); // in float: all of its digits reach the pair
		case_attr_int(&file, case_node(&file, "Cast", "narrow", "exact_y", "narrow_y"), "to", type[i]);
		case_attr_int(&file, case_node(&file, "Cast", "wide", "narrow_y", "wide_y"), "to", FLOAT);
		case_node(&file, "Sin", "after", "wide_y", "y");
		case_output(&file, file.graph, "y");
		computes_the_same(case_save(&file, "pair.onnx"), targets, 1);
		case_done(&file);
	}
}

// A triangle beside the other is zeros, which are not the code 0 of a grid with a zero point.
void test_qdq__a_triangle_of_codes(void **state)
{
	static const char *const targets[] = {"onnxruntime", "a8w8", "esp32p4"};
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	file.opset.version = 14;
	case_attr_int(&file, case_node(&file, "Trilu", "lower", "conv_y", "y"), "upper", 0);
	case_output(&file, file.graph, "y");
	computes_the_same(case_save(&file, "triangle.onnx"), targets, 3);
	case_done(&file);
}

// Windows of 25 and of 36 have factors of their own.
void test_qdq__means_of_several_windows(void **state)
{
	static const char *const targets[] = {"xint8", "vint8"};
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	Onnx__NodeProto *n = case_node(&file, "AveragePool", "pool", "conv_y", "pool_y");
	case_attr_ints(&file, n, "kernel_shape", 2, (int64_t[]){5, 5});
	case_attr_ints(&file, n, "pads", 4, (int64_t[]){2, 2, 2, 2});
	case_node(&file, "GlobalAveragePool", "mean", "pool_y", "y");
	case_output(&file, file.graph, "pool_y");
	case_output(&file, file.graph, "y");
	const char *model = case_save(&file, "means.onnx");
	computes_the_same(model, targets, 2);
	case_done(&file);
}

// What ONNX Runtime gives the scale of its input is rounded to it where it computes,
// and what moves that is on the same grid.
void test_qdq__moves_behind_what_keeps_its_scale(void **state)
{
	struct onnx_case file;
	struct qdq_case c;
	case_begin_conv(&file, "conv_y");
	case_floats(&file, "scales", DIMS(4), (float[]){1, 1, 2, 2});
	Onnx__NodeProto *n = case_node(&file, "Resize", "twice", "conv_y - scales", "twice_y");
	Onnx__AttributeProto *mode = case_attr(&file, n, "mode", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
	mode->has_s = true;
	mode->s = (ProtobufCBinaryData){6, (uint8_t *)"linear"};
	case_ints(&file, "rows", 2, (int64_t[]){4, 144});
	case_node(&file, "Reshape", "moved", "twice_y rows", "y");
	case_output(&file, file.graph, "y");
	write_and_read(&c, case_open(case_save(&file, "moved.onnx"), NULL, "onnxruntime"));
	if (noise(&c) > 1e-8)
		fail_msg("%g", noise(&c));
	assert_int_equal(count_op(c.g, OP_QuantizeLinear, ""), 4); // of the input and behind every node
	done(&c);
	case_done(&file);
}

// What moves codes has their pair once more where it is in float, too: it rounds nothing, and behind signed codes an optimizer that puts
// one there itself may fail. Not where others round it on a grid of theirs.
void test_qdq__moves_of_codes_in_float(void **state)
{
	static const struct { const char *floats[3]; int pairs; } row[] = {{{"moved", "turned", "sum"}, 4}, {{"moved", "turned"}, 5}};
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	case_ints(&file, "rows", 2, (int64_t[]){4, 36});
	case_node(&file, "Reshape", "moved", "conv_y rows", "moved_y");
	case_node(&file, "Transpose", "turned", "moved_y", "turned_y");
	case_floats(&file, "k", DIMS(1), (float[]){0.3f});
	case_node(&file, "Add", "sum", "turned_y k", "y");
	case_output(&file, file.graph, "y");
	const char *model = case_save(&file, "moved.onnx");
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(model, NULL, "a8w8");
		struct qdq_case c;
		for (int k = 0; k < 3 && row[i].floats[k]; k++)
			case_set(st, row[i].floats[k], PREC_FLOAT);
		write_and_read(&c, st);
		assert_true(noise(&c) < 1e-8);
		int n = count_op(c.g, OP_QuantizeLinear, "");
		if (n != row[i].pairs)
			fail_msg("%zu: %d", i, n);
		done(&c);
	}
	case_done(&file);
}

// Limits of a Clip that is not part of a convolution lie on the grid of what it reads.
void test_qdq__limits_on_the_grid_of_the_input(void **state)
{
	static const char *const targets[] = {"pytorch", "onnxruntime", "esp32p4"};
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	case_floats(&file, "low", 0, NULL, (float[]){-0.3075f});
	case_floats(&file, "high", 0, NULL, (float[]){0.2075f});
	case_floats(&file, "square", DIMS(6, 6), (float[36]){1});
	case_node(&file, "Clip", "clip", "conv_y low high", "y");
	case_output(&file, file.graph, "y");
	case_node(&file, "MatMul", "other_reader", "conv_y square", "z");
	case_output(&file, file.graph, "z");
	const char *model = case_save(&file, "limits.onnx");
	computes_the_same(model, targets, sizeof targets / sizeof *targets);
	case_done(&file);
}

// Attributes that became inputs with opset 13, and a Softmax of one dimension.
static void of_opset_11(struct onnx_case *c)
{
	case_begin_conv(c, "conv_y");
	c->opset.version = 11;
	case_attr_ints(c, case_node(c, "Split", "split", "conv_y", "a b"), "split", DIMS(3, 3));
	case_attr_int(c, c->graph->node[c->graph->n_node - 1], "axis", 3);
	case_attr_ints(c, case_node(c, "Unsqueeze", "longer", "a", "longer_y"), "axes", DIMS(4));
	case_attr_ints(c, case_node(c, "Squeeze", "shorter", "longer_y", "shorter_y"), "axes", DIMS(4));
	case_node(c, "Add", "add", "shorter_y b", "add_y");
	case_attr_int(c, case_node(c, "Softmax", "softmax", "add_y", "softmax_y"), "axis", 3);
	case_attr_ints(c, case_node(c, "ReduceSum", "sum", "softmax_y", "sum_y"), "axes", DIMS(1));
	case_ints(c, "row", 2, (int64_t[]){1, -1});
	case_node(c, "Reshape", "flat", "sum_y row", "flat_y");
	case_node(c, "Softmax", "last", "flat_y", "y"); // its axis is 1 by default, and would be -1
	case_output(c, c->graph, "y");
}

// Those of opset 9 and before.
static void of_opset_9(struct onnx_case *c)
{
	case_begin_conv(c, "conv_y");
	c->opset.version = 9;
	Onnx__NodeProto *n = case_node(c, "Slice", "slice", "conv_y", "slice_y");
	case_attr_ints(c, n, "starts", DIMS(1, -3));
	case_attr_ints(c, n, "ends", DIMS(3, INT32_MAX));
	case_attr_ints(c, n, "axes", DIMS(1, 2));
	n = case_node(c, "Pad", "pad", "slice_y", "pad_y");
	case_attr_ints(c, n, "pads", DIMS(0, 0, 1, 0, 0, 0, 0, 2));
	case_attr_float(c, n, "value", .25f);
	n = case_node(c, "Clip", "clip", "pad_y", "clip_y");
	case_attr_float(c, n, "max", .5f);
	case_floats(c, "scales", DIMS(4), (float[]){1, 1, 2, 1.5f});
	n = case_node(c, "Upsample", "larger", "clip_y scales", "y");
	Onnx__AttributeProto *mode = case_attr(c, n, "mode", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
	mode->has_s = true;
	mode->s = (ProtobufCBinaryData){6, (uint8_t *)"linear"};
	case_output(c, c->graph, "y");
}

// The scales of an Upsample are an attribute there.
static void of_opset_7(struct onnx_case *c)
{
	case_begin_conv(c, "conv_y");
	c->opset.version = 7;
	Onnx__AttributeProto *a = case_attr(c, case_node(c, "Upsample", "larger", "conv_y", "y"), "scales",
	    ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
	static float scales[] = {1, 1, 1.5f, 2};
	a->n_floats = 4;
	a->floats = scales;
	case_output(c, c->graph, "y");
}

// The first Resize rounds up where it shrinks.
static void of_opset_10(struct onnx_case *c)
{
	case_begin_conv(c, "conv_y");
	c->opset.version = 10;
	case_floats(c, "scales", DIMS(4), (float[]){1, 1, 0.6f, 0.45f});
	case_node(c, "Resize", "smaller", "conv_y scales", "y");
	case_output(c, c->graph, "y");
}

static void is_raised(void (*make)(struct onnx_case *))
{
	static const char *const targets[] = {"onnxruntime", "tensorrt", "esp32p4"};
	struct onnx_case file;
	struct qdq_case c;
	make(&file);
	const char *model = case_save(&file, "eleven.onnx");
	computes_the_same(model, targets, sizeof targets / sizeof *targets);
	for (int i = 0; i < 2; i++) {
		write_and_read(&c, case_open(model, NULL, i ? "bf16" : "tensorrt"));
		assert_int_equal(c.g->opset, 13);
		assert_int_equal(count_op(c.g, OP_Upsample, ""), 0);
		assert_string_equal(str_text(&c.loss), "");
		done(&c);
	}
	case_done(&file);
}

void test_qdq__raised_to_scales_of_channels(void **state)
{
	is_raised(of_opset_11);
	is_raised(of_opset_10);
	is_raised(of_opset_9);
	is_raised(of_opset_7);
}

// A Softmax of several dimensions is no operator of opset 13:
// scales of channels are ONNX Runtime's own then, and no Cast makes bfloat16.
void test_qdq__kept_at_an_old_opset(void **state)
{
	struct error err = {0};
	struct str out = {0}, loss = {0};
	struct onnx_case file;
	struct qdq_case c;
	case_begin_conv(&file, "conv_y");
	file.opset.version = 11;
	case_node(&file, "Softmax", "softmax", "conv_y", "y");
	case_output(&file, file.graph, "y");
	const char *model = case_save(&file, "kept.onnx");
	write_and_read(&c, case_open(model, NULL, "tensorrt"));
	assert_int_equal(c.g->opset, 11);
	assert_non_null(strstr(str_text(&c.loss), "softmax (Softmax) keeps the file at opset 11"));
	done(&c);
	struct study *st = case_open(model, NULL, "bf16");
	study_run(st);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	struct snapshot *s = study_snapshot(st);
	const struct decided d = decided_now(st);
	assert_int_equal(case_write(&out, "qdq", &loss, &d, s, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "bfloat16 needs opset 13"));
	snapshot_drop(&s);
	study_close(&st);
	str_done(&out);
	str_done(&loss);
	case_done(&file);
}

// Of a weight.
static int scales_of(struct study *st, const char *weight)
{
	struct snapshot *s = study_snapshot(st);
	int n = 0;
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind == SITE_WEIGHT && strcmp(s->g->value[s->site[i].value].name, weight) == 0)
			n = (int)s->site[i].n_scale;
	snapshot_drop(&s);
	return n;
}

// Where scales are those of a MatMul's rows (tensorrt), or of the columns of several matrices, ONNX Runtime has no product
// of integers and would take it for one. A vector is one column, and has one scale.
void test_qdq__weights_without_an_integer_product_are_floats(void **state)
{
	static const struct {
		const char *target;
		int rank, scales, floats;
		int64_t dim[3];
	} at[] = {
		{"tensorrt", 2, 6, 1, {6, 6}},
		{"onnxruntime", 2, 6, 0, {6, 6}},
		{"onnxruntime", 3, 6, 1, {4, 6, 6}},
		{"onnxruntime", 1, 1, 0, {6}},
	};
	float w[144] = {1, -2, [7] = .3f, [40] = 1, [143] = .01f};
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		struct onnx_case file;
		struct qdq_case c;
		case_begin_conv(&file, "conv_y");
		case_floats(&file, "wm", at[i].rank, at[i].dim, w);
		case_node(&file, "MatMul", "product", "conv_y wm", "y");
		case_output(&file, file.graph, "y");
		write_and_read(&c, case_open(case_save(&file, "product.onnx"), NULL, at[i].target));
		assert_true(!!strstr(str_text(&c.loss), "1 weight of MatMul with scales that no integer product has") == at[i].floats);
		assert_int_equal(scales_of(c.st, "wm"), at[i].scales);
		assert_true(noise(&c) <= 1e-8);
		done(&c);
		case_done(&file);
	}
}

// Each result of a Split goes from the whole's grid to its own: the second is not cut off where the first ends.
void test_qdq__halves_on_grids_of_their_own(void **state)
{
	static const char *const targets[] = {"esp32p4", "esp32s3", "onnxruntime"};
	float gain[] = {.1f, .1f, 1, 4};
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	case_floats(&file, "gain", DIMS(1, 4, 1, 1), gain);
	case_node(&file, "Mul", "scaled", "conv_y gain", "scaled_y");
	case_node(&file, "Softplus", "float", "scaled_y", "whole"); // not quantized: the Split's results have their own grids
	case_attr_int(&file, case_node(&file, "Split", "split", "whole", "first second"), "axis", 1);
	case_node(&file, "Tanh", "behind", "second", "y");
	case_node(&file, "Tanh", "before", "first", "z");
	case_output(&file, file.graph, "y");
	case_output(&file, file.graph, "z");
	computes_the_same(case_save(&file, "halves.onnx"), targets, 3);
	case_done(&file);
}

// What casts round has no scale by which halves could be told apart.
void test_qdq__halves_that_are_cast(void **state)
{
	static const char *const targets[] = {"fp16", "bf16"};
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	case_attr_int(&file, case_node(&file, "Split", "split", "x", "first second"), "axis", 2);
	case_node(&file, "Add", "sum", "first second", "y");
	case_output(&file, file.graph, "y");
	computes_the_same(case_save(&file, "cast_halves.onnx"), targets, 2);
	case_done(&file);
}

// A Split whose first half is clipped has the Clip's grid by name, but moves the codes that it reads: a pair of the narrower
// grid would cut off the half that is not clipped.
void test_qdq__a_half_beside_one_that_is_clipped(void **state)
{
	static const char *const targets[] = {"esp32p4"};
	const float least = -.1f, most = .1f;
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	case_floats(&file, "least", 0, NULL, &least);
	case_floats(&file, "most", 0, NULL, &most);
	case_attr_int(&file, case_node(&file, "Split", "split", "conv_y", "first y"), "axis", 1);
	case_node(&file, "Clip", "behind", "first least most", "z");
	case_output(&file, file.graph, "y");
	case_output(&file, file.graph, "z");
	computes_the_same(case_save(&file, "clipped.onnx"), targets, 1);
	case_done(&file);
}

// A Split without lengths shares out among its outputs: the last one is there though nobody reads it.
void test_qdq__a_third_that_nobody_reads(void **state)
{
	static const char *const targets[] = {"esp32p4", "onnxruntime"};
	struct onnx_case file;
	case_begin_conv(&file, "conv_y");
	case_ints(&file, "rows", 4, (int64_t[]){1, 6, 4, 6});
	case_node(&file, "Reshape", "moved", "conv_y rows", "whole");
	case_attr_int(&file, case_node(&file, "Split", "split", "whole", "first second third"), "axis", 1);
	case_node(&file, "Relu", "behind", "first", "y");
	case_output(&file, file.graph, "y");
	computes_the_same(case_save(&file, "third.onnx"), targets, 2);
	case_done(&file);
}

// A model that an input of one integer makes one of two networks, as a voice detector for two sample rates is.
void test_qdq__an_if_that_all_samples_decide(void **state)
{
	struct onnx_case file;
	struct qdq_case c;
	case_begin_conv(&file, "conv_y");
	Onnx__GraphProto *yes = case_graph(&file), *no = case_graph(&file);
	case_input(&file, "mo\nde", INT64, 0, NULL);
	case_ints(&file, "none", 1, (const int64_t[]){0});
	case_node(&file, "Equal", "equal", "mo\nde none", "condition");
	case_node_in(&file, yes, "Sigmoid", "inside", "conv_y", "out");
	case_node_in(&file, no, "Neg", "other", "conv_y", "out");
	case_output(&file, yes, "out");
	case_output(&file, no, "out");
	Onnx__NodeProto *n = case_node(&file, "If", "if", "condition", "y");
	case_attr_graph(&file, n, "then_branch", yes);
	case_attr_graph(&file, n, "else_branch", no);
	case_output(&file, file.graph, "y");
	write_and_read(&c, case_open(case_save(&file, "mode.onnx"), NULL, "onnxruntime"));
	assert_true(graph_find_node(c.g, "inside") >= 0);
	assert_int_equal(c.g->n_inputs, 2);
	assert_string_equal(c.g->value[c.g->input[1]].name, "mo\nde");
	assert_true(graph_is_quantized(c.g));
	const char *told = strstr(str_text(&c.loss), "input mo de is fixed: the file has it, and computes for 0 ");
	assert_true(told && (told == str_text(&c.loss) || told[-1] == '\n'));
	done(&c);
	case_done(&file);
}

// What is compared with the study's model gets its samples, and so the shapes of these.
void test_qdq__another_model_is_read_for_the_same_samples(void **state)
{
	static const float data[4 * 5 * 7];
	struct npy a = {.kind = 'f', .item = 4, .rank = 4, .dim = {1, 4, 5, 7}, .data = (void *)data, .size = sizeof data};
	struct error err = {0};
	struct onnx_case file;
	struct graph *other = NULL;
	assert_int_equal(npy_write(&a, support_temp("sample.npy"), &err), STATUS_OK);
	case_init(&file);
	case_input(&file, "x", FLOAT, DIMS(1, 4, -1, -2));
	case_node(&file, "Relu", "relu", "x", "y");
	case_output(&file, file.graph, "y");
	const char *model = case_save(&file, "open.onnx");
	struct study *st = case_open(model, support_temp("sample.npy"), "onnxruntime");
	assert_int_equal(study_load(&other, st, model, false, &err), STATUS_OK);
	assert_int_equal(other->value[other->input[0]].shape.dim[2], 5);
	assert_int_equal(other->value[other->input[0]].shape.dim[3], 7);
	graph_free(&other);
	study_close(&st);
	case_done(&file);
}
