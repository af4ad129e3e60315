// Histograms of floats, and counts of codes.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "stats_impl.h"

enum {
	PIECE = 1024,    // elements whose bins are computed at a time
	TABLES = 4,      // counts that the elements go to in turn, so that equal neighbours do not wait for each other
	TABLE_MAX = 4096 // bins, above which equal neighbours are rare and the tables would not stay in the cache
};

struct histogram {
	uint32_t *hist;
	const float *f;
	struct hist_by by;
	uint32_t *tables; // TABLES * (bins + 1), or NULL: straight to hist
};

struct hist_by hist_by_of(int bins, float lo, float hi)
{
	return (struct hist_by){.lo = lo, .span = hi > lo ? hi - lo : 1.0f, .bins = bins};
}

static void count_piece(const struct histogram *h, const float *f, int n)
{
	int32_t bin[PIECE];
	size_t size = (size_t)h->by.bins + 1;
	stats_loops()->bins(bin, f, n, &h->by);
	if (!h->tables) {
		for (int i = 0; i < n; i++)
			if (bin[i] < h->by.bins)
				h->hist[bin[i]]++;
		return;
	}
	uint32_t *t0 = h->tables, *t1 = t0 + size, *t2 = t1 + size, *t3 = t2 + size;
	int i = 0;
	for (; i + TABLES <= n; i += TABLES) {
		t0[bin[i]]++;
		t1[bin[i + 1]]++;
		t2[bin[i + 2]]++;
		t3[bin[i + 3]]++;
	}
	for (; i < n; i++)
		t0[bin[i]]++;
}

int strip_pack(void *dst, const char *src, size_t elem, struct strip strip, int64_t v, int most)
{
	char *y = dst;
	int n = 0;
	for (; v < strip.vectors && n + strip.valid <= most; v++, n += strip.valid)
		memcpy(y + (size_t)n * elem, src + (size_t)(v * strip.step) * elem, (size_t)strip.valid * elem);
	return n;
}

static void hist_strip(void *arg, int64_t at, struct strip strip)
{
	const struct histogram *h = arg;
	float packed[PIECE];
	if (strip.valid == STATS_LANES && strip.step == STATS_LANES) {
		for (int64_t i = 0, n = strip.vectors * STATS_LANES; i < n; i += PIECE)
			count_piece(h, h->f + at + i, (int)(n - i < PIECE ? n - i : PIECE));
		return;
	}
	for (int64_t v = 0; v < strip.vectors;) {
		int n = strip_pack(packed, (const char *)(h->f + at), sizeof(float), strip, v, PIECE);
		count_piece(h, packed, n);
		v += n / strip.valid;
	}
}

void stats_hist(uint32_t *hist, int bins, float lo, float hi, const struct tensor *f)
{
	struct histogram h = {.hist = hist, .f = f->data, .by = hist_by_of(bins, lo, hi)};
	size_t size = (size_t)bins + 1;
	assert(f->type == DT_F32 && bins > 0);
	if (bins <= TABLE_MAX)
		h.tables = xcalloc(TABLES * size, sizeof h.tables[0]);
	strips_each(f, hist_strip, &h);
	if (!h.tables)
		return;
	for (int t = 0; t < TABLES; t++)
		for (int b = 0; b < bins; b++)
			hist[b] += h.tables[(size_t)t * size + (size_t)b];
	free(h.tables);
}

static void count_codes(const struct counting *c, const void *codes, int64_t n)
{
	const uint8_t *b = codes;
	const uint16_t *w = codes;
	int64_t i = 0;
	for (; i + STATS_LANES <= n; i += STATS_LANES)
		count_eight(c->count, b + (size_t)i * c->elem, c->elem);
	for (; i < n; i++)
		c->count[c->elem == 1 ? b[i] : w[i]]++;
}

void codes_strip(void *arg, int64_t at, struct strip strip)
{
	const struct counting *c = arg;
	const char *codes = (const char *)c->codes + (size_t)at * c->elem;
	uint16_t packed[PIECE] = {0};
	if (strip.valid == STATS_LANES && strip.step == STATS_LANES) {
		count_codes(c, codes, strip.vectors * STATS_LANES);
		return;
	}
	for (int64_t v = 0; v < strip.vectors;) {
		int n = strip_pack(packed, codes, c->elem, strip, v, PIECE);
		count_codes(c, packed, n);
		v += n / strip.valid;
	}
}

int32_t code_of_index(enum dtype type, size_t i)
{
	switch (type) {
	case DT_I8: return (int8_t)i;
	case DT_I16: return (int16_t)i;
	default: return (int32_t)i;
	}
}

void counting_begin(struct counting *c, const struct tensor *q, uint32_t *count)
{
	*c = (struct counting){.codes = q->data, .type = q->type, .elem = dtype_size(q->type), .count = count};
	assert(c->elem <= 2);
	c->values = (size_t)1 << (8 * c->elem);
}

void counting_end(struct counting *c, uint32_t *count)
{
	size_t tables = c->elem == 1 ? CODE_TABLES : 1;
	for (size_t t = 0; t < tables; t++)
		_Pragma("omp simd") for (size_t v = 0; v < c->values; v++)
			count[v] += c->count[t * c->values + v];
	memset(c->count, 0, tables * c->values * sizeof count[0]);
}
