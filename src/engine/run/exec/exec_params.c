// Parameters as a simulation sees them: rounded weights for float kernels, codes and scales for integer ones.
#include <stdlib.h>
#include <string.h>
#include "../keys.h"
#include "exec.h"

static const struct tensor *param(const struct exec *x, int i)
{
	if (i >= x->node->n_in || x->node->in[i] < 0)
		return NULL;
	return slot_constant(x->g, x->plan, x->sim, x->step->node, i);
}

// The dimension of the weights that makes output channels. A scale along another one cannot be taken out of the sums.
static int channel_axis(const struct exec *x)
{
	switch (x->node->op->id) {
	case OP_ConvTranspose:
		return 1;
	case OP_Gemm:
		return ((const struct gemm_attrs *)x->node->attrs)->trans_b ? 0 : 1;
	case OP_MatMul:
		return param(x, 1)->shape.rank - 1;
	default:
		return 0;
	}
}

static int axis_of(const struct exec *x, int i)
{
	return i == 1 ? channel_axis(x) : param(x, i)->shape.rank - 1;
}

// A parameter, or some of its output channels, with the quantizer that acts on them.
// Channels that do not lie together are copied.
struct seen {
	struct tensor t; // without data: there is no such parameter
	struct quantizer q;
	bool quantized;
	float *own;
};

static enum status no_memory(struct exec *x)
{
	return error_set(x->err, STATUS_NOMEM, "no memory for the weights");
}

// False: no memory.
static bool take_channels(struct seen *s, int axis, const struct channels *part)
{
	const struct shape all = s->t.shape;
	int64_t outer = 1, inner = 1, from = part->from;
	for (int i = 0; i < axis; i++)
		outer *= all.dim[i];
	for (int i = axis + 1; i < all.rank; i++)
		inner *= all.dim[i];
	const float *at = (const float *)s->t.data + from * inner;
	s->t.shape.dim[axis] = part->n;
	s->t.buf = NULL;
	s->t.data = (void *)at;
	if (outer > 1) {
		s->t.data = s->own = mem_try_array((size_t)(outer * part->n * inner), sizeof(float));
		for (int64_t i = 0; s->own && i < outer; i++)
			memcpy(s->own + i * part->n * inner, at + i * all.dim[axis] * inner, (size_t)(part->n * inner) * sizeof(float));
	}
	if (s->quantized && s->q.n > 1) {
		s->q.n = (int)part->n;
		s->q.scale += from;
		s->q.zero = s->q.zero ? s->q.zero + from : NULL;
	}
	return s->t.data != NULL;
}

static enum status see(struct seen *s, struct exec *x, int i, const struct channels *part)
{
	const struct tensor *t = param(x, i);
	*s = (struct seen){0};
	if (!t)
		return STATUS_OK;
	s->t = *t;
	const struct quantizer *q = exec_param_quantizer(x, i);
	s->quantized = q != NULL;
	if (q)
		s->q = *q;
	return !part || take_channels(s, axis_of(x, i), part) ? STATUS_OK : no_memory(x);
}

enum status exec_weights(const float **out, float **own, struct exec *x, int i, const struct channels *part)
{
	enum { SLACK = 16 }; // floats that vectors may read behind the last one
	struct seen s;
	enum status st = see(&s, x, i, part);
	*out = s.t.data;
	*own = s.own;
	if (st != STATUS_OK || !s.quantized)
		return st;
	struct tensor dst = s.t;
	dst.buf = NULL;
	if (!s.own)
		dst.data = *own = mem_try_array((size_t)tensor_count(&s.t) + SLACK, sizeof **own);
	*out = *own;
	if (!*own)
		return no_memory(x);
	fake_quantize(&dst, &s.t, &s.q, 1);
	return STATUS_OK;
}

bool exec_splits_channels(const struct exec *x, int i)
{
	const struct tensor *t = param(x, i);
	const struct quantizer *q = t ? exec_param_quantizer(x, i) : NULL;
	return !q || q->n == 1 || q->axis == axis_of(x, i);
}

static struct key add_param(struct exec *x, struct key k, int i)
{
	if (!param(x, i))
		return key_add_int(k, -1);
	return key_add_key(key_add_key(k, slot_content(x->g, x->plan, x->sim, x->step->node, i)), quantizer_key(exec_param_quantizer(x, i)));
}

