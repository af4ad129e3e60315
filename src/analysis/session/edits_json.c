// Edits as sessions hold them, in force and of variants: [{"node", "precision", "scale", "zero_point", "calibration"}], one
// a node that has any, the scale of its first output; {"tensor", "scale", "zero_point"} of further outputs and of the
// network's inputs; {"tuned"} names tuned weights.
#include <math.h>
#include <stdlib.h>
#include "qtui/base/json.h"
#include "../study/study_impl.h"

static void add_scale(cJSON *o, const struct edits *e, int value)
{
	if (value < 0 || e->scale[value] == 0)
		return;
	cJSON_AddItemToObject(o, "scale", json_float((float)e->scale[value]));
	if (e->zero[value] != ZERO_FOLLOWS)
		cJSON_AddNumberToObject(o, "zero_point", e->zero[value]);
}

static void add_tensors(cJSON *a, const struct graph *g, const struct edits *e)
{
	int n, *made = graph_scalable(g, &n);
	for (int i = 0; i < n; i++) {
		if (!graph_goes_by_own_name(g, made[i]) || e->scale[made[i]] == 0)
			continue;
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "tensor", g->value[made[i]].name);
		add_scale(o, e, made[i]);
		cJSON_AddItemToArray(a, o);
	}
	free(made);
}

struct cJSON *edits_json(const struct graph *g, const struct edits *e)
{
	cJSON *a = cJSON_CreateArray();
	for (int n = 0; n < g->n_nodes; n++) {
		double scale = graph_output(g, n) >= 0 ? e->scale[graph_output(g, n)] : 0;
		if (e->precision[n] < 0 && scale == 0 && e->calibrator[n] < 0)
			continue;
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "node", g->node[n].name);
		if (e->precision[n] >= 0)
			cJSON_AddStringToObject(o, "precision", precision_name((enum precision)e->precision[n]));
		add_scale(o, e, graph_output(g, n));
		if (e->calibrator[n] >= 0)
			cJSON_AddStringToObject(o, "calibration", calib_name((enum calib_method)e->calibrator[n]));
		cJSON_AddItemToArray(a, o);
	}
	add_tensors(a, g, e);
	if (tuning_count(e->tuning)) {
		char name[TUNING_NAME];
		tuning_name(e->tuning, name);
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "tuned", name);
		cJSON_AddItemToArray(a, o);
	}
	return a;
}

// The scale of an edit `o`, a number above 0 or text as :scale takes it, and its zero point, a code.
static bool read_scale(double *out, int32_t *zero, const cJSON *o)
{
	const cJSON *scale = cJSON_GetObjectItemCaseSensitive(o, "scale"), *code = cJSON_GetObjectItemCaseSensitive(o, "zero_point");
	*out = 0;
	*zero = ZERO_FOLLOWS;
	if (!scale)
		return !code;
	if (cJSON_IsString(scale) && !scale_parse(scale->valuestring, out, zero))
		return false;
	if (cJSON_IsNumber(scale) && scale->valuedouble > 0)
		*out = scale->valuedouble;
	if (code && (!cJSON_IsNumber(code) || !(fabs(code->valuedouble) <= UINT16_MAX) || code->valuedouble != rint(code->valuedouble)))
		return false;
	*zero = code ? (int32_t)code->valuedouble : *zero;
	return (*out > 0 || cJSON_IsString(scale)) && *out <= 0x1p60;
}

static enum status parse_tuned(struct edits *e, const struct study *s, const cJSON *name, struct error *err)
{
	if (!cJSON_IsString(name))
		return error_set(err, STATUS_FORMAT, "an edit: \"tuned\" must be a text");
	tuning_drop(&e->tuning);
	e->tuning = repair_memo_tuning(s->repairs, name->valuestring);
	return e->tuning ? STATUS_OK : error_set(err, STATUS_NOTFOUND, "tuned weights %.40s are not there", name->valuestring);
}

