// Pad: constant, reflect, edge and wrap; negative pads crop. Every axis has a table of source positions, -1 where the
// constant goes.
#include <stdlib.h>
#include <string.h>
#include "../rule.h"

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP, PAD_MODES };
static const char *const mode_names[PAD_MODES] = {"constant", "reflect", "edge", "wrap"};

struct padding {
	enum pad_mode mode;
	int64_t before[SHAPE_MAX_RANK], after[SHAPE_MAX_RANK];
};

static enum status parse_mode(enum pad_mode *mode, const char *name, struct error *err)
{
	for (int i = 0; i < PAD_MODES; i++) {
		if (strcmp(mode_names[i], name))
			continue;
		*mode = (enum pad_mode)i;
		return STATUS_OK;
	}
	return error_set(err, STATUS_UNSUPPORTED, "mode `%s` is not supported", name);
}

static enum status read_pads(
    int64_t *pads, int *count, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct pad_attrs *a = n->attrs;
	const struct ints *list = a->pads.n >= 0 && a->pads.at ? &a->pads : &a->paddings;
	if (n->n_in > 1)
		return rule_ints(pads, count, 2 * SHAPE_MAX_RANK, in[1], "pads", err);
	if (list->n < 0 || list->n > 2 * SHAPE_MAX_RANK)
		return error_set(err, STATUS_FORMAT, "attribute pads is missing or too long");
	memcpy(pads, list->at, (size_t)list->n * sizeof *pads);
	*count = list->n;
	return STATUS_OK;
}

static enum status pad_axes(
    int64_t *axes, int *n_axes, const struct node *n, const struct tensor *const *in, int rank, struct error *err)
{
	bool seen[SHAPE_MAX_RANK];
	enum status s;
	*n_axes = rank;
	for (int i = 0; i < rank; i++)
		axes[i] = i;
	if (n->n_in < 4 || !in[3])
		return STATUS_OK;
	s = rule_ints(axes, n_axes, SHAPE_MAX_RANK, in[3], "axes", err);
	return s == STATUS_OK ? rule_axes(seen, axes, *n_axes, rank, err) : s;
}

static enum status read_padding(
    struct padding *p, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t pads[2 * SHAPE_MAX_RANK], axes[SHAPE_MAX_RANK];
	int count = 0, n_axes = 0;
	enum status s = parse_mode(&p->mode, ((const struct pad_attrs *)n->attrs)->mode, err);
	if (s == STATUS_OK)
		s = read_pads(pads, &count, n, in, err);
	if (s == STATUS_OK)
		s = pad_axes(axes, &n_axes, n, in, x->rank, err);
	if (s != STATUS_OK)
		return s;
	if (count != 2 * n_axes)
		return error_set(err, STATUS_FORMAT, "pads has %d values, needs %d", count, 2 * n_axes);
	for (int i = 0; i < x->rank; i++)
		p->before[i] = p->after[i] = 0;
	for (int i = 0; i < n_axes; i++) {
		int axis = (int)(axes[i] < 0 ? axes[i] + x->rank : axes[i]);
		if (!rule_within(pads[i], -RULE_MAX_DIM, RULE_MAX_DIM) ||
		    !rule_within(pads[i + n_axes], -RULE_MAX_DIM, RULE_MAX_DIM))
			return error_set(err, STATUS_FORMAT, "pads of axis %d are too large", axis);
		p->before[axis] = pads[i];
		p->after[axis] = pads[i + n_axes];
	}
	return STATUS_OK;
}

// What is left of an axis when pads below 0 have cut.
static int64_t cut_from(const struct padding *p, int axis)
{
	return p->before[axis] < 0 ? -p->before[axis] : 0;
}

static int64_t cut_to(const struct padding *p, int axis, int64_t dim)
{
	return p->after[axis] < 0 ? dim + p->after[axis] : dim;
}

enum status pad_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct padding p;
	struct shape y = in[0]->shape;
	enum status s = read_padding(&p, n, in, err);
	if (s != STATUS_OK)
		return s;
	if (n->n_in > 2 && in[2] && tensor_count(in[2]) != 1)
		return error_set(err, STATUS_FORMAT, "the constant must be one number");
	for (int i = 0; i < y.rank; i++) {
		int64_t dim = y.dim[i];
		y.dim[i] += p.before[i] + p.after[i];
		if (y.dim[i] < 0 || y.dim[i] > RULE_MAX_DIM)
			return error_set(
			    err, STATUS_FORMAT, "axis %d would have %lld elements", i, (long long)y.dim[i]);
		if (p.mode != PAD_CONSTANT && cut_from(&p, i) >= cut_to(&p, i, dim) && y.dim[i] > 0)
			return error_set(err, STATUS_FORMAT, "axis %d is empty and cannot be padded by mode %s", i,
			    mode_names[p.mode]);
	}
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

