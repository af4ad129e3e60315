// Index arithmetic that gathering and scattering share.
#ifndef QTUI_ENGINE_OPS_MOVEMENT_GATHER_H
#define QTUI_ENGINE_OPS_MOVEMENT_GATHER_H

#include "../ops.h"

// Index i of an int32 or int64 tensor, counted from the start.
MUST_CHECK static inline enum status gather_index(
    int64_t *out, const struct tensor *indices, int64_t i, int64_t dim, struct error *err)
{
	int64_t at =
	    indices->type == DT_I32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
	if (at < -dim || at >= dim)
		return error_set(
		    err, STATUS_FORMAT, "index %lld is out of range for %lld elements", (long long)at, (long long)dim);
	*out = at < 0 ? at + dim : at;
	return STATUS_OK;
}
// Indices that are known (constants, at a run) are refused by the shape rule:
// before the output is allocated, or when the model opens.
MUST_CHECK enum status gather_check(const struct tensor *indices, int64_t dim, struct error *err);
// Of tuples, as long as the last dimension, along dim[0], dim[1] ...
MUST_CHECK enum status gather_nd_check(const struct tensor *indices, const int64_t *dim, struct error *err);

// A row of the indices of GatherElements and ScatterElements, of data x along `axis`.
struct gather_row {
	const struct tensor *indices;
	int64_t first;                   // of its elements
	int64_t base, step, stride, dim; // in x: where its coordinates but that of the axis lead, what one more element adds, the axis
};
struct gather_row gather_row(const struct tensor *indices, int64_t first, const struct shape *x, int axis);

// *out: where element i of the row lies in x.
MUST_CHECK static inline enum status gather_row_place(int64_t *out, const struct gather_row *r, int64_t i, struct error *err)
{
	int64_t at = 0;
	enum status s = gather_index(&at, r->indices, r->first + i, r->dim, err);
	*out = at * r->stride + r->base + i * r->step;
	return s;
}
// The row that index tuple number `tuple` names among those of dimensions dim[0..depth-1].
MUST_CHECK enum status gather_nd_offset(
    int64_t *out, const struct tensor *indices, int64_t tuple, const int64_t *dim, int depth, struct error *err);

#endif
