// Second moments of rows, and least squares from them.
#include <stdlib.h>
#include "qtui/engine/linalg.h"
#include "tune_impl.h"

size_t moments_bytes(int64_t k, int64_t m)
{
	return (size_t)(k * k + k * m + k + 2 * m) * sizeof(double);
}

bool moments_alloc(struct moments *s, int64_t k, int64_t m)
{
	double *at = mem_try_array(moments_bytes(k, m), 1);
	*s = (struct moments){.k = k, .m = m};
	if (!at)
		return false;
	s->xx = at;
	s->xr = s->xx + k * k;
	s->x = s->xr + k * m;
	s->r = s->x + k;
	s->rr = s->r + m;
	return true;
}

void moments_done(struct moments *s)
{
	free(s->xx);
	*s = (struct moments){0};
}

static void add_sums(double *sum, double *squares, const float *x, int64_t row, int64_t rows, int64_t n)
{
	for (int64_t j = 0; j < rows; j++)
		for (int64_t i = 0; i < n; i++) {
			double v = (double)x[j * row + i];
			sum[i] += v;
			if (squares)
				squares[i] += v * v;
		}
}

void moments_add_rows(struct moments *s, const float *x, int64_t x_row, const float *r, int64_t r_row, int64_t rows)
{
	linalg_outer(&(struct linalg_outer){.a = x, .b = x, .c = s->xx, .rows = rows, .m = s->k, .n = s->k, .a_row = x_row, .b_row = x_row});
	linalg_outer(&(struct linalg_outer){.a = x, .b = r, .c = s->xr, .rows = rows, .m = s->k, .n = s->m, .a_row = x_row, .b_row = r_row});
	add_sums(s->x, NULL, x, x_row, rows, s->k);
	add_sums(s->r, s->rr, r, r_row, rows, s->m);
	s->n += (double)rows;
}

void moments_add(struct moments *s, const struct moments *other)
{
	size_t n = moments_bytes(s->k, s->m) / sizeof *s->xx;
	for (size_t i = 0; i < n; i++)
		s->xx[i] += other->xx[i];
	s->n += other->n;
}

void moments_error(double *out, const struct moments *s, const double *d, const double *b, double *room)
{
	linalg_product(room, d, s->xx, s->m, s->k);
	for (int64_t c = 0; c < s->m; c++) {
		double e = s->rr[c], shift = b ? b[c] : 0, dx = 0;
		for (int64_t i = 0; i < s->k; i++) {
			double v = d[c * s->k + i];
			e += v * (room[c * s->k + i] - 2 * s->xr[i * s->m + c]);
			dx += v * s->x[i];
		}
		e += shift * (s->n * shift + 2 * dx - 2 * s->r[c]);
		out[c] = e > 0 ? e : 0; // a sum of squares, but for rounding
	}
}

void moments_bias(double *b, const struct moments *s, const double *d)
{
	for (int64_t c = 0; c < s->m; c++) {
		double left = s->r[c];
		for (int64_t i = 0; i < s->k; i++)
			left -= d[c * s->k + i] * s->x[i];
		b[c] = left / s->n;
	}
}

void moments_matrix(double *a, const struct moments *s, bool centred, double damping)
{
	double mean = 0;
	for (int64_t i = 0; i < s->k; i++) {
		double xi = centred ? s->x[i] / s->n : 0;
		for (int64_t j = 0; j < s->k; j++)
			a[i * s->k + j] = s->xx[i * s->k + j] - xi * s->x[j];
		mean += a[i * s->k + i] / (double)s->k;
	}
	for (int64_t i = 0; i < s->k; i++)
		a[i * s->k + i] += damping * mean + 1e-30;
}

void moments_solve(double *d, const struct moments *s, bool centred, const double *factor, double *room)
{
	for (int64_t i = 0; i < s->k; i++)
		for (int64_t c = 0; c < s->m; c++)
			room[i * s->m + c] = s->xr[i * s->m + c] - (centred ? s->x[i] * s->r[c] / s->n : 0);
	linalg_solve(factor, s->k, room, s->m);
	for (int64_t c = 0; c < s->m; c++)
		for (int64_t i = 0; i < s->k; i++)
			d[c * s->k + i] = room[i * s->m + c];
}
