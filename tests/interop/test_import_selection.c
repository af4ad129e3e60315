// How other tools say which nodes they mean: types, patterns, subgraphs, OpenVINO's and Quark's words.
#include "import_case.h"

void test_import_selection__nncf_types_and_patterns(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"names\": [], \"types\": [\"Softmax\", \"Nothing\"], \"patterns\": [\"/model.12/Su\"]}"));
	assert_int_equal(precision(st, SUB), PREC_FLOAT); // from the first character on, not to the last
	assert_non_null(strstr(str_text(&r.notes), "Nothing: the model has no operator"));
	import_report_done(&r);
	study_close(&st);
}

// One line says what holds for many.
void test_import_selection__many_types_that_are_not_there(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"types\": [\"A\", \"B\", \"Concat\", \"C\", \"D\", \"E\"], \"patterns\": [\"nowhere\"]}"));
	assert_string_equal(str_text(&r.notes), "nowhere: no node has such a name\nA, B, C and 2 more: the model has no operator of this type\n");
	import_report_done(&r);
	study_close(&st);
}

// With the hint of the first of them.
void test_import_selection__many_names_that_are_not_there(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"names\": [\"/model.12/Sbu\", \"none\", \"/model.12/Concta\", \"x\", \"y\"]}"));
	assert_string_equal(str_text(&r.notes),
	    "/model.12/Sbu, none, /model.12/Concta and 2 more: the model has no such node; the nearest to /model.12/Sbu is /model.12/Sub\n");
	import_report_done(&r);
	struct str many = {0};
	str_add(&many, "{\"names\": [\"none\"");
	for (int i = 1; i < 1500; i++)
		str_addf(&many, ", \"none%d\"", i);
	str_add(&many, "]}");
	r = take(st, file(str_text(&many)));
	assert_has(&r.notes, "none, none1, none2 and 1497 more: the model has no such node");
	import_report_done(&r);
	str_done(&many);
	r = take(st, file("{\"names\": [\"Concat_4\"]}"));
	assert_string_equal(str_text(&r.notes), "Concat_4: the model has no such node; *Concat_4* matches /model.12/Concat_4\n");
	import_report_done(&r);
	study_close(&st);
}

// A model that OpenVINO converted has names and types of its own.
void test_import_selection__nncf_in_openvinos_words(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"ignored_scope\": {\"names\": [\"" STEM "/WithoutBiases\", \"/none/WithoutBiases\"], "
	    "\"types\": [\"Subtract\"]}}"));
	assert_int_equal(precision(st, STEM), PREC_FLOAT);
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(r.n_notes, 1);
	assert_non_null(strstr(str_text(&r.notes), "/none"));
	import_report_done(&r);
	study_close(&st);
}

// OpenVINO has a type of its own for convolutions with groups.
void test_import_selection__convolutions_in_openvinos_words(void **state)
{
	const char *model = support_data("models/mobilenetv2_12.onnx");
	if (!model)
		skip();
	for (int grouped = 0; grouped < 2; grouped++) {
		struct study *st = case_open(model, NULL, "onnxruntime");
		struct import_report r = take(st, file(grouped ? "{\"types\": [\"GroupConvolution\", \"ConvolutionBackpropData\"], \"type\": []}"
		                                               : "{\"types\": [\"Convolution\", \"ConvolutionBackpropData\"], \"type\": []}"));
		const struct graph *g = study_graph(st);
		int n = 0;
		for (int i = 0; i < g->n_nodes; i++)
			n += study_edits(st)->precision[i] == PREC_FLOAT;
		assert_int_equal(n, grouped ? 17 : 35);
		assert_has(&r.notes, "ConvolutionBackpropData: the model has no operator of this type");
		assert_has(&r.notes, "ignored_scope: type is not read");
		import_report_done(&r);
		study_close(&st);
	}
}

// An expression that regcomp would copy until memory ends, or recurse into until the stack does.
void test_import_selection__a_pattern_that_would_take_all_memory_is_told(void **state)
{
	enum { BRACKETS = 200000 };
	struct str deep = {0};
	str_add(&deep, "{\"nodes_to_exclude\": [\"^((((a{1,255}){1,255}){1,255}){1,255})\", \"^(a*)\\\\1\", \"^/model.12/Su{1}b$\", \"^");
	for (int i = 0; i < BRACKETS; i++)
		str_add(&deep, "(");
	str_add(&deep, "\"]}");
	struct study *st = bare();
	struct import_report r = take(st, file(str_text(&deep)));
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(r.n_notes, 3);
	assert_has(&r.notes, "((((a{1,255}){1,255}){1,255}){1,255}), ^(a*)\\1 and 1 more: not a regular expression that is understood here");
	import_report_done(&r);
	str_done(&deep);
	study_close(&st);
}

