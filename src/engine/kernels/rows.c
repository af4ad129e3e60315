#include "cpu.h"
#define ROWS_TABLE rows_plain
#include "rows_body.h"

const struct rows_loops *rows_here(void)
{
	return cpu_level() >= CPU_AVX2 ? &rows_avx2 : &rows_plain;
}
