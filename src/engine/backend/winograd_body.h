// The loops of one processor level, which includes its panel_LEVEL.h before.
#include "winograd.h"

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

static void product(float *m, const struct panel_product *p)
{
	int64_t groups = group_count(p), tile = 0;
	for (int64_t i = 1; i <= groups; i++) {
		int64_t end = p->tiles * i / groups;
		group(m + tile * p->width * VLANES, p, tile, end - tile);
		tile = end;
	}
}

VINLINE void rows(const void *arg, const enum act_kind act, const enum add_kind add)
{
	const struct winograd_output *o = arg;
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
			const float *residual = add == ADD_NONE ? y : o->residual[row] + x * VLANES;
			vstore(y, finish(s[0] + (s[1] + s[2]), &o->finish, act, add, residual));
			if (x + 1 < o->pixels)
				vstore(y + VLANES, finish(s[1] - s[2] - s[3], &o->finish, act, add, residual + VLANES));
		}
	}
}

static void output(const struct winograd_output *o)
{
	with_finish(rows, o, &o->finish);
}

const struct winograd_loops WINOGRAD_LOOPS = {VLANES, LEVEL, transform_weights, transform_input, product, output};
