// Edits about to be tried: the same change in the trial and as commands of the study.
#include <stdlib.h>
#include <string.h>
#include "../study/study_impl.h"
#include "repair_impl.h"

void candidate_say(struct repair *r, struct candidate *c, const char *command)
{
	const char **grown = arena_alloc(r->arena, ((size_t)c->n_commands + 1) * sizeof *grown);
	if (c->n_commands)
		memcpy(grown, c->command, (size_t)c->n_commands * sizeof *grown);
	grown[c->n_commands++] = arena_strdup(r->arena, command);
	c->command = grown;
}

void candidate_set(struct repair *r, struct candidate *c, const bool *marked, enum precision p)
{
	struct str text = {0};
	str_add(&text, "set");
	for (int n = 0; n < r->g->n_nodes; n++) {
		if (!marked[n])
			continue;
		c->trial.edits->precision[n] = (signed char)p;
		str_add(&text, " ");
		study_add_word(&text, r->g->node[n].name);
	}
	str_addf(&text, " %s", precision_name(p));
	candidate_say(r, c, str_text(&text));
	str_done(&text);
}

void candidate_scales(struct repair *r, struct candidate *c, const double *scale)
{
	struct str text = {0};
	struct edits *e = c->trial.edits;
	bool any = false;
	int n, *made = graph_scalable(r->g, &n);
	str_add(&text, "scale");
	for (int i = 0; i < n; i++) {
		int value = made[i];
		if (scale[value] == e->scale[value])
			continue;
		any = true;
		edits_give_scale(e, value, scale[value], ZERO_FOLLOWS);
		study_add_scale(&text, r->g, value, e->scale[value], ZERO_FOLLOWS); // the float that is tried
	}
	free(made);
	if (any)
		candidate_say(r, c, str_text(&text));
	str_done(&text);
}
