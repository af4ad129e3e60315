#include "on_codes.h"

#include <stdlib.h>
#include "../proto/proto.h"
#include "../proto/proto_constants.h"
#include "../proto/proto_nodes.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/op.h"

#define MS "com.microsoft"

enum { NONE = -1, ALL_BEHIND = -1 };
enum { FILLER = 2 }; // input of a Pad

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
struct grid {
	char *scale, *zero; // names; "": none
};
struct walk {
	const Onnx__ModelProto *model;
	struct proto_list to;
	struct namemap *made;  // names of all that the file has
	struct namemap *codes; // of tensors of codes -> grid
	struct grid *grid;
	size_t n_grids, cap_grids;
};
// That the operators on floats have not; the first is 0, as others have given way to Transposes by now.
static const char *const dropped[] = {"channels_last", "opset"};

static const struct form *form_of(const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *f = &forms[i];
		size_t least = (size_t)(f->tensors == ALL_BEHIND ? f->first + 3 : f->scale + (f->bias == NONE || f->scale < f->bias));
		if (strcmp(domain_of(p->domain), f->domain) == 0 && strcmp(text_of(p->op_type), f->op) == 0 && p->n_input >= least &&
		    p->n_output == 1)
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

static void push_half(struct walk *w, const char *op, const char *from, const struct grid *g, int axis, const char *to)
{
	Onnx__NodeProto *n = half(op, from, g->scale, g->zero, to);
	proto_add_int(n, "axis", axis);
	proto_push(&w->to, n);
}

// The tensor that begins at an input, as floats; the name is the caller's.
static char *as_floats(struct walk *w, const Onnx__NodeProto *p, int at, int axis)
{
	char *name = str_format("%s/%d/floats", p->output[0], at);
	push_half(w, "DequantizeLinear", input_of(p, at), &(struct grid){p->input[at + 1], (char *)input_of(p, at + 2)}, axis, name);
	return name;
}

static char *bias_as_floats(struct walk *w, const Onnx__NodeProto *p, const struct form *f)
{
	char *scale = str_format("%s/bias_scale", p->output[0]), *name = str_format("%s/%d/floats", p->output[0], f->bias);
	Onnx__NodeProto *product = proto_node("Mul", scale, 2, 1);
	product->input[0] = xstrdup(input_of(p, f->first + 1));
	product->input[1] = xstrdup(input_of(p, f->first + 4));
	product->output[0] = scale;
	proto_push(&w->to, product);
	push_half(w, "DequantizeLinear", input_of(p, f->bias), &(struct grid){scale, (char *)""}, 0, name);
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

// T_quantized (of an optimizer that joined pairs: T_QuantizeLinear_Output) is made of T, or, where the file has a T behind it, of
// what other tools call T_QuantizeLinear_Input.
static char *name_of_floats(const struct namemap *made, const char *codes)
{
	const char *suffix = str_has_suffix(codes, "_quantized") ? "_quantized" : "_QuantizeLinear_Output";
	char *base = without(codes, suffix), *name = str_format("%s_QuantizeLinear_Input", base);
	bool is_free = strcmp(base, codes) != 0 && namemap_get(made, base) < 0;
	free(is_free ? name : base);
	return is_free ? base : name;
}

static void keep_grid(struct walk *w, const char *codes, const char *scale, const char *zero)
{
	w->grid = xgrow(w->grid, &w->cap_grids, w->n_grids + 1, sizeof *w->grid);
	w->grid[w->n_grids] = (struct grid){xstrdup(scale), xstrdup(zero)};
	namemap_put(w->codes, codes, (int)w->n_grids++);
}

static void push_quantize(struct walk *w, const char *floats, const char *scale, const char *zero, const char *codes)
{
	keep_grid(w, codes, scale, zero);
	proto_push(&w->to, half("QuantizeLinear", floats, scale, zero, codes));
}

// The node on floats; its inputs before, its QuantizeLinear behind it.
static void split(struct walk *w, Onnx__NodeProto *p, const struct form *f)
{
	int tensors = f->tensors == ALL_BEHIND ? ((int)p->n_input - f->first) / 3 : f->tensors, others = strcmp(f->to, "Where") == 0, n = 0;
	bool bias = has_bias(p, f);
	char *name = without(proto_node_name(p), "_quant"), *floats = name_of_floats(w->made, p->output[0]);
	bool quantized = *input_of(p, f->scale); // QGemm may end in floats
	Onnx__NodeProto *node = proto_node(f->to, name, (size_t)(others + tensors + bias), 1);
	for (; n < others; n++)
		node->input[n] = xstrdup(input_of(p, n));
	for (int i = 0; i < tensors; i++)
		node->input[n++] = as_floats(w, p, f->first + 3 * i, scales_axis(f, p, i));
	if (bias)
		node->input[n] = bias_as_floats(w, p, f);
	node->output[0] = xstrdup(quantized ? floats : p->output[0]);
	move_attributes(node, p);
	proto_push(&w->to, node);
	if (quantized)
		push_quantize(w, floats, input_of(p, f->scale), input_of(p, f->scale + 1), p->output[0]);
	free(name);
	free(floats);
	onnx__node_proto__free_unpacked(p, NULL);
}

// ---- what moves codes

static int grid_at(const struct walk *w, const Onnx__NodeProto *p, size_t input)
{
	return namemap_get(w->codes, text_of(p->input[input]));
}

// A Pad fills with the code that its input 2 has; without one it is code 0, whatever number that stands for.
static bool fills_with_input(const Onnx__NodeProto *p)
{
	return p->n_input > FILLER && *text_of(p->input[FILLER]);
}

// What moves codes, or (a Resize) mixes those of one grid.
static bool keeps_grid(const struct op *op, const Onnx__NodeProto *p)
{
	return op->id == OP_Resize || (op->id == OP_Pad && fills_with_input(p)) || ((op->flags & OPF_MOVES) && !(op->flags & OPF_FILLS));
}

// Of one tensor of codes or, of a Concat, of nothing else.
static bool moves_codes(const struct walk *w, const Onnx__NodeProto *p)
{
	const struct op *op = op_find(domain_of(p->domain), text_of(p->op_type), opset_of(w->model, domain_of(p->domain)));
	bool joins = op && op->id == OP_Concat;
	if (!op || !keeps_grid(op, p) || !p->n_input || !p->n_output || (p->n_output > 1 && op->id != OP_Split))
		return false;
	for (size_t i = 0; i < (joins ? p->n_input : 1); i++)
		if (grid_at(w, p, i) < 0)
			return false;
	return true;
}

static void move(struct walk *w, Onnx__NodeProto *p)
{
	const struct grid first = w->grid[grid_at(w, p, 0)];
	struct proto_list behind = {0};
	for (size_t i = 0; i < p->n_input; i++) {
		int grid = grid_at(w, p, i);
		bool filler = i == FILLER && strcmp(p->op_type, "Pad") == 0 && fills_with_input(p);
		if (grid < 0 && !filler)
			continue;
		char *name = str_format("%s/%zu/floats", text_of(p->output[0]), i);
		push_half(w, "DequantizeLinear", p->input[i], filler ? &first : &w->grid[grid], 0, name);
		free(p->input[i]);
		p->input[i] = name;
	}
	for (size_t i = 0; i < p->n_output; i++) {
		char *codes = p->output[i];
		if (!*text_of(codes))
			continue;
		p->output[i] = name_of_floats(w->made, codes);
		keep_grid(w, codes, first.scale, first.zero);
		proto_push(&behind, half("QuantizeLinear", p->output[i], first.scale, first.zero, codes));
		free(codes);
	}
	proto_push(&w->to, p);
	for (size_t i = 0; i < behind.n; i++)
		proto_push(&w->to, behind.at[i]);
	free(behind.at);
}

// ----

static struct namemap *names_made(const Onnx__GraphProto *g)
{
	struct namemap *made = namemap_new();
	for (size_t i = 0; i < g->n_input; i++)
		namemap_put(made, text_of(g->input[i]->name), 0);
	for (size_t i = 0; i < g->n_initializer; i++)
		namemap_put(made, text_of(g->initializer[i]->name), 0);
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t k = 0; k < g->node[i]->n_output; k++)
			namemap_put(made, text_of(g->node[i]->output[k]), 0);
	return made;
}

static void take(struct walk *w, Onnx__NodeProto *p)
{
	const struct form *f = form_of(p);
	if (f) {
		split(w, p, f);
		return;
	}
	if (strcmp(text_of(p->op_type), "QuantizeLinear") == 0 && p->n_input > 1 && p->n_output > 0)
		keep_grid(w, text_of(p->output[0]), input_of(p, 1), input_of(p, 2));
	if (moves_codes(w, p))
		move(w, p);
	else
		proto_push(&w->to, p);
}

void on_codes_resolve(Onnx__ModelProto *m)
{
	struct walk w = {.model = m, .made = names_made(m->graph), .codes = namemap_new()};
	for (size_t i = 0; i < m->graph->n_node; i++)
		take(&w, m->graph->node[i]);
	proto_replace(m->graph, &w.to);
	for (size_t i = 0; i < w.n_grids; i++) {
		free(w.grid[i].scale);
		free(w.grid[i].zero);
	}
	free(w.grid);
	namemap_free(&w.codes);
	namemap_free(&w.made);
}
