// One operator on tensors made by hand: shape rule, then evaluation, as the interpreter does it.
#ifndef TESTS_ENGINE_NODE_RUN_H
#define TESTS_ENGINE_NODE_RUN_H

#include <stdlib.h>
#include <string.h>
#include "support.h"
#include "qtui/engine/op.h"

#define NODE_RUN_MAX 18 // inputs
#define NODE_RUN_OUT 4  // outputs

struct node_run {
	struct node n;
	void *attrs;
	int out_id[NODE_RUN_OUT];
	struct tensor in[NODE_RUN_MAX], out[NODE_RUN_OUT];
};

static inline void *node_run_field(struct node_run *r, const char *name)
{
	for (int i = 0; i < r->n.op->n_attrs; i++)
		if (!strcmp(r->n.op->attrs[i].name, name))
			return (char *)r->attrs + r->n.op->attrs[i].offset;
	fail_msg("%s has no attribute %s", r->n.op->name, name);
	return NULL;
}

// Attributes have their defaults.
static inline void node_run_init(struct node_run *r, const char *domain, const char *op, int opset, int n_out)
{
	*r = (struct node_run){.n = {.name = op, .op = op_find(domain, op, opset), .n_out = n_out, .out = r->out_id}};
	if (!r->n.op)
		fail_msg("operator %s is not in the table", op);
	r->n.attrs = r->attrs = calloc(1, r->n.op->attrs_size + 1);
	for (int i = 0; i < r->n.op->n_attrs; i++) {
		const struct attr_spec *a = &r->n.op->attrs[i];
		void *field = (char *)r->attrs + a->offset;
		switch (a->kind) {
		case ATTR_INT: *(int64_t *)field = (int64_t)a->dflt; break;
		case ATTR_FLOAT: *(float *)field = (float)a->dflt; break;
		case ATTR_INTS: ((struct ints *)field)->n = -1; break;
		case ATTR_FLOATS: ((struct floats *)field)->n = -1; break;
		case ATTR_TEXT: *(const char **)field = a->dflt_text; break;
		case ATTR_TENSOR: break;
		}
	}
}

// The next input, borrowed; data NULL: left out.
static inline void node_run_add(struct node_run *r, enum dtype type, struct shape shape, const void *data)
{
	assert_true(r->n.n_in < NODE_RUN_MAX);
	r->in[r->n.n_in++] = (struct tensor){.type = type, .shape = shape, .data = (void *)data};
}

static inline enum status node_run_try(struct node_run *r, struct error *err)
{
	const struct tensor *in[NODE_RUN_MAX];
	enum status s;
	for (int i = 0; i < r->n.n_in; i++)
		in[i] = r->in[i].data ? &r->in[i] : NULL;
	s = r->n.op->shape(&r->n, in, r->out, err);
	return s == STATUS_OK ? op_finish(&r->n, in, r->out, SUPPORT_WIDTH(2), err) : s;
}

static inline void node_run(struct node_run *r)
{
	struct error err;
	if (node_run_try(r, &err) != STATUS_OK)
		fail_msg("%s: %s", r->n.op->name, err.text);
}

static inline void node_run_done(struct node_run *r)
{
	for (int i = 0; i < NODE_RUN_OUT; i++)
		tensor_drop(&r->out[i]);
	free(r->attrs);
}

// The first output has these n floats, to the bit but for the sign of zero.
static inline void node_run_floats(const struct node_run *r, int n, const float *want)
{
	const float *y = r->out[0].data;
	assert_int_equal(tensor_count(&r->out[0]), n);
	for (int i = 0; i < n; i++)
		if (y[i] != want[i])
			fail_msg("element %d is %g, not %g", i, (double)y[i], (double)want[i]);
}

#define SHAPE_OF(...) shape_of((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
#define SCALAR ((struct shape){.rank = 0})

#endif
