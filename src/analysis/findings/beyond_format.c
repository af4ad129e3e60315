// A cast of 16 bits makes infinity of what is larger than its format holds. Most of it is a mask that sets logits to
// -infinity, which a Softmax takes; but 0 * -infinity is no number, nor is the difference of two.
#include <math.h>
#include <stdlib.h>
#include "rule.h"

static bool is_infinite_as(const struct quantizer *q, float v)
{
	struct tensor t = {.type = DT_F32, .data = &v};
	bool finite = isfinite(v);
	fake_quantize(&t, &t, q, 1);
	return finite && !isfinite(v);
}

// The largest magnitude of a constant, or of what samples have shown; 0: not known.
static float largest(const struct look *l, int value)
{
	const struct tensor *t = l->g->value[value].constant;
	const struct site *s = t ? NULL : site_of(l, value);
	float most = s && s->range.n > 0 ? (float)fmax(-s->range.min, s->range.max) : 0;
	for (int64_t i = 0, n = t && t->type == DT_F32 ? tensor_count(t) : 0; i < n; i++) {
		float v = fabsf(((const float *)t->data)[i]);
		most = isfinite(v) && v > most ? v : most;
	}
	return most;
}

// The largest magnitude that the slot casts to infinity; 0: none.
static float lost_at(const struct look *l, const struct slot *s)
{
	float most = s->value >= 0 && is_cast(s) ? largest(l, s->value) : 0;
	return most > 0 && is_infinite_as(&s->quant, most) ? most : 0;
}

static bool has_infinite_result(const struct look *l)
{
	for (int i = 0; i < l->s->n_outputs; i++)
		if (l->s->output[i].known && !isfinite(l->s->output[i].pooled.mse))
			return true;
	return false;
}

struct lost {
	int *node, n; // those to be left in float
	int value;    // the tensor that is said
	float most;   // its largest magnitude
	const char *format;
};

static void note(struct lost *to, int node, const struct slot *s, float most)
{
	if (most > to->most) {
		to->most = most;
		to->value = s->value;
		to->format = s->quant.kind == QUANT_FP16 ? "float16" : "bfloat16";
	}
	if (!to->n || to->node[to->n - 1] != node)
		to->node[to->n++] = node;
}

// Constants only: their nodes in float compute the mask that the file means.
static void find_constants(const struct look *l, struct lost *to)
{
	for (int n = 0; n < l->g->n_nodes; n++)
		for (int i = 0; i < l->g->node[n].n_in; i++) {
			const struct slot *s = plan_in(l->plan, n, i);
			float most = s->parameter ? lost_at(l, s) : 0;
			if (most > 0)
				note(to, n, s, most);
		}
}

// What makes numbers that are too large, and what reads them.
static void find_computed(const struct look *l, struct lost *to)
{
	bool *large = xcalloc((size_t)l->g->n_values + 1, sizeof *large);
	for (int n = 0; n < l->g->n_nodes; n++) {
		const struct node *node = &l->g->node[n];
		for (int i = 0; i < node->n_out; i++) {
			const struct slot *s = plan_out(l->plan, n, i);
			float most = lost_at(l, s);
			if (most > 0) {
				large[s->value] = true;
				note(to, n, s, most);
			}
		}
		for (int i = 0; i < node->n_in; i++) {
			const struct slot *s = plan_in(l->plan, n, i);
			float most = lost_at(l, s);
			if (most > 0 || (s->value >= 0 && large[s->value]))
				note(to, n, s, most);
		}
	}
	free(large);
}

// Infinity that reaches no result does no harm, so nothing is said of it.
void rule_beyond_format(struct look *l)
{
	if (!l->plan || !has_infinite_result(l))
		return;
	struct lost lost = {.node = xcalloc((size_t)l->g->n_nodes + 1, sizeof *lost.node), .value = -1};
	find_constants(l, &lost);
	if (!lost.n)
		find_computed(l, &lost);
	if (lost.n) {
		const struct value *v = &l->g->value[lost.value];
		struct finding *f = finding_add(l, lost.node[0], 1);
		for (int i = 1; i < lost.n; i++)
			finding_about(f, lost.node[i]);
		finding_say(f, "%s%s reaches %.4g, which is infinity in %s: 0 * infinity and infinity - infinity are no numbers, and the outputs "
		               "hold such.",
		    v->constant ? "The constant " : "", v->name, (double)lost.most, lost.format);
		finding_prove(f, "largest magnitude", (double)lost.most);
		finding_prove(f, "nodes", lost.n);
		if (finding_set(f, l, lost.node, lost.n, PREC_FLOAT))
			finding_advise(f, "leave %s in float", lost.n > 1 ? "these nodes" : l->g->node[lost.node[0]].name);
	}
	free(lost.node);
}
