// QuantizeLinear and DequantizeLinear: one scale for the tensor, one for each index along `axis`, or one for each
// block_size elements along it. Codes that are floats of 8 or 4 bits are floats here, rounded to what those hold.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "qlinear.h"
#include "qtui/engine/file_grid.h"
#include "qtui/engine/minifloat.h"

struct blocks { // element i lies in block i / (dim * inner), its index along the axis divided by size, i % inner
	int64_t dim, inner, size, per_axis;
};
struct scales {
	int axis, n;
	struct blocks blocks; // size 0: not in blocks
};

static enum status bad_scale(const struct tensor *scale, const struct tensor *x, struct error *err)
{
	char a[96], b[96];
	return error_set(err, STATUS_FORMAT, "a scale of shape %s does not fit the input %s",
	    shape_text(&scale->shape, a, sizeof a), shape_text(&x->shape, b, sizeof b));
}

static enum status resolve_blocks(
    struct scales *s, int64_t size, const struct tensor *x, const struct tensor *scale, struct error *err)
{
	struct shape expected = x->shape;
	if (size < 0 || size > RULE_MAX_DIM)
		return error_set(err, STATUS_FORMAT, "block_size is %lld", (long long)size);
	expected.dim[s->axis] = (x->shape.dim[s->axis] + size - 1) / size;
	if (!shape_equal(&expected, &scale->shape))
		return bad_scale(scale, x, err);
	s->blocks = (struct blocks){.dim = x->shape.dim[s->axis],
	    .inner = rule_product(&x->shape, s->axis + 1, x->shape.rank),
	    .size = size,
	    .per_axis = expected.dim[s->axis]};
	return STATUS_OK;
}

static enum status resolve(struct scales *s, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct quantize_attrs *a = n->attrs;
	const struct tensor *x = in[0], *scale = in[1], *zero = n->n_in > 2 ? in[2] : NULL;
	int64_t count = shape_count(&scale->shape);
	enum status status;
	*s = (struct scales){.axis = -1, .n = (int)count};
	if (scale->type != DT_F32)
		return error_set(err, STATUS_UNSUPPORTED, "the scale is %s, must be float32", dtype_name(scale->type));
	if (zero && shape_count(&zero->shape) != count)
		return error_set(err, STATUS_FORMAT, "scale and zero point have different shapes");
	if (count < 0 || count > INT32_MAX)
		return bad_scale(scale, x, err);
	if (count == 1 && a->block_size == 0)
		return STATUS_OK;
	status = rule_axis(&s->axis, a->axis, x->shape.rank, err);
	if (status != STATUS_OK)
		return status;
	if (a->block_size != 0)
		return resolve_blocks(s, a->block_size, x, scale, err);
	return scale->shape.rank == 1 && count == x->shape.dim[s->axis] ? STATUS_OK : bad_scale(scale, x, err);
}

static int64_t block_of(const struct blocks *b, int64_t i)
{
	int64_t row = i / b->inner;
	return (row / b->dim * b->per_axis + row % b->dim / b->size) * b->inner + i % b->inner;
}

// The quantizer of the operator's scales; the caller frees *zero, which it borrows.
static enum status make_quantizer(struct quantizer *q, int32_t **zero, const struct scales *s, enum dtype type,
    const struct tensor *const *in, int n_in, struct error *err)
{
	*zero = mem_try_array((size_t)s->n + 1, sizeof **zero);
	if (!*zero)
		return error_set(err, STATUS_NOMEM, "no memory for %d zero points", s->n);
	for (int i = 0; n_in > 2 && in[2] && i < s->n; i++)
		(*zero)[i] = (int32_t)element_int(in[2], i);
	*q = qlinear_quantizer(type, in[1]->data, *zero, s->n, s->axis);
	return STATUS_OK;
}

// The TensorProto.DataType of float codes; 0: codes are integers. The file says it of the zero point
// or in an attribute; a zero point that is computed says only that they are floats: those of most files.
static int float_codes(const struct node *n, const struct tensor *const *in)
{
	const struct quantize_attrs *a = n->attrs;
	bool has_zero = n->n_in > 2 && in[2];
	if (is_minifloat(has_zero ? a->zero_type : a->output_dtype))
		return (int)(has_zero ? a->zero_type : a->output_dtype);
	return has_zero && in[2]->type == DT_F32 ? MINIFLOAT_E4M3FN : 0;
}

static enum dtype code_type(const struct node *n, const struct tensor *const *in)
{
	int64_t wanted = ((const struct quantize_attrs *)n->attrs)->output_dtype;
	if (n->n_in > 2 && in[2])
		return in[2]->type;
	return wanted ? rule_dtype(wanted) : DT_U8;
}

