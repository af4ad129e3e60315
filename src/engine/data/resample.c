// A one-dimensional filter, applied along x and then along y.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "../tensor/cpu.h"
#include "qtui/base/mem.h"
#include "resample.h"
#include "resample_rows.h"

static void filter_done(struct resample_filter *f)
{
	free(f->first);
	free(f->count);
	free(f->weight);
}

// The weights of one output position, in double, scaled to the sum 1 and then rounded to fixed point.
static void fill_position(struct resample_filter *f, int i, double *w, double scale, double support, int n_in)
{
	double centre = (i + 0.5) * scale, stretch = 1 / (scale < 1 ? 1 : scale), sum = 0;
	int from = (int)(centre - support + 0.5), to = (int)(centre + support + 0.5);
	from = from < 0 ? 0 : from;
	to = to > n_in ? n_in : to;
	for (int k = 0; k < to - from; k++) {
		double distance = fabs((k + from - centre + 0.5) * stretch);
		w[k] = distance < 1 ? 1 - distance : 0;
		sum += w[k];
	}
	f->first[i] = from;
	f->count[i] = to - from;
	for (int k = 0; k < to - from; k++)
		f->weight[(size_t)i * (size_t)f->taps + (size_t)k] =
		    (int)(0.5 + (sum != 0 ? w[k] / sum : w[k]) * (1 << RESAMPLE_BITS));
}

static bool filter_init(struct resample_filter *f, int n_in, int n_out)
{
	double scale = (double)n_in / n_out, support = scale < 1 ? 1 : scale;
	double *w;
	f->taps = (int)ceil(support) * 2 + 1;
	f->first = mem_try_array((size_t)n_out, sizeof(int));
	f->count = mem_try_array((size_t)n_out, sizeof(int));
	f->weight = mem_try_array((size_t)n_out * (size_t)f->taps, sizeof(int));
	w = mem_try_array((size_t)f->taps, sizeof(double));
	for (int i = 0; f->first && f->count && f->weight && w && i < n_out; i++)
		fill_position(f, i, w, scale, support, n_in);
	free(w);
	return f->first && f->count && f->weight && w;
}

static const struct resample_rows *rows_here(void)
{
	return cpu_level() >= CPU_AVX2 && resample_avx2.along_x ? &resample_avx2 : &resample_plain;
}

static bool along_x(struct image *out, const struct image *in, int w)
{
	struct resample_filter f = {0};
	const struct resample_rows *rows = rows_here();
	bool ok = filter_init(&f, in->w, w);
	*out = (struct image){.w = w, .h = in->h, .rgb = ok ? mem_try_array((size_t)w * (size_t)in->h, 3) : NULL};
	for (int y = 0; out->rgb && y < in->h; y++)
		rows->along_x(out->rgb + (size_t)y * (size_t)w * 3, in->rgb + (size_t)y * (size_t)in->w * 3, w, &f);
	filter_done(&f);
	return out->rgb;
}

static bool along_y(struct image *out, const struct image *in, int h)
{
	struct resample_filter f = {0};
	size_t stride = (size_t)in->w * 3;
	const struct resample_rows *rows = rows_here();
	int *sum = mem_try_array(stride, sizeof(int));
	bool ok = sum && filter_init(&f, in->h, h);
	*out = (struct image){.w = in->w, .h = h, .rgb = ok ? mem_try_array((size_t)in->w * (size_t)h, 3) : NULL};
	for (int y = 0; out->rgb && y < h; y++)
		rows->along_y(out->rgb + (size_t)y * stride, sum, in->rgb, stride, y, &f);
	filter_done(&f);
	free(sum);
	return out->rgb;
}

static bool copy(struct image *out, const struct image *in)
{
	*out = *in;
	out->rgb = mem_try_array((size_t)in->w * (size_t)in->h, 3);
	if (out->rgb)
		memcpy(out->rgb, in->rgb, (size_t)in->w * (size_t)in->h * 3);
	return out->rgb;
}

enum status resample(struct image *out, const struct image *in, int w, int h, struct error *err)
{
	struct image narrow = {0};
	bool ok;
	if (in->w == w && in->h == h) {
		ok = copy(out, in);
	} else if (in->h == h) {
		ok = along_x(out, in, w);
	} else if (in->w == w) {
		ok = along_y(out, in, h);
	} else {
		ok = along_x(&narrow, in, w) && along_y(out, &narrow, h);
		free(narrow.rgb);
	}
	return ok ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory to resize an image to %d x %d", w, h);
}
