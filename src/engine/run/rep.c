// A tensor with the quantizer of its codes: conversions between float, codes, grids and layouts.
#include <assert.h>
#include <string.h>
#include "run_impl.h"

const struct quantizer *rep_quantizer(struct rep *r)
{
	if (!r->coded)
		return NULL;
	r->q.scale = &r->scale;
	r->q.zero = &r->zero;
	return &r->q;
}

void rep_set_quantizer(struct rep *r, const struct quantizer *q)
{
	r->coded = q != NULL;
	if (!q)
		return;
	assert(q->axis < 0 && q->kind == QUANT_LINEAR);
	r->q = *q;
	r->scale = q->scale[0];
	r->zero = q->zero ? q->zero[0] : 0;
}

struct rep rep_share(const struct rep *r)
{
	struct rep copy = *r;
	copy.t = tensor_share(&r->t);
	copy.origin = r->origin ? buf_take(r->origin) : NULL;
	return copy;
}

// The parts of codes that follow from others do not follow from the same ones.
struct rep rep_part(const struct rep *r, const struct shape *shape, size_t at)
{
	struct rep part = rep_share(r);
	buf_drop(&part.origin);
	part.t.shape = *shape;
	part.t.data = (char *)part.t.data + at;
	return part;
}

struct rep rep_move(struct rep *r)
{
	struct rep moved = *r;
	memset(r, 0, sizeof *r);
	return moved;
}

void rep_drop(struct rep *r)
{
	tensor_drop(&r->t);
	buf_drop(&r->origin);
	memset(r, 0, sizeof *r);
}

struct byte_origin rep_origin(const struct rep *r)
{
	if (r->origin)
		return *(const struct byte_origin *)r->origin->data;
	struct byte_origin own = {.buf = r->t.buf ? r->t.buf->id : UINT64_MAX, .data = r->t.data};
	for (int i = 0; i < 256; i++)
		own.code[i] = (uint8_t)i;
	return own;
}

// Without memory it is just not known.
void rep_set_origin(struct rep *y, const struct rep *x, const uint8_t lut[256])
{
	struct byte_origin *o;
	buf_drop(&y->origin);
	if (!x->t.buf || !(y->origin = buf_new(sizeof *o, NULL)))
		return;
	o = y->origin->data;
	*o = rep_origin(x);
	for (int i = 0; i < 256; i++)
		o->code[i] = lut[o->code[i]];
}

enum status rep_alloc(struct rep *r, enum dtype type, enum layout layout, const struct shape *shape, struct error *err)
{
	memset(r, 0, sizeof *r);
	r->t.type = type;
	r->t.layout = layout;
	r->t.shape = *shape;
	return tensor_alloc(&r->t, NULL, err);
}

bool quantizer_has_codes(const struct quantizer *q)
{
	return q->kind == QUANT_LINEAR && q->axis < 0 && q->bits <= 16;
}

bool quantizer_same_grid(const struct quantizer *a, const struct quantizer *b)
{
	if (a->kind != b->kind || !a->scale || !b->scale)
		return a->kind == b->kind && !a->scale == !b->scale;
	return a->bits == b->bits && a->qmin == b->qmin && a->qmax == b->qmax && a->axis < 0 && b->axis < 0 &&
	    a->scale[0] == b->scale[0] && (a->zero ? a->zero[0] : 0) == (b->zero ? b->zero[0] : 0);
}

enum status rep_to_float(struct rep *out, struct rep *r, int width, struct error *err)
{
	if (!r->coded) {
		*out = rep_share(r);
		return STATUS_OK;
	}
	enum status st = rep_alloc(out, DT_F32, r->t.layout, &r->t.shape, err);
	if (st == STATUS_OK)
		dequantize(&out->t, &r->t, rep_quantizer(r), width);
	return st;
}

enum status rep_to_layout(struct rep *out, struct rep *r, enum layout l, int width, struct error *err)
{
	if (r->t.layout == l) {
		*out = rep_share(r);
		return STATUS_OK;
	}
	enum status st = rep_alloc(out, r->t.type, l, &r->t.shape, err);
	if (st != STATUS_OK)
		return st;
	if (r->coded)
		rep_set_quantizer(out, rep_quantizer(r));
	tensor_reorder(&out->t, &r->t, width);
	if (out->coded && out->zero != 0)
		rep_clear_padding(out);
	return STATUS_OK;
}

