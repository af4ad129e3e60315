// Bilinear Resize as ONNX Runtime's kernel for planes adds it up: four products of both weights with a pixel, from the upper left to the lower
// right. Where both neighbours are one pixel, at the far edges, each has half of the weight.
#include <math.h>
#include <stdlib.h>
#include "ordered.h"
#include "resize.h"

struct neighbours {
	int64_t near, far;
	float w_near, w_far;
};

static void find_neighbours(struct neighbours *at, const struct resize *r, const struct resize_axis *a)
{
	const float last = (float)(a->in - 1);

	for (int64_t o = 0; o < a->out; o++) {
		float x = a->scale == 1 ? (float)o : resize_coordinate(r, a, o);
		x = x > 0 ? x < last ? x : last : 0;
		int64_t near = (int64_t)x, far = near + 1 < a->in ? near + 1 : near;
		at[o] = (struct neighbours){near, far, .5f, .5f};
		if (near != far) {
			at[o].w_near = fabsf(x - (float)far);
			at[o].w_far = fabsf(x - (float)near);
		}
	}
}

static void fill_plane(float *y, const float *x, int64_t stride, const struct neighbours *rows, int64_t n_rows,
    const struct neighbours *columns, int64_t n_columns)
{
	for (int64_t i = 0; i < n_rows; i++) {
		const struct neighbours r = rows[i];
		const float *upper = x + r.near * stride, *lower = x + r.far * stride;
		for (int64_t j = 0; j < n_columns; j++) {
			const struct neighbours c = columns[j];
			y[i * n_columns + j] = c.w_near * r.w_near * upper[c.near] + c.w_far * r.w_near * upper[c.far] +
			    c.w_near * r.w_far * lower[c.near] + c.w_far * r.w_far * lower[c.far];
		}
	}
}

static bool is_bilinear(const struct resize *r, const struct tensor *x)
{
	return x->type == DT_F32 && tensor_count(x) > 0 && r->kind == RESIZE_LINEAR && !r->antialias && r->transform != TRANSFORM_CROP && r->rank == 4 &&
	    r->axis[0].in == r->axis[0].out && r->axis[1].in == r->axis[1].out;
}

enum status ordered_resize(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct resize r;
	enum status s = resize_resolve(&r, n, in, err);

	if (s != STATUS_OK)
		return s;
	if (!is_bilinear(&r, in[0]))
		return resize_eval(n, in, out, width, err);
	const struct resize_axis *h = &r.axis[2], *w = &r.axis[3];
	struct neighbours *rows = mem_try_array((size_t)(h->out + w->out) + 1, sizeof *rows), *columns = rows + h->out;
	if (!rows)
		return error_set(err, STATUS_NOMEM, "no memory for the weights of %lld rows and columns", (long long)(h->out + w->out));
	find_neighbours(rows, &r, h);
	find_neighbours(columns, &r, w);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t p = 0; p < r.axis[0].in * r.axis[1].in; p++)
		fill_plane((float *)out[0].data + p * h->out * w->out, (const float *)in[0]->data + p * h->in * w->in, w->in, rows, h->out, columns,
		    w->out);
	free(rows);
	return STATUS_OK;
}
