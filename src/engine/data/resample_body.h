// Included by one file a processor level, which defines ROWS as the name of its table.
#include "resample_rows.h"

#define RESAMPLE_HALF (1 << (RESAMPLE_BITS - 1))

static uint8_t to_byte(int sum)
{
	int v = sum >> RESAMPLE_BITS;
	return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void row_along_x(uint8_t *out, const uint8_t *in, int w, const struct resample_filter *f)
{
	for (int x = 0; x < w; x++) {
		const int *weight = f->weight + (size_t)x * (size_t)f->taps;
		const uint8_t *p = in + (size_t)f->first[x] * 3;
		int r = RESAMPLE_HALF, g = RESAMPLE_HALF, b = RESAMPLE_HALF;
		for (int k = 0; k < f->count[x]; k++, p += 3) {
			r += p[0] * weight[k];
			g += p[1] * weight[k];
			b += p[2] * weight[k];
		}
		out[3 * x] = to_byte(r);
		out[3 * x + 1] = to_byte(g);
		out[3 * x + 2] = to_byte(b);
	}
}

static void row_along_y(
    uint8_t *restrict out, int *restrict sum, const uint8_t *in, size_t stride, int y, const struct resample_filter *f)
{
	for (size_t i = 0; i < stride; i++)
		sum[i] = RESAMPLE_HALF;
	for (int k = 0; k < f->count[y]; k++) {
		const uint8_t *p = in + (size_t)(f->first[y] + k) * stride;
		int weight = f->weight[(size_t)y * (size_t)f->taps + (size_t)k];
		for (size_t i = 0; i < stride; i++)
			sum[i] += p[i] * weight;
	}
	for (size_t i = 0; i < stride; i++)
		out[i] = to_byte(sum[i]);
}

const struct resample_rows ROWS = {row_along_x, row_along_y};
