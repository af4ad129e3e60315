// Quantizers as QuantizeLinear and DequantizeLinear. A quantizer on an activation is a pair; a constant is written as
// its codes with a DequantizeLinear, a bias as int32 or its own type; casts (float16, bfloat16) are a pair of Casts.
// Names are those that ONNX Runtime's own quantizer gives, which its tools look for.
#include <string.h>
#include "qtui/engine/op.h"
#include "write.h"

#define MICROSOFT "com.microsoft"

static int64_t type_min(enum dtype t)
{
	return t == DT_I8 ? INT8_MIN : t == DT_I16 ? INT16_MIN : 0;
}

static int64_t type_max(enum dtype t)
{
	return t == DT_I8 ? INT8_MAX : t == DT_U8 ? UINT8_MAX : t == DT_I16 ? INT16_MAX : UINT16_MAX;
}

// ai.onnx has the pair from opset 10 on, an axis from 13, 16 bit from 21;
// ONNX Runtime's own domain has all of it in any model.
static const char *pair_domain(const struct writer *w, const struct quantizer *q)
{
	int least = q->bits > 8 && q->bits <= 16 ? 21 : q->n > 1 ? 13 : 10;
	return w->opset >= least ? "" : MICROSOFT;
}

// ---- scales and zero points

static struct shape shape_of_scales(int n)
{
	return n == 1 ? (struct shape){.rank = 0} : shape_of(1, (int64_t[]){n});
}

static enum status add_floats(struct writer *w, const char *name, const float *values, int n, struct error *err)
{
	struct shape shape = shape_of_scales(n);
	struct tensor *t;
	enum status s = write_own(&t, w, DT_F32, &shape, err);
	if (s)
		return s;
	memcpy(t->data, values, (size_t)n * sizeof *values);
	write_constant(w, name, t);
	return STATUS_OK;
}

// Zero points are integers of the codes' type; biases are written without.
static enum status add_zeros(struct writer *w, const char *name, const struct quantizer *q, struct error *err)
{
	struct shape shape = shape_of_scales(q->n);
	struct tensor *t;
	enum status s = write_own(&t, w, quantizer_dtype(q), &shape, err);
	if (s)
		return s;
	for (int i = 0; i < q->n; i++) {
		int32_t zero = q->zero ? q->zero[i] : 0;
		memcpy((char *)t->data + (size_t)i * dtype_size(t->type), &zero, dtype_size(t->type));
	}
	write_constant(w, name, t);
	return STATUS_OK;
}

struct terms { // what both halves of a pair have in common
	const char *domain, *scale, *zero; // zero NULL: left out
	int axis;
};
enum { DEFAULT_AXIS = 1 };

// `axis`: of the scales, where there are several.
static enum status add_terms(
    struct terms *t, struct writer *w, const char *base, const struct quantizer *q, int axis, struct error *err)
{
	*t = (struct terms){.domain = pair_domain(w, q), .scale = write_name(w, base, "_scale"), .axis = q->n > 1 ? axis : DEFAULT_AXIS};
	enum status s = add_floats(w, t->scale, q->scale, q->n, err);
	if (s || q->bits > 16)
		return s;
	t->zero = write_name(w, base, "_zero_point");
	return add_zeros(w, t->zero, q, err);
}

static void add_half(struct writer *w, const char *op, const char *in, const struct terms *t, const char *out)
{
	const char *inputs[] = {in, t->scale, t->zero};
	struct new_node half = {.domain = t->domain, .op = op, .in = inputs, .n_in = t->zero ? 3 : 2, .out = &out, .n_out = 1};
	Onnx__NodeProto *n = write_node(w, &half);
	if (t->axis != DEFAULT_AXIS)
		write_int_attribute(w, n, "axis", t->axis);
}

// ---- activations

// The pair clips to what the type holds; a quantizer with a narrower range clips before it.
static enum status add_clip(
    const char **in, struct writer *w, const char *base, const struct quantizer *q, struct error *err)
{
	enum dtype type = quantizer_dtype(q);
	int32_t zero = q->zero ? q->zero[0] : 0;
	float low = (float)(q->qmin - zero) * q->scale[0], high = (float)(q->qmax - zero) * q->scale[0];
	const char *inputs[3] = {*in, NULL, NULL}, *out;
	enum status s = STATUS_OK;
	if (q->qmin == type_min(type) && q->qmax == type_max(type))
		return STATUS_OK;
	if (w->opset >= 11) {
		inputs[1] = write_name(w, base, "_low");
		inputs[2] = write_name(w, base, "_high");
		s = add_floats(w, inputs[1], &low, 1, err);
		if (!s)
			s = add_floats(w, inputs[2], &high, 1, err);
	}
	if (s)
		return s;
	out = write_name(w, base, "_clipped");
	struct new_node clip = {.domain = "", .op = "Clip", .in = inputs, .n_in = inputs[1] ? 3 : 1, .out = &out, .n_out = 1};
	Onnx__NodeProto *n = write_node(w, &clip);
	if (!inputs[1]) {
		write_float_attribute(w, n, "min", low);
		write_float_attribute(w, n, "max", high);
	}
	*in = out;
	return STATUS_OK;
}

