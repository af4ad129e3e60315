// PyTorch: members of a QConfigMapping's dictionary (torch.ao.quantization), which names modules. A QConfig holds
// classes, for which JSON has no form: null is None, and else an entry says what observes the module's output.
#include <stdlib.h>
#include "formats.h"
#include "modules.h"

static const char *const observer_name[CALIB_COUNT] = {[CALIB_MINMAX] = "MinMaxObserver", [CALIB_MSE] = "HistogramObserver"};

struct writing {
	struct str *loss;
	const struct decided *d;
	const struct snapshot *s;
	struct modules m;
	struct namemap *told; // modules that have an entry -> 0
	cJSON *list;
};

static void add_module(struct writing *w, int node, cJSON *config)
{
	cJSON *pair = cJSON_CreateArray();
	cJSON_AddItemToArray(pair, cJSON_CreateString(w->m.path[node]));
	cJSON_AddItemToArray(pair, config);
	cJSON_AddItemToArray(w->list, pair);
	namemap_put(w->told, w->m.path[node], 0);
}

// Its module is the way to name it; what the forward of a larger one calls has no name.
static bool has_name(struct writing *w, int node)
{
	const char *name = w->s->g->node[node].name, *path = w->m.path[node];
	if (path && w->m.own[node])
		return namemap_get(w->told, path) < 0;
	if (path)
		lose(w->loss, "%s: it stands in the forward of %s, which has other modules: make it a module, or set its type there", name,
		    path);
	else
		lose(w->loss, "%s: no name in the file tells its module", name);
	return false;
}

// Of codes of quint8, as torch's activations are: so many above the lowest one.
static cJSON *fixed(const struct site *x, double scale)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "scale", json_float((float)scale));
	cJSON_AddNumberToObject(o, "zero_point", x ? (double)((x->zero ? x->zero[0] : 0) - x->qmin) : 0);
	return o;
}

static cJSON *observed(struct writing *w, int node)
{
	enum calib_method m = (enum calib_method)w->d->edits->calibrator[node];
	if (!observer_name[m]) {
		lose(w->loss, "%s: torch has no observer for %s", w->s->g->node[node].name, calib_name(m));
		return NULL;
	}
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "observer", observer_name[m]);
	return o;
}

// The first output is the module's: what a module gives has one observer.
static cJSON *config_of(struct writing *w, int node)
{
	int value = graph_output(w->s->g, node), end = operator_end(w->s, node);
	double scale = value >= 0 ? w->d->edits->scale[value] : 0;
	if (scale != 0)
		return fixed(tensor_site(w->s, end == node ? value : w->s->g->node[end].out[0]), scale);
	return w->d->edits->calibrator[node] >= 0 ? observed(w, node) : NULL;
}

static void add_node(struct writing *w, int node)
{
	int precision = decided_precision(w->d, w->s, node), value = graph_output(w->s->g, node);
	bool floats = precision == PREC_FLOAT, set = w->d->edits->calibrator[node] >= 0 || (value >= 0 && w->d->edits->scale[value] != 0);
	if ((!floats && !set) || !has_name(w, node))
		return;
	cJSON *config = floats ? cJSON_CreateNull() : config_of(w, node);
	if (config)
		add_module(w, node, config);
}

static void lose_tensors(const struct writing *w)
{
	int n, *value = graph_scalable(w->s->g, &n);
	for (int i = 0; i < n; i++)
		if (w->d->edits->scale[value[i]] != 0 && graph_goes_by_own_name(w->s->g, value[i]))
			lose(w->loss, "%s: a module's observer is of its first output", w->s->g->value[value[i]].name);
	free(value);
}

enum status pytorch(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject();
	struct writing w = {.loss = loss, .d = d, .s = s, .m = modules_of(s->g), .told = namemap_new()};
	(void)err;
	if (observer_name[s->method])
		cJSON_AddStringToObject(root, "observer", observer_name[s->method]);
	else
		lose(loss, "calibration: torch has no observer for %s", calib_name(s->method));
	w.list = cJSON_AddArrayToObject(root, "module_name");
	for (int n = 0; n < s->n_rows; n++)
		add_node(&w, n);
	lose_precision(loss, d, s, PREC_INT16, "torch's quantization");
	lose_tensors(&w);
	lose_rules(loss, s, "PyTorch");
	finish_json(out, root);
	namemap_free(&w.told);
	modules_done(&w.m);
	return STATUS_OK;
}
