#include "on_codes.h"

#include <stdlib.h>
#include "proto.h"
#include "proto_constants.h"
#include "proto_nodes.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define MS "com.microsoft"

enum { NONE = -1, ALL_BEHIND = -1 };

// A tensor of codes is three inputs: codes, scale, zero point.
static const struct form {
	const char *op, *domain, *to;
	int first, tensors; // which input begins them, and how many there are, or ALL_BEHIND
	int scale;          // of the result, with the zero point behind it
	int bias;           // int32 on the product of the scales of both tensors; NONE
	int axis;           // of the second tensor's scales
} forms[] = {
    {"QLinearConv", "", "Conv", 0, 2, 6, 8, 0},
    {"QLinearMatMul", "", "MatMul", 0, 2, 6, NONE, 1},
    {"QGemm", MS, "Gemm", 0, 2, 7, 6, 1},
    {"QLinearAdd", MS, "Add", 0, 2, 6, NONE, 0},
    {"QLinearMul", MS, "Mul", 0, 2, 6, NONE, 0},
    {"QLinearAveragePool", MS, "AveragePool", 0, 1, 3, NONE, 0},
    {"QLinearGlobalAveragePool", MS, "GlobalAveragePool", 0, 1, 3, NONE, 0},
    {"QLinearLeakyRelu", MS, "LeakyRelu", 0, 1, 3, NONE, 0},
    {"QLinearSigmoid", MS, "Sigmoid", 0, 1, 3, NONE, 0},
    {"QLinearSoftmax", MS, "Softmax", 0, 1, 3, NONE, 0},
    {"QLinearWhere", MS, "Where", 1, 2, 7, NONE, 0},
    {"QLinearConcat", MS, "Concat", 2, ALL_BEHIND, 0, NONE, 0},
};
// That the operators on floats have not; the first is 0, as others have given way to Transposes by now.
static const char *const dropped[] = {"channels_last", "opset"};

static const struct form *form_of(const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *f = &forms[i];
		size_t least = (size_t)(f->tensors == ALL_BEHIND ? f->first + 3 : f->scale + (f->bias == NONE || f->scale < f->bias));
		if (strcmp(domain_of(p->domain), f->domain) == 0 && strcmp(text_of(p->op_type), f->op) == 0 && p->n_input >= least && p->n_output == 1)
			return f;
	}
	return NULL;
}

static char *without(const char *name, const char *suffix)
{
	size_t len = strlen(name), cut = str_has_suffix(name, suffix) ? strlen(suffix) : 0;
	char *s = xstrdup(name);
	if (cut < len)
		s[len - cut] = '\0';
	return s;
}

static const char *input_of(const Onnx__NodeProto *p, int i)
{
	return i < (int)p->n_input ? text_of(p->input[i]) : "";
}

// `scale` and `zero` are names; a zero point that is left out is "".
static Onnx__NodeProto *half(const char *op, const char *from, const char *scale, const char *zero, const char *to)
{
	char *name = str_format("%s/%s", to, op);
	Onnx__NodeProto *n = proto_node(op, name, *zero ? 3 : 2, 1);
	free(name);
	n->input[0] = xstrdup(from);
	n->input[1] = xstrdup(scale);
	if (*zero)
		n->input[2] = xstrdup(zero);
	n->output[0] = xstrdup(to);
	return n;
}

// The tensor that begins at an input, as floats; the name is the caller's.
static char *as_floats(struct proto_list *to, const Onnx__NodeProto *p, int at, int axis)
{
	char *name = str_format("%s/%d/floats", p->output[0], at);
	Onnx__NodeProto *n = half("DequantizeLinear", input_of(p, at), input_of(p, at + 1), input_of(p, at + 2), name);
	proto_add_int(n, "axis", axis);
	proto_push(to, n);
	return name;
}

static char *bias_as_floats(struct proto_list *to, const Onnx__NodeProto *p, const struct form *f)
{
	char *scale = str_format("%s/bias_scale", p->output[0]), *name = str_format("%s/%d/floats", p->output[0], f->bias);
	Onnx__NodeProto *product = proto_node("Mul", scale, 2, 1), *n = half("DequantizeLinear", input_of(p, f->bias), scale, "", name);
	product->input[0] = xstrdup(input_of(p, f->first + 1));
	product->input[1] = xstrdup(input_of(p, f->first + 4));
	product->output[0] = scale;
	proto_add_int(n, "axis", 0);
	proto_push(to, product);
	proto_push(to, n);
	return name;
}

static bool is_dropped(const char *attribute)
{
	for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
		if (strcmp(text_of(attribute), dropped[i]) == 0)
			return true;
	return false;
}

static void move_attributes(Onnx__NodeProto *to, Onnx__NodeProto *from)
{
	to->attribute = xcalloc(from->n_attribute + 1, sizeof *to->attribute);
	for (size_t i = 0; i < from->n_attribute; i++)
		if (is_dropped(from->attribute[i]->name))
			onnx__attribute_proto__free_unpacked(from->attribute[i], NULL);
		else
			to->attribute[to->n_attribute++] = from->attribute[i];
	from->n_attribute = 0;
}

static int scales_axis(const struct form *f, const Onnx__NodeProto *p, int tensor)
{
	bool turned = strcmp(f->to, "Gemm") == 0 && proto_int(p, "transB", 0);
	return tensor == 1 && !turned ? f->axis : 0;
}

// Where the product has a factor, it is in the scale of the bias: such a one is left out.
static bool has_bias(const Onnx__NodeProto *p, const struct form *f)
{
	const Onnx__AttributeProto *alpha = proto_attribute(p, "alpha");
	return f->bias != NONE && *input_of(p, f->bias) && !(alpha && alpha->f != 1);
}

// The node on floats; its inputs before, its QuantizeLinear behind it.
static void split(struct proto_list *to, Onnx__NodeProto *p, const struct form *f)
{
	int tensors = f->tensors == ALL_BEHIND ? ((int)p->n_input - f->first) / 3 : f->tensors, others = strcmp(f->to, "Where") == 0, n = 0;
	bool bias = has_bias(p, f);
	char *base = without(p->output[0], "_quantized"), *name = without(proto_node_name(p), "_quant");
	char *floats = str_format("%s_QuantizeLinear_Input", base);
	bool quantized = *input_of(p, f->scale); // QGemm may end in floats
	Onnx__NodeProto *node = proto_node(f->to, name, (size_t)(others + tensors + bias), 1);
	for (; n < others; n++)
		node->input[n] = xstrdup(input_of(p, n));
	for (int i = 0; i < tensors; i++)
		node->input[n++] = as_floats(to, p, f->first + 3 * i, scales_axis(f, p, i));
	if (bias)
		node->input[n] = bias_as_floats(to, p, f);
	node->output[0] = xstrdup(quantized ? floats : p->output[0]);
	move_attributes(node, p);
	proto_push(to, node);
	if (quantized)
		proto_push(to, half("QuantizeLinear", floats, input_of(p, f->scale), input_of(p, f->scale + 1), p->output[0]));
	free(base);
	free(name);
	free(floats);
	onnx__node_proto__free_unpacked(p, NULL);
}

void on_codes_resolve(Onnx__ModelProto *m)
{
	struct proto_list nodes = {0};
	for (size_t i = 0; i < m->graph->n_node; i++) {
		const struct form *f = form_of(m->graph->node[i]);
		if (f)
			split(&nodes, m->graph->node[i], f);
		else
			proto_push(&nodes, m->graph->node[i]);
	}
	proto_replace(m->graph, &nodes);
}
