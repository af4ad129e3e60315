#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "onednn.h"
#include "tiles.h"

static dnnl_engine_t engine;

// oneDNN lets the exceptions of its allocations out of functions of C, which ends the program:
// by names of the C++ library that it brings, that is told as it is.
static void (*other_end)(void);
static const void *(*exception_type)(void);
static const void *bad_alloc;

static void on_exception(void)
{
	if (exception_type && bad_alloc && exception_type() == bad_alloc)
		mem_exhausted();
	other_end();
}

static void watch_exceptions(void)
{
	void *self = dlopen(NULL, RTLD_NOW);
	void (*(*set_terminate)(void (*)(void)))(void) =
	    self ? (void (*(*)(void (*)(void)))(void))dlsym(self, "_ZSt13set_terminatePFvvE") : NULL;
	if (!set_terminate)
		return;
	exception_type = (const void *(*)(void))dlsym(self, "__cxa_current_exception_type");
	bad_alloc = dlsym(self, "_ZTISt9bad_alloc");
	other_end = set_terminate(on_exception);
}

static void make_engine(void)
{
	watch_exceptions();
	if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
		engine = NULL;
}

dnnl_engine_t onednn_engine(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_engine);
	return engine;
}

static const_dnnl_primitive_desc_t desc_of(dnnl_primitive_t p)
{
	const_dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_get_primitive_desc(p, &pd);
	return pd;
}

api_md_ref onednn_md(dnnl_primitive_t p, dnnl_query_t what)
{
	return dnnl_primitive_desc_query_md(desc_of(p), what, 0);
}

size_t onednn_md_bytes(dnnl_primitive_t p, dnnl_query_t what)
{
	api_md_ref md = onednn_md(p, what);
	return md ? dnnl_memory_desc_get_size(md) : 0;
}

static bool is_fast(const_dnnl_primitive_desc_t pd)
{
	const char *name = NULL;
	if (dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) != dnnl_success || !name)
		return false;
	return !strstr(name, "ref") && !strstr(name, "gemm");
}

dnnl_primitive_t onednn_fast_conv(const struct api_conv *c, dnnl_primitive_attr_t attr)
{
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t p = NULL;
	if (api_conv_create(&pd, c, attr, onednn_engine()) != dnnl_success)
		return NULL;
	if (is_fast(pd) && dnnl_primitive_create(&p, pd) != dnnl_success)
		p = NULL;
	dnnl_primitive_desc_destroy(pd);
	return p;
}

static void must(dnnl_status_t s)
{
	if (s != dnnl_success)
		mem_exhausted();
}

#define MAX_ARGS 8

// What oneDNN wants made for an execution. It can be used again with other data, by one thread at a time.
struct onednn_call {
	dnnl_primitive_t p;
	dnnl_stream_t stream;
	dnnl_exec_arg_t list[MAX_ARGS];
	int n;
};

static struct onednn_call *call_new(dnnl_primitive_t p, const struct onednn_arg *arg, int n)
{
	struct onednn_call *c = xcalloc(1, sizeof *c);
	*c = (struct onednn_call){.p = p, .n = n};
	must(dnnl_stream_create(&c->stream, engine, dnnl_stream_default_flags));
	for (int i = 0; i < n; i++) {
		api_md_ref md = dnnl_primitive_desc_query_md(desc_of(p), dnnl_query_exec_arg_md, arg[i].arg);
		c->list[i].arg = arg[i].arg;
		must(dnnl_memory_create(&c->list[i].memory, md, engine, arg[i].data));
	}
	return c;
}

static void call_free(struct onednn_call *c)
{
	if (!c)
		return;
	dnnl_stream_destroy(c->stream);
	for (int i = 0; i < c->n; i++)
		dnnl_memory_destroy(c->list[i].memory);
	free(c);
}

