#include <cblas.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>
#include "blas.h"
#include "ordered.h"

// Of OpenBLAS itself, which calls it before a fork; not in every build of it.
extern int blas_thread_shutdown_(void) __attribute__((weak));

// Its threads map 136 MB each when they begin, and try again without end where a limit on address space forbids it: under a limit
// the program begins anew with as many as it uses. The first thing of all that runs, before the libraries' own beginnings.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { PROGRAM_MB = 128 };
static const char alone[] = "OPENBLAS_NUM_THREADS=1";

// The first of its name is the one that counts.
static bool is_alone(char **env)
{
	while (*env && strncmp(*env, alone, sizeof(alone) - 2) != 0)
		env++;
	return *env && strcmp(*env, alone) == 0;
}

static void begin_anew(char **argv, char **env)
{
	const char *self = (const char *)getauxval(AT_EXECFN);
	size_t n = 0;
	while (env[n])
		n++;
	char **with = malloc((n + 2) * sizeof(*with));
	if (self && with) {
		with[0] = (char *)alone;
		memcpy(with + 1, env, (n + 1) * sizeof(*with));
		execve(self, argv, with);
	}
	error_end("there is a limit on address space (ulimit -v): set %s", alone);
}

static void begin(int argc, char **argv, char **env)
{
	struct rlimit r;
	(void)argc;
	if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return;
	if (r.rlim_cur >> 20 < PROGRAM_MB)
		error_end("the limit on address space (ulimit -v) is %d MB: %d are needed to begin", (int)(r.rlim_cur >> 20), PROGRAM_MB);
	if (!is_alone(env))
		begin_anew(argv, env);
}
__attribute__((section(".preinit_array"), used)) static void (*const begin_first)(int, char **, char **) = begin;
#endif

// Before main: a thread of OpenBLAS that has no work looks for some without a pause, for the first tenth of a second of a process. It never
// gets any here, so that it ends at once.
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
