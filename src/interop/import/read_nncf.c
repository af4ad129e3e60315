// NNCF's IgnoredScope: what stays in float.
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/op.h"
#include "wishes.h"

// In an IR that OpenVINO made of the model, a Conv or Gemm with a bias is NAME/WithoutBiases,
// and NAME is the sum behind it.
static void ignore_name(struct wishes *w, const char *name)
{
	static const char suffix[] = "/WithoutBiases";
	char *base = xstrdup(name);
	if (graph_find_node(w->g, name) < 0 && str_has_suffix(name, suffix))
		base[strlen(name) - strlen(suffix)] = '\0';
	wish_name(w, base, PREC_FLOAT);
	free(base);
}

static bool has_groups(const struct node *n)
{
	return ((const struct conv_attrs *)n->attrs)->group > 1;
}

// A convolution with groups has a type of its own in OpenVINO. False: `type` is none of these.
static bool ignore_grouped(struct wishes *w, const char *type)
{
	static const struct {
		const char *type;
		enum op_id id;
		bool groups;
	} kind[] = {{"Convolution", OP_Conv, false}, {"GroupConvolution", OP_Conv, true}, {"ConvolutionBackpropData", OP_ConvTranspose, false},
	    {"GroupConvolutionBackpropData", OP_ConvTranspose, true}};
	size_t k = 0;
	while (k < sizeof kind / sizeof *kind && strcmp(kind[k].type, type) != 0)
		k++;
	if (k == sizeof kind / sizeof *kind)
		return false;
	bool any = false;
	for (int n = 0; n < w->g->n_nodes; n++)
		if (w->g->node[n].op->id == kind[k].id && has_groups(&w->g->node[n]) == kind[k].groups) {
			wish_precision(w, n, PREC_FLOAT);
			any = true;
		}
	if (!any)
		wish_note(w, "%.120s: the model has no operator of this type", type);
	return true;
}

// OpenVINO's words for types of operators, where they are not ONNX's.
static void ignore_type(struct wishes *w, const char *type)
{
	static const char *const word[][2] = {{"Multiply", "Mul"}, {"Subtract", "Sub"}, {"Divide", "Div"}, {"Power", "Pow"}, {"Minimum", "Min"},
	    {"Maximum", "Max"}, {"Interpolate", "Resize"}, {"Clamp", "Clip"}, {"HSwish", "HardSwish"}, {"AvgPool", "AveragePool"},
	    {"VariadicSplit", "Split"}};
	if (ignore_grouped(w, type))
		return;
	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (strcmp(type, word[i][0]) == 0)
			type = word[i][1];
	wish_type(w, type, PREC_FLOAT);
}

static void ignore_pattern(struct wishes *w, const char *pattern)
{
	wish_pattern(w, pattern, PREC_FLOAT);
}

void read_nncf(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *inner = object_in(w, root, "ignored_scope"), *scope = inner ? inner : root;
	each_text_in(w, scope, "names", ignore_name);
	each_text_in(w, scope, "patterns", ignore_pattern);
	each_text_in(w, scope, "types", ignore_type);
	note_unread(w, scope, "ignored_scope", "names patterns types subgraphs validate");
	cJSON_ArrayForEach(item, list_in(w, scope, "subgraphs"))
		wish_region(w, cJSON_GetObjectItemCaseSensitive(item, "inputs"), cJSON_GetObjectItemCaseSensitive(item, "outputs"), PREC_FLOAT);
}