static enum status parse_tensor(struct edits *e, const struct graph *g, const cJSON *o, struct error *err)
{
	const char *name = json_text(o, "tensor", "");
	int value = graph_find_value(g, name);
	double scale;
	int32_t zero;
	if (cJSON_GetObjectItemCaseSensitive(o, "node") || cJSON_GetObjectItemCaseSensitive(o, "precision") ||
	    cJSON_GetObjectItemCaseSensitive(o, "calibration"))
		return error_set(err, STATUS_FORMAT, "an edit of tensor %s: only a scale goes with it", name);
	if (value < 0 || g->value[value].constant)
		return error_set(err, STATUS_NOTFOUND, "the model has no tensor %.200s that a node makes or that it is given", name);
	if (!read_scale(&scale, &zero, o))
		return error_set(err, STATUS_FORMAT, "tensor %s has a scale or zero point that there is not", name);
	if (scale == 0)
		return error_set(err, STATUS_FORMAT, "an edit of tensor %s has no scale", name);
	edits_give_scale(e, value, scale, zero);
	return STATUS_OK;
}

static enum status parse_node(struct edits *e, const struct graph *g, const cJSON *o, struct error *err)
{
	const char *name = json_text(o, "node", ""), *word = json_text(o, "precision", NULL), *calibrator = json_text(o, "calibration", NULL);
	enum precision p = PREC_INT8;
	enum calib_method m = CALIB_MINMAX;
	double scale;
	int32_t zero;
	bool has_scale = read_scale(&scale, &zero, o);
	int node = graph_find_node(g, name);
	if (!*name)
		return error_set(err, STATUS_FORMAT, "an edit names no node");
	if (node < 0)
		return graph_no_node(g, name, err);
	if ((word && !precision_parse(&p, word)) || (calibrator && !calib_parse(&m, calibrator)) || !has_scale)
		return error_set(err, STATUS_FORMAT, "node %s has a precision, calibration, scale or zero point that there is not", name);
	if (!word && !calibrator && scale == 0) // a word that is misspelt, mostly: the edit would be lost with the next writing
		return error_set(err, STATUS_FORMAT, "an edit of node %s has neither precision, scale nor calibration", name);
	if (scale != 0 && graph_output(g, node) < 0)
		return error_set(err, STATUS_FORMAT, "node %s has no output that anybody reads, and so no scale", name);
	e->precision[node] = (signed char)(word ? (int)p : -1);
	e->calibrator[node] = (signed char)(calibrator ? (int)m : -1);
	if (graph_output(g, node) >= 0)
		edits_give_scale(e, graph_output(g, node), scale, zero);
	return STATUS_OK;
}

static enum status parse_edit(struct edits *e, const struct graph *g, const cJSON *o, struct error *err)
{
	static const struct json_member member[] = {{NULL, "node", cJSON_String}, {NULL, "tensor", cJSON_String},
	    {NULL, "precision", cJSON_String}, {NULL, "calibration", cJSON_String}};
	if (json_check(o, member, sizeof member / sizeof *member, false, err) != STATUS_OK)
		return error_prefix(err, "an edit");
	return cJSON_GetObjectItemCaseSensitive(o, "tensor") ? parse_tensor(e, g, o, err) : parse_node(e, g, o, err);
}

enum status edits_parse(struct edits **out, const struct study *s, const struct cJSON *list, struct error *err)
{
	const cJSON *o;
	enum status st = STATUS_OK;
	*out = edits_new(s->g);
	cJSON_ArrayForEach(o, list)
	{
		const cJSON *tuned = cJSON_GetObjectItemCaseSensitive(o, "tuned");
		if (st == STATUS_OK)
			st = tuned ? parse_tuned(*out, s, tuned, err) : parse_edit(*out, s->g, o, err);
	}
	if (st != STATUS_OK)
		edits_free(out);
	return st;
}