// What would change the numbers and is not read is named; so are types in float, and tensors at half a float's bits.
void test_import_selection__quark_s_other_members(void **state)
{
	struct study *st = bare();
	struct import_report r = take(
	    st, file("{\"global_config\": {}, \"layer_type_config\": [[null, [\"Sub\"]], [{\"weight\": {}}, [\"Conv\"]]], "
	             "\"exclude\": [[[\"a\"], [\"b\"]], 7], \"subgraphs_to_exclude\": [[[\"" SUB "\"], [\"" STEM
	             "\"]]], \"specific_layer_config\": [[{}, [\"" STEM "\"]]], "
	             "\"nodes_to_quantize\": [], \"extra_options\": {\"MixedPrecisionTensor\": {\"ExtendedQuantType.QBFloat16\": [\"" CLASS_CONV
	             "_output_0\"], \"QInt4\": [\"" STEM_OUT "\"], \"Q7\": [\"" STEM_OUT "\"]}}}"));
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
	assert_int_equal(precision(st, STEM), -1);
	static const char *const note[] = {"layer_type_config, specific_layer_config: a configuration of weights alone",
	    "a: the model has no such node", "exclude: neither a name", "no way leads to its end", STEM_OUT ": 4 bits",
	    STEM_OUT ": the type Q7"};
	for (size_t i = 0; i < sizeof note / sizeof *note; i++)
		if (!strstr(str_text(&r.notes), note[i]))
			fail_msg("%s is not in: %s", note[i], str_text(&r.notes));
	assert_int_equal(r.n_notes, 7); // the first of these says two
	import_report_done(&r);
	study_close(&st);
}

// As Olive's passes and Quark's objects have it: a type of all, of types of operators, of nodes, the last over the others.
void test_import_selection__quark_s_layers(void **state)
{
	struct study *st = case_open(MODEL, NULL, "a8w8");
	struct import_report r = take(st,
	    file(
	        "{\"global_config\": {\"activation\": {\"symmetric\": true, \"calibration_method\": \"CalibMethod.Percentile\", "
	        "\"data_type\": \"Int8\"}, \"weight\": {\"data_type\": \"Int8\"}}, \"layer_type_config\": [[null, [\"Sub\"]], [{\"activation\": "
	        "{\"data_type\": \"UInt16\"}}, [\"Concat\"]]], \"specific_layer_config\": [[{\"input_tensors\": {\"data_type\": \"Int8\", "
	        "\"calibration_method\": \"MinMSE\"}, \"output_tensors\": {\"data_type\": \"Int16\"}}, [\"" STEM
	        "\"]], [{\"input_tensors\": {}}, "
	        "[\"/model.12/Concat_4\", \"^/model.1/conv\"]], [{\"input_tensors\": {\"data_type\": \"Int3\"}}, [\"" CLASS_CONV "\"]]]}"));
	const struct edits *e = study_edits(st);
	assert_true(r.method && e->precision[node(st, STEM)] == PREC_INT16 && e->calibrator[node(st, STEM)] == CALIB_MSE);
	assert_int_equal(r.calibrators, 1);
	assert_int_equal(precision(st, "/model.12/Sub"), PREC_FLOAT);
	assert_int_equal(precision(st, "/model.12/Concat"), PREC_INT16);
	assert_int_equal(precision(st, "/model.12/Concat_4"), -1); // 8 bits, which it has
	assert_int_equal(precision(st, "/model.1/conv/Conv"), -1);
	assert_int_equal(precision(st, CLASS_CONV), -1);
	assert_has(&r.notes, "specific_layer_config: the type Int3 is not known here");
	import_report_done(&r);
	study_close(&st);
}

