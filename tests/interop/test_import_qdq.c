// Import of a QDQ model: what another tool's pairs say becomes edits.
#include <math.h>
#include "import_case.h"
#include "engine/onnx_case.h"
#include "qtui/analysis/compare.h"

static const atomic_bool go_on; // nobody cancels

// A target's own file gives its quantizers back, zero points included, though another calibrator is in force.
void test_import_qdq__own_file_comes_back(void **state)
{
	static const char *const targets[] = {"esp32p4", "esp32s3", "onnxruntime", "a8w8", "a16w8", "xquant"};
	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct error err = {0};
		struct study *st = case_open(MODEL, CALIB, targets[i]), *again = case_open(MODEL, CALIB, targets[i]);
		assert_int_equal(study_set_method(st, CALIB_PERCENTILE, &err), STATUS_OK);
		if (i < 2) // what its readers read at 8 bits has a scale of their own
			case_set(st, STEM ".." SWISH, PREC_INT16);
		struct str model = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&model));
		assert_string_equal(r.format, "QDQ model");
		assert_true(r.scales > 30);
		struct snapshot *want = study_snapshot(st), *got = ran(again);
		assert_same_quantizers(want, got);
		snapshot_drop(&want);
		snapshot_drop(&got);
		import_report_done(&r);
		str_done(&model);
		study_close(&st);
		study_close(&again);
	}
}

// The float weights of a node show that it stays in float, though its reader rounds what it makes.
void test_import_qdq__nodes_in_float(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = case_open(MODEL, CALIB, "esp32p4");
	(void)state;
	case_set(st, STEM, PREC_FLOAT);
	case_set(st, CLASS_CONV, PREC_FLOAT);
	struct str model = case_export(st, "qdq", NULL);
	struct import_report r = take(again, saved(&model));
	assert_int_equal(precision(again, STEM), PREC_FLOAT);
	assert_int_equal(precision(again, CLASS_CONV), PREC_FLOAT);
	assert_int_equal(r.precisions, 2);
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	assert_same_quantizers(want, got);
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&model);
	study_close(&st);
	study_close(&again);
}

// ---- files as other tools write them

static void add_byte(struct onnx_case *c, const char *name, int type, int value)
{
	uint8_t byte = (uint8_t)value;
	Onnx__TensorProto *t = case_tensor(c, name, type, 0, NULL);
	case_raw(c, t, &byte, 1);
	c->graph->initializer[c->graph->n_initializer++] = t;
}

#define U8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
#define I8 ONNX__TENSOR_PROTO__DATA_TYPE__INT8

// TENSOR -> TENSOR_q -> TENSOR_dq
static void add_pair(struct onnx_case *c, const char *tensor, float scale, int zero)
{
	char name[6][64];
	char line[200];
	static const char *const suffix[] = {"_scale", "_zero", "_q", "_dq", "_quantize", "_dequantize"};
	for (int i = 0; i < 6; i++)
		snprintf(name[i], sizeof name[i], "%s%s", tensor, suffix[i]);
	case_floats(c, name[0], 0, NULL, &scale);
	add_byte(c, name[1], U8, zero);
	snprintf(line, sizeof line, "%s %s %s", tensor, name[0], name[1]);
	case_node(c, "QuantizeLinear", name[4], line, name[2]);
	snprintf(line, sizeof line, "%s %s %s", name[2], name[0], name[1]);
	case_node(c, "DequantizeLinear", name[5], line, name[3]);
}

enum { CODES = 16 };
static void add_weights(struct onnx_case *c, const char *codes, const char *weights)
{
	int8_t w[CODES];
	char line[100];
	float scale = 1 / 127.0f;
	for (int i = 0; i < CODES; i++)
		w[i] = (int8_t)(i * 37 % 255 - 127);
	Onnx__TensorProto *t = case_tensor(c, codes, I8, DIMS(4, 4, 1, 1));
	case_raw(c, t, w, sizeof w);
	c->graph->initializer[c->graph->n_initializer++] = t;
	case_floats(c, "w_scale", 0, NULL, &scale);
	add_byte(c, "w_zero", I8, 0);
	snprintf(line, sizeof line, "%s w_scale w_zero", codes);
	case_node(c, "DequantizeLinear", "w_dequantize", line, weights);
}

