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
PENDING(convinteger_eval, WIDTH)
PENDING(convinteger_shape, )
PENDING(deform_eval, WIDTH)
PENDING(deform_shape, )
PENDING(dynamicmatmul_eval, WIDTH)
PENDING(dynamicmatmul_shape, )
PENDING(einsum_eval, WIDTH)
PENDING(einsum_shape, )
PENDING(fusedconv_eval, WIDTH)
PENDING(fusedconv_shape, )
PENDING(fusedgemm_eval, WIDTH)
PENDING(fusedgemm_shape, )
PENDING(fusedmatmul_eval, WIDTH)
PENDING(fusedmatmul_shape, )
PENDING(gru_eval, WIDTH)
PENDING(lstm_eval, WIDTH)
PENDING(matmulinteger_eval, WIDTH)
PENDING(matmulinteger_shape, )
PENDING(maxunpool_eval, WIDTH)
PENDING(maxunpool_shape, )
PENDING(nms_eval, WIDTH)
PENDING(nms_shape, )
PENDING(qgemm_eval, WIDTH)
PENDING(qgemm_shape, )
PENDING(qlinear_binary_eval, WIDTH)
PENDING(qlinear_binary_shape, )
PENDING(qlinear_concat_eval, WIDTH)
PENDING(qlinear_concat_shape, )
PENDING(qlinear_pool_eval, WIDTH)
PENDING(qlinear_pool_shape, )
PENDING(qlinear_softmax_eval, WIDTH)
PENDING(qlinear_unary_eval, WIDTH)
PENDING(qlinearconv_eval, WIDTH)
PENDING(qlinearconv_shape, )
PENDING(qlinearmatmul_eval, WIDTH)
PENDING(qlinearmatmul_shape, )
PENDING(rnn_eval, WIDTH)
PENDING(rnn_shape, )
PENDING(roialign_eval, WIDTH)
PENDING(roialign_shape, )
PENDING(unique_eval, WIDTH)
PENDING(unique_shape, )
