// What can be said of the inputs without knowing the truth: that they are all the same number, or that their mean and deviation
// are a guess without ground.
#include <math.h>
#include "rule.h"

static int first_reader(const struct graph *g, int value)
{
	return g->value[value].n_consumers > 0 ? g->value[value].consumer[0] : -1;
}

static void constant_input(struct look *l, int value, const struct site *s)
{
	struct finding *f = finding_add(l, first_reader(l->g, value), 1);
	finding_say(f, "Every element of input %s is %g in all samples.", l->g->value[value].name, s->range.min);
	finding_advise(f, "look at mean and deviation, and at the data themselves");
	finding_prove(f, "value", s->range.min);
	finding_prove(f, "elements", s->range.n);
}

static void guessed_input(struct look *l, int value, const struct site *s, const char *guess)
{
	struct finding *f = finding_add(l, first_reader(l->g, value), 0.02);
	finding_say(f, "Input %s lies in %.4g .. %.4g by a guess without ground (%s).", l->g->value[value].name, s->range.min, s->range.max,
	    guess);
	finding_advise(f, "give the --mean, --std and --color that the network was trained with");
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
}

void rule_preprocessing(struct look *l)
{
	const struct dataset *d = l->study ? study_dataset(l->study) : NULL;
	const struct preprocess *p = d ? dataset_preprocess(d) : NULL;
	for (int i = 0; i < l->g->n_inputs; i++) {
		const struct site *s = site_of(l, l->g->input[i]);
		if (!s || s->range.n < 2)
			continue;
		if (site_span(s) <= 1e-6 * fabs(s->range.max))
			constant_input(l, l->g->input[i], s);
		else if (p && p->warn && p->guess[0] && study_options(l->study)->data.random == 0)
			guessed_input(l, l->g->input[i], s, p->guess);
	}
}
