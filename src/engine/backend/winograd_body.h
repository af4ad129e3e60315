// The loops of one processor level, which defines VBYTES and, by its registers, in which sizes sums are held; a block of channels is a
// vector. All levels give the same bits.
#include "winograd.h"

#include "../kernels/swish_vector.h"

// Blocks of channels that are summed up before they are added to those before: long sums lose precision.
enum { SECTION = 128 / VLANES };

// Three taps as four: (a, (a + b + c) / 2, (a - b + c) / 2, c).
VINLINE void spread(vfloat to[4], vfloat a, vfloat b, vfloat c)
{
	vfloat ends = 0.5f * (a + c), middle = 0.5f * b;
	to[0] = a;
	to[1] = ends + middle;
	to[2] = ends - middle;
	to[3] = c;
}

static void transform_weights(float *to, int64_t to_step, const float *from, int64_t from_step, int lanes)
{
	float taps[9][VLANES] = {{0}};
	vfloat column[3][4], row[4];
	for (int i = 0; i < lanes; i++)
		for (int tap = 0; tap < 9; tap++)
			taps[tap][i] = from[i * from_step + tap];
	for (int x = 0; x < 3; x++)
		spread(column[x], vload(taps[x]), vload(taps[3 + x]), vload(taps[6 + x]));
	for (int y = 0; y < 4; y++) {
		spread(row, column[0][y], column[1][y], column[2][y]);
		for (int x = 0; x < 4; x++)
			vstore(to + (y * 4 + x) * to_step, row[x]);
	}
}

// A column of a tile, transformed along its rows: (d0 - d2, d1 + d2, d2 - d1, d1 - d3).
VINLINE void column_of(vfloat to[4], const struct winograd_rows *from, int64_t x)
{
	if (x < 0 || x >= from->pixels) {
		to[0] = to[1] = to[2] = to[3] = vall(0.0f);
		return;
	}
	int64_t at = x * VLANES;
	vfloat d0 = vload(from->row[0] + at), d1 = vload(from->row[1] + at), d2 = vload(from->row[2] + at), d3 = vload(from->row[3] + at);
	to[0] = d0 - d2;
	to[1] = d1 + d2;
	to[2] = d2 - d1;
	to[3] = d1 - d3;
}

static void transform_input(float *to, int64_t to_step, const struct winograd_rows *from, int64_t x, int64_t tiles)
{
	vfloat a[4], b[4], c[4], d[4]; // a tile's columns; the last two are the first two of the next tile
	column_of(a, from, x);
	column_of(b, from, x + 1);
	for (; tiles > 0; tiles--, to += VLANES) {
		x += 2;
		column_of(c, from, x);
		column_of(d, from, x + 1);
		for (int y = 0; y < 4; y++) {
			float *at = to + 4 * y * to_step;
			vstore(at, a[y] - c[y]);
			vstore(at + to_step, b[y] + c[y]);
			vstore(at + 2 * to_step, c[y] - b[y]);
			vstore(at + 3 * to_step, b[y] - d[y]);
			a[y] = c[y];
			b[y] = d[y];
		}
	}
}

// One section of a sum for a few tiles. Called with constants for `rows` (tiles) and `width`, so that the sums are registers.
VINLINE void section(float *m, const struct winograd_product *p, int64_t tile, int64_t block, const int rows, const int width)
{
	const int step = VLANES * VLANES * width;
	const float *v = p->v + block * p->v_step + tile * VLANES, *u = p->now + block * step, *next = p->next + block * step;
	int64_t end = block + SECTION < p->blocks ? block + SECTION : p->blocks;
	vfloat sum[MOST_SUMS], w[WINOGRAD_WIDEST];
#pragma GCC unroll 28
	for (int i = 0; i < rows * width; i++)
		sum[i] = vall(0.0f);
	for (int64_t b = block; b < end; b++, v += p->v_step, u += step, next += step) {
#pragma GCC unroll 16
		for (int k = 0; k < VLANES; k++) {
#pragma GCC unroll 3
			for (int j = 0; j < width; j++)
				w[j] = vload(u + (k * width + j) * VLANES);
			for (int line = 0; line < width * VLANES; line += 16)
				__builtin_prefetch(next + k * width * VLANES + line, 0, 2);
#pragma GCC unroll 14
			for (int r = 0; r < rows; r++) {
				vfloat x = vall(v[r * VLANES + k]);
#pragma GCC unroll 3
				for (int j = 0; j < width; j++)
					sum[r * width + j] = vfma(x, w[j], sum[r * width + j]);
			}
		}
	}
#pragma GCC unroll 28
	for (int i = 0; i < rows * width; i++, m += VLANES)
		vstore(m, block > 0 ? vload(m) + sum[i] : sum[i]);
}

