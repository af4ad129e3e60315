// Weights of a file that another tool quantized: they stand in for the model's own where the target would make others of those.
#include <math.h>
#include "import_case.h"
#include "engine/onnx_case.h"
#include "qtui/analysis/session.h"
#include "qtui/engine/tuning.h"

enum { OUT = 4, IN = 4, WEIGHTS = OUT * IN };
#define I8 ONNX__TENSOR_PROTO__DATA_TYPE__INT8
#define U8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
#define I32 ONNX__TENSOR_PROTO__DATA_TYPE__INT32

static float own_weight(int i)
{
	return (float)((i * 37 + 11) % 255 - 127) / 100; // -1.16 to 1.06
}

static float own_bias(int i)
{
	return 0.3f * (float)(i - 1);
}

// x -> Conv -> y in float.
static const char *float_model(void)
{
	struct onnx_case c;
	float w[WEIGHTS], b[OUT];
	for (int i = 0; i < WEIGHTS; i++)
		w[i] = own_weight(i);
	for (int i = 0; i < OUT; i++)
		b[i] = own_bias(i);
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, IN, 6, 6));
	case_floats(&c, "w", DIMS(OUT, IN, 1, 1), w);
	case_floats(&c, "b", DIMS(OUT), b);
	case_node(&c, "Conv", "conv", "x w b", "y");
	case_output(&c, c.graph, "y");
	return case_finish(&c, "float.onnx");
}

// The file: what its weights are, and on which grid.
struct of_file {
	int scales;        // 1, or one for each output
	float scale[OUT];
	int zero;          // of uint8 codes; -1: int8, in the middle
	int moved;         // a weight that is another by one code; -1: none
	float factor;      // of the weights of output 2; 0: 1
	float bias;        // added to that of output 1
	bool floats;       // the weights are floats, which a QuantizeLinear rounds, as a training leaves them
	bool open;         // no pair stands behind the Conv
};

static const char *quantized_model(const struct of_file *f)
{
	struct onnx_case c;
	uint8_t codes[WEIGHTS];
	int32_t bias[OUT];
	float step[OUT], x_scale = 0.02f, floats[WEIGHTS];
	uint8_t zeros[OUT], x_zero = 128;
	case_init(&c);
	for (int i = 0; i < WEIGHTS; i++) {
		float w = own_weight(i) * (i / IN == 2 && f->factor != 0 ? f->factor : 1);
		long code = lrintf(w / f->scale[f->scales > 1 ? i / IN : 0]) + (i == f->moved) + (f->zero < 0 ? 0 : f->zero);
		codes[i] = (uint8_t)code;
		floats[i] = w + (float)(i == f->moved) * f->scale[f->scales > 1 ? i / IN : 0];
	}
	for (int i = 0; i < OUT; i++) {
		step[i] = f->scale[f->scales > 1 ? i : 0] * x_scale;
		bias[i] = (int32_t)lrintf((own_bias(i) + (i == 1 ? f->bias : 0)) / step[i]);
		zeros[i] = (uint8_t)(f->zero < 0 ? 0 : f->zero);
	}
	case_input(&c, "x", FLOAT, DIMS(1, IN, 6, 6));
	case_floats(&c, "x_scale", 0, NULL, &x_scale);
	case_const(&c, "x_zero", U8, 0, NULL, &x_zero, 1);
	int64_t n = f->scales;
	case_floats(&c, "w_scale", n > 1 ? 1 : 0, &n, f->scale);
	case_const(&c, "w_zero", f->zero < 0 ? I8 : U8, n > 1 ? 1 : 0, &n, zeros, (size_t)n);
	case_floats(&c, "b_scale", DIMS(OUT), step);
	if (f->floats) {
		case_floats(&c, "w", DIMS(OUT, IN, 1, 1), floats);
		case_attr_int(&c, case_node(&c, "QuantizeLinear", "w_quantize", "w w_scale w_zero", "w_quantized"), "axis", 0);
	} else {
		case_const(&c, "w_quantized", f->zero < 0 ? I8 : U8, DIMS(OUT, IN, 1, 1), codes, sizeof codes);
	}
	case_const(&c, "b_quantized", I32, DIMS(OUT), bias, sizeof bias);
	case_node(&c, "QuantizeLinear", "x_quantize", "x x_scale x_zero", "x_q");
	case_node(&c, "DequantizeLinear", "x_dequantize", "x_q x_scale x_zero", "x_dq");
	case_attr_int(&c, case_node(&c, "DequantizeLinear", "w_dequantize", "w_quantized w_scale w_zero", "w_dq"), "axis", 0);
	case_attr_int(&c, case_node(&c, "DequantizeLinear", "b_dequantize", "b_quantized b_scale", "b_dq"), "axis", 0);
	case_node(&c, "Conv", "conv", "x_dq w_dq b_dq", f->open ? "y" : "y_QuantizeLinear_Input");
	if (!f->open) {
		case_node(&c, "QuantizeLinear", "y_quantize", "y_QuantizeLinear_Input x_scale x_zero", "y_q");
		case_node(&c, "DequantizeLinear", "y_dequantize", "y_q x_scale x_zero", "y");
	}
	case_output(&c, c.graph, "y");
	return case_finish(&c, "quantized.onnx");
}

