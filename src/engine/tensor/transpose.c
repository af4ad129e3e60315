// Which transposition this processor has.
#include "cpu.h"
#include "transpose.h"

transpose_fn *transpose_find(size_t size)
{
#if defined(__x86_64__)
	static transpose_fn *const avx2[9] = {[1] = transpose1_avx2, [2] = transpose2_avx2, [4] = transpose4_avx2};

	return cpu_level() >= CPU_AVX2 ? avx2[size] : NULL;
#else
	(void)size;
	return NULL;
#endif
}