// x -> Conv -> Relu -> MaxPool -> Sigmoid -> y in float.
static const char *float_model(void)
{
	struct onnx_case c;
	float w[CODES];
	for (int i = 0; i < CODES; i++)
		w[i] = (float)(i * 37 % 255 - 127) / 127;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "Conv", "conv", "x w", "conv_y");
	case_node(&c, "Relu", "relu", "conv_y", "relu_y");
	case_attr_ints(&c, case_node(&c, "MaxPool", "pool", "relu_y", "pool_y"), "kernel_shape", 2, (int64_t[]){2, 2});
	case_node(&c, "Sigmoid", "sigmoid", "pool_y", "y");
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, "float.onnx");
	case_done(&c);
	return path;
}

// As quantize_static writes it with zero points: the Relu is gone, its quantizer stands behind the Conv; the pool has
// the Relu's grid, the Sigmoid no pair.
static void add_quantized(struct onnx_case *c)
{
	case_input(c, "x", FLOAT, DIMS(1, 4, 6, 6));
	add_pair(c, "x", 0.02f, 130);
	add_weights(c, "w_quantized", "w_dq");
	case_node(c, "Conv", "conv", "x_dq w_dq", "conv_y");
	add_pair(c, "conv_y", 0.01f, 0);
	case_attr_ints(c, case_node(c, "MaxPool", "pool", "conv_y_dq", "pool_y"), "kernel_shape", 2, (int64_t[]){2, 2});
	add_pair(c, "pool_y", 0.01f, 0);
	case_node(c, "Sigmoid", "sigmoid", "pool_y_dq", "y");
	case_output(c, c->graph, "y");
}

static const char *quantized_model(void)
{
	struct onnx_case c;
	case_init(&c);
	add_quantized(&c);
	const char *path = case_save(&c, "quantized.onnx");
	case_done(&c);
	return path;
}

static void assert_grid(const struct study *st, const char *tensor, double scale, int zero)
{
	int v = graph_find_value(study_graph(st), tensor);
	assert_true(v >= 0);
	if ((float)study_edits(st)->scale[v] != (float)scale || study_edits(st)->zero[v] != zero)
		fail_msg("%s: scale %g, zero %d", tensor, study_edits(st)->scale[v], (int)study_edits(st)->zero[v]);
}

void test_import_qdq__an_activation_that_the_quantizer_replaces(void **state)
{
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	struct import_report r = take(st, quantized_model());
	(void)state;
	assert_grid(st, "x", 0.02, 130);
	assert_grid(st, "conv_y", 0.01, 0); // whose node has the operator's scale
	assert_int_equal(precision(st, "conv"), -1); // as the target has it
	assert_int_equal(precision(st, "sigmoid"), PREC_FLOAT);
	assert_int_equal(r.n_notes, 0);
	struct snapshot *s = ran(st);
	const struct site *x = &s->site[s->row[node(st, "conv")].first_site];
	bool seen = false;
	for (int i = 0; i < s->row[node(st, "conv")].n_sites; i++)
		if (x[i].kind == SITE_OUTPUT && x[i].bits == 8) {
			assert_float_equal(x[i].scale[0], 0.01, 1e-9);
			assert_int_equal(x[i].zero[0], 0);
			seen = true;
		}
	assert_true(seen);
	snapshot_drop(&s);
	import_report_done(&r);
	study_close(&st);
}

