// Array files, and the conversion of their elements.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "arrays.h"
#include "qtui/base/file.h"
#include "qtui/base/npy.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"
#include "qtui/engine/half.h"
#include "qtui/engine/onnx.h"

struct arrays {
	struct bytes file; // of .npy and .bin, mapped
	struct npz npz;
	struct tensor tensor; // of .pb
	char *tensor_name;
	struct npy one; // the array of a file that holds one
	bool owns_one;
	bool raw;
};

static const char kinds[DT_COUNT] = {
    [DT_F32] = 'f',
    [DT_I8] = 'i',
    [DT_U8] = 'u',
    [DT_I16] = 'i',
    [DT_U16] = 'u',
    [DT_I32] = 'i',
    [DT_U32] = 'u',
    [DT_I64] = 'i',
    [DT_U64] = 'u',
    [DT_BOOL] = 'b',
    [DT_I4] = 'i',
    [DT_U4] = 'u',
};

static struct npy as_npy(const struct tensor *t)
{
	struct npy a = {
	    .kind = kinds[t->type],
	    .item = (int)dtype_size(t->type),
	    .rank = t->shape.rank,
	    .data = t->data,
	    .size = tensor_bytes(t),
	};
	for (int i = 0; i < a.rank; i++)
		a.dim[i] = t->shape.dim[i];
	return a;
}

static enum status write_floats(const struct npy *floats, int item, const char *path, struct error *err)
{
	const float *from = floats->data;
	const size_t n = floats->size / sizeof *from;
	struct npy a = *floats;
	a.item = item;
	a.size = n * (size_t)item;
	a.data = mem_try_array(n + 1, (size_t)item);
	if (!a.data)
		return error_set(err, STATUS_NOMEM, "%s: no memory for %zu elements", path, n);
	for (size_t i = 0; i < n; i++)
		if (item == 2)
			((uint16_t *)a.data)[i] = half_of_float(from[i]);
		else
			((double *)a.data)[i] = (double)from[i];
	enum status s = npy_write(&a, path, err);
	npy_done(&a);
	return s;
}

enum status array_write(const struct tensor *t, int float_bytes, const char *path, struct error *err)
{
	struct npy a = as_npy(t);
	return float_bytes && t->type == DT_F32 ? write_floats(&a, float_bytes, path, err) : npy_write(&a, path, err);
}

static enum status open_npy(struct arrays *a, const char *path, enum dtype raw, struct error *err)
{
	enum status s = file_map(&a->file, path, err);
	(void)raw;
	if (!s)
		s = npy_view(&a->one, a->file.data, a->file.size, path, err);
	if (s == STATUS_UNSUPPORTED) {
		*err = (struct error){0};
		s = npy_parse(&a->one, a->file.data, a->file.size, path, err);
		a->owns_one = !s;
	}
	return s;
}

static enum status open_npz(struct arrays *a, const char *path, enum dtype raw, struct error *err)
{
	enum status s = npz_read(&a->npz, path, err);
	(void)raw;
	if (s || a->npz.n)
		return s;
	if (!a->npz.unread.status)
		return error_set(err, STATUS_FORMAT, "%s holds no arrays", path);
	*err = a->npz.unread;
	return err->status;
}

static enum status open_tensor(struct arrays *a, const char *path, enum dtype raw, struct error *err)
{
	enum status s = onnx_read_tensor(&a->tensor, &a->tensor_name, path, err);
	(void)raw;
	if (s)
		return s;
	a->one = as_npy(&a->tensor);
	return STATUS_OK;
}

static bool is_odd_number(float x)
{
	const float least = 1e-12F, most = 1e12F;
	return x != 0 && !(fabsf(x) >= least && fabsf(x) <= most);
}

// Are there numbers of twice the size? Of each the lower half is then noise, or nothing where it is whole, and the upper half
// looks like a number.
static bool looks_double(const struct bytes *b)
{
	enum { LOOKED_AT = 1 << 16, FEW = 8 };
	size_t n = b->size / sizeof(double), step = n / LOOKED_AT + 1, looked = 0, odd[2] = {0}, nothing = 0, whole = 0;
	for (size_t i = 0; i < n; i += step, looked++) {
		float half[2];
		double all;
		memcpy(half, (const char *)b->data + i * sizeof all, sizeof half);
		memcpy(&all, half, sizeof all);
		odd[0] += is_odd_number(half[0]);
		odd[1] += is_odd_number(half[1]);
		nothing += half[0] == 0 && half[1] != 0;
		whole += half[0] == 0 && fabs(all) <= UINT16_MAX && all == floor(all);
	}
	return b->size % sizeof(double) == 0 && looked >= FEW && odd[1] == 0 && (odd[0] > looked / 10 || (nothing && whole == looked));
}

