#include "similarity.h"

#include <math.h>
#include <stdlib.h>
#include "qtui/base/mem.h"

enum { WINDOW = 11 };
static const double PEAK = 255, SIGMA = 1.5, K1 = .01, K2 = .03, SAME_DB = 100;

double psnr_of(double mse)
{
	return mse > 0 ? fmin(10 * log10(PEAK * PEAK / mse), SAME_DB) : SAME_DB;
}

// What is averaged in a window.
enum { MEAN_A, MEAN_B, MEAN_AA, MEAN_BB, MEAN_AB, MEANS };

static void make_window(float weight[WINDOW])
{
	double sum = 0, w[WINDOW];
	for (int i = 0; i < WINDOW; i++)
		sum += w[i] = exp(-pow(i - WINDOW / 2, 2) / (2 * SIGMA * SIGMA));
	for (int i = 0; i < WINDOW; i++)
		weight[i] = (float)(w[i] / sum);
}

// Down the columns, from row y on. Levels are taken from the middle of their range: squares of floats lose less then.
static void add_rows(float *restrict mean[MEANS], const float *restrict a, const float *restrict b, int w, int y, const float weight[WINDOW])
{
	const float middle = (float)(PEAK / 2);
	for (int m = 0; m < MEANS; m++)
		for (int x = 0; x < w; x++)
			mean[m][x] = 0;
	for (int i = 0; i < WINDOW; i++) {
		const float *p = a + (size_t)(y + i) * (size_t)w, *q = b + (size_t)(y + i) * (size_t)w, k = weight[i];
		for (int x = 0; x < w; x++) {
			float u = p[x] - middle, v = q[x] - middle;
			mean[MEAN_A][x] += k * u;
			mean[MEAN_B][x] += k * v;
			mean[MEAN_AA][x] += k * u * u;
			mean[MEAN_BB][x] += k * v * v;
			mean[MEAN_AB][x] += k * u * v;
		}
	}
}

static void add_columns(float *restrict to, const float *restrict from, int n, const float weight[WINDOW])
{
	for (int x = 0; x < n; x++) {
		float sum = 0;
		for (int i = 0; i < WINDOW; i++)
			sum += weight[i] * from[x + i];
		to[x] = sum;
	}
}

static double likeness(double ma, double mb, double aa, double bb, double ab)
{
	const double c1 = K1 * PEAK * K1 * PEAK, c2 = K2 * PEAK * K2 * PEAK, a = ma + PEAK / 2, b = mb + PEAK / 2;
	double va = fmax(aa - ma * ma, 0), vb = fmax(bb - mb * mb, 0), cov = ab - ma * mb;
	return (2 * a * b + c1) * (2 * cov + c2) / ((a * a + b * b + c1) * (va + vb + c2));
}

double ssim_of(const float *a, const float *b, int w, int h)
{
	int n = w - WINDOW + 1, rows = h - WINDOW + 1;
	float weight[WINDOW], *down[MEANS], *mean[MEANS];
	double sum = 0;
	if (n < 1 || rows < 1)
		return NAN;
	make_window(weight);
	for (int m = 0; m < MEANS; m++) {
		down[m] = xcalloc((size_t)w, sizeof *down[m]);
		mean[m] = xcalloc((size_t)n, sizeof *mean[m]);
	}
	for (int y = 0; y < rows; y++) {
		add_rows(down, a, b, w, y, weight);
		for (int m = 0; m < MEANS; m++)
			add_columns(mean[m], down[m], n, weight);
		for (int x = 0; x < n; x++)
			sum += likeness((double)mean[MEAN_A][x], (double)mean[MEAN_B][x], (double)mean[MEAN_AA][x], (double)mean[MEAN_BB][x],
			    (double)mean[MEAN_AB][x]);
	}
	for (int m = 0; m < MEANS; m++) {
		free(down[m]);
		free(mean[m]);
	}
	return sum / ((double)n * rows);
}
