// Dense linear algebra for fitting weights, on the calling thread. Matrices are row-major.
#ifndef QTUI_ENGINE_LINALG_H
#define QTUI_ENGINE_LINALG_H

#include <stdbool.h>
#include <stdint.h>

// y[rows][m] = x[rows][k] * w[m][k] transposed; *_row: elements from row to row.
struct linalg_rows {
	const float *x, *w;
	float *y;
	int64_t rows, k, m, x_row, w_row, y_row;
};
void linalg_apply(const struct linalg_rows *t);
// c[m][n] += a[rows][m] transposed * b[rows][n], summed in double over pieces of rows. All are dense but for the
// rows' length.
struct linalg_outer {
	const float *a, *b;
	double *c;
	int64_t rows, m, n, a_row, b_row;
};
void linalg_outer(const struct linalg_outer *t);
// The Cholesky factor R of a symmetric matrix, R transposed * R = a, in the upper triangle of a[n][n]; the lower one
// is left as it is. False where the matrix is not positive definite.
bool linalg_cholesky(double *a, int64_t n);
// b[n][m] becomes the solution of R transposed * R * x = b.
void linalg_solve(const double *r, int64_t n, double *b, int64_t m);
// y[m][n] = x[m][n] * a[n][n].
void linalg_product(double *y, const double *x, const double *a, int64_t m, int64_t n);

#endif
