#include <stdatomic.h>
#include "cpu.h"

static atomic_int limit = CPU_AVX512;

static enum cpu_level detect(void)
{
#if defined(__x86_64__)
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return CPU_PLAIN;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni"))
		return CPU_AVX512;
	return CPU_AVX2;
#else
	return CPU_PLAIN;
#endif
}

enum cpu_level cpu_level(void)
{
	enum cpu_level has = detect(), most = (enum cpu_level)atomic_load_explicit(&limit, memory_order_relaxed);
	return has < most ? has : most;
}

void cpu_limit(enum cpu_level most)
{
	atomic_store(&limit, (int)most);
}
