#include "../../tensor/cpu.h"
#define ROWS_TABLE rows_plain
#include "rows_body.h"

const struct rows_loops *rows_here(void)
{
	enum cpu_level level = cpu_level();
	return level >= CPU_AVX512 ? &rows_avx512 : level >= CPU_AVX2 ? &rows_avx2 : &rows_plain;
}
