// Loop and Scan: a body that runs again and again. Its inputs are the node's own,
// with the number of the iteration and the condition (Loop) or one slice of each scanned tensor (Scan) in front;
// what it captures from outside comes last and never changes. How often a loop runs is known when it runs,
// and with it the shapes: where it has the values, the shape rule computes the results.
#include <stdlib.h>
#include <string.h>
#include "loop.h"
#include "../rule.h"
#include "qtui/engine/eval.h"

struct parts { // what one scan output collects
	struct tensor *at;
	size_t n, cap, bytes, asked; // asked: the bytes at which the system was last asked for as many again
};
struct looping {
	const struct node *n;
	const struct graph *body;
	const struct tensor *const *in;
	int width;
	int n_state, n_scan;         // values carried from iteration to iteration; outputs that are collected
	int first_state, first_part; // of the node's inputs; of the body's outputs
	struct tensor *state;        // [n_state]
	struct parts *parts;         // [n_scan]
	const struct tensor **given; // [body->n_inputs]
	struct tensor *result;       // [body->n_outputs]
};

static enum status looping_init(struct looping *l, struct error *err)
{
	const struct node *n = l->n;
	const struct graph *body = l->body;
	l->n_scan = body->n_outputs - l->first_part - l->n_state;
	bool too_few = l->n_state < 0; // inputs
	if (too_few || l->n_scan < 0 || n->n_out > l->n_state + l->n_scan || body->n_inputs != n->n_in)
		return error_set(err, STATUS_FORMAT, "inputs and outputs of its body do not fit those of the node");
	for (int i = 0; i < l->n_state; i++)
		if (!l->in[l->first_state + i])
			return error_set(err, STATUS_FORMAT, "input %d, a value that it carries, is missing", l->first_state + i);
	l->state = xcalloc((size_t)l->n_state + 1, sizeof *l->state);
	l->parts = xcalloc((size_t)l->n_scan + 1, sizeof *l->parts);
	l->given = xcalloc((size_t)body->n_inputs + 1, sizeof *l->given);
	l->result = xcalloc((size_t)body->n_outputs + 1, sizeof *l->result);
	for (int i = 0; i < l->n_state; i++)
		l->state[i] = tensor_share(l->in[l->first_state + i]);
	for (int i = 0; i < body->n_inputs; i++)
		l->given[i] = l->in[i];
	for (int i = 0; i < l->n_state; i++)
		l->given[l->first_state + i] = &l->state[i];
	return STATUS_OK;
}

static void looping_done(struct looping *l)
{
	for (int i = 0; l->state && i < l->n_state; i++)
		tensor_drop(&l->state[i]);
	for (int s = 0; l->parts && s < l->n_scan; s++) {
		for (size_t i = 0; i < l->parts[s].n; i++)
			tensor_drop(&l->parts[s].at[i]);
		free(l->parts[s].at);
	}
	free(l->state);
	free(l->parts);
	free(l->given);
	free(l->result);
}

// In the end all parts become one tensor. Each of them alone is too small to be refused.
static enum status check_room(struct parts *p, const struct tensor *t, struct error *err)
{
	enum { STEP = 64 << 20 };
	p->bytes += tensor_bytes(t);
	if (p->bytes - p->asked < STEP)
		return STATUS_OK;
	p->asked = p->bytes;
	if (!mem_may_take(p->bytes))
		return error_set(err, STATUS_NOMEM, "no memory for what it collects: %zu MiB in %zu iterations", p->bytes >> 20, p->n + 1);
	return STATUS_OK;
}

static enum status add_part(struct parts *p, struct tensor *t, struct error *err)
{
	if (p->n && (p->at->type != t->type || !shape_equal(&p->at->shape, &t->shape)))
		return error_set(err, STATUS_UNSUPPORTED, "an output that it collects changes its shape");
	if (check_room(p, t, err))
		return err->status;
	p->at = xgrow(p->at, &p->cap, p->n + 1, sizeof *p->at);
	p->at[p->n++] = *t;
	*t = (struct tensor){0};
	return STATUS_OK;
}

static bool is_wanted(const struct node *n, int output)
{
	return output < n->n_out && n->out[output] >= 0;
}

// What an iteration gave: carried values are replaced, collected ones appended.
static enum status keep(struct looping *l, struct error *err)
{
	enum status s = STATUS_OK;
	for (int i = 0; i < l->n_state; i++) {
		tensor_drop(&l->state[i]);
		l->state[i] = l->result[l->first_part + i];
		l->result[l->first_part + i] = (struct tensor){0};
	}
	for (int i = 0; i < l->n_scan && !s; i++)
		if (is_wanted(l->n, l->n_state + i))
			s = add_part(&l->parts[i], &l->result[l->first_part + l->n_state + i], err);
	for (int i = 0; i < l->body->n_outputs; i++)
		tensor_drop(&l->result[i]);
	return s;
}

// ---- slices along an axis

