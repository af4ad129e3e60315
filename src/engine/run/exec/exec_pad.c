// Pad of rows and columns with a constant, in the blocked layout; what else Pad can do is the plain code's.
#include <string.h>
#include "exec.h"
#include "qtui/base/parts.h"

struct frame {
	int64_t top, left; // pixels before the image
	struct shape shape; // of the result
	float value;
};

static bool read_value(const struct exec *x, float *value)
{
	const struct rep *r = x->node->n_in > 2 ? x->in[2] : NULL;
	*value = 0;
	if (!r)
		return true;
	if (r->coded || r->t.type != DT_F32 || tensor_count(&r->t) != 1)
		return false;
	*value = *(const float *)r->t.data;
	return true;
}

static bool read_frame(struct exec *x, struct frame *f)
{
	const struct shape *s = &x->in[0]->t.shape;
	const struct rep *pads = x->node->n_in > 1 ? x->in[1] : NULL;
	bool axes = x->node->n_in > 3 && x->in[3];
	if (!pads || axes || x->node->op->since < 11 || pads->t.type != DT_I64 || tensor_count(&pads->t) != 8 ||
	    strcmp(((const struct pad_attrs *)x->node->attrs)->mode, "constant") != 0 || exec_out_shape(x, &f->shape) != STATUS_OK)
		return false;
	const int64_t *before = pads->t.data, *after = before + 4;
	for (int i = 0; i < 4; i++)
		if (before[i] < 0 || after[i] < 0 || before[i] > f->shape.dim[i] || after[i] > f->shape.dim[i] ||
		    (i < 2 && before[i] + after[i] > 0) || f->shape.dim[i] != s->dim[i] + before[i] + after[i])
			return false;
	f->top = before[2];
	f->left = before[3];
	return read_value(x, &f->value);
}

static void fill(float *y, int64_t pixels, float value)
{
	for (int64_t i = 0, n = pixels * layout_block(); i < n; i++)
		y[i] = value;
}

struct padding {
	const struct frame *frame;
	const struct tensor *x;
	struct tensor *y;
};

static void pad_row(void *arg, int64_t i, int thread)
{
	const struct padding *p = arg;
	const struct frame *f = p->frame;
	const int64_t *in = p->x->shape.dim, *out = p->y->shape.dim, block = layout_block();
	float *to = (float *)p->y->data + i * out[3] * block;
	int64_t plane = i / out[2], row = i % out[2] - f->top;
	(void)thread;
	if (row < 0 || row >= in[2]) {
		fill(to, out[3], f->value);
		return;
	}
	fill(to, f->left, f->value);
	memcpy(to + f->left * block, (const float *)p->x->data + (plane * in[2] + row) * in[3] * block, (size_t)(in[3] * block) * sizeof *to);
	fill(to + (f->left + in[3]) * block, out[3] - f->left - in[3], f->value);
}

static void pad_blocks(const struct frame *f, const struct tensor *x, struct tensor *y, int width)
{
	const int64_t *out = y->shape.dim, block = layout_block();
	parts_share(out[0] * ((out[1] + block - 1) / block) * out[2], width, pad_row, &(struct padding){f, x, y});
}

enum status exec_pad(struct exec *x)
{
	struct frame f;
	struct rep in = {0}, y = {0};
	if (x->node->op->id != OP_Pad || !exec_float_input(x, 0) || x->in[0]->t.layout != LAYOUT_BLOCK || x->in[0]->t.shape.rank != 4 ||
	    x->step->epi.act.kind != ACT_NONE || !read_frame(x, &f))
		return STATUS_UNSUPPORTED;
	enum status st = rep_to_float(&in, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = rep_alloc(&y, DT_F32, LAYOUT_BLOCK, &f.shape, x->err);
	if (st == STATUS_OK) {
		pad_blocks(&f, &in.t, &y.t, x->width);
		if (f.value != 0)
			rep_clear_padding(&y);
		st = exec_finish(x, 0, &y);
	}
	rep_drop(&in);
	rep_drop(&y);
	return st;
}
