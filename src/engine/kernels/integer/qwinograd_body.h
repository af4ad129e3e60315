// The loops of qwinograd.h, compiled once for every processor level; the including file makes a table of them.
// It may define QWG_BYTES, the bytes of a vector.
#include "../../tensor/vector.h"
#include "qwinograd.h"

// Unsigned: sums wrap.
#ifndef QWG_BYTES
#define QWG_BYTES 32
#endif
typedef uint16_t vinputs __attribute__((vector_size(QWG_BYTES)));
typedef uint32_t vwords __attribute__((vector_size(QWG_BYTES)));
typedef int32_t vsums __attribute__((vector_size(QWG_BYTES)));
typedef uint16_t vhalves __attribute__((vector_size(32))); // a tap of all lanes
enum { SUMS = sizeof(vsums) / sizeof(int32_t) };

// v = B d
VINLINE void spread_line(vinputs v[QWG_IN], const vinputs d[QWG_IN])
{
	vinputs even = d[4] - (d[2] << 2), odd = d[3] - (d[1] << 2), near = d[4] - d[2], far = (d[3] - d[1]) << 1;
	v[0] = (d[0] << 2) + even - d[2];
	v[1] = even + odd;
	v[2] = even - odd;
	v[3] = near + far;
	v[4] = near - far;
	v[5] = d[5] - d[3] - (far << 1);
}

static void spread(int16_t *v, int64_t step, const int16_t *d, int64_t row, int64_t pixel)
{
	vinputs half[QWG_IN][QWG_IN], line[QWG_IN];

#pragma GCC unroll 6
	for (int j = 0; j < QWG_IN; j++) {
		vinputs column[QWG_IN];
#pragma GCC unroll 6
		for (int i = 0; i < QWG_IN; i++)
			memcpy(&column[i], d + i * row + j * pixel, sizeof column[i]);
		spread_line(line, column);
#pragma GCC unroll 6
		for (int i = 0; i < QWG_IN; i++)
			half[i][j] = line[i];
	}
	for (int i = 0; i < QWG_IN; i++) {
		spread_line(line, half[i]);
#pragma GCC unroll 6
		for (int j = 0; j < QWG_IN; j++, v += step)
			memcpy(v, &line[j], sizeof line[j]);
	}
}

// y = A m
VINLINE void collect_line(vwords y[QWG_OUT], const vwords m[QWG_IN])
{
	vwords sum = m[1] + m[2], difference = m[1] - m[2], far = m[3] + m[4], twice = (m[3] - m[4]) << 1;
	y[0] = m[0] + sum + far;
	y[1] = difference + twice;
	y[2] = sum + (far << 2);
	y[3] = difference + ((twice + m[5]) << 2);
}

// The columns of a square's products, of a vector of sums at m.
VINLINE void collect_columns(vwords half[QWG_OUT][QWG_IN], const int32_t *m, int64_t step)
{
#pragma GCC unroll 6
	for (int j = 0; j < QWG_IN; j++) {
		vwords column[QWG_IN], line[QWG_OUT];
#pragma GCC unroll 6
		for (int i = 0; i < QWG_IN; i++)
			memcpy(&column[i], m + (i * QWG_IN + j) * step, sizeof column[i]);
		collect_line(line, column);
#pragma GCC unroll 4
		for (int i = 0; i < QWG_OUT; i++)
			half[i][j] = line[i];
	}
}

// And a row of that: the outputs.
VINLINE void collect_row(vsums y[QWG_OUT], const vwords half[QWG_IN], const int32_t *init)
{
	const uint32_t ninth = 0x38e38e39; // 9 * ninth is 1
	vwords line[QWG_OUT];
	vsums first;
	memcpy(&first, init, sizeof first);
	collect_line(line, half);
#pragma GCC unroll 4
	for (int j = 0; j < QWG_OUT; j++)
		y[j] = ((vsums)(line[j] * ninth) >> 6) + first;
}

static void collect(int32_t *acc, const int32_t *m, int64_t step, const int32_t *init)
{
	vwords half[QWG_OUT][QWG_IN];
	vsums y[QWG_OUT];
	for (int l = 0; l < QLANES; l += SUMS) {
		collect_columns(half, m + l, step);
		for (int i = 0; i < QWG_OUT; i++) {
			collect_row(y, half[i], init + l);
#pragma GCC unroll 4
			for (int j = 0; j < QWG_OUT; j++)
				memcpy(acc + (i * QWG_OUT + j) * QLANES + l, &y[j], sizeof y[j]);
		}
	}
}

// u = G g
VINLINE void pack_line(vhalves u[QWG_IN], const vhalves g[3])
{
	vhalves outer = (g[0] + g[2]) << 2, inner = g[1] << 2, far = g[0] + (g[2] << 2);
	u[0] = g[0] * 6;
	u[1] = -outer - inner;
	u[2] = inner - outer;
	u[3] = far + (g[1] << 1);
	u[4] = far - (g[1] << 1);
	u[5] = g[2] * 6;
}

// Of one channel.
VINLINE void pack_some(vhalves u[QWG_PLACES], int16_t (*taps)[QLANES])
{
	vhalves half[QWG_IN][3], line[QWG_IN];
	for (int j = 0; j < 3; j++) {
		vhalves g[3];
		for (int i = 0; i < 3; i++)
			memcpy(&g[i], taps[i * 3 + j], sizeof g[i]);
		pack_line(line, g);
		for (int i = 0; i < QWG_IN; i++)
			half[i][j] = line[i];
	}
	for (int i = 0; i < QWG_IN; i++)
		pack_line(u + i * QWG_IN, half[i]);
}

static void pack(int16_t *w, int64_t step, int16_t (*taps)[QWG_TAPS][QLANES])
{
	vhalves a[QWG_PLACES], b[QWG_PLACES];
	pack_some(a, taps[0]);
	pack_some(b, taps[1]);
	for (int p = 0; p < QWG_PLACES; p++, w += step) {
		vhalves pairs[2] = {
			__builtin_shufflevector(a[p], b[p], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
			__builtin_shufflevector(a[p], b[p], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
		};
		memcpy(w, pairs, sizeof pairs);
	}
}

#define QWG_COMMON .channels = sizeof(vinputs) / sizeof(int16_t), .spread = spread, .collect = collect, .pack = pack
