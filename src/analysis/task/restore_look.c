// Where a picture came farther from what it should be, or closer, and by how much in all.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "restore.h"
#include "similarity.h"

static const double FARTHER_DB = 1, SEEN = 4; // of a cell; mean square error of levels below which nobody sees any

static enum task_cell cell_of(double before, double after)
{
	double farther = psnr_of(fmax(before, SEEN)) - psnr_of(fmax(after, SEEN));
	return farther >= FARTHER_DB ? CELL_LOST : farther <= -FARTHER_DB ? CELL_GAINED : CELL_SAME;
}

static void look_at_cells(const struct restored *a, const struct restored *b, struct task_look *l)
{
	l->cells_w = a->cells_w;
	l->cells_h = a->cells_h;
	l->cell = xcalloc((size_t)(a->cells_w * a->cells_h), 1);
	for (int i = 0; i < a->cells_w * a->cells_h; i++)
		l->cell[i] = cell_of((double)a->error[i], (double)b->error[i]);
}

static uint8_t *copy_of(const struct restored *r)
{
	size_t n = (size_t)r->w * (size_t)r->h * 3;
	return memcpy(xmalloc(n), r->rgb, n);
}

void restore_look(struct task *t, struct task_result *const r[TASK_VARIANTS], struct task_look *l)
{
	const struct restored *s[TASK_VARIANTS] = {(const struct restored *)r[TASK_FLOAT], (const struct restored *)r[TASK_QUANT]};
	const struct restored *a = s[TASK_FLOAT], *b = s[TASK_QUANT];
	if (!a || !b || a->w != b->w || a->h != b->h || a->cells_w != b->cells_w || a->cells_h != b->cells_h)
		return;
	double value[TASK_VARIANTS][RESTORED_FIGURES];
	for (int v = 0; v < TASK_VARIANTS; v++) {
		restored_figures(value[v], s[v]);
		l->made[v] = copy_of(s[v]);
	}
	for (int i = 0; i < RESTORED_FIGURES; i++)
		if (!isnan(value[TASK_FLOAT][i]))
			l->figure[l->n_figures++] = (struct task_figure){restored_name[i], {value[TASK_FLOAT][i], value[TASK_QUANT][i]}};
	look_at_cells(a, b, l);
	l->rgb = restore_truth(t, l->sample, a);
	l->w = a->w;
	l->h = a->h;
	l->scale = 1;
}
