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

// The nodes that shall be given something and are not: `want` as `word` says it, -1: "auto".
static char **add_given(
    char **list, int *n, const struct graph *g, const char *command, const signed char *from, const signed char *to, int want, const char *word)
{
	struct str text = {0};
	for (int i = 0; i < g->n_nodes; i++) {
		if (to[i] != want || from[i] == want)
			continue;
		str_add(&text, text.len ? "" : command);
		str_add(&text, " ");
		study_add_word(&text, g->node[i].name);
	}
	if (!text.len)
		return list;
	str_addf(&text, " %s", want < 0 ? "auto" : word);
	return add_command(list, n, &text);
}

static char **add_scales(char **list, int *n, const struct graph *g, const struct edits *from, const struct edits *to)
{
	struct str text = {0};
	int made_n, *made = graph_scalable(g, &made_n);
	for (int i = 0; i < made_n; i++) {
		if (to->scale[made[i]] == from->scale[made[i]] && to->zero[made[i]] == from->zero[made[i]])
			continue;
		str_add(&text, text.len ? "" : "scale");
		study_add_scale(&text, g, made[i], to->scale[made[i]], to->zero[made[i]]);
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
		list = add_given(list, n, g, "set", from->precision, to->precision, p, p < 0 ? NULL : precision_name((enum precision)p));
	for (int m = -1; m < CALIB_COUNT; m++)
		list =
		    add_given(list, n, g, "calibration", from->calibrator, to->calibrator, m, m < 0 ? NULL : calib_name((enum calib_method)m));
	list = add_scales(list, n, g, from, to);
	return add_tuning(list, n, from, to);
}

void edits_commands_free(char **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}
