// Faults planted in the shipped detector and in its plan, one at a time: each is found by its own name, first of all findings
// or among the first, and the edit that is offered mends it.
#include "../../src/analysis/study/study_impl.h"
#include "planted_case.h"
#include "surgery.h"

// A channel is made small in front of a depthwise convolution and its weights large: the network computes the same.
void test_planted_network__an_outlying_channel(void **state)
{
	enum { CHANNELS = 64, THIS = 5, FACTOR = 64 };
	static const int64_t dim[] = {1, CHANNELS, 1, 1};
	struct surgery s;
	float small[CHANNELS];
	surgery_open(&s, MODEL);
	float *w = surgery_weights(&s, "model.12.cv3.0.0.0.conv.weight");
	for (int i = 0; i < 9; i++)
		w[THIS * 9 + i] *= FACTOR;
	for (int i = 0; i < CHANNELS; i++)
		small[i] = i == THIS ? 1.0f / FACTOR : 1;
	surgery_redirect(&s, "/model.11/Add_output_0", "unequal");
	surgery_floats(&s, "small", 4, dim, small);
	surgery_node(&s, "Mul", "shrink", "/model.11/Add_output_0 small", "unequal");
	w = surgery_weights(&s, "model.12.cv2.0.0.conv.weight"); // the other reader
	for (int o = 0; o < 24; o++)
		for (int i = 0; i < 9; i++)
			w[(o * CHANNELS + THIS) * 9 + i] *= FACTOR;
	struct patient p = examine(surgery_close(&s, "channel.onnx"), CALIB, "esp32s3", CALIB_MSE);
	struct error err = {0};
	for (int i = 0; i < 3 && p.findings->n > 0 && p.findings->at[0].wide == 0; i++) { // scales of logits, which cost nothing
		assert_int_equal(study_command(p.study, p.findings->at[0].edit, &err), STATUS_OK);
		look(&p);
	}
	assert_first(&p, FINDING_unequal_channels, "/model.12/cv3.0/cv3.0.0/cv3.0.0.0/conv/Conv");
	assert_mended(&p, "/model.12/cv3.0/cv3.0.0/cv3.0.0.0/act/Mul", 3);
	release(&p);
}

void test_planted_network__boxes_and_scores_in_one_concat(void **state)
{
	struct patient p = {.study = open_study(MODEL, CALIB, "onnxruntime", -1, healthy)};
	look(&p);
	assert_first(&p, FINDING_joined_ranges, "/model.12/Concat_4");
	assert_mended(&p, "/model.12/Sigmoid", -1);
	release(&p);
}

void test_planted_network__a_coarse_logit(void **state)
{
	struct surgery s;
	surgery_open(&s, MODEL);
	surgery_weights(&s, "model.12.cv3.0.2.bias")[7] = -250; // a class that never occurs
	const char *model = surgery_close(&s, "logit.onnx");
	struct patient p = {.study = open_study(model, CALIB, "esp32p4", CALIB_MINMAX, healthy)};
	set(p.study, TAIL, PREC_FLOAT);
	look(&p);
	const struct finding *f = assert_first(&p, FINDING_coarse_logits, "/model.12/cv3.0/cv3.0.2/Conv");
	assert_non_null(strstr(f->edit, " 2^-4"));
	release(&p);
}

// The scale that is offered clips far below zero, which no score shows: a scale set by hand that does no harm.
// Its share is that of the scores' noise, and the logits are hardly worth more.
void test_planted_network__a_coarse_logit_is_not_worth_much_and_stays_mended(void **state)
{
	struct surgery s;
	struct error err = {0};
	surgery_open(&s, MODEL);
	float *bias = surgery_weights(&s, "model.12.cv3.0.2.bias");
	for (int c = 0; c < 10; c++)
		bias[c] -= 7; // scores are small
	bias[7] = -250;
	const char *model = surgery_close(&s, "low_logit.onnx");
	struct patient p = {.study = open_study(model, CALIB, "esp32p4", CALIB_MINMAX, healthy)};
	set(p.study, TAIL, PREC_FLOAT);
	look(&p);
	const struct finding *f = of_rule(p.findings, FINDING_coarse_logits, INT32_MAX);
	assert_non_null(f);
	assert_true(p.snapshot->site[p.snapshot->row[f->node[0]].first_site].range.max < 1);
	assert_int_equal(study_command(p.study, f->edit, &err), STATUS_OK);
	look(&p);
	assert_null(of_rule(p.findings, FINDING_stale_override, INT32_MAX));
	release(&p);
}

