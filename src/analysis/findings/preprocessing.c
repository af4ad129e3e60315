// Inputs that the network was not trained on: all the same number, or, where a survey knows the labels,
// pictures that are recognized better when they are prepared otherwise.
#include <math.h>
#include "qtui/analysis/survey.h"
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

// Pictures prepared otherwise than in training are recognized worse, and the labels tell.
static void prepared_wrongly(struct look *l, const struct survey_preparation *p)
{
	struct finding *f = finding_add(l, first_reader(l->g, l->g->input[0]), 1);
	if (p->kind == TASK_AGREE)
		finding_say(f,
		    "The first layer gives what it gave in training (the statistics of its BatchNormalization) when pictures are prepared with %s: "
		    "agreement %.3f in place of %.3f.",
		    p->option, p->otherwise, p->now);
	else
		finding_say(f,
		    "The float network itself agrees better with %s when pictures are prepared with %s: mean %s %.3f in place of %.3f.",
		    task_judge(p->kind), p->option, task_sample_word(task_figure_name(p->kind)), p->otherwise, p->now);
	finding_advise(f, "prepare pictures so, here and on the device; ranges are calibrated anew");
	finding_prepare(f, p->option);
	finding_prove(f, "agreement as prepared", p->now);
	finding_prove(f, "agreement otherwise", p->otherwise);
	finding_prove(f, "difference over its standard error", p->t);
	finding_prove(f, "samples", p->samples);
	finding_prove(f, "ways compared", p->ways);
}

void rule_preprocessing(struct look *l)
{
	const struct survey *v = l->survey;
	for (int i = 0; i < l->g->n_inputs; i++) {
		const struct site *s = site_of(l, l->g->input[i]);
		if (s && s->range.n >= 2 && site_span(s) <= 1e-6 * fabs(s->range.max))
			constant_input(l, l->g->input[i], s);
	}
	if (v && v->preparation.known && v->preparation.option[0] && l->g->n_inputs > 0)
		prepared_wrongly(l, &v->preparation);
}
