// GridSample over two or three spatial dimensions: nearest, linear or cubic, with zeros, border or reflection outside.
#include <math.h>
#include <string.h>
#include "../rule.h"
#include "qtui/base/parts.h"

enum mode { MODE_NEAREST, MODE_LINEAR, MODE_CUBIC };
enum outside { OUT_ZEROS, OUT_BORDER, OUT_REFLECTION };
struct sampler {
	enum mode mode;
	enum outside outside;
	bool align;
	int dims; // spatial
	int64_t size[3], stride[3];
};

static enum status parse(struct sampler *s, const struct node *n, struct error *err)
{
	const struct gridsample_attrs *a = n->attrs;
	static const struct {
		const char *name;
		enum mode mode;
	} modes[] = {{"nearest", MODE_NEAREST}, {"linear", MODE_LINEAR}, {"bilinear", MODE_LINEAR},
	    {"cubic", MODE_CUBIC}, {"bicubic", MODE_CUBIC}};
	static const char *const paddings[] = {
	    [OUT_ZEROS] = "zeros", [OUT_BORDER] = "border", [OUT_REFLECTION] = "reflection"};
	int mode = -1, outside = -1;
	for (int i = 0; i < 5; i++)
		mode = strcmp(modes[i].name, a->mode) ? mode : (int)modes[i].mode;
	for (int i = 0; i < 3; i++)
		outside = strcmp(paddings[i], a->padding_mode) ? outside : i;
	if (mode < 0 || outside < 0)
		return error_set(err, STATUS_UNSUPPORTED, "mode `%s` with padding_mode `%s` is not supported", a->mode,
		    a->padding_mode);
	s->mode = (enum mode)mode;
	s->outside = (enum outside)outside;
	s->align = a->align_corners != 0;
	return STATUS_OK;
}

static enum status make_sampler(
    struct sampler *s, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct shape *x = &in[0]->shape, *grid = &in[1]->shape;
	int64_t p = 1;
	enum status st = parse(s, n, err);
	if (st != STATUS_OK)
		return st;
	s->dims = x->rank - 2;
	if (s->dims < 2 || s->dims > 3 || grid->rank != x->rank || grid->dim[grid->rank - 1] != s->dims ||
	    grid->dim[0] != x->dim[0])
		return error_set(err, STATUS_FORMAT, "input and grid do not fit together");
	if (s->dims == 3 && s->mode == MODE_CUBIC)
		return error_set(err, STATUS_UNSUPPORTED, "cubic sampling of volumes is not supported");
	for (int i = s->dims - 1; i >= 0; i--) {
		s->size[i] = x->dim[i + 2];
		s->stride[i] = p;
		p *= s->size[i];
		if (s->size[i] < 1)
			return error_set(err, STATUS_FORMAT, "the input is empty");
	}
	return STATUS_OK;
}

enum status gridsample_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct sampler sampler;
	struct shape y = in[0]->shape;
	enum status s = make_sampler(&sampler, n, in, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 2; i < y.rank; i++)
		y.dim[i] = in[1]->shape.dim[i - 1];
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

// Mirrors at the edges low and high until the value lies between.
static double reflect(double v, double low, double high)
{
	double range = high - low, turns;
	if (range <= 0)
		return low;
	v = fabs(v - low);
	turns = floor(v / range);
	v -= turns * range;
	return fmod(turns, 2) == 0 ? v + low : high - v;
}

static double clamp(double v, double high)
{
	return !(v > 0) ? 0 : v > high ? high : v;
}

// From -1..1 to pixels, then back inside as the padding mode says.
static double position(const struct sampler *s, float g, int64_t size)
{
	float at = s->align ? (g + 1) / 2 * (float)(size - 1) : ((g + 1) * (float)size - 1) / 2;
	double v = (double)at;
	if (!isfinite(v))
		v = -1e9;
	if (s->outside == OUT_REFLECTION && s->mode != MODE_CUBIC)
		v = s->align ? reflect(v, 0, (double)size - 1) : reflect(v, -0.5, (double)size - 0.5);
	if (s->outside != OUT_ZEROS && s->mode != MODE_CUBIC)
		v = clamp(v, (double)size - 1);
	return v < -1e9 ? -1e9 : v > 1e9 ? 1e9 : v;
}

// The pixel that an index stands for, or -1.
static int64_t pixel(const struct sampler *s, int64_t i, int64_t size)
{
	if (i >= 0 && i < size)
		return i;
	if (s->outside == OUT_ZEROS)
		return -1;
	if (s->outside == OUT_BORDER)
		return i < 0 ? 0 : size - 1;
	return (int64_t)clamp(
	    s->align ? reflect((double)i, 0, (double)size - 1) : reflect((double)i, -0.5, (double)size - 0.5),
	    (double)size - 1);
}

