#include "qtui/engine/linalg.h"

#include <cblas.h>
#include <math.h>
#include "blas.h"

enum { TILE = 128, PIECE = 1024 }; // columns of a tile; rows that are summed in float

void linalg_apply(const struct linalg_rows *t)
{
	struct product p = {.a = {t->x, t->x_row, false}, .b = {t->w, t->w_row, true}, .m = t->rows, .n = t->m, .k = t->k, .alpha = 1.0f,
	    .c = t->y, .c_row = t->y_row};
	if (t->rows > 0 && t->m > 0)
		blas_gemm(&p);
}

static void outer_tile(const struct linalg_outer *t, int64_t i0, int64_t j0)
{
	float sum[TILE * TILE];
	int64_t m = least(t->m - i0, TILE), n = least(t->n - j0, TILE);
	for (int64_t at = 0; at < t->rows; at += PIECE) {
		struct product p = {.a = {t->a + at * t->a_row + i0, t->a_row, true}, .b = {t->b + at * t->b_row + j0, t->b_row, false},
		    .m = m, .n = n, .k = least(t->rows - at, PIECE), .alpha = 1.0f, .c = sum, .c_row = n};
		blas_gemm(&p);
		for (int64_t i = 0; i < m; i++)
			for (int64_t j = 0; j < n; j++)
				t->c[(i0 + i) * t->n + j0 + j] += (double)sum[i * n + j];
	}
}

void linalg_outer(const struct linalg_outer *t)
{
	int64_t down = (t->m + TILE - 1) / TILE, across = (t->n + TILE - 1) / TILE;
	for (int64_t i = 0; i < down * across; i++)
		outer_tile(t, i / across * TILE, i % across * TILE);
}

// A block on the diagonal, row by row.
static bool factor_block(double *a, int64_t row, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double d = a[i * row + i];
		for (int64_t k = 0; k < i; k++)
			d -= a[k * row + i] * a[k * row + i];
		if (!(d > 0) || !isfinite(d))
			return false;
		d = a[i * row + i] = sqrt(d);
		for (int64_t j = i + 1; j < n; j++) {
			double s = a[i * row + j];
			for (int64_t k = 0; k < i; k++)
				s -= a[k * row + i] * a[k * row + j];
			a[i * row + j] = s / d;
		}
	}
	return true;
}

// What is right of and below a factored block of `b` rows at `at`:
// its rows, then its products taken away from tile row i of what follows.
static void reduce_row(double *a, int64_t n, int64_t at, int64_t b, int64_t i)
{
	int64_t m = least(n - i, TILE), rest = n - i;
	blas_enter();
	cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)rest, (int)b, -1.0, a + at * n + i, (int)n, a + at * n + i, (int)n,
	    1.0, a + i * n + i, (int)n);
	blas_leave();
}

bool linalg_cholesky(double *a, int64_t n)
{
	for (int64_t at = 0; at < n; at += TILE) {
		int64_t b = least(n - at, TILE), next = at + b;
		if (!factor_block(a + at * n + at, n, b))
			return false;
		blas_enter();
		for (int64_t j = next; j < n; j += TILE)
			cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)b, (int)least(n - j, TILE), 1.0,
			    a + at * n + at, (int)n, a + at * n + j, (int)n);
		blas_leave();
		for (int64_t i = next; i < n; i += TILE)
			reduce_row(a, n, at, b, i);
	}
	return true;
}

void linalg_solve(const double *r, int64_t n, double *b, int64_t m)
{
	enum { COLUMNS = 32 };
	blas_enter();
	for (int64_t j = 0; j < m; j += COLUMNS)
		for (int back = 0; back < 2; back++)
			cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, back ? CblasNoTrans : CblasTrans, CblasNonUnit, (int)n,
			    (int)least(m - j, COLUMNS), 1.0, r, (int)n, b + j, (int)m);
	blas_leave();
}

void linalg_product(double *y, const double *x, const double *a, int64_t m, int64_t n)
{
	blas_enter();
	for (int64_t i = 0; i < m; i += TILE / 4)
		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)least(m - i, TILE / 4), (int)n, (int)n, 1.0, x + i * n, (int)n, a,
		    (int)n, 0.0, y + i * n, (int)n);
	blas_leave();
}
