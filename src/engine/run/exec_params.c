// Parameters as a simulation sees them: rounded weights for float kernels, codes and scales for integer ones.
#include <stdlib.h>
#include <string.h>
#include "attr.h"
#include "exec.h"
#include "keys.h"

static const struct tensor *param(const struct exec *x, int i)
{
	if (i >= x->node->n_in || x->node->in[i] < 0)
		return NULL;
	return slot_constant(x->g, x->plan, x->sim, x->step->node, i);
}

const float *exec_weights(struct exec *x, int i, float **own)
{
	const struct tensor *w = param(x, i);
	const struct quantizer *q = w ? exec_param_quantizer(x, i) : NULL;
	*own = NULL;
	if (!w)
		return NULL;
	if (!q)
		return w->data;
	*own = xmalloc(tensor_bytes(w) + 64);
	struct tensor dst = *w;
	dst.data = *own;
	dst.buf = NULL;
	fake_quantize(&dst, w, q, 1);
	return *own;
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

bool act_in_integer_epilogue(const struct act *a)
{
	return a->kind == ACT_NONE || a->kind == ACT_RELU || a->kind == ACT_CLIP || a->kind == ACT_LEAKY;
}

static bool all_zero(const int32_t *zero, int n)
{
	for (int i = 0; zero && i < n; i++)
		if (zero[i] != 0)
			return false;
	return true;
}

// The dimension of the weights that makes output channels. A scale along another one cannot be taken out of the sums.
static int channel_axis(const struct exec *x)
{
	switch (x->node->op->id) {
	case OP_ConvTranspose:
		return 1;
	case OP_Gemm:
		return attr_int(x->node, "transB", 0) ? 0 : 1;
	case OP_MatMul:
		return param(x, 1)->shape.rank - 1;
	default:
		return 0;
	}
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

// The bias is added to the accumulator as an integer when it lies on the accumulator's grid, else in float.
static void make_bias(struct affine *a, struct exec *x)
{
	const struct tensor *b = param(x, 2);
	if (!b)
		return;
	const struct quantizer *q = exec_param_quantizer(x, 2);
	bool on_grid = q && q->kind == QUANT_LINEAR && all_zero(q->zero, q->n);
	for (int64_t c = 0; on_grid && c < a->n; c++)
		on_grid = q->scale[q->n > 1 ? c : 0] == a->scale[c];
	if (on_grid) {
		a->bias = xcalloc((size_t)a->n, sizeof *a->bias);
		plan_bias_codes(x->plan, x->plan->first_in[x->step->node] + 2, a->bias);
		return;
	}
	float *own = NULL;
	const float *values = exec_weights(x, 2, &own);
	a->fbias = xmalloc((size_t)a->n * sizeof *a->fbias);
	memcpy(a->fbias, values, (size_t)a->n * sizeof *a->fbias);
	free(own);
}

// Groups of a transposed convolution share the scales of their channels.
enum status affine_make(struct affine *a, struct exec *x, int64_t channels)
{
	const struct tensor *w = param(x, 1), *b = param(x, 2);
	const struct quantizer *q = exec_param_quantizer(x, 1);
	*a = (struct affine){.n = channels};
	if (channels % q->n != 0 || (b && tensor_count(b) != channels))
		return STATUS_UNSUPPORTED;
	a->weight = mem_try_array((size_t)tensor_count(w), sizeof *a->weight);
	if (!a->weight)
		return error_set(x->err, STATUS_NOMEM, "no memory for the weights");
	plan_weight_codes(x->plan, x->plan->first_in[x->step->node] + 1, a->weight);
	a->scale = xmalloc((size_t)channels * sizeof *a->scale);
	for (int64_t c = 0; c < channels; c++)
		a->scale[c] = rep_quantizer(x->in[0])->scale[0] * q->scale[c % q->n];
	make_bias(a, x);
	return STATUS_OK;
}

void affine_done(struct affine *a)
{
	free(a->weight);
	free(a->bias);
	free(a->scale);
	free(a->fbias);
}