enum status quantizelinear_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct scales s;
	enum dtype type = code_type(n, in);
	int floats = float_codes(n, in);
	enum status status = resolve(&s, n, in, err);
	if (status != STATUS_OK)
		return status;
	if (floats ? floats == MINIFLOAT_E8M0 : type == DT_NONE || type == DT_F32 || type == DT_BOOL || dtype_size(type) > 2)
		return error_set(err, STATUS_UNSUPPORTED, "codes must be integers of 4, 8 or 16 bits or floats of 4 or 8");
	rule_set(&out[0], type, &in[0]->shape);
	return STATUS_OK;
}

// Element i goes with the scale of this index.
static int64_t scale_of(const struct scales *s, int64_t inner, int64_t i)
{
	return s->blocks.size ? block_of(&s->blocks, i) : i / inner % s->n;
}

static int64_t inner_of(const struct scales *s, const struct tensor *x)
{
	return s->axis < 0 ? 1 : rule_product(&x->shape, s->axis + 1, x->shape.rank);
}

static void quantize_to_floats(struct tensor *y, const struct tensor *x, const float *scale, const struct scales *s, int type, bool saturate)
{
	int64_t inner = inner_of(s, x), n = tensor_count(x);
	float *to = y->data;
	const float *from = x->data;
	for (int64_t i = 0; i < n; i++)
		to[i] = from[i] / scale[s->n > 1 ? scale_of(s, inner, i) : 0];
	minifloat_round(to, to, n, type, saturate);
}

// Their zero point can only be 0.
static void dequantize_floats(struct tensor *y, const struct tensor *x, const float *scale, const struct scales *s)
{
	int64_t inner = inner_of(s, x), n = tensor_count(x);
	for (int64_t i = 0; i < n; i++)
		((float *)y->data)[i] = ((const float *)x->data)[i] * scale[s->n > 1 ? scale_of(s, inner, i) : 0];
}

static void quantize_blocks(struct tensor *y, const struct tensor *x, const struct quantizer *q, const struct blocks *b)
{
	for (int64_t i = 0; i < tensor_count(x); i++) {
		int64_t code = quantize_one(q, (int)block_of(b, i), ((const float *)x->data)[i]);
		elements_store(y->data, y->type, i, &code, 1);
	}
}

static void dequantize_blocks(
    struct tensor *y, const struct tensor *x, const struct quantizer *q, const struct blocks *b)
{
	for (int64_t i = 0; i < tensor_count(x); i++) {
		int64_t c = block_of(b, i);
		((float *)y->data)[i] = (float)(element_int(x, i) - q->zero[c]) * q->scale[c];
	}
}

// Codes of 4 bits lie in bytes.
static struct tensor as_held(const struct tensor *t)
{
	struct tensor held = *t;
	held.type = dtype_held(t->type);
	return held;
}

static void quantize_whole(struct tensor *y, const struct tensor *x, const struct quantizer *q, int width)
{
	struct tensor held = as_held(y);
	quantize(&held, x, q, width);
}

static void dequantize_whole(struct tensor *y, const struct tensor *x, const struct quantizer *q, int width)
{
	struct tensor held = as_held(x);
	dequantize(y, &held, q, width);
}

// From floats to codes of integers, or back.
static enum status convert(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	bool to_codes = out[0].type != DT_F32;
	enum dtype codes = to_codes ? out[0].type : in[0]->type;
	struct scales s;
	struct quantizer q;
	int32_t *zero = NULL;
	enum status status = resolve(&s, n, in, err);
	if (status == STATUS_OK && tensor_count(in[0]) > 0)
		status = make_quantizer(&q, &zero, &s, codes, in, n->n_in, err);
	if (status == STATUS_OK && tensor_count(in[0]) > 0) {
		if (s.blocks.size)
			(to_codes ? quantize_blocks : dequantize_blocks)(&out[0], in[0], &q, &s.blocks);
		else
			(to_codes ? quantize_whole : dequantize_whole)(&out[0], in[0], &q, width);
	}
	free(zero);
	return status;
}

enum status quantizelinear_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	bool saturate = ((const struct quantize_attrs *)n->attrs)->saturate != 0;
	struct scales s;
	if (out[0].type != DT_F32)
		return convert(n, in, out, width, err);
	enum status status = resolve(&s, n, in, err);
	if (status == STATUS_OK)
		quantize_to_floats(&out[0], in[0], in[1]->data, &s, float_codes(n, in), saturate);
	return status;
}

