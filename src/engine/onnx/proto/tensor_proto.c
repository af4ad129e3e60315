// One row a data type; every row knows the size of an item in raw bytes and how an item becomes an element.
#include <string.h>
#include "../../tensor/float_bits.h"
#include "narrow.h"
#include "qtui/base/str.h"
#include "qtui/engine/half.h"
#include "qtui/engine/minifloat.h"
#include "tensor_proto.h"

static float bfloat_to_float(uint16_t h)
{
	return float_of_bits((uint32_t)h << 16);
}

static void from_half(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t h;
		memcpy(&h, (const uint8_t *)in + 2 * i, sizeof h);
		((float *)out)[i] = half_to_float(h);
	}
}

static void from_bfloat(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t h;
		memcpy(&h, (const uint8_t *)in + 2 * i, sizeof h);
		((float *)out)[i] = bfloat_to_float(h);
	}
}

static void from_double(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double x;
		memcpy(&x, (const uint8_t *)in + 8 * i, sizeof x);
		((float *)out)[i] = (float)x;
	}
}

static void from_bool(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)out)[i] = ((const uint8_t *)in)[i] != 0;
}

static const struct type_row {
	enum dtype type;
	size_t item;         // bytes of an item in raw_data
	size_t per;          // elements in an item
	narrow_fn *convert;  // n elements; NULL: the bytes as they are
	size_t field, count; // the typed field and its length, as offsets into the message
	size_t field_item;
} rows[] = {
#define FIELD(f) offsetof(Onnx__TensorProto, f##_data), offsetof(Onnx__TensorProto, n_##f##_data)
    [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT] = {DT_F32, 4, 1, NULL, FIELD(float), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__UINT8] = {DT_U8, 1, 1, NULL, FIELD(int32), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__INT8] = {DT_I8, 1, 1, NULL, FIELD(int32), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__UINT16] = {DT_U16, 2, 1, NULL, FIELD(int32), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__INT16] = {DT_I16, 2, 1, NULL, FIELD(int32), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__INT32] = {DT_I32, 4, 1, NULL, FIELD(int32), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__INT64] = {DT_I64, 8, 1, NULL, FIELD(int64), 8},
    [ONNX__TENSOR_PROTO__DATA_TYPE__BOOL] = {DT_BOOL, 1, 1, from_bool, FIELD(int32), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16] = {DT_F32, 2, 1, from_half, FIELD(int32), 4},
    [ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE] = {DT_F32, 8, 1, from_double, FIELD(double), 8},
    [ONNX__TENSOR_PROTO__DATA_TYPE__UINT32] = {DT_U32, 4, 1, NULL, FIELD(uint64), 8},
    [ONNX__TENSOR_PROTO__DATA_TYPE__UINT64] = {DT_U64, 8, 1, NULL, FIELD(uint64), 8},
    [ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16] = {DT_F32, 2, 1, from_bfloat, FIELD(int32), 4},
    [MINIFLOAT_E4M3FN] = {DT_F32, 1, 1, narrow_e4m3fn, FIELD(int32), 4},
    [MINIFLOAT_E4M3FNUZ] = {DT_F32, 1, 1, narrow_e4m3fnuz, FIELD(int32), 4},
    [MINIFLOAT_E5M2] = {DT_F32, 1, 1, narrow_e5m2, FIELD(int32), 4},
    [MINIFLOAT_E5M2FNUZ] = {DT_F32, 1, 1, narrow_e5m2fnuz, FIELD(int32), 4},
    [NARROW_UINT4] = {DT_U4, 1, 2, narrow_uint4, FIELD(int32), 4},
    [NARROW_INT4] = {DT_I4, 1, 2, narrow_int4, FIELD(int32), 4},
    [MINIFLOAT_E2M1] = {DT_F32, 1, 2, narrow_e2m1, FIELD(int32), 4},
    [MINIFLOAT_E8M0] = {DT_F32, 1, 1, narrow_e8m0, FIELD(int32), 4},
#undef FIELD
};

static const struct type_row *row_of(int32_t onnx_type)
{
	static const struct type_row none = {.type = DT_NONE};
	return onnx_type >= 0 && (size_t)onnx_type < sizeof rows / sizeof rows[0] ? &rows[onnx_type] : &none;
}

enum dtype tensor_proto_type(int32_t onnx_type)
{
	return row_of(onnx_type)->type;
}

const char *tensor_proto_type_name(int32_t onnx_type)
{
	static const char *const names[] = {
	    [ONNX__TENSOR_PROTO__DATA_TYPE__UNDEFINED] = "undefined",
	    [ONNX__TENSOR_PROTO__DATA_TYPE__STRING] = "string",
	    [ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX64] = "complex64",
	    [ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX128] = "complex128",
	    [NARROW_UINT2] = "uint2",
	    [NARROW_INT2] = "int2",
	};
	bool named = onnx_type >= 0 && (size_t)onnx_type < sizeof names / sizeof names[0];
	return named && names[onnx_type] ? names[onnx_type] : "unknown";
}

