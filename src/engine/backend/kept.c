#include <stdlib.h>
#include <string.h>
#include "kept.h"

// NULL for NULL; *failed is set when there is no memory.
static float *copy_floats(const float *src, int64_t n, bool *failed)
{
	if (!src)
		return NULL;
	float *dst = n >= 0 ? mem_try_array((size_t)n + 1, sizeof(float)) : NULL;
	if (dst)
		memcpy(dst, src, (size_t)n * sizeof(float));
	else
		*failed = true;
	return dst;
}

static enum status no_memory(int64_t n, struct error *err)
{
	return error_set(err, STATUS_NOMEM, "no memory for the %lld weights of an operator", (long long)n);
}

enum status kept_conv_new(struct kernel **out, const struct kernel_ops *ops, const struct conv_task *t,
    struct error *err)
{
	struct kept_conv *k = xcalloc(1, sizeof *k);
	int64_t weights = conv_weight_count(&t->g);
	bool failed = false;
	k->base = (struct kernel){ops, (size_t)weights * sizeof(float)};
	k->task = *t;
	k->task.weight = copy_floats(t->weight, weights, &failed);
	k->task.bias = copy_floats(t->bias, t->g.oc, &failed);
	*out = &k->base;
	if (!failed)
		return STATUS_OK;
	kernel_free(out);
	return no_memory(weights, err);
}

enum status kept_matmul_init(struct kernel **out, struct kept_matmul *k, const struct kernel_ops *ops,
    const struct matmul_task *t, struct error *err)
{
	int64_t weights = matmul_weight_count(t);
	bool failed = false;
	k->base = (struct kernel){ops, t->weight ? (size_t)weights * sizeof(float) : 0};
	k->task = *t;
	k->task.weight = copy_floats(t->weight, weights, &failed);
	k->task.bias = copy_floats(t->bias, t->n, &failed);
	*out = &k->base;
	if (!failed)
		return STATUS_OK;
	kernel_free(out);
	return no_memory(weights, err);
}

void kept_conv_free(struct kernel *k)
{
	struct kept_conv *c = (struct kept_conv *)k;
	free((void *)c->task.weight);
	free((void *)c->task.bias);
	free(c);
}

void kept_matmul_free(struct kernel *k)
{
	struct kept_matmul *m = (struct kept_matmul *)k;
	free((void *)m->task.weight);
	free((void *)m->task.bias);
	free(m);
}

void kept_epilogue(const struct epilogue *e, float *y, const float *residual, int64_t n)
{
	if (e->add == ADD_BEFORE)
		elt_binary(OP_Add, y, residual, y, n);
	elt_act(&e->act, y, y, n);
	if (e->add == ADD_AFTER)
		elt_binary(OP_Add, y, residual, y, n);
}

const float *kept_weights(const struct conv_task *t, int64_t oc, int64_t c)
{
	const struct conv_geometry *g = &t->g;
	int64_t oc_group = g->oc / g->group, c_group = g->c / g->group;
	int64_t at = t->transposed ? c * oc_group + oc % oc_group : oc * c_group + c % c_group;
	return t->weight + at * g->kh * g->kw;
}