// The calibrator of what goes in counts before that of what comes out, and one that all have by the same file need not be said of a node.
void test_import_selection__calibrators_of_quark_s_layers(void **state)
{
	static const struct {
		const char *all, *in, *out;
		int calibrator;
	} row[] = {
	    {"Percentile", "MinMax", "MinMSE", CALIB_MINMAX},
	    {"Percentile", "MinMSE", "MinMax", CALIB_MSE},
	    {"MinMax", "MinMax", "MinMSE", -1},
	    {"MinMSE", "MinMSE", "MinMax", -1},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[512];
		snprintf(text, sizeof text,
		    "{\"global_config\": {\"input_tensors\": {\"symmetric\": true, \"calibration_method\": \"%s\"}}, \"specific_layer_config\": [[{"
		    "\"input_tensors\": {\"calibration_method\": \"%s\"}, \"output_tensors\": {\"calibration_method\": \"%s\"}}, [\"" STEM "\"]]]}",
		    row[i].all, row[i].in, row[i].out);
		struct study *st = case_open(MODEL, NULL, "a8w8");
		struct error err = {0};
		assert_int_equal(study_set_method(st, CALIB_KL, &err), STATUS_OK);
		struct import_report r = take(st, file(text));
		if (study_edits(st)->calibrator[node(st, STEM)] != row[i].calibrator)
			fail_msg("%s: %d", text, study_edits(st)->calibrator[node(st, STEM)]);
		assert_int_equal(r.calibrators, row[i].calibrator >= 0);
		import_report_done(&r);
		study_close(&st);
	}
}

// Types that are no integers leave a layer in float, beside whatever else it has.
void test_import_selection__quark_s_layers_of_floats(void **state)
{
	static const char *const layer[] = {
	    "{\"input_tensors\": {\"data_type\": \"BFloat16\"}}",
	    "{\"input_tensors\": {\"data_type\": \"BFloat16\"}, \"output_tensors\": {\"data_type\": \"Int16\"}}",
	    "{\"input_tensors\": {\"data_type\": \"Int16\"}, \"output_tensors\": {\"data_type\": \"Float16\"}}",
	};
	for (size_t i = 0; i < sizeof layer / sizeof *layer; i++) {
		char text[512];
		snprintf(text, sizeof text, "{\"global_config\": {}, \"specific_layer_config\": [[%s, [\"" STEM "\"]]]}", layer[i]);
		struct study *st = take_noted("a8w8", text, "");
		assert_int_equal(precision(st, STEM), PREC_FLOAT);
		study_close(&st);
	}
}

// What AMD's documents advise for the head of a YOLO: the region between nodes, in float. NNCF says the same otherwise.
void test_import_selection__subgraphs_between_nodes(void **state)
{
	static const char *const text[] = {
	    "{\"subgraphs_to_exclude\": [[[\"" SUB "\"], [\"/model.12/Concat_4\"]]]}",
	    "{\"exclude\": [[[\"" SUB "\"], [\"/model.12/Concat_4\"]]]}",
	    "{\"subgraphs\": [{\"inputs\": [\"" SUB "\"], \"outputs\": [\"/model.12/Concat_4\"]}]}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(r.n_notes, 0);
		assert_int_equal(precision(st, SUB), PREC_FLOAT);
		assert_int_equal(precision(st, "/model.12/Sub_1"), PREC_FLOAT);
		assert_int_equal(precision(st, "/model.12/Concat_4"), PREC_FLOAT);
		assert_int_equal(precision(st, "/model.12/Sigmoid"), -1); // leads to the end, but not from the start
		assert_int_equal(precision(st, STEM), -1);
		import_report_done(&r);
		study_close(&st);
	}
}

void test_import_selection__expressions_of_python(void **state)
{
	static const struct {
		const char *pattern;
		bool matches;
	} t[] = {{"/model\\\\.\\\\d+/Sub$", true}, {"(?:/model)[.]12/Sub", true}, {"/model\\\\.\\\\D", false}, {"/model..\\\\w/S", true},
	    {"Sub", false}, {"(?=x)", false},
	    {"/model[\\\\.][\\\\d]+/[^\\\\d/]ub$", true}, {"[/\\\\w.]+/Sub$", true}, {"[]/]model[^]/]12/Sub$", true},
	    {"/model\\\\[12", false}, {"/model[\\\\b.]12", false}, {"/model[.\\\\", false}, {"/model[", false}, {"[\\\\d]", false}};
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct study *st = bare();
		char text[128];
		snprintf(text, sizeof text, "{\"patterns\": [\"%s\"]}", t[i].pattern);
		struct import_report r = take(st, file(text));
		if ((precision(st, SUB) == PREC_FLOAT) != t[i].matches)
			fail_msg("%s: %s", t[i].pattern, str_text(&r.notes));
		assert_true(t[i].matches || r.n_notes == 1);
		import_report_done(&r);
		study_close(&st);
	}
}

