// Matrix products in ONNX Runtime's order: a constant second matrix is packed there, which makes longer blocks.
#include <string.h>
#include "kept.h"
#include "ordered.h"
#include "qtui/base/parts.h"

struct call {
	const struct matmul_task *t;
	const struct kernel_io *io;
};

static void run_batch(void *arg, int64_t b, int thread)
{
	const struct call *call = arg;
	const struct matmul_task *t = call->t;
	const struct kernel_io *io = call->io;
	struct product p = {
		.a = {(const float *)io->x + b * t->stride_a, t->k, false},
		.b = {(t->weight ? t->weight : (const float *)io->w) + b * t->stride_b, t->n, false},
		.m = t->m, .n = t->n, .k = t->k, .beta = t->bias ? 1.0f : 0.0f, .c = (float *)io->y + b * t->m * t->n, .c_row = t->n,
	};
	(void)thread;
	for (int64_t i = 0; t->bias && i < t->m; i++)
		memcpy(p.c + i * t->n, t->bias, (size_t)t->n * sizeof *p.c);
	if (t->packed)
		ordered_gemm_blocks(&p, ORDERED_PACKED_BLOCK);
	else
		ordered_gemm(&p, t->n);
	elt_act(&t->act, p.c, p.c, t->m * t->n);
}

static void matmul_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct matmul_task *t = kept_matmul(kernel);
	parts_share(t->batch, io->width, run_batch, &(struct call){t, io});
}

static const struct kernel_ops ops = {matmul_run, NULL, kept_matmul_free};

static void transpose_weight(float *to, const struct matmul_task *t)
{
	for (int64_t k = 0; k < t->k; k++)
		for (int64_t j = 0; j < t->n; j++)
			to[k * t->n + j] = t->weight[j * t->k + k];
}

enum status ordered_matmul(struct kernel **out, const struct matmul_task *t, struct error *err)
{
	bool turn = t->trans_b && t->weight && t->batch == 1;
	if (t->trans_a || (t->trans_b && !turn) || t->alpha != 1.0f || (!t->packed && (t->bias || t->n == 1)))
		return STATUS_UNSUPPORTED;
	struct kept_matmul *k = xcalloc(1, sizeof *k);
	enum status st = kept_matmul_init(out, k, &ops, t, err);
	if (st == STATUS_OK && turn)
		transpose_weight((float *)k->task.weight, t);
	return st;
}
