// What qtui dequantize takes for a quantizer.
#include <stdio.h>
#include "../../src/cli/verbs.h"
#include "engine/onnx_case.h"
#include "qtui/engine/onnx.h"
#include "support.h"

// x -> QuantizeLinear -> DequantizeLinear -> Relu -> y, the pair by the names of a domain.
static const char *model_with_pair(const char *domain, const char *prefix)
{
	struct onnx_case c;
	const float scale = 0.5f;
	const uint8_t zero = 3;
	char name[64];
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_floats(&c, "scale", 0, NULL, &scale);
	case_const(&c, "zero", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, 0, NULL, &zero, 1);
	snprintf(name, sizeof name, "%sQuantizeLinear", prefix);
	case_node(&c, name, "quantize", "x scale zero", "q")->domain = case_text(&c, domain);
	snprintf(name, sizeof name, "%sDequantizeLinear", prefix);
	case_node(&c, name, "dequantize", "q scale zero", "d")->domain = case_text(&c, domain);
	case_node(&c, "Relu", "relu", "d", "y");
	case_output(&c, c.graph, "y");
	if (domain[0])
		case_domain(&c, domain);
	return case_finish(&c, "pair.onnx");
}

void test_dequantize__takes_out_pairs_by_all_their_names(void **state)
{
	static const char *const of[][2] = {{"", ""}, {"com.amd.quark", "Extended"}, {"com.vai.quantize", "Vitis"}};
	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct error err;
		struct graph *g;
		const char *out = support_temp("floats.onnx");
		struct options o = {.output = out, .quiet = true};
		list_add(&o.positional, model_with_pair(of[i][0], of[i][1]));
		assert_int_equal(verb_dequantize(&o), EXIT_DONE);
		options_done(&o);
		if (onnx_load(&g, out, &(struct onnx_options){0}, &err))
			fail_msg("%s", err.text);
		assert_int_equal(g->n_nodes, 1); // the Relu
		graph_free(&g);
	}
}
