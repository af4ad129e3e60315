// Cast, CastLike. Floats become integers by truncation, integers keep their low bits, everything but zero is true.
// NaN and what an integer cannot hold become what x86 makes of them, to whose instructions ONNX Runtime leaves it:
// the least int64, or, where 32 bits suffice for the type, the least int32; of those a narrower type has the low bits.
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "qtui/engine/minifloat.h"
#include "qtui/engine/quantizer.h"

enum status cast_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct cast_attrs *a = n->attrs;
	enum dtype to = n->op->id == OP_CastLike ? in[1]->type : rule_dtype(a->to);
	if (to == DT_NONE)
		return error_set(err, STATUS_UNSUPPORTED, "element type %lld of attribute `to` is not supported", (long long)a->to);
	if (strcmp(a->round_mode, "up") && strcmp(a->round_mode, "down") && strcmp(a->round_mode, "nearest"))
		return error_set(err, STATUS_FORMAT, "round_mode is '%s', must be up, down or nearest", a->round_mode);
	rule_set(&out[0], to, &in[0]->shape);
	return STATUS_OK;
}

// Between floats and the types that models have most, element by element without a buffer.
#define EACH(from_type, to_type, value)                                                                                \
	do {                                                                                                           \
		const from_type *from = (const from_type *)x->data + at;                                               \
		to_type *to = (to_type *)y->data + at;                                                                 \
		_Pragma("omp simd") for (int64_t i = 0; i < m; i++) to[i] = value;                                     \
	} while (0)

static bool cast_directly(const struct tensor *x, struct tensor *y, int64_t at, int64_t m)
{
	if (x->type == DT_F32 && y->type == DT_I32)
		EACH(float, int32_t, from[i] >= -0x1p31f && from[i] < 0x1p31f ? (int32_t)from[i] : INT32_MIN);
	else if (x->type == DT_F32 && y->type == DT_I64)
		EACH(float, int64_t, from[i] >= -0x1p63f && from[i] < 0x1p63f ? (int64_t)from[i] : INT64_MIN);
	else if (x->type == DT_F32 && y->type == DT_BOOL)
		EACH(float, uint8_t, from[i] != 0);
	else if (x->type == DT_I32 && y->type == DT_F32)
		EACH(int32_t, float, (float)from[i]);
	else if (x->type == DT_BOOL && y->type == DT_F32)
		EACH(uint8_t, float, (float)from[i]);
	else
		return false;
	return true;
}

static void cast_ints(const struct tensor *x, struct tensor *y, int64_t at, int64_t m)
{
	int64_t v[ELEMENTS_CHUNK];
	elements_load(v, x->type, x->data, at, 1, m);
	elements_store(y->data, y->type, at, v, m);
}

static void cast_to_whole(const struct tensor *x, struct tensor *y, int64_t at, int64_t m)
{
	bool wide = dtype_size(y->type) > 4 || y->type == DT_U32;
	float limit = wide ? 0x1p63f : 0x1p31f;
	const float *from = (const float *)x->data + at;
	int64_t v[ELEMENTS_CHUNK];
	for (int64_t i = 0; i < m; i++)
		v[i] = from[i] >= -limit && from[i] < limit ? (int64_t)from[i] : wide ? INT64_MIN : INT32_MIN;
	elements_store(y->data, y->type, at, v, m);
}

static void cast_floats(const struct tensor *x, struct tensor *y, int64_t at, int64_t m)
{
	double v[ELEMENTS_CHUNK];
	elements_load_double(v, x->type, x->data, at, 1, m);
	for (int64_t i = 0; i < m && y->type == DT_BOOL; i++)
		v[i] = v[i] != 0;
	elements_store_double(y->data, y->type, at, v, m);
}

// A float that goes to 16 bits keeps its type here, and of its digits those that they hold;
// so does all that goes to floats of 8 or 4 bits.
static enum quantizer_kind rounds_to(const struct node *n, enum dtype from)
{
	enum { HALF = 10, BFLOAT = 16 };
	int64_t to = from == DT_F32 ? ((const struct cast_attrs *)n->attrs)->to : 0;
	return to == HALF ? QUANT_FP16 : to == BFLOAT ? QUANT_BF16 : QUANT_NONE;
}

static void round_to_format(struct tensor *y, const struct cast_attrs *a)
{
	int64_t n = tensor_count(y);
	if (a->to == MINIFLOAT_E8M0)
		minifloat_round_power(y->data, y->data, n, a->round_mode[0], a->saturate != 0);
	else if (is_minifloat(a->to))
		minifloat_round(y->data, y->data, n, (int)a->to, a->saturate != 0);
}

enum status cast_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t count = tensor_count(in[0]);
	// What CastLike was given may be of another type than the model says.
	enum quantizer_kind rounding = out[0].type == DT_F32 ? rounds_to(n, in[0]->type) : QUANT_NONE;
	bool from_float = in[0]->type == DT_F32, floats = out[0].type == DT_F32 || (from_float && out[0].type == DT_BOOL);
	void (*cast)(const struct tensor *x, struct tensor *y, int64_t at, int64_t m) =
	    floats ? cast_floats : from_float ? cast_to_whole : cast_ints;
	(void)err;
	if (rounding != QUANT_NONE) {
		fake_quantize(&out[0], in[0], &(struct quantizer){.kind = rounding}, width);
		return STATUS_OK;
	}
	if (in[0]->type == out[0].type && count)
		memcpy(out[0].data, in[0]->data, tensor_bytes(&out[0]));
	for (int64_t at = 0; at < count && in[0]->type != out[0].type; at += ELEMENTS_CHUNK) {
		int64_t m = count - at < ELEMENTS_CHUNK ? count - at : ELEMENTS_CHUNK;
		if (!cast_directly(in[0], &out[0], at, m))
			cast(in[0], &out[0], at, m);
	}
	if (out[0].type == DT_F32)
		round_to_format(&out[0], n->attrs);
	return STATUS_OK;
}
