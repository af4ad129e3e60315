// Products of two tensors by the kernel for matrices, wherever the elements lie:
// Einsum, and MatMul whose batches are broadcast.
#include "../../ops/product/einsum.h"
#include "exec.h"

static const char *equation_of(const struct exec *x, const struct tensor *const *in)
{
	if (x->node->op->id == OP_Einsum)
		return ((const struct einsum_attrs *)x->node->attrs)->equation;
	if (in[0]->shape.rank == 1)
		return in[1]->shape.rank == 1 ? "b,b->" : "b,...bc->...c";
	return in[1]->shape.rank == 1 ? "...ab,b->...a" : "...ab,...bc->...ac";
}

static bool serves(const struct exec *x)
{
	enum op_id id = x->node->op->id;
	return (id == OP_Einsum || id == OP_MatMul) && x->node->n_in == 2 && !x->e->quantized_file && x->step->bias < 0 &&
	    exec_float_input(x, 0) && exec_float_input(x, 1);
}

struct making {
	struct exec *x;
	const struct einsum_product *p;
};

static enum status make(void *arg, struct prepared *out)
{
	const struct making *m = arg;
	const struct einsum_product *p = m->p;
	const struct matmul_task t = {.batch = p->batch, .m = p->m, .n = p->n, .k = p->k, .trans_a = p->a_turned, .trans_b = p->b_turned,
	    .stride_a = p->m * p->k, .stride_b = p->k * p->n, .alpha = 1.0f};
	enum status st = STATUS_UNSUPPORTED;
	for (int b = m->x->e->opt.backend; st == STATUS_UNSUPPORTED && b < BACKEND_COUNT; b++)
		st = kernel_matmul(&out->kernel, (enum kernel_backend)b, &t, m->x->err);
	return st;
}

static enum status multiply(struct exec *x, const struct einsum_product *p, const void *a, const void *b, void *y)
{
	struct prepared k;
	const int64_t sizes[] = {p->batch, p->m, p->n, p->k, p->a_turned, p->b_turned};
	struct key key = key_add(exec_kernel_key(x, "product"), sizes, sizeof sizes);
	enum status st = kernels_get(x->e->kernels, x->worker, key, make, &(struct making){x, p}, &k);
	return st == STATUS_OK ? exec_kernel(x, k.kernel, &(struct kernel_io){.x = a, .w = b, .y = y}) : st;
}

// An operand where the kernel wants it: `own` holds the copy, if there has to be one.
static enum status place(struct exec *x, const struct tensor *in, bool copied, const struct strided *s, struct rep *own, const void **out)
{
	*out = in->data;
	if (!copied)
		return STATUS_OK;
	struct strided copy = *s;
	enum status st = rep_alloc(own, DT_F32, LAYOUT_PLAIN, &in->shape, x->err);
	if (st == STATUS_OK)
		strided_copy(&copy, own->t.data, in->data, sizeof(float));
	*out = own->t.data;
	return st;
}

static enum status product(struct exec *x, struct einsum_product *p, const struct tensor *const *in, struct rep *y)
{
	struct rep a = {0}, b = {0}, product = {0};
	const void *from_a, *from_b;
	enum status st = place(x, in[0], p->a_copied, &p->a, &a, &from_a);
	if (st == STATUS_OK)
		st = place(x, in[1], p->b_copied, &p->b, &b, &from_b);
	if (st == STATUS_OK && p->y_copied)
		st = rep_alloc(&product, DT_F32, LAYOUT_PLAIN, &y->t.shape, x->err);
	if (st == STATUS_OK)
		st = multiply(x, p, from_a, from_b, p->y_copied ? product.t.data : y->t.data);
	if (st == STATUS_OK && p->y_copied)
		strided_copy(&p->y, y->t.data, product.t.data, sizeof(float));
	rep_drop(&a);
	rep_drop(&b);
	rep_drop(&product);
	return st;
}

static enum status run(struct exec *x, const struct tensor *const *in, struct rep *y)
{
	struct einsum_product p;
	struct shape shape;
	if (!einsum_product(&p, equation_of(x, in), in) || exec_out_shape(x, &shape) != STATUS_OK)
		return STATUS_UNSUPPORTED;
	enum status st = rep_alloc(y, DT_F32, LAYOUT_PLAIN, &shape, x->err);
	return st == STATUS_OK ? product(x, &p, in, y) : st;
}

enum status exec_product(struct exec *x)
{
	struct rep hold[2] = {0}, y = {0};
	const struct tensor *in[2];
	if (!serves(x))
		return STATUS_UNSUPPORTED;
	enum status st = exec_plain_inputs(x, hold, in);
	if (st == STATUS_OK)
		st = run(x, in, &y);
	if (st == STATUS_OK) {
		exec_gain(x, &y);
		elt_act(&x->step->epi.act, y.t.data, y.t.data, tensor_stored(&y.t));
		st = exec_finish(x, 0, &y);
	}
	rep_drop(&hold[0]);
	rep_drop(&hold[1]);
	rep_drop(&y);
	return st;
}
