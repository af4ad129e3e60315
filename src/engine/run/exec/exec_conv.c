// Conv and ConvTranspose: integer kernels on codes, float kernels otherwise.
// Blocked layout is carried on where the backend has it.
#include <stdlib.h>
#include "exec_conv.h"

// With so few channels a blocked tensor would be mostly padding.
enum { FEW_CHANNELS = 4 };

static enum layout input_layout(const struct exec *x, const struct conv_geometry *g)
{
	if (x->in[0]->t.layout == LAYOUT_BLOCK)
		return LAYOUT_BLOCK;
	return g->c <= FEW_CHANNELS ? LAYOUT_PLAIN : LAYOUT_BLOCK;
}

static enum layout output_layout(const struct conv_geometry *g)
{
	return g->oc <= FEW_CHANNELS ? LAYOUT_PLAIN : LAYOUT_BLOCK;
}

enum layout exec_conv_input_layout(const struct exec *x, const struct conv_geometry *g)
{
	return x->e->opt.backend == BACKEND_ONEDNN ? input_layout(x, g) : LAYOUT_PLAIN;
}

enum layout exec_conv_output_layout(const struct exec *x, const struct conv_geometry *g)
{
	return x->e->opt.backend == BACKEND_ONEDNN ? output_layout(g) : LAYOUT_PLAIN;
}

// A sum of codes is a number that a quantizer may find halfway between two of its own.
static bool sums_codes(struct exec *x)
{
	return x->in[0]->coded && exec_param_quantizer(x, 1);
}

// Of weights and a bias (may be NULL), which are borrowed only now.
static enum status make_float(struct exec *x, const struct conv_geometry *g, const float *weight, const float *bias, struct prepared *p)
{
	struct conv_task t = {.g = *g, .transposed = x->node->op->id == OP_ConvTranspose, .epi = x->step->epi, .weight = weight, .bias = bias,
	    .ordered = x->e->quantized_file, .exact = sums_codes(x)};
	enum status st = STATUS_UNSUPPORTED;
	for (int b = t.ordered ? BACKEND_BLAS : x->e->opt.backend; st == STATUS_UNSUPPORTED && b < BACKEND_COUNT; b++) {
		t.in = b == BACKEND_ONEDNN ? input_layout(x, g) : LAYOUT_PLAIN;
		t.out = b == BACKEND_ONEDNN ? output_layout(g) : LAYOUT_PLAIN;
		st = kernel_conv(&p->kernel, (enum kernel_backend)b, &t, x->err);
	}
	p->in = t.in;
	p->out = t.out;
	return st;
}

static enum status prepare_float(struct exec *x, const struct conv_geometry *g, struct prepared *p)
{
	float *own_w, *own_b = NULL;
	const float *weight, *bias;
	enum status st = exec_weights(&weight, &own_w, x, 1, NULL);
	if (st == STATUS_OK)
		st = exec_weights(&bias, &own_b, x, 2, NULL);
	if (st == STATUS_OK)
		st = make_float(x, g, weight, bias, p);
	free(own_w);
	free(own_b);
	return st;
}

// The integer kernels share the float backends' layouts, so that float and quantized
// tensors are compared as they lie in memory.
static enum status prepare_int(struct exec *x, const struct conv_geometry *g, struct prepared *p)
{
	bool fits = exec_writes_codes(x);
	struct affine a;
	enum status st = affine_make(&a, x, g->oc, NULL);
	if (st == STATUS_OK) {
		struct qconv_task t = {.g = *g, .transposed = x->node->op->id == OP_ConvTranspose,
		    .in = exec_conv_input_layout(x, g), .out = exec_conv_output_layout(x, g),
		    .in_type = x->in[0]->t.type, .in_zero = x->in[0]->zero, .weight = a.weight,
		    .bias = a.bias, .scale = a.scale, .fbias = a.fbias,
		    .to_float = !fits};
		if (fits) {
			t.act = x->step->epi.act;
			t.out_quant = *exec_out_quantizer(x, 0);
		}
		p->in = t.in;
		p->out = t.out;
		st = kernel_qconv(&p->kernel, x->e->opt.backend, &t, x->err);
	}
	affine_done(&a);
	return st;
}

struct making {
	struct exec *x;
	const struct conv_geometry *g;
	bool integer;
};

static enum status make(void *arg, struct prepared *p)
{
	const struct making *m = arg;
	return m->integer ? prepare_int(m->x, m->g, p) : prepare_float(m->x, m->g, p);
}

enum status exec_conv_kernel(struct exec *x, const struct conv_geometry *g, bool integer, struct prepared *p)
{
	struct key k = exec_kernel_key(x, integer ? "qconv" : "conv");
	k = key_add_int(k, x->in[0]->t.layout);
	k = integer ? key_add_key(k, quantizer_key(rep_quantizer(x->in[0]))) : key_add_int(k, sums_codes(x));
	return kernels_get(x->e->kernels, x->worker, k, make, &(struct making){x, g, integer}, p);
}

