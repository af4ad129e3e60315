#include "strips.h"

#include <string.h>
#include "qtui/base/parts.h"

enum { STRIP = STRIPS_PIXEL, ALONE = 16 }; // elements of a strip at the most; strips that are not worth a second thread

struct walk {
	const struct strips *s;
	const struct quantizer *oq; // NULL: the result is float
	const struct elt_codes *codes; // codes of both operands to codes; NULL: through floats
	struct rep *y;
	int64_t plane, strip;       // elements of a plane, of a strip: whole pixels
	int64_t strips;             // of a plane
};

// The bytes of one pixel, over and over; each copy doubles what is there.
static void repeat(char *out, const char *pixel, int64_t size, int64_t n)
{
	memcpy(out, pixel, (size_t)size);
	for (int64_t have = size; have < n; have *= 2)
		memcpy(out + have, out, (size_t)(n - have < have ? n - have : have));
}

// Elements at .. at + n of plane p as they are stored: where they lie, or in `own`.
static const void *stored(const struct walk *w, const struct operand *o, int64_t p, int64_t at, int64_t n, void *own)
{
	const struct tensor *t = &o->rep->t;
	int64_t size = (int64_t)dtype_size(t->type), pixel = w->s->pixel * size;
	if (!o->spread)
		return (const char *)t->data + (p * w->plane + at) * size;
	repeat(own, (const char *)t->data + p % o->pixels * pixel, pixel, n * size);
	return own;
}

struct room {
	float stored[STRIP], values[STRIP];
};

// The same as floats.
static const float *load(const struct walk *w, const struct operand *o, int64_t p, int64_t at, int64_t n, struct room *own)
{
	const void *t = stored(w, o, p, at, n, own->stored);
	if (!o->rep->coded)
		return t;
	dequantize_run(own->values, t, o->rep->t.type, n, rep_quantizer(o->rep));
	return own->values;
}

// A tensor of 8-bit codes that alone tells the result: each of the 256 beside what the operands are where it is.
struct teller {
	const struct rep *rep;
	uint8_t code[2][256];
};

// The 256 codes through the function and onto the output's grid.
static void fill_table(const struct strips *s, struct teller *by, const struct quantizer *oq, uint8_t lut[256])
{
	float y[256];
	struct room room[2];
	struct walk w = {.s = s};
	const float *in[2] = {NULL, NULL};
	for (int k = 0; k < s->n_in; k++) {
		struct rep r = *s->in[k].rep;
		r.t.data = by->code[k];
		in[k] = load(&w, s->in[k].spread ? &s->in[k] : &(struct operand){.rep = &r}, 0, 0, 256, &room[k]);
	}
	s->fn(s->arg, in[0], in[1], y, 256);
	quantize_run(lut, quantizer_dtype(oq), y, 256, oq);
}

static bool is_bytes(const struct rep *r)
{
	return r->coded && r->q.bits == 8;
}

// Is operand k wherever it has the same code beside one and the same code of the other? A code
// that operand k never is may stand beside any.
static bool tells_other(const struct byte_origin of[2], int k, uint8_t other[256])
{
	bool seen[256] = {false};
	memset(other, 0, 256);
	for (int i = 0; i < 256; i++) {
		uint8_t code = of[k].code[i];
		if (seen[code] && other[code] != of[!k].code[i])
			return false;
		seen[code] = true;
		other[code] = of[!k].code[i];
	}
	return true;
}

// Two operands that are functions of the same codes, as a HardSwish's that is written
// out are (x and the Clip of x + 3).
static bool one_tells(const struct strips *s, struct teller *out)
{
	if (!is_bytes(s->in[0].rep) || !is_bytes(s->in[1].rep))
		return false;
	const struct byte_origin of[2] = {rep_origin(s->in[0].rep), rep_origin(s->in[1].rep)};
	if (of[0].buf != of[1].buf || of[0].data != of[1].data)
		return false;
	uint8_t other[256];
	int k = tells_other(of, 0, other) ? 0 : 1;
	if (k == 1 && !tells_other(of, 1, other))
		return false;
	out->rep = s->in[k].rep;
	memcpy(out->code[!k], other, sizeof other);
	return true;
}

