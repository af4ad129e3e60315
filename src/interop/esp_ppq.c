// esp-ppq's dispatching table: operator name -> number of a TargetPlatform (numerics.md 2.6, 2.11). esp-ppq ignores unknown names
// silently, so only names that exist there are written: those of the operators after its formatting.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats.h"
#include "qtui/base/json.h"
#include "qtui/engine/op.h"

enum { PLATFORM_FP32 = 0 };

struct platforms {
	const char *target;
	int number[PREC_COUNT];
};
static const struct platforms table[] = {
    {"esp32p4", {[PREC_INT8] = 551, [PREC_INT16] = 552, [PREC_FLOAT] = PLATFORM_FP32}},
    {"esp32s3", {[PREC_INT8] = 553, [PREC_INT16] = 554, [PREC_FLOAT] = PLATFORM_FP32}},
    {"esp32", {[PREC_INT8] = 557, [PREC_INT16] = 558, [PREC_FLOAT] = PLATFORM_FP32}},
};

static const struct platforms *find(const char *target)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(table[i].target, target) == 0)
			return &table[i];
	return NULL;
}

// esp-ppq merges Sigmoid + Mul into an operator that it names after the node before it.
static void operator_name(struct str *name, const struct snapshot *s, int node, bool swish)
{
	const struct graph *g = s->g;
	int source = g->node[node].in[0] >= 0 ? g->value[g->node[node].in[0]].producer : -1;
	str_clear(name);
	if (swish && source >= 0)
		str_addf(name, "%s/Swish", g->node[source].name);
	else
		str_add(name, g->node[node].name);
}

enum status esp_ppq_dispatch(struct str *out, struct str *loss, const struct study *st, const struct snapshot *s, struct error *err)
{
	const struct platforms *p = find(s->target);
	const struct edits *e = study_edits(st);
	struct str name = {0};
	if (!p)
		return error_set(err, STATUS_UNSUPPORTED, "an esp-ppq dispatching table is for esp32p4, esp32s3 or esp32, not for %s", s->target);
	cJSON *root = cJSON_CreateObject(), *d = cJSON_AddObjectToObject(root, "dispatchings");
	for (int n = 0; n < s->n_rows; n++) {
		bool part_of_swish = s->g->node[n].op->id == OP_Mul && s->row[n].fused_into < 0 ? false :
		    s->g->node[n].op->id == OP_Sigmoid && s->row[n].fused_into >= 0;
		if (e->precision[n] >= 0) {
			operator_name(&name, s, n, part_of_swish);
			cJSON_AddNumberToObject(d, str_text(&name), p->number[e->precision[n]]);
		}
		if (e->scale[n] != 0)
			str_addf(loss, "%s: the scale %g is not part of a dispatching table; put it into quant_config_modify_setting.custom_config\n",
			    s->g->node[n].name, e->scale[n]);
	}
	char *text = cJSON_Print(root);
	str_add(out, text);
	str_add(out, "\n");
	free(text);
	cJSON_Delete(root);
	str_done(&name);
	return STATUS_OK;
}
