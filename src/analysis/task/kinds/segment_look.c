// What became of a sample's pixels between two networks, and of its classes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "segment.h"

// A class that is nowhere counts as 0.
static double loss(const struct task_region *r)
{
	const double *v = r->iou;
	return (isnan(v[TASK_FLOAT]) ? 0 : v[TASK_FLOAT]) - (isnan(v[TASK_QUANT]) ? 0 : v[TASK_QUANT]);
}

static int by_loss(const void *a, const void *b)
{
	const struct task_region *x = a, *y = b;
	double lx = loss(x), ly = loss(y);
	return lx != ly ? (lx > ly ? -1 : 1) : (x->class > y->class) - (x->class < y->class);
}

static void look_at_classes(const struct task *t, const struct segments *const s[TASK_VARIANTS], struct task_look *l)
{
	l->region = xcalloc((size_t)t->labels->n_classes + 1, sizeof *l->region);
	for (int c = 0; c < t->labels->n_classes; c++) {
		const struct area *before = &s[TASK_FLOAT]->area[c], *after = &s[TASK_QUANT]->area[c];
		char number[24];
		if (!before->labelled && !before->predicted && !after->predicted)
			continue;
		snprintf(number, sizeof number, "class %d", t->labels->id[c]);
		l->region[l->n_regions++] = (struct task_region){.class = c,
		    .name = arena_strdup(l->memory, segment_class_name(t, c) ? segment_class_name(t, c) : number),
		    .iou = {[TASK_FLOAT] = segment_iou(before), [TASK_QUANT] = segment_iou(after)},
		    .labelled = before->labelled > 0};
	}
	qsort(l->region, (size_t)l->n_regions, sizeof *l->region, by_loss);
}

void segment_look(struct task *t, const struct looked *at, struct task_look *l)
{
	const struct segments *s[TASK_VARIANTS] = {(const struct segments *)at->result[TASK_FLOAT], (const struct segments *)at->result[TASK_QUANT]};
	if (!s[TASK_FLOAT] || !s[TASK_QUANT] || !segment_same_cells(s[TASK_FLOAT], s[TASK_QUANT]))
		return;
	look_at_classes(t, s, l);
	l->cells_w = s[TASK_FLOAT]->w;
	l->cells_h = s[TASK_FLOAT]->h;
	l->cell = xcalloc((size_t)(l->cells_w * l->cells_h), 1);
	for (int i = 0; i < l->cells_w * l->cells_h; i++) {
		struct segment_cell a = s[TASK_FLOAT]->cell[i], b = s[TASK_QUANT]->cell[i];
		l->cell[i] = a.class == b.class ? CELL_SAME : a.right ? CELL_LOST : b.right ? CELL_GAINED : CELL_OTHER;
	}
}
