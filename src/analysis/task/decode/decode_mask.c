// Masks of objects: sums of prototypes (YOLACT, YOLO's segmentation networks), or a map an object, over the input (RTMDet-Ins,
// RF-DETR) or over its box (Mask R-CNN).
#include <math.h>
#include <stdlib.h>
#include "decode.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

// One direction: pixels first..last-1 of the picture, and where each lies between the cells of the map.
struct axis {
	int first, last;
	int low, high; // cells that are needed; of a box, which has nothing around it, perhaps one before the first and one behind the last
	int *cell;     // [last - first] from `low` on; the next one, or the last itself, is its neighbour
	float *part;   // of the neighbour
};

static int clamp(double v, int low, int high)
{
	return v < low ? low : v > high ? high : (int)v;
}

// How the picture and the map lie along one direction, in pixels of the input.
struct along {
	int size, input, cells;  // pixels of the picture and of the input, cells of the map
	double scale, pad;       // of the picture in the input
	double from, to;         // the box
};

// The first pixel of the picture that has `shift` of itself at or behind x of the input.
static int pixel_from(const struct along *l, double x, double shift)
{
	return clamp(ceil((x - l->pad) / l->scale - shift), 0, l->size);
}

// The whole picture, the pixels that begin in the box, or those whose centres are less than half a cell beside it.
static void set_pixels(struct axis *a, const struct along *l, enum mask_form form, double unit)
{
	bool boxed = form == MASKS_OF_BOX;
	double beside = boxed ? .5 / unit : 0, shift = boxed ? .5 : 0;
	a->first = form == MASKS_OF_INPUT ? 0 : pixel_from(l, l->from - beside, shift);
	a->last = form == MASKS_OF_INPUT ? l->size : pixel_from(l, l->to + beside, shift);
}

static struct axis axis_new(const struct along *l, enum mask_form form)
{
	bool boxed = form == MASKS_OF_BOX;
	double begin = boxed ? l->from : 0, unit = l->cells / (boxed ? l->to - l->from : l->input); // cells a pixel
	struct axis a;
	set_pixels(&a, l, form, unit);
	int n = a.last > a.first ? a.last - a.first : 0;
	// What is beside the picture does not count: its edge goes on (Ultralytics cuts it off before it interpolates).
	int left = boxed ? -1 : clamp(floor(l->pad * unit + .5), 0, l->cells - 1);
	int right = boxed ? l->cells : clamp(floor((l->pad + l->size * l->scale) * unit + .5) - 1, left, l->cells - 1);
	a.cell = xcalloc((size_t)n + 1, sizeof *a.cell);
	a.part = xcalloc((size_t)n + 1, sizeof *a.part);
	for (int i = 0; i < n; i++) {
		double at = ((a.first + i + .5) * l->scale + l->pad - begin) * unit - .5;
		at = at < left ? left : at > right ? right : at;
		a.cell[i] = (int)floor(at);
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
	const struct field *map = &b->maps.map, *mask = &b->source[c->source].mask;
	int w = cells_of(x), rows = cells_of(y);
	float *sum = xcalloc((size_t)w * (size_t)rows + 1, sizeof *sum);
	for (int k = 0; k < map->channels; k++) {
		float weight = field_get(h, mask, c->anchor, c->cell, k);
		for (int row = 0; row < rows; row++) {
			const float *from = field_at(h, map, 0, (int64_t)(y->low + row) * b->maps.w + x->low, k);
			for (int i = 0; i < w; i++)
				sum[row * w + i] += weight * from[i * map->cell];
		}
	}
	return sum;
}

// The object's own map likewise, less the value above which a pixel belongs to it; around it there is 0.
static float *own_map(const struct bound *b, const struct head *h, const struct candidate *c, const struct axis *x, const struct axis *y)
{
	const struct maps *m = &b->maps;
	int w = cells_of(x), rows = cells_of(y), first = x->low < 0 ? 0 : x->low, end = x->high < m->w ? x->high + 1 : m->w;
	float *out = xcalloc((size_t)w * (size_t)rows + 1, sizeof *out);
	for (int i = 0; i < w * rows; i++)
		out[i] = -b->above;
	for (int row = 0; row < rows; row++) {
		int from = y->low + row;
		if (from < 0 || from >= m->h)
			continue;
		const float *in = field_at(h, &m->map, 0, (int64_t)from * m->w, (int)c->cell);
		for (int i = first; i < end; i++)
			out[row * w + i - x->low] = in[i] - b->above;
	}
	return out;
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

// Probabilities, as nothing is below 0, or logits.
void decode_mask_begin(struct bound *b, const struct head *h)
{
	const struct field *map = &b->maps.map;
	const float *x = h->out[map->output].data;
	int64_t n = b->masks == MASKS_SUMS ? 0 : (int64_t)map->channels * map->channel, i = 0;
	while (i < n && x[i] >= 0)
		i++;
	b->above = i < n ? 0 : .5F;
}

void decode_mask(struct rle *out, const struct bound *b, const struct head *h, const struct candidate *c, const struct placement *to)
{
	*out = (struct rle){.w = to->image_w, .h = to->image_h};
	const struct along across = {to->image_w, h->input_w, b->maps.w, to->scale_x, to->pad_x, (double)c->x1, (double)c->x2};
	const struct along down = {to->image_h, h->input_h, b->maps.h, to->scale_y, to->pad_y, (double)c->y1, (double)c->y2};
	struct axis x = axis_new(&across, b->masks), y = axis_new(&down, b->masks);
	if (x.first < x.last && y.first < y.last) {
		float *cells = b->masks == MASKS_SUMS ? sum_prototypes(b, h, c, &x, &y) : own_map(b, h, c, &x, &y);
		float *column = xcalloc((size_t)cells_of(&y) + 1, sizeof *column);
		for (int i = 0; i < x.last - x.first; i++) {
			int w = cells_of(&x), at = x.cell[i], next = at < w - 1 ? at + 1 : at;
			for (int row = 0; row < cells_of(&y); row++)
				column[row] = cells[row * w + at] + (cells[row * w + next] - cells[row * w + at]) * x.part[i];
			add_column(out, column, &y, (uint32_t)(x.first + i) * (uint32_t)to->image_h + (uint32_t)y.first);
		}
		free(cells);
		free(column);
	}
	axis_done(&x);
	axis_done(&y);
}