void test_planted_network__a_bias_that_overflows(void **state)
{
	static const char rules[] = "{\"name\": \"older\", \"title\": \"ONNX Runtime before 1.20\", \"base\": \"onnxruntime\", "
	    "\"bias\": {\"widens_weights\": false}}";
	const char *older = support_temp_file("older.json", rules, sizeof rules - 1);
	struct surgery s;
	surgery_open(&s, MODEL);
	float *w = surgery_weights(&s, "model.10.conv.weight"), *b = surgery_weights(&s, "model.10.conv.bias");
	for (int c = 0; c < 8; c++) { // pruned channels that kept a bias
		for (int i = 0; i < 128; i++)
			w[c * 128 + i] *= 1e-10f;
		b[c] = 8;
	}
	const char *model = surgery_close(&s, "bias.onnx");
	struct patient p = examine(model, CALIB, "onnxruntime", -1); // whose steps of weights leave room for the bias
	assert_null(of_rule(p.findings, FINDING_bias, INT32_MAX));
	release(&p);
	p = examine(model, CALIB, older, -1);
	assert_first(&p, FINDING_bias, "/model.10/conv/Conv");
	assert_mended(&p, "/model.10/act/Mul", 10);
	release(&p);
}

// 20 bits become 40 at 16 bit on an ESP32-S3, more than its unit gets finer; 32 become 40 on an ESP32-P4, which is less.
void test_planted_network__a_bias_that_16_bit_has_room_for(void **state)
{
	static const char name[] = "/model.10/conv/Conv";
	static const struct {
		const char *target;
		float bias;
		const char *edit;
	} row[] = {{"esp32s3", 2000, "set /model.10/conv/Conv int16"}, {"esp32p4", 1e7f, "set /model.10/conv/Conv float"}};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct surgery s;
		struct error err = {0};
		surgery_open(&s, MODEL);
		surgery_weights(&s, "model.10.conv.bias")[3] = row[i].bias;
		struct patient p = examine(surgery_close(&s, "room.onnx"), CALIB, row[i].target, CALIB_MINMAX);
		const struct finding *f = of_rule(p.findings, FINDING_bias, INT32_MAX);
		assert_non_null(f);
		assert_string_equal(study_graph(p.study)->node[f->node[0]].name, name);
		assert_string_equal(f->edit, row[i].edit);
		assert_int_equal(study_command(p.study, f->edit, &err), STATUS_OK);
		look(&p);
		assert_null(of_rule(p.findings, FINDING_bias, INT32_MAX));
		release(&p);
	}
}

// A QuantizeLinear ("quantize") and a DequantizeLinear behind a tensor, as a quantized file holds them.
struct file_quantizer {
	float scale;
	int type; // of the codes
	const void *zero;
	size_t size; // of the zero, bytes
};

static void quantize_in_file(struct surgery *s, const char *tensor, const char *quantized, const struct file_quantizer *q)
{
	char inputs[128];
	snprintf(inputs, sizeof inputs, "%s scale zero", tensor);
	surgery_floats(s, "scale", 0, NULL, &q->scale);
	surgery_tensor(s, "zero", q->type, 0, NULL, q->zero, q->size);
	surgery_node(s, "QuantizeLinear", "quantize", inputs, "codes");
	surgery_node(s, "DequantizeLinear", "dequantize", "codes scale zero", quantized);
}

static struct file_quantizer in_bytes(float scale)
{
	static const uint8_t zero = 0;
	return (struct file_quantizer){scale, ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, &zero, sizeof zero};
}

