// What became of a picture's pixels between two networks that find masks. Of each class a pixel belongs to an object or
// not; where the networks differ, one of them agrees with the labels. What one class lost counts before what another gained.
#include <stdlib.h>
#include <string.h>
#include "detect.h"
#include "qtui/base/mem.h"

enum { CELLS = 320 }; // of the longer side
enum { IN_TRUTH = 1, IN_FLOAT = 2, IN_QUANT = 4 };

struct grid {
	int w, h;           // of the image, in pixels
	int across, down;   // cells
	uint8_t *in, *cell; // of the class that is looked at; the result
};

static int pixel(int cell, int cells, int pixels)
{
	return (int)(((int64_t)2 * cell + 1) * pixels / (2 * cells));
}

// A mask's pixels in the middle of cells.
static void add_mask(const struct grid *g, const struct rle *m, uint8_t bit)
{
	if (!m || m->w != g->w || m->h != g->h)
		return;
	for (int x = 0; x < g->across && m->n; x++) {
		uint32_t column = (uint32_t)pixel(x, g->across, g->w) * (uint32_t)g->h;
		if (column + (uint32_t)g->h <= m->edge[0] || column >= m->edge[m->n - 1])
			continue;
		for (int y = 0; y < g->down; y++)
			if (rle_has(m, pixel(x, g->across, g->w), pixel(y, g->down, g->h)))
				g->in[y * g->across + x] |= bit;
	}
}

static void take_class(const struct grid *g)
{
	for (int i = 0; i < g->across * g->down; i++) {
		bool f = g->in[i] & IN_FLOAT, q = g->in[i] & IN_QUANT, t = g->in[i] & IN_TRUTH;
		if (f != q && g->cell[i] != CELL_LOST)
			g->cell[i] = f == t ? CELL_LOST : CELL_GAINED;
	}
	memset(g->in, 0, (size_t)(g->across * g->down));
}

static void add_class(const struct grid *g, int class, const struct label *label, const struct task_look *l)
{
	static const uint8_t bit[TASK_VARIANTS] = {[TASK_FLOAT] = IN_FLOAT, [TASK_QUANT] = IN_QUANT};
	for (int i = 0; i < label->n; i++)
		if (label->truth[i].class == class)
			add_mask(g, label->truth[i].mask, IN_TRUTH);
	for (int v = 0; v < TASK_VARIANTS; v++)
		for (int i = 0; i < l->n_boxes[v]; i++)
			if (l->box[v][i].class == class)
				add_mask(g, l->box[v][i].mask, bit[v]);
	take_class(g);
}

static bool is_found(const struct task_look *l, int class)
{
	for (int v = 0; v < TASK_VARIANTS; v++)
		for (int i = 0; i < l->n_boxes[v]; i++)
			if (l->box[v][i].class == class)
				return true;
	return false;
}

static const struct rle *any_mask(const struct task_look *l)
{
	for (int v = 0; v < TASK_VARIANTS; v++)
		for (int i = 0; i < l->n_boxes[v]; i++)
			if (l->box[v][i].mask)
				return l->box[v][i].mask;
	return NULL;
}

void detect_look_cells(const struct label *label, int classes, struct task_look *l)
{
	const struct rle *any = any_mask(l);
	if (!any)
		return;
	int longer = any->w > any->h ? any->w : any->h, cells = longer < CELLS ? longer : CELLS;
	struct grid g = {.w = any->w, .h = any->h};
	g.across = l->cells_w = (int)(((int64_t)any->w * cells + longer - 1) / longer);
	g.down = l->cells_h = (int)(((int64_t)any->h * cells + longer - 1) / longer);
	g.in = xcalloc((size_t)(g.across * g.down), 1);
	g.cell = l->cell = xcalloc((size_t)(g.across * g.down), 1);
	for (int c = 0; c < classes; c++)
		if (is_found(l, c))
			add_class(&g, c, label, l);
	free(g.in);
}
