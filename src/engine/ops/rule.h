// What shape rules share. A rule reports what is wrong in its operator's own terms; the caller puts node and operator
// in front.
#ifndef QTUI_ENGINE_OPS_RULE_H
#define QTUI_ENGINE_OPS_RULE_H

#include "ops.h"

// Largest number of output elements, dimension or step that a rule computes with: products of two of them fit an int64.
#define RULE_MAX_DIM ((int64_t)1 << 31)

// Input i, or NULL when it is left out.
static inline const struct tensor *rule_input(const struct node *n, const struct tensor *const *in, int i)
{
	return i < n->n_in ? in[i] : NULL;
}

bool rule_within(int64_t v, int64_t low, int64_t high);
// Is the value of `t` at hand? (An empty tensor has nothing to know.)
bool rule_known(const struct tensor *t);
// The answer of a rule that needs a value which is not known before the node runs.
enum status rule_pending(struct error *err);
// -rank <= axis < rank, as 0 <= *out < rank.
MUST_CHECK enum status rule_axis(int *out, int64_t axis, int rank, struct error *err);
// A list of axes as flags; an axis given twice is an error.
MUST_CHECK enum status rule_axes(bool out[SHAPE_MAX_RANK], const int64_t *axes, int n, int rank, struct error *err);
// The values of an int32 or int64 tensor of at most `max` elements; `what` names it in the error.
MUST_CHECK enum status rule_ints(
    int64_t *out, int *n, int max, const struct tensor *t, const char *what, struct error *err);
// An optional list of axes: from input `t` when that is given, else from the attribute. *n is -1 when neither is there.
MUST_CHECK enum status rule_axes_list(
    int64_t out[SHAPE_MAX_RANK], int *n, const struct tensor *t, const struct ints *attr, struct error *err);
// NumPy's broadcasting of two shapes.
MUST_CHECK enum status rule_broadcast(
    struct shape *out, const struct shape *a, const struct shape *b, struct error *err);
// Appends a dimension; false when the rank would be too high.
bool rule_push(struct shape *s, int64_t dim);
void rule_set(struct tensor *out, enum dtype type, const struct shape *shape);
// An element type of the engine from a TensorProto.DataType; float16, bfloat16, double and floats of 8 and
// 4 bits become float32. DT_NONE: not supported.
enum dtype rule_dtype(int64_t onnx_type);
// Product of the dimensions in [from, to).
int64_t rule_product(const struct shape *s, int from, int to);
// Row-major strides in elements.
void rule_strides(int64_t stride[SHAPE_MAX_RANK], const struct shape *s);
MUST_CHECK enum status rule_rank_at_least(const struct tensor *t, int i, int rank, struct error *err);

#endif
