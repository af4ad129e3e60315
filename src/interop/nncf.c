// NNCF: an IgnoredScope, which says what stays in float and nothing else.
#include "formats.h"

enum status nncf(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject(), *scope = cJSON_AddObjectToObject(root, "ignored_scope");
	(void)err;
	cJSON_AddItemToObject(scope, "names", excluded_nodes(d, s));
	cJSON_AddBoolToObject(scope, "validate", true);
	lose_precision(loss, d, s, PREC_INT16, "an IgnoredScope");
	lose_scales(loss, d, s, "an IgnoredScope");
	lose_unnamed(loss, d, s, "NNCF");
	finish_json(out, root);
	return STATUS_OK;
}
