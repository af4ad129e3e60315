// ConvInteger by the float kernels: codes less their zero points are whole numbers,
// and floats add whole numbers exactly as long as no sum reaches 2^24. Where the weights are too large for that,
// their sixteens and what is left are convolved apart.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "exec_conv.h"

enum { W = 1, X_ZERO, W_ZERO }; // inputs
enum part { WHOLE, HIGH, LOW };
enum { HIGH_UNIT = 16, CODES_MAX = 255 }; // |code - zero| of 8 bit
static const int64_t EXACT = 1 << 24;

static int code_of(const struct tensor *t, int64_t i)
{
	return t->type == DT_I8 ? ((const int8_t *)t->data)[i] : ((const uint8_t *)t->data)[i];
}

static bool is_8_bit(const struct tensor *t)
{
	return t->type == DT_I8 || t->type == DT_U8;
}

static bool is_given(const struct exec *x, int i)
{
	return i < x->node->n_in && x->node->in[i] >= 0;
}

// The zero point of the input: one for the tensor.
static bool read_zero(const struct exec *x, int *zero)
{
	*zero = 0;
	if (!is_given(x, X_ZERO))
		return true;
	const struct rep *r = x->in[X_ZERO];
	if (!r || !is_8_bit(&r->t) || tensor_count(&r->t) != 1)
		return false;
	*zero = code_of(&r->t, 0);
	return true;
}

// Weights less their zero points, which are one, or one an output channel; heap.
static int *centred_weights(const struct exec *x, int64_t channels)
{
	const struct tensor *w = exec_constant(x, W), *zero = exec_constant(x, W_ZERO);
	int64_t n = tensor_count(w), zeros = zero ? tensor_count(zero) : 0;
	int *out = xcalloc((size_t)n + 1, sizeof *out);
	for (int64_t i = 0; i < n; i++)
		out[i] = code_of(w, i) - (zeros ? code_of(zero, i / (n / channels) % zeros) : 0);
	return out;
}

static int part_of(int w, enum part part)
{
	int high = (int)lrint((double)w / HIGH_UNIT);
	return part == WHOLE ? w : part == HIGH ? high : w - high * HIGH_UNIT;
}

// Does no sum of a channel reach what floats hold exactly?
static bool is_exact(const int *w, int64_t channels, int64_t per_channel, enum part part)
{
	for (int64_t c = 0; c < channels; c++) {
		int64_t sum = 0;
		for (int64_t i = 0; i < per_channel; i++)
			sum += labs(part_of(w[c * per_channel + i], part));
		if (sum * CODES_MAX >= EXACT)
			return false;
	}
	return true;
}

struct making {
	struct exec *x;
	const struct conv_geometry *g;
	enum part part;
};

static enum status make_kernel(void *arg, struct prepared *p)
{
	const struct making *m = arg;
	struct exec *x = m->x;
	const struct conv_geometry *g = m->g;
	int64_t n = tensor_count(exec_constant(x, W));
	int *w = centred_weights(x, g->oc);
	float *f = xcalloc((size_t)n + 1, sizeof *f);
	enum status st = STATUS_UNSUPPORTED;
	for (int64_t i = 0; i < n; i++)
		f[i] = (float)part_of(w[i], m->part);
	bool exact = is_exact(w, g->oc, n / g->oc, m->part);
	for (int b = x->e->opt.backend; exact && st == STATUS_UNSUPPORTED && b < BACKEND_REF; b++) {
		p->in = p->out = b == BACKEND_ONEDNN ? LAYOUT_BLOCK : LAYOUT_PLAIN;
		st = kernel_conv(&p->kernel, (enum kernel_backend)b,
		    &(struct conv_task){.g = *g, .weight = f, .in = p->in, .out = p->out, .exact = true}, x->err);
	}
	free(f);
	free(w);
	return st;
}

