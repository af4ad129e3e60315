// What differs between oneDNN 2.x and 3.x, and nothing else (private to onednn*.c).
// In 2.x a memory descriptor is a struct and operations have descriptors of their own;
// in 3.x it is a handle and primitive descriptors are made in one call.
#ifndef QTUI_ENGINE_BACKEND_ONEDNN_API_H
#define QTUI_ENGINE_BACKEND_ONEDNN_API_H

#include <dnnl.h>
#include <stdbool.h>
#include <string.h>

struct api_conv {
	bool transposed;
	const struct api_md *src, *weights, *bias, *dst; // bias may be NULL
	dnnl_dims_t stride, dilation, pad_before, pad_after;
};

#if DNNL_VERSION_MAJOR >= 3

typedef const_dnnl_memory_desc_t api_md_ref;
struct api_md {
	dnnl_memory_desc_t own;
};

static inline dnnl_status_t api_md_init(struct api_md *m, int rank, const int64_t *dim, dnnl_format_tag_t tag)
{
	dnnl_dims_t dims = {0};
	memcpy(dims, dim, (size_t)rank * sizeof *dim);
	return dnnl_memory_desc_create_with_tag(&m->own, rank, dims, dnnl_f32, tag);
}

static inline void api_md_done(struct api_md *m)
{
	if (m->own)
		dnnl_memory_desc_destroy(m->own);
	m->own = NULL;
}

static inline api_md_ref api_md_ref_of(const struct api_md *m)
{
	return m ? m->own : NULL;
}

static inline dnnl_status_t api_conv_create(dnnl_primitive_desc_t *out, const struct api_conv *c,
    dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	api_md_ref src = api_md_ref_of(c->src), weights = api_md_ref_of(c->weights), bias = api_md_ref_of(c->bias);
	if (c->transposed)
		return dnnl_deconvolution_forward_primitive_desc_create(out, engine, dnnl_forward_inference, dnnl_deconvolution_direct,
		    src, weights, bias, api_md_ref_of(c->dst), c->stride, c->dilation, c->pad_before, c->pad_after, attr);
	return dnnl_convolution_forward_primitive_desc_create(out, engine, dnnl_forward_inference, dnnl_convolution_direct, src,
	    weights, bias, api_md_ref_of(c->dst), c->stride, c->dilation, c->pad_before, c->pad_after, attr);
}

static inline dnnl_status_t api_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float a, float b)
{
	return dnnl_post_ops_append_eltwise(ops, kind, a, b);
}

#else

typedef const dnnl_memory_desc_t *api_md_ref;
struct api_md {
	dnnl_memory_desc_t own;
};

static inline dnnl_status_t api_md_init(struct api_md *m, int rank, const int64_t *dim, dnnl_format_tag_t tag)
{
	dnnl_dims_t dims = {0};
	memcpy(dims, dim, (size_t)rank * sizeof *dim);
	return dnnl_memory_desc_init_by_tag(&m->own, rank, dims, dnnl_f32, tag);
}

static inline void api_md_done(struct api_md *m)
{
	(void)m;
}

static inline api_md_ref api_md_ref_of(const struct api_md *m)
{
	return m ? &m->own : NULL;
}

static inline dnnl_status_t api_conv_create(dnnl_primitive_desc_t *out, const struct api_conv *c,
    dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	dnnl_convolution_desc_t d; // of both directions
	api_md_ref src = api_md_ref_of(c->src), weights = api_md_ref_of(c->weights), bias = api_md_ref_of(c->bias);
	dnnl_status_t s;
	if (c->transposed)
		s = dnnl_dilated_deconvolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_deconvolution_direct, src, weights,
		    bias, api_md_ref_of(c->dst), c->stride, c->dilation, c->pad_before, c->pad_after);
	else
		s = dnnl_dilated_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct, src, weights,
		    bias, api_md_ref_of(c->dst), c->stride, c->dilation, c->pad_before, c->pad_after);
	return s == dnnl_success ? dnnl_primitive_desc_create(out, &d, attr, engine, NULL) : s;
}

static inline dnnl_status_t api_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float a, float b)
{
	return dnnl_post_ops_append_eltwise(ops, 1.0f, kind, a, b);
}

#endif

// x * max(0, min(1, x / 6 + 1/2)); 2.x ignores the two numbers.
static inline dnnl_status_t api_append_hardswish(dnnl_post_ops_t ops)
{
	return api_append_eltwise(ops, dnnl_eltwise_hardswish, 1.0f / 6.0f, 0.5f);
}

#endif
