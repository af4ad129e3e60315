// Where the numbers of the float network stop being finite: a pass that looks at every tensor,
// made only where an output is not finite, or where a tensor has no range.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include "../study/study_impl.h"
#include "qtui/base/log.h"

enum kind { A_NAN, AN_INFINITY, N_KINDS };

struct looking {
	const struct graph *g;
	atomic_int *first[N_KINDS]; // [n_values] the first sample that holds one; INT_MAX: none
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
		if (!tensor_holds(&s->rep[SIM_FLOAT]->t, (enum kind)k))
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

// Of inputs the samples' reader has told, and of NaN in a constant who loaded it.
static void tell(const struct looking *l, const struct dataset *d, int value, enum kind kind)
{
	static const char *const what[N_KINDS] = {[A_NAN] = "NaN", [AN_INFINITY] = "infinite numbers"};
	const struct value *v = &l->g->value[value];
	if (v->constant && kind == AN_INFINITY)
		log_warn("the model's constant '%s' holds infinite numbers, which reach what is measured: export it again", v->name);
	else if (v->producer >= 0)
		log_warn("tensor %s is the first with %s, in sample %s: node %s (%s) makes them of finite ones", v->name, what[kind],
		    dataset_name(d, atomic_load(&l->first[kind][value])), l->g->node[v->producer].name, l->g->node[v->producer].op->name);
}

static bool tell_of(const struct looking *l, const struct dataset *d, int value)
{
	for (int k = 0; k < N_KINDS; k++) {
		enum kind kind = (enum kind)k;
		if (!is_held(l, value, kind))
			continue;
		int at = beginning(l, value, &kind);
		tell(l, d, at, kind);
		return true;
	}
	return false;
}

static enum status look_at_all(struct looking *l, struct study *s)
{
	struct error ignored = {0};
	bool *want = xcalloc((size_t)l->g->n_values + 1, sizeof *want);
	for (int v = 0; v < l->g->n_values; v++)
		want[v] = !l->g->value[v].constant && l->g->value[v].type == DT_F32;
	struct pass p = {.want = {[SIM_FLOAT] = want}, .last = dataset_count(s->d), .data = s->d, .keep = KEEP_NOTHING, .visit = see, .arg = l,
	    .cancel = &s->cancel};
	enum status st = engine_pass(s->engine, &p, &ignored);
	free(want);
	return st;
}

void work_tell_nonfinite(struct work *w, int output)
{
	struct study *s = w->study;
	struct looking l = {.g = s->g};
	if (s->told_nonfinite)
		return;
	s->told_nonfinite = true;
	for (int k = 0; k < N_KINDS; k++) {
		l.first[k] = xcalloc((size_t)s->g->n_values + 1, sizeof *l.first[k]);
		for (int v = 0; v < s->g->n_values; v++)
			atomic_store(&l.first[k][v], INT_MAX);
	}
	if (look_at_all(&l, s) == STATUS_OK) {
		bool told = false;
		for (int i = 0; i < s->g->n_outputs && !told; i++)
			told = (output < 0 || i == output) && tell_of(&l, s->d, s->g->output[i]);
		for (int v = 0; v < s->g->n_values && output < 0 && !told; v++)
			told = !s->g->value[v].constant && tell_of(&l, s->d, v);
		if (!told && output >= 0)
			log_warn(
			    "output %s is finite in the float network, and is not when quantized: numbers are larger than the target's format holds",
			    s->g->value[s->g->output[output]].name);
	}
	for (int k = 0; k < N_KINDS; k++)
		free(l.first[k]);
}
