#include "winograd.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUB(a, b) _mm256_sub_ps(a, b)

// Three taps as four: (a, (a + b + c) / 2, (a - b + c) / 2, c).
INLINE void spread(__m256 to[4], __m256 a, __m256 b, __m256 c)
{
	const __m256 half = _mm256_set1_ps(0.5f);
	__m256 ends = _mm256_mul_ps(half, ADD(a, c)), middle = _mm256_mul_ps(half, b);
	to[0] = a;
	to[1] = ADD(ends, middle);
	to[2] = SUB(ends, middle);
	to[3] = c;
}

void winograd_weights_avx2(float *to, int64_t to_step, const float *from, int64_t from_step, int lanes)
{
	float taps[9][WINOGRAD_LANES] = {{0}};
	__m256 column[3][4], row[4];
	for (int i = 0; i < lanes; i++)
		for (int tap = 0; tap < 9; tap++)
			taps[tap][i] = from[i * from_step + tap];
	for (int x = 0; x < 3; x++)
		spread(column[x], LOAD(taps[x]), LOAD(taps[3 + x]), LOAD(taps[6 + x]));
	for (int y = 0; y < 4; y++) {
		spread(row, column[0][y], column[1][y], column[2][y]);
		for (int x = 0; x < 4; x++)
			STORE(to + (y * 4 + x) * to_step, row[x]);
	}
}

// A column of a tile, transformed along its rows: (d0 - d2, d1 + d2, d2 - d1, d1 - d3).
INLINE void column_of(__m256 to[4], const float *from, int64_t row)
{
	__m256 d0 = LOAD(from), d1 = LOAD(from + row), d2 = LOAD(from + 2 * row), d3 = LOAD(from + 3 * row);
	to[0] = SUB(d0, d2);
	to[1] = ADD(d1, d2);
	to[2] = SUB(d2, d1);
	to[3] = SUB(d1, d3);
}

void winograd_input_avx2(float *to, int64_t to_step, const float *from, int64_t row, int64_t tiles)
{
	__m256 a[4], b[4], c[4], d[4]; // a tile's columns; the last two are the first two of the next tile
	column_of(a, from, row);
	column_of(b, from + WINOGRAD_LANES, row);
	for (; tiles > 0; tiles--, to += WINOGRAD_LANES) {
		from += 2 * WINOGRAD_LANES;
		column_of(c, from, row);
		column_of(d, from + WINOGRAD_LANES, row);
		for (int y = 0; y < 4; y++) {
			float *at = to + 4 * y * to_step;
			STORE(at, SUB(a[y], c[y]));
			STORE(at + to_step, ADD(b[y], c[y]));
			STORE(at + 2 * to_step, SUB(c[y], b[y]));
			STORE(at + 3 * to_step, SUB(b[y], d[y]));
			a[y] = c[y];
			b[y] = d[y];
		}
	}
}

// Called with constants for `rows` (tiles) and `width`, so that the sums are registers.
INLINE void product(float *m, const float *v, int64_t v_step, const struct winograd_kernels *kernels, int64_t blocks, const int rows,
    const int width)
{
	const int step = WINOGRAD_LANES * WINOGRAD_LANES * width;
	const float *u = kernels->now, *next = kernels->next;
	__m256 sum[12], w[WINOGRAD_WIDEST];
#pragma GCC unroll 12
	for (int i = 0; i < rows * width; i++)
		sum[i] = _mm256_setzero_ps();
	for (; blocks > 0; blocks--, v += v_step, u += step, next += step) {
#pragma GCC unroll 8
		for (int k = 0; k < WINOGRAD_LANES; k++) {
#pragma GCC unroll 3
			for (int j = 0; j < width; j++)
				w[j] = LOAD(u + (k * width + j) * WINOGRAD_LANES);
			_mm_prefetch((const char *)(next + k * width * WINOGRAD_LANES), _MM_HINT_T1);
#pragma GCC unroll 12
			for (int r = 0; r < rows; r++) {
				__m256 x = _mm256_broadcast_ss(v + r * WINOGRAD_LANES + k);
#pragma GCC unroll 3
				for (int j = 0; j < width; j++)
					sum[r * width + j] = _mm256_fmadd_ps(x, w[j], sum[r * width + j]);
			}
		}
	}
#pragma GCC unroll 12
	for (int i = 0; i < rows * width; i++)
		STORE(m + i * WINOGRAD_LANES, sum[i]);
}

