// Import of small quantized models as other tools write them: what their pairs and operators on codes say of tensors.
#include "import_case.h"
#include "engine/onnx_case.h"
#include "qtui/analysis/compare.h"

static const atomic_bool go_on; // nobody cancels

static void add_byte(struct onnx_case *c, const char *name, int type, int value)
{
	uint8_t byte = (uint8_t)value;
	case_const(c, name, type, 0, NULL, &byte, 1);
}

#define U8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
#define I8 ONNX__TENSOR_PROTO__DATA_TYPE__INT8

// ---- the network: x -> Conv -> Relu -> MaxPool -> Sigmoid -> y

enum { CODES = 16 };

static int8_t weight_code(int i)
{
	return (int8_t)(i * 37 % 255 - 127);
}

static void begin(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4, 6, 6));
}

static void add_pool(struct onnx_case *c, const char *in, const char *out)
{
	case_attr_ints(c, case_node(c, "MaxPool", "pool", in, out), "kernel_shape", 2, (int64_t[]){2, 2});
}

static void add_end(struct onnx_case *c, const char *in)
{
	case_node(c, "Sigmoid", "sigmoid", in, "y");
	case_output(c, c->graph, "y");
}

static void add_weights(struct onnx_case *c, const char *codes, const char *weights)
{
	int8_t w[CODES];
	char line[100];
	float scale = 1 / 127.0f;
	for (int i = 0; i < CODES; i++)
		w[i] = weight_code(i);
	case_const(c, codes, I8, DIMS(4, 4, 1, 1), w, sizeof w);
	case_floats(c, "w_scale", 0, NULL, &scale);
	add_byte(c, "w_zero", I8, 0);
	snprintf(line, sizeof line, "%s w_scale w_zero", codes);
	case_node(c, "DequantizeLinear", "w_dequantize", line, weights);
}

static const char *float_model(void)
{
	struct onnx_case c;
	float w[CODES];
	for (int i = 0; i < CODES; i++)
		w[i] = (float)weight_code(i) / 127;
	begin(&c);
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "Conv", "conv", "x w", "conv_y");
	case_node(&c, "Relu", "relu", "conv_y", "relu_y");
	add_pool(&c, "relu_y", "pool_y");
	add_end(&c, "pool_y");
	return case_finish(&c, "float.onnx");
}

// As quantize_static writes it with zero points: the Relu is gone, its quantizer stands behind the Conv; the pool has
// the Relu's grid, the Sigmoid no pair.
static void add_quantized(struct onnx_case *c)
{
	begin(c);
	case_pair(c, "x", "x_dq", 0.02f, 130);
	add_weights(c, "w_quantized", "w_dq");
	case_node(c, "Conv", "conv", "x_dq w_dq", "conv_y");
	case_pair(c, "conv_y", "conv_y_dq", 0.01f, 0);
	add_pool(c, "conv_y_dq", "pool_y");
	case_pair(c, "pool_y", "pool_y_dq", 0.01f, 0);
	add_end(c, "pool_y_dq");
}

static const char *quantized_model(void)
{
	struct onnx_case c;
	add_quantized(&c);
	return case_finish(&c, "quantized.onnx");
}

static void assert_grid(const struct study *st, const char *tensor, double scale, int zero)
{
	int v = graph_find_value(study_graph(st), tensor);
	assert_true(v >= 0);
	if ((float)study_edits(st)->scale[v] != (float)scale || study_edits(st)->zero[v] != zero)
		fail_msg("%s: scale %g, zero %d", tensor, study_edits(st)->scale[v], (int)study_edits(st)->zero[v]);
}