enum status rep_to_float_layout(struct rep *out, struct rep *r, enum layout l, int width, struct error *err)
{
	struct rep dense = {0};
	enum status st = rep_to_float(&dense, r, width, err);
	if (st == STATUS_OK)
		st = rep_to_layout(out, &dense, l, width, err);
	rep_drop(&dense);
	return st;
}

// 8-bit codes onto another 8-bit grid: 256 cases, so a table.
static void regrid8(struct rep *dst, const struct rep *src, const struct quantizer *from, const struct quantizer *to, int width)
{
	uint8_t lut[256];
	float x[256];
	for (int i = 0; i < 256; i++) {
		int code = src->t.type == DT_I8 ? (int8_t)i : i;
		x[i] = (float)(code - (from->zero ? from->zero[0] : 0)) * from->scale[0];
	}
	quantize_run(lut, dst->t.type, x, 256, to);
	elt_lut8(lut, src->t.data, dst->t.data, tensor_stored(&src->t), width);
	rep_set_origin(dst, src, lut);
}

// A holder of its own of the codes of `r` on the grid of `q`.
static enum status to_codes(struct rep *out, struct rep *r, const struct quantizer *q, int width, struct error *err)
{
	const struct quantizer *from = rep_quantizer(r);
	if (from && quantizer_same_grid(from, q)) {
		*out = rep_share(r);
		rep_set_quantizer(out, q);
		return STATUS_OK;
	}
	struct rep x = {0};
	enum status st = rep_alloc(out, quantizer_dtype(q), r->t.layout, &r->t.shape, err);
	if (st != STATUS_OK)
		return st;
	if (from && from->bits == 8 && q->bits == 8) {
		regrid8(out, r, from, q, width);
	} else {
		if ((st = rep_to_float(&x, r, width, err)) != STATUS_OK)
			goto out;
		quantize(&out->t, &x.t, q, width);
	}
	rep_set_quantizer(out, q);
out:
	rep_drop(&x);
	if (st != STATUS_OK)
		rep_drop(out);
	return st;
}

enum status rep_apply(struct rep *out, struct rep *r, const struct quantizer *q, int width, struct error *err)
{
	if (quantizer_has_codes(q))
		return to_codes(out, r, q, width, err);
	struct rep x = {0};
	enum status st = rep_to_float(&x, r, width, err);
	if (st == STATUS_OK && (st = rep_alloc(out, DT_F32, x.t.layout, &x.t.shape, err)) == STATUS_OK)
		fake_quantize(&out->t, &x.t, q, width);
	rep_drop(&x);
	return st;
}

// Sixty-four bytes of pixels: what stays of them, and what comes into the padding.
struct filler {
	uint64_t keep[8], put[8];
};

static struct filler filler_of(size_t elem, int64_t block, int64_t used, int64_t zero)
{
	struct filler f = {{0}, {0}};
	const uint64_t all = UINT64_MAX;
	for (size_t at = 0; at < sizeof f.keep; at += elem) {
		bool stays = (int64_t)(at / elem) % block < used;
		memcpy((char *)(stays ? f.keep : f.put) + at, stays ? (const void *)&all : &zero, elem);
	}
	return f;
}

static void fill_words(uint64_t *x, int64_t n, const struct filler *f)
{
	int64_t i = 0;
	for (; i + 8 <= n; i += 8)
		_Pragma("omp simd") for (int k = 0; k < 8; k++)
			x[i + k] = (x[i + k] & f->keep[k]) | f->put[k];
	for (int k = 0; i < n; i++, k++)
		x[i] = (x[i] & f->keep[k]) | f->put[k];
}

void rep_clear_padding(struct rep *r)
{
	const struct shape *s = &r->t.shape;
	int64_t block = layout_block(), used = s->dim[1] % block;
	if (r->t.layout != LAYOUT_BLOCK || used == 0)
		return;
	size_t elem = dtype_size(r->t.type);
	const struct filler f = filler_of(elem, block, used, r->coded ? r->zero : 0);
	int64_t pixels = s->dim[2] * (s->rank > 3 ? s->dim[3] : 1), blocks = (s->dim[1] + block - 1) / block;
	for (int64_t n = 0; n < s->dim[0]; n++) {
		void *last = (char *)r->t.data + (size_t)((n * blocks + blocks - 1) * pixels * block) * elem;
		fill_words(last, pixels * block * (int64_t)elem / 8, &f);
	}
}