static enum status add_linear(const char *in, const char *out, struct writer *w, const char *base, const struct quantizer *q,
    struct error *err)
{
	struct terms t;
	enum status s = add_clip(&in, w, base, q, err);
	if (!s)
		s = add_terms(&t, w, base, q, q->axis, err);
	if (s)
		return s;
	const char *codes = write_name(w, base, "_QuantizeLinear_Output");
	add_half(w, "QuantizeLinear", in, &t, codes);
	add_half(w, "DequantizeLinear", codes, &t, out);
	return STATUS_OK;
}

// A Cast has its type as a number from opset 6 on, and bfloat16 among the types from 13.
static enum status add_casts(const char *in, const char *out, struct writer *w, const char *base, const struct quantizer *q,
    struct error *err)
{
	bool half = q->kind == QUANT_FP16;
	int32_t type = half ? ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 : ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
	int least = half ? 6 : 13;
	if (w->opset < least)
		return error_set(err, STATUS_UNSUPPORTED,
		    "a Cast to %s needs opset %d, and the model has %d: convert it first (onnx.version_converter)",
		    half ? "float16" : "bfloat16", least, w->opset);
	const char *narrow = write_name(w, base, "_Cast_Output");
	write_int_attribute(w, write_simple_node(w, "Cast", in, narrow), "to", type);
	write_int_attribute(w, write_simple_node(w, "Cast", narrow, out), "to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
	return STATUS_OK;
}

static enum status add_pair(const char *in, const char *out, struct writer *w, const char *base, const struct quantizer *q,
    struct error *err)
{
	return q->kind == QUANT_LINEAR ? add_linear(in, out, w, base, q, err) : add_casts(in, out, w, base, q, err);
}

// ---- constants

// No product of integers has a scale for each row of its weights, and ONNX Runtime's has none for the columns of several
// matrices; its optimizer takes both for one and fails.
static bool has_no_integer_product(struct writer *w, const struct slot *s, const struct quantizer *q)
{
	const struct value *v = &w->g->value[s->value];
	bool none = w->g->node[s->node].op->id == OP_MatMul && q->n > 1 && (v->constant->shape.rank != 2 || q->axis != 1);
	w->float_products += none;
	return none;
}

static int64_t only_zero(const struct quantizer *q)
{
	return q->zero ? q->zero[0] : 0;
}

// A DequantizeLinear of int32 has no zero point (ONNX Runtime refuses one): the codes of a bias are counted from theirs.
static bool is_wide_bias(const struct quantizer *q)
{
	return q->bits > 16 && (q->qmin - only_zero(q) < INT32_MIN || q->qmax - only_zero(q) > INT32_MAX);
}

// Limits of a Clip and the value of a Pad stay floats, as the readers of such files expect them;
// so do biases wider than the 32 bits that DequantizeLinear takes.
static bool stays_float(struct writer *w, const struct slot *s, const struct quantizer *q)
{
	enum op_id op = w->g->node[s->node].op->id;
	bool wide = q->kind == QUANT_LINEAR && is_wide_bias(q);
	w->wide_biases += wide;
	return q->kind != QUANT_LINEAR || wide || op == OP_Clip || op == OP_Pad || has_no_integer_product(w, s, q);
}

// What stands for the slot's constant: w->g->value[slot->value].constant, or what it was tuned to.
static const struct tensor *constant_of(const struct writer *w, const struct slot *s)
{
	return plan_constant(w->plan, (int)(s - w->plan->slot));
}

static const char *add_rounded(struct writer *w, const struct slot *s, const struct quantizer *q)
{
	const char *name = write_name(w, w->g->value[s->value].name, "_rounded");
	write_late(w, name, constant_of(w, s), q, DT_F32);
	return name;
}

static enum status add_codes(
    const char **name, struct writer *w, const struct slot *slot, const struct quantizer *q, struct error *err)
{
	const struct value *v = &w->g->value[slot->value];
	struct terms t;
	int axis = q->axis >= 0 ? q->axis : v->constant->shape.rank - 1;
	const char *quantized = write_name(w, v->name, "_quantized");
	write_late(w, quantized, constant_of(w, slot), q, quantizer_dtype(q));
	enum status s = add_terms(&t, w, v->name, q, axis, err);
	if (s)
		return s;
	*name = write_name(w, v->name, "_DequantizeLinear_Output");
	add_half(w, "DequantizeLinear", quantized, &t, *name);
	return STATUS_OK;
}

// ---- slots

enum status qdq_input(const char **name, struct writer *w, const struct slot *s, struct error *err)
{
	const struct quantizer *q = slot_quantizer(s);
	const struct value *v = &w->g->value[s->value];
	bool tuned = v->constant && constant_of(w, s) != v->constant, quantized = q && q->kind != QUANT_NONE;
	struct key k = key_add_int(quantizer_key(q), s->value);
	enum status status = STATUS_OK;
	*name = w->read[s->value];
	if (!quantized && !tuned)
		return STATUS_OK;
	if (tuned)
		k = key_add_key(k, plan_content(w->plan, (int)(s - w->plan->slot)));
	if (keymap_get(w->made, k)) {
		*name = keymap_get(w->made, k);
		return STATUS_OK;
	}
	if (!quantized) {
		*name = write_name(w, v->name, "_tuned");
		write_constant(w, *name, constant_of(w, s));
	} else if (v->constant) {
		if (stays_float(w, s, q))
			*name = add_rounded(w, s, q);
		else
			status = add_codes(name, w, s, q, err);
	} else {
		const char *from = *name;
		*name = write_name(w, v->name, "_DequantizeLinear_Output");
		status = add_pair(from, *name, w, v->name, q, err);
	}
	keymap_put(w->made, k, (void *)*name);
	return status;
}

static int root_of(const struct plan *p, int slot)
{
	while (p->slot[slot].state == SLOT_OVERLAPPED && p->slot[slot].follows >= 0)
		slot = p->slot[slot].follows;
	return slot;
}

// Do all that the node moves arrive in the quantizer's codes?
static bool moves_codes_of(const struct writer *w, const struct quantizer *q, int node)
{
	const struct node *n = &w->g->node[node];
	for (int i = 0; i < n->n_in; i++) {
		const struct value *v = n->in[i] >= 0 ? &w->g->value[n->in[i]] : NULL;
		if (i > 0 && (!v || v->constant || v->type != DT_F32))
			continue;
		const struct quantizer *own = slot_quantizer(plan_in(w->plan, node, i)), *of = own ? own : w->grid[n->in[i]];
		if (!of || !quantizer_equal(of, q))
			return false;
	}
	return true;
}

// By its readers, each for itself.
static bool is_rounded_where_read(const struct writer *w, int value)
{
	const struct value *v = &w->g->value[value];
	for (int i = 0; i < v->n_consumers; i++)
		for (int k = 0; k < w->g->node[v->consumer[i]].n_in; k++)
			if (w->g->node[v->consumer[i]].in[k] == value && slot_quantizer(plan_in(w->plan, v->consumer[i], k)))
				return true;
	return false;
}

// The quantizer of what a node moves, also where the node itself has none.
static const struct quantizer *moved_quantizer(const struct writer *w, const struct slot *s, const struct node *n)
{
	const struct plan *p = w->plan;
	if (s->state != SLOT_FLOAT)
		return slot_quantizer(&p->slot[root_of(p, p->first_out[s->node] + s->index)]);
	bool same = w->g->value[s->value].type == DT_F32 && !(n->op->flags & OPF_FILLS) && !is_rounded_where_read(w, s->value);
	return same ? w->grid[n->in[0]] : NULL;
}

// The quantizer at an output. A node that only moves the codes of its input gets that input's once more, in float too:
// it changes no value, and keeps the node among the integers for whoever reads the file. (Where there is none behind signed codes,
// optimizers put one that is not: ONNX Runtime 1.30, from opset 21 on.)
static const struct quantizer *output_quantizer(const struct writer *w, const struct slot *s)
{
	const struct node *n = &w->g->node[s->node];
	bool unrounded = s->state == SLOT_OVERLAPPED || s->state == SLOT_FLOAT;
	if (!unrounded || !(n->op->flags & OPF_MOVES) || n->n_in < 1 || n->in[0] < 0)
		return slot_quantizer(s);
	const struct quantizer *q = moved_quantizer(w, s, n);
	return q && q->n == 1 && moves_codes_of(w, q, s->node) ? q : NULL;
}

const char *qdq_output(struct writer *w, const struct slot *s)
{
	const struct value *v = &w->g->value[s->value];
	const struct quantizer *q = output_quantizer(w, s);
	return q && q->kind != QUANT_NONE && v->is_output ? write_name(w, v->name, "_QuantizeLinear_Input") : w->name[s->value];
}

enum status qdq_after(struct writer *w, const struct slot *s, const char *written, struct error *err)
{
	const struct value *v = &w->g->value[s->value];
	const struct quantizer *q = output_quantizer(w, s);
	if (!q || q->kind == QUANT_NONE)
		return STATUS_OK;
	w->grid[s->value] = q;
	w->read[s->value] = v->is_output ? w->name[s->value] : write_name(w, v->name, "_DequantizeLinear_Output");
	return add_pair(written, w->read[s->value], w, v->name, q, err);
}
