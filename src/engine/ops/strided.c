#include "strided.h"

#include <string.h>

void strided_broadcast(struct strided *s, const struct shape *y, const struct shape *const *x, int n_x)
{
	int64_t p = 1;
	*s = (struct strided){.rank = y->rank, .arrays = n_x + 1};
	for (int i = y->rank - 1; i >= 0; i--) {
		s->dim[i] = y->dim[i];
		s->stride[0][i] = p;
		p *= y->dim[i];
	}
	for (int k = 0; k < n_x; k++) {
		p = 1;
		for (int i = x[k]->rank - 1, j = y->rank - 1; i >= 0; i--, j--) {
			s->stride[k + 1][j] = x[k]->dim[i] == 1 ? 0 : p;
			p *= x[k]->dim[i];
		}
	}
	strided_merge(s);
}

static void drop_dim(struct strided *s, int i)
{
	s->rank--;
	for (int j = i; j < s->rank; j++) {
		s->dim[j] = s->dim[j + 1];
		for (int k = 0; k < s->arrays; k++)
			s->stride[k][j] = s->stride[k][j + 1];
	}
}

static bool mergeable(const struct strided *s, int i)
{
	for (int k = 0; k < s->arrays; k++)
		if (s->stride[k][i] != s->stride[k][i + 1] * s->dim[i + 1])
			return false;
	return true;
}

void strided_merge(struct strided *s)
{
	for (int i = s->rank - 1; i >= 0; i--)
		if (s->dim[i] == 1)
			drop_dim(s, i);
	for (int i = s->rank - 2; i >= 0; i--) {
		if (!mergeable(s, i))
			continue;
		s->dim[i + 1] *= s->dim[i];
		drop_dim(s, i);
	}
	if (s->rank == 0) {
		s->rank = 1;
		s->dim[0] = 1;
	}
}

int64_t strided_rows(const struct strided *s)
{
	int64_t rows = 1;
	for (int i = 0; i < s->rank - 1; i++)
		rows *= s->dim[i];
	return strided_run(s) ? rows : 0;
}

int64_t strided_run(const struct strided *s)
{
	return s->dim[s->rank - 1];
}

void strided_at(const struct strided *s, int64_t row, int64_t offset[STRIDED_MAX])
{
	for (int k = 0; k < s->arrays; k++)
		offset[k] = s->start[k];
	for (int i = s->rank - 2; i >= 0; i--) {
		int64_t at = row % s->dim[i];
		row /= s->dim[i];
		for (int k = 0; k < s->arrays; k++)
			offset[k] += at * s->stride[k][i];
	}
}

int64_t strided_step(const struct strided *s, int array)
{
	return s->stride[array][s->rank - 1];
}

// Every second element, as where a network sorts pixels into channels, is worth vectors.
#define COPY_RUN(type)                                                                                                 \
	static void copy_##type(type *dst, int64_t dst_step, const type *src, int64_t src_step, int64_t n)             \
	{                                                                                                              \
		if (dst_step == 1 && src_step == 2) {                                                                  \
			_Pragma("omp simd") for (int64_t i = 0; i < n; i++) dst[i] = src[2 * i];                       \
		} else {                                                                                               \
			for (int64_t i = 0; i < n; i++)                                                                \
				dst[i * dst_step] = src[i * src_step];                                                 \
		}                                                                                                      \
	}
COPY_RUN(uint8_t)
COPY_RUN(uint16_t)
COPY_RUN(uint32_t)
COPY_RUN(uint64_t)

static void copy_run(void *dst, int64_t dst_step, const void *src, int64_t src_step, int64_t n, size_t elem)
{
	if (dst_step == 1 && src_step == 1)
		memcpy(dst, src, (size_t)n * elem);
	else if (elem == 1)
		copy_uint8_t(dst, dst_step, src, src_step, n);
	else if (elem == 2)
		copy_uint16_t(dst, dst_step, src, src_step, n);
	else if (elem == 4)
		copy_uint32_t(dst, dst_step, src, src_step, n);
	else
		copy_uint64_t(dst, dst_step, src, src_step, n);
}

// From one run to the next, without the divisions of strided_at.
static void next_run(const struct strided *s, int64_t index[SHAPE_MAX_RANK], int64_t offset[STRIDED_MAX])
{
	for (int i = s->rank - 2; i >= 0; i--) {
		for (int k = 0; k < s->arrays; k++)
			offset[k] += s->stride[k][i];
		if (++index[i] < s->dim[i])
			return;
		for (int k = 0; k < s->arrays; k++)
			offset[k] -= s->dim[i] * s->stride[k][i];
		index[i] = 0;
	}
}

enum { SHORT = 16, PIECE = 512 }; // elements of a run

// Where runs would be short, a longer dimension along which one of the arrays lies in one piece is put last.
static bool lengthen_runs(struct strided *s)
{
	int last = s->rank - 1, best = last;
	int64_t dim = s->dim[last];
	for (int i = 0; dim < SHORT && i < last; i++)
		if ((s->stride[0][i] == 1 || s->stride[1][i] == 1) && s->dim[i] > s->dim[best])
			best = i;
	s->dim[last] = s->dim[best];
	s->dim[best] = dim;
	for (int k = 0; k < s->arrays; k++) {
		int64_t step = s->stride[k][last];
		s->stride[k][last] = s->stride[k][best];
		s->stride[k][best] = step;
	}
	return best != last;
}

// The first n elements of each run.
static void copy_runs(const struct strided *s, char *dst, const char *src, int64_t n, size_t elem)
{
	int64_t rows = strided_rows(s), index[SHAPE_MAX_RANK] = {0}, at[STRIDED_MAX];
	memcpy(at, s->start, sizeof at);
	for (int64_t r = 0; r < rows; r++, next_run(s, index, at))
		copy_run(dst + at[0] * (int64_t)elem, strided_step(s, 0), src + at[1] * (int64_t)elem, strided_step(s, 1), n, elem);
}

void strided_copy(struct strided *s, void *dst, const void *src, size_t elem)
{
	int64_t n, piece;
	strided_merge(s);
	bool turned = lengthen_runs(s); // neighbours come from several runs: a piece of all of them at a time stays in the cache
	n = strided_run(s);
	piece = turned ? PIECE : n;
	for (int64_t from = 0; from < n; from += piece)
		copy_runs(s, (char *)dst + from * strided_step(s, 0) * (int64_t)elem,
		    (const char *)src + from * strided_step(s, 1) * (int64_t)elem, n - from < piece ? n - from : piece, elem);
}
