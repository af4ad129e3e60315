// Entry points of the integer kernels: what no kernel is made for is refused here, once for all implementations.
#include "qkernel.h"

static enum status check_zero(int32_t zero, enum dtype type, const char *what, struct error *err)
{
	const int32_t reach = 1 << 16; // sums of the reference stay far within 64 bits
	if (!qcode_type(type))
		return STATUS_UNSUPPORTED;
	if (zero < -reach || zero > reach)
		return error_set(err, STATUS_FORMAT, "zero point %d of %s lies outside of its type", (int)zero, what);
	return STATUS_OK;
}

enum status kernel_qconv(struct kernel **out, enum kernel_backend b, const struct qconv_task *t, struct error *err)
{
	*out = NULL;
	enum status s = check_zero(t->in_zero, t->in_type, "the input", err);
	if (s != STATUS_OK)
		return s;
	if (b == BACKEND_REF)
		return qref_conv(out, t, err);
	s = qfast_depthwise(out, t, err);
	if (s == STATUS_UNSUPPORTED)
		s = qfast_winograd(out, t, err);
	return s == STATUS_UNSUPPORTED ? qfast_conv(out, t, err) : s;
}

enum status kernel_qmatmul(struct kernel **out, enum kernel_backend b, const struct qmatmul_task *t, struct error *err)
{
	*out = NULL;
	enum status s = check_zero(t->a_zero, t->a_type, "the left side", err);
	if (s == STATUS_OK)
		s = check_zero(t->b_zero, t->weight ? DT_I16 : t->b_type, "the right side", err);
	if (s != STATUS_OK)
		return s;
	return b == BACKEND_REF ? qref_matmul(out, t, err) : qfast_matmul(out, t, err);
}