// PPQ leaves tensors their names behind the pairs.
void test_import_qdq__names_of_ppq(void **state)
{
	struct onnx_case c;
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	(void)state;
	case_init(&c);
	add_quantized(&c);
	for (size_t i = 0; i < c.graph->n_node; i++) {
		Onnx__NodeProto *n = c.graph->node[i];
		for (size_t k = 0; k < n->n_input + n->n_output; k++) {
			char **name = k < n->n_input ? &n->input[k] : &n->output[k - n->n_input];
			if (strcmp(*name, "conv_y") == 0)
				*name = case_text(&c, "PPQ_Variable_1");
			else if (strcmp(*name, "conv_y_dq") == 0)
				*name = case_text(&c, "relu_y");
			else if (strcmp(*name, "pool_y") == 0)
				*name = case_text(&c, "PPQ_Variable_2");
			else if (strcmp(*name, "pool_y_dq") == 0)
				*name = case_text(&c, "pool_y");
		}
		if (strcmp(n->name, "pool") == 0) // by the tensor alone
			n->name = case_text(&c, "");
	}
	struct import_report r = take(st, case_save(&c, "ppq.onnx"));
	assert_grid(st, "x", 0.02, 130);
	assert_grid(st, "conv_y", 0.01, 0);
	assert_int_equal(precision(st, "conv"), -1);
	assert_int_equal(precision(st, "pool"), -1);
	assert_int_equal(precision(st, "sigmoid"), PREC_FLOAT);
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	case_done(&c);
	study_close(&st);
}

// AMD Quark has pairs of its own for wide codes, which had other names before.
void test_import_qdq__pairs_of_quark(void **state)
{
	static const struct {
		const char *domain, *prefix;
		int type;
	} of[] = {{"com.amd.quark", "Extended", U8}, {"com.vai.quantize", "Vitis", U8},
	    {"com.amd.quark", "Extended", ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16}};
	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct onnx_case c;
		case_init(&c);
		add_quantized(&c);
		case_domain(&c, of[i].domain);
		for (size_t k = 0; k < c.graph->n_node; k++) {
			Onnx__NodeProto *n = c.graph->node[k];
			char name[64];
			snprintf(name, sizeof name, "%s%s", of[i].prefix, n->op_type);
			if (strstr(n->op_type, "quantizeLinear") || strstr(n->op_type, "QuantizeLinear")) {
				n->op_type = case_text(&c, name);
				n->domain = c.other.domain;
			}
		}
		for (size_t k = 0; of[i].type != U8 && k < c.graph->n_initializer; k++)
			if (strcmp(c.graph->initializer[k]->name, "x_zero") == 0) {
				c.graph->initializer[k]->data_type = of[i].type;
				case_raw(&c, c.graph->initializer[k], (const uint8_t[]){0, 0}, 2);
			}
		const char *path = case_save(&c, "quark.onnx");
		struct study *st = case_open(float_model(), NULL, "onnxruntime");
		struct error err = {0};
		struct import_report r;
		assert_int_equal(import_file(&r, st, path, &err), of[i].type == U8 ? STATUS_OK : STATUS_UNSUPPORTED);
		if (of[i].type == U8) {
			assert_grid(st, "x", 0.02, 130);
			assert_grid(st, "conv_y", 0.01, 0);
			assert_int_equal(precision(st, "conv"), -1);
		} else if (!strstr(err.text, "its codes are floats of 16 bits: have the file written with Casts")) {
			fail_msg("%s", err.text);
		}
		import_report_done(&r);
		study_close(&st);
		case_done(&c);
	}
}

// Operands that share the range of all have the file's scale, and not one that is made of it anew.
void test_import_qdq__operands_of_one_range(void **state)
{
	static const char *const target[] = {"tensorrt", "fpga", "qnn"};
	(void)state;
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct study *st = case_open(MODEL, CALIB, target[i]), *again = case_open(MODEL, CALIB, target[i]);
		struct str model = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&model));
		struct snapshot *want = ran(st), *got = ran(again);
		assert_true(r.scales > 10);
		assert_same_quantizers(want, got);
		snapshot_drop(&want);
		snapshot_drop(&got);
		import_report_done(&r);
		str_done(&model);
		study_close(&again);
		study_close(&st);
	}
}

// A target without zero points cannot have them: it is said with the tensors' names.
void test_import_qdq__zero_points_that_the_target_has_not(void **state)
{
	struct study *st = case_open(float_model(), NULL, "tensorrt");
	struct import_report r = take(st, quantized_model());
	(void)state;
	assert_has(&r.notes, "x, relu_y, pool_y: a scale with a zero point cannot be fixed here: target tensorrt has none");
	assert_int_equal(r.scales, 0);
	import_report_done(&r);
	study_close(&st);
}

