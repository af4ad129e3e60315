// Executes one step: asks the families in turn; what no family takes is evaluated
// by the operator's plain code on floats.
#include <stdlib.h>
#include <string.h>
#include "exec.h"
#include "../keys.h"
#include "../places.h"
#include "qtui/base/parts.h"

void *exec_scratch(struct exec *x, size_t size)
{
	struct worker *w = &x->e->worker[x->worker];
	if (size > w->scratch_size) {
		free(w->scratch);
		w->scratch_size = (size + 4095) / 4096 * 4096;
		w->scratch = aligned_alloc(64, w->scratch_size);
		if (!w->scratch)
			w->scratch_size = 0;
	}
	return w->scratch;
}

enum status exec_kernel(struct exec *x, const struct kernel *k, struct kernel_io *io)
{
	size_t need = kernel_scratch(k, x->width);
	io->width = x->width;
	io->scratch = need ? exec_scratch(x, need) : NULL;
	if (need && !io->scratch)
		return error_set(x->err, STATUS_NOMEM, "no memory for scratch");
	kernel_run(k, io);
	return STATUS_OK;
}

bool exec_integer(const struct exec *x)
{
	return x->plan && (x->sim == SIM_FULL || x->sim == SIM_ALONE);
}

const struct quantizer *exec_out_quantizer(const struct exec *x, int i)
{
	return slot_out_quantizer(x->plan, x->sim, x->step->last, i);
}

const struct quantizer *exec_param_quantizer(const struct exec *x, int i)
{
	return slot_in_quantizer(x->plan, x->sim, x->step->node, i);
}

bool exec_float_input(const struct exec *x, int i)
{
	return x->in[i] && (x->in[i]->coded || x->in[i]->t.type == DT_F32);
}

// What a thread takes at a time, and what is not worth a second thread.
enum { PIECE = 1 << 15, ALONE = 1 << 17 }; // bytes

struct scaling {
	float *data, gain, shift;
};

static void scale_piece(void *arg, int64_t at, int64_t n)
{
	const struct scaling *s = arg;
	elt_scale(s->data + at, s->gain, s->shift, n);
}

// In place: what is scaled was made by the step itself, nobody else holds it.
static void scale(struct rep *y, float gain, float shift, int width)
{
	int64_t n = tensor_stored(&y->t), bytes = n * (int64_t)sizeof(float);
	parts_cut(n, PIECE / sizeof(float), bytes > ALONE ? width : 1, scale_piece, &(struct scaling){y->t.data, gain, shift});
	rep_clear_padding(y);
}

// Floats that the output's quantizer rounds into a tensor of their own do not stay: they get no place.
bool exec_place(struct exec *x, struct rep *y, enum dtype type, enum layout layout, const struct shape *shape)
{
	bool last = type != DT_F32 || !exec_out_quantizer(x, 0);
	return x->place && last && place_take(x->place, y, type, layout, shape);
}

enum status exec_alloc(struct exec *x, struct rep *y, enum dtype type, enum layout layout, const struct shape *shape)
{
	return exec_place(x, y, type, layout, shape) ? STATUS_OK : rep_alloc(y, type, layout, shape, x->err);
}

struct copying {
	char *to;
	const char *from;
};

static void copy_piece(void *arg, int64_t at, int64_t n)
{
	const struct copying *c = arg;
	memcpy(c->to + at, c->from + at, (size_t)n);
}

void exec_copy(char *to, const char *from, size_t bytes, int width)
{
	parts_cut((int64_t)bytes, PIECE, bytes > ALONE ? width : 1, copy_piece, &(struct copying){to, from});
}

void exec_gain(const struct exec *x, struct rep *y)
{
	const struct stand_in *f = stand_in_of(x->plan, x->sim, x->step->node);
	if (f && f->gain != 0)
		scale(y, f->gain, -0.0f, x->width);
}

// Moves a result to the step's output, through the output quantizer if there is one (codes that are on its grid stay).
enum status exec_finish(struct exec *x, int i, struct rep *y)
{
	const struct quantizer *q = exec_out_quantizer(x, i);
	enum status st = STATUS_OK;
	if (x->step->scaled)
		scale(y, x->step->gain, x->step->shift, x->width);
	if (q && (y->coded || y->t.type == DT_F32)) {
		st = rep_apply(&x->out[i], y, q, x->width, x->err);
		rep_drop(y);
	} else {
		x->out[i] = rep_move(y);
	}
	return st;
}

bool exec_writes_codes(const struct exec *x)
{
	const struct quantizer *q = exec_out_quantizer(x, 0);
	return q && quantizer_has_codes(q) && act_is_for_codes(&x->step->epi.act);
}

