// trtexec's options: what is written of decisions, and what is read.
#include <string.h>
#include "import_case.h"
#include "engine/onnx_case.h"

void test_trtexec__names_what_is_float(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_set(st, SUB, PREC_FLOAT);
	case_set(st, STEM, PREC_INT16);
	struct str loss = {0}, text = case_export(st, "trtexec", &loss);
	assert_string_equal(str_text(&text), "--int8 --fp16 --precisionConstraints=obey --layerPrecisions=" SUB ":fp16\n");
	assert_has(&loss, "1 layer in float is computed in fp16 there");
	assert_has(&loss, STEM ": trtexec has no way to say int16");
	assert_has(&loss, "the scale rule of esp32p4 are not ");
	str_done(&text);
	assert_true(undoes(st) && undoes(st));
	text = case_export(st, "trtexec", NULL);
	assert_string_equal(str_text(&text), "--int8\n");
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// Names at which the list, or the shell that is given the file, would be cut are told instead.
void test_trtexec__names_that_the_list_cannot_hold(void **state)
{
	static const float w[4] = {1, 2, 3, 4};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 2, 4, 4));
	case_floats(&c, "w", DIMS(2, 2, 1, 1), w);
	case_node(&c, "Conv", "a,b", "x w", "y");
	case_node(&c, "Conv", "scope/conv:0", "y w", "z");
	case_node(&c, "Conv", "plain", "z w", "out");
	case_output(&c, c.graph, "out");
	struct study *st = case_open(case_save(&c, "names.onnx"), NULL, "esp32p4");
	case_done(&c);
	case_set(st, "a,b", PREC_FLOAT);
	case_set(st, "scope/conv:0", PREC_FLOAT);
	case_set(st, "plain", PREC_FLOAT);
	struct str loss = {0}, text = case_export(st, "trtexec", &loss);
	assert_string_equal(str_text(&text), "--int8 --fp16 --precisionConstraints=obey --layerPrecisions=plain:fp16\n");
	assert_has(&loss, "a,b: --layerPrecisions has no way to say this name\n");
	assert_has(&loss, "scope/conv:0: --layerPrecisions has no way to say this name\n");
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// As it stands in a script: the whole option in quotes or names in them, stars, several options, a type that is none here.
void test_trtexec__options_are_read(void **state)
{
	static const struct {
		const char *text;
		int stem, sub, sigmoid, notes;
	} row[] = {
	    {"--int8 --layerPrecisions=" STEM ":fp16," SUB ":fp32 --saveEngine=x\n", PREC_FLOAT, PREC_FLOAT, -1, 0},
	    {"trtexec --onnx=m.onnx \\\n  '--layerPrecisions=" STEM ":fp16," SUB ":bf16' --int8\n", PREC_FLOAT, PREC_FLOAT, -1, 0},
	    {"--layerPrecisions=\"" STEM "\":fp16,\"" SUB "\":fp16 --verbose", PREC_FLOAT, PREC_FLOAT, -1, 0},
	    {"'--layerPrecisions=\"" STEM "\":fp16,\"" SUB "\":fp16' --verbose", PREC_FLOAT, PREC_FLOAT, -1, 0},
	    {"trtexec --layerPrecisions=" STEM ":fp16," SUB ":fp16\\\n  --int8", PREC_FLOAT, PREC_FLOAT, -1, 0},
	    {"--layerPrecisions=\"" STEM ":fp16", PREC_FLOAT, -1, -1, 0},
	    {"os.system(\"trtexec --layerPrecisions=" STEM ":fp16," SUB ":fp32\")\n", PREC_FLOAT, PREC_FLOAT, -1, 0},
	    {"--layerPrecisions=", -1, -1, -1, 0},
	    {"--layerPrecisions=/model.12/S*:fp16,*nothing*:fp16", -1, PREC_FLOAT, PREC_FLOAT, 1},
	    {"--layerPrecisions=" STEM ":fp16 --layerPrecisions=" SUB ":fp16", PREC_FLOAT, PREC_FLOAT, -1, 0},
	    {"--layerPrecisions=" STEM ":fp8," SUB ",nowhere:fp16,,", -1, -1, -1, 3},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = bare();
		struct import_report r = take(st, support_temp_file("options.sh", row[i].text, strlen(row[i].text)));
		assert_string_equal(r.format, "trtexec's options");
		assert_int_equal(precision(st, STEM), row[i].stem);
		assert_int_equal(precision(st, SUB), row[i].sub);
		assert_int_equal(precision(st, "/model.12/Sigmoid"), row[i].sigmoid);
		if (r.n_notes != row[i].notes)
			fail_msg("%s: %s", row[i].text, str_text(&r.notes));
		import_report_done(&r);
		study_close(&st);
	}
}