enum status dequantizelinear_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct scales s;
	enum status status = resolve(&s, n, in, err);
	if (status == STATUS_OK)
		rule_set(&out[0], DT_F32, &in[0]->shape);
	return status;
}

enum status dequantizelinear_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct scales s;
	if (in[0]->type != DT_F32)
		return convert(n, in, out, width, err);
	enum status status = resolve(&s, n, in, err);
	if (status == STATUS_OK)
		dequantize_floats(&out[0], in[0], in[1]->data, &s);
	return status;
}

// ---- constants of the file

static enum status take_arrays(struct file_codes *c, const struct quantizer *q, struct error *err)
{
	int64_t n = q->n;
	c->scale = (struct tensor){.type = DT_F32, .shape = shape_of(1, &n)};
	c->zero = (struct tensor){.type = DT_I32, .shape = shape_of(1, &n)};
	if (tensor_alloc(&c->scale, NULL, err) != STATUS_OK || tensor_alloc(&c->zero, NULL, err) != STATUS_OK)
		return err->status;
	memcpy(c->scale.data, q->scale, (size_t)n * sizeof *q->scale);
	memcpy(c->zero.data, q->zero, (size_t)n * sizeof *q->zero);
	c->q = *q;
	c->q.scale = c->scale.data;
	c->q.zero = c->zero.data;
	for (int i = 0; i < q->n; i++)
		if (!(q->scale[i] > 0) || !isfinite(q->scale[i]))
			return error_set(err, STATUS_FORMAT, "%g is no scale", (double)q->scale[i]);
	return STATUS_OK;
}

static enum status take_constants(const struct tensor *in[3], const struct graph *g, const struct node *n, int first, struct error *err)
{
	for (int i = first; i < n->n_in && i < 3; i++) {
		in[i] = n->in[i] >= 0 ? g->value[n->in[i]].constant : NULL;
		if (n->in[i] >= 0 && !in[i])
			return error_set(err, STATUS_UNSUPPORTED, "it is computed");
	}
	return STATUS_OK;
}

// The constant at input 0, or, of a network that was trained quantized, what a QuantizeLinear makes of one.
static enum status take_codes(struct tensor *out, const struct graph *g, const struct node *n, struct error *err)
{
	const struct tensor *in[3] = {g->value[n->in[0]].constant};
	int maker = g->value[n->in[0]].producer;
	if (in[0])
		return tensor_copy(out, in[0], err);
	if (maker < 0 || g->node[maker].op->id != OP_QuantizeLinear)
		return error_set(err, STATUS_UNSUPPORTED, "it is computed");
	*out = (struct tensor){.type = g->value[n->in[0]].type};
	if (take_constants(in, g, &g->node[maker], 0, err) != STATUS_OK)
		return err->status;
	out->shape = in[0]->shape;
	if (tensor_alloc(out, NULL, err) != STATUS_OK)
		return err->status;
	return quantizelinear_eval(&g->node[maker], in, out, 1, err);
}

enum status file_codes_read(struct file_codes *out, const struct graph *g, const struct node *n, struct error *err)
{
	const struct tensor *in[3] = {&out->codes};
	struct scales s;
	struct quantizer q;
	int32_t *zero = NULL;
	*out = (struct file_codes){0};
	enum status status = take_codes(&out->codes, g, n, err);
	if (status == STATUS_OK)
		status = take_constants(in, g, n, 1, err);
	if (status == STATUS_OK)
		status = resolve(&s, n, in, err);
	if (status == STATUS_OK && (in[0]->type == DT_F32 || s.blocks.size || tensor_count(in[0]) < 1))
		status = error_set(err, STATUS_UNSUPPORTED, "its codes are floats, or have scales of blocks");
	if (status == STATUS_OK)
		status = make_quantizer(&q, &zero, &s, in[0]->type, in, n->n_in, err);
	if (status == STATUS_OK)
		status = take_arrays(out, &q, err);
	free(zero);
	return status;
}

enum status file_codes_floats(struct tensor *out, const struct file_codes *c, struct error *err)
{
	*out = (struct tensor){.type = DT_F32, .shape = c->codes.shape};
	if (tensor_alloc(out, NULL, err) != STATUS_OK)
		return err->status;
	dequantize_whole(out, &c->codes, &c->q, 1);
	return STATUS_OK;
}

void file_codes_done(struct file_codes *c)
{
	tensor_drop(&c->codes);
	tensor_drop(&c->scale);
	tensor_drop(&c->zero);
	*c = (struct file_codes){0};
}
