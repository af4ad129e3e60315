#include <cblas.h>
#include <limits.h>
#include "blas.h"
#include "ordered.h"

// Of OpenBLAS itself, which calls it before a fork; not in every build of it.
extern int blas_thread_shutdown_(void) __attribute__((weak));

// Before main: a thread of OpenBLAS that has no work looks for some without a pause,
// for the first tenth of a second of a process. It never gets any here, so that it ends at once.
__attribute__((constructor)) static void one_thread(void)
{
	int before = omp_get_max_threads();
	openblas_set_num_threads(1); // changes the caller's OpenMP width too when OpenBLAS is built on OpenMP
	if (blas_thread_shutdown_)
		blas_thread_shutdown_();
	omp_set_num_threads(before);
}

// OpenBLAS counts in int.
static bool fits(int64_t n)
{
	return n <= INT_MAX;
}

static CBLAS_TRANSPOSE order(bool trans)
{
	return trans ? CblasTrans : CblasNoTrans;
}

void blas_gemm(const struct product *p)
{
	int m = (int)p->m, n = (int)p->n, k = (int)p->k, b_row = (int)p->b.row;
	blas_enter();
	if (m == 1 && !p->a.trans) // much faster than a matrix of one row
		cblas_sgemv(CblasRowMajor, order(!p->b.trans), p->b.trans ? n : k, p->b.trans ? k : n, p->alpha, p->b.at, b_row, p->a.at, 1,
		    p->beta, p->c, 1);
	else
		cblas_sgemm(CblasRowMajor, order(p->a.trans), order(p->b.trans), m, n, k, p->alpha, p->a.at, (int)p->a.row, p->b.at, b_row,
		    p->beta, p->c, (int)p->c_row);
	blas_leave();
}

static enum status conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	const struct conv_geometry *g = &t->g;
	if (t->in != LAYOUT_PLAIN || t->out != LAYOUT_PLAIN)
		return STATUS_UNSUPPORTED;
	if (!fits(g->h * g->w) || !fits(g->oh * g->ow) || !fits(conv_weight_count(g)))
		return STATUS_UNSUPPORTED;
	return (t->transposed ? blas_conv_transpose : blas_conv)(out, t, err);
}

static enum status matmul(struct kernel **out, const struct matmul_task *t, struct error *err)
{
	if (!fits(t->m) || !fits(t->n) || !fits(t->k))
		return STATUS_UNSUPPORTED;
	enum status st = t->ordered ? ordered_matmul(out, t, err) : STATUS_UNSUPPORTED;
	if (st != STATUS_UNSUPPORTED)
		return st;
	return tiles_matmul(out, blas_gemm, t, err);
}

const struct backend blas_backend = {"blas", conv, matmul};
