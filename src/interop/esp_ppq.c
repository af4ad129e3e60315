// esp-ppq and PPQ: the dispatching table (operator name -> number of a TargetPlatform); esp-ppq alone: a fragment of a
// QuantizationSetting with the scales. esp-ppq ignores unknown names in the table silently and stops at unknown names of scales,
// so only names that exist there are written: those of the operators after its formatting.
#include <stdlib.h>
#include <string.h>
#include "formats.h"
#include "qtui/engine/op.h"

// FP32 is the one that all chips share.
static int platform(const struct target *t, int precision)
{
	return precision == PREC_FLOAT ? 0 : target_platform(t, precision == PREC_INT16 ? 16 : 8);
}

static bool is_esp_ppq(const struct snapshot *s)
{
	return target_is_of(snapshot_plan(s)->target, "esp-ppq");
}

static bool is_ppq(const struct snapshot *s)
{
	return target_is_of(snapshot_plan(s)->target, "PPQ") || target_is_of(snapshot_plan(s)->target, "TensorRT");
}

static enum status check_target(const struct snapshot *s, bool ppq, struct error *err)
{
	const struct target *t = snapshot_plan(s)->target;
	bool named = target_platform(t, 8) && (!target_has_precision(t, 16) || target_platform(t, 16));
	if (named && (is_esp_ppq(s) || (ppq && is_ppq(s))))
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "target %s is none of esp-ppq's%s, which have a \"platform\" for each width: choose --target "
	    "esp32p4 or one with it as base", target_name(t), ppq ? " or PPQ's" : "");
}

static int producer(const struct graph *g, int node, int input)
{
	int v = input < g->node[node].n_in ? g->node[node].in[input] : -1;
	return v >= 0 ? g->value[v].producer : -1;
}

static bool is_swish_gate(const struct snapshot *s, int node, int mul)
{
	return node >= 0 && s->g->node[node].op->id == OP_Sigmoid && s->row[node].fused_into == mul;
}

// The Sigmoid of the Swish that `node` is a part of, or -1.
static int swish_gate(const struct snapshot *s, int node)
{
	int mul = s->row[node].fused_into >= 0 ? s->row[node].fused_into : node;
	if (s->g->node[mul].op->id != OP_Mul)
		return -1;
	for (int i = 0; i < 2; i++)
		if (is_swish_gate(s, producer(s->g, mul, i), mul))
			return producer(s->g, mul, i);
	return -1;
}

const char *esp_ppq_suffix(const char *op_type)
{
	static const char *const made[][2] = {{"RMSNormalization", "_rmsnorm"}, {"LpNormalization", "_lpnorm"}};
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		if (strcmp(op_type, made[i][0]) == 0)
			return made[i][1];
	return NULL;
}

// The normalization that the node is a part of there, or NULL: PPQ makes none, and no other operator of several nodes.
static const struct written_out *normalization(const struct snapshot *s, int node)
{
	const struct written_out *whole = is_esp_ppq(s) ? plan_written_out(snapshot_plan(s), node) : NULL;
	return whole && esp_ppq_suffix(whole->op_type) ? whole : NULL;
}

// esp-ppq merges Sigmoid and Mul into an operator that it names after the operator before it, and a normalization into one that it
// names after the node where it ends; PPQ does neither.
static void operator_name(struct str *name, const struct snapshot *s, int node)
{
	const struct written_out *whole = normalization(s, node);
	if (whole) {
		str_addf(name, "%s%s", s->g->node[whole->last].name, esp_ppq_suffix(whole->op_type));
		return;
	}
	int gate = is_esp_ppq(s) ? swish_gate(s, node) : -1;
	if (gate < 0) {
		str_add(name, s->g->node[node].name);
		return;
	}
	operator_name(name, s, producer(s->g, gate, 0)); // there is one: else the plan does not merge them
	str_add(name, "/Swish");
}

// Adds `value` under the operator's name. Of a normalization the node where it ends says all.
static void add_operator(cJSON *o, const struct snapshot *s, int node, double value)
{
	struct str name = {0};
	const struct written_out *whole = normalization(s, node);
	if (whole && node != whole->last)
		return;
	operator_name(&name, s, node);
	if (!cJSON_GetObjectItemCaseSensitive(o, str_text(&name)))
		cJSON_AddNumberToObject(o, str_text(&name), value);
	str_done(&name);
}

static cJSON *dispatchings(const struct decided *d, const struct snapshot *s)
{
	cJSON *list = cJSON_CreateObject();
	for (int n = 0; n < s->n_rows; n++) {
		int want = decided_precision(d, s, n);
		if (want >= 0)
			add_operator(list, s, n, platform(snapshot_plan(s)->target, want));
	}
	return list;
}

enum status esp_ppq_dispatch(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	if (check_target(s, true, err) != STATUS_OK)
		return err->status;
	const char *what = is_esp_ppq(s) ? "a dispatching table (unlike esp-ppq-setting)" : "a dispatching table";
	cJSON *root = cJSON_CreateObject();
	cJSON_AddItemToObject(root, "dispatchings", dispatchings(d, s));
	lose_scales(loss, d, s, what);
	lose_method(loss, s, what);
	lose_calibrators(loss, d, s, what);
	lose_unnamed(loss, d, s, is_esp_ppq(s) ? "esp-ppq" : "PPQ");
	finish_json(out, root);
	return STATUS_OK;
}

enum status esp_ppq_setting(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	if (check_target(s, false, err) != STATUS_OK)
		return err->status;
	cJSON *root = cJSON_CreateObject(), *scales = cJSON_CreateObject();
	cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "quantize_activation_setting"), "calib_algorithm", calib_name(s->method));
	cJSON_AddItemToObject(cJSON_AddObjectToObject(root, "dispatching_table"), "dispatchings", dispatchings(d, s));
	int n, *made = graph_scalable(s->g, &n);
	for (int i = 0; i < n; i++) {
		const struct value *v = &s->g->value[made[i]];
		double scale = decided_scale(d, s, made[i]);
		if (scale != 0 && (v->producer < 0 || s->g->node[v->producer].out[0] != made[i]))
			lose(loss, "%s: custom_config has a scale for the first output of an operator only", v->name);
		else if (scale != 0) // esp-ppq skips an output that is fused into the next
			add_operator(scales, s, operator_end(s, v->producer), scale);
	}
	free(made);
	cJSON_AddBoolToObject(root, "quant_config_modify", scales->child != NULL);
	cJSON_AddItemToObject(cJSON_AddObjectToObject(root, "quant_config_modify_setting"), "custom_config", scales);
	lose_unnamed(loss, d, s, "esp-ppq");
	finish_json(out, root);
	return STATUS_OK;
}
