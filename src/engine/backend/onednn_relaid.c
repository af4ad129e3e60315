// Convolutions with a plain input or output, by a kernel that wants it blocked: of so few channels that a blocked
// tensor would be mostly padding, which everything beside the convolution would have to go through.
#include <stdlib.h>
#include <string.h>
#include "onednn_conv.h"

struct relaid_conv {
	struct kernel base;
	enum relaid what;
	int64_t dims[4];     // of what is laid out anew: [N, C, H, W]
	struct epilogue epi; // of a plain output: left until it is plain, as it is fewer elements then
	struct kernel *blocked;
};

static size_t blocked_bytes(const struct relaid_conv *k)
{
	size_t channels = round_up((size_t)k->dims[1], (size_t)layout_block());
	return round_up((size_t)(k->dims[0] * k->dims[2] * k->dims[3]) * channels * sizeof(float), 64);
}

static void relay(const struct relaid_conv *k, const void *src, enum layout from, void *dst, enum layout to, int width)
{
	struct shape shape = shape_of(4, k->dims);
	struct tensor in = {DT_F32, from, shape, (void *)src, NULL}, out = {DT_F32, to, shape, dst, NULL};
	tensor_reorder(&out, &in, width);
}

static void relaid_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct relaid_conv *k = (const struct relaid_conv *)kernel;
	struct kernel_io one = *io;
	one.scratch = (char *)io->scratch + blocked_bytes(k);
	if (k->what == RELAID_INPUT) {
		relay(k, io->x, LAYOUT_PLAIN, io->scratch, LAYOUT_BLOCK, io->width);
		one.x = io->scratch;
		kernel_run(k->blocked, &one);
		return;
	}
	one.y = io->scratch;
	kernel_run(k->blocked, &one);
	relay(k, io->scratch, LAYOUT_BLOCK, io->y, LAYOUT_PLAIN, io->width);
	conv_epilogue(&k->epi, io->y, io->residual, k->dims[0] * k->dims[1] * k->dims[2] * k->dims[3], io->width);
}

static size_t relaid_scratch(const struct kernel *kernel, int width)
{
	const struct relaid_conv *k = (const struct relaid_conv *)kernel;
	return blocked_bytes(k) + kernel_scratch(k->blocked, width);
}

static void relaid_free(struct kernel *kernel)
{
	struct relaid_conv *k = (struct relaid_conv *)kernel;
	kernel_free(&k->blocked);
	free(k);
}

static const struct kernel_ops ops = {relaid_run, relaid_scratch, relaid_free};

enum status onednn_relaid(struct kernel **out, const struct conv_task *t, enum relaid what, struct error *err)
{
	const struct conv_geometry *g = &t->g;
	struct conv_task task = *t;
	struct relaid_conv *k = xcalloc(1, sizeof *k);
	k->base.ops = &ops;
	k->what = what;
	if (what == RELAID_INPUT) {
		task.in = LAYOUT_BLOCK;
		memcpy(k->dims, (int64_t[]){g->n, g->c, g->h, g->w}, sizeof k->dims);
	} else {
		task.out = LAYOUT_BLOCK;
		task.epi = (struct epilogue){0};
		k->epi = t->epi;
		memcpy(k->dims, (int64_t[]){g->n, g->oc, g->oh, g->ow}, sizeof k->dims);
	}
	enum status s = onednn_conv(&k->blocked, &task, err);
	*out = &k->base;
	if (s == STATUS_OK)
		k->base.bytes = kernel_bytes(k->blocked);
	else
		kernel_free(out);
	return s;
}
