// What the tests of figures, ranges and counts share: tensors of noise, and quantizers of every width.
#ifndef TESTS_ENGINE_STATS_CASE_H
#define TESTS_ENGINE_STATS_CASE_H

#include <string.h>
#include "qtui/engine/stats.h"
#include "support.h"

static uint32_t seed;
static inline float noise(void) // -1 .. 1
{
	seed = seed * 1664525u + 1013904223u;
	return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

static inline struct tensor tensor(enum dtype type, enum layout layout, int rank, const int64_t *dim)
{
	struct error err;
	struct tensor t = {.type = type, .layout = layout, .shape = shape_of(rank, dim)};
	assert_int_equal(tensor_alloc(&t, NULL, &err), STATUS_OK);
	memset(t.data, 0, tensor_bytes(&t));
	return t;
}

static const struct {
	int64_t min, max;
	int32_t zero;
	float scale;
} codes[] = {
	{-128, 127, 0, 0.0625f}, {0, 255, 100, 0.05f}, {-32768, 32767, 3, 0.0005f}, {0, 65535, 32768, 0.0002f},
};
enum { CODES = sizeof codes / sizeof codes[0] };

static inline struct quantizer quantizer(int i)
{
	return (struct quantizer){.kind = QUANT_LINEAR, .qmin = codes[i].min, .qmax = codes[i].max, .axis = -1, .n = 1,
		.scale = &codes[i].scale, .zero = &codes[i].zero};
}

static inline double total(const uint32_t *count, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += count[i];
	return sum;
}

#endif
