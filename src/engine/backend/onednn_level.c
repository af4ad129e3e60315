#include "onednn_level.h"

#include <stddef.h>
#include "onednn_api.h"

enum cpu_level onednn_level(void)
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
