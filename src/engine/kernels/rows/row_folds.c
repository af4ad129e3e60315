#define NAME row_folds_plain
#include "../../tensor/cpu.h"
#include "row_folds_body.h"

const struct row_folds *row_folds_here(void)
{
	enum cpu_level level = cpu_level();
	return level >= CPU_AVX512 ? &row_folds_avx512 : level >= CPU_AVX2 ? &row_folds_avx2 : &row_folds_plain;
}
