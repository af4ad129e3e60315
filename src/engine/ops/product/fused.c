// ONNX Runtime's fused operators in float: FusedConv, FusedGemm, FusedMatMul.
#include <float.h>
#include <string.h>
#include <strings.h>
#include "../../kernels/elementwise/unary.h"
#include "../rule.h"
#include "../spatial/conv.h"
#include "gemm.h"

// By the name of its operator, in any case.
static bool function_named(enum unary_fn *fn, const char *name)
{
	static const struct {
		const char *name;
		enum unary_fn fn;
	} names[] = {
	    {"Clip", FN_clip},
	    {"Elu", FN_elu},
	    {"HardSigmoid", FN_hardsigmoid},
	    {"HardSwish", FN_hardswish},
	    {"Identity", FN_copy},
	    {"LeakyRelu", FN_leakyrelu},
	    {"Relu", FN_relu},
	    {"Sigmoid", FN_sigmoid},
	    {"Softplus", FN_softplus},
	    {"Softsign", FN_softsign},
	    {"Tanh", FN_tanh},
	    {"ThresholdedRelu", FN_threshold},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcasecmp(names[i].name, name))
			continue;
		*fn = names[i].fn;
		return true;
	}
	return false;
}

// The activation and its parameters, in the order that the attribute lists them: alpha, beta; Clip: low, high.
static enum status find_activation(
    enum unary_fn *fn, struct act_attrs *a, const char *name, const float *params, int n, struct error *err)
{
	float first = n > 0 ? params[0] : 0, second = n > 1 ? params[1] : 0;
	*a = (struct act_attrs){.alpha = first,
	    .beta = second,
	    .gamma = n > 2 ? params[2] : 1,
	    .low = n > 0 ? first : -FLT_MAX,
	    .high = n > 1 ? second : FLT_MAX};
	*fn = FN_copy;
	if (!*name || function_named(fn, name))
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "activation `%s` is not supported", name);
}

static enum status conv_activation(
    enum unary_fn *fn, struct act_attrs *a, const struct fused_attrs *f, struct error *err)
{
	return find_activation(
	    fn, a, f->activation, f->params.at, f->params.at && f->params.n > 0 ? f->params.n : 0, err);
}

enum status fusedconv_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct fused_attrs *f = n->attrs;
	struct convolve t;
	struct act_attrs a;
	struct shape y;
	enum unary_fn fn;
	enum status s = conv_resolve(&t, &f->conv, &in[0]->shape, &in[1]->shape, false, err);
	if (s == STATUS_OK)
		s = conv_check_bias(&t, rule_input(n, in, 2), err);
	if (s == STATUS_OK)
		s = conv_activation(&fn, &a, f, err);
	if (s != STATUS_OK)
		return s;
	y = window_shape(&t.win, t.n, t.oc);
	if (rule_input(n, in, 3) && !shape_equal(&in[3]->shape, &y))
		return error_set(err, STATUS_FORMAT, "input 3 is added and must have the shape of the output");
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

enum status fusedconv_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct fused_attrs *f = n->attrs;
	const struct tensor *bias = rule_input(n, in, 2), *added = rule_input(n, in, 3);
	struct convolve t;
	struct act_attrs a;
	enum unary_fn fn;
	float *y = out[0].data;
	int64_t count = tensor_count(&out[0]);
	enum status s = conv_resolve(&t, &f->conv, &in[0]->shape, &in[1]->shape, false, err);
	if (s == STATUS_OK)
		s = conv_activation(&fn, &a, f, err);
	if (s != STATUS_OK)
		return s;
	conv_fill_bias(&t, bias ? bias->data : NULL, y);
	convolve_float(&t, in[0]->data, in[1]->data, y, width);
	for (int64_t i = 0; added && i < count; i++)
		y[i] += ((const float *)added->data)[i];
	unary_apply(fn, &a, y, y, count);
	return STATUS_OK;
}

static enum status gemm_activation(
    enum unary_fn *fn, struct act_attrs *a, const struct fusedgemm_attrs *g, struct error *err)
{
	return find_activation(fn, a, g->activation, (const float[]){g->alpha, g->beta, g->gamma}, 3, err);
}

enum status fusedgemm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct act_attrs a;
	enum unary_fn fn;
	enum status s = gemm_activation(&fn, &a, n->attrs, err);
	return s == STATUS_OK ? gemm_shape(n, in, out, err) : s;
}

// The attributes begin with those of Gemm, which is what gemm_shape and gemm_eval read.
enum status fusedgemm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct act_attrs a;
	enum unary_fn fn;
	enum status s = gemm_activation(&fn, &a, n->attrs, err);
	if (s == STATUS_OK)
		s = gemm_eval(n, in, out, width, err);
	if (s == STATUS_OK)
		unary_apply(fn, &a, out[0].data, out[0].data, tensor_count(&out[0]));
	return s;
}

// [rows, batch..., columns] as [batch..., rows, columns].
static struct shape batches_first(const struct shape *s, bool is_batch_second)
{
	struct shape y = *s;
	for (int i = 0; is_batch_second && i < s->rank - 1; i++)
		y.dim[i] = s->dim[i == s->rank - 2 ? 0 : i + 1];
	return y;
}

// Where the matrices of an operand lie if its batches come second: its rows are apart, and the batches between them.
static void spread(int64_t *row, int64_t *batch_step, const struct shape *batch, const struct shape *s)
{
	int64_t rows = s->dim[0];
	*row *= rule_product(s, 1, s->rank - 1);
	for (int i = 0; i < batch->rank; i++)
		batch_step[i] /= rows ? rows : 1;
}

static enum status resolve_matmul(
    struct matmul *t, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct fusedmatmul_attrs *a = n->attrs;
	const struct shape *left = &in[0]->shape, *right = &in[1]->shape;
	const bool second_a = a->trans_batch_a && left->rank > 2, second_b = a->trans_batch_b && right->rank > 2;
	const struct shape x = batches_first(left, second_a), z = batches_first(right, second_b);
	enum status s = matmul_resolve(t, &x, &z, a->trans_a != 0, a->trans_b != 0, err);
	if (s == STATUS_OK && second_a)
		spread(a->trans_a ? &t->one.a_col : &t->one.a_row, t->a_step, &t->batch, left);
	if (s == STATUS_OK && second_b)
		spread(a->trans_b ? &t->one.b_col : &t->one.b_row, t->b_step, &t->batch, right);
	return s;
}

enum status fusedmatmul_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct matmul t;
	enum status s = resolve_matmul(&t, n, in, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &t.y);
	return s;
}

enum status fusedmatmul_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	float alpha = ((const struct fusedmatmul_attrs *)n->attrs)->alpha, *y = out[0].data;
	struct matmul t;
	enum status s = resolve_matmul(&t, n, in, err);
	if (s != STATUS_OK)
		return s;
	if (tensor_bytes(&out[0]))
		memset(y, 0, tensor_bytes(&out[0]));
	for (int64_t i = 0; i < matmul_batches(&t); i++) {
		int64_t a, b;
		matmul_offsets(&t, i, &a, &b);
		product_floats(&t.one, (const float *)in[0]->data + a, (const float *)in[1]->data + b,
		    y + i * t.one.m * t.one.n, width);
	}
	for (int64_t i = 0; i < tensor_count(&out[0]); i++)
		y[i] *= alpha;
	return STATUS_OK;
}
