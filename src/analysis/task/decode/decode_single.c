// Keypoints of the only object, from lines, maps or coordinates to pixels of the input.
#include <math.h>
#include "argmax.h"
#include "decode.h"

static float sure(float v)
{
	return v > 0 ? v < 1 ? v : 1 : 0;
}

// As sure as the less sure axis (mmpose, get_simcc_maximum).
static struct keypoint of_lines(const struct single *s, const struct head *h, int k)
{
	const float *x = field_at(h, &s->x, 0, 0, k), *y = field_at(h, &s->y, 0, 0, k);
	int i = (int)argmax(x, s->w, 1), j = (int)argmax(y, s->h, 1);
	return (struct keypoint){(float)i * (float)h->input_w / (float)s->w, (float)j * (float)h->input_h / (float)s->h,
	    sure(x[i] <= y[j] ? x[i] : y[j] < x[i] ? y[j] : 0)};
}

// A quarter of a cell towards the higher neighbour.
static float towards(float before, float behind)
{
	return behind > before ? .25F : behind < before ? -.25F : 0;
}

// The cell and a quarter (HRNet, mmpose's MSRAHeatmap).
static struct keypoint of_map(const struct single *s, const struct head *h, int k)
{
	const float *map = field_at(h, &s->x, 0, 0, k);
	int at = (int)argmax(map, (int64_t)s->w * s->h, 1), i = at % s->w, j = at / s->w;
	bool inside = i > 1 && i < s->w - 1 && j > 1 && j < s->h - 1;
	float x = (float)i + (inside ? towards(map[at - 1], map[at + 1]) : 0);
	float y = (float)j + (inside ? towards(map[at - s->w], map[at + s->w]) : 0);
	return (struct keypoint){x * (float)h->input_w / (float)s->w, y * (float)h->input_h / (float)s->h, sure(map[at])};
}

static struct keypoint of_numbers(const struct bound *b, const struct head *h, int k)
{
	const struct field *f = &b->single.x;
	const float *x = field_at(h, f, 0, 0, k);
	float w = b->fractions ? (float)h->input_w : 1, height = b->fractions ? (float)h->input_h : 1;
	if (!isfinite(x[0]) || !isfinite(x[1]))
		return (struct keypoint){0, 0, 0};
	return (struct keypoint){x[b->yx] * w, x[!b->yx] * height, f->channel > 2 ? sure(x[2]) : 1};
}

void decode_single(struct keypoint *out, const struct bound *b, const struct head *h)
{
	for (int k = 0; k < b->points; k++)
		switch (b->single.form) {
		case SINGLE_LINES: out[k] = of_lines(&b->single, h, k); break;
		case SINGLE_MAPS: out[k] = of_map(&b->single, h, k); break;
		default: out[k] = of_numbers(b, h, k);
		}
}
