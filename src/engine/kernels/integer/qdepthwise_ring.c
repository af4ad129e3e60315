// Input rows expanded to numbers, each once, in a ring of as many as a band sees.
#include <string.h>
#include "qdepthwise_impl.h"

// Expanded row i of those that the band sees.
static char *ring_slot(const struct qdw *k, const struct qdw_ring *ring, int64_t i)
{
	int64_t at = ring->head + i;
	return ring->rows + (size_t)(at < k->span ? at : at - k->span) * k->row_size;
}

static const char *codes_of_row(const struct qdw *k, const struct qdw_ring *ring, int64_t row)
{
	if (row < 0 || row >= k->g.h)
		return ring->blank;
	return ring->x + (size_t)(row * k->g.w * k->block) * k->in_size;
}

// Row i of those that the band sees. What lies left and right of the image stays as qdw_ring_begin() made it.
static void expand_row(const struct qdw *k, const struct qdw_ring *ring, int64_t i)
{
	const void *row[QDW_TOGETHER];
	for (int r = 0; r < k->loops->together; r++)
		row[r] = codes_of_row(k, ring, ring->top + (ring->first + i) * k->unit + r * k->g.dil_h);
	k->loops->spread[k->in_type](ring_slot(k, ring, i) + (size_t)k->g.pad_l * k->number, row, k->block, k->inside, k->shift);
}

// What each tap meets, for every place where a band can begin.
static void point_taps(const struct qdw *k, struct qdw_ring ring)
{
	const char **tap = ring.tap;
	for (ring.head = 0; ring.head < k->span; ring.head++)
		for (int64_t r = 0; r < k->tap_sets; r++)
			for (int64_t t = 0; t < k->tap_rows; t++) {
				const char *place = ring_slot(k, &ring, r * k->rise + t * k->apart);
				for (int64_t c = 0; c < k->g.kw; c++, place += (size_t)k->g.dil_w * k->number)
					*tap++ = place;
			}
}

void qdw_ring_begin(const struct qdw *k, const struct qdw_ring *ring)
{
	int64_t elems = (k->inside ? k->inside : 1) * k->block, right = k->g.pad_l + k->inside;
	const void *const blank[QDW_TOGETHER] = {ring->blank, ring->blank, ring->blank, ring->blank};
	if (k->in_size == 1)
		memset(ring->blank, k->in_zero, (size_t)elems);
	else
		for (int64_t i = 0; i < elems; i++)
			((int16_t *)(void *)ring->blank)[i] = (int16_t)(uint16_t)k->in_zero;
	for (int64_t i = 0; i < k->span; i++) {
		char *row = ring_slot(k, ring, i);
		k->loops->spread[k->in_type](row, blank, 0, k->g.pad_l, k->shift);
		k->loops->spread[k->in_type](row + (size_t)right * k->number, blank, 0, k->cols - right, k->shift);
	}
	point_taps(k, *ring);
}

void qdw_ring_fill(const struct qdw *k, struct qdw_ring *ring)
{
	for (int64_t i = ring->next > ring->first ? ring->next - ring->first : 0; i < k->span; i++)
		expand_row(k, ring, i);
	ring->next = ring->first + k->span;
}

void qdw_ring_advance(const struct qdw *k, struct qdw_ring *ring)
{
	ring->first += k->pace;
	ring->head += k->pace;
	while (ring->head >= k->span) // seldom more than once: a division takes longer than the row of a small image
		ring->head -= k->span;
}
