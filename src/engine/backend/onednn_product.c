// Products with a large constant matrix: a 1x1 convolution of one row of pixels whose channels lie side by side,
// for which oneDNN packs the weights once; its matrix product packs both sides every time.
#include <stdlib.h>
#include <string.h>
#include "onednn.h"
#include "qtui/base/parts.h"

struct onednn_product {
	struct kernel base;
	int64_t m, n, k;
	struct act act;
	float *bias; // or NULL
	struct buf *weights;
	struct onednn_prims prims;
};

struct product_mds {
	struct api_md src, weights, bias, dst;
};

static dnnl_status_t init_mds(struct product_mds *m, const struct onednn_product *k)
{
	dnnl_status_t s = api_md_init(&m->src, 4, (int64_t[]){1, k->k, 1, k->m}, dnnl_nhwc);
	if (s == dnnl_success)
		s = api_md_init(&m->weights, 4, (int64_t[]){k->n, k->k, 1, 1}, dnnl_format_tag_any);
	if (s == dnnl_success)
		s = api_md_init(&m->bias, 1, (int64_t[]){k->n}, dnnl_a);
	if (s == dnnl_success)
		s = api_md_init(&m->dst, 4, (int64_t[]){1, k->n, 1, k->m}, dnnl_nhwc);
	return s;
}

static void done_mds(struct product_mds *m)
{
	api_md_done(&m->src);
	api_md_done(&m->weights);
	api_md_done(&m->bias);
	api_md_done(&m->dst);
}

static dnnl_status_t make_attr(dnnl_primitive_attr_t *out)
{
	dnnl_status_t s = dnnl_primitive_attr_create(out);
	return s == dnnl_success ? dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user) : s;
}

// An onednn_make_fn; NULL where oneDNN has nothing fast.
static dnnl_primitive_t make(const void *kernel)
{
	const struct onednn_product *k = kernel;
	struct product_mds m = {0};
	dnnl_primitive_attr_t attr = NULL;
	dnnl_primitive_t p = NULL;
	if (init_mds(&m, k) == dnnl_success && make_attr(&attr) == dnnl_success)
		p = onednn_fast_conv(&(struct api_conv){.src = &m.src, .weights = &m.weights, .bias = k->bias ? &m.bias : NULL, .dst = &m.dst,
		    .stride = {1, 1}}, attr);
	if (attr)
		dnnl_primitive_attr_destroy(attr);
	done_mds(&m);
	return p;
}

static dnnl_primitive_t primitive_for(const struct kernel *kernel, int width)
{
	// Adding a primitive for another width changes nothing that another thread can see of the kernel.
	struct onednn_product *k = (struct onednn_product *)kernel;
	return onednn_prims_get(&k->prims, width, make, k);
}

static size_t product_scratch(const struct kernel *kernel, int width)
{
	return onednn_md_bytes(primitive_for(kernel, width), dnnl_query_scratchpad_md);
}

enum { PIECE = 4096 }; // elements
struct activation {
	const struct act *act;
	float *y;
};

static void activate_piece(void *arg, int64_t at, int64_t n)
{
	const struct activation *a = arg;
	elt_act(a->act, a->y + at, a->y + at, n);
}

static void activate(const struct onednn_product *k, float *y, int width)
{
	if (k->act.kind != ACT_NONE)
		parts_cut(k->m * k->n, PIECE, width, activate_piece, &(struct activation){&k->act, y});
}

static void product_run(const struct kernel *kernel, const struct kernel_io *io)
{
	struct onednn_product *k = (struct onednn_product *)kernel;
	dnnl_primitive_t p = primitive_for(kernel, io->width);
	struct onednn_arg args[5] = {
		{DNNL_ARG_SRC, (void *)io->x},
		{DNNL_ARG_WEIGHTS, k->weights->data},
		{DNNL_ARG_DST, io->y},
	};
	int n = 3;
	if (k->bias)
		args[n++] = (struct onednn_arg){DNNL_ARG_BIAS, k->bias};
	if (onednn_md_bytes(p, dnnl_query_scratchpad_md))
		args[n++] = (struct onednn_arg){DNNL_ARG_SCRATCHPAD, io->scratch};
	onednn_execute(&k->prims, p, args, n, io->width);
	activate(k, io->y, io->width);
}

static void product_free(struct kernel *kernel)
{
	struct onednn_product *k = (struct onednn_product *)kernel;
	onednn_prims_done(&k->prims);
	buf_drop(&k->weights);
	free(k->bias);
	free(k);
}

static const struct kernel_ops ops = {product_run, product_scratch, product_free};

static enum status pack(struct onednn_product *k, const struct matmul_task *t, dnnl_primitive_t p, struct error *err)
{
	struct api_md plain = {0};
	enum status s = STATUS_OK;
	k->base.bytes = onednn_md_bytes(p, dnnl_query_weights_md);
	k->weights = buf_new(k->base.bytes, NULL);
	if (!k->weights)
		return error_set(err, STATUS_NOMEM, "no memory for a matrix of %lld by %lld", (long long)k->k, (long long)k->n);
	if (api_md_init(&plain, 4, (int64_t[]){k->n, k->k, 1, 1}, t->trans_b ? dnnl_oihw : dnnl_iohw) != dnnl_success ||
	    !onednn_reorder(api_md_ref_of(&plain), t->weight, onednn_md(p, dnnl_query_weights_md), k->weights->data))
		s = STATUS_UNSUPPORTED;
	api_md_done(&plain);
	return s;
}

// Matrices that fit the second-level cache are multiplied as they lie.
enum { LARGE = 1 << 18, MOST = 1 << 20 };

// Rows of one matrix against a constant one; sizes that oneDNN counts in int.
static bool serves(const struct matmul_task *t)
{
	return t->weight && !t->ordered && !t->trans_a && t->batch == 1 && t->alpha == 1.0f && t->m <= MOST && t->n <= MOST && t->k <= MOST &&
	    t->n * t->k >= LARGE && t->m * t->n <= INT32_MAX && t->m * t->k <= INT32_MAX && onednn_engine();
}

enum status onednn_product(struct kernel **out, const struct matmul_task *t, struct error *err)
{
	if (!serves(t))
		return STATUS_UNSUPPORTED;
	struct onednn_product *k = xcalloc(1, sizeof *k);
	*k = (struct onednn_product){.base.ops = &ops, .m = t->m, .n = t->n, .k = t->k, .act = t->act};
	if (t->bias) {
		k->bias = xmalloc((size_t)t->n * sizeof *k->bias);
		memcpy(k->bias, t->bias, (size_t)t->n * sizeof *k->bias);
	}
	int before = width_set(1);
	dnnl_primitive_t p = make(k);
	omp_set_num_threads(before);
	onednn_prims_init(&k->prims, p);
	enum status s = p ? pack(k, t, p, err) : STATUS_UNSUPPORTED;
	*out = &k->base;
	if (s != STATUS_OK)
		kernel_free(out);
	return s;
}
