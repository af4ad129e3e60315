// From one set of edits to another, as the commands that lead there.
#include <stdlib.h>
#include "qtui/engine/tune.h"
#include "study_impl.h"

struct commands {
	const struct graph *g;
	const struct edits *from, *to;
	char **at;
	int n;
};

static void add_command(struct commands *c, struct str *text)
{
	c->at = xrealloc(c->at, ((size_t)c->n + 1) * sizeof *c->at);
	c->at[c->n++] = str_detach(text);
}

// The nodes that shall be given something and are not: `want` as `word` says it, -1: "auto".
static void add_given(struct commands *c, const char *command, const signed char *from, const signed char *to, int want, const char *word)
{
	struct str text = {0};
	for (int i = 0; i < c->g->n_nodes; i++) {
		if (to[i] != want || from[i] == want)
			continue;
		str_add(&text, text.len ? "" : command);
		str_add(&text, " ");
		study_add_word(&text, c->g->node[i].name);
	}
	if (!text.len)
		return;
	str_addf(&text, " %s", want < 0 ? "auto" : word);
	add_command(c, &text);
}

static void add_scales(struct commands *c)
{
	struct str text = {0};
	int n, *made = graph_scalable(c->g, &n);
	for (int i = 0; i < n; i++) {
		int v = made[i];
		if (c->to->scale[v] == c->from->scale[v] && c->to->zero[v] == c->from->zero[v])
			continue;
		str_add(&text, text.len ? "" : "scale");
		study_add_scale(&text, c->g, v, c->to->scale[v], c->to->zero[v]);
	}
	free(made);
	if (text.len)
		add_command(c, &text);
}

static void add_tuning(struct commands *c)
{
	struct str text = {0};
	char name[TUNING_NAME] = "auto";
	if (key_equal(tuning_key(c->to->tuning), tuning_key(c->from->tuning)))
		return;
	if (c->to->tuning)
		tuning_name(c->to->tuning, name);
	str_addf(&text, "tune %s", name);
	add_command(c, &text);
}

char **edits_commands(const struct graph *g, const struct edits *from, enum calib_method before, const struct edits *to,
    enum calib_method after, int *n)
{
	struct commands c = {g, from, to, NULL, 0};
	if (before != after) {
		struct str text = {0};
		str_addf(&text, "calibration %s", calib_name(after));
		add_command(&c, &text);
	}
	for (int p = -1; p < PREC_COUNT; p++)
		add_given(&c, "set", from->precision, to->precision, p, p < 0 ? NULL : precision_name((enum precision)p));
	for (int m = -1; m < CALIB_COUNT; m++)
		add_given(&c, "calibration", from->calibrator, to->calibrator, m, m < 0 ? NULL : calib_name((enum calib_method)m));
	add_scales(&c);
	add_tuning(&c);
	*n = c.n;
	return c.at;
}

void edits_commands_free(char **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}
