#include "../../tensor/cpu.h"
#include "row_moments_body.h"

const struct row_moments_loops row_moments_plain = {of, apply};

static const struct row_moments_loops *here(void)
{
	enum cpu_level level = cpu_level();
	return level >= CPU_AVX512 ? &row_moments_avx512 : level >= CPU_AVX2 ? &row_moments_avx2 : &row_moments_plain;
}

struct row_moments row_moments_of(const float *x, int64_t n)
{
	return here()->of(x, n);
}

void row_moments_apply(const float *x, float *y, int64_t n, double mean, double inverse, const float *scale, const float *shift)
{
	here()->apply(x, y, n, mean, inverse, scale, shift);
}
