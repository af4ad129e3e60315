// Masks of objects: sums of prototypes, as YOLACT and YOLO's segmentation networks have them.
#include <math.h>
#include <stdlib.h>
#include "decode.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

// One direction: pixels first..last-1 of the picture, and where each lies between the cells of the prototypes.
struct axis {
	int first, last;
	int low, high; // cells that are needed
	int *cell;     // [last - first] from `low` on; the next one, or the last itself, is its neighbour
	float *part;   // of the neighbour
};

static int clamp(double v, int low, int high)
{
	return v < low ? low : v > high ? high : (int)v;
}

// Of a picture of `size` pixels that lies in the input of `input` pixels at scale and pad; `cells` are the input's. What is
// beside the picture does not count: its edge goes on (Ultralytics cuts it off before it interpolates).
static struct axis axis_new(double from, double to, int size, double scale, double pad, int input, int cells)
{
	double unit = (double)cells / input;
	struct axis a = {.first = clamp(ceil((from - pad) / scale), 0, size), .last = clamp(ceil((to - pad) / scale), 0, size)};
	int n = a.last > a.first ? a.last - a.first : 0;
	int left = clamp(floor(pad * unit + .5), 0, cells - 1), right = clamp(floor((pad + size * scale) * unit + .5) - 1, left, cells - 1);
	a.cell = xcalloc((size_t)n + 1, sizeof *a.cell);
	a.part = xcalloc((size_t)n + 1, sizeof *a.part);
	for (int i = 0; i < n; i++) {
		double at = ((a.first + i + .5) * scale + pad) * unit - .5;
		at = at < left ? left : at > right ? right : at;
		a.cell[i] = (int)at;
		a.part[i] = (float)(at - a.cell[i]);
	}
	a.low = n ? a.cell[0] : 0;
	a.high = n ? a.cell[n - 1] + (a.cell[n - 1] < right) : -1;
	for (int i = 0; i < n; i++)
		a.cell[i] -= a.low;
	return a;
}

static void axis_done(struct axis *a)
{
	free(a->cell);
	free(a->part);
}

static int cells_of(const struct axis *a)
{
	return a->high - a->low + 1;
}

// The sum of the prototypes in the cells of both axes, [rows][columns].
static float *sum_prototypes(const struct bound *b, const struct head *h, const struct candidate *c, const struct axis *x, const struct axis *y)
{
	const struct field *map = &b->prototypes.map, *mask = &b->source[c->source].mask;
	int w = cells_of(x), rows = cells_of(y);
	float *sum = xcalloc((size_t)w * (size_t)rows + 1, sizeof *sum);
	for (int k = 0; k < map->channels; k++) {
		float weight = field_get(h, mask, c->anchor, c->cell, k);
		for (int row = 0; row < rows; row++) {
			const float *from = field_at(h, map, 0, (int64_t)(y->low + row) * b->prototypes.w + x->low, k);
			for (int i = 0; i < w; i++)
				sum[row * w + i] += weight * from[i * map->cell];
		}
	}
	return sum;
}

// One column of pixels from its column of cells. Between two cells of one sign nothing changes.
static void add_column(struct rle *out, const float *cell, const struct axis *y, uint32_t base)
{
	int n = y->last - y->first, bottom = cells_of(y) - 1;
	for (int i = 0; i < n;) {
		int at = y->cell[i], end = i;
		float low = cell[at], high = cell[at < bottom ? at + 1 : at];
		while (end < n && y->cell[end] == at)
			end++;
		if (low > 0 && high > 0)
			rle_add(out, base + (uint32_t)i, base + (uint32_t)end);
		for (; i < end && (low > 0) != (high > 0); i++)
			if (low + (high - low) * y->part[i] > 0)
				rle_add(out, base + (uint32_t)i, base + (uint32_t)i + 1);
		i = end;
	}
}

void decode_mask(struct rle *out, const struct bound *b, const struct head *h, const struct candidate *c, const struct placement *to)
{
	*out = (struct rle){.w = to->image_w, .h = to->image_h};
	struct axis x = axis_new((double)c->x1, (double)c->x2, to->image_w, to->scale_x, to->pad_x, h->input_w, b->prototypes.w);
	struct axis y = axis_new((double)c->y1, (double)c->y2, to->image_h, to->scale_y, to->pad_y, h->input_h, b->prototypes.h);
	if (x.first < x.last && y.first < y.last) {
		float *sum = sum_prototypes(b, h, c, &x, &y), *column = xcalloc((size_t)cells_of(&y) + 1, sizeof *column);
		for (int i = 0; i < x.last - x.first; i++) {
			int w = cells_of(&x), at = x.cell[i], next = at < w - 1 ? at + 1 : at;
			for (int row = 0; row < cells_of(&y); row++)
				column[row] = sum[row * w + at] + (sum[row * w + next] - sum[row * w + at]) * x.part[i];
			add_column(out, column, &y, (uint32_t)(x.first + i) * (uint32_t)to->image_h + (uint32_t)y.first);
		}
		free(sum);
		free(column);
	}
	axis_done(&x);
	axis_done(&y);
}
