// The loops of interp.h, compiled once for every processor level: the including file defines INTERP_TABLE.
#include "interp.h"

// y = the taps of output row `out`, over all columns.
static void filter_row(const struct interp *r, const float *x, float *y, int64_t out)
{
	int64_t taps = r->rows.taps, n = r->columns.in * r->lanes;
	const int64_t *index = r->rows.index + out * taps;
	const float *weight = r->rows.weight + out * taps;
	const float *first = x + index[0] * n;
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = weight[0] * first[i];
	for (int64_t k = 1; k < taps; k++) {
		const float *from = x + index[k] * n, w = weight[k];
		if (w == 0)
			continue;
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] += w * from[i];
	}
}

// One pixel of a block; with `lanes` constant its sum stays in registers.
static inline void filter_pixel(float *y, const float *x, const int64_t *index, const float *weight, int64_t taps, const int64_t lanes)
{
	float sum[16];
	for (int64_t l = 0; l < lanes; l++)
		sum[l] = weight[0] * x[index[0] * lanes + l];
	for (int64_t k = 1; k < taps; k++)
		for (int64_t l = 0; weight[k] != 0 && l < lanes; l++)
			sum[l] += weight[k] * x[index[k] * lanes + l];
	for (int64_t l = 0; l < lanes; l++)
		y[l] = sum[l];
}

static inline void filter_blocks(const struct interp_axis *a, const float *x, float *y, const int64_t lanes)
{
	for (int64_t o = 0; o < a->out; o++)
		filter_pixel(y + o * lanes, x, a->index + o * a->taps, a->weight + o * a->taps, a->taps, lanes);
}

// Pixels of one float: there a branch for a weight of 0 would cost more than the product that it saves.
static inline void filter_floats(const struct interp_axis *a, const float *x, float *y)
{
	for (int64_t o = 0; o < a->out; o++) {
		const int64_t *index = a->index + o * a->taps;
		const float *weight = a->weight + o * a->taps;
		float sum = weight[0] * x[index[0]];
		_Pragma("GCC unroll 4") for (int64_t k = 1; k < a->taps; k++)
		{
			float more = sum + weight[k] * x[index[k]];
			sum = weight[k] != 0 ? more : sum;
		}
		y[o] = sum;
	}
}

static void filter_column(const struct interp *r, const float *x, float *y)
{
	const struct interp_axis *a = &r->columns;
	if (r->lanes == 16)
		filter_blocks(a, x, y, 16);
	else if (r->lanes == 8)
		filter_blocks(a, x, y, 8);
	else
		filter_floats(a, x, y);
}

// Two rows of pixels into one, each of whose pixels is four products; `upper` and `lower` are the weights of the rows.
static inline void mix_rows(
    const struct interp_axis *a, const float *row, const float *below, float upper, float lower, float *y, const int64_t lanes)
{
	for (int64_t o = 0; o < a->out; o++) {
		const int64_t left = a->index[2 * o] * lanes, right = a->index[2 * o + 1] * lanes;
		const float w0 = a->weight[2 * o], w1 = a->weight[2 * o + 1];
		const float w00 = w0 * upper, w01 = w1 * upper, w10 = w0 * lower, w11 = w1 * lower;
		_Pragma("omp simd") for (int64_t l = 0; l < lanes; l++)
			y[o * lanes + l] = w00 * row[left + l] + w01 * row[right + l] + w10 * below[left + l] + w11 * below[right + l];
	}
}

static void bilinear(const struct interp *r, const float *x, float *y, int64_t out)
{
	const int64_t *index = r->rows.index + 2 * out, n = r->columns.in * r->lanes;
	const float *row = x + index[0] * n, *below = x + index[1] * n, *weight = r->rows.weight + 2 * out;
	if (r->lanes == 16)
		mix_rows(&r->columns, row, below, weight[0], weight[1], y, 16);
	else if (r->lanes == 8)
		mix_rows(&r->columns, row, below, weight[0], weight[1], y, 8);
	else
		mix_rows(&r->columns, row, below, weight[0], weight[1], y, 1);
}

const struct interp_table INTERP_TABLE = {filter_row, filter_column, bilinear};
