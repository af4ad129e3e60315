// A configuration inside (private to config*.c).
#ifndef QTUI_CLI_CONFIG_IMPL_H
#define QTUI_CLI_CONFIG_IMPL_H

#include "config.h"
#include "qtui/base/json.h"

struct config {
	cJSON *root;
	char *path;
	char **text; // what options point to
	size_t n_texts, cap_texts;
	bool no_step; // neither it nor an option says how many samples
};

static inline const cJSON *config_section(const struct config *c, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(c->root, name);
}

const cJSON *config_inputs(const struct config *c); // the list of what it says of the model's inputs; NULL: nothing

#endif
