// RKNN-Toolkit2: the block custom_quantize_layers of a .quantization.cfg (YAML), a type for the tensors that
// operators end with. The rest of that file is what its step 1 calibrated; the block is put into it as text.
#include <stdlib.h>
#include "formats.h"

static const char *const type_name[PREC_COUNT] = {[PREC_INT8] = "int8", [PREC_INT16] = "int16", [PREC_FLOAT] = "float16"};

static bool has_control(const char *name)
{
	while ((unsigned char)*name >= ' ' && *name != 0x7f)
		name++;
	return *name != '\0';
}

// Quoted, since a name may be a number or have anything in it.
static void add_tensor(struct str *block, struct str *loss, const char *tensor, const char *type)
{
	if (has_control(tensor)) {
		lose(loss, "%s: YAML cannot say a name with a control character in it", tensor);
		return;
	}
	str_add(block, "    '");
	for (const char *c = tensor; *c; c++) {
		str_addn(block, c, 1);
		if (*c == '\'')
			str_addn(block, c, 1);
	}
	str_addf(block, "': %s\n", type);
}

static void add_outputs(struct str *block, struct str *loss, const struct graph *g, const struct node *n, const char *type)
{
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0)
			add_tensor(block, loss, g->value[n->out[i]].name, type);
}

enum status rknn(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	const struct group *group = snapshot_plan(s)->group;
	signed char *want = operator_precisions(d, s);
	struct str block = {0};
	(void)err;
	for (int n = 0; n < s->n_rows; n++)
		if (group[n].last == n && want[n] >= 0)
			add_outputs(&block, loss, s->g, &s->g->node[n], type_name[want[n]]);
	str_addf(out, "custom_quantize_layers:%s\n", block.len ? "" : " {}");
	str_add_utf8(out, str_text(&block));
	lose_scales(loss, d, s, "custom_quantize_layers");
	lose_method(loss, s, "custom_quantize_layers");
	lose_calibrators(loss, d, s, "custom_quantize_layers");
	if (block.len)
		lose(loss,
		    "put this block, as text, in place of custom_quantize_layers in the .quantization.cfg of "
		    "hybrid_quantization_step1; a name that its quantize_parameters does not have (RKNN rewrites the graph: -rs, _sw ...) stops step 2");
	str_done(&block);
	free(want);
	return STATUS_OK;
}
