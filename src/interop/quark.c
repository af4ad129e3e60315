// AMD Quark for ONNX: members of its QuantizationConfig.
#include "overrides.h"

static cJSON *wide_tensors(const struct snapshot *s)
{
	cJSON *list = cJSON_CreateArray();
	for (int n = 0; n < s->n_rows; n++)
		if (s->row[n].precision == PREC_INT16 && s->g->node[n].n_out && s->g->node[n].out[0] >= 0)
			cJSON_AddItemToArray(list, cJSON_CreateString(s->g->value[s->g->node[n].out[0]].name));
	return list;
}

enum status quark(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject(), *wide = wide_tensors(s);
	(void)err, (void)loss;
	cJSON_AddItemToObject(root, "nodes_to_exclude", excluded_nodes(d, s));
	cJSON_AddBoolToObject(root, "specific_tensor_precision", wide->child != NULL);
	cJSON *extra = cJSON_AddObjectToObject(root, "extra_options");
	cJSON_AddItemToObject(cJSON_AddObjectToObject(extra, "MixedPrecisionTensor"), "QInt16", wide);
	lose_scales(loss, d, s, "Quark's MixedPrecisionTensor");
	finish_json(out, root);
	return STATUS_OK;
}
