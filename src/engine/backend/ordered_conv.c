// The convolution as a product of the weights, packed in groups of six outputs,
// and of panels of sixteen pixels that hold every input value that those meet.
// A strip of pixels is computed for all groups, since they read from the same places.
#include "ordered_conv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../tensor/cpu.h"
#include "kept.h"
#include "ordered.h"
#include "qtui/base/parts.h"

enum { PIXELS_LEAST = 32, PIXELS_MOST = 512, STRIP_FLOATS = 1 << 16 }; // a strip's panels stay in the second cache

struct ordered {
	struct kernel base;
	struct conv_task task;      // its bias is kept, its weights are packed
	float *weight;              // [group][outputs / 6, rounded up][k][6], or [group][k] where a group has one output
	int64_t k, outputs, pixels; // values of a sum, outputs of a group, pixels of a strip
};

static int64_t tiles_of(const struct ordered *o)
{
	return (o->outputs + ORDERED_ROWS - 1) / ORDERED_ROWS;
}

// Weights of a tile of rows, or of the one row, of a group.
static float *weights_at(const struct ordered *o, int64_t group, int64_t tile)
{
	return o->outputs == 1 ? o->weight + group * o->k : o->weight + (group * tiles_of(o) + tile) * o->k * ORDERED_ROWS;
}

#ifdef __x86_64__
static bool has_avx2(void)
{
	return cpu_level() >= CPU_AVX2;
}
#else
static bool has_avx2(void)
{
	return false;
}
#define ordered_tile_avx2 tile_plain
#define ordered_single_avx2 single_plain
#define ordered_gather_avx2 gather_plain
#endif

static void tile_plain(const float *a, const float *b, int64_t k, float *c)
{
	memset(c, 0, sizeof(float[ORDERED_ROWS * ORDERED_COLUMNS]));
	for (; k > 0; k--, a += ORDERED_ROWS, b += ORDERED_COLUMNS)
		for (int r = 0; r < ORDERED_ROWS; r++)
			for (int j = 0; j < ORDERED_COLUMNS; j++)
				c[r * ORDERED_COLUMNS + j] = fmaf(a[r], b[j], c[r * ORDERED_COLUMNS + j]);
}

static void single_plain(const float *a, const float *b, int64_t k, float *c)
{
	for (int j = 0; j < ORDERED_COLUMNS; j++) {
		c[j] = 0;
		for (int64_t i = 0; i < k; i += 4) {
			float part = a[i] * b[i * ORDERED_COLUMNS + j];
			for (int64_t n = i + 1; n < i + 4 && n < k; n++)
				part += a[n] * b[n * ORDERED_COLUMNS + j];
			c[j] += part;
		}
	}
}

static void gather_plain(float *to, const float *plane, const int32_t *at)
{
	for (int j = 0; j < ORDERED_COLUMNS; j++)
		to[j] = at[j] < 0 ? 0.0f : plane[at[j]];
}

// Where the taps of the kernel find the values of a panel, for any channel.
struct places {
	int32_t at[ORDERED_COLUMNS]; // in the channel's plane; -1: padding, or past the last pixel
	bool side_by_side;           // at[0], at[0] + 1, ...
};

static void find_places(struct places *p, const struct conv_geometry *g, int64_t pixel, int64_t ky, int64_t kx)
{
	int64_t oy = pixel / g->ow, ox = pixel % g->ow;
	p->side_by_side = true;
	for (int j = 0; j < ORDERED_COLUMNS; j++) {
		int64_t iy = oy * g->stride_h + ky * g->dil_h - g->pad_t, ix = ox * g->stride_w + kx * g->dil_w - g->pad_l;
		bool inside = oy < g->oh && iy >= 0 && iy < g->h && ix >= 0 && ix < g->w;
		p->at[j] = inside ? (int32_t)(iy * g->w + ix) : -1;
		p->side_by_side &= inside && p->at[j] == p->at[0] + j;
		if (++ox == g->ow) {
			ox = 0;
			oy++;
		}
	}
}

// A strip of pixels of one image.
struct strip {
	const struct ordered *o;
	const float *x; // the image
	float *y;       // the image's outputs at the strip's first pixel
	const float *residual;
	int64_t first, pixels, panels;
	struct places *places; // [panels][kh * kw]
	float *panel;          // [panels][k][16]
};

static void find_all(const struct strip *s)
{
	const struct conv_geometry *g = &s->o->task.g;
	int64_t taps = g->kh * g->kw;
	for (int64_t i = 0; i < s->panels * taps; i++)
		find_places(&s->places[i], g, s->first + i / taps * ORDERED_COLUMNS, i % taps / g->kw, i % taps % g->kw);
}

