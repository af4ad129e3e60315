// Axera Pulsar2: layer_configs of a build configuration, a list of layers for each data type, and the calibrator.
#include <stdlib.h>
#include "formats.h"
#include "qtui/engine/op.h"

static const char *const data_type[PREC_COUNT] = {[PREC_INT8] = "U8", [PREC_INT16] = "U16", [PREC_FLOAT] = "FP32"};
static const char *const method_name[CALIB_COUNT] = {
    [CALIB_MINMAX] = "MinMax", [CALIB_PERCENTILE] = "Percentile", [CALIB_KL] = "KL", [CALIB_MSE] = "MSE"};

enum support { VERIFIED, NOT_VERIFIED, NONE };

// Of FP32, as its documents tell.
static enum support float_support(enum op_id id)
{
	static const enum op_id verified[] = {OP_LeakyRelu, OP_Sigmoid, OP_Relu, OP_Add, OP_Mul, OP_Div, OP_Sub, OP_Concat, OP_Softmax};
	for (size_t i = 0; i < sizeof verified / sizeof *verified; i++)
		if (verified[i] == id)
			return VERIFIED;
	return id == OP_Conv ? NONE : NOT_VERIFIED;
}

static bool can_float(struct str *loss, const struct node *n)
{
	enum support support = float_support(n->op->id);
	if (support == NONE)
		lose(loss, "%s: Pulsar2 has no %s in FP32, only its output: left out; int16 can be said", n->name, n->op->name);
	if (support == NOT_VERIFIED)
		lose(loss, "%s: FP32 is not verified for %s by Pulsar2's documents", n->name, n->op->name);
	return support != NONE;
}

static cJSON *layers(struct str *loss, const struct graph *g, const signed char *want, enum precision p)
{
	cJSON *o = cJSON_CreateObject(), *names = cJSON_AddArrayToObject(o, "layer_names");
	for (int n = 0; n < g->n_nodes; n++)
		if (want[n] == (int)p && (p != PREC_FLOAT || can_float(loss, &g->node[n])))
			cJSON_AddItemToArray(names, cJSON_CreateString(g->node[n].name));
	cJSON_AddStringToObject(o, "data_type", data_type[p]);
	if (names->child)
		return o;
	cJSON_Delete(o);
	return NULL;
}

enum status pulsar2(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject(), *quant = cJSON_AddObjectToObject(root, "quant"),
	      *list = cJSON_AddArrayToObject(quant, "layer_configs");
	signed char *want = operator_precisions(d, s);
	(void)err;
	for (enum precision p = 0; p < PREC_COUNT; p++) {
		cJSON *o = layers(loss, s->g, want, p);
		if (o)
			cJSON_AddItemToArray(list, o);
	}
	cJSON_AddStringToObject(quant, "calibration_method", method_name[s->method]);
	lose_wide_ends(loss, s->g, want, "Pulsar2");
	lose_scales(loss, d, s, "Pulsar2");
	lose_calibrators(loss, d, s, "Pulsar2");
	if (list->child)
		lose(loss, "layer_names: a layer that Pulsar2 merges away is passed over; its optimized.onnx has the names that count");
	lose_unnamed(loss, d, s, "Pulsar2");
	finish_json(out, root);
	free(want);
	return STATUS_OK;
}