typedef void section_fn(float *m, const struct winograd_product *p, int64_t tile, int64_t block);
#define SECTION_OF(rows, width)                                                                                        \
	static void section_##rows##x##width(float *m, const struct winograd_product *p, int64_t tile, int64_t block)  \
	{                                                                                                              \
		section(m, p, tile, block, rows, width);                                                               \
	}
EACH_SIZE(SECTION_OF)

// Tiles go in groups as equal as may be: few sums at once would wait for each other.
static void product(float *m, const struct winograd_product *p)
{
#define ROW(rows, width) [width - 1][rows - 1] = section_##rows##x##width,
	static section_fn *const by_size[WINOGRAD_WIDEST][MOST_TILES] = {EACH_SIZE(ROW)};
	static const int most[] = MOST_BY_WIDTH;
	int64_t groups = (p->tiles + most[p->width - 1] - 1) / most[p->width - 1], tile = 0;
	for (int64_t i = 1; i <= groups; i++) {
		int64_t end = p->tiles * i / groups;
		for (int64_t block = 0; block < p->blocks; block += SECTION)
			by_size[p->width - 1][end - tile - 1](m + tile * p->width * VLANES, p, tile, block);
		tile = end;
	}
}

VINLINE vfloat finish(vfloat v, const struct winograd_output *o, enum act_kind act, enum add_kind add, int row, int64_t pixel)
{
	if (add == ADD_BEFORE)
		v = v + vload(o->residual[row] + pixel * VLANES);
	if (act == ACT_SWISH)
		v = vswish(v);
	else if (act == ACT_SIGMOID)
		v = vsigmoid(v);
	else
		v = vmin(vall(o->high), vmax(vall(o->low), v)); // NaN stays
	if (add == ADD_AFTER)
		v = v + vload(o->residual[row] + pixel * VLANES);
	return v;
}

// Called with constants for `act` and `add`.
VINLINE void rows(const struct winograd_output *o, const enum act_kind act, const enum add_kind add)
{
	const float *m = o->m;
	for (int64_t x = 0; x < o->pixels; x += 2, m += o->m_tile) {
		vfloat top[4], low[4];
		for (int i = 0; i < 4; i++) {
			vfloat m0 = vload(m + i * o->m_step), m1 = vload(m + (4 + i) * o->m_step);
			vfloat m2 = vload(m + (8 + i) * o->m_step), m3 = vload(m + (12 + i) * o->m_step);
			if (i == 1) // the sum that all four outputs take as it is
				m1 = m1 + vload(o->bias);
			top[i] = m0 + (m1 + m2);
			low[i] = m1 - m2 - m3;
		}
		const vfloat *of[2] = {top, low};
		for (int row = 0; row < 2 && o->y[row]; row++) {
			const vfloat *s = of[row];
			float *y = o->y[row] + x * VLANES;
			vstore(y, finish(s[0] + (s[1] + s[2]), o, act, add, row, x));
			if (x + 1 < o->pixels)
				vstore(y + VLANES, finish(s[1] - s[2] - s[3], o, act, add, row, x + 1));
		}
	}
}

VINLINE void rows_added(const struct winograd_output *o, const enum act_kind act)
{
	if (o->add == ADD_NONE)
		rows(o, act, ADD_NONE);
	else if (o->add == ADD_BEFORE)
		rows(o, act, ADD_BEFORE);
	else
		rows(o, act, ADD_AFTER);
}

static void output(const struct winograd_output *o)
{
	if (o->act == ACT_SWISH)
		rows_added(o, ACT_SWISH);
	else if (o->act == ACT_SIGMOID)
		rows_added(o, ACT_SIGMOID);
	else
		rows_added(o, ACT_CLIP);
}

const struct winograd_loops WINOGRAD_LOOPS = {VLANES, LEVEL, transform_weights, transform_input, product, output};