static enum status kernel_of(struct exec *x, const struct conv_geometry *g, enum part part, struct prepared *p)
{
	struct key k = key_add_int(exec_kernel_key(x, "convinteger"), part);
	k = key_add_key(k, x->g->value[x->node->in[W]].content);
	if (is_given(x, W_ZERO))
		k = key_add_key(k, x->g->value[x->node->in[W_ZERO]].content);
	return kernels_get(x->e->kernels, x->worker, k, make_kernel, &(struct making){x, g, part}, p);
}

// The input less its zero point, as floats in plain layout.
static enum status centred_input(struct exec *x, int zero, struct rep *out)
{
	const struct tensor *t = &x->in[0]->t;
	enum status st = rep_alloc(out, DT_F32, LAYOUT_PLAIN, &t->shape, x->err);
	const struct quantizer codes = {.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .qmin = INT8_MIN, .qmax = UINT8_MAX,
	    .scale = &(float){1.0f}, .zero = &(int32_t){zero}};
	if (st == STATUS_OK)
		dequantize(&out->t, t, &codes, x->width);
	return st;
}

// Adds unit times the convolution with a part of the weights to acc.
static enum status add_part(struct exec *x, const struct conv_geometry *g, struct rep *centred, enum part part, int unit, int32_t *acc)
{
	struct prepared p;
	struct rep in = {0}, y = {0}, plain = {0};
	const struct shape shape = shape_of(4, (const int64_t[]){g->n, g->oc, g->oh, g->ow});
	enum status st = kernel_of(x, g, part, &p);
	if (st == STATUS_OK)
		st = rep_to_layout(&in, centred, p.in, x->width, x->err);
	if (st == STATUS_OK)
		st = rep_alloc(&y, DT_F32, p.out, &shape, x->err);
	if (st == STATUS_OK)
		st = exec_kernel(x, p.kernel, &(struct kernel_io){.x = in.t.data, .y = y.t.data});
	if (st == STATUS_OK)
		st = rep_to_layout(&plain, &y, LAYOUT_PLAIN, x->width, x->err);
	const float *f = plain.t.data;
	const int64_t n = st == STATUS_OK ? shape_count(&shape) : 0;
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++)
		acc[i] += unit * (int32_t)f[i];
	rep_drop(&in);
	rep_drop(&y);
	rep_drop(&plain);
	return st;
}

static bool is_possible(struct exec *x, struct conv_geometry *g, struct shape *shape)
{
	if (x->node->op->id != OP_ConvInteger || x->e->opt.backend == BACKEND_REF)
		return false;
	const struct tensor *w = exec_constant(x, W);
	return w && is_8_bit(w) && (!is_given(x, W_ZERO) || exec_constant(x, W_ZERO)) && is_8_bit(&x->in[0]->t) &&
	    x->in[0]->t.layout == LAYOUT_PLAIN && exec_conv_geometry(x, &w->shape, g, shape);
}

// sums: zeroes, in plain layout.
static enum status add_sums(struct exec *x, const struct conv_geometry *g, int zero, int32_t *sums)
{
	struct prepared whole;
	struct rep centred = {0};
	bool one = kernel_of(x, g, WHOLE, &whole) == STATUS_OK;
	enum status st = centred_input(x, zero, &centred);
	if (st == STATUS_OK)
		st = add_part(x, g, &centred, one ? WHOLE : LOW, 1, sums);
	if (st == STATUS_OK && !one)
		st = add_part(x, g, &centred, HIGH, HIGH_UNIT, sums);
	rep_drop(&centred);
	return st;
}

enum status exec_convinteger(struct exec *x)
{
	struct conv_geometry g;
	struct shape shape;
	struct rep y = {0};
	int zero;
	if (!is_possible(x, &g, &shape) || !read_zero(x, &zero))
		return STATUS_UNSUPPORTED;
	enum status st = rep_alloc(&y, DT_I32, LAYOUT_PLAIN, &shape, x->err);
	if (st == STATUS_OK) {
		memset(y.t.data, 0, tensor_bytes(&y.t));
		st = add_sums(x, &g, zero, y.t.data);
	}
	if (st == STATUS_OK)
		st = exec_finish(x, 0, &y);
	rep_drop(&y);
	return st;
}