// Where that is most of them, the file is for another target.
void test_import_qdq__names_targets_that_fit(void **state)
{
	static const char *const target
	    [] = {"onnxruntime", "a8w8", "esp32p4"},
      *const advice[] = {" scales are lost: target esp32p4 has no zero points, but these could have them: onnxruntime, pytorch, qnn, tflite, xquant",
	  " scales are lost: target esp32p4 has powers of two only, but these could have them: a16w8, a8w8, onnxruntime, ppl_cuda, pytorch, qnn, tensorrt, tflite, xquant",
	  NULL};
	(void)state;
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct study *st = case_open(MODEL, CALIB, target[i]), *again = case_open(MODEL, CALIB, "esp32p4");
		struct str model = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&model));
		if (advice[i])
			assert_has(&r.advice, advice[i]);
		else
			assert_int_equal(r.advice.len, 0);
		import_report_done(&r);
		str_done(&model);
		study_close(&again);
		study_close(&st);
	}
}

static void assert_is_refused(const char *path, enum status status, const char *why)
{
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	struct error err = {0};
	struct import_report r;
	assert_int_equal(import_file(&r, st, path, &err), status);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
	assert_int_equal(steps(st), 0);
	import_report_done(&r);
	study_close(&st);
}

static const char *dynamic_model(void)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_node(&c, "DynamicQuantizeLinear", "quantize", "x", "x_quantized x_scale x_zero");
	case_node(&c, "DequantizeLinear", "dequantize", "x_quantized x_scale x_zero", "y");
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, "dynamic.onnx");
	case_done(&c);
	return path;
}

// One operator that finds the scale of its input by itself.
static const char *dynamic_product(void)
{
	struct onnx_case c;
	const float scale = 0.5f;
	const int8_t w[6] = {1, 2, 3, 4, 5, 6};
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "scale", 0, NULL, &scale);
	Onnx__TensorProto *t = case_tensor(&c, "w", I8, DIMS(6, 1));
	case_raw(&c, t, w, sizeof w);
	c.graph->initializer[c.graph->n_initializer++] = t;
	case_domain(&c, "com.microsoft");
	case_node(&c, "DynamicQuantizeMatMul", "product", "x w scale", "y")->domain = c.other.domain;
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, "product.onnx");
	case_done(&c);
	return path;
}

void test_import_qdq__other_models_are_refused(void **state)
{
	struct study *digits = case_open(MODEL, CALIB, "onnxruntime");
	struct str model = case_export(digits, "qdq", NULL);
	(void)state;
	assert_is_refused(float_model(), STATUS_FORMAT, "no QuantizeLinear is in it");
	assert_is_refused(dynamic_model(), STATUS_UNSUPPORTED, "it finds scales as it runs (DynamicQuantizeLinear)");
	assert_is_refused(dynamic_product(), STATUS_UNSUPPORTED, "it finds scales as it runs (DynamicQuantizeMatMul)");
	assert_is_refused(saved(&model), STATUS_FORMAT, "quantized tensors is in the model: is it made of another one?");
	assert_is_refused(support_temp_file("no.onnx", "no model", 8), STATUS_FORMAT, "no.onnx");
	assert_is_refused(support_temp("absent.onnx"), STATUS_IO, "absent.onnx");
	str_done(&model);
	study_close(&digits);
}

