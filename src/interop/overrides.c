// TensorQuantOverrides, as ONNX Runtime reads them: what differs from the rest, tensor by tensor.
#include "overrides.h"

static cJSON *first_entry(cJSON *overrides, const char *tensor)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(overrides, tensor);
	if (list)
		return list->child;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddItemToArray(cJSON_AddArrayToObject(overrides, tensor), o);
	return o;
}

static void set_text(cJSON *o, const char *key, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(o, key);
	cJSON_AddStringToObject(o, key, value);
}

static void set_scale(cJSON *o, double scale, int zero)
{
	cJSON_DeleteItemFromObjectCaseSensitive(o, "scale");
	cJSON_DeleteItemFromObjectCaseSensitive(o, "zero_point");
	cJSON_AddItemToObject(o, "scale", json_float((float)scale));
	cJSON_AddNumberToObject(o, "zero_point", zero);
}

// `reader` gets the tensor in another type than its producer gives it.
static void convert(cJSON *overrides, const struct graph *g, int value, int reader, const char *own, const char *wanted)
{
	cJSON *o = first_entry(overrides, g->value[value].name), *to = cJSON_GetObjectItemCaseSensitive(o, "convert");
	set_text(o, "quant_type", own);
	if (!to) {
		to = cJSON_AddObjectToObject(o, "convert");
		cJSON_AddStringToObject(to, "quant_type", wanted);
		cJSON_AddArrayToObject(to, "recv_nodes");
	}
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(to, "recv_nodes"), cJSON_CreateString(g->node[reader].name));
}

static const char *type_name(int bits, bool is_signed)
{
	return bits == 16 ? (is_signed ? "QInt16" : "QUInt16") : is_signed ? "QInt8" : "QUInt8";
}

const char *site_type(const struct site *x)
{
	return type_name(x->bits, x->qmin < 0);
}

// Signed or not as the target quantizes the tensor.
static const char *type_of(const struct snapshot *s, int value, bool wide)
{
	const struct site *x = tensor_site(s, value);
	return type_name(wide ? 16 : 8, !x || x->qmin < 0);
}

// Whether the constant has 16 bits too: not every weight of a target that gives the node's output so many. Biases have more.
static bool is_wide_constant(const struct slot *s)
{
	return slot_quantizes(s) && s->quant.kind == QUANT_LINEAR && s->quant.bits == 16 && s->quant.qmax - s->quant.qmin > UINT8_MAX;
}

// By its producer; of what comes in float (an input of the network, the result of an Exp) as soon as one reader takes it so, since
// a conversion rounds what is rounded already: the other way about its 16 bits would be those of 8.
static bool is_wide_tensor(const struct snapshot *s, int value)
{
	const struct value *v = &s->g->value[value];
	if (v->producer >= 0 && s->row[v->producer].precision != PREC_FLOAT)
		return is_wide(s, v->producer);
	int i = 0;
	while (i < v->n_consumers && !is_wide(s, v->consumer[i]))
		i++;
	return i < v->n_consumers;
}

// Each input of each node that it takes with another width than the tensor has; a parameter has the width of its node.
static void add_inputs(cJSON *overrides, const struct snapshot *s, int node)
{
	const struct graph *g = s->g;
	bool wide = is_wide(s, node);
	for (int i = 0; s->row[node].precision != PREC_FLOAT && i < g->node[node].n_in; i++) {
		int v = g->node[node].in[i];
		if (v < 0 || g->value[v].type != DT_F32)
			continue;
		const struct slot *slot = plan_in(snapshot_plan(s), node, i);
		bool constant = g->value[v].constant != NULL, own = is_wide_tensor(s, v);
		if (constant && wide && is_wide_constant(slot))
			set_text(first_entry(overrides, g->value[v].name), "quant_type", type_name(16, slot->quant.qmin < 0));
		else if (!constant && own != wide)
			convert(overrides, g, v, node, type_of(s, v, own), type_of(s, v, wide));
		else if (!constant && own)
			set_text(first_entry(overrides, g->value[v].name), "quant_type", type_of(s, v, true));
	}
}

// Of an input of the network, or of what a node makes in float: the scale on which it is read.
static void add_given(cJSON *overrides, const struct decided *d, const struct snapshot *s, int value)
{
	const struct site *x = tensor_site(s, value);
	if (d->edits->scale[value] == 0 || !x || !x->locked)
		return;
	cJSON *o = first_entry(overrides, s->g->value[value].name);
	set_text(o, "quant_type", site_type(x));
	set_scale(o, d->edits->scale[value], x->zero ? x->zero[0] : 0);
}

static void add_output(cJSON *overrides, const struct decided *d, const struct snapshot *s, int node, int out)
{
	int end = operator_end(s, node), value = end == node ? out : s->g->node[end].out[0];
	if (is_wide_output(s, out))
		set_text(first_entry(overrides, s->g->value[out].name), "quant_type", type_of(s, out, true));
	double scale = decided_scale(d, s, out);
	if (scale == 0)
		return;
	if (s->row[node].precision == PREC_FLOAT) {
		add_given(overrides, d, s, out);
		return;
	}
	const struct site *x = tensor_site(s, value);
	cJSON *o = first_entry(overrides, s->g->value[value].name);
	set_text(o, "quant_type", x ? site_type(x) : type_of(s, value, is_wide(s, node)));
	set_scale(o, scale, x && x->zero ? x->zero[0] : 0); // parts of one operator have one
}

cJSON *tensor_overrides(const struct decided *d, const struct snapshot *s)
{
	cJSON *overrides = cJSON_CreateObject();
	for (int i = 0; i < s->g->n_inputs; i++)
		add_given(overrides, d, s, s->g->input[i]);
	for (int n = 0; n < s->n_rows; n++) {
		for (int k = 0; k < s->g->node[n].n_out; k++)
			if (s->g->node[n].out[k] >= 0)
				add_output(overrides, d, s, n, s->g->node[n].out[k]);
		add_inputs(overrides, s, n);
	}
	return overrides;
}
