// RoiAlign: mean or maximum of bilinear samples in the cells of each region.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"

static enum status check_image(const struct tensor *const *in, int64_t region, struct error *err)
{
	int64_t image = element_int(in[2], region);
	return rule_within(image, 0, in[0]->shape.dim[0] - 1) ? STATUS_OK
	                                                      : error_set(err, STATUS_FORMAT, "region %lld is in image %lld of %lld",
	                                                            (long long)region, (long long)image, (long long)in[0]->shape.dim[0]);
}

enum status roialign_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct roialign_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape, *rois = &in[1]->shape;
	struct shape y = {.rank = 4};
	if (x->rank != 4 || rois->rank != 2 || rois->dim[1] != 4 || tensor_count(in[2]) != rois->dim[0])
		return error_set(
		    err, STATUS_FORMAT, "needs an input of rank 4, regions of 4 numbers and a batch index for each");
	if (x->dim[2] < 1 || x->dim[3] < 1)
		return error_set(err, STATUS_FORMAT, "the input is empty");
	if (!rule_within(a->output_height, 1, 1 << 16) || !rule_within(a->output_width, 1, 1 << 16) ||
	    !rule_within(a->sampling_ratio, 0, 1 << 10))
		return error_set(err, STATUS_FORMAT, "output_height, output_width or sampling_ratio makes no sense");
	if (strcmp(a->mode, "avg") && strcmp(a->mode, "max"))
		return error_set(err, STATUS_UNSUPPORTED, "mode `%s` is not supported", a->mode);
	for (int64_t k = 0; in[2]->data && k < rois->dim[0]; k++) {
		enum status s = check_image(in, k, err);
		if (s != STATUS_OK)
			return s;
	}
	y.dim[0] = rois->dim[0];
	y.dim[1] = x->dim[1];
	y.dim[2] = a->output_height;
	y.dim[3] = a->output_width;
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

struct region {
	double y, x, cell_h, cell_w; // corner and size of a cell
	int64_t grid_h, grid_w;      // samples in a cell
	int64_t h, w;                // of a channel's plane
	int64_t channels, cells;     // cells of a channel
	bool max;
};

static int64_t grid_size(int64_t wanted, double cell)
{
	double size = ceil(cell);
	return wanted > 0 ? wanted : !(size >= 1) ? 1 : size > 1 << 10 ? 1 << 10 : (int64_t)size;
}

static struct region make_region(const struct roialign_attrs *a, const float *roi, const struct shape *x)
{
	double offset = strcmp(a->transform, "half_pixel") ? 0 : 0.5, scale = (double)a->spatial_scale;
	struct region r = {.x = (double)roi[0] * scale - offset,
	    .y = (double)roi[1] * scale - offset,
	    .h = x->dim[2],
	    .w = x->dim[3],
	    .channels = x->dim[1],
	    .cells = a->output_height * a->output_width,
	    .max = !strcmp(a->mode, "max")};
	double w = (double)roi[2] * scale - offset - r.x, h = (double)roi[3] * scale - offset - r.y;
	if (offset == 0) { // the old form gives every region at least one pixel
		w = w > 1 ? w : 1;
		h = h > 1 ? h : 1;
	}
	r.cell_h = h / (double)a->output_height;
	r.cell_w = w / (double)a->output_width;
	r.grid_h = grid_size(a->sampling_ratio, r.cell_h);
	r.grid_w = grid_size(a->sampling_ratio, r.cell_w);
	return r;
}

struct corners {
	int64_t at[4];
	double weight[4];
};

static bool make_corners(struct corners *c, const struct region *r, double y, double x)
{
	int64_t y0, x0, y1, x1;
	double fy, fx;
	if (!(y >= -1 && y <= (double)r->h && x >= -1 && x <= (double)r->w))
		return false;
	y = y > 0 ? y : 0;
	x = x > 0 ? x : 0;
	y0 = y >= (double)(r->h - 1) ? r->h - 1 : (int64_t)y;
	x0 = x >= (double)(r->w - 1) ? r->w - 1 : (int64_t)x;
	y1 = y0 + 1 < r->h ? y0 + 1 : y0;
	x1 = x0 + 1 < r->w ? x0 + 1 : x0;
	fy = y1 > y0 ? y - (double)y0 : 0;
	fx = x1 > x0 ? x - (double)x0 : 0;
	*c = (struct corners){{y0 * r->w + x0, y0 * r->w + x1, y1 * r->w + x0, y1 * r->w + x1},
	    {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx}};
	return true;
}

// The maximum is taken over the weighted corners themselves, as ONNX defines it.
static double sample(const struct corners *c, const float *plane, bool max)
{
	double v = c->weight[0] * (double)plane[c->at[0]];
	for (int i = 1; i < 4; i++) {
		double w = c->weight[i] * (double)plane[c->at[i]];
		v = max ? (w > v ? w : v) : v + w;
	}
	return v;
}

// Where a sample of a cell lies, for all channels; at[0] -1: outside, where all is 0.
static struct corners cell_corners(const struct region *r, int64_t cell_y, int64_t cell_x, int64_t sample)
{
	struct corners c;
	double y = r->y + r->cell_h * ((double)cell_y + ((double)(sample / r->grid_w) + 0.5) / (double)r->grid_h);
	double x = r->x + r->cell_w * ((double)cell_x + ((double)(sample % r->grid_w) + 0.5) / (double)r->grid_w);
	return make_corners(&c, r, y, x) ? c : (struct corners){.at = {-1}};
}

enum { SAMPLES = 64 }; // whose corners are held at once

// One cell of all channels: from x, where they lie a plane apart, to out,
// where they lie all cells apart. total[channels] is scratch.
static void pool_cell(const struct region *r, const float *x, float *out, int64_t cell_y, int64_t cell_x, double *total)
{
	struct corners c[SAMPLES];
	int64_t plane = r->h * r->w;
	int64_t samples = r->grid_h * r->grid_w;
	for (int64_t from = 0; from < samples; from += SAMPLES) {
		int64_t n = samples - from < SAMPLES ? samples - from : SAMPLES;
		for (int64_t i = 0; i < n; i++)
			c[i] = cell_corners(r, cell_y, cell_x, from + i);
		for (int64_t k = 0; k < r->channels; k++)
			for (int64_t i = 0; i < n; i++) {
				double v = c[i].at[0] < 0 ? 0 : sample(&c[i], x + k * plane, r->max), t = from + i ? total[k] : r->max ? v : 0;
				total[k] = !r->max ? t + v : v > t ? v : t;
			}
	}
	for (int64_t k = 0; k < r->channels; k++)
		out[k * r->cells] = (float)(r->max ? total[k] : total[k] / (double)samples);
}

enum status roialign_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct roialign_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	float *y = out[0].data;
	int64_t cells = a->output_height * a->output_width, plane = x->dim[2] * x->dim[3], channels = x->dim[1];
	double *total = mem_try_array((size_t)channels + 1, sizeof *total);
	enum status s = total ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory for %lld sums", (long long)channels);
	(void)width;
	for (int64_t k = 0; s == STATUS_OK && k < in[1]->shape.dim[0]; k++, y += channels * cells) {
		struct region r = make_region(a, (const float *)in[1]->data + 4 * k, x);
		int64_t batch = element_int(in[2], k);
		s = check_image(in, k, err);
		for (int64_t i = 0; s == STATUS_OK && i < cells; i++)
			pool_cell(&r, (const float *)in[0]->data + batch * channels * plane, y + i, i / a->output_width, i % a->output_width,
			    total);
	}
	free(total);
	return s;
}