// The format QOperator of the same: operators on codes, the pool too, names with _quantized and _quant behind.
static const char *model_of_codes(void)
{
	struct onnx_case c;
	int8_t w[CODES];
	float scale[] = {0.02f, 0.01f, 2 / 127.0f};
	case_init(&c);
	for (int i = 0; i < CODES; i++)
		w[i] = (int8_t)((i * 37 % 255 - 127) / 2); // half of the codes of twice the scale
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "x_scale", 0, NULL, &scale[0]);
	case_floats(&c, "y_scale", 0, NULL, &scale[1]);
	case_floats(&c, "w_scale", 0, NULL, &scale[2]);
	add_byte(&c, "x_zero", U8, 130);
	add_byte(&c, "y_zero", U8, 0);
	add_byte(&c, "w_zero", I8, 0);
	Onnx__TensorProto *t = case_tensor(&c, "w_quantized", I8, DIMS(4, 4, 1, 1));
	case_raw(&c, t, w, sizeof w);
	c.graph->initializer[c.graph->n_initializer++] = t;
	case_node(&c, "QuantizeLinear", "x_QuantizeLinear", "x x_scale x_zero", "x_quantized");
	case_node(&c, "QLinearConv", "conv_quant", "x_quantized x_scale x_zero w_quantized w_scale w_zero y_scale y_zero", "conv_y_quantized");
	case_attr_ints(&c, case_node(&c, "MaxPool", "pool", "conv_y_quantized", "pool_y_quantized"), "kernel_shape", 2, (int64_t[]){2, 2});
	case_node(&c, "DequantizeLinear", "pool_y_DequantizeLinear", "pool_y_quantized y_scale y_zero", "pool_y");
	case_node(&c, "Sigmoid", "sigmoid", "pool_y", "y");
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, "codes.onnx");
	case_done(&c);
	return path;
}

void test_import_qdq__operators_on_codes(void **state)
{
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	struct import_report r = take(st, model_of_codes());
	(void)state;
	assert_grid(st, "x", 0.02, 130);
	assert_grid(st, "conv_y", 0.01, 0); // the Relu is gone
	assert_int_equal(precision(st, "conv"), -1);
	assert_int_equal(precision(st, "pool"), -1);
	assert_int_equal(precision(st, "sigmoid"), PREC_FLOAT);
	assert_int_equal(r.n_notes, 0);
	assert_int_equal(r.weights, 1);
	const struct tuned *t = tuning_of(study_edits(st)->tuning, node(st, "conv"));
	assert_non_null(t);
	for (int i = 0; i < CODES; i++)
		assert_float_equal(((const float *)t->weight.data)[i], (float)((i * 37 % 255 - 127) / 2) * 2 / 127, 1e-6);
	import_report_done(&r);
	study_close(&st);
}

// Beside the float model such a file has the tensor behind the activation by the name of what goes into it.
static void assert_compared(const char *quantized, double least_db)
{
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	struct graph *file = NULL;
	struct error err = {0};
	atomic_int samples = 0;
	cJSON *j = NULL;
	bool seen = false;
	assert_int_equal(study_load(&file, st, quantized, true, &err), STATUS_OK);
	struct compare_models m = {.a = study_graph(st), .b = file, .d = study_dataset(st), .engine = {.backend = BACKEND_ONEDNN, .threads = 1}};
	assert_int_equal(compare_models(&j, &m, &samples, &go_on, &err), STATUS_OK);
	const cJSON *t;
	cJSON_ArrayForEach(t, cJSON_GetObjectItemCaseSensitive(j, "tensors"))
	{
		assert_string_not_equal(json_text(t, "tensor", ""), "conv_y");
		if (strcmp(json_text(t, "tensor", ""), "relu_y") == 0) {
			seen = true;
			assert_true(json_number(t, "snr_db", -99) > least_db);
		}
	}
	assert_true(seen);
	cJSON_Delete(j);
	graph_free(&file);
	study_close(&st);
}

void test_import_qdq__compared_where_an_activation_is_gone(void **state)
{
	(void)state;
	assert_compared(quantized_model(), 20);
	assert_compared(model_of_codes(), 10); // whose weights are coarse
}

