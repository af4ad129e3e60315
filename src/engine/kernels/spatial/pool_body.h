// The loops of pooling, compiled once for every processor level: the including file defines POOL_TABLE.
#include "../../tensor/vector.h"
#include "pool.h"

#define MAX_OF(a, b)  ((a) < (b) ? (b) : (a))
#define MAX_NAN(a, b) ((((a) < (b)) | ((b) != (b))) ? (b) : (a))
#define SUM_OF(a, b)  ((a) + (b))

// Three loops: pixels side by side are one long array; blocks have a constant number of lanes; the rest is plain.
#define ROW_LOOP(name, type, f)                                                                                        \
	static void name##_lanes(type *y, const type *x, int64_t n, int64_t step, const int64_t lanes)                 \
	{                                                                                                              \
		for (int64_t i = 0; i < n; i++, y += lanes, x += step * lanes) {                                       \
			_Pragma("omp simd") for (int64_t l = 0; l < lanes; l++) y[l] = f(y[l], x[l]);                  \
		}                                                                                                      \
	}                                                                                                              \
	static void name(void *dst, const void *src, int64_t n, int64_t step, int64_t lanes)                           \
	{                                                                                                              \
		type *y = dst;                                                                                         \
		const type *x = src;                                                                                   \
		if (step == 1) {                                                                                       \
			_Pragma("omp simd") for (int64_t i = 0; i < n * lanes; i++) y[i] = f(y[i], x[i]);              \
		} else if (lanes == 8) {                                                                               \
			name##_lanes(y, x, n, step, 8);                                                                \
		} else if (lanes == 16) {                                                                              \
			name##_lanes(y, x, n, step, 16);                                                               \
		} else {                                                                                               \
			for (int64_t i = 0; i < n; i++)                                                                \
				y[i] = f(y[i], x[i * step]);                                                           \
		}                                                                                                      \
	}

ROW_LOOP(max_f32, float, MAX_OF)
ROW_LOOP(max_nan, float, MAX_NAN)
ROW_LOOP(max_i8, int8_t, MAX_OF)
ROW_LOOP(max_u8, uint8_t, MAX_OF)
ROW_LOOP(max_i16, int16_t, MAX_OF)
ROW_LOOP(sum_f32, float, SUM_OF)

// Sums of `taps` elements, of which the first is added to 0: what lies outside the image is 0, too, and changes none.
static void window(float *y, const float *x, const int64_t *tap, int64_t taps, const float *by, int64_t n)
{
	int64_t i = 0;
	for (; i + 32 <= n; i += 32) {
		vfloat a = vall(0), b = a, c = a, d = a;
		for (int64_t t = 0; t < taps; t++) {
			const float *from = x + tap[t] + i;
			a += vload(from);
			b += vload(from + 8);
			c += vload(from + 16);
			d += vload(from + 24);
		}
		vstore(y + i, by ? a / vload(by + i) : a);
		vstore(y + i + 8, by ? b / vload(by + i + 8) : b);
		vstore(y + i + 16, by ? c / vload(by + i + 16) : c);
		vstore(y + i + 24, by ? d / vload(by + i + 24) : d);
	}
	for (; i < n; i += 8) {
		vfloat a = vall(0);
		for (int64_t t = 0; t < taps; t++)
			a += vload(x + tap[t] + i);
		vstore(y + i, by ? a / vload(by + i) : a);
	}
}

static void divide_lanes(float *y, const float *sum, const float *columns, float rows, int64_t n, const int64_t lanes)
{
	for (int64_t i = 0; i < n; i++, y += lanes, sum += lanes) {
		float count = rows * columns[i], by = count > 0.0f ? count : 1.0f;
		_Pragma("omp simd") for (int64_t l = 0; l < lanes; l++) y[l] = sum[l] / by;
	}
}

static void divide(float *y, const float *sum, const float *columns, float rows, int64_t n, int64_t lanes)
{
	if (lanes == 8) {
		divide_lanes(y, sum, columns, rows, n, 8);
	} else if (lanes == 16) {
		divide_lanes(y, sum, columns, rows, n, 16);
	} else {
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)
		{
			float count = rows * columns[i];
			y[i] = sum[i] / (count > 0.0f ? count : 1.0f);
		}
	}
}

#define PARTS 64

// Element i goes to part i mod 64; the parts of a lane are then added up in rising order.
static void total(float *y, const float *x, int64_t n, int64_t lanes)
{
	float part[PARTS] = {0};
	int64_t i = 0, count = n * lanes;
	for (; i + PARTS <= count; i += PARTS) {
		_Pragma("omp simd") for (int p = 0; p < PARTS; p++) part[p] += x[i + p];
	}
	for (int p = 0; i + p < count; p++)
		part[p] += x[i + p];
	for (int64_t l = 0; l < lanes; l++) {
		y[l] = part[l];
		for (int64_t p = l + lanes; p < PARTS; p += lanes)
			y[l] += part[p];
	}
}

const struct pool_table POOL_TABLE = {
	.max = {[DT_F32] = max_f32, [DT_I8] = max_i8, [DT_U8] = max_u8, [DT_I16] = max_i16},
	.max_nan = max_nan,
	.sum = sum_f32,
	.window = window,
	.divide = divide,
	.total = total,
};
