// Weights of a Winograd convolution: whether they allow it, and what the inner loop reads.
#include "qwinograd.h"

// The sum of the positive ones of n weights and that of the negative ones; false when some have more than 8 bits.
static bool sums_of(int64_t *above, int64_t *below, const int16_t *w, int64_t n)
{
	int64_t sum = 0, size = 0;
	int high = 0, low = 0;

#pragma omp simd reduction(+ : sum, size) reduction(max : high) reduction(min : low)
	for (int64_t i = 0; i < n; i++) {
		sum += w[i];
		size += w[i] < 0 ? -w[i] : w[i];
		high = w[i] > high ? w[i] : high;
		low = w[i] < low ? w[i] : low;
	}
	*above = (size + sum) / 2;
	*below = (size - sum) / 2;
	return low >= INT8_MIN && high <= INT8_MAX;
}

bool qwinograd_exact(const struct qconv_task *t, const struct qentry *entry)
{
	const int64_t fits = (int64_t)1 << 25, reach = entry->reach, other = UINT8_MAX - reach;
	for (int64_t oc = 0; oc < t->g.oc; oc++) {
		int64_t above, below;
		if (!sums_of(&above, &below, t->weight + qweight_offset(t, oc, 0), t->g.c * QWG_TAPS))
			return false;
		// At the worst, inputs are as far off to one side as they go where weights have one sign,
		// to the other side where they have the other.
		if (above * reach + below * other >= fits || below * reach + above * other >= fits)
			return false;
	}
	return true;
}

// The taps that the lanes of a panel have for channel c.
static void taps_of(int16_t taps[QWG_TAPS][QLANES], const struct qconv_task *t, int64_t panel, int64_t c)
{
	for (int64_t l = 0; l < QLANES; l++) {
		int64_t oc = panel * QLANES + l;
		const int16_t *w = oc < t->g.oc && c < t->g.c ? t->weight + qweight_offset(t, oc, c) : NULL;
		for (int i = 0; i < QWG_TAPS; i++)
			taps[i][l] = w ? w[i] : 0;
	}
}

enum status qwinograd_pack(struct qwinograd *k, const struct qconv_task *t, struct error *err)
{
	int64_t size = k->pairs * 2 * QLANES; // values of a place
	k->weight = qalloc((size_t)(k->conv.panels * QWG_PLACES), (size_t)size * sizeof(int16_t));
	k->init = qalloc((size_t)k->conv.panels, QLANES * sizeof(int32_t));
	if (!k->weight || !k->init)
		return error_set(err, STATUS_NOMEM, "no memory to pack the weights of %lld channels", (long long)t->g.oc);
	k->conv.base.bytes += (size_t)(k->conv.panels * QWG_PLACES * size) * sizeof(int16_t);
	for (int64_t panel = 0; panel < k->conv.panels; panel++)
		for (int64_t pair = 0; pair < k->pairs; pair++) {
			int16_t taps[2][QWG_TAPS][QLANES];
			taps_of(taps[0], t, panel, 2 * pair);
			taps_of(taps[1], t, panel, 2 * pair + 1);
			k->loops->pack((int16_t *)k->weight + panel * QWG_PLACES * size + pair * 2 * QLANES, size, taps);
		}
	for (int64_t oc = 0; oc < t->g.oc; oc++)
		k->init[oc] = (int32_t)k->conv.finish.bias[oc];
	return STATUS_OK;
}