// The demo model whose output goes through codes in bytes.
static const char *with_quantized_output(const char *file, float scale)
{
	struct surgery s;
	struct file_quantizer q = in_bytes(scale);
	surgery_open(&s, MODEL);
	quantize_in_file(&s, "output0", "lost", &q);
	surgery_output(&s, "lost");
	return surgery_close(&s, file);
}

static void check_clipped(struct file_quantizer q)
{
	struct surgery s;
	surgery_open(&s, MODEL);
	surgery_redirect(&s, "/model.4/Add_output_0", "clipped");
	quantize_in_file(&s, "/model.4/Add_output_0", "clipped", &q);
	struct patient p = examine(surgery_close(&s, "file.onnx"), CALIB, "onnxruntime", -1);
	const struct finding *f = assert_first(&p, FINDING_file_quantizer, "quantize");
	assert_null(f->edit);
	assert_true(f->gain_db > 3);
	release(&p);
}

void test_planted_network__a_scale_in_the_file_that_clips(void **state)
{
	check_clipped((struct file_quantizer){0.005f, ONNX__TENSOR_PROTO__DATA_TYPE__INT8, &(int8_t){0}, 1});
	check_clipped((struct file_quantizer){0.00002f, ONNX__TENSOR_PROTO__DATA_TYPE__UINT16, &(uint16_t){32768}, 2});
	check_clipped((struct file_quantizer){0.0015f, 17, &(uint8_t){0}, 1}); // float8e4m3fn, which ends at 448
}

// The scores are lost in the file already: to give them a step of their own here mends nothing.
void test_planted_network__a_concat_that_the_file_has_put_on_one_scale(void **state)
{
	struct patient p = {.study = open_study(with_quantized_output("together.onnx", 1), CALIB, "onnxruntime", -1, healthy)};
	look(&p);
	const struct finding *f = assert_first(&p, FINDING_file_quantizer, "quantize");
	assert_null(f->edit);
	assert_non_null(strstr(f->text, "/model.12/Concat_4"));
	for (int i = 0; i < p.findings->n; i++)
		assert_true(p.findings->at[i].rule != FINDING_joined_ranges);
	release(&p);
}

// With the post-processing in float its tensors have no histograms:
// what the file does to the scores is said all the same.
void test_planted_network__what_the_file_has_lost_stays_lost_in_float(void **state)
{
	struct patient p = examine(with_quantized_output("lost.onnx", 2.5f), CALIB, "onnxruntime", -1);
	const struct finding *f = assert_first(&p, FINDING_file_quantizer, "quantize");
	assert_null(f->edit);
	assert_non_null(strstr(f->text, "0.4 codes are left to /model.12/Sigmoid_output_0"));
	release(&p);
}

// As a quantized file has it: the scores go through QuantizeLinear and DequantizeLinear
// before they are joined with the boxes.
void test_planted_network__a_concat_behind_quantizers_of_the_file(void **state)
{
	struct surgery s;
	struct file_quantizer fine = in_bytes(1.0f / 255);
	surgery_open(&s, MODEL);
	surgery_redirect(&s, "/model.12/Sigmoid_output_0", "scores");
	quantize_in_file(&s, "/model.12/Sigmoid_output_0", "scores", &fine);
	struct patient p = {.study = open_study(surgery_close(&s, "joint.onnx"), CALIB, "onnxruntime", -1, healthy)};
	look(&p);
	assert_first(&p, FINDING_joined_ranges, "/model.12/Concat_4");
	release(&p);
}

void test_planted_network__a_softmax_and_an_average_at_8_bit(void **state)
{
	static const int64_t all[] = {1, -1};
	static const int64_t two = 2;
	struct surgery s;
	surgery_open(&s, MODEL);
	surgery_tensor(&s, "all", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, &two, all, sizeof all);
	surgery_node(&s, "Reshape", "flat", "/model.12/cv2.0/cv2.0.2/Conv_output_0 all", "flat_out");
	surgery_node(&s, "Softmax", "wide", "flat_out", "probabilities");
	surgery_node(&s, "GlobalAveragePool", "mean", "/model.12/cv3.0/cv3.0.2/Conv_output_0", "means");
	surgery_output(&s, "probabilities");
	surgery_output(&s, "means");
	struct patient p = examine(surgery_close(&s, "softmax.onnx"), CALIB, "onnxruntime", -1);
	assert_first(&p, FINDING_softmax_at_8, "wide");
	assert_mended(&p, "wide", 6);
	release(&p);
}

