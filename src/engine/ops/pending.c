// Operators of the table that are not evaluated yet: each says so.
#include "ops.h"

#define PENDING(fn, io) \
	enum status fn(const struct node *n, const struct tensor *const *in, struct tensor *out, io struct error *err) \
	{ \
		(void)in; \
		(void)out; \
		return error_set(err, STATUS_UNSUPPORTED, "operator %s is not evaluated yet", n->op->name); \
	}
#define WIDTH int width __attribute__((unused)),
PENDING(deform_eval, WIDTH)
PENDING(deform_shape, )
PENDING(einsum_eval, WIDTH)
PENDING(einsum_shape, )
PENDING(fusedconv_eval, WIDTH)
PENDING(fusedconv_shape, )
PENDING(fusedgemm_eval, WIDTH)
PENDING(fusedgemm_shape, )
PENDING(fusedmatmul_eval, WIDTH)
PENDING(fusedmatmul_shape, )
