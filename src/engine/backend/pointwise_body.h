// The loop of one processor level, which includes its panel_LEVEL.h before and defines POINTWISE_PANEL.
#include "pointwise.h"

struct work {
	const struct pointwise_panel *p;
	const float *m; // sums of these tiles
	int64_t tile, tiles;
};

VINLINE void finish_group(const void *arg, const enum act_kind act, const enum add_kind add)
{
	const struct work *w = arg;
	const struct pointwise_panel *p = w->p;
	const int width = p->product.width;
	for (int j = 0; j < width; j++) {
		const vfloat bias = vload(p->bias + j * VLANES);
		const int64_t at = j * p->y_step + w->tile * VLANES;
		for (int64_t i = 0; i < w->tiles; i++) {
			const float *residual = add == ADD_NONE ? p->y : p->residual + at + i * VLANES;
			vstore(p->y + at + i * VLANES, finish(vload(w->m + (i * width + j) * VLANES) + bias, &p->finish, act, add, residual));
		}
	}
}

void POINTWISE_PANEL(const struct pointwise_panel *p)
{
	float m[MOST_SUMS * VLANES] __attribute__((aligned(VBYTES)));
	int64_t groups = group_count(&p->product);
	for (int64_t i = 0; i < groups; i++) {
		int64_t tile = p->product.tiles * i / groups, end = p->product.tiles * (i + 1) / groups;
		group(m, &p->product, tile, end - tile);
		with_finish(finish_group, &(struct work){p, m, tile, end - tile}, &p->finish);
	}
}
