// An Einsum of two operands as matrices side by side: labels that all three have are the batch,
// those of the result and one operand its rows or columns, and those of both operands alone are summed over.
#include <string.h>
#include "einsum.h"

enum group { BATCH, ROWS, COLUMNS, SUMMED, GROUPS };
struct labels {
	int label[EINSUM_LABELS], n;
	int64_t count;
};

static bool has_diagonal(const struct einsum_term *t)
{
	for (int i = 0; i < t->n; i++)
		if (memchr(t->label + i + 1, t->label[i], (size_t)(t->n - i - 1)))
			return true;
	return false;
}

// The labels of each group in their order in the result, then in the first operand; those of one element are left out.
static bool sort_labels(struct labels group[GROUPS], const struct einsum_walk *w)
{
	const struct einsum *e = w->e;
	for (int g = 0; g < GROUPS; g++)
		group[g] = (struct labels){.count = 1};
	for (int i = 0; i < e->labels; i++) {
		bool out = i < e->out.n, a = w->stride[0][i] != 0, b = w->stride[1][i] != 0;
		if (e->dim[i] == 1)
			continue;
		if (e->dim[i] == 0 || !(out ? a || b : a && b))
			return false;
		struct labels *g = &group[!out ? SUMMED : a && b ? BATCH : a ? ROWS : COLUMNS];
		int at = g->n++;
		for (; !out && at > 0 && w->stride[0][g->label[at - 1]] < w->stride[0][i]; at--)
			g->label[at] = g->label[at - 1];
		g->label[at] = i;
		g->count *= e->dim[i];
	}
	return true;
}

// The copy of an operand, or of the result, into the order batch, then these two groups. True where it lies so already.
static bool copy_of(
    struct strided *s, const struct einsum *e, const int64_t *stride, const struct labels *group, enum group second, enum group third)
{
	const enum group order[] = {BATCH, second, third};
	int64_t dense = 1;
	bool lies = true;
	*s = (struct strided){.arrays = 2};
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < group[order[k]].n; i++) {
			int label = group[order[k]].label[i];
			s->dim[s->rank] = e->dim[label];
			s->stride[1][s->rank++] = stride[label];
		}
	for (int i = s->rank - 1; i >= 0; i--) {
		s->stride[0][i] = dense;
		lies &= s->stride[1][i] == dense;
		dense *= s->dim[i];
	}
	if (s->rank == 0)
		*s = (struct strided){.rank = 1, .arrays = 2, .dim = {1}};
	return lies;
}

static void swap_arrays(struct strided *s)
{
	int64_t other[SHAPE_MAX_RANK];
	memcpy(other, s->stride[0], sizeof other);
	memcpy(s->stride[0], s->stride[1], sizeof other);
	memcpy(s->stride[1], other, sizeof other);
}

bool einsum_product_of(struct einsum_product *p, const struct einsum_walk *w)
{
	const struct einsum *e = w->e;
	struct labels group[GROUPS];
	struct strided turned;
	int64_t y[EINSUM_LABELS], dense = 1;
	if (has_diagonal(&e->in[0]) || has_diagonal(&e->in[1]) || !sort_labels(group, w))
		return false;
	for (int i = e->out.n - 1; i >= 0; i--) {
		y[i] = dense;
		dense *= e->dim[i];
	}
	*p = (struct einsum_product){.batch = group[BATCH].count, .m = group[ROWS].count, .n = group[COLUMNS].count, .k = group[SUMMED].count};
	p->a_copied = !copy_of(&p->a, e, w->stride[0], group, ROWS, SUMMED);
	p->a_turned = p->a_copied && copy_of(&turned, e, w->stride[0], group, SUMMED, ROWS);
	p->a_copied &= !p->a_turned;
	p->b_copied = !copy_of(&p->b, e, w->stride[1], group, SUMMED, COLUMNS);
	p->b_turned = p->b_copied && copy_of(&turned, e, w->stride[1], group, COLUMNS, SUMMED);
	p->b_copied &= !p->b_turned;
	p->y_copied = !copy_of(&p->y, e, y, group, ROWS, COLUMNS);
	swap_arrays(&p->y);
	return true;
}
