// NNCF: an IgnoredScope, which says what stays in float and nothing else.
#include "formats.h"
#include "qtui/engine/op.h"

// In an IR that OpenVINO makes of the model, NAME is then the sum with the bias,
// and NAME/WithoutBiases the operator itself.
static bool has_bias(const struct node *n)
{
	return (n->op->id == OP_Conv || n->op->id == OP_ConvTranspose || n->op->id == OP_Gemm) && n->n_in > 2 && n->in[2] >= 0;
}

// Names for either kind of model. False: there are none of an IR.
static bool add_ir_names(cJSON *names, const struct decided *d, const struct snapshot *s)
{
	struct str name = {0};
	bool any = false;
	for (int n = 0; n < s->n_rows; n++) {
		if (decided_precision(d, s, n) != PREC_FLOAT || !has_bias(&s->g->node[n]))
			continue;
		str_clear(&name);
		str_addf(&name, "%s/WithoutBiases", s->g->node[n].name);
		cJSON_AddItemToArray(names, cJSON_CreateString(str_text(&name)));
		any = true;
	}
	str_done(&name);
	return any;
}

enum status nncf(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject(), *scope = cJSON_AddObjectToObject(root, "ignored_scope"), *names = excluded_nodes(d, s);
	(void)err;
	bool both = add_ir_names(names, d, s);
	cJSON_AddItemToObject(scope, "names", names);
	cJSON_AddBoolToObject(scope, "validate", !both);
	lose_precision(loss, d, s, PREC_INT16, "an IgnoredScope");
	lose_scales(loss, d, s, "an IgnoredScope");
	lose_method(loss, s, "an IgnoredScope");
	lose_calibrators(loss, d, s, "an IgnoredScope");
	if (both)
		lose(loss,
		    "names: those with /WithoutBiases are in a model that OpenVINO converted, not in the ONNX file: validate is off, as one "
		    "model has not all of them");
	lose_unnamed(loss, d, s, "NNCF");
	finish_json(out, root);
	return STATUS_OK;
}
