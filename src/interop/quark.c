// AMD Quark for ONNX: members of its QuantizationConfig.
#include <stdlib.h>
#include "overrides.h"

static cJSON *wide_tensors(const struct snapshot *s)
{
	cJSON *list = cJSON_CreateArray();
	int n, *made = graph_made(s->g, &n);
	for (int i = 0; i < n; i++)
		if (is_wide_output(s, made[i]))
			cJSON_AddItemToArray(list, cJSON_CreateString(s->g->value[made[i]].name));
	free(made);
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