// quantize_static and Quark go by nodes: a Relu that runs with its Conv here is left in float without it, and only what a list of types or
// of nodes names is quantized.
void test_import_selection__one_by_one(void **state)
{
	static const struct {
		const char *text;
		int conv, relu, other, notes; // precisions of Conv_0, of the Relu behind it, of the next Conv
	} cases[] = {
		{"{\"nodes_to_exclude\": [\"Relu_2\"]}", -1, PREC_FLOAT, -1, 0},
		{"{\"nodes_to_exclude\": [\"Conv_0\", \"Relu_2\"]}", PREC_FLOAT, PREC_FLOAT, -1, 0},
		{"{\"nodes_to_exclude\": [], \"op_types_to_exclude\": [\"Relu\", \"None\"]}", -1, PREC_FLOAT, -1, 1},
		{"{\"op_types_to_quantize\": [\"Conv\", \"None\"]}", -1, PREC_FLOAT, -1, 0},
		{"{\"op_types_to_quantize\": [\"Conv\", \"Relu\"], \"nodes_to_exclude\": [\"Conv_0\"]}", PREC_FLOAT, -1, -1, 0},
		{"{\"nodes_to_quantize\": [\"Conv_0\", \"none\"]}", -1, PREC_FLOAT, PREC_FLOAT, 1},
		{"{\"nodes_to_quantize\": [], \"op_types_to_quantize\": null}", -1, -1, -1, 0},
	};
	const char *model = support_data("models/resnet20_cifar10.onnx");
	if (!model)
		skip();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct study *st = case_open(model, NULL, "onnxruntime");
		struct import_report r = take(st, file(cases[i].text));
		assert_int_equal(precision(st, "Conv_0"), cases[i].conv);
		assert_int_equal(precision(st, "Relu_2"), cases[i].relu);
		assert_int_equal(precision(st, "Conv_3"), cases[i].other);
		assert_int_equal(r.n_notes, cases[i].notes);
		import_report_done(&r);
		study_close(&st);
	}
}

// Of Olive's passes those that quantize are read: their members beside the type or in a configuration, types of any case, the first of
// a pass's variants.
void test_import_selection__passes_of_olive(void **state)
{
	static const struct {
		const char *pass, *note;
		int precision;
	} row[] = {
	    {"{\"type\": \"OnnxStaticQuantization\", \"data_config\": \"d\", \"nodes_to_exclude\": [\"" CLASS_CONV "\"]}", "", PREC_FLOAT},
	    {"{\"type\": \"OnnxQuantization\", \"host\": \"local\", \"config\": {\"quant_mode\": \"static\", \"nodes_to_exclude\": [\"" CLASS_CONV
	     "\"]}}", "", PREC_FLOAT},
	    {"{\"type\": \"vitisaiquantization\", \"nodes_to_exclude\": [\"" CLASS_CONV "\"], \"activation_type\": \"uint8\"}", "", PREC_FLOAT},
	    {"[{\"type\": \"QuarkQuantization\", \"exclude\": [\"^" CLASS_CONV "\"]}, {\"type\": \"QuarkQuantization\", \"exclude\": [\"" STEM
	     "\"]}]", "", PREC_FLOAT},
	    {"{\"type\": \"OnnxDynamicQuantization\", \"nodes_to_exclude\": [\"" CLASS_CONV "\"]}", "passes: q finds scales as the network runs", -1},
	    {"{\"type\": \"OnnxFloatToFloat16\"}", "passes: none of them quantizes", -1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[512];
		snprintf(text, sizeof text, "{\"input_model\": {}, \"passes\": {\"c\": {\"type\": \"OnnxConversion\"}, \"q\": %s}}", row[i].pass);
		struct study *st = take_noted("onnxruntime", text, row[i].note);
		if (precision(st, CLASS_CONV) != row[i].precision)
			fail_msg("%s: %d", text, precision(st, CLASS_CONV));
		assert_int_equal(precision(st, STEM), -1);
		study_close(&st);
	}
}