enum dtype exec_kernel_type(const struct exec *x, bool integer)
{
	return integer && exec_writes_codes(x) ? quantizer_dtype(exec_out_quantizer(x, 0)) : DT_F32;
}

enum status exec_finish_kernel(struct exec *x, bool integer, struct rep *y)
{
	if (integer && exec_writes_codes(x)) {
		rep_set_quantizer(y, exec_out_quantizer(x, 0));
		x->out[0] = rep_move(y);
		return STATUS_OK;
	}
	if (integer && x->step->epi.act.kind != ACT_NONE)
		elt_act(&x->step->epi.act, y->t.data, y->t.data, tensor_stored(&y->t));
	return exec_finish(x, 0, y);
}

// The shape of output 0 when only this run's inputs tell it (what follows in the step keeps the shape).
// Codes stand for floats: an operator is asked for the shape of those.
static enum status shape_of_run(struct exec *x, struct shape *out)
{
	const struct tensor **in = xcalloc((size_t)x->node->n_in + 1, sizeof *in);
	struct tensor *y = xcalloc((size_t)x->node->n_out + 1, sizeof *y), *floats = xcalloc((size_t)x->node->n_in + 1, sizeof *floats);
	for (int i = 0; i < x->node->n_in; i++) {
		in[i] = x->in[i] ? &x->in[i]->t : NULL;
		if (in[i] && x->in[i]->coded) {
			floats[i] = (struct tensor){.type = DT_F32, .shape = in[i]->shape};
			in[i] = &floats[i];
		}
	}
	enum status st = x->node->op->shape(x->node, in, y, x->err);
	*out = y[0].shape;
	free(floats);
	free(in);
	free(y);
	return st;
}

enum status exec_out_shape(struct exec *x, struct shape *out)
{
	int v = step_out(x->g, x->step, 0);
	if (v < 0)
		return STATUS_UNSUPPORTED;
	*out = x->g->value[v].shape;
	return out->rank >= 0 && shape_count(out) >= 0 ? STATUS_OK : shape_of_run(x, out);
}

const struct tensor *exec_constant(const struct exec *x, int i)
{
	return i < x->node->n_in && x->node->in[i] >= 0 ? x->g->value[x->node->in[i]].constant : NULL;
}

bool exec_raw_parameter(const struct exec *x, int i)
{
	return i > 0 && (x->node->op->flags & OPF_WEIGHTED) && slot_constant(x->g, x->plan, x->sim, x->step->node, i);
}

static enum status plain_input(struct exec *x, int i, struct rep *out)
{
	const struct quantizer *q = exec_raw_parameter(x, i) && exec_float_input(x, i) ? exec_param_quantizer(x, i) : NULL;
	struct rep rounded = {0};
	enum status st = q ? rep_apply(&rounded, x->in[i], q, x->width, x->err) : STATUS_OK;
	if (st == STATUS_OK)
		st = rep_to_float_layout(out, q ? &rounded : x->in[i], LAYOUT_PLAIN, x->width, x->err);
	rep_drop(&rounded);
	return st;
}

enum status exec_plain_inputs(struct exec *x, struct rep *hold, const struct tensor **in)
{
	for (int i = 0; i < x->node->n_in; i++) {
		in[i] = NULL;
		if (!x->in[i])
			continue;
		enum status st = plain_input(x, i, &hold[i]);
		if (st != STATUS_OK)
			return st;
		in[i] = &hold[i].t;
	}
	return STATUS_OK;
}

static enum status exec_shapes(struct exec *x, const struct tensor *const *in, struct tensor *out)
{
	enum status st = x->node->op->shape(x->node, in, out, x->err);
	if (st != STATUS_OK && x->err->text[0] == '\0')
		return error_set(x->err, STATUS_UNSUPPORTED, "the shape of the result cannot be computed");
	return st;
}

// The node's operator with the evaluation that this file asks for.
static struct op operator_of(const struct exec *x)
{
	struct op op = *x->node->op;
	op_eval_fn *ordered = x->e->quantized_file ? op_eval_ordered(op.id) : NULL;
	op.eval = ordered ? ordered : op.eval;
	return op;
}

// Allocates and evaluates, the only output of a Concat where it is to lie.
static enum status evaluate(struct exec *x, const struct node *n, const struct tensor *const *in, struct tensor *out)
{
	struct rep y = {0};
	if (n->op->id != OP_Concat || out[0].data || !exec_place(x, &y, out[0].type, LAYOUT_PLAIN, &out[0].shape))
		return op_finish(n, in, out, x->width, x->err);
	out[0] = y.t;
	return n->op->eval(n, in, out, x->width, x->err);
}

