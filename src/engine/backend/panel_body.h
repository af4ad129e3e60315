// The sums of panels at one processor level, whose panel_LEVEL.h defines VBYTES and, by its registers,
// in which sizes sums are held. All levels give the same bits.
#include "panel.h"

#include "../kernels/elementwise/swish_vector.h"

// Blocks of channels that are summed up before they are added to those before: long sums lose precision.
enum { SECTION = 128 / VLANES };

// One section of a sum for a few tiles. Called with constants for `rows` (tiles) and `width`,
// so that the sums are registers.
VINLINE void section(float *m, const struct panel_product *p, int64_t tile, int64_t block, const int rows, const int width)
{
	const int step = VLANES * VLANES * width;
	const float *v = p->v + block * p->v_step + tile * VLANES, *u = p->now + block * step, *next = p->next + block * step;
	int64_t end = block + SECTION < p->blocks ? block + SECTION : p->blocks;
	vfloat sum[MOST_SUMS], w[PANEL_WIDEST];
#pragma GCC unroll 28
	for (int i = 0; i < rows * width; i++)
		sum[i] = vall(0.0f);
	for (int64_t b = block; b < end; b++, v += p->v_step, u += step, next += step) {
#pragma GCC unroll 2
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

typedef void section_fn(float *m, const struct panel_product *p, int64_t tile, int64_t block);
#define SECTION_OF(rows, width)                                                                                        \
	static void section_##rows##x##width(float *m, const struct panel_product *p, int64_t tile, int64_t block)  \
	{                                                                                                              \
		section(m, p, tile, block, rows, width);                                                               \
	}
EACH_SIZE(SECTION_OF)

// Tiles go in groups as equal as may be: few sums at once would wait for each other.
VINLINE int64_t group_count(const struct panel_product *p)
{
	static const int most[] = MOST_BY_WIDTH;
	return (p->tiles + most[p->width - 1] - 1) / most[p->width - 1];
}

// The sums of a group of tiles.
static void group(float *m, const struct panel_product *p, int64_t tile, int64_t tiles)
{
#define ROW(rows, width) [width - 1][rows - 1] = section_##rows##x##width,
	static section_fn *const by_size[PANEL_WIDEST][MOST_TILES] = {EACH_SIZE(ROW)};
	for (int64_t block = 0; block < p->blocks; block += SECTION)
		by_size[p->width - 1][tiles - 1](m, p, tile, block);
}

// Called with constants for `act` and `add`.
VINLINE vfloat finish(vfloat v, const struct panel_finish *f, const enum act_kind act, const enum add_kind add, const float *residual)
{
	if (add == ADD_BEFORE)
		v = v + vload(residual);
	if (act == ACT_SWISH)
		v = vswish(v);
	else if (act == ACT_SIGMOID)
		v = vsigmoid(v);
	else
		v = vmin(vall(f->high), vmax(vall(f->low), v)); // NaN stays
	if (add == ADD_AFTER)
		v = v + vload(residual);
	return v;
}

// A loop that finishes outputs, called with the constants that an epilogue stands for: there is one loop for each pair.
typedef void finish_loop(const void *arg, enum act_kind act, enum add_kind add);

VINLINE void with_act(finish_loop *loop, const void *arg, enum act_kind act, enum add_kind add)
{
	if (add == ADD_NONE)
		loop(arg, act, ADD_NONE);
	else if (add == ADD_BEFORE)
		loop(arg, act, ADD_BEFORE);
	else
		loop(arg, act, ADD_AFTER);
}

VINLINE void with_finish(finish_loop *loop, const void *arg, const struct panel_finish *f)
{
	if (f->act == ACT_SWISH)
		with_act(loop, arg, ACT_SWISH, f->add);
	else if (f->act == ACT_SIGMOID)
		with_act(loop, arg, ACT_SIGMOID, f->add);
	else
		with_act(loop, arg, ACT_CLIP, f->add);
}