struct slicing {
	int64_t outer, inner_bytes, count; // of the tensor that has the axis
};

static struct slicing slicing_of(const struct tensor *whole, int axis)
{
	const struct shape *s = &whole->shape;
	return (struct slicing){.outer = rule_product(s, 0, axis), .count = s->dim[axis],
	    .inner_bytes = rule_product(s, axis + 1, s->rank) * (int64_t)dtype_size(whole->type)};
}

static void copy_slice(const struct tensor *whole, int axis, int64_t index, const struct tensor *slice, bool out)
{
	struct slicing g = slicing_of(whole, axis);
	for (int64_t o = 0; o < g.outer; o++) {
		char *w = (char *)whole->data + (o * g.count + index) * g.inner_bytes;
		char *p = (char *)slice->data + o * g.inner_bytes;
		memcpy(out ? p : w, out ? w : p, (size_t)g.inner_bytes);
	}
}

static enum status take_slice(struct tensor *out, const struct tensor *whole, int axis, int64_t index, struct error *err)
{
	*out = (struct tensor){.type = whole->type, .shape.rank = 0};
	for (int d = 0; d < whole->shape.rank; d++)
		if (d != axis)
			rule_push(&out->shape, whole->shape.dim[d]);
	enum status s = tensor_alloc(out, NULL, err);

	if (!s && tensor_count(out))
		copy_slice(whole, axis, index, out, true);
	return s;
}

// The collected parts as one tensor with a new axis (negative: from the end);
// `empty` tells type and shape where there are none.
static enum status stack(
    struct tensor *out, const struct parts *p, const struct tensor *empty, int64_t axis, bool reverse, struct error *err)
{
	const struct tensor *one = p->n ? p->at : empty;
	int at, rank = one->shape.rank < 0 ? 0 : one->shape.rank;
	enum status s = rule_axis(&at, axis, rank + 1, err);
	*out = (struct tensor){.type = one->type};
	for (int d = 0; d <= rank && !s; d++)
		if (!rule_push(&out->shape, d == at ? (int64_t)p->n : one->shape.dim[d - (d > at)]))
			s = error_set(err, STATUS_UNSUPPORTED, "an output that it collects has too many dimensions");
	for (int d = 0; d <= rank && !s; d++)
		if (out->shape.dim[d] < 0)
			out->shape.dim[d] = 0; // a dimension of the body that no iteration has told
	if (!s)
		s = tensor_alloc(out, NULL, err);
	for (size_t i = 0; i < p->n && !s; i++)
		if (tensor_count(one))
			copy_slice(out, at, (int64_t)(reverse ? p->n - 1 - i : i), &p->at[i], false);
	return s;
}

// The node's outputs: the carried values, then what was collected along `axis` (NULL: all along the first).
static enum status give(
    struct looping *l, struct tensor *out, const struct ints *axis, const struct ints *backwards, struct error *err)
{
	enum status s = STATUS_OK;
	for (int i = 0; i < l->n->n_out && !s; i++) {
		if (!is_wanted(l->n, i))
			continue;
		int k = i - l->n_state;

		if (k < 0) {
			out[i] = tensor_share(&l->state[i]);
		} else {
			const struct value *v = &l->body->value[l->body->output[l->first_part + i]];
			struct tensor empty = {.type = v->type ? v->type : DT_F32, .shape = v->shape}; // no iteration has told
			s = stack(&out[i], &l->parts[k], &empty, axis && k < axis->n ? axis->at[k] : 0,
			    backwards && k < backwards->n && backwards->at[k], err);
		}
	}
	return s;
}

// Where there is no work left for the iterations, what is known before it runs has to do.
static enum status known_instead(enum status s, const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	return s == STATUS_UNSUPPORTED && !err->text[0] ? loop_known(n, in, out, err) : s;
}

static bool can_run(const struct node *n, const struct tensor *const *in)
{
	for (int i = 0; i < n->n_in; i++)
		if (in[i] && !rule_known(in[i]))
			return false;
	return n->n_subgraphs == 1;
}

// After a rule has computed the results there is nothing to evaluate, unless all of them are empty.
enum status loop_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	(void)n, (void)in, (void)out, (void)width, (void)err;
	return STATUS_OK;
}

// ---- Loop

static enum status read_trips(int64_t *out, const struct tensor *m, struct error *err)
{
	int n;
	*out = LOOP_TRIPS_MAX + 1; // no limit of its own
	if (!m)
		return STATUS_OK;
	if (tensor_count(m) != 1)
		return error_set(err, STATUS_FORMAT, "its number of iterations must be one element");
	return rule_ints(out, &n, 1, m, "the number of iterations", err);
}

static enum status scalar(struct tensor *out, enum dtype type, int64_t value, struct error *err)
{
	*out = (struct tensor){.type = type};
	enum status s = tensor_alloc(out, NULL, err);

	if (!s && type == DT_I64)
		*(int64_t *)out->data = value;
	else if (!s)
		*(uint8_t *)out->data = value != 0;
	return s;
}

