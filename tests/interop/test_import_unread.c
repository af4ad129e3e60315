// Import: what is in a file and is not taken over has a line; numbers in lists of one and as texts are read.
#include "import_case.h"

#define CLASS_OUT CLASS_CONV "_output_0"
#define WEIGHT "model.0.conv.weight"
#define OVERRIDE(entry) "{\"extra_options\": {\"TensorQuantOverrides\": {" entry "}}}"

void test_import_unread__each_has_a_line(void **state)
{
	static const struct {
		const char *text, *note;
	} row[] = {
	    {OVERRIDE("\"" CLASS_OUT "\": [{\"scale\": [0.5, 0.25], \"zero_point\": [0, 0]}]"),
	        CLASS_OUT ": its scale and zero point are not one number"},
	    {OVERRIDE("\"" CLASS_OUT "\": [{\"scale\": \"half\"}]"), CLASS_OUT ": its scale and zero point are not one number"},
	    {OVERRIDE("\"" CLASS_OUT "\": [{\"symmetric\": true}]"), CLASS_OUT ": symmetric: true is not read"},
	    {OVERRIDE("\"" CLASS_OUT "\": [{\"reduce_range\": true}]"), CLASS_OUT ": reduce_range is not read"},
	    {OVERRIDE("\"" CLASS_OUT "\": [{\"narrow\": true}]"), CLASS_OUT ": narrow is not read"},
	    {OVERRIDE("\"" WEIGHT "\": [{\"rmin\": -1, \"rmax\": 1}]"), WEIGHT ": rmin and rmax of a weight are not read"},
	    {OVERRIDE("\"" WEIGHT "\": [{\"quant_type\": \"QInt4\"}]"), WEIGHT ": the type QInt4 is none that weights have here"},
	    {OVERRIDE("\"" WEIGHT "\": [{\"quant_type\": \"QInt16\"}]"), WEIGHT ": the type QInt16 is none that weights have here"},
	    {OVERRIDE("\"" WEIGHT "\": [{\"axis\": 0, \"reduce_range\": true}]"), WEIGHT ": reduce_range is not read"},
	    {OVERRIDE("\"" WEIGHT "\": [{\"axis\": 0, \"symmetric\": false}]"), WEIGHT ": symmetric: false is not read"},
	    {"{\"exclude\": [], \"include_cle\": true}", "include_cle is not read: what it does to weights is no edit"},
	    {"{\"exclude\": [], \"enable_npu_cnn\": true}", "arguments: enable_npu_cnn is not read"},
	    {"{\"extra_options\": {\"FastFinetune\": {\"DataSize\": 10}}}", "FastFinetune is not read: what it does to weights is no edit"},
	    {"{\"extra_options\": {\"ConvertSigmoidToHardSigmoid\": true}}", "extra_options: ConvertSigmoidToHardSigmoid is not read"},
	    {"{\"extra_options\": {\"WeightSymmetric\": false}}", "WeightSymmetric: false, but weights of the target are symmetric"},
	    {"{\"extra_options\": {\"Percentile\": 99.9}}", "Percentile: 99.9, the target has 99.999"},
	    {"{\"activation_encodings\": {\"" CLASS_OUT "\": [{\"scale\": 0.5}, {\"scale\": 0.25}]}}",
	        CLASS_OUT ": an activation has one scale here, not 2"},
	    {"{\"activation_encodings\": [{\"name\": \"" CLASS_OUT "\", \"scale\": [0.5, 0.25]}]}", CLASS_OUT ": its scale is not one number"},
	    {"{\"encodings\": [{\"name\": \"" CLASS_OUT "\", \"output_dtype\": \"uint8\", \"y_scale\": {\"x\": 3}}]}",
	        CLASS_OUT ": its scale is not one number"},
	    {"{\"encodings\": [{\"name\": \"" CLASS_OUT "\", \"output_dtype\": \"float8e4m3fn\"}]}", CLASS_OUT ": float8e4m3fn is not known here"},
	    {"TRT-8503-EntropyCalibration2\n" CLASS_OUT ": 0\n", CLASS_OUT ": 0 is no scale"},
	    {"{\"exclude\": [], \"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1, \"e\": 1}", "arguments: a, b, c, d, e are not read"},
	    {"{\"exclude\": [], \"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1, \"e\": 1, \"f\": 1}", "arguments: a, b, c, d, e ... are not read"},
	    {"{\"version\": \"1.0.0\", \"activation_encodings\": [], \"param_encodings\": [{\"name\": \"" WEIGHT
	     "\", \"enc_type\": \"PER_BLOCK\", \"dtype\": \"INT\", \"bw\": 8, \"scale\": [0.5, 0.25], \"offset\": [-128, -128]}]}",
	        WEIGHT ": scales of blocks are not read"},
	    {"calibration_parameters:\n  max_percentile: 0.99\ncompiler_parameters: {}\n", "calibration_parameters: max_percentile is not read"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(MODEL, NULL, "onnxruntime");
		struct import_report r = take(st, file(row[i].text));
		assert_has(&r.notes, row[i].note);
		assert_int_equal(r.n_notes, 1);
		assert_int_equal(r.scales + r.precisions, 0);
		import_report_done(&r);
		study_close(&st);
	}
}

void test_import_unread__numbers_in_lists_and_as_texts(void **state)
{
	static const char *const text[] = {
	    OVERRIDE("\"" CLASS_OUT "\": [{\"quant_type\": \"QUInt16\", \"scale\": [0.5], \"zero_point\": [3], \"symmetric\": true}]"),
	    OVERRIDE("\"" CLASS_OUT "\": [{\"quant_type\": \"QUInt16\", \"scale\": \"0.5\", \"zero_point\": \"3\"}]"),
	    "{\"activation_encodings\": {\"" CLASS_OUT "\": [{\"bitwidth\": \"16\", \"scale\": \"0.5\", \"offset\": \"-3\"}]}}",
	    "{\"activation_encodings\": [{\"name\": \"" CLASS_OUT "\", \"bw\": \"16\", \"scale\": [0.5], \"offset\": [-3]}]}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = case_open(MODEL, NULL, "onnxruntime");
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(precision(st, CLASS_CONV), PREC_INT16);
		assert_true(scale(st, CLASS_CONV) == 0.5);
		assert_int_equal(zero_point(st, CLASS_CONV), 3);
		assert_int_equal(r.n_notes, 0);
		import_report_done(&r);
		study_close(&st);
	}
}

// A QConfig of Quark's that was made with extra_options writes them one deeper.
void test_import_unread__options_of_a_written_qconfig(void **state)
{
	struct study *st = case_open(MODEL, NULL, "onnxruntime");
	(void)state;
	struct import_report r = take(st,
	    file("{\"global_config\": {}, \"extra_options\": {\"extra_options\": {\"TensorQuantOverrides\": {\"" CLASS_OUT
	    "\": [{\"quant_type\": \"QUInt16\", \"scale\": 0.5, \"zero_point\": 3}]}}, \"FoldRelu\": true}}"));
	assert_true(scale(st, CLASS_CONV) == 0.5);
	assert_has(&r.notes, "extra_options: FoldRelu is not read");
	assert_int_equal(r.n_notes, 1);
	import_report_done(&r);
	study_close(&st);
}

// Quark's way to leave all operators of a type in float; what is of the tool's run needs no line.
void test_import_unread__types_that_quark_excludes(void **state)
{
	struct study *st = bare();
	(void)state;
	struct import_report r = take(st, file("{\"op_types_to_exclude\": [\"Sub\"], \"exclude\": [], \"print_summary\": false, "
	    "\"include_cle\": false, \"extra_options\": {\"UseQDQVitisCustomOps\": false}}"));
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	study_close(&st);
}
