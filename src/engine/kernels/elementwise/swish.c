#include <assert.h>
#include <string.h>
#include "../../tensor/cpu.h"
#include "qtui/base/parts.h"
#include "swish.h"

enum {
	CHUNK = 32768, // elements that a thread takes at a time
	MOST_LANES = 16
};

bool swish_serves(const struct act *a)
{
	return cpu_level() >= CPU_AVX2 && (a->kind == ACT_SWISH || a->kind == ACT_SIGMOID);
}

static const struct swish_loop *here(void)
{
	return cpu_level() >= CPU_AVX512 ? &swish_avx512 : &swish_avx2;
}

struct finishing {
	const struct swish_loop *loop;
	const struct epilogue *e;
	float *y;
	const float *residual;
};

static void finish_chunk(void *arg, int64_t at, int64_t n)
{
	const struct finishing *f = arg;
	f->loop->epilogue(f->e, f->y + at, f->y + at, f->residual ? f->residual + at : NULL, n);
}

void swish_epilogue(const struct epilogue *e, float *y, const float *residual, int64_t n, int width)
{
	struct finishing f = {here(), e, y, residual};
	assert(n % f.loop->lanes == 0);
	parts_cut(n, CHUNK, width, finish_chunk, &f);
}

void swish_apply(const struct act *a, const float *x, float *y, int64_t n)
{
	const struct swish_loop *loop = here();
	const struct epilogue e = {.act = *a};
	int64_t whole = n / loop->lanes * loop->lanes;
	float last[MOST_LANES] = {0};
	memcpy(last, x + whole, (size_t)(n - whole) * sizeof *y);
	loop->epilogue(&e, x, y, NULL, whole);
	loop->epilogue(&e, last, last, NULL, loop->lanes);
	memcpy(y + whole, last, (size_t)(n - whole) * sizeof *y);
}
