// Where numbers stop being finite, of the float network or else of the quantized one: a pass that looks at every
// tensor, made only where an output is not finite, or where a tensor has no range.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../study/study_impl.h"
#include "qtui/base/log.h"

enum kind { A_NAN, AN_INFINITY, N_KINDS };
static const char *const what[N_KINDS] = {[A_NAN] = "NaN", [AN_INFINITY] = "infinite numbers"};

struct looking {
	const struct graph *g;
	const struct plan *plan; // of SIM_FULL
	enum sim sim;
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

struct beginning {
	char text[512]; // "": of inputs the samples' reader has told, and of NaN in a constant who loaded it
	bool made;      // by a node
};

static void say(struct beginning *out, const struct looking *l, const struct dataset *d, int value, enum kind kind)
{
	const struct value *v = &l->g->value[value];
	*out = (struct beginning){.made = v->producer >= 0};
	if (v->constant && kind == AN_INFINITY)
		snprintf(out->text, sizeof out->text,
		    "the model's constant '%s' holds infinite numbers, which reach what is measured: export it again", v->name);
	else if (out->made)
		snprintf(out->text, sizeof out->text, "tensor %s is the first with %s, in sample %s: node %s (%s) makes them of finite ones",
		    v->name, what[kind], dataset_name(d, atomic_load(&l->first[kind][value])), l->g->node[v->producer].name,
		    l->g->node[v->producer].op->name);
}

static bool say_of(struct beginning *out, const struct looking *l, const struct dataset *d, int value)
{
	for (int k = 0; k < N_KINDS; k++) {
		enum kind kind = (enum kind)k;
		if (!is_held(l, value, kind))
			continue;
		int at = beginning(l, value, &kind);
		say(out, l, d, at, kind);
		return true;
	}
	return false;
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
	struct beginning b;
	bool held = say_of(&b, l, d, l->g->output[output]);
	if (held && *b.text)
		log_warn("%s", b.text);
	return held;
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
}

static void end_looking(struct looking *l)
{
	for (int k = 0; k < N_KINDS; k++)
		free(l->first[k]);
}

void work_tell_nonfinite(struct work *w, int output)
{
	struct study *s = w->study;
	struct looking l;
	if (s->told_nonfinite)
		return;
	begin_looking(&l, s->g);
	if (look_at_all(&l, s) == STATUS_OK) {
		s->told_nonfinite = tell_of_float(&l, s->d, output);
		l.sim = SIM_FULL;
		l.plan = w->plan;
		if (!s->told_nonfinite && look_at_all(&l, s) == STATUS_OK)
			tell_of_quantized(&l, s->d, s->g->output[output]);
	}
	end_looking(&l);
}

void work_explain_nonfinite(struct work *w, struct error *err)
{
	struct study *s = w->study;
	struct error was = *err;
	struct looking l;
	struct beginning b = {.made = false};
	bool held = false;
	begin_looking(&l, s->g);
	bool looked = look_at_all(&l, s) == STATUS_OK;
	for (int n = 0; looked && n < s->g->n_nodes && !held; n++) // the first of them is not behind another
		for (int i = 0; i < s->g->node[n].n_out && !held; i++)
			held = s->g->node[n].out[i] >= 0 && say_of(&b, &l, s->d, s->g->node[n].out[i]);
	if (*b.text)
		error_set(err, was.status, "%s; %s%s", was.text, b.text,
		    b.made ? ". Look at what that node reads, or set it and those behind it to float" : "");
	end_looking(&l);
}
