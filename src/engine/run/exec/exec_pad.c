// Pad on codes, and Pad of rows and columns in the blocked layout. Codes get the code of the constant; where
// that stands for another number the result is floats, as in the plain way.
#include <string.h>
#include "exec.h"
#include "qtui/base/parts.h"

struct frame {
	int64_t top, left; // pixels before the image
	struct shape shape; // of the result
};

// The constant, as an element of what is padded.
struct filling {
	float value;
	uint32_t element; // its first bytes
	bool zero;        // what the padding of the blocked layout holds
};

static bool is_constant(const struct exec *x)
{
	return strcmp(((const struct pad_attrs *)x->node->attrs)->mode, "constant") == 0;
}

// Input 2, or the attribute of older forms; other modes need none.
static bool read_value(const struct exec *x, float *value)
{
	struct rep *r = x->node->n_in > 2 ? x->in[2] : NULL;
	*value = x->node->op->since < 11 ? ((const struct pad_attrs *)x->node->attrs)->value : 0;
	if (!is_constant(x) || !r)
		return true;
	if (tensor_count(&r->t) != 1 || (!r->coded && r->t.type != DT_F32))
		return false;
	if (r->coded)
		dequantize_run(value, r->t.data, r->t.type, 1, rep_quantizer(r));
	else
		*value = *(const float *)r->t.data;
	return true;
}

// Codes tell the value where the output rounds it to them, or where one of them is just that.
static bool fill_codes(struct exec *x, struct rep *data, struct filling *f)
{
	const struct quantizer *q = rep_quantizer(data);
	float back;
	quantize_run(&f->element, data->t.type, &f->value, 1, q);
	dequantize_run(&back, &f->element, data->t.type, 1, q);
	f->zero = back == 0;
	return !is_constant(x) || exec_out_quantizer(x, 0) || back == f->value;
}

// The input as it is padded: codes on the output's grid, or floats.
static enum status take(struct exec *x, struct rep *data, struct filling *f)
{
	const struct quantizer *q = exec_out_quantizer(x, 0);
	if (!q || quantizer_has_codes(q)) {
		enum status st = exec_on_output_grid(x, 0, data);
		if (st != STATUS_OK || (data->coded && fill_codes(x, data, f)))
			return st;
		rep_drop(data);
	}
	memcpy(&f->element, &f->value, sizeof f->value);
	f->zero = f->value == 0;
	return rep_to_float(data, x->in[0], x->width, x->err);
}

static bool read_frame(struct exec *x, struct frame *f)
{
	const struct shape *s = &x->in[0]->t.shape;
	const struct rep *pads = x->node->n_in > 1 ? x->in[1] : NULL;
	bool axes = x->node->n_in > 3 && x->in[3];
	if (x->in[0]->t.layout != LAYOUT_BLOCK || s->rank != 4 || !is_constant(x) || !pads || axes || x->node->op->since < 11 ||
	    pads->t.type != DT_I64 || tensor_count(&pads->t) != 8 || exec_out_shape(x, &f->shape) != STATUS_OK)
		return false;
	const int64_t *before = pads->t.data, *after = before + 4;
	for (int i = 0; i < 4; i++)
		if (before[i] < 0 || after[i] < 0 || before[i] > f->shape.dim[i] || after[i] > f->shape.dim[i] ||
		    (i < 2 && before[i] + after[i] > 0) || f->shape.dim[i] != s->dim[i] + before[i] + after[i])
			return false;
	f->top = before[2];
	f->left = before[3];
	return true;
}

struct padding {
	const struct frame *frame;
	const struct tensor *x;
	struct tensor *y;
	uint32_t element;
};

static void fill(const struct padding *p, char *y, int64_t pixels)
{
	const int64_t n = pixels * layout_block();
	switch (dtype_size(p->y->type)) {
	case 1:
		memset(y, (int)(p->element & 0xff), (size_t)n);
		break;
	case 2:
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)(void *)y)[i] = (uint16_t)p->element;
		break;
	default:
		for (int64_t i = 0; i < n; i++)
			((uint32_t *)(void *)y)[i] = p->element;
	}
}

static void pad_row(void *arg, int64_t i, int thread)
{
	const struct padding *p = arg;
	const struct frame *f = p->frame;
	const int64_t *in = p->x->shape.dim, *out = p->y->shape.dim, pixel = layout_block() * (int64_t)dtype_size(p->y->type);
	char *to = (char *)p->y->data + i * out[3] * pixel;
	int64_t plane = i / out[2], row = i % out[2] - f->top;
	(void)thread;
	if (row < 0 || row >= in[2]) {
		fill(p, to, out[3]);
		return;
	}
	fill(p, to, f->left);
	memcpy(to + f->left * pixel, (const char *)p->x->data + (plane * in[2] + row) * in[3] * pixel, (size_t)(in[3] * pixel));
	fill(p, to + (f->left + in[3]) * pixel, out[3] - f->left - in[3]);
}

static enum status pad_blocks(struct exec *x, const struct frame *f, const struct filling *with, struct rep *data, struct rep *y)
{
	const int64_t *out = f->shape.dim, block = layout_block();
	enum status st = rep_alloc(y, data->t.type, LAYOUT_BLOCK, &f->shape, x->err);
	if (st != STATUS_OK)
		return st;
	parts_share(out[0] * ((out[1] + block - 1) / block) * out[2], x->width, pad_row, &(struct padding){f, &data->t, &y->t, with->element});
	exec_inherit(y, data);
	if (!with->zero)
		rep_clear_padding(y);
	return STATUS_OK;
}

// The operator's own code on codes, with the constant as one of them.
static enum status pad_codes(struct exec *x, const struct filling *with, struct rep *data, struct rep *y)
{
	struct pad_attrs attrs = *(const struct pad_attrs *)x->node->attrs;
	struct node node = *x->node;
	struct exec as = *x;
	struct rep plain = {0};
	enum status st = rep_to_layout(&plain, data, LAYOUT_PLAIN, x->width, x->err);
	const struct tensor *in[4] = {&plain.t, NULL, NULL, NULL};
	for (int i = 1; i < node.n_in; i += 2)
		in[i] = x->in[i] ? &x->in[i]->t : NULL;
	attrs.element = &with->element;
	node.attrs = &attrs;
	as.node = &node;
	if (st == STATUS_OK)
		st = exec_eval(&as, in, y);
	if (st == STATUS_OK)
		exec_inherit(y, data);
	rep_drop(&plain);
	return st;
}

enum status exec_pad(struct exec *x)
{
	struct filling with = {0};
	struct frame f;
	struct rep data = {0}, y = {0};
	if (x->node->op->id != OP_Pad || !exec_float_input(x, 0) || !read_value(x, &with.value))
		return STATUS_UNSUPPORTED;
	enum status st = take(x, &data, &with);
	if (st == STATUS_OK && read_frame(x, &f))
		st = pad_blocks(x, &f, &with, &data, &y);
	else if (st == STATUS_OK)
		st = data.coded ? pad_codes(x, &with, &data, &y) : STATUS_UNSUPPORTED;
	if (st == STATUS_OK)
		st = exec_finish(x, 0, &y);
	rep_drop(&data);
	rep_drop(&y);
	return st;
}