static enum status open_raw(struct arrays *a, const char *path, enum dtype raw, struct error *err)
{
	int item = (int)dtype_size(raw);
	enum status s = file_map(&a->file, path, err);
	if (s)
		return s;
	if (a->file.size % (size_t)item)
		return error_set(
		    err, STATUS_FORMAT, "%s: its size is not a multiple of %d bytes (%s)", path, item, dtype_name(raw));
	if (raw == DT_F32 && looks_double(&a->file))
		return error_set(err, STATUS_FORMAT, "%s: its numbers look like float64: float32 is needed, or .npy, which says what it holds", path);
	a->raw = true;
	a->one = (struct npy){
	    .kind = kinds[raw],
	    .item = item,
	    .rank = 1,
	    .dim = {(int64_t)(a->file.size / (size_t)item)},
	    .data = a->file.data,
	    .size = a->file.size,
	};
	return STATUS_OK;
}

static const struct format {
	const char *suffix;
	enum status (*open)(struct arrays *a, const char *path, enum dtype raw, struct error *err);
} formats[] = {
    {".npy", open_npy},
    {".npz", open_npz},
    {".pb", open_tensor},
    {".bin", open_raw},
};

static const struct format *format_of(const char *path)
{
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (str_has_suffix(path, formats[i].suffix))
			return &formats[i];
	return NULL;
}

bool arrays_is_name(const char *path)
{
	return format_of(path);
}

enum status arrays_open(struct arrays **out, const char *path, enum dtype raw, struct error *err)
{
	struct arrays *a = xcalloc(1, sizeof *a);
	const struct format *f = format_of(path);
	enum status s =
	    f ? f->open(a, path, raw, err)
	      : error_set(err, STATUS_UNSUPPORTED, "%s is no array by its extension (.npy .npz .pb .bin)", path);
	if (s)
		arrays_free(&a);
	*out = a;
	return s;
}

void arrays_free(struct arrays **ap)
{
	struct arrays *a = *ap;
	*ap = NULL;
	if (!a)
		return;
	if (a->owns_one)
		npy_done(&a->one);
	npz_done(&a->npz);
	tensor_drop(&a->tensor);
	free(a->tensor_name);
	bytes_done(&a->file);
	free(a);
}

int arrays_count(const struct arrays *a)
{
	return a->npz.n ? (int)a->npz.n : 1;
}

const struct error *arrays_unread(const struct arrays *a)
{
	return a->npz.unread.status ? &a->npz.unread : NULL;
}

static const struct npy *array_at(const struct arrays *a, int i)
{
	return a->npz.n ? &a->npz.array[i] : &a->one;
}

const char *arrays_name(const struct arrays *a, int i)
{
	if (a->npz.n)
		return a->npz.name[i];
	return a->tensor_name ? a->tensor_name : "";
}

bool arrays_are_bytes(const struct arrays *a, int i)
{
	const struct npy *array = array_at(a, i);
	return array->kind == 'u' && array->item == 1;
}

struct shape arrays_shape(const struct arrays *a, int i)
{
	return shape_of(array_at(a, i)->rank, array_at(a, i)->dim);
}

static bool any_named(const struct arrays *a, const struct graph *g)
{
	for (int i = 0; i < g->n_inputs; i++)
		for (int k = 0; k < arrays_count(a); k++)
			if (!strcmp(arrays_name(a, k), g->value[g->input[i]].name))
				return true;
	return false;
}

int arrays_find(const struct arrays *a, const struct graph *g, int input, int main)
{
	for (int k = 0; k < arrays_count(a); k++)
		if (!strcmp(arrays_name(a, k), g->value[g->input[input]].name))
			return k;
	if (any_named(a, g))
		return -1;
	if (arrays_count(a) == 1)
		return input == main ? 0 : -1;
	return input < arrays_count(a) ? input : -1;
}

// dim[0..n-1] of both agree.
static bool dims_equal(const int64_t *a, const int64_t *b, int n)
{
	return n <= 0 || !memcmp(a, b, (size_t)n * sizeof *a);
}