static int64_t modulo(int64_t a, int64_t b)
{
	int64_t r = a % b;
	return r < 0 ? r + b : r;
}

static int64_t source(enum pad_mode mode, int64_t i, int64_t first, int64_t end)
{
	const int64_t dim = end - first;
	if (i >= first && i < end)
		return i;
	switch (mode) {
	case PAD_EDGE:
		return i < first ? first : end - 1;
	case PAD_WRAP:
		return first + modulo(i - first, dim);
	case PAD_REFLECT:
		if (dim == 1)
			return first;
		i = modulo(i - first, 2 * (dim - 1));
		return first + (i < dim ? i : 2 * (dim - 1) - i);
	default:
		return -1;
	}
}

#define PAD_ROW(type)                                                                                                  \
	for (int64_t i = 0; i < len; i++)                                                                              \
	((type *)y)[i] = last[i] < 0 || from < 0 ? *(const type *)value : ((const type *)x)[from + last[i]]

// One row of the output; `from` is the first element of its row in the input, or -1 when the whole row is constant.
static void pad_row(
    void *y, const void *x, int64_t from, const int64_t *last, int64_t len, const void *value, size_t elem)
{
	if (elem == 1)
		PAD_ROW(uint8_t);
	else if (elem == 2)
		PAD_ROW(uint16_t);
	else if (elem == 4)
		PAD_ROW(uint32_t);
	else
		PAD_ROW(uint64_t);
}

static int64_t row_start(
    int64_t row, const struct tensor *x, const struct tensor *y, int64_t *const *table, const int64_t *stride)
{
	int64_t from = 0;
	for (int i = x->shape.rank - 2; i >= 0; i--) {
		int64_t at = table[i][row % y->shape.dim[i]];
		row /= y->shape.dim[i];
		if (at < 0)
			return -1;
		from += at * stride[i];
	}
	return from;
}

static void pad_rows(const struct tensor *x, struct tensor *y, int64_t *const *table, const void *value)
{
	int64_t stride[SHAPE_MAX_RANK], len = y->shape.dim[y->shape.rank - 1], rows = len ? tensor_count(y) / len : 0;
	size_t elem = dtype_size(x->type);
	rule_strides(stride, &x->shape);
	for (int64_t r = 0; r < rows; r++)
		pad_row((char *)y->data + (size_t)(r * len) * elem, x->data, row_start(r, x, y, table, stride),
		    table[x->shape.rank - 1], len, value, elem);
}

enum status pad_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct padding p;
	int64_t *table[SHAPE_MAX_RANK] = {NULL};
	uint64_t value = 0;
	const struct pad_attrs *a = n->attrs;
	int rank = in[0]->shape.rank;
	enum status s = read_padding(&p, n, in, err);
	(void)width;
	if (s != STATUS_OK)
		return s;
	if (a->element)
		memcpy(&value, a->element, dtype_size(in[0]->type));
	else if (n->n_in > 2 && in[2])
		memcpy(&value, in[2]->data, dtype_size(in[2]->type));
	else if (n->op->since < 11 && in[0]->type == DT_F32)
		memcpy(&value, &a->value, sizeof a->value);
	if (rank == 0)
		memcpy(out[0].data, in[0]->data, dtype_size(in[0]->type));
	for (int i = 0; i < rank && s == STATUS_OK; i++) {
		table[i] = mem_try_array((size_t)out[0].shape.dim[i] + 1, sizeof **table);
		if (!table[i])
			s = error_set(
			    err, STATUS_NOMEM, "no memory for %lld positions", (long long)out[0].shape.dim[i]);
		for (int64_t j = 0; table[i] && j < out[0].shape.dim[i]; j++)
			table[i][j] = source(p.mode, j - p.before[i], cut_from(&p, i), cut_to(&p, i, in[0]->shape.dim[i]));
	}
	if (s == STATUS_OK && rank > 0)
		pad_rows(in[0], &out[0], table, &value);
	for (int i = 0; i < rank; i++)
		free(table[i]);
	return s;
}
