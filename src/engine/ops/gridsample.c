// GridSample over two or three spatial dimensions: nearest, linear or cubic, with zeros, border or reflection outside.
#include <math.h>
#include <string.h>
#include "rule.h"

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

static struct taps make_taps(const struct sampler *s, double v, int64_t size)
{
	struct taps t = {.n = 1, .weight = {1}};
	int64_t base = (int64_t)floor(v);

	if (s->mode == MODE_NEAREST) {
		t.at[0] = pixel(s, (int64_t)nearbyint(v), size);
		return t;
	}
	t.n = s->mode == MODE_LINEAR ? 2 : 4;
	if (s->mode == MODE_LINEAR) {
		t.weight[0] = (float)((double)base + 1 - v);
		t.weight[1] = (float)(v - (double)base);
	} else {
		cubic_weights(t.weight, (float)(v - (double)base--));
	}
	for (int i = 0; i < t.n; i++)
		t.at[i] = pixel(s, base + i, size);
	return t;
}

// In float32, as ONNX Runtime sums (see average() in pool.c).
static float weighted(const struct sampler *s, const struct taps *taps, const float *plane)
{
	float sum = 0;
	int last = s->dims - 1, depth = s->dims == 3 ? taps[0].n : 1;

	for (int d = 0; d < depth; d++)
		for (int h = 0; h < taps[last - 1].n; h++)
			for (int w = 0; w < taps[last].n; w++) {
				int64_t zd = s->dims == 3 ? taps[0].at[d] : 0, zh = taps[last - 1].at[h],
				        zw = taps[last].at[w];
				float weight = (s->dims == 3 ? taps[0].weight[d] : 1) * taps[last - 1].weight[h] *
				                taps[last].weight[w];
				if (zd >= 0 && zh >= 0 && zw >= 0)
					sum += weight * plane[(s->dims == 3 ? zd * s->stride[0] : 0) +
					                              zh * s->stride[last - 1] + zw];
			}
	return sum;
}

enum status gridsample_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	struct sampler sampler;
	enum status s = make_sampler(&sampler, n, in, err);
	const float *grid = in[1]->data, *from = in[0]->data;
	float *to = out[0].data;
	int64_t points = rule_product(&out[0].shape, 2, x->rank), plane = rule_product(x, 2, x->rank), c = x->dim[1];

	if (s != STATUS_OK)
		return s;
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t p = 0; p < x->dim[0] * points; p++) {
		struct taps taps[3];
		for (int i = 0; i < sampler.dims; i++) // the grid names the last dimension first
			taps[i] = make_taps(&sampler,
			    position(&sampler, grid[p * sampler.dims + sampler.dims - 1 - i], sampler.size[i]),
			    sampler.size[i]);
		for (int64_t k = 0; k < c; k++)
			to[(p / points * c + k) * points + p % points] =
			    weighted(&sampler, taps, from + (p / points * c + k) * plane);
	}
	return STATUS_OK;
}
