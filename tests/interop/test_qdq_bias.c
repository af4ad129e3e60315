// Biases with scales of their own in the QDQ model: a DequantizeLinear of int32 has no zero point.
#include "study_case.h"
#include "engine/onnx_case.h"
#include "qtui/base/file.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/op.h"

static const float bias[2] = {-1, 2};

static const char *model(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 1, 4, 4));
	case_floats(c, "w", DIMS(2, 1, 1, 1), (float[]){1, -.3f});
	case_floats(c, "v", DIMS(2, 2, 1, 1), (float[]){1, -.3f, .5f, 1});
	case_floats(c, "b", DIMS(2), bias);
	case_node(c, "Conv", "first", "x w", "h");
	case_node(c, "Conv", "conv", "h v b", "y");
	case_output(c, c->graph, "y");
	return case_save(c, "bias.onnx");
}

// The file as it is read back; *loss gets the loss report.
static struct graph *written(const char *target, struct str *loss)
{
	const char *path = support_temp("bias_qdq.onnx");
	struct onnx_case c;
	struct error err = {0};
	struct graph *g = NULL;
	struct study *st = case_open(model(&c), NULL, target);
	struct str text = case_export(st, "qdq", loss);
	if (file_write(path, str_text(&text), text.len, &err) != STATUS_OK ||
	    onnx_load(&g, path, &(struct onnx_options){0}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	str_done(&text);
	study_close(&st);
	case_done(&c);
	return g;
}

static void check_bias(const struct graph *g)
{
	const struct node *conv = NULL;
	for (int i = 0; i < g->n_nodes; i++)
		conv = g->node[i].op->id == OP_Conv ? &g->node[i] : conv;
	assert_non_null(conv);
	const struct tensor *made = g->value[conv->in[2]].constant, *codes = NULL;
	float scale = 1;
	if (!made) { // by a DequantizeLinear of two inputs
		const struct node *n = &g->node[g->value[conv->in[2]].producer];
		assert_int_equal(n->op->id, OP_DequantizeLinear);
		assert_int_equal(n->n_in, 2);
		codes = g->value[n->in[0]].constant;
		assert_int_equal(codes->type, DT_I32);
		scale = *(const float *)g->value[n->in[1]].constant->data;
	}
	for (int i = 0; i < 2; i++)
		assert_float_equal(made ? ((const float *)made->data)[i] : (float)((const int32_t *)codes->data)[i] * scale, bias[i], 1e-4);
}

void test_qdq_bias__scales_and_zero_points_of_their_own(void **state)
{
	static const struct {
		const char *target;
		int wide; // biases, whose codes are beyond 32 bits without their zero point
	} cases[] = {
	    {"qnn,bias.own_scale=true", 0},
	    {"qnn,bias.own_scale=true,precisions.int8.bias=32", 1},
	    {"qnn", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str loss = {0};
		struct graph *g = written(cases[i].target, &loss);
		check_bias(g);
		assert_true(!strstr(str_text(&loss), "1 bias of more than 32 bits") == !cases[i].wide);
		str_done(&loss);
		graph_free(&g);
	}
}
