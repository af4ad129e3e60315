// PyTorch: the dictionary of a QConfigMapping as JSON: {"module_name": [["model.22", null]]}. null is float; a module's
// entry holds for those within it, and the longest name decides, as in prepare_fx.
#include <stdlib.h>
#include <string.h>
#include "../modules.h"
#include "wishes.h"

static const struct word observers[] = {{"MinMaxObserver", CALIB_MINMAX}, {"HistogramObserver", CALIB_MSE}};

static int observer(struct wishes *w, const cJSON *config, const char *where)
{
	const char *name = json_text(config, "observer", NULL);
	int method = name ? WORD_MEANS(observers, name) : -1;
	if (name && method < 0)
		wish_note(w, "%.120s: observer %.60s is not known here: MinMaxObserver and HistogramObserver are", where, name);
	return method;
}

// A module is quantized with the scale of what it gives: that of the last of its nodes.
static void wish_module_scale(struct wishes *w, const struct modules *m, const char *module, const cJSON *config)
{
	int last = -1;
	for (int n = 0; n < m->n; n++)
		if (m->path[n] && strcmp(m->path[n], module) == 0 && graph_output(w->g, n) >= 0)
			last = n;
	if (last < 0)
		wish_note(w, "%.120s: a scale is that of a module without others in it", module);
	else
		wish_tensor(w, w->g->value[graph_output(w->g, w->p->group[last].last)].name, 8, json_number(config, "scale", 0),
		    json_number(config, "zero_point", ZERO_UNSAID));
}

static void read_module(struct wishes *w, const struct modules *m, const char *module, const cJSON *config)
{
	bool any = false;
	w->rank = (int)strlen(module) > INT8_MAX ? INT8_MAX : (int)strlen(module);
	w->calibrates = cJSON_IsObject(config) ? observer(w, config, module) : -1;
	for (int n = 0; n < m->n; n++)
		if (m->path[n] && module_has(module, m->path[n])) {
			any = true;
			if (w->p->quantizable[n])
				wish_precision(w, n, cJSON_IsNull(config) ? PREC_FLOAT : PREC_INT8);
		}
	w->calibrates = -1;
	if (!any)
		wish_note(w, "%.120s: the names in the model's file tell of no such module", module);
	else if (json_number(config, "scale", 0) != 0)
		wish_module_scale(w, m, module, config);
}

void read_pytorch(struct wishes *w, const cJSON *root)
{
	struct modules m = modules_of(w->g);
	const cJSON *pair;
	w->method = observer(w, root, "the mapping");
	cJSON_ArrayForEach(pair, list_in(w, root, "module_name"))
	{
		const cJSON *name = cJSON_GetArrayItem(pair, 0), *config = cJSON_GetArrayItem(pair, 1);
		if (cJSON_GetArraySize(pair) == 2 && cJSON_IsString(name) && (cJSON_IsNull(config) || cJSON_IsObject(config)))
			read_module(w, &m, name->valuestring, config);
		else
			wish_note(w, "module_name: neither [NAME, null] nor [NAME, {..}]");
	}
	note_unread(w, root, "the mapping", "observer module_name");
	modules_done(&m);
}
