// Nodes with weights as rows times a matrix.
#include <string.h>
#include "tune_impl.h"

static bool conv_site(struct tune_site *s, const struct graph *g, const struct node *n)
{
	const struct shape *w = &g->value[n->in[1]].shape, *x = &g->value[n->in[0]].shape, *y = &g->value[n->out[0]].shape;
	if (x->rank < 0 || shape_count(x) <= 0 || shape_count(y) <= 0 || !conv_geometry(&s->g, n, x, w))
		return false;
	s->conv = true;
	s->groups = s->g.group;
	s->m = s->g.oc / s->groups;
	s->k = s->g.c / s->groups * s->g.kh * s->g.kw;
	s->places = s->g.n * s->g.oh * s->g.ow;
	return true;
}

static bool product_site(struct tune_site *s, const struct graph *g, const struct node *n)
{
	const struct shape *w = &g->value[n->in[1]].shape, *x = &g->value[n->in[0]].shape;
	const struct gemm_attrs *a = n->op->id == OP_Gemm ? n->attrs : NULL;
	if (w->rank != 2 || x->rank < 2 || shape_count(x) <= 0 || (a && (a->trans_a || a->alpha != 1.0f || a->beta != 1.0f)))
		return false;
	bool rows = a && a->trans_b;
	s->by_column = !rows;
	s->groups = 1;
	s->k = w->dim[rows ? 1 : 0];
	s->m = w->dim[rows ? 0 : 1];
	s->places = x->dim[x->rank - 1] == s->k ? shape_count(x) / s->k : 0;
	return true;
}

static bool takes_bias(struct tune_site *s, const struct graph *g, const struct node *n)
{
	if (n->n_in < 3 || n->in[2] < 0)
		return true;
	const struct tensor *b = g->value[n->in[2]].constant;
	if (!b || b->type != DT_F32 || tensor_count(b) != s->groups * s->m)
		return false;
	s->bias = b->data;
	return true;
}

bool site_find(struct tune_site *s, const struct plan *p, int node, int64_t most_rows)
{
	const struct graph *g = p->g;
	const struct node *n = &g->node[node];
	*s = (struct tune_site){.node = node};
	bool conv = n->op->id == OP_Conv;
	if ((!conv && n->op->id != OP_Gemm && n->op->id != OP_MatMul) || n->n_in < 2 || n->in[0] < 0 || n->in[1] < 0 || n->out[0] < 0)
		return false;
	const struct tensor *w = g->value[n->in[1]].constant;
	const struct quantizer *q = slot_quantizer(plan_in(p, node, 1));
	if (!w || w->type != DT_F32 || !q || q->kind != QUANT_LINEAR || q->bits > 16 || g->value[n->in[0]].constant ||
	    g->value[n->in[0]].type != DT_F32)
		return false;
	if (!(conv ? conv_site : product_site)(s, g, n) || !takes_bias(s, g, n))
		return false;
	s->value = n->in[0];
	s->rows = s->places < most_rows ? s->places : most_rows;
	return s->k > 0 && s->m > 0 && s->rows > 0 && (q->n == 1 || q->n == s->groups * s->m);
}

// Row j of a sample: all places where they are few, else one out of every stretch of equal length,
// at a place that the golden ratio scatters.
static int64_t place_of(const struct tune_site *s, int64_t j, int sample)
{
	if (s->rows == s->places)
		return j;
	uint32_t scatter = (uint32_t)(((uint64_t)sample * 131 + (uint64_t)j * 7 + 1) * 2654435769u);
	int64_t first = j * s->places / s->rows, end = (j + 1) * s->places / s->rows;
	return first + (int64_t)((uint64_t)scatter * (uint64_t)(end - first) >> 32);
}

// Where channel c of row y begins, and the elements from column to column.
static const float *line_of(const struct conv_geometry *g, const struct tensor *x, int64_t n, int64_t c, int64_t y, int64_t *step)
{
	int64_t b = layout_block();
	*step = x->layout == LAYOUT_BLOCK ? b : 1;
	if (x->layout == LAYOUT_BLOCK)
		return (const float *)x->data + ((n * ((g->c + b - 1) / b) + c / b) * g->h + y) * g->w * b + c % b;
	return (const float *)x->data + ((n * g->c + c) * g->h + y) * g->w;
}

static void patch(const struct conv_geometry *g, const struct tensor *x, int64_t place, float *to)
{
	int64_t n = place / (g->oh * g->ow), oy = place / g->ow % g->oh, ox = place % g->ow, step = 1;
	for (int64_t c = 0; c < g->c; c++)
		for (int64_t ky = 0; ky < g->kh; ky++) {
			int64_t y = oy * g->stride_h - g->pad_t + ky * g->dil_h;
			bool inside = y >= 0 && y < g->h;
			const float *line = inside ? line_of(g, x, n, c, y, &step) : NULL;
			for (int64_t kx = 0; kx < g->kw; kx++) {
				int64_t col = ox * g->stride_w - g->pad_l + kx * g->dil_w;
				*to++ = inside && col >= 0 && col < g->w ? line[col * step] : 0.0f;
			}
		}
}

void site_rows(const struct tune_site *s, const struct tensor *x, int sample, float *row)
{
	int64_t length = s->groups * s->k;
	for (int64_t j = 0; j < s->rows; j++, row += length) {
		int64_t place = place_of(s, j, sample);
		if (s->conv)
			patch(&s->g, x, place, row);
		else
			memcpy(row, (const float *)x->data + place * length, (size_t)length * sizeof *row);
	}
}