typedef void product_fn(float *m, const float *v, int64_t v_step, const struct winograd_kernels *kernels, int64_t blocks);
#define PRODUCT(rows, width)                                                                                           \
	static void product_##rows##x##width(                                                                          \
	    float *m, const float *v, int64_t v_step, const struct winograd_kernels *kernels, int64_t blocks)          \
	{                                                                                                              \
		product(m, v, v_step, kernels, blocks, rows, width);                                                   \
	}
#define EACH_PRODUCT(of)                                                                                               \
	of(1, 1) of(2, 1) of(3, 1) of(4, 1) of(5, 1) of(6, 1) of(7, 1) of(8, 1) of(9, 1) of(10, 1) of(11, 1) of(12, 1) \
	of(1, 2) of(2, 2) of(3, 2) of(4, 2) of(5, 2) of(6, 2) of(1, 3) of(2, 3) of(3, 3) of(4, 3)
EACH_PRODUCT(PRODUCT)

// Tiles go in groups as equal as may be: few sums at once would wait for each other.
void winograd_product_avx2(float *m, const float *v, int64_t v_step, const struct winograd_kernels *kernels, int64_t blocks,
    int64_t tiles, int width)
{
#define ROW(rows, width) [width - 1][rows - 1] = product_##rows##x##width,
	static product_fn *const by_size[WINOGRAD_WIDEST][12] = {EACH_PRODUCT(ROW)};
	int64_t groups = (tiles * width + 11) / 12, done = 0;
	for (int64_t i = 1; i <= groups; i++) {
		int64_t rows = tiles * i / groups - done;
		by_size[width - 1][rows - 1](m, v, v_step, kernels, blocks);
		m += rows * width * WINOGRAD_LANES;
		v += rows * WINOGRAD_LANES;
		done += rows;
	}
}

INLINE __m256 finish(__m256 v, const struct winograd_output *o, enum add_kind add, int row, int64_t pixel)
{
	if (add == ADD_BEFORE)
		v = ADD(v, LOAD(o->residual[row] + pixel * WINOGRAD_LANES));
	v = _mm256_max_ps(_mm256_set1_ps(o->low), v); // NaN stays
	v = _mm256_min_ps(_mm256_set1_ps(o->high), v);
	if (add == ADD_AFTER)
		v = ADD(v, LOAD(o->residual[row] + pixel * WINOGRAD_LANES));
	return v;
}

// Called with a constant for `add`.
INLINE void outputs(const struct winograd_output *o, const enum add_kind add)
{
	const __m256 bias = LOAD(o->bias);
	const float *m = o->m;
	for (int64_t x = 0; x < o->pixels; x += 2, m += o->m_tile) {
		__m256 top[4], low[4];
		for (int i = 0; i < 4; i++) {
			__m256 m0 = LOAD(m + i * o->m_step), m1 = LOAD(m + (4 + i) * o->m_step);
			__m256 m2 = LOAD(m + (8 + i) * o->m_step), m3 = LOAD(m + (12 + i) * o->m_step);
			top[i] = ADD(ADD(m0, m1), m2);
			low[i] = SUB(SUB(m1, m2), m3);
		}
		const __m256 *of[2] = {top, low};
		for (int row = 0; row < 2 && o->y[row]; row++) {
			const __m256 *s = of[row];
			float *y = o->y[row] + x * WINOGRAD_LANES;
			STORE(y, finish(ADD(ADD(ADD(s[0], s[1]), s[2]), bias), o, add, row, x));
			if (x + 1 < o->pixels)
				STORE(y + WINOGRAD_LANES, finish(ADD(SUB(SUB(s[1], s[2]), s[3]), bias), o, add, row, x + 1));
		}
	}
}

void winograd_output_avx2(const struct winograd_output *o)
{
	if (o->add == ADD_NONE)
		outputs(o, ADD_NONE);
	else if (o->add == ADD_BEFORE)
		outputs(o, ADD_BEFORE);
	else
		outputs(o, ADD_AFTER);
}
#endif
