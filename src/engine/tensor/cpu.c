#include "cpu.h"

#include <dnnl.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int limit = CPU_LEVELS;

#if defined(__x86_64__)
static enum cpu_level of_processor(void)
{
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) // all that have AVX2 have F16C
		return CPU_PLAIN;
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
	    !__builtin_cpu_supports("avx512dq"))
		return CPU_AVX2;
	if (!__builtin_cpu_supports("avx512vnni"))
		return CPU_AVX512;
	return __builtin_cpu_supports("avx512vbmi") ? CPU_VBMI : CPU_VNNI;
}
#else
static enum cpu_level of_processor(void)
{
	return CPU_PLAIN;
}
#endif

// What oneDNN may use of the processor.
static enum cpu_level of_onednn(void)
{
	static const struct {
		dnnl_cpu_isa_t isa; // the bits of a level contain those of lower ones; VBMI has none, what may use VNNI may use it
		enum cpu_level level;
	} rows[] = {{dnnl_cpu_isa_avx512_core_vnni, CPU_VBMI}, {dnnl_cpu_isa_avx512_core, CPU_AVX512}, {dnnl_cpu_isa_avx2, CPU_AVX2}};
	unsigned may = (unsigned)dnnl_get_effective_cpu_isa();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if ((may & (unsigned)rows[i].isa) == (unsigned)rows[i].isa)
			return rows[i].level;
	return CPU_PLAIN;
}

static enum cpu_level lower(enum cpu_level a, enum cpu_level b)
{
	return a < b ? a : b;
}

enum cpu_level cpu_found(void)
{
	static atomic_int known; // 1 + the level; threads that find it at the same time find the same
	int level = atomic_load_explicit(&known, memory_order_relaxed) - 1;
	if (level < 0) {
		level = (int)lower(of_processor(), of_onednn());
		atomic_store_explicit(&known, level + 1, memory_order_relaxed);
	}
	return (enum cpu_level)level;
}

enum cpu_level cpu_level(void)
{
	return lower(cpu_found(), (enum cpu_level)atomic_load_explicit(&limit, memory_order_relaxed));
}

void cpu_limit(enum cpu_level most)
{
	atomic_store(&limit, (int)most);
}