static void fill(void *to, const struct type_row *row, const void *raw, size_t n)
{
	if (row->convert)
		row->convert(to, raw, n);
	else if (n)
		memcpy(to, raw, n * row->item);
}

// From a file, which leaves memory piece by piece as the tensor fills.
static void fill_mapped(struct tensor *t, const struct type_row *row, const uint8_t *raw, size_t n, const struct externals *file)
{
	enum { ELEMENTS = 1 << 20 };
	for (size_t at = 0, step; at < n; at += step) {
		const uint8_t *from = raw + at / row->per * row->item;
		step = n - at < ELEMENTS ? n - at : ELEMENTS;
		fill((char *)t->data + at * dtype_size(row->type), row, from, step);
		externals_forget(file, from, step / row->per * row->item);
	}
}

// A typed field stores narrow items one in each wide one: little-endian, so the low bytes are the item.
static void fill_narrow(struct tensor *t, const struct type_row *row, const uint8_t *field, size_t n)
{
	uint8_t item[8];
	for (size_t i = 0; i < n; i += row->per) {
		uint8_t *to = (uint8_t *)t->data + i * dtype_size(row->type);
		memcpy(item, field + i / row->per * row->field_item, row->field_item);
		if (row->convert)
			row->convert(to, item, n - i < row->per ? n - i : row->per);
		else
			memcpy(to, item, row->item);
	}
}

static const char *external_entry(const Onnx__TensorProto *t, const char *key)
{
	for (size_t i = 0; i < t->n_external_data; i++)
		if (t->external_data[i]->key && !strcmp(t->external_data[i]->key, key))
			return t->external_data[i]->value;
	return NULL;
}

static bool entry_number(const Onnx__TensorProto *t, const char *key, uint64_t dflt, uint64_t *out)
{
	const char *text = external_entry(t, key);
	long long v = 0;
	if (text && (!str_to_int(text, &v) || v < 0))
		return false;
	*out = text ? (uint64_t)v : dflt;
	return true;
}

static enum status external_bytes(const uint8_t **out, const Onnx__TensorProto *t, struct externals *externals,
    size_t need, const char *what, struct error *err)
{
	const char *location = external_entry(t, "location");
	uint64_t offset, length;
	enum status s;
	if (!location || !entry_number(t, "offset", 0, &offset) || !entry_number(t, "length", need, &length))
		return error_set(err, STATUS_FORMAT, "%s: its external data entry is malformed", what);
	if (length != need)
		return error_set(err, STATUS_FORMAT,
		    "%s: %llu bytes of external data do not fill its shape (%zu bytes)", what,
		    (unsigned long long)length, need);
	if (!externals)
		return error_set(err, STATUS_UNSUPPORTED, "%s: external data is not read here", what);
	s = externals_get(out, externals, location, offset, length, err);
	return s ? error_prefix(err, "%s", what) : STATUS_OK;
}

static enum status read_shape(struct tensor *out, const Onnx__TensorProto *t, const char *what, struct error *err)
{
	*out = (struct tensor){.type = tensor_proto_type(t->data_type)};
	if (out->type == DT_NONE)
		return error_set(err, STATUS_UNSUPPORTED, "%s: elements of type %s (%d) are not supported", what,
		    tensor_proto_type_name(t->data_type), t->data_type);
	if (t->n_dims > SHAPE_MAX_RANK)
		return error_set(err, STATUS_UNSUPPORTED, "%s: rank %zu is over %d", what, t->n_dims, SHAPE_MAX_RANK);
	out->shape = shape_of((int)t->n_dims, t->dims);
	if (shape_count(&out->shape) < 0)
		return error_set(err, STATUS_FORMAT, "%s: its shape is not possible", what);
	return STATUS_OK;
}

enum status tensor_proto_read(
    struct tensor *out, const Onnx__TensorProto *t, struct externals *externals, const char *what, struct error *err)
{
	const struct type_row *row = row_of(t->data_type);
	const uint8_t *raw = t->has_raw_data ? t->raw_data.data : NULL, *field;
	size_t n, items, field_n;
	enum status s = read_shape(out, t, what, err);
	if (s)
		return s;
	n = (size_t)tensor_count(out);
	items = (n + row->per - 1) / row->per;
	memcpy(&field, (const uint8_t *)t + row->field, sizeof field);
	memcpy(&field_n, (const uint8_t *)t + row->count, sizeof field_n);
	if (t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
		s = external_bytes(&raw, t, externals, items * row->item, what, err);
		if (s)
			return s;
	} else if (t->has_raw_data ? t->raw_data.len != items * row->item : field_n != items) {
		return error_set(err, STATUS_FORMAT, "%s: its data does not fill its shape", what);
	}
	s = tensor_alloc(out, NULL, err);
	if (s)
		return error_prefix(err, "%s", what);
	if (raw && externals) {
		fill_mapped(out, row, raw, n, externals);
	} else if (raw || row->field_item == row->item) {
		fill(out->data, row, raw ? raw : field, n);
	} else {
		fill_narrow(out, row, field, n);
	}
	return STATUS_OK;
}
