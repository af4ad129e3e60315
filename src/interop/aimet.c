// AIMET's encodings, version 1.0.0: x = (q + offset) * scale with q counted from 0, up to 2^bw - 1.
#include "formats.h"

// Of as many bits as the codes need. Codes of both signs alike (-127 .. 127) leave the lowest one out, and those that end
// within their bits (ONNX Runtime's -64 .. 64) are told as such ones, since AIMET knows no other symmetric range.
static int64_t lowest_code(const struct site *x)
{
	return x->qmin == -x->qmax ? 1 - ((int64_t)1 << (range_bits(x->qmin, x->qmax) - 1)) : x->qmin;
}

static cJSON *encoding(const struct snapshot *s, const struct site *x)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "name", s->g->value[x->value].name);
	cJSON_AddStringToObject(o, "enc_type", x->n_scale > 1 ? "PER_CHANNEL" : "PER_TENSOR");
	cJSON_AddStringToObject(o, "dtype", is_cast(x) ? "FLOAT" : "INT");
	cJSON_AddNumberToObject(o, "bw", is_cast(x) ? x->bits : range_bits(x->qmin, x->qmax));
	bool symmetric = true;
	if (is_cast(x))
		return o;
	cJSON *scale = cJSON_AddArrayToObject(o, "scale"), *offset = cJSON_AddArrayToObject(o, "offset");
	for (int i = 0; i < x->n_scale; i++) {
		int zero = x->zero ? x->zero[i] : 0;
		symmetric &= x->qmin < 0 && zero == 0;
		cJSON_AddItemToArray(scale, cJSON_CreateNumber(x->scale[i]));
		cJSON_AddItemToArray(offset, cJSON_CreateNumber((double)(lowest_code(x) - zero)));
	}
	cJSON_AddBoolToObject(o, "is_sym", symmetric);
	return o;
}

enum status aimet(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject();
	(void)err;
	if (s->n_sites && snapshot_plan(s)->slot[s->site->slot].quant.kind == QUANT_BF16)
		lose(loss, "target: AIMET's floats of 16 bits are float16, not bfloat16");
	cJSON_AddStringToObject(root, "version", "1.0.0");
	cJSON *acts = cJSON_AddArrayToObject(root, "activation_encodings"), *params = cJSON_AddArrayToObject(root, "param_encodings");
	for (int v = 0; v < s->g->n_values; v++) {
		const struct site *x = tensor_site(s, v);
		if (x)
			cJSON_AddItemToArray(acts, encoding(s, x));
	}
	for (int i = 0; i < s->n_sites; i++) {
		const struct site *x = &s->site[i];
		if (x->kind == SITE_WEIGHT && x->bits > 0)
			cJSON_AddItemToArray(params, encoding(s, x));
		if (x->kind == SITE_INPUT && x->bits > 0 && tensor_site(s, x->value) != x)
			lose(loss, "%s: %d bits for %s; an encoding belongs to a tensor, not to its use", s->g->value[x->value].name,
			    x->bits, s->g->node[x->node].name);
	}
	cJSON_AddItemToObject(root, "excluded_layers", excluded_nodes(d, s));
	lose_unnamed(loss, d, s, "AIMET");
	finish_json(out, root);
	return STATUS_OK;
}
