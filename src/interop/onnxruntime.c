// ONNX Runtime: arguments of quantize_static. Names of types are members of onnxruntime.quantization.QuantType.
#include <string.h>
#include "overrides.h"

// CALIB_KL has no name here: quantize_static gives its Entropy calibrator as many bins as levels, so that it clips nothing.
static const char *const method_name[CALIB_COUNT] = {[CALIB_MINMAX] = "MinMax", [CALIB_PERCENTILE] = "Percentile"};

enum status onnxruntime(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject();
	(void)err;
	if (method_name[s->method])
		cJSON_AddStringToObject(root, "calibrate_method", method_name[s->method]);
	else
		str_addf(loss, "calibration: quantize_static has no way to say %s\n", calib_name(s->method));
	cJSON_AddItemToObject(root, "nodes_to_exclude", excluded_nodes(d, s));
	cJSON_AddItemToObject(cJSON_AddObjectToObject(root, "extra_options"), "TensorQuantOverrides", tensor_overrides(d, s));
	if (strcmp(s->target, "onnxruntime") != 0)
		str_addf(loss, "target: the rounding and the scale rule of %s are not ONNX Runtime's\n", s->target);
	finish_json(out, root);
	return STATUS_OK;
}
