// Element types and shapes.
#include <stdio.h>
#include <string.h>
#include "qtui/engine/tensor.h"

#define COUNT_MAX ((int64_t)1 << 40)

static const struct {
	size_t size;
	const char *name;
} dtypes[DT_COUNT] = {
    [DT_NONE] = {0, "unknown"},
    [DT_F32] = {4, "float32"},
    [DT_I8] = {1, "int8"},
    [DT_U8] = {1, "uint8"},
    [DT_I16] = {2, "int16"},
    [DT_U16] = {2, "uint16"},
    [DT_I32] = {4, "int32"},
    [DT_U32] = {4, "uint32"},
    [DT_I64] = {8, "int64"},
    [DT_U64] = {8, "uint64"},
    [DT_BOOL] = {1, "bool"},
    [DT_I4] = {1, "int4"},
    [DT_U4] = {1, "uint4"},
};

size_t dtype_size(enum dtype t)
{
	return dtypes[t].size;
}

enum dtype dtype_held(enum dtype t)
{
	return t == DT_I4 ? DT_I8 : t == DT_U4 ? DT_U8 : t;
}

const char *dtype_name(enum dtype t)
{
	return dtypes[t].name;
}

int64_t shape_count(const struct shape *s)
{
	int64_t n = 1;
	bool empty = false;
	if (s->rank < 0 || s->rank > SHAPE_MAX_RANK)
		return -1;
	for (int i = 0; i < s->rank; i++) {
		if (s->dim[i] < 0)
			return -1;
		if (s->dim[i] == 0)
			empty = true;
		else if (n > COUNT_MAX / s->dim[i])
			return -1;
		else
			n *= s->dim[i];
	}
	return empty ? 0 : n;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
	return a->rank == b->rank && (a->rank <= 0 || !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]));
}

struct shape shape_of(int rank, const int64_t *dim)
{
	struct shape s = {.rank = rank};
	for (int i = 0; i < rank; i++)
		s.dim[i] = dim[i];
	return s;
}

const char *shape_text(const struct shape *s, char *out, size_t size)
{
	size_t at = 0;
	if (s->rank < 0) {
		snprintf(out, size, "[?]");
		return out;
	}
	at += (size_t)snprintf(out, size, "[");
	for (int i = 0; i < s->rank && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%lld", i ? ", " : "", (long long)s->dim[i]);
	if (at < size)
		snprintf(out + at, size - at, "]");
	return out;
}