void test_import_pairs__an_activation_that_the_quantizer_replaces(void **state)
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
void test_import_pairs__names_of_ppq(void **state)
{
	struct onnx_case c;
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	(void)state;
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
void test_import_pairs__pairs_of_quark(void **state)
{
	static const struct {
		const char *domain, *prefix;
		int type;
	} of[] = {{"com.amd.quark", "Extended", U8}, {"com.vai.quantize", "Vitis", U8},
	    {"com.amd.quark", "Extended", ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16}};
	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct onnx_case c;
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

// A target without zero points cannot have them: it is said with the tensors' names.
void test_import_pairs__zero_points_that_the_target_has_not(void **state)
{
	struct study *st = case_open(float_model(), NULL, "tensorrt");
	struct import_report r = take(st, quantized_model());
	(void)state;
	assert_has(&r.notes, "x, relu_y, pool_y: a scale with a zero point cannot be fixed here: target tensorrt has none");
	assert_int_equal(r.scales, 0);
	import_report_done(&r);
	study_close(&st);
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
	begin(&c);
	case_node(&c, "DynamicQuantizeLinear", "quantize", "x", "x_quantized x_scale x_zero");
	case_node(&c, "DequantizeLinear", "dequantize", "x_quantized x_scale x_zero", "y");
	case_output(&c, c.graph, "y");
	return case_finish(&c, "dynamic.onnx");
}

// One operator that finds the scale of its input by itself.
static const char *dynamic_product(void)
{
	struct onnx_case c;
	const float scale = 0.5f;
	const int8_t w[6] = {1, 2, 3, 4, 5, 6};
	begin(&c);
	case_floats(&c, "scale", 0, NULL, &scale);
	case_const(&c, "w", I8, DIMS(6, 1), w, sizeof w);
	case_domain(&c, "com.microsoft");
	case_node(&c, "DynamicQuantizeMatMul", "product", "x w scale", "y")->domain = c.other.domain;
	case_output(&c, c.graph, "y");
	return case_finish(&c, "product.onnx");
}

// Codes of a weight, and floats everywhere else.
static const char *weights_alone(void)
{
	struct onnx_case c;
	begin(&c);
	add_weights(&c, "w_quantized", "w_dq");
	case_node(&c, "Conv", "conv", "x w_dq", "conv_y");
	case_output(&c, c.graph, "conv_y");
	return case_finish(&c, "weights.onnx");
}

void test_import_pairs__other_models_are_refused(void **state)
{
	assert_is_refused(weights_alone(), STATUS_UNSUPPORTED, "its weights alone are quantized");
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
	for (int i = 0; i < CODES; i++)
		w[i] = (int8_t)(weight_code(i) / 2); // half of the codes of twice the scale
	begin(&c);
	case_floats(&c, "x_scale", 0, NULL, &scale[0]);
	case_floats(&c, "y_scale", 0, NULL, &scale[1]);
	case_floats(&c, "w_scale", 0, NULL, &scale[2]);
	add_byte(&c, "x_zero", U8, 130);
	add_byte(&c, "y_zero", U8, 0);
	add_byte(&c, "w_zero", I8, 0);
	case_const(&c, "w_quantized", I8, DIMS(4, 4, 1, 1), w, sizeof w);
	case_node(&c, "QuantizeLinear", "x_QuantizeLinear", "x x_scale x_zero", "x_quantized");
	case_node(&c, "QLinearConv", "conv_quant", "x_quantized x_scale x_zero w_quantized w_scale w_zero y_scale y_zero", "conv_y_quantized");
	add_pool(&c, "conv_y_quantized", "pool_y_quantized");
	case_node(&c, "DequantizeLinear", "pool_y_DequantizeLinear", "pool_y_quantized y_scale y_zero", "pool_y");
	add_end(&c, "pool_y");
	return case_finish(&c, "codes.onnx");
}

void test_import_pairs__operators_on_codes(void **state)
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
		assert_float_equal(((const float *)t->weight.data)[i], (float)(weight_code(i) / 2) * 2 / 127, 1e-6);
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

void test_import_pairs__compared_where_an_activation_is_gone(void **state)
{
	(void)state;
	assert_compared(quantized_model(), 20);
	assert_compared(model_of_codes(), 10); // whose weights are coarse
}

// The file of a tool that leaves a Relu where it is, since its pairs are symmetric; `zero`: of the one behind the Conv.
static const char *symmetric_model(int zero)
{
	struct onnx_case c;
	begin(&c);
	case_pair(&c, "x", "x_dq", 0.02f, 128);
	add_weights(&c, "w_quantized", "w_dq");
	case_node(&c, "Conv", "conv", "x_dq w_dq", "conv_y");
	case_pair(&c, "conv_y", "conv_y_dq", 0.02f, zero);
	case_node(&c, "Relu", "relu", "conv_y_dq", "relu_y");
	case_pair(&c, "relu_y", "relu_y_dq", 0.01f, 128);
	add_pool(&c, "relu_y_dq", "pool_y");
	case_pair(&c, "pool_y", "pool_y_dq", 0.01f, 128);
	add_end(&c, "pool_y_dq");
	return case_finish(&c, "quantized.onnx");
}

// What is quantized between a Conv and its Relu, behind which only a pool reads codes, is said, with the target that has it
// where there is one. TensorRT's pool can have the second pair by itself.
void test_import_pairs__symmetric_pairs_name_their_target(void **state)
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
	begin(&c);
	if (scale == 0) {
		case_floats(&c, "k", DIMS(4, 1, 1), floats);
		case_node(&c, "Add", "add", "x k", "y");
	} else {
		static const int8_t codes[] = {-10, 5, 2, 10};
		case_pair(&c, "x", "x_dq", 0.02f, 128);
		case_const(&c, "k_codes", I8, DIMS(4, 1, 1), codes, sizeof codes);
		case_floats(&c, "k_scale", 0, NULL, &scale);
		add_byte(&c, "k_zero", I8, 0);
		case_node(&c, "DequantizeLinear", "k_dequantize", "k_codes k_scale k_zero", "k");
		case_node(&c, "Add", "add", "x_dq k", "sum");
		case_pair(&c, "sum", "sum_dq", 0.02f, 128);
		case_node(&c, "Identity", "end", "sum_dq", "y");
	}
	case_output(&c, c.graph, "y");
	return case_finish(&c, scale == 0 ? "sum.onnx" : "sum_quantized.onnx");
}

// No edit gives a constant operand a scale: another one than the target's is said.
void test_import_pairs__constants_on_other_scales(void **state)
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
	begin(&c);
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "Conv", "conv", "x w", "conv_y");
	case_pair(&c, "conv_y", "conv_y_dq", 0.02f, 128);
	case_node(&c, "Relu", "relu", "conv_y_dq", "relu_y");
	add_pool(&c, "relu_y", "pool_y");
	add_end(&c, "pool_y");
	return case_finish(&c, "quantized.onnx");
}

