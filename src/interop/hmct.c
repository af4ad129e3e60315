// HMCT of Horizon and D-Robotics: the quant_config that hb_compile and hmct.api take,
// with a qtype for each node that has a decision.
#include <stdlib.h>
#include "formats.h"
#include "qtui/engine/op.h"

static const char *const qtype[PREC_COUNT] = {[PREC_INT8] = "int8", [PREC_INT16] = "int16", [PREC_FLOAT] = "float16"};
static const char *const method_name[CALIB_COUNT] = {[CALIB_MINMAX] = "max", [CALIB_KL] = "kl"};

// The qtype int16 of these leaves their second input at 8 bits; both at 16 is what HMCT calls dual-int16.
static bool is_dual(const struct snapshot *s, int node)
{
	enum op_id id = s->g->node[node].op->id;
	if ((id != OP_Conv && id != OP_Gemm && id != OP_MatMul) || s->g->node[node].n_in < 2)
		return false;
	const struct slot *second = plan_in(snapshot_plan(s), node, 1);
	return second->state != SLOT_FLOAT && second->quant.bits == 16;
}

static void add_node(cJSON *config, const struct snapshot *s, int node, enum precision p)
{
	cJSON *o = cJSON_AddObjectToObject(config, s->g->node[node].name);
	if (p == PREC_INT16 && is_dual(s, node)) {
		cJSON_AddStringToObject(o, "input0", qtype[p]);
		cJSON_AddStringToObject(o, "input1", qtype[p]);
	} else {
		cJSON_AddStringToObject(o, "qtype", qtype[p]);
	}
}

static void add_method(cJSON *model, struct str *loss, enum calib_method m)
{
	if (method_name[m])
		cJSON_AddStringToObject(cJSON_AddObjectToObject(model, "activation"), "calibration_type", method_name[m]);
	else
		lose(loss, "calibration: HMCT has no way to say %s: it looks for the best by itself", calib_name(m));
}

enum status hmct(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject(), *model = cJSON_AddObjectToObject(root, "model_config");
	signed char *want = operator_precisions(d, s);
	bool floats = false;
	(void)err;
	cJSON_AddStringToObject(model, "all_node_type", qtype[PREC_INT8]);
	add_method(model, loss, s->method);
	cJSON *nodes = cJSON_AddObjectToObject(root, "node_config");
	for (int n = 0; n < s->n_rows; n++) {
		if (want[n] >= 0)
			add_node(nodes, s, n, (enum precision)want[n]);
		floats |= want[n] == PREC_FLOAT;
	}
	if (floats)
		lose(loss, "nodes in float: HMCT computes them in float16");
	lose_wide_ends(loss, s->g, want, "HMCT");
	lose_scales(loss, d, s, "HMCT");
	lose_calibrators(loss, d, s, "HMCT");
	lose_unnamed(loss, d, s, "HMCT");
	finish_json(out, root);
	free(want);
	return STATUS_OK;
}
