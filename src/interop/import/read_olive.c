// A workflow of Olive: of its passes, those that quantize have the arguments of ONNX Runtime or of Quark.
#include <string.h>
#include <strings.h>
#include "wishes.h"

// Where data come from, how Olive runs, and what a target says.
static const char *const of_olive[] = {"type", "config", "host", "evaluator", "disable_search", "clean_run_cache", "output_name",
    "data_config", "user_script", "data_dir", "script_dir", "dataloader_func", "batch_size", "quant_mode", "quant_preprocess", "precision"};

static bool has_type(const cJSON *pass, const char *const *types)
{
	const char *type = json_text(pass, "type", "");
	while (*types && strcasecmp(*types, type) != 0)
		types++;
	return *types != NULL;
}

// The members stand in `config`, or beside the type.
static void read_arguments_of(struct wishes *w, const cJSON *pass)
{
	const cJSON *config = object_in(w, pass, "config");
	cJSON *own = cJSON_Duplicate(config ? config : pass, true);
	for (size_t i = 0; i < sizeof of_olive / sizeof *of_olive; i++)
		cJSON_DeleteItemFromObjectCaseSensitive(own, of_olive[i]);
	read_arguments(w, own);
	cJSON_Delete(own);
}

// A pass may be a list of its variants, of which the first is taken.
void read_olive(struct wishes *w, const cJSON *root)
{
	static const char *const read[] = {"OnnxQuantization", "OnnxStaticQuantization", "VitisAIQuantization", "QuarkQuantization", NULL},
	    *const dynamic[] = {"OnnxDynamicQuantization", NULL};
	const cJSON *item;
	int passes = 0;
	cJSON_ArrayForEach(item, object_in(w, root, "passes"))
	{
		const cJSON *pass = cJSON_IsArray(item) ? item->child : item;
		if (has_type(pass, dynamic) || (has_type(pass, read) && strcasecmp(json_text(pass, "quant_mode", ""), "dynamic") == 0)) {
			wish_note(w, "passes: %.60s finds scales as the network runs: there is nothing to take over", item->string);
			passes++;
		} else if (has_type(pass, read)) {
			read_arguments_of(w, pass);
			passes++;
		}
	}
	if (!passes)
		wish_note(w, "passes: none of them quantizes by ONNX Runtime or Quark");
}
