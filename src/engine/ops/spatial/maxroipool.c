// MaxRoiPool: the maximum of each cell of each region, whose corners are rounded to elements.
#include <math.h>
#include "../rule.h"

enum { REGION = 5 }; // numbers: image, left, top, right, bottom

static enum status check_image(const struct tensor *const *in, int64_t region, struct error *err)
{
	float image = ((const float *)in[1]->data)[region * REGION];
	return image >= 0 && image < (float)in[0]->shape.dim[0] ? STATUS_OK
	                                                        : error_set(err, STATUS_FORMAT, "region %lld is in image %g of %lld",
	                                                              (long long)region, (double)image, (long long)in[0]->shape.dim[0]);
}

enum status maxroipool_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct maxroipool_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape, *rois = &in[1]->shape;
	enum status s = STATUS_OK;
	if (x->rank != 4 || rois->rank != 2 || rois->dim[1] != REGION)
		return error_set(err, STATUS_FORMAT, "needs an input of rank 4 and regions of %d numbers", REGION);
	if (a->pooled_shape.n != 2 || !rule_within(a->pooled_shape.at[0], 1, 1 << 16) || !rule_within(a->pooled_shape.at[1], 1, 1 << 16))
		return error_set(err, STATUS_FORMAT, "pooled_shape must be two sizes");
	for (int64_t k = 0; in[1]->data && k < rois->dim[0] && s == STATUS_OK; k++)
		s = check_image(in, k, err);
	if (s == STATUS_OK)
		rule_set(
		    &out[0], DT_F32, &(struct shape){.rank = 4, .dim = {rois->dim[0], x->dim[1], a->pooled_shape.at[0], a->pooled_shape.at[1]}});
	return s;
}

struct span {
	int64_t from, to;
};

// Cell i of n between two corners, within `size` elements.
static struct span cell(float begin, float end, float scale, int64_t i, int64_t n, int64_t size)
{
	const double far = 1 << 30;
	double first = fmin(fmax(round((double)(begin * scale)), -far), far), last = fmin(fmax(round((double)(end * scale)), -far), far);
	double step = fmax(last - first + 1, 1) / (double)n, limit = (double)size;
	return (struct span){
	    (int64_t)fmin(fmax(floor((double)i * step) + first, 0), limit), (int64_t)fmin(fmax(ceil((double)(i + 1) * step) + first, 0), limit)};
}

static float largest(const float *x, int64_t row, struct span y_span, struct span x_span)
{
	float best = y_span.from < y_span.to && x_span.from < x_span.to ? -INFINITY : 0;
	for (int64_t y = y_span.from; y < y_span.to; y++)
		for (int64_t i = x_span.from; i < x_span.to; i++)
			best = x[y * row + i] > best ? x[y * row + i] : best;
	return best;
}

enum status maxroipool_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct maxroipool_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape, *y = &out[0].shape;
	int64_t channels = x->dim[1], h = x->dim[2], w = x->dim[3], oh = y->dim[2], ow = y->dim[3];
	(void)err;
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t p = 0; p < y->dim[0] * channels; p++) {
		const float *roi = (const float *)in[1]->data + p / channels * REGION;
		const float *plane = (const float *)in[0]->data + ((int64_t)roi[0] * channels + p % channels) * h * w;
		for (int64_t i = 0; i < oh * ow; i++)
			((float *)out[0].data)[p * oh * ow + i] = largest(plane, w, cell(roi[2], roi[4], a->spatial_scale, i / ow, oh, h),
			    cell(roi[1], roi[3], a->spatial_scale, i % ow, ow, w));
	}
	return STATUS_OK;
}