// Only a pair behind another part than the first makes that part one by itself: else all of the operator is in float.
void test_import_pairs__an_operator_in_float_with_a_pair_behind_its_first_node(void **state)
{
	struct study *st = case_open(float_model(), NULL, "esp32p4");
	struct import_report r = take(st, float_conv_model());
	(void)state;
	assert_int_equal(precision(st, "conv"), PREC_FLOAT);
	assert_int_equal(precision(st, "relu"), PREC_FLOAT);
	import_report_done(&r);
	study_close(&st);
}

// A bias in the file, of a node that has none in the model, has no place there: it is told, and not taken.
void test_import_pairs__a_bias_that_the_model_has_not(void **state)
{
	static const int32_t codes[4] = {100, -200, 300, 400};
	struct onnx_case c;
	begin(&c);
	case_pair(&c, "x", "x_dq", 0.02f, 130);
	add_weights(&c, "w_quantized", "w_dq");
	case_const(&c, "b_codes", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, DIMS(4), codes, sizeof codes);
	case_floats(&c, "b_scale", 0, NULL, (const float[]){0.02f / 127});
	case_node(&c, "DequantizeLinear", "b_dequantize", "b_codes b_scale", "b_dq");
	case_node(&c, "Conv", "conv", "x_dq w_dq b_dq", "conv_y");
	case_pair(&c, "conv_y", "conv_y_dq", 0.01f, 0);
	add_pool(&c, "conv_y_dq", "pool_y");
	case_pair(&c, "pool_y", "pool_y_dq", 0.01f, 0);
	add_end(&c, "pool_y_dq");
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	struct import_report r = take(st, case_finish(&c, "biased.onnx"));
	assert_has(&r.notes, "biases of nodes that have none in the model: 1");
	assert_grid(st, "conv_y", 0.01, 0);
	import_report_done(&r);
	study_close(&st);
}
