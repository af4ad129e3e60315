// The onednn backend's parts (private): the engine, primitives by width, and one call that runs a primitive.
//
// oneDNN fixes the number of threads of a primitive when it is made, so a kernel has one primitive for each
// width that it has been run with (struct onednn_prims); all read the same packed weights.
#ifndef QTUI_ENGINE_BACKEND_ONEDNN_H
#define QTUI_ENGINE_BACKEND_ONEDNN_H

#include <pthread.h>
#include "backend.h"
#include "onednn_api.h"

MUST_CHECK enum status onednn_conv(struct kernel **out, const struct conv_task *t, struct error *err);
MUST_CHECK enum status onednn_product(struct kernel **out, const struct matmul_task *t, struct error *err);

// One for the process; NULL when oneDNN cannot make it.
dnnl_engine_t onednn_engine(void);

struct onednn_arg {
	int arg; // DNNL_ARG_SRC ...
	void *data;
};
struct onednn_prims;
// Runs on the calling thread with `width` OpenMP threads. What is made for it stays with prims for the next time
// (NULL: does not); the same primitive of one prims always takes the same arguments, with other data. Ends the program
// where memory for a few descriptors is gone: oneDNN has no other reason to refuse what it made the primitive for.
void onednn_execute(struct onednn_prims *prims, dnnl_primitive_t p, const struct onednn_arg *arg, int n, int width);
bool onednn_reorder(api_md_ref from, const void *src, api_md_ref to, void *dst);

size_t onednn_md_bytes(dnnl_primitive_t p, dnnl_query_t what);
api_md_ref onednn_md(dnnl_primitive_t p, dnnl_query_t what);
// NULL unless it was written for this processor: oneDNN also has slow ones that can do everything.
dnnl_primitive_t onednn_fast_conv(const struct api_conv *c, dnnl_primitive_attr_t attr);

#define ONEDNN_MAX_WIDTH 64 // threads of one call; wider ones take as many
struct onednn_prims {
	pthread_mutex_t lock;
	_Atomic(dnnl_primitive_t) by_width[ONEDNN_MAX_WIDTH + 1];
	_Atomic(struct onednn_call *) idle;
};
// Makes a primitive for as many threads as OpenMP would now use; NULL when there is none.
typedef dnnl_primitive_t onednn_make_fn(const void *arg);
void onednn_prims_init(struct onednn_prims *p, dnnl_primitive_t one);
void onednn_prims_done(struct onednn_prims *p);
// The primitive for a width, made when it is first asked for. Falls back to the one for a single thread,
// when there is no other or it wants its weights in another order.
dnnl_primitive_t onednn_prims_get(struct onednn_prims *p, int width, onednn_make_fn *make, const void *arg);

#endif