// The operator's own evaluation on plain inputs; outputs are plain reps that the caller owns.
enum status exec_eval(struct exec *x, const struct tensor *const *in, struct rep *y)
{
	int n = x->node->n_out;
	struct op op = operator_of(x);
	struct node node = *x->node;
	struct rounded_steps steps;
	struct tensor *out = xcalloc((size_t)n, sizeof *out);
	enum status st = exec_shapes(x, in, out);
	node.op = &op;
	if (exec_rounds_steps(x, &steps))
		node.attrs = &steps.attrs;
	if (st == STATUS_OK && n == 1 && (x->node->op->flags & OPF_VIEW) && in[0]->buf) { // no copy: another shape on the same bytes
		struct shape shape = out[0].shape;
		y[0].t = tensor_share(in[0]);
		y[0].t.shape = shape;
		goto out;
	}
	if (st == STATUS_OK)
		st = evaluate(x, &node, in, out);
	for (int i = 0; i < n && st == STATUS_OK; i++)
		y[i].t = out[i];
out:
	free(out);
	return st;
}

// The activation behind the node in its step. A view of the input gets memory of its own:
// other readers want the input as it was.
static enum status activate(struct exec *x, const struct tensor *in, struct rep *y)
{
	struct rep own = {0};
	const void *from = y->t.data;
	if (from == in->data) {
		enum status st = rep_alloc(&own, y->t.type, y->t.layout, &y->t.shape, x->err);
		if (st != STATUS_OK)
			return st;
		rep_drop(y);
		*y = own;
	}
	elt_act(&x->step->epi.act, from, y->t.data, tensor_stored(&y->t));
	return STATUS_OK;
}

static enum status exec_plain(struct exec *x)
{
	int n_in = x->node->n_in, n_out = x->node->n_out;
	struct rep *hold = xcalloc((size_t)n_in + 1, sizeof *hold), *y = xcalloc((size_t)n_out + 1, sizeof *y);
	const struct tensor **in = xcalloc((size_t)n_in + 1, sizeof *in);
	enum status st = exec_plain_inputs(x, hold, in);
	if (st == STATUS_OK)
		st = exec_eval(x, in, y);
	if (st == STATUS_OK)
		exec_gain(x, &y[0]);
	if (st == STATUS_OK && x->step->epi.act.kind != ACT_NONE)
		st = activate(x, in[0], &y[0]);
	for (int i = 0; st == STATUS_OK && i < step_n_out(x->g, x->step); i++)
		st = exec_finish(x, i, &y[i]);
	for (int i = 0; i < n_in; i++)
		rep_drop(&hold[i]);
	for (int i = 0; i < n_out; i++)
		rep_drop(&y[i]);
	free(hold);
	free(y);
	free(in);
	return st;
}

// Floats of a file that is quantized already, bit for bit as the runtime that it was made for computes them.
static enum status exec_ordered(struct exec *x)
{
	const struct step *s = x->step;
	if (!x->e->quantized_file || s->node != s->last || !op_eval_ordered(x->node->op->id) || x->in[0]->coded)
		return STATUS_UNSUPPORTED;
	return exec_plain(x);
}

// A graph in a node has no file of its own.
static enum status name_node(const struct exec *x)
{
	const char *path = x->e->g->path && x->e->g->path[0] ? x->e->g->path : NULL;
	return error_prefix(x->err, "%s%snode %s (%s)", path ? path : "", path ? ": " : "", x->node->name, x->node->op->name);
}

// Who computes a step, asked in this order.
struct family {
	enum status (*run)(struct exec *x);
	bool acts; // applies the activation at the end of the step (epi.act) itself: a step with one is given to no other
};

enum status exec_step(struct exec *x)
{
	static const struct family family[] = {{exec_norm, false}, {exec_ordered, true}, {exec_conv, true}, {exec_conv_deep, true},
	    {exec_conv_computed, true}, {exec_convinteger, false}, {exec_qlinearconv, false}, {exec_matmul, true}, {exec_product, true},
	    {exec_unary, true}, {exec_binary, true}, {exec_pool, false}, {exec_resize, true}, {exec_pad, false}, {exec_move, false},
	    {exec_if, false}, {exec_plain, true}};
	kernels_step(x->e->kernels, x->worker);
	for (size_t i = 0; i < sizeof family / sizeof *family; i++) {
		if (x->step->epi.act.kind != ACT_NONE && !family[i].acts)
			continue;
		enum status st = family[i].run(x);
		if (st == STATUS_OK)
			return st;
		if (st != STATUS_UNSUPPORTED || x->err->text[0] != '\0')
			return name_node(x);
	}
	error_set(x->err, STATUS_UNSUPPORTED, "no kernel takes it");
	return name_node(x);
}
