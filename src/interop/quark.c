// AMD Quark for ONNX: members of its QuantizationConfig.
#include <stdlib.h>
#include "formats.h"

// An input of the network is wide where its first reader takes it so; Quark has one width for all of them.
static cJSON *wide_tensors(const struct snapshot *s)
{
	cJSON *list = cJSON_CreateArray();
	int n, *made = graph_made(s->g, &n);
	for (int i = 0; i < s->g->n_inputs; i++) {
		const struct site *x = tensor_site(s, s->g->input[i]);
		if (x && x->bits == 16 && is_wide(s, x->node))
			cJSON_AddItemToArray(list, cJSON_CreateString(s->g->value[s->g->input[i]].name));
	}
	for (int i = 0; i < n; i++)
		if (is_wide_output(s, made[i]))
			cJSON_AddItemToArray(list, cJSON_CreateString(s->g->value[made[i]].name));
	free(made);
	return list;
}

// Members of PowerOfTwoMethod, which Quark's presets of powers of two have,
// and of ONNX Runtime's CalibrationMethod, whose Entropy clips nothing.
static const char *const pow2_method[CALIB_COUNT] = {[CALIB_MINMAX] = "PowerOfTwoMethod.NonOverflow", [CALIB_MSE] = "PowerOfTwoMethod.MinMSE"};
static const char *const float_method[CALIB_COUNT] = {
    [CALIB_MINMAX] = "CalibrationMethod.MinMax", [CALIB_PERCENTILE] = "CalibrationMethod.Percentile"};

static void add_method(cJSON *root, struct str *loss, const struct snapshot *s)
{
	const struct site *act = s->site;
	while (act < s->site + s->n_sites && (act->kind == SITE_WEIGHT || act->bits == 0))
		act++;
	if (act == s->site + s->n_sites || is_cast(act))
		return;
	const char *name = (snapshot_plan(s)->slot[act->slot].quant.pow2 ? pow2_method : float_method)[s->method];
	if (name)
		cJSON_AddStringToObject(root, "calibrate_method", name);
	else
		lose(loss, "calibration: Quark has no way to say %s of such scales", calib_name(s->method));
}

enum status quark(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject(), *wide = wide_tensors(s);
	(void)err;
	add_method(root, loss, s);
	cJSON_AddItemToObject(root, "nodes_to_exclude", excluded_nodes(d, s));
	cJSON_AddBoolToObject(root, "specific_tensor_precision", wide->child != NULL);
	cJSON *extra = cJSON_AddObjectToObject(root, "extra_options");
	cJSON_AddItemToObject(cJSON_AddObjectToObject(extra, "MixedPrecisionTensor"), "QInt16", wide);
	lose_scales(loss, d, s, "Quark's MixedPrecisionTensor");
	lose_calibrators(loss, d, s, "Quark's MixedPrecisionTensor");
	lose_rules(loss, s, "Quark");
	lose_unnamed(loss, d, s, "Quark");
	finish_json(out, root);
	return STATUS_OK;
}