static void fill_panels(const struct strip *s, int64_t group)
{
	const struct conv_geometry *g = &s->o->task.g;
	int64_t taps = g->kh * g->kw, channels = g->c / g->group;
	void (*gather)(float *, const float *, const int32_t *) = has_avx2() ? ordered_gather_avx2 : gather_plain;
	float *to = s->panel;
	for (int64_t p = 0; p < s->panels; p++) {
		const float *plane = s->x + group * channels * g->h * g->w;
		for (int64_t c = 0; c < channels; c++, plane += g->h * g->w)
			for (int64_t i = 0; i < taps; i++, to += ORDERED_COLUMNS) {
				const struct places *from = &s->places[p * taps + i];
				if (from->side_by_side)
					memcpy(to, plane + from->at[0], sizeof(float[ORDERED_COLUMNS]));
				else
					gather(to, plane, from->at);
			}
	}
}

static void add_row(float *to, const float *sum, int64_t n, bool first)
{
	if (first) {
		memcpy(to, sum, (size_t)n * sizeof *to);
		return;
	}
#pragma omp simd
	for (int64_t j = 0; j < n; j++)
		to[j] += sum[j];
}

// One block of k for a tile of rows, over all panels; c is at the tile's first output.
static void add_block(const struct strip *s, const float *a, int64_t k0, int64_t k, float *c, int64_t rows)
{
	float sum[ORDERED_ROWS * ORDERED_COLUMNS];
	int64_t plane = s->o->task.g.oh * s->o->task.g.ow;
	void (*tile)(const float *, const float *, int64_t, float *) = has_avx2() ? ordered_tile_avx2 : tile_plain;
	for (int64_t p = 0; p < s->panels; p++) {
		int64_t at = p * ORDERED_COLUMNS;
		tile(a + k0 * ORDERED_ROWS, s->panel + (p * s->o->k + k0) * ORDERED_COLUMNS, k, sum);
		for (int64_t r = 0; r < rows; r++)
			add_row(c + r * plane + at, sum + r * ORDERED_COLUMNS, least(ORDERED_COLUMNS, s->pixels - at), k0 == 0);
	}
}

static void multiply(const struct strip *s, int64_t group, float *c)
{
	const struct ordered *o = s->o;
	int64_t plane = o->task.g.oh * o->task.g.ow, step = ordered_step(plane, o->k);
	for (int64_t k = 0; k < o->k; k += step)
		for (int64_t t = 0; t < tiles_of(o); t++)
			add_block(s, weights_at(o, group, t), k, least(step, o->k - k), c + t * ORDERED_ROWS * plane,
			    least(ORDERED_ROWS, o->outputs - t * ORDERED_ROWS));
}

static void multiply_single(const struct strip *s, int64_t group, float *c)
{
	const struct ordered *o = s->o;
	float sum[ORDERED_COLUMNS];
	for (int64_t p = 0; p < s->panels; p++) {
		int64_t at = p * ORDERED_COLUMNS, columns = least(ORDERED_COLUMNS, s->pixels - at);
		(has_avx2() ? ordered_single_avx2 : single_plain)(weights_at(o, group, 0), s->panel + p * o->k * ORDERED_COLUMNS, o->k, sum);
		memcpy(c + at, sum, (size_t)columns * sizeof *c);
	}
}

static void finish(const struct strip *s, int64_t group, float *c)
{
	const struct conv_task *t = &s->o->task;
	int64_t plane = t->g.oh * t->g.ow;
	for (int64_t r = 0; r < s->o->outputs; r++) {
		int64_t oc = group * s->o->outputs + r;
		float *row = c + r * plane;
		for (int64_t i = 0; t->bias && i < s->pixels; i++)
			row[i] += t->bias[oc];
		kept_epilogue(&t->epi, row, s->residual ? s->residual + oc * plane : NULL, s->pixels);
	}
}

static void run_strip(const struct strip *s)
{
	const struct conv_geometry *g = &s->o->task.g;
	find_all(s);
	for (int64_t group = 0; group < g->group; group++) {
		float *c = s->y + group * s->o->outputs * g->oh * g->ow;
		fill_panels(s, group);
		(s->o->outputs == 1 ? multiply_single : multiply)(s, group, c);
		finish(s, group, c);
	}
}

