// quant_plan.json of AMD's skills for Quark: a preset by its name, the calibrator, and beside them what a configuration has.
#include <string.h>
#include "read_arguments.h"

// The presets that are targets here; behind some of them stands how Quark trains weights.
static const struct {
	const char *preset, *target;
} presets[] = {{"XINT8", "xint8"}, {"VINT8", "vint8"}, {"A8W8", "a8w8"}, {"A16W8", "a16w8"}, {"BF16", "bf16"}, {"FP16", "fp16"}};
static const char *const trained[] = {"", "_ADAROUND", "_ADAQUANT"};

static void note_preset(struct wishes *w, const char *name)
{
	const char *own = target_name(w->p->target);
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		size_t n = strlen(presets[i].preset), len = strlen(presets[i].target);
		for (size_t k = 0; k < sizeof trained / sizeof *trained; k++) {
			if (strncmp(name, presets[i].preset, n) != 0 || strcmp(name + n, trained[k]) != 0)
				continue;
			if (strncmp(own, presets[i].target, len) != 0 || (own[len] && own[len] != ','))
				wish_note(w, "preset: %.40s: open with --target %s", name, presets[i].target);
			if (k > 0)
				note_weight_step(w, "preset", name);
			return;
		}
	}
	wish_note(w, "preset: %.40s is none that a target here is of", name);
}

static void read_calibrator(struct wishes *w, const char *method)
{
	static const char prefix[] = "PowerOfTwo_";
	bool steps = strncmp(method, prefix, strlen(prefix)) == 0;
	w->method = quark_method(w, steps ? method + strlen(prefix) : method);
}

void read_quark_plan(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *of = object_in(w, root, "onnx_specific");
	const char *preset = json_text(root, "preset", NULL), *method = json_text(object_in(w, root, "calibration"), "method", NULL);
	if (preset)
		note_preset(w, preset);
	if (method)
		read_calibrator(w, method);
	cJSON_ArrayForEach(item, list_in(w, root, "algorithms"))
		if (cJSON_IsString(item))
			note_weight_step(w, "algorithms", item->valuestring);
	read_arguments(w, of);
}