static enum status run(struct exec *x, const struct prepared *p, struct rep *in, struct rep *y)
{
	struct kernel_io io = {.x = in->t.data, .y = y->t.data};
	struct rep residual = {0};
	enum status st = x->residual ? rep_to_float_layout(&residual, x->residual, p->out, x->width, x->err) : STATUS_OK;
	io.residual = residual.t.data;
	if (st == STATUS_OK)
		st = exec_kernel(x, p->kernel, &io);
	rep_drop(&residual);
	return st;
}

const struct tensor *exec_conv_weights(const struct exec *x)
{
	const struct node *n = x->node;
	const struct tensor *w = x->g->value[n->in[1]].constant;
	bool bias_known = n->n_in < 3 || n->in[2] < 0 || x->g->value[n->in[2]].constant;
	return w && w->type == DT_F32 && bias_known ? w : NULL;
}

static bool is_conv(const struct exec *x)
{
	return x->node->op->id == OP_Conv || x->node->op->id == OP_ConvTranspose;
}

bool exec_conv_geometry(struct exec *x, const struct shape *w, struct conv_geometry *g, struct shape *shape)
{
	return exec_out_shape(x, shape) == STATUS_OK && shape_count(shape) > 0 &&
	    conv_geometry(g, x->node, &x->in[0]->t.shape, w) && shape_count(shape) == g->n * g->oc * g->oh * g->ow;
}

static bool geometry(struct exec *x, const struct tensor *w, struct conv_geometry *g, struct shape *shape)
{
	return w && exec_conv_geometry(x, &w->shape, g, shape);
}

void exec_conv_prepare(struct exec *x)
{
	struct conv_geometry g;
	struct shape shape;
	struct prepared p;
	if (is_conv(x) && geometry(x, exec_conv_weights(x), &g, &shape) && exec_conv_kernel(x, &g, affine_possible(x), &p) != STATUS_OK)
		*x->err = (struct error){0};
}

enum status exec_conv(struct exec *x)
{
	struct conv_geometry g;
	struct shape shape;
	struct prepared p;
	struct rep in = {0}, held = {0}, y = {0};
	if (!is_conv(x) || !geometry(x, exec_conv_weights(x), &g, &shape))
		return STATUS_UNSUPPORTED;
	bool integer = affine_possible(x);
	enum status st = STATUS_OK;
	if (integer)
		held = rep_share(x->in[0]);
	else
		st = rep_to_float(&held, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = exec_conv_kernel(x, &g, integer, &p);
	if (st == STATUS_OK)
		st = rep_to_layout(&in, &held, p.in, x->width, x->err);
	if (st == STATUS_OK)
		st = exec_alloc(x, &y, exec_kernel_type(x, integer), p.out, &shape);
	if (st == STATUS_OK)
		st = run(x, &p, &in, &y);
	if (st == STATUS_OK)
		st = exec_finish_kernel(x, integer, &y);
	rep_drop(&in);
	rep_drop(&held);
	rep_drop(&y);
	return st;
}

// The kernel lives for this one call.
static enum status run_once(struct exec *x, const struct conv_geometry *g, const struct shape *shape, struct rep *hold,
    const struct tensor *const *in)
{
	struct prepared p = {0};
	struct rep laid = {0}, y = {0};
	enum status st = make_float(x, g, in[1]->data, x->node->n_in > 2 && in[2] ? in[2]->data : NULL, &p);
	if (st == STATUS_OK)
		st = rep_to_layout(&laid, &hold[0], p.in, x->width, x->err);
	if (st == STATUS_OK)
		st = exec_alloc(x, &y, DT_F32, p.out, shape);
	if (st == STATUS_OK)
		st = run(x, &p, &laid, &y);
	if (st == STATUS_OK)
		st = exec_finish_kernel(x, false, &y);
	kernel_free(&p.kernel);
	rep_drop(&laid);
	rep_drop(&y);
	return st;
}

enum status exec_conv_computed(struct exec *x)
{
	enum { MOST_INPUTS = 3 };
	struct rep hold[MOST_INPUTS] = {0};
	const struct tensor *in[MOST_INPUTS];
	struct conv_geometry g;
	struct shape shape;
	if (!is_conv(x) || exec_conv_weights(x) || x->node->n_in > MOST_INPUTS || !geometry(x, &x->in[1]->t, &g, &shape))
		return STATUS_UNSUPPORTED;
	enum status st = exec_plain_inputs(x, hold, in);
	if (st == STATUS_OK && (in[0]->type != DT_F32 || in[1]->type != DT_F32))
		st = STATUS_UNSUPPORTED;
	if (st == STATUS_OK)
		st = run_once(x, &g, &shape, hold, in);
	for (int i = 0; i < MOST_INPUTS; i++)
		rep_drop(&hold[i]);
	return st;
}
