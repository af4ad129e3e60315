// QLinearLeakyRelu, QLinearSigmoid, QLinearSoftmax, QLinearAveragePool, QLinearGlobalAveragePool:
// the float operator between decoding and encoding. All have the inputs x, scale, zero point,
// output scale, output zero point; zero points may be left out.
#include "../../kernels/elementwise/unary.h"
#include "../normalization/softmax.h"
#include "../rule.h"
#include "qlinear.h"

enum { QU_X, QU_X_SCALE, QU_X_ZERO, QU_Y_SCALE, QU_Y_ZERO };

static enum status check_counts(const struct node *n, const struct tensor *const *in, struct error *err)
{
	if (!rule_input(n, in, QU_Y_SCALE))
		return error_set(err, STATUS_FORMAT, "input %d is missing", QU_Y_SCALE);
	return qlinear_counts(n, in, (const int[]){QU_X_SCALE, QU_X_ZERO, QU_Y_SCALE, QU_Y_ZERO}, 4, 0, err);
}

enum status qlinear_unary_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = check_counts(n, in, err);
	return s ? s : unary_shape(n, in, out, err);
}

// y has type and shape, and is allocated.
typedef enum status float_fn(
    const struct node *n, const struct tensor *x, struct tensor *y, int width, struct error *err);

static enum status between_codes(const struct node *n, const struct tensor *const *in, struct tensor *out, float_fn *fn,
    int width, struct error *err)
{
	struct tensor x = {0}, y = {.type = DT_F32, .shape = out[0].shape};
	struct qlinear from, to;
	enum status s = qlinear_read(&from, n, in, QU_X_SCALE, QU_X_ZERO, err);
	if (s == STATUS_OK)
		s = qlinear_read(&to, n, in, QU_Y_SCALE, QU_Y_ZERO, err);
	if (s == STATUS_OK)
		s = qlinear_decode(&x, in[QU_X], &from, width, err);
	if (s == STATUS_OK)
		s = tensor_alloc(&y, NULL, err);
	if (s == STATUS_OK)
		s = fn(n, &x, &y, width, err);
	if (s == STATUS_OK)
		qlinear_encode(&out[0], &y, &to, width);
	tensor_drop(&x);
	tensor_drop(&y);
	return s;
}

static enum status apply_unary(
    const struct node *n, const struct tensor *x, struct tensor *y, int width, struct error *err)
{
	const struct act_attrs none = {0};
	(void)width;
	(void)err;
	if (n->op->id == OP_QLinearLeakyRelu)
		unary_apply(FN_leakyrelu, n->attrs, x->data, y->data, tensor_count(x));
	else
		unary_apply(FN_sigmoid, &none, x->data, y->data, tensor_count(x));
	return STATUS_OK;
}

enum status qlinear_unary_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return between_codes(n, in, out, apply_unary, width, err);
}

enum status qlinear_softmax_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int axis;
	enum status s = rule_axis(&axis, ((const struct qsoftmax_attrs *)n->attrs)->axis, in[QU_X]->shape.rank, err);
	return s ? s : qlinear_unary_shape(n, in, out, err);
}

// Attribute `opset` says which Softmax is meant: before 13 all dimensions from `axis` on are one.
static enum status apply_softmax(
    const struct node *n, const struct tensor *x, struct tensor *y, int width, struct error *err)
{
	const struct qsoftmax_attrs *a = n->attrs;
	const struct shape *shape = &x->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, a->axis, shape->rank, err);
	int last = a->opset < 13 ? shape->rank : axis + 1;
	if (s != STATUS_OK)
		return s;
	struct softmax_extent e = {rule_product(shape, 0, axis), rule_product(shape, axis, last), rule_product(shape, last, shape->rank)};
	return softmax_along(OP_Softmax, x->data, y->data, &e, width, err);
}

enum status qlinear_softmax_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return between_codes(n, in, out, apply_softmax, width, err);
}

// The attributes begin with those of AveragePool.
static bool is_global(const struct node *n)
{
	return n->op->id == OP_QLinearGlobalAveragePool;
}

enum status qlinear_pool_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s;
	if (((const struct qpool_attrs *)n->attrs)->channels_last)
		return error_set(err, STATUS_UNSUPPORTED, "channels_last is not supported");
	s = check_counts(n, in, err);
	if (s == STATUS_OK)
		s = (is_global(n) ? globalpool_shape : pool_shape)(n, in, out, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[QU_X]->type, &out[0].shape);
	return s;
}

static enum status pool_floats(
    struct tensor *y, const struct node *n, const struct tensor *const *in, const struct qlinear *from, int width, struct error *err)
{
	struct tensor x = {0};
	enum status s = qlinear_decode(&x, in[QU_X], from, width, err);
	if (s == STATUS_OK)
		s = tensor_alloc(y, NULL, err);
	if (s == STATUS_OK)
		s = (is_global(n) ? globalpool_eval : pool_eval)(n, (const struct tensor *const[]){&x}, y, width, err);
	tensor_drop(&x);
	return s;
}

// The zero point is added before rounding, and not after it as elsewhere:
// with ties to even that is another code where it is odd.
enum status qlinear_pool_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct qlinear whole = {1, 0};
	struct tensor y = {.type = DT_F32, .shape = out[0].shape};
	struct qlinear from, to;
	float *v;
	enum status s = qlinear_read(&from, n, in, QU_X_SCALE, QU_X_ZERO, err);
	if (s == STATUS_OK)
		s = qlinear_read(&to, n, in, QU_Y_SCALE, QU_Y_ZERO, err);
	if (s == STATUS_OK)
		s = pool_floats(&y, n, in, &from, width, err);
	if (s == STATUS_OK) {
		v = y.data;
		for (int64_t i = 0; i < tensor_count(&y); i++)
			v[i] = v[i] / to.scale + (float)to.zero;
		qlinear_encode(&out[0], &y, &whole, width);
	}
	tensor_drop(&y);
	return s;
}