// The idle call of the kernel if it serves, else a new one.
static struct onednn_call *call_take(struct onednn_prims *prims, dnnl_primitive_t p, const struct onednn_arg *arg, int n)
{
	struct onednn_call *c = prims ? atomic_exchange(&prims->idle, NULL) : NULL;
	if (!c || c->p != p || c->n != n) {
		call_free(c);
		return call_new(p, arg, n);
	}
	for (int i = 0; i < n; i++)
		must(dnnl_memory_set_data_handle(c->list[i].memory, arg[i].data));
	return c;
}

void onednn_execute(struct onednn_prims *prims, dnnl_primitive_t p, const struct onednn_arg *arg, int n, int width)
{
	assert(n <= MAX_ARGS);
	struct onednn_call *c = call_take(prims, p, arg, n);
	int before = width_set(width);
	must(dnnl_primitive_execute(p, c->stream, n, c->list));
	must(dnnl_stream_wait(c->stream));
	omp_set_num_threads(before);
	call_free(prims ? atomic_exchange(&prims->idle, c) : c);
}

bool onednn_reorder(api_md_ref from, const void *src, api_md_ref to, void *dst)
{
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t p = NULL;
	bool done = false;
	if (dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL) != dnnl_success)
		return false;
	if (dnnl_primitive_create(&p, pd) == dnnl_success) {
		struct onednn_arg args[] = {
			{DNNL_ARG_FROM, (void *)src},
			{DNNL_ARG_TO, dst},
		};
		onednn_execute(NULL, p, args, 2, 1);
		done = true;
		dnnl_primitive_destroy(p);
	}
	dnnl_primitive_desc_destroy(pd);
	return done;
}

void onednn_prims_init(struct onednn_prims *p, dnnl_primitive_t one)
{
	pthread_mutex_init(&p->lock, NULL);
	atomic_store(&p->by_width[1], one);
}

void onednn_prims_done(struct onednn_prims *p)
{
	dnnl_primitive_t one = atomic_load(&p->by_width[1]);
	call_free(atomic_load(&p->idle));
	for (int w = 2; w <= ONEDNN_MAX_WIDTH; w++) {
		dnnl_primitive_t wide = atomic_load(&p->by_width[w]);
		if (wide && wide != one)
			dnnl_primitive_destroy(wide);
	}
	if (one)
		dnnl_primitive_destroy(one);
	pthread_mutex_destroy(&p->lock);
}

static dnnl_primitive_t make_wide(int width, dnnl_primitive_t one, onednn_make_fn *make, const void *arg)
{
	int before = width_set(width);
	dnnl_primitive_t wide = make(arg);
	omp_set_num_threads(before);
	if (!wide || dnnl_memory_desc_equal(onednn_md(wide, dnnl_query_weights_md), onednn_md(one, dnnl_query_weights_md)))
		return wide ? wide : one;
	dnnl_primitive_destroy(wide);
	return one;
}

dnnl_primitive_t onednn_prims_get(struct onednn_prims *p, int width, onednn_make_fn *make, const void *arg)
{
	width = width < 1 ? 1 : width > ONEDNN_MAX_WIDTH ? ONEDNN_MAX_WIDTH : width;
	dnnl_primitive_t found = atomic_load_explicit(&p->by_width[width], memory_order_acquire);
	if (found)
		return found;
	pthread_mutex_lock(&p->lock);
	found = atomic_load(&p->by_width[width]);
	if (!found) {
		found = make_wide(width, atomic_load(&p->by_width[1]), make, arg);
		atomic_store_explicit(&p->by_width[width], found, memory_order_release);
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

static void gemm(const struct product *p)
{
	char a = p->a.trans ? 'T' : 'N', b = p->b.trans ? 'T' : 'N';
	must(dnnl_sgemm(a, b, p->m, p->n, p->k, p->alpha, p->a.at, p->a.row, p->b.at, p->b.row, p->beta, p->c, p->c_row));
}

static enum status matmul(struct kernel **out, const struct matmul_task *t, struct error *err)
{
	enum status s = onednn_product(out, t, err);
	return s == STATUS_UNSUPPORTED ? tiles_matmul(out, gemm, t, err) : s;
}

const struct backend onednn_backend = {"onednn", onednn_conv, matmul};
