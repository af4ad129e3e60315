// A model for several configurations (sample rates, with and without a cache) asks an input of one integer
// which of them it is to be. What lies behind such an If is no part of the network that is quantized,
// unless the input is a constant. Its name stays an input of the model.
#include <stdlib.h>
#include "../ops/element.h"
#include "fixed.h"
#include "qtui/base/log.h"

// One bit for each of the first inputs, and one for all else that decides a value.
#define ELSE ((uint64_t)1 << 63)
enum { CHOICES = 63 };

static bool is_choice(const struct draft_value *v)
{
	return v->type != DT_F32 && v->type != DT_NONE && shape_count(&v->shape) == 1;
}

static void note_sources(uint64_t *decides, const struct draft *d)
{
	for (size_t v = 0; v < d->n_values; v++)
		decides[v] = d->value[v].constant || d->value[v].producer ? 0 : ELSE;
	for (size_t i = 0; i < d->n_inputs && i < CHOICES; i++)
		if (!d->value[d->input[i]].fixed && is_choice(&d->value[d->input[i]]))
			decides[d->input[i]] = (uint64_t)1 << i;
}

// What decides each value; the caller frees.
static uint64_t *find_deciders(const struct draft *d)
{
	uint64_t *decides = xmalloc((d->n_values + 1) * sizeof *decides);
	note_sources(decides, d);
	for (size_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i]->n;
		uint64_t by = n->n_in ? 0 : ELSE;
		if (d->node[i]->fate != FATE_KEPT)
			continue;
		for (int k = 0; k < n->n_in; k++)
			by |= n->in[k] >= 0 ? decides[draft_resolve(d, n->in[k])] : 0;
		for (int k = 0; k < n->n_out; k++)
			if (n->out[k] >= 0 && !d->value[n->out[k]].constant)
				decides[n->out[k]] = by;
	}
	return decides;
}

// An input as it is in the data: how many values it has (-1: not asked yet), and the first two.
struct choice {
	int count;
	int64_t value[2];
};

static void ask(struct choice *c, const struct draft *d, int input)
{
	struct graph g = {.path = "", .n_inputs = (int)d->n_inputs, .n_values = (int)d->n_inputs};
	g.input = xcalloc(d->n_inputs + 1, sizeof *g.input);
	g.value = xcalloc(d->n_inputs + 1, sizeof *g.value);
	for (int i = 0; i < g.n_inputs; i++) {
		const struct draft_value *v = &d->value[d->input[i]];
		g.input[i] = i;
		g.value[i] = (struct value){.name = v->name, .type = v->type, .shape = v->shape, .producer = -1, .is_input = true};
	}
	c->count = d->opt->values(c->value, &g, input, d->opt->arg);
	if (c->count > 1)
		log_warn("input %s is %lld in one sample and %lld in another, so that what an If chooses by it stays in float: "
		         "give samples of one value to quantize that",
		    g.value[input].name, (long long)c->value[0], (long long)c->value[1]);
	free(g.input);
	free(g.value);
}

// Whether all these inputs have one value.
static bool have_one(struct choice *choice, const struct draft *d, uint64_t inputs)
{
	for (int i = 0; i < CHOICES; i++) {
		if (inputs >> i & 1 && choice[i].count < 0)
			ask(&choice[i], d, i);
		if (inputs >> i & 1 && choice[i].count != 1)
			return false;
	}
	return true;
}

static void read_instead(struct draft *d, int input, int constant)
{
	for (size_t i = 0; i < d->n_nodes; i++)
		for (int k = 0; k < d->node[i]->n.n_in; k++)
			if (draft_resolve(d, d->node[i]->n.in[k]) == input)
				d->node[i]->n.in[k] = constant;
	namemap_put(d->scopes[0]->names, d->value[input].name, constant); // for what the branches read
}

static enum status fix(struct draft *d, int input, int64_t value, struct error *err)
{
	struct tensor t = {.type = d->value[input].type, .shape = d->value[input].shape};
	enum status s = tensor_alloc(&t, NULL, err);
	if (s)
		return s;
	elements_store(t.data, t.type, 0, &value, 1);
	int constant = draft_value_add(d, d->value[input].name);
	draft_set_constant(d, constant, &t);
	read_instead(d, input, constant);
	d->value[input].fixed = arena_memdup(d->arena, &value, sizeof value);
	return STATUS_OK;
}

// The inputs that decide the condition of an If, if they are all that does; 0: none.
static uint64_t deciders_of(const struct draft_node *n, const struct draft *d, const uint64_t *decides)
{
	bool asks = n->fate == FATE_KEPT && n->n.op->id == OP_If && n->n.in[0] >= 0;
	uint64_t by = asks ? decides[draft_resolve(d, n->n.in[0])] : 0;
	return by & ELSE ? 0 : by;
}

enum status fixed_inputs(struct draft *d, bool *changed, struct error *err)
{
	struct choice choice[CHOICES];
	uint64_t *decides, wanted = 0;
	enum status s = STATUS_OK;
	*changed = false;
	if (!d->opt || !d->opt->values)
		return STATUS_OK;
	for (int i = 0; i < CHOICES; i++)
		choice[i].count = -1;
	decides = find_deciders(d);
	for (size_t i = 0; i < d->n_nodes; i++) {
		uint64_t by = deciders_of(d->node[i], d, decides);
		wanted |= have_one(choice, d, by) ? by : 0;
	}
	free(decides);
	for (int i = 0; i < CHOICES && !s; i++)
		if (wanted >> i & 1)
			s = fix(d, d->input[i], choice[i].value[0], err);
	*changed = wanted;
	return s;
}
