// Where numbers stop being finite, of the float network or else of the quantized one: a pass that looks at every
// tensor, made only where an output is not finite, or where a tensor has no range.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../study/study_impl.h"
#include "qtui/base/log.h"

enum { BEGINNING = 512 }; // a text
enum kind { A_NAN, AN_INFINITY, N_KINDS };
static const char *const what[N_KINDS] = {[A_NAN] = "NaN", [AN_INFINITY] = "infinite numbers"};

struct looking {
	const struct graph *g;
	const struct plan *plan; // of SIM_FULL
	enum sim sim;
	atomic_int *first[N_KINDS]; // [n_values] the first sample that holds one; INT_MAX: none
	bool *unranged;             // [n_values] work_unranged
	bool *told;                 // [n_values] as a beginning
};

static bool holds(const float *v, size_t n, enum kind kind)
{
	for (size_t i = 0; i < n; i++)
		if (kind == A_NAN ? isnan(v[i]) : isinf(v[i]))
			return true;
	return false;
}

static bool tensor_holds(const struct tensor *t, enum kind kind)
{
	return t->type == DT_F32 && holds(t->data, tensor_bytes(t) / sizeof(float), kind);
}

static void see(void *arg, const struct sighting *s)
{
	struct looking *l = arg;
	for (int k = 0; k < N_KINDS; k++) {
		int before = INT_MAX;
		if (!tensor_holds(&s->rep[l->sim]->t, (enum kind)k))
			continue;
		while (s->sample < before && !atomic_compare_exchange_weak(&l->first[k][s->value], &before, s->sample))
			continue;
	}
}

static bool is_held(const struct looking *l, int value, enum kind kind)
{
	const struct value *v = &l->g->value[value];
	return v->constant ? tensor_holds(v->constant, kind) : atomic_load(&l->first[kind][value]) < INT_MAX;
}

static int input_that_holds(const struct looking *l, const struct node *n, enum kind kind)
{
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] >= 0 && is_held(l, n->in[i], kind))
			return n->in[i];
	return -1;
}

// Upstream as long as something that is read has it, too.
// A NaN may come from infinite numbers: these are the beginning then.
static int beginning(const struct looking *l, int value, enum kind *kind)
{
	for (int producer; (producer = l->g->value[value].producer) >= 0;) {
		const struct node *n = &l->g->node[producer];
		int from = input_that_holds(l, n, *kind);
		if (from < 0 && *kind == A_NAN && (from = input_that_holds(l, n, AN_INFINITY)) >= 0)
			*kind = AN_INFINITY;
		if (from < 0)
			break;
		value = from;
	}
	return value;
}

// "": of inputs the samples' reader has told, and of NaN in a constant who loaded it.
static void say(char out[BEGINNING], const struct looking *l, const struct dataset *d, int value, enum kind kind)
{
	const struct value *v = &l->g->value[value];
	*out = '\0';
	if (v->constant && kind == AN_INFINITY)
		snprintf(out, BEGINNING, "the model's constant '%s' holds infinite numbers, which reach what is measured: export it again",
		    v->name);
	else if (v->producer >= 0)
		snprintf(out, BEGINNING, "tensor %s is the first with %s, in sample %s: node %s (%s) makes them of finite ones", v->name,
		    what[kind], dataset_name(d, atomic_load(&l->first[kind][value])), l->g->node[v->producer].name,
		    l->g->node[v->producer].op->name);
}

// The value where what is not finite in this one begins; -1: it is finite.
static int find_beginning(const struct looking *l, int value, enum kind *kind)
{
	for (int k = 0; k < N_KINDS; k++)
		if (is_held(l, value, *kind = (enum kind)k))
			return beginning(l, value, kind);
	return -1;
}

static enum status look_at_all(struct looking *l, struct study *s)
{
	struct error ignored = {0};
	bool *want = xcalloc((size_t)l->g->n_values + 1, sizeof *want);
	for (int v = 0; v < l->g->n_values; v++) {
		want[v] = !l->g->value[v].constant && l->g->value[v].type == DT_F32;
		for (int k = 0; k < N_KINDS; k++)
			atomic_store(&l->first[k][v], INT_MAX);
	}
	struct pass p = {.plan = l->plan, .last = dataset_count(s->d), .data = s->d, .keep = KEEP_NOTHING, .visit = see, .arg = l,
	    .cancel = &s->cancel};
	p.want[l->sim] = want;
	enum status st = engine_pass(s->engine, &p, &ignored);
	free(want);
	return st;
}

static bool tell_of_float(const struct looking *l, const struct dataset *d, int output)
{
	char text[BEGINNING];
	enum kind kind;
	int at = output < 0 ? -1 : find_beginning(l, l->g->output[output], &kind);
	if (at < 0 || l->told[at])
		return at >= 0;
	say(text, l, d, at, kind);
	if (*text)
		log_warn("%s", text);
	return true;
}