bool loop_is_true(const struct tensor *condition)
{
	return condition->type == DT_BOOL && tensor_count(condition) == 1 && *(const uint8_t *)condition->data;
}

// One iteration under *condition, which becomes that of the next.
// The body may keep both scalars: each iteration has its own.
static enum status iteration(struct looping *l, int64_t number, struct tensor *condition, struct error *err)
{
	struct tensor count = {0};
	enum status s = scalar(&count, DT_I64, number, err);
	l->given[0] = &count;
	l->given[1] = condition;
	if (!s)
		s = graph_eval(l->body, l->given, l->result, l->width, err);
	tensor_drop(&count);
	if (s)
		return s;
	tensor_drop(condition);
	*condition = l->result[0];
	l->result[0] = (struct tensor){0};
	return keep(l, err);
}

static enum status iterate(struct looping *l, struct error *err)
{
	struct tensor condition = {0};
	int64_t trips;
	enum status s = read_trips(&trips, l->in[0], err);
	if (!s && l->in[1])
		condition = tensor_share(l->in[1]);
	else if (!s)
		s = scalar(&condition, DT_BOOL, 1, err);
	for (int64_t i = 0; i < trips && !s && loop_is_true(&condition); i++)
		s = i < LOOP_TRIPS_MAX ? iteration(l, i, &condition, err) :
		    error_set(err, STATUS_UNSUPPORTED, "it runs more than %lld times", (long long)LOOP_TRIPS_MAX);
	tensor_drop(&condition);
	return s;
}

enum status loop_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct looping l = {.n = n, .in = in, .width = 1, .first_state = 2, .first_part = 1, .n_state = n->n_in - 2 - n->n_captured};
	if (!can_run(n, in))
		return loop_known(n, in, out, err);
	l.body = n->subgraph[0];
	enum status s = looping_init(&l, err);
	if (!s)
		s = iterate(&l, err);
	if (!s)
		s = give(&l, out, NULL, NULL, err);
	looping_done(&l);
	return known_instead(s, n, in, out, err);
}

// ---- Scan

// The length that all scanned inputs share.
static enum status scan_length(int64_t *length, int *axis, const struct looping *l, int n_scanned, struct error *err)
{
	const struct scan_attrs *a = l->n->attrs;
	enum status s = STATUS_OK;
	*length = 0;
	for (int i = 0; i < n_scanned && !s; i++) {
		const struct tensor *x = l->in[l->n_state + i];
		if (!x)
			return error_set(err, STATUS_FORMAT, "input %d, which it scans, is missing", l->n_state + i);
		s = rule_axis(&axis[i], loop_listed(&a->scan_input_axes, i), x->shape.rank, err);
		if (!s && i > 0 && x->shape.dim[axis[i]] != *length)
			s = error_set(err, STATUS_FORMAT, "the tensors that it scans differ in length");
		if (!s)
			*length = x->shape.dim[axis[i]];
	}
	return s;
}

static enum status scan(struct looping *l, int n_scanned, struct error *err)
{
	const struct scan_attrs *a = l->n->attrs;
	int *axis = xcalloc((size_t)n_scanned + 1, sizeof *axis);
	struct tensor *slice = xcalloc((size_t)n_scanned + 1, sizeof *slice);
	int64_t length;
	enum status s = scan_length(&length, axis, l, n_scanned, err);
	for (int64_t t = 0; t < length && !s; t++) {
		for (int i = 0; i < n_scanned && !s; i++) {
			int64_t at = loop_listed(&a->scan_input_directions, i) ? length - 1 - t : t;
			s = take_slice(&slice[i], l->in[l->n_state + i], axis[i], at, err);
			l->given[l->n_state + i] = &slice[i];
		}
		if (!s)
			s = graph_eval(l->body, l->given, l->result, l->width, err);
		if (!s)
			s = keep(l, err);
		for (int i = 0; i < n_scanned; i++)
			tensor_drop(&slice[i]);
	}
	free(axis);
	free(slice);
	return s;
}

enum status scan_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct scan_attrs *a = n->attrs;
	struct looping l = {.n = n, .in = in, .width = 1};
	int own = n->n_in - n->n_captured;
	if (!can_run(n, in))
		return loop_known(n, in, out, err);
	if (!rule_within(a->num_scan_inputs, 1, own))
		return error_set(err, STATUS_FORMAT, "num_scan_inputs is %lld; it has %d inputs", (long long)a->num_scan_inputs, own);
	l.n_state = own - (int)a->num_scan_inputs;
	l.body = n->subgraph[0];
	enum status s = looping_init(&l, err);
	if (!s)
		s = scan(&l, (int)a->num_scan_inputs, err);
	if (!s)
		s = give(&l, out, &a->scan_output_axes, &a->scan_output_directions, err);
	looping_done(&l);
	return known_instead(s, n, in, out, err);
}