static const struct of_file finer = {.scales = OUT, .scale = {0.011f, 0.0115f, 0.012f, 0.0105f}, .zero = -1, .moved = -1};

static const struct tuned *tuned(const struct study *st)
{
	return tuning_of(study_edits(st)->tuning, node(st, "conv"));
}

static const struct slot *weight_slot(struct study *st, struct snapshot **s)
{
	struct error err = {0};
	study_run(st);
	if (study_wait(st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	*s = study_snapshot(st);
	return plan_in(snapshot_plan(*s), node(st, "conv"), 1);
}

static void assert_scale_in_force(struct study *st, int channel, float scale)
{
	struct snapshot *s;
	const struct quantizer *q = slot_quantizer(weight_slot(st, &s));
	assert_non_null(q);
	assert_float_equal(q->scale[q->n > 1 ? channel : 0], scale, 1e-9);
	snapshot_drop(&s);
}

// What the target makes of the model's own weights is in most files.
void test_import_weights__the_targets_own_are_no_edit(void **state)
{
	struct study *st = case_open(float_model(), NULL, "a8w8");
	struct snapshot *s;
	const struct quantizer *q = slot_quantizer(weight_slot(st, &s));
	(void)state;
	assert_non_null(q);
	struct of_file f = {.scales = q->n, .zero = -1, .moved = -1};
	for (int i = 0; i < q->n; i++)
		f.scale[i] = nextafterf(q->scale[i], 1); // another tool divides otherwise
	snapshot_drop(&s);
	struct import_report r = take(st, quantized_model(&f));
	assert_int_equal(r.weights, 0);
	assert_null(study_edits(st)->tuning);
	import_report_done(&r);
	study_close(&st);
}

// A result without a pair, as TensorRT's quantizers leave it: the target rounds it all the same.
void test_import_weights__results_that_stay_floats(void **state)
{
	(void)state;
	for (int open = 0; open < 2; open++) {
		struct study *st = case_open(float_model(), NULL, "onnxruntime");
		struct of_file f = finer;
		f.open = open;
		struct import_report r = take(st, quantized_model(&f));
		assert_int_equal(r.n_notes, open);
		if (open)
			assert_has(&r.notes, "results that the file leaves in float, and the target rounds behind weights on codes: of 1 nodes, conv first");
		import_report_done(&r);
		study_close(&st);
	}
}

// Scales that are not the target's, codes moved by a training, a corrected bias, weights that are still floats: each is the file's, its
// scales too.
void test_import_weights__are_the_files(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct of_file f = finer;
		struct study *st = case_open(float_model(), NULL, "onnxruntime");
		struct snapshot *s;
		if (i == 1 || i == 3)
			f.moved = 6;
		f.floats = i == 3;
		if (i == 2)
			f.bias = 0.01f;
		const struct quantizer *before = slot_quantizer(weight_slot(st, &s));
		bool channels = before->n > 1;
		float own_scale = before->scale[0];
		snapshot_drop(&s);
		if (!channels)
			f.scales = 1;
		struct import_report r = take(st, quantized_model(&f));
		assert_int_equal(r.n_notes, 0);
		assert_int_equal(r.weights, 1);
		assert_scale_in_force(st, 0, f.scale[0]);
		assert_scale_in_force(st, OUT - 1, f.scale[channels ? OUT - 1 : 0]);
		const struct tuned *t = tuned(st);
		for (int k = 0; k < WEIGHTS; k++) {
			float step = f.scale[channels ? k / IN : 0];
			float want = (float)(lrintf(own_weight(k) / step) + (k == f.moved)) * step;
			assert_float_equal(((const float *)t->weight.data)[k], want, 1e-6);
		}
		assert_float_equal(((const float *)t->bias.data)[1], own_bias(1) + f.bias, 3e-4);
		assert_true(undoes(st)); // weights and the scales of tensors are one step
		assert_scale_in_force(st, 0, own_scale);
		assert_false(undoes(st));
		import_report_done(&r);
		study_close(&st);
	}
}

// 128 in the middle of uint8 is 0 of int8.
void test_import_weights__unsigned_codes(void **state)
{
	struct of_file f = finer;
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	(void)state;
	f.scales = 1;
	f.zero = 128;
	struct import_report r = take(st, quantized_model(&f));
	assert_int_equal(r.weights, 1);
	assert_scale_in_force(st, 0, f.scale[0]);
	assert_int_equal(((const int32_t *)tuned(st)->zero.data)[0], 0);
	import_report_done(&r);
	study_close(&st);
}

static void assert_not_taken(const struct of_file *f, const char *target, const char *why)
{
	struct study *st = case_open(float_model(), NULL, target);
	struct import_report r = take(st, quantized_model(f));
	assert_int_equal(r.weights, 0);
	assert_null(study_edits(st)->tuning);
	assert_has(&r.notes, why);
	import_report_done(&r);
	study_close(&st);
}

void test_import_weights__that_the_target_cannot_have(void **state)
{
	struct of_file f = finer;
	(void)state;
	assert_not_taken(&f, "xint8", "weights with a scale for each channel, which target xint8 has not: of 1 nodes, conv first");
	f.scales = 1;
	assert_not_taken(&f, "esp32p4", "scales that are no powers of two");
	f.zero = 120;
	assert_not_taken(&f, "onnxruntime", "a zero point that is not in the middle");
	f.zero = -1;
	f.scale[0] = -own_weight(0) / 128; // the least of all
	assert_not_taken(&f, "onnxruntime", "codes beyond the lowest or the highest");
}

// With some weights of an equalized network and some of this one neither would be computed.
void test_import_weights__of_an_equalized_model(void **state)
{
	struct of_file f = finer;
	(void)state;
	f.factor = 0.6f;
	assert_not_taken(&f, "onnxruntime", "conv: its weights are the model's times a factor for each channel");
}

// The grid goes with the session, and with the codes that are written.
void test_import_weights__session_and_file(void **state)
{
	struct error err = {0};
	struct of_file f = finer;
	struct study *st = case_open(float_model(), NULL, "onnxruntime"), *again = case_open(float_model(), NULL, "onnxruntime"),
	             *third = case_open(float_model(), NULL, "onnxruntime");
	struct session *s = NULL;
	const char *path = support_temp("weights.json");
	(void)state;
	f.scales = 1;
	f.moved = 3;
	struct import_report r = take(st, quantized_model(&f)), back;
	assert_scale_in_force(st, 0, f.scale[0]);
	if (session_write(st, path, NULL, &err) || session_read(&s, path, &err) || session_apply(s, again, &err))
		fail_msg("%s", err.text);
	assert_true(key_equal(tuning_key(study_edits(st)->tuning), tuning_key(study_edits(again)->tuning)));
	assert_scale_in_force(again, 0, f.scale[0]);
	struct str model = case_export(again, "qdq", NULL);
	back = take(third, support_temp_file("own.onnx", str_text(&model), model.len));
	assert_int_equal(back.weights, 1);
	assert_true(key_equal(tuning_key(study_edits(third)->tuning), tuning_key(study_edits(st)->tuning)));
	session_remove(path);
	session_free(&s);
	str_done(&model);
	import_report_done(&r);
	import_report_done(&back);
	study_close(&third);
	study_close(&again);
	study_close(&st);
}

// Under another width the model's own weights are quantized by the target's rule; the file's are back with the width.
void test_import_weights__belong_to_their_width(void **state)
{
	struct of_file f = finer;
	struct study *st = case_open(float_model(), NULL, "xint8");
	struct snapshot *s;
	(void)state;
	f.scales = 1;
	f.scale[0] = 0.03125f;
	struct import_report r = take(st, quantized_model(&f));
	assert_int_equal(r.weights, 1);
	assert_scale_in_force(st, 0, 0.03125f);
	case_set(st, "conv", PREC_FLOAT);
	assert_null(slot_quantizer(weight_slot(st, &s)));
	snapshot_drop(&s);
	case_set(st, "conv", PREC_INT8);
	assert_scale_in_force(st, 0, 0.03125f);
	import_report_done(&r);
	study_close(&st);
}

// AIMET's param_encodings in its three versions, ONNX Runtime's overrides, PPQ's quant_info: the model's own weights on the file's grid.
void test_import_weights__scales_of_parameters(void **state)
{
	static const char *const text[] = {
	    "{\"activation_encodings\": {}, \"param_encodings\": {\"w\": [{\"bitwidth\": 8, \"scale\": 0.012, \"offset\": -128},"
	    " {\"scale\": 0.013, \"offset\": -127}, {\"scale\": 0.014, \"offset\": -128}, {\"scale\": 0.015, \"offset\": -128}]}}",
	    "{\"activation_encodings\": [], \"param_encodings\": [{\"name\": \"w\", \"enc_type\": \"PER_CHANNEL\", \"dtype\": \"INT\", \"bw\": 8,"
	    " \"is_sym\": true, \"scale\": [0.012, 0.013, 0.014, 0.015], \"offset\": [-128, -128, -128, -128]},"
	    " {\"name\": \"b\", \"dtype\": \"INT\", \"bw\": 32, \"scale\": [0.001], \"offset\": [0]}]}",
	    "{\"encodings\": [{\"name\": \"w\", \"output_dtype\": \"int8\", \"axis\": 0, \"y_scale\": [0.012, 0.013, 0.014, 0.015]}]}",
	    "{\"extra_options\": {\"TensorQuantOverrides\": {\"w\": [{\"axis\": 0, \"quant_type\": \"QInt8\", \"scale\": 0.012}, "
	    "{\"scale\": 0.013, \"zero_point\": 0},"
	    " {\"scale\": 0.014}, {\"scale\": 0.015}]}}}",
	    "{\"quant_info\": {\"w\": {\"bit_width\": 8, \"per_channel\": true, \"scale\": [0.012, 0.013, 0.014, 0.015],"
	    " \"zero_point\": [0, 0, 0, 0], \"q_min\": -128, \"q_max\": 127}}}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = case_open(float_model(), NULL, "esp32p4");
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(r.weights, 0);
		assert_has(&r.notes, "scales that are no powers of two");
		import_report_done(&r);
		study_close(&st);
		st = case_open(float_model(), NULL, "xquant,operators.after_computing=false");
		r = take(st, file(text[i]));
		assert_int_equal(r.weights, 1);
		for (int k = 0; k < OUT; k++)
			assert_scale_in_force(st, k, 0.012f + 0.001f * (float)k);
		float step = 0.013f, want = lrintf(own_weight(IN) / step) * step;
		assert_float_equal(((const float *)tuned(st)->weight.data)[IN], want, 1e-6);
		assert_true(undoes(st));
		assert_null(study_edits(st)->tuning);
		import_report_done(&r);
		study_close(&st);
	}
}

void test_import_weights__scales_that_are_none(void **state)
{
	static const struct {
		const char *text, *why;
	} of[] = {
	    {"{\"encodings\": [{\"name\": \"w\", \"output_dtype\": \"int8\", \"y_scale\": [0.012, -1, 0.014, 0.015]}]}",
	        "w: its scales and offsets are none"},
	    {"{\"encodings\": [{\"name\": \"w\", \"output_dtype\": \"int8\", \"y_scale\": [0.012, 0.013]}]}",
	        "a scale for each index of another dimension"},
	    {"{\"encodings\": [{\"name\": \"w\", \"output_dtype\": \"int4\", \"y_scale\": 0.2}]}", "weights with another width"},
	    {"{\"encodings\": [{\"name\": \"w\", \"output_dtype\": \"int8\", \"y_scale\": {\"x\": []}}]}", "w: 8 bits and 0 scales"},
	    {"{\"encodings\": [{\"name\": \"w\", \"output_dtype\": \"int8\", \"block_size\": 2, \"y_scale\": [1, 1]}]}",
	        "w: scales of blocks are not read"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct study *st = case_open(float_model(), NULL, "xquant,operators.after_computing=false");
		struct import_report r = take(st, file(of[i].text));
		assert_int_equal(r.weights, 0);
		assert_has(&r.notes, of[i].why);
		import_report_done(&r);
		study_close(&st);
	}
}

// x -> Gemm -> y with a bias for each row; in the file a scale for each column of it.
static const char *gemm_model(bool quantized, int moved)
{
	enum { ROWS = 2 };
	struct onnx_case c;
	float w[WEIGHTS], b[ROWS * OUT], x_scale = 0.02f, w_scale = 0.01f, b_scale[OUT] = {2e-4f, 2e-4f, 2e-4f, 2e-4f};
	int8_t codes[WEIGHTS];
	int32_t bias[ROWS * OUT];
	for (int i = 0; i < WEIGHTS; i++) {
		codes[i] = (int8_t)((i * 37 + 11) % 255 - 127);
		w[i] = (float)codes[i] * w_scale;
	}
	for (int i = 0; i < ROWS * OUT; i++) {
		b[i] = own_bias(i);
		bias[i] = (int32_t)lrintf(b[i] / b_scale[0]) + (i == moved ? 9 : 0);
	}
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(ROWS, IN));
	if (quantized) {
		case_floats(&c, "x_scale", 0, NULL, &x_scale);
		case_const(&c, "x_zero", U8, 0, NULL, &(uint8_t){128}, 1);
		case_floats(&c, "w_scale", 0, NULL, &w_scale);
		case_floats(&c, "b_scale", DIMS(OUT), b_scale);
		case_const(&c, "w_quantized", I8, DIMS(IN, OUT), codes, sizeof codes);
		case_const(&c, "b_quantized", I32, DIMS(ROWS, OUT), bias, sizeof bias);
		case_node(&c, "QuantizeLinear", "x_quantize", "x x_scale x_zero", "x_q");
		case_node(&c, "DequantizeLinear", "x_dequantize", "x_q x_scale x_zero", "x_dq");
		case_node(&c, "DequantizeLinear", "w_dequantize", "w_quantized w_scale", "w");
		case_attr_int(&c, case_node(&c, "DequantizeLinear", "b_dequantize", "b_quantized b_scale", "b"), "axis", 1);
	} else {
		case_floats(&c, "w", DIMS(IN, OUT), w);
		case_floats(&c, "b", DIMS(ROWS, OUT), b);
	}
	case_node(&c, "Gemm", "conv", quantized ? "x_dq w b" : "x w b", "y");
	case_output(&c, c.graph, "y");
	return case_finish(&c, quantized ? "gemm_quantized.onnx" : "gemm.onnx");
}

void test_import_weights__a_bias_of_several_rows(void **state)
{
	(void)state;
	for (int moved = -1; moved < 8; moved += 8) { // none, the last
		struct study *st = case_open(gemm_model(false, -1), NULL, "onnxruntime");
		struct import_report r = take(st, gemm_model(true, moved));
		const struct tuned *t = tuned(st);
		if (moved >= 0) {
			assert_non_null(t);
			assert_float_equal(((const float *)t->bias.data)[moved], own_bias(moved) + 9 * 2e-4f, 1.1e-4);
			assert_float_equal(((const float *)t->bias.data)[0], own_bias(0), 1.1e-4);
		} else if (t) { // for the scale of the weights, if that is not the target's
			assert_true(t->scale.data != NULL);
		}
		import_report_done(&r);
		study_close(&st);
	}
}

// The file wins over what was there: also where its weights are the target's own.
void test_import_weights__in_place_of_others(void **state)
{
	struct of_file f = finer, own = {.zero = -1, .moved = -1};
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	struct snapshot *s;
	const struct quantizer *q = slot_quantizer(weight_slot(st, &s));
	(void)state;
	own.scales = q->n;
	memcpy(own.scale, q->scale, (size_t)q->n * sizeof *q->scale);
	snapshot_drop(&s);
	struct import_report r = take(st, quantized_model(&f)), other, back;
	assert_int_equal(r.weights, 1);
	assert_scale_in_force(st, 0, f.scale[0]);
	f.scale[0] = 0.0125f;
	other = take(st, quantized_model(&f));
	assert_int_equal(other.weights, 1);
	assert_scale_in_force(st, 0, 0.0125f);
	back = take(st, quantized_model(&own));
	assert_int_equal(back.weights, 1);
	assert_int_equal(tuning_count(study_edits(st)->tuning), 0);
	assert_scale_in_force(st, 0, own.scale[0]);
	assert_true(undoes(st));
	assert_scale_in_force(st, 0, 0.0125f);
	import_report_done(&r);
	import_report_done(&other);
	import_report_done(&back);
	study_close(&st);
}

// Refused memory is an error that changes nothing.
void test_import_weights__no_memory(void **state)
{
	struct study *st = case_open(float_model(), NULL, "onnxruntime");
	const char *path = quantized_model(&finer);
	struct import_report r;
	struct error err = {0};
	enum status s = STATUS_NOMEM;
	int refused = 0;
	(void)state;
	while (s == STATUS_NOMEM) {
		mem_fail_at(++refused);
		s = import_file(&r, st, path, &err);
		mem_fail_at(0);
		assert_true(s == STATUS_OK || (s == STATUS_NOMEM && err.text[0] && steps(st) == 0));
		if (s != STATUS_OK)
			import_report_done(&r);
	}
	assert_int_equal(s, STATUS_OK);
	assert_in_range(refused, 5, 200);
	import_report_done(&r);
	study_close(&st);
}