struct key exec_kernel_key(struct exec *x, const char *kind)
{
	const struct epilogue *e = &x->step->epi;
	struct key k = key_add_text(x->e->node_sig[x->step->node], kind);
	k = add_param(x, add_param(x, k, 1), 2);
	k = key_add_int(key_add_int(key_add_int(k, x->e->opt.backend), e->act.kind), e->add);
	k = key_add(k, (float[]){e->act.a, e->act.b}, 2 * sizeof(float));
	const struct shape *s = &x->in[0]->t.shape;
	k = key_add(k, s->dim, (size_t)s->rank * sizeof *s->dim);
	return key_add_key(k, quantizer_key(exec_out_quantizer(x, 0)));
}

static bool all_zero(const int32_t *zero, int n)
{
	for (int i = 0; zero && i < n; i++)
		if (zero[i] != 0)
			return false;
	return true;
}

bool affine_possible(const struct exec *x)
{
	if (!exec_integer(x) || !x->in[0]->coded || !param(x, 1) || param(x, 1)->type != DT_F32)
		return false;
	if (x->node->n_in > 2 && x->node->in[2] >= 0 && !param(x, 2))
		return false;
	const struct quantizer *w = exec_param_quantizer(x, 1);
	return w && w->kind == QUANT_LINEAR && w->bits <= 16 && all_zero(w->zero, w->n) && (w->n == 1 || w->axis == channel_axis(x));
}

static bool on_grid(const struct seen *b, const struct affine *a)
{
	bool same = b->quantized && b->q.kind == QUANT_LINEAR && all_zero(b->q.zero, b->q.n);
	for (int64_t c = 0; same && c < a->n; c++)
		same = b->q.scale[b->q.n > 1 ? c : 0] == a->scale[c];
	return same;
}

static enum status float_bias(struct affine *a, struct exec *x, const struct channels *part)
{
	float *own;
	const float *values;
	enum status st = exec_weights(&values, &own, x, 2, part);
	a->fbias = st == STATUS_OK ? mem_try_array((size_t)a->n, sizeof *a->fbias) : NULL;
	if (a->fbias)
		memcpy(a->fbias, values, (size_t)a->n * sizeof *a->fbias);
	free(own);
	return a->fbias ? STATUS_OK : no_memory(x);
}

// The bias is added to the accumulator as an integer when it lies on the accumulator's grid, else in float.
static enum status make_bias(struct affine *a, struct exec *x, const struct channels *part)
{
	struct seen b;
	enum status st = see(&b, x, 2, part);
	bool coded = st == STATUS_OK && b.t.data && on_grid(&b, a);
	if (coded)
		a->bias = mem_try_array((size_t)a->n, sizeof *a->bias);
	if (a->bias)
		codes_of_bias(a->bias, &b.t, &b.q);
	free(b.own);
	if (coded && !a->bias)
		return no_memory(x);
	return st != STATUS_OK || coded || !b.t.data ? st : float_bias(a, x, part);
}

// Groups of a transposed convolution share the scales of their channels.
enum status affine_make(struct affine *a, struct exec *x, int64_t channels, const struct channels *part)
{
	const struct tensor *b = param(x, 2);
	struct seen w;
	*a = (struct affine){.n = part ? part->n : channels};
	if (channels % exec_param_quantizer(x, 1)->n != 0 || (b && tensor_count(b) != channels))
		return STATUS_UNSUPPORTED;
	enum status st = see(&w, x, 1, part);
	if (st == STATUS_OK)
		a->weight = mem_try_array((size_t)tensor_count(&w.t), sizeof *a->weight);
	if (a->weight)
		codes_of_weights(a->weight, &w.t, &w.q);
	free(w.own);
	a->scale = a->weight ? mem_try_array((size_t)a->n, sizeof *a->scale) : NULL;
	if (!a->scale)
		return no_memory(x);
	for (int64_t c = 0; c < a->n; c++)
		a->scale[c] = rep_quantizer(x->in[0])->scale[0] * w.q.scale[c % w.q.n];
	return make_bias(a, x, part);
}

void affine_done(struct affine *a)
{
	free(a->weight);
	free(a->bias);
	free(a->scale);
	free(a->fbias);
}
