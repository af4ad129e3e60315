#include "taps.h"

#include <string.h>
#include "backend.h"

// One side of a convolution.
struct side {
	int64_t taps, in, out, stride, dilation, before, after;
};

static bool meets_input(const struct side *s, int64_t tap)
{
	struct span span = conv_span(s->out, s->stride, tap * s->dilation - s->before, s->in);
	return span.first < span.end;
}

// Leaves the taps from the first to the last that meet the input; returns how many went before the first.
static int64_t trim_side(struct side *s)
{
	int64_t first = 0, end = s->taps;
	while (first < end && !meets_input(s, first))
		first++;
	while (end > first && !meets_input(s, end - 1))
		end--;
	int64_t before = s->before - first * s->dilation, after = s->after - (s->taps - end) * s->dilation;
	if (first == end || before < 0 || after < 0)
		return 0;
	s->taps = end - first;
	s->before = before;
	s->after = after;
	return first;
}

float *taps_trim(struct conv_task *t)
{
	struct conv_geometry *g = &t->g;
	struct side y = {g->kh, g->h, g->oh, g->stride_h, g->dil_h, g->pad_t, g->pad_b};
	struct side x = {g->kw, g->w, g->ow, g->stride_w, g->dil_w, g->pad_l, g->pad_r};
	int64_t y0 = trim_side(&y), x0 = trim_side(&x), kernels = g->oc * (g->c / g->group);
	float *left;
	if (t->transposed || (y.taps == g->kh && x.taps == g->kw))
		return NULL;
	left = mem_try_array((size_t)(kernels * y.taps * x.taps), sizeof *left);
	if (!left)
		return NULL;
	for (int64_t i = 0; i < kernels * y.taps; i++)
		memcpy(left + i * x.taps, t->weight + (i / y.taps * g->kh + y0 + i % y.taps) * g->kw + x0, (size_t)x.taps * sizeof *left);
	g->kh = y.taps;
	g->kw = x.taps;
	g->pad_t = y.before;
	g->pad_b = y.after;
	g->pad_l = x.before;
	g->pad_r = x.after;
	t->weight = left;
	return left;
}
