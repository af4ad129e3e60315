// From one set of edits to another, as the commands that lead there.
#include <stdlib.h>
#include "qtui/engine/tune.h"
#include "study_impl.h"

static char **add_command(char **list, int *n, struct str *text)
{
	list = xrealloc(list, ((size_t)*n + 1) * sizeof *list);
	list[(*n)++] = str_detach(text);
	return list;
}

// The nodes that shall be at a precision (-1: the target's choice) and are not.
static char **add_precision(char **list, int *n, const struct graph *g, const struct edits *from, const struct edits *to, int precision)
{
	struct str text = {0};
	for (int i = 0; i < g->n_nodes; i++) {
		if (to->precision[i] != precision || from->precision[i] == precision)
			continue;
		str_add(&text, text.len ? " " : "set ");
		study_add_word(&text, g->node[i].name);
	}
	if (!text.len)
		return list;
	str_addf(&text, " %s", precision < 0 ? "auto" : precision_name((enum precision)precision));
	return add_command(list, n, &text);
}

static char **add_scales(char **list, int *n, const struct graph *g, const struct edits *from, const struct edits *to)
{
	struct str text = {0};
	int made_n, *made = graph_made(g, &made_n);
	for (int i = 0; i < made_n; i++) {
		if (to->scale[made[i]] == from->scale[made[i]])
			continue;
		str_add(&text, text.len ? "" : "scale");
		study_add_scale(&text, g, made[i], to->scale[made[i]]);
	}
	free(made);
	return text.len ? add_command(list, n, &text) : list;
}

static char **add_tuning(char **list, int *n, const struct edits *from, const struct edits *to)
{
	struct str text = {0};
	char name[TUNING_NAME] = "auto";
	if (key_equal(tuning_key(to->tuning), tuning_key(from->tuning)))
		return list;
	if (to->tuning)
		tuning_name(to->tuning, name);
	str_addf(&text, "tune %s", name);
	return add_command(list, n, &text);
}

char **edits_commands(const struct graph *g, const struct edits *from, enum calib_method before, const struct edits *to,
    enum calib_method after, int *n)
{
	char **list = NULL;
	*n = 0;
	if (before != after) {
		struct str text = {0};
		str_addf(&text, "calibration %s", calib_name(after));
		list = add_command(list, n, &text);
	}
	for (int p = -1; p < PREC_COUNT; p++)
		list = add_precision(list, n, g, from, to, p);
	list = add_scales(list, n, g, from, to);
	return add_tuning(list, n, from, to);
}

void edits_commands_free(char **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}