// The scale that the node has becomes an edit that a repair vouches for.
static void keep_scale(struct patient *p, const char *node)
{
	struct error err = {0};
	char command[64];
	struct snapshot *s = study_snapshot(p->study);
	double scale = (double)snapshot_output(s, graph_find_node(s->g, node))->scale[0];
	snapshot_drop(&s);
	repair_memo_vouch(p->study->repairs, study_dataset(p->study), "esp32p4", node, scale);
	snprintf(command, sizeof command, "scale %s %.9g", node, scale);
	assert_int_equal(study_command(p->study, command, &err), STATUS_OK);
}

// As a layer normalization takes the mean away: the target reads both terms on the scale
// of their difference, which reaches neither.
void test_planted_network__terms_beyond_the_range_of_their_difference(void **state)
{
	static const float far = 24;
	static const int64_t one = 1;
	struct surgery s;
	surgery_open(&s, MODEL);
	surgery_floats(&s, "far", 1, &one, &far);
	surgery_node(&s, "Add", "up", "/model.0/act/Mul_output_0 far", "up_out");
	surgery_node(&s, "Sub", "down", "up_out far", "down_out");
	surgery_output(&s, "down_out");
	struct patient p = {.study = open_study(surgery_close(&s, "terms.onnx"), CALIB, "esp32p4", CALIB_MINMAX, healthy)};
	look(&p);
	const struct finding *f = of_rule(p.findings, FINDING_saturation, INT32_MAX);
	assert_non_null(f);
	assert_non_null(strstr(f->text, "down reads up_out"));
	assert_non_null(strstr(f->edit, "scale down 2^"));
	assert_true(f->reach > 0.1); // what the terms lose is lost where they are made, and the edit takes that away
	struct error err = {0};
	double before = snr_at(&p, "down");
	char *edit = xstrdup(f->edit);
	keep_scale(&p, "down"); // as a search does that has measured what the outputs make of it
	look(&p);
	assert_null(of_rule(p.findings, FINDING_saturation, INT32_MAX));
	assert_int_equal(study_command(p.study, edit, &err), STATUS_OK);
	free(edit);
	look(&p);
	assert_null(of_rule(p.findings, FINDING_saturation, INT32_MAX));
	if (!(snr_at(&p, "down") > before + 10))
		fail_msg("%.1f dB, before %.1f dB", snr_at(&p, "down"), before);
	release(&p);
}

// As a detector with attention divides its positions by 1 to 10000.
void test_planted_network__a_divisor_that_rounds_to_zero(void **state)
{
	static const int64_t shape[] = {10, 1, 1};
	struct surgery s;
	float period[10];
	for (int i = 0; i < 10; i++)
		period[i] = powf(10, (float)i / 2);
	surgery_open(&s, MODEL);
	surgery_tensor(&s, "period", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 3, shape, period, sizeof period);
	surgery_node(&s, "Div", "phases", "/model.12/cv3.0/cv3.0.2/Conv_output_0 period", "phase");
	surgery_node(&s, "Sin", "waves", "phase", "wave");
	surgery_output(&s, "wave");
	struct patient p = examine(surgery_close(&s, "divisor.onnx"), CALIB, "esp32p4", CALIB_MINMAX);
	const struct finding *f = of_rule(p.findings, FINDING_zero_divisor, 2);
	assert_non_null(f);
	assert_string_equal(study_graph(p.study)->node[f->node[0]].name, "phases");
	assert_true(snr_at(&p, "phases") > 10); // a quotient by zero has none
	assert_non_null(f->edit);
	struct error err = {0};
	assert_int_equal(study_command(p.study, f->edit, &err), STATUS_OK);
	look(&p);
	assert_null(of_rule(p.findings, FINDING_zero_divisor, INT32_MAX));
	release(&p);
}

