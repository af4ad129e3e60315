// QLinearAdd and QLinearMul: two operands decoded, combined with broadcasting, encoded.
#include "binary.h"
#include "qlinear.h"
#include "rule.h"

enum { QB_A, QB_A_SCALE, QB_A_ZERO, QB_B, QB_B_SCALE, QB_B_ZERO, QB_Y_SCALE, QB_Y_ZERO };

enum status qlinear_binary_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y;
	enum status s = rule_broadcast(&y, &in[QB_A]->shape, &in[QB_B]->shape, err);

	(void)n;
	if (s == STATUS_OK)
		rule_set(&out[0], in[QB_A]->type, &y);
	return s;
}

static enum status decode(
    struct tensor *x, const struct node *n, const struct tensor *const *in, int first, int width, struct error *err)
{
	struct qlinear q;
	enum status s = qlinear_read(&q, n, in, first + 1, first + 2, err);

	return s == STATUS_OK ? qlinear_decode(x, in[first], &q, width, err) : s;
}

enum status qlinear_binary_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct tensor a = {0}, b = {0}, y = {.type = DT_F32, .shape = out[0].shape};
	struct qlinear q;
	struct strided walk;
	enum status s = qlinear_read(&q, n, in, QB_Y_SCALE, QB_Y_ZERO, err);

	if (s == STATUS_OK)
		s = decode(&a, n, in, QB_A, width, err);
	if (s == STATUS_OK)
		s = decode(&b, n, in, QB_B, width, err);
	if (s == STATUS_OK)
		s = tensor_alloc(&y, NULL, err);
	if (s == STATUS_OK) {
		strided_broadcast(&walk, &y.shape, (const struct shape *const[]){&a.shape, &b.shape}, 2);
		binary_floats(n->op->id == OP_QLinearAdd ? OP_Add : OP_Mul, &walk, a.data, b.data, y.data, width);
		qlinear_encode(&out[0], &y, &q, width);
	}
	tensor_drop(&a);
	tensor_drop(&b);
	tensor_drop(&y);
	return s;
}
