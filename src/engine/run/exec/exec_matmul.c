// MatMul and Gemm as one batched row-major product.
#include <stdlib.h>
#include <string.h>
#include "exec.h"

struct product {
	int64_t batch, m, n, k, stride_a, stride_b;
	struct channels panel; // the columns that a kernel is for: all, or some
	bool trans_a, trans_b, constant_b;
	float alpha;
	struct shape shape;
};

static int64_t span(const struct shape *s, int from, int to)
{
	int64_t n = 1;
	for (int i = from; i < to; i++)
		n *= s->dim[i];
	return n;
}

// [.., m, k] x [k, n] or [k] folds its batch into rows; equal batches run side by side;
// other broadcasts are left to the plain code.
static bool matmul_product(const struct exec *x, struct product *p)
{
	const struct shape *a = &x->in[0]->t.shape, *b = &x->in[1]->t.shape;
	if (a->rank < 2 || b->rank < 1)
		return false;
	p->k = a->dim[a->rank - 1];
	if (b->rank == 1) {
		p->batch = p->n = 1;
		p->m = span(a, 0, a->rank - 1);
		return b->dim[0] == p->k;
	}
	p->n = b->dim[b->rank - 1];
	if (span(b, 0, b->rank - 2) == 1) {
		p->batch = 1;
		p->m = span(a, 0, a->rank - 1);
		return b->dim[b->rank - 2] == p->k;
	}
	if (a->rank != b->rank || memcmp(a->dim, b->dim, (size_t)(a->rank - 2) * sizeof *a->dim) != 0)
		return false;
	p->batch = span(a, 0, a->rank - 2);
	p->m = a->dim[a->rank - 2];
	p->stride_a = p->m * p->k;
	p->stride_b = p->k * p->n;
	return b->dim[b->rank - 2] == p->k;
}

static bool gemm_product(const struct exec *x, struct product *p)
{
	const struct gemm_attrs *at = x->node->attrs;
	const struct shape *a = &x->in[0]->t.shape, *b = &x->in[1]->t.shape;
	if (a->rank != 2 || b->rank != 2 || at->trans_a || (at->beta != 1.0f && x->node->n_in > 2))
		return false;
	p->batch = 1;
	p->m = a->dim[0];
	p->k = a->dim[1];
	p->n = at->trans_b ? b->dim[0] : b->dim[1];
	p->trans_b = at->trans_b != 0;
	p->alpha = at->alpha;
	return true;
}

static bool bias_fits(const struct exec *x, const struct product *p)
{
	if (x->node->n_in < 3 || x->node->in[2] < 0)
		return true;
	const struct tensor *b = x->g->value[x->node->in[2]].constant;
	return b && b->type == DT_F32 && tensor_count(b) == p->n && b->shape.rank >= 1 && b->shape.dim[b->shape.rank - 1] == p->n;
}

static bool product_of(struct exec *x, struct product *p)
{
	*p = (struct product){.alpha = 1.0f};
	if (!exec_float_input(x, 0) || !exec_float_input(x, 1))
		return false;
	bool ok = x->node->op->id == OP_MatMul ? matmul_product(x, p) : x->node->op->id == OP_Gemm && gemm_product(x, p);
	p->constant_b = x->g->value[x->node->in[1]].constant != NULL;
	ok = ok && p->batch * p->m * p->n * p->k > 0;
	p->panel.n = p->n;
	return ok && bias_fits(x, p) && exec_out_shape(x, &p->shape) == STATUS_OK;
}

static void set_output(struct exec *x, struct qmatmul_task *t)
{
	t->to_float = !exec_writes_codes(x);
	if (!t->to_float) {
		t->act = x->step->epi.act;
		t->out_quant = *exec_out_quantizer(x, 0);
	}
}

static struct qmatmul_task int_task(struct exec *x, const struct product *p)
{
	struct qmatmul_task t = {.batch = p->batch, .m = p->m, .n = p->panel.n, .k = p->k, .trans_a = p->trans_a, .trans_b = p->trans_b,
	    .stride_a = p->stride_a, .stride_b = p->stride_b, .a_type = x->in[0]->t.type, .a_zero = x->in[0]->zero};
	set_output(x, &t);
	return t;
}

static const struct channels *part_of(const struct product *p)
{
	return p->panel.n == p->n ? NULL : &p->panel;
}

