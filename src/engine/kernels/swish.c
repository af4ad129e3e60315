#include <assert.h>
#include <string.h>
#include "cpu.h"
#include "swish.h"

#define CHUNK 32768 // elements that a thread takes at a time

bool swish_serves(const struct act *a)
{
	// AVX-512 has a fast enough one in oneDNN.
	return cpu_level() == CPU_AVX2 && (a->kind == ACT_SWISH || a->kind == ACT_SIGMOID);
}

void swish_epilogue(const struct epilogue *e, float *y, const float *residual, int64_t n, int width)
{
	assert(n % 8 == 0);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t at = 0; at < n; at += CHUNK)
		swish_avx2(e, y + at, y + at, residual ? residual + at : NULL, n - at < CHUNK ? n - at : CHUNK);
}

bool swish_applies(const struct act *a)
{
	return cpu_level() >= CPU_AVX2 && (a->kind == ACT_SWISH || a->kind == ACT_SIGMOID);
}

void swish_apply(const struct act *a, const float *x, float *y, int64_t n)
{
	const struct epilogue e = {.act = *a};
	int64_t whole = n / 8 * 8;
	float last[8] = {0};
	memcpy(last, x + whole, (size_t)(n - whole) * sizeof *y);
	swish_avx2(&e, x, y, NULL, whole);
	swish_avx2(&e, last, last, NULL, 8);
	memcpy(y + whole, last, (size_t)(n - whole) * sizeof *y);
}
