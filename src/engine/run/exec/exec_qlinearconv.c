// QLinearConv by the integer kernels of quantized convolutions, which end in the same steps:
// the sum, with the bias, times x_scale * w_scale / y_scale, rounded to the nearest.
// What it holds besides the input has to be known when the kernel is made.
#include <stdlib.h>
#include "../../ops/codes/qlinear.h"
#include "../../ops/element.h"
#include "exec_conv.h"

enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };

static float float_of(const struct exec *x, int i)
{
	return *(const float *)exec_constant(x, i)->data;
}

static bool is_possible(struct exec *x, struct conv_geometry *g, struct shape *shape)
{
	if (x->node->op->id != OP_QLinearConv || x->e->opt.backend == BACKEND_REF || x->in[X]->t.layout != LAYOUT_PLAIN)
		return false;
	for (int i = X_SCALE; i < x->node->n_in; i++)
		if ((i < BIAS || x->node->in[i] >= 0) && !exec_constant(x, i))
			return false;
	return exec_conv_geometry(x, &exec_constant(x, W)->shape, g, shape);
}

struct parameters { // heap
	int16_t *weight; // less their zero points, which are one, or one an output channel
	int64_t *bias;   // [oc], or NULL
	float *scale;    // [oc]
};

static void parameters_make(struct parameters *p, const struct exec *x, int64_t channels)
{
	const struct tensor *w = exec_constant(x, W), *zero = exec_constant(x, W_ZERO);
	const struct tensor *scale = exec_constant(x, W_SCALE), *bias = exec_constant(x, BIAS);
	int64_t n = tensor_count(w), zeros = tensor_count(zero), scales = tensor_count(scale);
	*p = (struct parameters){.weight = xcalloc((size_t)n, sizeof *p->weight), .scale = xcalloc((size_t)channels, sizeof *p->scale)};
	for (int64_t i = 0; i < n; i++)
		p->weight[i] = (int16_t)(element_int(w, i) - element_int(zero, i / (n / channels) % zeros));
	for (int64_t c = 0; c < channels; c++)
		p->scale[c] = float_of(x, X_SCALE) * ((const float *)scale->data)[c % scales] / float_of(x, Y_SCALE);
	if (bias)
		p->bias = xcalloc((size_t)channels, sizeof *p->bias);
	for (int64_t c = 0; bias && c < channels; c++)
		p->bias[c] = element_int(bias, c);
}

static void parameters_done(struct parameters *p)
{
	free(p->weight);
	free(p->bias);
	free(p->scale);
}

struct making {
	struct exec *x;
	const struct conv_geometry *g;
};

static enum status make(void *arg, struct prepared *out)
{
	const struct making *m = arg;
	struct exec *x = m->x;
	const struct tensor *zero = exec_constant(x, Y_ZERO);
	const float one = 1;
	const int32_t y_zero = (int32_t)element_int(zero, 0);
	struct parameters p;
	parameters_make(&p, x, m->g->oc);
	out->in = exec_conv_input_layout(x, m->g);
	out->out = exec_conv_output_layout(x, m->g);
	const struct qconv_task t = {.g = *m->g, .in = out->in, .out = out->out, .in_type = x->in[X]->t.type,
	    .in_zero = (int32_t)element_int(exec_constant(x, X_ZERO), 0), .weight = p.weight, .bias = p.bias, .scale = p.scale,
	    .out_quant = qlinear_quantizer(zero->type, &one, &y_zero, 1, -1)};
	enum status st = kernel_qconv(&out->kernel, x->e->opt.backend, &t, x->err);
	parameters_done(&p);
	return st;
}

static enum status kernel_of(struct exec *x, const struct conv_geometry *g, struct prepared *p)
{
	struct key k = exec_kernel_key(x, "qlinearconv");
	for (int i = X_SCALE; i < x->node->n_in; i++)
		if (x->node->in[i] >= 0)
			k = key_add_key(k, x->g->value[x->node->in[i]].content);
	return kernels_get(x->e->kernels, x->worker, k, make, &(struct making){x, g}, p);
}

enum status exec_qlinearconv(struct exec *x)
{
	struct conv_geometry g;
	struct shape shape;
	struct prepared p;
	struct rep in = {0}, codes = {0}, y = {0};
	if (!is_possible(x, &g, &shape))
		return STATUS_UNSUPPORTED;
	enum status st = kernel_of(x, &g, &p);
	if (st == STATUS_OK)
		st = rep_to_layout(&in, x->in[X], p.in, x->width, x->err);
	if (st == STATUS_OK)
		st = rep_alloc(&codes, exec_constant(x, Y_ZERO)->type, p.out, &shape, x->err);
	if (st == STATUS_OK)
		st = exec_kernel(x, p.kernel, &(struct kernel_io){.x = in.t.data, .y = codes.t.data});
	if (st == STATUS_OK)
		st = rep_to_layout(&y, &codes, LAYOUT_PLAIN, x->width, x->err);
	if (st == STATUS_OK)
		st = exec_finish(x, 0, &y);
	rep_drop(&in);
	rep_drop(&codes);
	rep_drop(&y);
	return st;
}
