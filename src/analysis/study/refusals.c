// What the target in force takes and what it refuses, kept until there is another.
#include <stdlib.h>
#include "qtui/base/log.h"
#include "study_impl.h"

enum { UNKNOWN, TAKEN, REFUSED };
enum { NAMED = 3, TOLD = 5 }; // nodes in one message; messages of one plan
struct refusals {
	struct plan *bare;
	struct plan *edited;  // NULL: nobody has asked
	struct edits *edits;  // those that it has
	char *of[PREC_COUNT]; // [n_nodes]
};

static struct refusals *begun(struct study *s)
{
	if (s->refusals)
		return s->refusals;
	s->refusals = xcalloc(1, sizeof *s->refusals);
	s->refusals->bare = plan_bare(s->g, s->target);
	for (int p = 0; p < PREC_COUNT; p++)
		s->refusals->of[p] = xcalloc((size_t)s->g->n_nodes + 1, 1);
	return s->refusals;
}

static void forget_edited(struct refusals *r)
{
	if (r->edited) {
		plan_free(&r->edited);
		edits_free(&r->edits);
	}
}

void refusals_forget(struct study *s)
{
	if (!s->refusals)
		return;
	plan_free(&s->refusals->bare);
	forget_edited(s->refusals);
	for (int p = 0; p < PREC_COUNT; p++)
		free(s->refusals->of[p]);
	free(s->refusals);
	s->refusals = NULL;
}

const struct plan *refusals_bare(struct study *s)
{
	return begun(s)->bare;
}

const struct plan *refusals_edited(struct study *s)
{
	struct refusals *r = begun(s);
	if (r->edited && !edits_equal(r->edits, study_edits(s)))
		forget_edited(r);
	if (!r->edited) {
		r->edits = edits_copy(study_edits(s));
		r->edited = plan_outline(s->g, s->target, r->edits);
	}
	return r->edited;
}

static void ask_unknown(const struct refusals *r, const int *nodes, int n, enum precision want)
{
	struct error ignored;
	int *open = xcalloc((size_t)n + 1, sizeof *open), n_open = 0;
	bool *refused = xcalloc((size_t)n + 1, sizeof *refused);
	for (int i = 0; i < n; i++)
		if (r->of[want][nodes[i]] == UNKNOWN) {
			r->of[want][nodes[i]] = TAKEN; // a node that comes twice is asked once
			open[n_open++] = nodes[i];
		}
	if (n_open > 0)
		plan_check_edits(r->bare, open, n_open, want, refused, &ignored);
	for (int i = 0; i < n_open; i++)
		r->of[want][open[i]] = refused[i] ? REFUSED : TAKEN;
	free(open);
	free(refused);
}

void refusals_name_others(struct error *err, const char *const *name, int n)
{
	struct str text = {0};
	for (int i = 0; i < n && i < NAMED; i++)
		str_addf(&text, "%s%s", i ? ", " : "; refused too: ", name[i]);
	if (n > NAMED)
		str_addf(&text, " and %d more", n - NAMED);
	if (n > 0)
		error_set(err, err->status, "%s%s", err->text, str_text(&text));
	str_done(&text);
}

void refusals_name_nodes(struct error *err, const struct graph *g, const int *nodes, const bool *refused, int n, int said)
{
	const char **name = xcalloc((size_t)n + 1, sizeof *name);
	int count = 0;
	for (int i = 0; i < n; i++)
		if (refused[i] && nodes[i] != said)
			name[count++] = g->node[nodes[i]].name;
	refusals_name_others(err, name, count);
	free(name);
}

int refusals_of(struct study *s, const int *nodes, int n, enum precision want, bool *refused, struct error *err)
{
	const struct refusals *r = begun(s);
	int count = 0, said = -1;
	ask_unknown(r, nodes, n, want);
	for (int i = n - 1; i >= 0; i--) {
		refused[i] = r->of[want][nodes[i]] == REFUSED;
		if (refused[i] && ++count == 1)
			said = nodes[i];
	}
	if (said >= 0 && plan_check_edit(r->bare, said, want, err) != STATUS_OK)
		refusals_name_nodes(err, s->g, nodes, refused, n, said);
	return count;
}

enum status refusals_inside(struct study *s, int value, struct error *err)
{
	const int node = s->g->value[value].producer;
	const struct group *of = node < 0 ? NULL : &refusals_bare(s)->group[node];
	if (!of || of->kind == GROUP_NONE || node == of->owner || node == of->last)
		return STATUS_OK;
	return error_set(err, STATUS_REFUSED, "%s: it is inside of one operator, which ends with %s: give the scale to that node",
	    graph_output_name(s->g, value), s->g->node[of->last].name);
}

static struct key told_of(const struct plan *p)
{
	struct key k = {0};
	if (p->n_refused)
		k = key_add_text(k, target_name(p->target));
	for (int i = 0; i < p->n_refused; i++)
		k = key_add_text(key_add_int(k, p->refused[i].node), p->refused[i].reason);
	return k;
}

void refusals_tell(struct study *s, const struct plan *p)
{
	const struct key now = told_of(p);
	if (key_equal(now, s->told_refused))
		return;
	s->told_refused = now;
	for (int i = 0; i < p->n_refused && i < TOLD; i++)
		log_warn("an edit in force is refused: %s: %s", p->g->node[p->refused[i].node].name, p->refused[i].reason);
	if (p->n_refused > TOLD)
		log_warn("target %s refuses %d more edits in force", target_name(p->target), p->n_refused - TOLD);
}