// Whether the operands tell the result by a single tensor of 8-bit codes,
// and it is such codes itself: then a table does it.
static bool told_by(const struct strips *s, const struct quantizer *oq, struct teller *out)
{
	int full = s->n_in == 2 && s->in[0].spread;
	if (!oq || !quantizer_has_codes(oq) || oq->bits != 8)
		return false;
	for (int i = 0; i < 512; i++)
		out->code[i / 256][i % 256] = (uint8_t)i;
	if (s->n_in == 2 && !s->in[0].spread && !s->in[1].spread)
		return one_tells(s, out);
	out->rep = s->in[full].rep;
	return (s->n_in == 1 || s->pixel == 1) && is_bytes(out->rep);
}

static enum status run_table(struct exec *x, const struct strips *s, struct teller *by, const struct quantizer *oq)
{
	const struct rep *full = by->rep;
	uint8_t lut[256];
	fill_table(s, by, oq, lut);
	enum status st = exec_alloc(x, &x->out[0], quantizer_dtype(oq), s->layout, &s->shape);
	if (st != STATUS_OK)
		return st;
	rep_set_quantizer(&x->out[0], oq);
	elt_lut8(lut, full->t.data, x->out[0].t.data, tensor_stored(&full->t), x->width);
	rep_set_origin(&x->out[0], full, lut);
	if (lut[(uint8_t)full->zero] != (uint8_t)x->out[0].zero) // else padding has become padding
		rep_clear_padding(&x->out[0]);
	return STATUS_OK;
}

// A part_fn of struct walk.
static void one_strip(void *arg, int64_t i, int thread)
{
	const struct walk *w = arg;
	int64_t p = i / w->strips, at = i % w->strips * w->strip;
	int64_t n = w->plane - at < w->strip ? w->plane - at : w->strip;
	const struct operand *in = w->s->in;
	const struct tensor *t = &w->y->t;
	void *to = (char *)t->data + (p * w->plane + at) * (int64_t)dtype_size(t->type);
	struct room a, b;
	float result[STRIP], *y = w->oq ? result : to;
	(void)thread;
	if (w->codes) {
		elt_codes(w->codes, stored(w, &in[0], p, at, n, a.stored), stored(w, &in[1], p, at, n, b.stored), to, n);
		return;
	}
	const float *left = load(w, &in[0], p, at, n, &a), *right = w->s->n_in > 1 ? load(w, &in[1], p, at, n, &b) : NULL;
	w->s->fn(w->s->arg, left, right, y, n);
	if (w->oq)
		quantize_run(to, t->type, y, n, w->oq);
}

static void each_strip(struct walk *w, int64_t planes, int width)
{
	w->strips = (w->plane + w->strip - 1) / w->strip;
	parts_share(planes * w->strips, planes * w->strips > ALONE ? width : 1, one_strip, w);
}

// A float tensor that nobody else has is overwritten:
// memory that is written for the first time comes from further away.
static bool overwrites(const struct strips *s, bool codes)
{
	const struct rep *in = s->in[0].rep;
	return s->n_in == 1 && !codes && !in->coded && in->t.type == DT_F32 && in->t.layout == s->layout &&
	       shape_equal(&in->t.shape, &s->shape) && in->t.buf && buf_is_unique(in->t.buf);
}

// Whether codes of two tensors become codes without floats in memory between.
static bool codes_of(struct elt_codes *c, const struct exec *x, const struct strips *s, const struct quantizer *oq)
{
	enum act_kind act = x->step->epi.act.kind;
	struct rep *a = s->in[0].rep, *b = s->in[1].rep;
	return s->arithmetic && (act == ACT_NONE || act == ACT_RELU) && a->coded && b->coded &&
	    elt_codes_of(c, x->node->op->id, rep_quantizer(a), rep_quantizer(b), oq, act == ACT_RELU);
}

enum status strips_run(struct exec *x, const struct strips *s)
{
	const struct quantizer *oq = exec_out_quantizer(x, 0);
	bool codes = oq && quantizer_has_codes(oq);
	struct rep y = {0};
	enum status st = STATUS_OK;
	struct teller by;
	if (told_by(s, oq, &by))
		return run_table(x, s, &by, oq);
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
	struct elt_codes pair;
	struct walk w = {.s = s,
	    .oq = codes ? oq : NULL,
	    .codes = codes && codes_of(&pair, x, s, oq) ? &pair : NULL,
	    .y = &y,
	    .plane = planes ? stored / planes : 0,
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
