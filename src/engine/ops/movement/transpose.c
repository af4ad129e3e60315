// Transpose. Where the result's last dimension is not the input's, the two make matrices that are turned in tiles.
#include <string.h>
#include "../../tensor/transpose.h"
#include "../rule.h"
#include "../strided.h"
#include "qtui/base/parts.h"
#include "transpose.h"

enum status transpose_permutation(int64_t perm[SHAPE_MAX_RANK], const struct node *n, int rank, struct error *err)
{
	const struct ints *given = &((const struct transpose_attrs *)n->attrs)->perm;
	bool seen[SHAPE_MAX_RANK];
	enum status s;
	for (int i = 0; i < rank; i++)
		perm[i] = rank - 1 - i;
	if (given->n < 0 || !given->at)
		return STATUS_OK;
	if (given->n != rank)
		return error_set(err, STATUS_FORMAT, "perm has %d entries, the input has rank %d", given->n, rank);
	s = rule_axes(seen, given->at, rank, rank, err);
	for (int i = 0; s == STATUS_OK && i < rank; i++)
		perm[i] = given->at[i] < 0 ? given->at[i] + rank : given->at[i];
	return s;
}

enum status transpose_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t perm[SHAPE_MAX_RANK];
	struct shape y = in[0]->shape;
	enum status s = transpose_permutation(perm, n, y.rank, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < y.rank; i++)
		y.dim[i] = in[0]->shape.dim[perm[i]];
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum { TILE = 8, STRIPE = 64, LINE = 64 }; // elements; columns of the matrix in a stripe; bytes of a line of the cache

// Matrices of rows (the result's last dimension) by columns (the input's), one for each index of the other dimensions.
struct matrices {
	struct strided outer;         // without the two
	int64_t rows, columns;
	size_t row_step, column_step; // bytes from row to row in the input, from column to column in the result
	size_t elem;
	transpose_fn *tiles;
};

static bool matrices_of(struct matrices *m, const struct strided *s, size_t elem)
{
	int last = s->rank - 1, column = last;
	for (int i = 0; i < last; i++)
		if (s->stride[1][i] == 1)
			column = i;
	*m = (struct matrices){.outer = *s, .rows = s->dim[last], .columns = s->dim[column], .elem = elem, .tiles = transpose_find(elem)};
	if (column == last || s->stride[0][last] != 1 || m->rows < TILE || m->columns < TILE || !m->tiles)
		return false;
	m->row_step = (size_t)s->stride[1][last] * elem;
	m->column_step = (size_t)s->stride[0][column] * elem;
	m->outer.dim[last] = m->outer.dim[column] = 1;
	return true;
}

// Element by element; called with constants for `elem`.
static inline __attribute__((always_inline)) void turn_elements(const struct matrices *m, char *y, const char *x, int64_t rows,
    int64_t columns, const size_t elem)
{
	for (int64_t c = 0; c < columns; c++)
		for (int64_t r = 0; r < rows; r++)
			memcpy(y + (size_t)c * m->column_step + (size_t)r * elem, x + (size_t)r * m->row_step + (size_t)c * elem, elem);
}

// What the tiles leave, from this row and column of the matrix on.
static void turn_rest(const struct matrices *m, char *y, const char *x, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
	y += (size_t)column * m->column_step + (size_t)row * m->elem;
	x += (size_t)row * m->row_step + (size_t)column * m->elem;
	if (m->elem == 1)
		turn_elements(m, y, x, rows, columns, 1);
	else if (m->elem == 2)
		turn_elements(m, y, x, rows, columns, 2);
	else
		turn_elements(m, y, x, rows, columns, 4);
}

// `tiles` tiles side by side in the input, in rows r to r + TILE of it.
static void turn_tiles(const struct matrices *m, char *y, const char *x, int64_t r, int64_t column, int64_t tiles)
{
	m->tiles((uint8_t *)y + (size_t)column * m->column_step + (size_t)r * m->elem, m->column_step, TILE * m->column_step,
	    (const uint8_t *)x + (size_t)r * m->row_step + (size_t)column * m->elem, m->row_step, TILE * m->elem, tiles);
}

// Lines of the result are filled at once: where they lie a power of two apart,
// the cache does not keep them until the next rows.
static void turn_stripe(const struct matrices *m, char *y, const char *x, int64_t first)
{
	int64_t columns = m->columns - first < STRIPE ? m->columns - first : STRIPE, tiles = columns / TILE, r = 0;
	const int64_t line = (int64_t)(LINE / m->elem);
	for (; r + line <= m->rows; r += line)
		for (int64_t c = 0; c < tiles; c++)
			for (int64_t part = r; part < r + line; part += TILE)
				turn_tiles(m, y, x, part, first + c * TILE, 1);
	for (; r + TILE <= m->rows; r += TILE)
		turn_tiles(m, y, x, r, first, tiles);
	turn_rest(m, y, x, 0, first + tiles * TILE, r, columns % TILE);
	turn_rest(m, y, x, r, first, m->rows - r, columns);
}

struct turning {
	const struct matrices *m;
	char *y;
	const char *x;
	int64_t stripes; // of a matrix
};

static void one_stripe(void *arg, int64_t i, int thread)
{
	const struct turning *t = arg;
	const struct matrices *m = t->m;
	int64_t at[STRIDED_MAX], k = i / t->stripes, run = strided_run(&m->outer);
	(void)thread;
	strided_at(&m->outer, k / run, at);
	turn_stripe(m, t->y + (size_t)(at[0] + k % run * strided_step(&m->outer, 0)) * m->elem,
	    t->x + (size_t)(at[1] + k % run * strided_step(&m->outer, 1)) * m->elem, i % t->stripes * STRIPE);
}

static void turn(struct matrices *m, void *y, const void *x, int width)
{
	struct turning t = {m, y, x, (m->columns + STRIPE - 1) / STRIPE};
	strided_merge(&m->outer);
	parts_share(strided_rows(&m->outer) * strided_run(&m->outer) * t.stripes, width, one_stripe, &t);
}

enum status transpose_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t perm[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
	struct strided s = {.rank = out[0].shape.rank, .arrays = 2};
	struct matrices m;
	enum status st = transpose_permutation(perm, n, s.rank, err);
	if (st != STATUS_OK)
		return st;
	rule_strides(s.stride[0], &out[0].shape);
	rule_strides(stride, &in[0]->shape);
	for (int i = 0; i < s.rank; i++) {
		s.dim[i] = out[0].shape.dim[i];
		s.stride[1][i] = stride[perm[i]];
	}
	strided_merge(&s);
	if (matrices_of(&m, &s, dtype_size(in[0]->type)))
		turn(&m, out[0].data, in[0]->data, width);
	else
		strided_copy(&s, out[0].data, in[0]->data, dtype_size(in[0]->type));
	return STATUS_OK;
}