static enum status prepare_weighted(struct exec *x, const struct product *p, struct kernel **out)
{
	struct affine a;
	enum status st = affine_make(&a, x, p->n, part_of(p));
	if (st == STATUS_OK) {
		struct qmatmul_task t = int_task(x, p);
		t.b_type = exec_param_quantizer(x, 1)->bits > 8 ? DT_I16 : DT_I8;
		t.weight = a.weight;
		t.bias = a.bias;
		t.fbias = a.fbias;
		t.scale = a.scale;
		t.scale_n = a.n;
		st = kernel_qmatmul(out, x->e->opt.backend, &t, x->err);
	}
	affine_done(&a);
	return st;
}

static enum status prepare_activations(struct exec *x, const struct product *p, struct kernel **out)
{
	float scale = rep_quantizer(x->in[0])->scale[0] * rep_quantizer(x->in[1])->scale[0];
	struct qmatmul_task t = int_task(x, p);
	t.b_type = x->in[1]->t.type;
	t.b_zero = x->in[1]->zero;
	t.scale = &scale;
	t.scale_n = 1;
	return kernel_qmatmul(out, x->e->opt.backend, &t, x->err);
}

static enum status prepare_float(struct exec *x, const struct product *p, struct kernel **out)
{
	float *own_w, *own_b = NULL;
	struct matmul_task t = {.batch = p->batch, .m = p->m, .n = p->panel.n, .k = p->k, .trans_a = p->trans_a, .trans_b = p->trans_b,
	    .stride_a = p->stride_a, .stride_b = p->stride_b, .alpha = p->alpha, .act = x->step->epi.act};
	enum status st = exec_weights(&t.weight, &own_w, x, 1, part_of(p));
	if (st == STATUS_OK)
		st = exec_weights(&t.bias, &own_b, x, 2, part_of(p));
	if (x->step->bias >= 0)
		t.bias = (const float *)x->g->value[x->step->bias].constant->data + p->panel.from;
	t.ordered = x->e->quantized_file;
	t.packed = p->constant_b && x->in[1]->t.shape.rank == 2;
	st = st == STATUS_OK ? STATUS_UNSUPPORTED : st; // until a backend can
	for (int b = t.ordered ? BACKEND_BLAS : x->e->opt.backend; st == STATUS_UNSUPPORTED && b < BACKEND_COUNT; b++)
		st = kernel_matmul(out, (enum kernel_backend)b, &t, x->err);
	free(own_w);
	free(own_b);
	return st;
}

enum mode { FLOAT, WEIGHTED, ACTIVATIONS };

static enum mode mode_of(const struct exec *x, const struct product *p)
{
	if (p->alpha != 1.0f)
		return FLOAT;
	if (p->constant_b)
		return affine_possible(x) ? WEIGHTED : FLOAT;
	bool bias = x->node->n_in > 2 && x->node->in[2] >= 0;
	return exec_integer(x) && x->in[0]->coded && x->in[1]->coded && !bias ? ACTIVATIONS : FLOAT;
}

struct making {
	struct exec *x;
	const struct product *p;
	enum mode mode;
};

static enum status make(void *arg, struct prepared *out)
{
	static enum status (*const by_mode[])(struct exec *, const struct product *, struct kernel **) = {
	    [FLOAT] = prepare_float, [WEIGHTED] = prepare_weighted, [ACTIVATIONS] = prepare_activations};
	const struct making *m = arg;
	return by_mode[m->mode](m->x, m->p, &out->kernel);
}

static enum status prepare(struct exec *x, const struct product *p, enum mode mode, struct prepared *out)
{
	struct key k = key_add_int(exec_kernel_key(x, "matmul"), mode);
	if (x->step->bias >= 0)
		k = key_add_key(k, x->g->value[x->step->bias].content);
	const struct shape *b = &x->in[1]->t.shape;
	k = key_add(k, b->dim, (size_t)b->rank * sizeof *b->dim);
	k = key_add_int(key_add_int(k, p->panel.from), p->panel.n);
	if (mode != FLOAT)
		k = key_add_key(k, quantizer_key(rep_quantizer(x->in[0])));
	if (mode == ACTIVATIONS)
		k = key_add_key(k, quantizer_key(rep_quantizer(x->in[1])));
	return kernels_get(x->e->kernels, x->worker, k, make, &(struct making){x, p, mode}, out);
}

