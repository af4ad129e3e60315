// ONNX Runtime: arguments of quantize_static. Names of types are members of onnxruntime.quantization.QuantType.
#include <math.h>
#include "overrides.h"

// CALIB_KL has no name here: quantize_static gives its Entropy calibrator as many bins
// as levels, so that it clips nothing.
static const char *const method_name[CALIB_COUNT] = {[CALIB_MINMAX] = "MinMax", [CALIB_PERCENTILE] = "Percentile"};

// The first of its kind at the target's own width; NULL: there is none.
static const struct site *plain_site(const struct snapshot *s, bool weight)
{
	for (const struct site *x = s->site; x < s->site + s->n_sites; x++)
		if ((x->kind == SITE_WEIGHT) == weight && x->bits > 0 && !is_cast(x) && !is_wide(s, x->node))
			return x;
	return NULL;
}

static bool has_weights_per_channel(const struct snapshot *s)
{
	for (const struct site *x = s->site; x < s->site + s->n_sites; x++)
		if (x->kind == SITE_WEIGHT && x->n_scale > 1)
			return true;
	return false;
}

// What holds for tensors without an override: quantize_static's own choice is not always the target's.
static void add_types(cJSON *root, cJSON *extra, const struct snapshot *s)
{
	const struct site *act = plain_site(s, false), *weight = plain_site(s, true);
	if (act) {
		cJSON_AddStringToObject(root, "activation_type", site_type(act));
		cJSON_AddBoolToObject(extra, "ActivationSymmetric", snapshot_plan(s)->slot[act->slot].quant.symmetric);
	}
	if (weight) {
		cJSON_AddStringToObject(root, "weight_type", site_type(weight));
		cJSON_AddBoolToObject(root, "per_channel", has_weights_per_channel(s));
		cJSON_AddBoolToObject(root, "reduce_range", !range_is_full(weight->qmin, weight->qmax, weight->bits));
		cJSON_AddBoolToObject(extra, "WeightSymmetric", snapshot_plan(s)->slot[weight->slot].quant.symmetric);
	}
}

enum status onnxruntime(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject(), *extra = cJSON_CreateObject();
	(void)err;
	if (method_name[s->method])
		cJSON_AddStringToObject(root, "calibrate_method", method_name[s->method]);
	else
		lose(loss, "calibration: quantize_static has no way to say %s", calib_name(s->method));
	if (s->method == CALIB_PERCENTILE) // in hundredths there: 99.999, without the digits that a product would add
		cJSON_AddNumberToObject(extra, "CalibPercentile", round(target_percentile(snapshot_plan(s)->target) * 1e10) / 1e8);
	add_types(root, extra, s);
	cJSON_AddItemToObject(root, "nodes_to_exclude", excluded_nodes(d, s));
	cJSON_AddItemToObject(extra, "TensorQuantOverrides", tensor_overrides(d, s));
	cJSON_AddItemToObject(root, "extra_options", extra);
	lose_rules(loss, s, "ONNX Runtime");
	lose_unnamed(loss, d, s, "ONNX Runtime");
	finish_json(out, root);
	return STATUS_OK;
}
