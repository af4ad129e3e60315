#include "strips.h"

#include <string.h>
#include "qtui/base/parts.h"

enum { STRIP = STRIPS_PIXEL, ALONE = 16 }; // elements of a strip at the most; strips that are not worth a second thread

struct walk {
	const struct strips *s;
	const struct quantizer *oq; // NULL: the result is float
	struct rep *y;
	int64_t plane, strip;       // elements of a plane, of a strip: whole pixels
	int64_t strips;             // of a plane
};

// The values of one pixel, over and over; each copy doubles what is there.
static void repeat(float *out, const float *pixel, int64_t size, int64_t n)
{
	memcpy(out, pixel, (size_t)size * sizeof *out);
	for (int64_t have = size; have < n; have *= 2)
		memcpy(out + have, out, (size_t)(n - have < have ? n - have : have) * sizeof *out);
}

// Elements at .. at + n of plane p as floats: where they lie, or in `own`.
static const float *load(const struct walk *w, const struct operand *o, int64_t p, int64_t at, int64_t n, float *own)
{
	const struct tensor *t = &o->rep->t;
	int64_t first = p * w->plane + at;
	if (o->spread) {
		repeat(own, (const float *)t->data + p % o->pixels * w->s->pixel, w->s->pixel, n);
		return own;
	}
	if (!o->rep->coded)
		return (const float *)t->data + first;
	dequantize_run(own, (const char *)t->data + (size_t)first * dtype_size(t->type), t->type, n, rep_quantizer(o->rep));
	return own;
}

// The 256 codes of `full` through the function and onto the output's grid.
static void fill_table(const struct strips *s, const struct rep *full, const struct quantizer *oq, uint8_t lut[256])
{
	float own[256], other[256], y[256];
	const float *in[2] = {own, NULL};
	uint8_t codes[256];
	struct rep r = *full;
	for (int i = 0; i < 256; i++)
		codes[i] = (uint8_t)i;
	dequantize_run(own, codes, r.t.type, 256, rep_quantizer(&r));
	for (int k = 0; k < s->n_in; k++)
		if (s->in[k].spread) {
			repeat(other, s->in[k].rep->t.data, 1, 256);
			in[k] = other;
			in[!k] = own;
		}
	s->fn(s->arg, in[0], in[1], y, 256);
	quantize_run(lut, quantizer_dtype(oq), y, 256, oq);
}

// The operand that alone tells the result, if it is 8-bit codes and the result as well: then a table does it. Else NULL.
static const struct rep *told_by(const struct strips *s, const struct quantizer *oq)
{
	int full = s->n_in == 2 && s->in[0].spread;
	if (!oq || !quantizer_has_codes(oq) || oq->bits != 8 || (s->n_in == 2 && (s->pixel != 1 || !s->in[!full].spread)))
		return NULL;
	const struct rep *r = s->in[full].rep;
	return r->coded && r->q.bits == 8 ? r : NULL;
}

static enum status run_table(struct exec *x, const struct strips *s, const struct rep *full, const struct quantizer *oq)
{
	uint8_t lut[256];
	fill_table(s, full, oq, lut);
	enum status st = exec_alloc(x, &x->out[0], quantizer_dtype(oq), s->layout, &s->shape);
	if (st != STATUS_OK)
		return st;
	rep_set_quantizer(&x->out[0], oq);
	elt_lut8(lut, full->t.data, x->out[0].t.data, tensor_stored(&full->t), x->width);
	if (lut[(uint8_t)full->zero] != (uint8_t)x->out[0].zero) // else padding has become padding
		rep_clear_padding(&x->out[0]);
	return STATUS_OK;
}

// A part_fn of struct walk.
static void one_strip(void *arg, int64_t i, int thread)
{
	const struct walk *w = arg;
	int64_t p = i / w->strips, at = i % w->strips * w->strip;
	float a[STRIP], b[STRIP], result[STRIP];
	int64_t n = w->plane - at < w->strip ? w->plane - at : w->strip, first = p * w->plane + at;
	const struct tensor *t = &w->y->t;
	float *y = w->oq ? result : (float *)t->data + first;
	(void)thread;
	const float *left = load(w, &w->s->in[0], p, at, n, a), *right = w->s->n_in > 1 ? load(w, &w->s->in[1], p, at, n, b) : NULL;
	w->s->fn(w->s->arg, left, right, y, n);
	if (w->oq)
		quantize_run((char *)t->data + (size_t)first * dtype_size(t->type), t->type, y, n, w->oq);
}

static void each_strip(struct walk *w, int64_t planes, int width)
{
	w->strips = (w->plane + w->strip - 1) / w->strip;
	parts_share(planes * w->strips, planes * w->strips > ALONE ? width : 1, one_strip, w);
}

// A float tensor that nobody else has is overwritten: memory that is written for the first time comes from further away.
static bool overwrites(const struct strips *s, bool codes)
{
	const struct rep *in = s->in[0].rep;
	return s->n_in == 1 && !codes && !in->coded && in->t.type == DT_F32 && in->t.layout == s->layout && shape_equal(&in->t.shape, &s->shape) &&
	    in->t.buf && buf_is_unique(in->t.buf);
}

enum status strips_run(struct exec *x, const struct strips *s)
{
	const struct quantizer *oq = exec_out_quantizer(x, 0);
	bool codes = oq && quantizer_has_codes(oq);
	struct rep y = {0};
	enum status st = STATUS_OK;
	const struct rep *told = told_by(s, oq);
	if (told)
		return run_table(x, s, told, oq);
	enum dtype type = codes ? quantizer_dtype(oq) : DT_F32;
	if (!exec_place(x, &y, type, s->layout, &s->shape)) {
		if (overwrites(s, codes))
			y = rep_share(s->in[0].rep);
		else
			st = rep_alloc(&y, type, s->layout, &s->shape, x->err);
	}
	if (st != STATUS_OK)
		return st;
	int64_t stored = tensor_stored(&y.t), block = layout_block();
	int64_t planes = s->by_plane ? s->shape.dim[0] * ((s->shape.dim[1] + block - 1) / block) : 1;
	struct walk w = {.s = s, .oq = codes ? oq : NULL, .y = &y, .plane = planes ? stored / planes : 0,
	    .strip = s->pixel ? STRIP / s->pixel * s->pixel : STRIP};
	each_strip(&w, planes, x->width);
	if (codes)
		rep_set_quantizer(&y, oq);
	rep_clear_padding(&y);
	if (!codes)
		return exec_finish(x, 0, &y);
	x->out[0] = y;
	return STATUS_OK;
}