// An operand in plain layout: as codes for the integer modes, else as float.
static enum status operand(struct exec *x, int i, bool codes, struct rep *out)
{
	return (codes ? rep_to_layout : rep_to_float_layout)(out, x->in[i], LAYOUT_PLAIN, x->width, x->err);
}

static void put_columns(struct rep *y, const struct rep *part, const struct product *p)
{
	size_t size = dtype_size(y->t.type), row = (size_t)p->panel.n * size;
	for (int64_t i = 0; i < p->m; i++)
		memcpy((char *)y->t.data + (size_t)(i * p->n + p->panel.from) * size, (const char *)part->t.data + (size_t)i * row, row);
}

// The columns of the panel, where all of them lie in y.
static enum status run_panel(struct exec *x, const struct product *p, const struct kernel *k, struct kernel_io *io, struct rep *y)
{
	struct rep part = {0};
	bool direct = p->m == 1 || p->panel.n == p->n;
	const struct shape shape = shape_of(2, (const int64_t[]){p->m, p->panel.n});
	enum status st = direct ? STATUS_OK : rep_alloc(&part, y->t.type, LAYOUT_PLAIN, &shape, x->err);
	io->y = direct ? (char *)y->t.data + (size_t)p->panel.from * dtype_size(y->t.type) : part.t.data;
	if (st == STATUS_OK)
		st = exec_kernel(x, k, io);
	if (st == STATUS_OK && !direct)
		put_columns(y, &part, p);
	rep_drop(&part);
	return st;
}

// A large constant is rounded, packed and multiplied by a panel after the other,
// so that not all of it is in memory twice more.
static int64_t panel_width(const struct exec *x, const struct product *p)
{
	enum { BYTES = 16 << 20, ALIGNED = 64 };
	bool can = p->constant_b && p->batch == 1 && x->in[1]->t.shape.rank == 2 && !x->e->quantized_file && exec_splits_channels(x, 1) &&
	    exec_splits_channels(x, 2);
	int64_t wide = BYTES / (int64_t)sizeof(float) / p->k / ALIGNED * ALIGNED;
	return can && wide < p->n ? wide > ALIGNED ? wide : ALIGNED : p->n;
}

static enum status run_panels(struct exec *x, const struct product *p, enum mode mode, struct kernel_io *io, struct rep *y)
{
	int64_t wide = panel_width(x, p);
	struct product q = *p;
	enum status st = STATUS_OK;
	for (q.panel.from = 0; st == STATUS_OK && q.panel.from < p->n; q.panel.from += wide) {
		struct prepared k;
		q.panel.n = p->n - q.panel.from < wide ? p->n - q.panel.from : wide;
		kernels_step(x->e->kernels, x->worker); // the last one's is not needed any more
		st = prepare(x, &q, mode, &k);
		if (st == STATUS_OK)
			st = run_panel(x, &q, k.kernel, io, y);
	}
	return st;
}

static enum status run(struct exec *x, const struct product *p, enum mode mode, struct rep *y)
{
	struct rep a = {0}, b = {0};
	enum status st = operand(x, 0, mode != FLOAT, &a);
	if (st == STATUS_OK && !p->constant_b)
		st = operand(x, 1, mode != FLOAT, &b);
	if (st == STATUS_OK)
		st = run_panels(x, p, mode, &(struct kernel_io){.x = a.t.data, .w = b.t.data}, y);
	rep_drop(&a);
	rep_drop(&b);
	return st;
}

enum status exec_matmul(struct exec *x)
{
	struct product p;
	struct rep y = {0};
	if ((x->node->op->id != OP_MatMul && x->node->op->id != OP_Gemm) || !product_of(x, &p))
		return STATUS_UNSUPPORTED;
	enum mode mode = mode_of(x, &p);
	enum status st = rep_alloc(&y, exec_kernel_type(x, mode != FLOAT), LAYOUT_PLAIN, &p.shape, x->err);
	if (st == STATUS_OK)
		st = run(x, &p, mode, &y);
	if (st == STATUS_OK)
		st = exec_finish_kernel(x, mode != FLOAT, &y);
	rep_drop(&y);
	return st;
}