struct taps { // along one dimension
	int n;
	int64_t at[4]; // pixels, -1 for zero
	float weight[4];
};

static void cubic_weights(float w[4], float t)
{
	const float a = -0.75f;
	float u = 1 - t, far = 1 + t, end = 1 + u;
	w[0] = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
	w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
	w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
	w[3] = ((a * end - 5 * a) * end + 8 * a) * end - 4 * a;
}

static int64_t floor_of(double v)
{
	int64_t i = (int64_t)v;
	return i - (v < (double)i);
}

static void make_taps(struct taps *t, const struct sampler *s, double v, int64_t size)
{
	int64_t base = floor_of(v);
	t->n = 1;
	t->weight[0] = 1;
	if (s->mode == MODE_NEAREST) {
		t->at[0] = pixel(s, (int64_t)nearbyint(v), size);
		return;
	}
	t->n = s->mode == MODE_LINEAR ? 2 : 4;
	if (s->mode == MODE_LINEAR) {
		t->weight[0] = (float)((double)base + 1 - v);
		t->weight[1] = (float)(v - (double)base);
	} else {
		cubic_weights(t->weight, (float)(v - (double)base--));
	}
	for (int i = 0; i < t->n; i++)
		t->at[i] = pixel(s, base + i, size);
}

// What one point of the grid is made of: the elements of a plane that lie inside, and their weights.
struct blend {
	int n;
	int64_t at[16];
	float weight[16];
};

static void add_row(struct blend *b, const struct taps *t, int64_t row, float weight)
{
	for (int i = 0; i < t->n; i++)
		if (t->at[i] >= 0) {
			b->at[b->n] = row + t->at[i];
			b->weight[b->n++] = weight * t->weight[i];
		}
}

static void make_blend(struct blend *b, const struct sampler *s, const float *g)
{
	struct taps t[3]; // of the last dimensions; a picture is a volume of one layer
	int first = 3 - s->dims;
	t[0].n = 1;
	t[0].at[0] = 0;
	t[0].weight[0] = 1;
	for (int i = 0; i < s->dims; i++) // the grid names the last dimension first
		make_taps(&t[first + i], s, position(s, g[s->dims - 1 - i], s->size[i]), s->size[i]);
	b->n = 0;
	for (int d = 0; d < t[0].n; d++)
		for (int h = 0; h < t[1].n; h++)
			if (t[0].at[d] >= 0 && t[1].at[h] >= 0)
				add_row(b, &t[2], (s->dims == 3 ? t[0].at[d] * s->stride[0] : 0) + t[1].at[h] * s->stride[s->dims - 2],
				    t[0].weight[d] * t[1].weight[h]);
}

// In float32, as ONNX Runtime sums (see average() in pool.c).
static float weighted(const struct blend *b, const float *plane)
{
	float sum = 0;
	if (b->n == 4) // all pixels around a point of a picture, which most have
		return (((sum + b->weight[0] * plane[b->at[0]]) + b->weight[1] * plane[b->at[1]]) + b->weight[2] * plane[b->at[2]]) +
		    b->weight[3] * plane[b->at[3]];
	for (int i = 0; i < b->n; i++)
		sum += b->weight[i] * plane[b->at[i]];
	return sum;
}

enum { CHUNK = 64 }; // points whose blends are made at once, for all channels

struct sampling {
	const struct sampler *sampler;
	const float *from, *grid;
	float *to;
	int64_t points, chunks, plane, channels; // of an image; plane: elements of a channel of the input
};

static void sample_chunk(void *arg, int64_t i, int thread)
{
	const struct sampling *s = arg;
	struct blend blend[CHUNK];
	int64_t image = i / s->chunks, first = i % s->chunks * CHUNK, some = s->points - first < CHUNK ? s->points - first : CHUNK;
	(void)thread;
	for (int64_t p = 0; p < some; p++)
		make_blend(&blend[p], s->sampler, s->grid + (image * s->points + first + p) * s->sampler->dims);
	for (int64_t k = image * s->channels; k < (image + 1) * s->channels; k++)
		for (int64_t p = 0; p < some; p++)
			s->to[k * s->points + first + p] = weighted(&blend[p], s->from + k * s->plane);
}

enum status gridsample_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	struct sampler sampler;
	enum status s = make_sampler(&sampler, n, in, err);
	int64_t points = rule_product(&out[0].shape, 2, x->rank), chunks = (points + CHUNK - 1) / CHUNK;
	if (s != STATUS_OK)
		return s;
	struct sampling all = {&sampler, in[0]->data, in[1]->data, out[0].data, points, chunks, rule_product(x, 2, x->rank), x->dim[1]};
	parts_share(x->dim[0] * chunks, width, sample_chunk, &all);
	return STATUS_OK;
}
