// What is known of a Loop or Scan before it runs. A body that gives back what it carries in the shapes in which
// it got it has these shapes in every iteration, so that what follows can be planned.
#include "../rule.h"
#include "loop.h"

static const struct tensor unknown = {.shape.rank = -1};

// One slice of a tensor that a Scan takes apart.
static struct tensor slice_of(const struct tensor *whole, int64_t axis)
{
	struct tensor slice = {.type = whole->type};
	int at, rank = whole->shape.rank;
	struct error err;
	if (rank < 0 || rule_axis(&at, axis, rank, &err))
		return unknown;
	for (int d = 0; d < rank; d++)
		if (d != at)
			rule_push(&slice.shape, whole->shape.dim[d]);
	return slice;
}

void loop_formals(struct tensor *formal, const struct node *n, const struct tensor *const *in)
{
	int own = n->n_in - n->n_captured, carried_end = own - loop_scanned(n);
	for (int i = 0; i < own; i++) {
		if (i < loop_first_state(n))
			formal[i] = (struct tensor){.type = i == 0 ? DT_I64 : DT_BOOL};
		else if (!in[i])
			formal[i] = unknown;
		else if (i < carried_end)
			formal[i] = (struct tensor){.type = in[i]->type, .shape = in[i]->shape};
		else
			formal[i] = slice_of(in[i], loop_listed(&((const struct scan_attrs *)n->attrs)->scan_input_axes, i - carried_end));
	}
}

static const struct value *body_in(const struct graph *body, int i)
{
	return &body->value[body->input[i]];
}

static const struct value *body_out(const struct graph *body, int i)
{
	return &body->value[body->output[i]];
}

bool loop_settle(struct tensor *formal, const struct node *n, const struct graph *body)
{
	int first = loop_first_state(n), n_state = n->n_in - n->n_captured - loop_scanned(n) - first, part = loop_first_part(n);
	bool settled = true;
	for (int i = 0; i < n_state && part + i < body->n_outputs; i++) {
		struct tensor *f = &formal[first + i];
		const struct value *v = body_out(body, part + i);
		if (f->shape.rank < 0 || (v->type == f->type && shape_equal(&v->shape, &f->shape)))
			continue;
		*f = unknown;
		settled = false;
	}
	return settled;
}

// Does the body hand on the condition that it gets, or always give true?
static bool goes_on(const struct graph *body)
{
	const struct value *v = body_out(body, 0);
	while (!v->constant && v->producer >= 0 && body->node[v->producer].op->id == OP_Identity)
		v = &body->value[body->node[v->producer].in[0]];
	if (v->constant)
		return loop_is_true(v->constant);
	return v == body_in(body, 1);
}

static const struct scan_attrs *scan_of(const struct node *n)
{
	return n->attrs;
}

int64_t loop_trips(const struct node *n, const struct tensor *const *in)
{
	const struct graph *body = n->n_subgraphs == 1 ? n->subgraph[0] : NULL;
	int64_t trips = -1;
	struct error err;
	int own = n->n_in - n->n_captured, count;
	if (!body || body->n_inputs != n->n_in || body->n_outputs < loop_first_part(n))
		return -1;
	if (n->op->id == OP_Scan) {
		const struct tensor *x = in[own - 1];
		int at;
		if (x && !rule_axis(&at, loop_listed(&scan_of(n)->scan_input_axes, loop_scanned(n) - 1), x->shape.rank, &err))
			trips = x->shape.dim[at];
	} else if (in[0] && in[0]->data && (!in[1] || (in[1]->data && loop_is_true(in[1]))) && goes_on(body)) {
		if (rule_ints(&trips, &count, 1, in[0], "the number of iterations", &err) || count != 1)
			return -1;
		trips = trips < 0 ? 0 : trips;
	}
	return trips <= LOOP_TRIPS_MAX ? trips : -1;
}

// Of what is collected: `trips` of the body's along a new axis.
static struct tensor collected(const struct value *one, int64_t trips, int64_t axis)
{
	struct tensor all = {.type = one->type};
	struct error err;
	int at, rank = one->shape.rank;
	if (trips < 0 || !one->type || shape_count(&one->shape) < 0 || rule_axis(&at, axis, rank + 1, &err))
		return unknown;
	for (int d = 0; d <= rank; d++)
		if (!rule_push(&all.shape, d == at ? trips : one->shape.dim[d - (d > at)]))
			return unknown;
	return shape_count(&all.shape) < 0 ? unknown : all;
}

enum status loop_known(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct graph *body = n->n_subgraphs == 1 ? n->subgraph[0] : NULL;
	int first = loop_first_state(n), n_state = n->n_in - n->n_captured - loop_scanned(n) - first, part = loop_first_part(n);
	bool any = false;
	if (!body || n_state < 0 || body->n_inputs != n->n_in || n->n_out > body->n_outputs - part)
		return rule_pending(err); // running it says what is wrong
	int64_t trips = loop_trips(n, in);

	for (int i = 0; i < n->n_out; i++) {
		const struct value *v = i < n_state ? body_in(body, first + i) : body_out(body, part + i);
		if (i >= n_state)
			out[i] = collected(v, trips, n->op->id == OP_Scan ? loop_listed(&scan_of(n)->scan_output_axes, i - n_state) : 0);
		else
			out[i] = v->type && shape_count(&v->shape) >= 0 ? (struct tensor){.type = v->type, .shape = v->shape} : unknown;
		any = any || out[i].shape.rank >= 0;
	}
	return any ? STATUS_OK : rule_pending(err);
}