// esp-ppq asks the last node of ConvTranspose and Relu for their width: who sets or imports one sets both.
void test_import_qdq__an_operator_whose_last_node_decides(void **state)
{
	struct onnx_case c;
	float w[CODES] = {0.5f, -0.25f, 1};
	(void)state;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "ConvTranspose", "up", "x w", "up_y");
	case_node(&c, "Relu", "relu", "up_y", "relu_y");
	case_node(&c, "Sigmoid", "sigmoid", "relu_y", "y");
	case_output(&c, c.graph, "y");
	struct study *st = case_open(case_save(&c, "up.onnx"), NULL, "esp32p4"), *again = case_open(case_save(&c, "up.onnx"), NULL, "esp32p4");
	int up = node(st, "up");
	struct error err = {0};
	case_set(st, "up", PREC_INT16);
	assert_int_equal(precision(st, "relu"), PREC_INT16);
	assert_int_equal(study_set(st, &up, 1, -1, NULL, &err), STATUS_OK);
	assert_int_equal(precision(st, "relu"), -1);
	assert_string_equal(study_step(st, 1), "set up relu auto");
	assert_true(undoes(st));
	assert_int_equal(study_command(st, "set up auto", &err), STATUS_OK); // a command names all that it means
	assert_int_equal(precision(st, "relu"), PREC_INT16);
	assert_true(undoes(st));
	case_set(st, "up", PREC_FLOAT); // the Relu would be left at 16 bits, which nobody asked of it
	assert_string_equal(study_step(st, 1), "set up relu float");
	assert_true(undoes(st));
	struct str model = case_export(st, "qdq", NULL);
	struct import_report r = take(again, saved(&model));
	assert_int_equal(precision(again, "relu"), PREC_INT16);
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	assert_int_equal(got->row[node(again, "up")].precision, PREC_INT16);
	assert_same_quantizers(want, got);
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&model);
	study_close(&again);
	study_close(&st);
	case_done(&c);
}

// What a file of ONNX Runtime's own quantizer does to the network: as the file computes, and as its scales do here.
void test_import_qdq__a_file_of_onnx_runtime(void **state)
{
	const char *model = support_data("models/mobilenetv2.onnx"), *quantized = support_data("models/mobilenetv2_qdq_miscalibrated.onnx");
	const char *images = support_data("imagenet");
	struct error err = {0};
	struct study *st = NULL;
	struct graph *file = NULL;
	atomic_int samples = 0;
	cJSON *j = NULL;
	(void)state;
	if (!model || !quantized || !images)
		skip();
	struct study_options o = {.model = model, .calib = images, .target = "onnxruntime", .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.samples = 4}};
	assert_int_equal(study_open(&st, &o, &err), STATUS_OK);
	struct import_report r = take(st, quantized);
	struct snapshot *s = ran(st);
	assert_int_equal(study_load(&file, st, quantized, true, &err), STATUS_OK);
	struct compare_models m = {.a = study_graph(st), .b = file, .d = study_dataset(st), .engine = {.backend = BACKEND_ONEDNN, .threads = 1}};
	assert_int_equal(compare_models(&j, &m, &samples, &go_on, &err), STATUS_OK);
	const cJSON *output = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "outputs"), 0);
	double here = -10 * log10(s->output[0].pooled.nsr), there = json_number(output, "snr_db", NAN);
	if (!(fabs(here - there) < 0.2))
		fail_msg("%g dB here, %g dB of the file", here, there);
	cJSON_Delete(j);
	graph_free(&file);
	snapshot_drop(&s);
	import_report_done(&r);
	study_close(&st);
}

// The file of a tool that leaves a Relu where it is, since its pairs are symmetric; `zero`: of the one behind the Conv.
static const char *symmetric_model(int zero)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	add_pair(&c, "x", 0.02f, 128);
	add_weights(&c, "w_quantized", "w_dq");
	case_node(&c, "Conv", "conv", "x_dq w_dq", "conv_y");
	add_pair(&c, "conv_y", 0.02f, zero);
	case_node(&c, "Relu", "relu", "conv_y_dq", "relu_y");
	add_pair(&c, "relu_y", 0.01f, 128);
	case_attr_ints(&c, case_node(&c, "MaxPool", "pool", "relu_y_dq", "pool_y"), "kernel_shape", 2, (int64_t[]){2, 2});
	add_pair(&c, "pool_y", 0.01f, 128);
	case_node(&c, "Sigmoid", "sigmoid", "pool_y_dq", "y");
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, "quantized.onnx");
	case_done(&c);
	return path;
}