// One line for all tensors without a range behind one beginning. In the float network, whose tensors are those that
// observers see but for the rounding of weights.
static void tell_unranged(const struct looking *l, const struct dataset *d)
{
	enum kind kind;
	int n_values = l->g->n_values, *from = xcalloc((size_t)n_values + 1, sizeof *from), *more = xcalloc((size_t)n_values + 1, sizeof *more);
	for (int v = 0; v < n_values; v++) {
		from[v] = l->unranged[v] ? find_beginning(l, v, &kind) : -1;
		if (from[v] >= 0)
			more[from[v]]++;
	}
	for (int v = 0; v < n_values; v++) {
		char text[BEGINNING] = "", others[48] = "";
		int at = from[v];
		if (!l->unranged[v] || (at >= 0 && l->told[at]))
			continue;
		if (at >= 0) {
			l->told[at] = true;
			say(text, l, d, find_beginning(l, v, &kind), kind);
			if (more[at] > 1)
				snprintf(others, sizeof others, ", nor in %d more", more[at] - 1);
		}
		log_warn("nothing in tensor %s is finite%s: without a range there is no scale, so that it stays float and has no figures%s%s",
		    l->g->value[v].name, others, *text ? "; " : "", text);
	}
	free(from);
	free(more);
}

static void tell_of_quantized(const struct looking *l, const struct dataset *d, int output)
{
	const char *result = l->g->value[output].name;
	enum kind kind = is_held(l, output, A_NAN) ? A_NAN : AN_INFINITY;
	if (!is_held(l, output, kind))
		return;
	int at = beginning(l, output, &kind), node = l->g->value[at].producer;
	if (node >= 0)
		log_warn("output %s is finite in the float network, and is not when quantized: tensor %s is the first with %s, in sample %s: "
		         "node %s (%s) reads or makes numbers larger than the target's format holds",
		    result, l->g->value[at].name, what[kind], dataset_name(d, atomic_load(&l->first[kind][at])), l->g->node[node].name,
		    l->g->node[node].op->name);
	else
		log_warn("output %s is finite in the float network, and is not when quantized: input %s is larger than the target's format holds",
		    result, l->g->value[at].name);
}

static void begin_looking(struct looking *l, const struct graph *g)
{
	*l = (struct looking){.g = g, .sim = SIM_FLOAT};
	for (int k = 0; k < N_KINDS; k++)
		l->first[k] = xcalloc((size_t)g->n_values + 1, sizeof *l->first[k]);
	l->unranged = xcalloc((size_t)g->n_values + 1, sizeof *l->unranged);
	l->told = xcalloc((size_t)g->n_values + 1, sizeof *l->told);
}

static void end_looking(struct looking *l)
{
	for (int k = 0; k < N_KINDS; k++)
		free(l->first[k]);
	free(l->unranged);
	free(l->told);
}

static bool rearranges_one(const struct node *n)
{
	return n->n_out == 1 && n->out[0] >= 0 && node_rearranges(n);
}

static bool is_all_unranged(const bool *unranged, const struct node *n)
{
	int i = 0;
	while (i < node_data_inputs(n) && n->in[i] >= 0 && unranged[n->in[i]])
		i++;
	return i == node_data_inputs(n);
}

// What nobody has observed, as it has the scale of what it becomes (in a Concat) or comes from (by a Reshape), has the same
// elements.
int work_unranged(bool *unranged, const struct plan *p)
{
	const struct graph *g = p->g;
	int count = 0;
	for (int i = 0; i < p->n_observe; i++)
		unranged[p->observe[i].value] |= p->observe[i].scale == 0;
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		const struct node *node = &g->node[n];
		for (int i = 0; rearranges_one(node) && unranged[node->out[0]] && i < node_data_inputs(node); i++)
			if (node->in[i] >= 0)
				unranged[node->in[i]] = true;
	}
	for (int n = 0; n < g->n_nodes; n++)
		if (rearranges_one(&g->node[n]))
			unranged[g->node[n].out[0]] |= is_all_unranged(unranged, &g->node[n]);
	for (int v = 0; v < g->n_values; v++)
		count += unranged[v] &= g->value[v].producer >= 0;
	return count;
}

void work_tell_nonfinite(struct work *w, int output)
{
	struct study *s = w->study;
	struct looking l;
	begin_looking(&l, s->g);
	bool any = work_unranged(l.unranged, w->plan) > 0;
	if (!s->told_nonfinite && (any || output >= 0) && look_at_all(&l, s) == STATUS_OK) {
		tell_unranged(&l, s->d);
		s->told_nonfinite = tell_of_float(&l, s->d, output) || any;
		l.sim = SIM_FULL;
		l.plan = w->plan;
		if (!s->told_nonfinite && look_at_all(&l, s) == STATUS_OK)
			tell_of_quantized(&l, s->d, s->g->output[output]);
	}
	end_looking(&l);
}