static size_t places_bytes(const struct ordered *o)
{
	return round_up((size_t)(o->pixels / ORDERED_COLUMNS * o->task.g.kh * o->task.g.kw) * sizeof(struct places), 64);
}

static size_t thread_bytes(const struct ordered *o)
{
	return places_bytes(o) + (size_t)(o->pixels * o->k) * sizeof(float);
}

static size_t scratch(const struct kernel *k, int width)
{
	return (size_t)width * thread_bytes((const struct ordered *)k);
}

static struct strip strip_of(const struct ordered *o, const struct kernel_io *io, int64_t piece, char *memory)
{
	const struct conv_geometry *g = &o->task.g;
	int64_t plane = g->oh * g->ow, per_image = (plane + o->pixels - 1) / o->pixels, image = piece / per_image;
	int64_t first = piece % per_image * o->pixels, at = image * g->oc * plane + first, pixels = least(o->pixels, plane - first);
	return (struct strip){
		.o = o,
		.x = (const float *)io->x + image * g->c * g->h * g->w,
		.y = (float *)io->y + at,
		.residual = io->residual ? (const float *)io->residual + at : NULL,
		.first = first,
		.pixels = pixels,
		.panels = (pixels + ORDERED_COLUMNS - 1) / ORDERED_COLUMNS,
		.places = (struct places *)(void *)memory,
		.panel = (float *)(void *)(memory + places_bytes(o)),
	};
}

struct call {
	const struct ordered *o;
	const struct kernel_io *io;
};

static void one_strip(void *arg, int64_t i, int thread)
{
	const struct call *c = arg;
	struct strip s = strip_of(c->o, c->io, i, (char *)c->io->scratch + (size_t)thread * thread_bytes(c->o));
	run_strip(&s);
}

static void run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct ordered *o = (const struct ordered *)kernel;
	int64_t per_image = (o->task.g.oh * o->task.g.ow + o->pixels - 1) / o->pixels;
	parts_deal(o->task.g.n * per_image, io->width, one_strip, &(struct call){o, io});
}

static void ordered_free(struct kernel *k)
{
	struct ordered *o = (struct ordered *)k;
	free(o->weight);
	free((void *)o->task.bias);
	free(o);
}

static const struct kernel_ops ops = {run, scratch, ordered_free};

static void pack(const struct ordered *o, const float *weight)
{
	int64_t rows = o->outputs == 1 ? 1 : ORDERED_ROWS;
	for (int64_t oc = 0; oc < o->task.g.oc; oc++) {
		float *to = weights_at(o, oc / o->outputs, oc % o->outputs / rows) + oc % o->outputs % rows;
		for (int64_t i = 0; i < o->k; i++)
			to[i * rows] = weight[oc * o->k + i];
	}
}

// Where pixel meets pixel there are no rows: values lie side by side throughout.
static void flatten(struct conv_geometry *g)
{
	if (!conv_is_pointwise(g))
		return;
	g->w = g->ow = g->w * g->h;
	g->h = g->oh = 1;
}

enum status ordered_conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	const struct conv_geometry *g = &t->g;
	struct ordered *o = xcalloc(1, sizeof *o);
	float *bias = t->bias ? mem_try_array((size_t)g->oc, sizeof *bias) : NULL;
	*out = &o->base;
	o->task = *t;
	flatten(&o->task.g);
	o->task.weight = NULL;
	o->task.bias = bias;
	o->k = g->c / g->group * g->kh * g->kw;
	o->outputs = g->oc / g->group;
	int64_t fit = STRIP_FLOATS / o->k, most = (int64_t)round_up((size_t)(g->oh * g->ow), ORDERED_COLUMNS);
	o->pixels = fit < PIXELS_LEAST ? PIXELS_LEAST : fit > PIXELS_MOST ? PIXELS_MOST : fit / ORDERED_COLUMNS * ORDERED_COLUMNS;
	o->pixels = least(o->pixels, most);
	size_t packed = (size_t)(g->group * (o->outputs == 1 ? 1 : tiles_of(o) * ORDERED_ROWS) * o->k);
	o->weight = mem_try_array(packed, sizeof *o->weight);
	o->base = (struct kernel){&ops, packed * sizeof *o->weight};
	if (!o->weight || (t->bias && !bias)) {
		kernel_free(out);
		return error_set(err, STATUS_NOMEM, "no memory for the weights of a convolution");
	}
	memset(o->weight, 0, packed * sizeof *o->weight);
	if (bias)
		memcpy(bias, t->bias, (size_t)g->oc * sizeof *bias);
	pack(o, t->weight);
	return STATUS_OK;
}
