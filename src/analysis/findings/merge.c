// Many findings of one rule whose edits cost nothing (scales) become one,
// with all edits in one step; the worst speaks for all.
#include <math.h>
#include <stdlib.h>
#include "qtui/base/str.h"
#include "rule.h"

enum { MANY = 4 };
static const char scale_word[] = "scale ";

static bool sets_scale(const struct finding *f)
{
	return f->edit && str_has_prefix(f->edit, scale_word);
}

static void absorb(struct finding *into, struct finding *f, struct str *edit)
{
	for (int i = 0; i < f->n_nodes; i++)
		finding_about(into, f->node[i]);
	into->share = fmin(1, into->share + f->share);
	into->damage += f->damage;
	into->reach = fmin(1, into->reach + f->reach);
	str_addf(edit, " %s", f->edit + sizeof scale_word - 1);
	finding_done(f);
}

static void head(struct finding *f, int n, char *edit)
{
	struct str text = {0};
	str_addf(&text, "%d tensors, the worst first: %s", n, f->text);
	free(f->text);
	f->text = str_detach(&text);
	free(f->edit);
	f->edit = edit;
	finding_advise(f, "set the %d scales, each for its own tensor", n);
	if (f->n_evidence == FINDING_EVIDENCE)
		f->n_evidence--;
	finding_prove(f, "tensors", n);
}

// The findings are sorted, the most harmful first.
static void merge_rule(struct findings *f, enum finding_rule rule)
{
	struct finding *first = NULL;
	struct str edit = {0};
	int n = 0, kept = 0;
	for (int i = 0; i < f->n; i++)
		n += f->at[i].rule == rule && sets_scale(&f->at[i]);
	if (n < MANY)
		return;
	for (int i = 0; i < f->n; i++) {
		bool one = f->at[i].rule == rule && sets_scale(&f->at[i]);
		if (one && first) {
			absorb(first, &f->at[i], &edit);
			continue;
		}
		f->at[kept] = f->at[i];
		if (one) {
			first = &f->at[kept];
			str_add(&edit, first->edit);
		}
		kept++;
	}
	f->n = kept;
	head(first, n, str_detach(&edit));
}

void findings_merge(struct findings *f)
{
	for (int r = 0; r < FINDING_RULES; r++)
		merge_rule(f, (enum finding_rule)r);
}
