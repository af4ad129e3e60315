// A grid in the bytes that its counts need: a struct grid has 33 KB, and a study keeps two for every tensor.
#include <string.h>
#include "qtui/engine/stats.h"

enum { BLOCK = 64, BLOCKS = (GRID_BINS + BLOCK - 1) / BLOCK };
struct packed_grid {
	int exponent, n;
	int64_t first;
	size_t bytes;
	uint8_t width[BLOCKS];  // bytes of each count in the block: 0 (all are zero), 1, 2 or 4
	unsigned char count[];  // [bytes]
};

static int length_of(int n, int block)
{
	return n - block * BLOCK < BLOCK ? n - block * BLOCK : BLOCK;
}

static uint8_t width_of(const uint32_t *bin, int n)
{
	uint32_t any = 0;
	for (int i = 0; i < n; i++)
		any |= bin[i];
	return any == 0 ? 0 : any <= UINT8_MAX ? 1 : any <= UINT16_MAX ? 2 : 4;
}

// The loops store what they have narrowed, as counts of 2 and 4 bytes may lie at odd places.
static void narrow(unsigned char *out, const uint32_t *bin, int n, int width)
{
	uint16_t two[BLOCK];
	if (width == 4)
		memcpy(out, bin, (size_t)n * sizeof *bin);
	for (int i = 0; width == 1 && i < n; i++)
		out[i] = (uint8_t)bin[i];
	for (int i = 0; width == 2 && i < n; i++)
		two[i] = (uint16_t)bin[i];
	if (width == 2)
		memcpy(out, two, (size_t)n * sizeof *two);
}

static void broaden(uint32_t *bin, const unsigned char *in, int n, int width)
{
	uint16_t two[BLOCK];
	if (width == 0)
		memset(bin, 0, (size_t)n * sizeof *bin);
	if (width == 4)
		memcpy(bin, in, (size_t)n * sizeof *bin);
	if (width == 2)
		memcpy(two, in, (size_t)n * sizeof *two);
	for (int i = 0; width == 1 && i < n; i++)
		bin[i] = in[i];
	for (int i = 0; width == 2 && i < n; i++)
		bin[i] = two[i];
}

struct packed_grid *packed_grid_new(const struct grid *g)
{
	uint8_t width[BLOCKS] = {0};
	size_t bytes = 0;
	for (int b = 0; b * BLOCK < g->n; b++) {
		width[b] = width_of(g->bin + b * BLOCK, length_of(g->n, b));
		bytes += (size_t)(length_of(g->n, b) * width[b]);
	}
	struct packed_grid *p = xmalloc(sizeof *p + bytes);
	p->exponent = g->exponent;
	p->n = g->n;
	p->first = g->first;
	p->bytes = bytes;
	memcpy(p->width, width, sizeof width);
	unsigned char *out = p->count;
	for (int b = 0; b * BLOCK < g->n; b++) {
		narrow(out, g->bin + b * BLOCK, length_of(g->n, b), width[b]);
		out += length_of(g->n, b) * width[b];
	}
	return p;
}

size_t packed_grid_bytes(const struct packed_grid *p)
{
	return sizeof *p + p->bytes;
}

void packed_grid_shape(struct grid *g, const struct packed_grid *p)
{
	g->exponent = p->exponent;
	g->n = p->n;
	g->first = p->first;
	memset(g->bin, 0, (size_t)g->n * sizeof g->bin[0]);
}

void packed_grid_open(struct grid *g, const struct packed_grid *p)
{
	const unsigned char *in = p->count;
	g->exponent = p->exponent;
	g->n = p->n;
	g->first = p->first;
	for (int b = 0; b * BLOCK < p->n; b++) {
		broaden(g->bin + b * BLOCK, in, length_of(p->n, b), p->width[b]);
		in += length_of(p->n, b) * p->width[b];
	}
}
