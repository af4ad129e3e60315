#include "unary.h"

#include "../../tensor/cpu.h"

static unary_loop *loop_here(enum unary_fn fn)
{
#ifdef __x86_64__
	enum cpu_level level = cpu_level();
	return (level >= CPU_AVX512 ? unary_avx512 : level >= CPU_AVX2 ? unary_avx2 : unary_base)(fn);
#else
	return unary_base(fn);
#endif
}

void unary_apply(enum unary_fn fn, const struct act_attrs *a, const float *x, float *y, int64_t n)
{
	loop_here(fn)(a, x, y, n);
}