// What is quantized between a Conv and its Relu, behind which only a pool reads codes, is said, with the target that has it
// where there is one. TensorRT's pool can have the second pair by itself.
void test_import_qdq__symmetric_pairs_name_their_target(void **state)
{
	static const struct { const char *target; int zero, notes; bool named; } cases[] = {{"onnxruntime", 128, 1, true},
	    {"onnxruntime", 100, 1, false}, {"tensorrt", 128, 0, false}, {"onnxruntime,activation.symmetric=true", 128, 0, false}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct study *st = case_open(float_model(), NULL, cases[i].target);
		struct import_report r = take(st, symmetric_model(cases[i].zero));
		const char *inner = strstr(str_text(&r.notes), "inside of what runs as one operator here");
		assert_int_equal(inner != NULL, cases[i].notes);
		assert_int_equal(strstr(str_text(&r.notes), "--target NAME,activation.symmetric=true") != NULL, cases[i].named);
		import_report_done(&r);
		study_close(&st);
	}
}

// x -> Add -> y, the constant as it is (scale 0: in float) or as codes.
static const char *sum_model(float scale)
{
	static const float floats[] = {-1, 0.5f, 0.25f, 1};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	if (scale == 0) {
		case_floats(&c, "k", DIMS(4, 1, 1), floats);
		case_node(&c, "Add", "add", "x k", "y");
	} else {
		static const int8_t codes[] = {-10, 5, 2, 10};
		add_pair(&c, "x", 0.02f, 128);
		Onnx__TensorProto *t = case_tensor(&c, "k_codes", I8, DIMS(4, 1, 1));
		case_raw(&c, t, codes, sizeof codes);
		c.graph->initializer[c.graph->n_initializer++] = t;
		case_floats(&c, "k_scale", 0, NULL, &scale);
		add_byte(&c, "k_zero", I8, 0);
		case_node(&c, "DequantizeLinear", "k_dequantize", "k_codes k_scale k_zero", "k");
		case_node(&c, "Add", "add", "x_dq k", "sum");
		add_pair(&c, "sum", 0.02f, 128);
		case_node(&c, "Identity", "end", "sum_dq", "y");
	}
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, scale == 0 ? "sum.onnx" : "sum_quantized.onnx");
	case_done(&c);
	return path;
}

// No edit gives a constant operand a scale: another one than the target's is said.
void test_import_qdq__constants_on_other_scales(void **state)
{
	static const struct { float scale; bool noted; } cases[] = {{0.1f, true}, {2 / 255.0f, false}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct study *st = case_open(sum_model(0), NULL, "onnxruntime,activation.symmetric=true");
		struct import_report r = take(st, sum_model(cases[i].scale));
		bool said = strstr(str_text(&r.notes), "constants that the file has on other scales than the target") != NULL;
		if (said != cases[i].noted)
			fail_msg("%g: %s", (double)cases[i].scale, str_text(&r.notes));
		import_report_done(&r);
		study_close(&st);
	}
}

// A Conv in float, and a pair behind it that its Relu reads; behind the Relu is none.
static const char *float_conv_model(void)
{
	struct onnx_case c;
	float w[CODES] = {0.5f, -0.25f, 1};
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "Conv", "conv", "x w", "conv_y");
	add_pair(&c, "conv_y", 0.02f, 128);
	case_node(&c, "Relu", "relu", "conv_y_dq", "relu_y");
	case_attr_ints(&c, case_node(&c, "MaxPool", "pool", "relu_y", "pool_y"), "kernel_shape", 2, (int64_t[]){2, 2});
	case_node(&c, "Sigmoid", "sigmoid", "pool_y", "y");
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, "quantized.onnx");
	case_done(&c);
	return path;
}

// Only a pair behind another part than the first makes that part one by itself: else all of the operator is in float.
void test_import_qdq__an_operator_in_float_with_a_pair_behind_its_first_node(void **state)
{
	struct study *st = case_open(float_model(), NULL, "esp32p4");
	struct import_report r = take(st, float_conv_model());
	(void)state;
	assert_int_equal(precision(st, "conv"), PREC_FLOAT);
	assert_int_equal(precision(st, "relu"), PREC_FLOAT);
	import_report_done(&r);
	study_close(&st);
}