// The root of a variance that rounds to 0 divides, which the target leaves in float; or it is raised to -0.5.
static void plant_lost_variance(bool raised)
{
	struct surgery s;
	surgery_open(&s, MODEL);
	surgery_normalization(&s, "/model.0/act/Mul_output_0", raised, "y");
	surgery_output(&s, "y");
	struct patient p = examine(surgery_close(&s, "variance.onnx"), CALIB, "onnxruntime", -1);
	const struct finding *f = assert_first(&p, FINDING_rounds_to_zero, "positive");
	assert_true(f->reach > 0.9); // followed up by the figures of what is divided and what divides, it would have .64 where that is a root
	assert_non_null(strstr(f->text, raised ? "root divides by v_positive" : "normal divides by what comes from v_positive"));
	if (!raised) // else the power's own range is the next that 8 bit do not hold
		assert_mended(&p, "scaled", 6);
	release(&p);
}

void test_planted_network__a_variance_that_rounds_to_zero(void **state)
{
	plant_lost_variance(false);
	plant_lost_variance(true);
}

// As a spectrum has it: where the squares round to 0, a sum of them in float has nothing left to add.
void test_planted_network__terms_of_a_sum_that_round_to_zero(void **state)
{
	static const int64_t four = 4, one = 1, pairs[] = {1, -1, 2, 1}, axis = 2;
	static const float little = 1e-5f, half = 0.5f;
	struct error err = {0};
	struct surgery s;
	surgery_open(&s, MODEL);
	surgery_tensor(&s, "pairs", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, &four, pairs, sizeof pairs);
	surgery_tensor(&s, "axis", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, &one, &axis, sizeof axis);
	surgery_floats(&s, "little", 1, &one, &little);
	surgery_floats(&s, "half", 1, &one, &half);
	surgery_node(&s, "Mul", "power", "/model.0/act/Mul_output_0 /model.0/act/Mul_output_0", "powers");
	surgery_node(&s, "Reshape", "pair", "powers pairs", "paired");
	surgery_node(&s, "ReduceSum", "sum", "paired axis", "sums");
	surgery_node(&s, "Add", "positive", "sums little", "sums_positive");
	surgery_node(&s, "Log", "log", "sums_positive", "logarithm");
	surgery_node(&s, "Mul", "scaled", "logarithm half", "decibels");
	surgery_output(&s, "decibels");
	struct patient p = examine(surgery_close(&s, "spectrum.onnx"), CALIB, "esp32p4", CALIB_MINMAX);
	const struct finding *f = of_rule(p.findings, FINDING_rounds_to_zero, INT32_MAX);
	assert_non_null(f);
	double before = snr_at(&p, "scaled");
	assert_int_equal(study_command(p.study, f->edit, &err), STATUS_OK);
	look(&p);
	if (!(snr_at(&p, "scaled") > before + 6))
		fail_msg("%.1f dB, before %.1f dB", snr_at(&p, "scaled"), before);
	release(&p);
}

void test_planted_network__a_clipping_calibrator(void **state)
{
	struct patient p = examine(MODEL, CALIB, "esp32p4", CALIB_KL);
	const struct finding *f = of_rule(p.findings, FINDING_saturation, 3); // behind the demo's own coarse logits
	assert_non_null(f);
	const char *node = study_graph(p.study)->node[f->node[0]].name;
	double before = snr_alone(&p, node), gain = f->gain_db;
	struct error err = {0};
	assert_int_equal(study_command(p.study, f->edit, &err), STATUS_OK);
	look(&p);
	assert_true(gain > 3);
	assert_true(snr_alone(&p, node) > before + gain / 2);
	release(&p);
}

void test_planted_network__an_override_that_no_longer_fits(void **state)
{
	struct error err = {0};
	struct patient p = examine(MODEL, CALIB, "onnxruntime", -1);
	assert_int_equal(study_command(p.study, "scale /model.6/cv1/conv/Conv 0.002", &err), STATUS_OK);
	look(&p);
	assert_first(&p, FINDING_stale_override, "/model.6/cv1/conv/Conv");
	assert_mended(&p, "/model.6/cv1/conv/Conv", 6);
	release(&p);
}