int arrays_rows(const struct arrays *a, int i, const struct shape *input)
{
	const struct npy *x = array_at(a, i);
	struct shape own = shape_of(x->rank, x->dim);
	int64_t have = shape_count(&own), need = shape_count(input);
	bool batch_of_one = input->rank > 0 && input->dim[0] == 1;
	if (have <= 0 || need <= 0 || have % need || have / need > INT32_MAX)
		return 0;
	if (a->raw)
		return (int)(have / need);
	if (shape_equal(&own, input) || (have == 1 && need == 1))
		return 1;
	if ((batch_of_one || input->rank > 1) && own.rank == input->rank && dims_equal(own.dim + 1, input->dim + 1, own.rank - 1))
		return (int)(have / need);
	if (own.rank == input->rank + 1 && dims_equal(own.dim + 1, input->dim, input->rank))
		return (int)own.dim[0];
	return batch_of_one && own.rank == input->rank - 1 && dims_equal(own.dim, input->dim + 1, own.rank);
}

// Element i as a double. (64-bit integers of more than 53 bits lose their low ones; inputs of models do not have
// those.)
static double element(const struct npy *x, size_t i)
{
	const uint8_t *p = (const uint8_t *)x->data + i * (size_t)x->item;
	union {
		float f32;
		double f64;
		uint64_t bits;
	} v = {.bits = 0};
	int shift = 64 - 8 * x->item;
	memcpy(&v, p, (size_t)x->item);
	if (x->kind == 'f')
		return x->item == 8 ? v.f64 : x->item == 4 ? v.f32 : half_to_float((uint16_t)v.bits);
	if (x->kind == 'i')
		return (double)((int64_t)(v.bits << shift) >> shift);
	return (double)v.bits;
}

// Whether an integer type has the number.
static bool is_value(enum dtype type, double v)
{
	bool sign = kinds[type] == 'i';
	int bits = (dtype_held(type) == type ? 8 * (int)dtype_size(type) : 4) - sign;
	return v == floor(v) && v >= (sign ? -ldexp(1, bits) : 0) && v < ldexp(1, bits);
}

static bool store(void *out, enum dtype type, size_t i, double v)
{
	int64_t whole;
	if (type == DT_F32)
		((float *)out)[i] = (float)v;
	else if (type == DT_BOOL)
		((uint8_t *)out)[i] = v != 0;
	if (type == DT_F32 || type == DT_BOOL)
		return true;
	if (!is_value(type, v))
		return false;
	whole = v < 0x1p63 ? (int64_t)v : (int64_t)(uint64_t)v;
	memcpy((uint8_t *)out + i * dtype_size(type), &whole, dtype_size(type)); // little-endian: the low bytes
	return true;
}

// The file of a batch stays open: it may be touched, and dataset_unchanged sees whether it is another.
static enum status whole(const struct bytes *file, const char *path, struct error *err)
{
	if (!bytes_torn(file))
		return STATUS_OK;
	return error_set(err, STATUS_IO, "%s was cut short while it was read: start again when it is complete", path);
}

// Large rows do not stay in memory beside the tensors that were made of them. (Of small ones a page has several.)
static enum status done_with(const struct npy *x, const struct bytes *file, size_t from, size_t n, const char *path, struct error *err)
{
	enum { LARGE = 64 << 10 };
	size_t item = (size_t)x->item;
	enum status s = whole(file, path, err);
	if (s == STATUS_OK && n * item >= LARGE)
		bytes_forget(file, (const uint8_t *)x->data + from * item, n * item);
	return s;
}

enum status arrays_copy(
    struct tensor *out, const struct arrays *a, int i, int row, const char *path, struct error *err)
{
	const struct npy *x = array_at(a, i);
	const struct bytes *file = a->npz.n ? &a->npz.bytes[i] : &a->file;
	size_t n = (size_t)tensor_count(out), from = n * (size_t)row;
	bool whole_bytes = out->type != DT_BOOL && dtype_held(out->type) == out->type;
	if (x->kind == kinds[out->type] && (size_t)x->item == dtype_size(out->type) && whole_bytes) {
		memcpy(out->data, (const uint8_t *)x->data + from * (size_t)x->item, n * (size_t)x->item);
		return done_with(x, file, from, n, path, err);
	}
	for (size_t k = 0; k < n; k++)
		if (!store(out->data, out->type, k, element(x, from + k)))
			return error_set(err, STATUS_FORMAT, "%s: %g is no %s, which the input takes: convert the array", path,
			    element(x, from + k), dtype_name(out->type));
	return done_with(x, file, from, n, path, err);
}
