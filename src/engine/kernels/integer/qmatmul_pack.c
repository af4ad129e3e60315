// Packing of the right side of a fast integer matrix product: panels in the order in which the inner loop reads them.
#include <string.h>
#include "qmatmul.h"

size_t qmatmul_packed_size(const struct qmatmul *k)
{
	return (size_t)(k->panels * QLANES) * (size_t)(k->words * QWORD + (int64_t)(sizeof(int32_t) + sizeof(double)));
}

struct qmatmul_packed qmatmul_packed_at(const struct qmatmul *k, char *p)
{
	struct qmatmul_packed b = {.w = p};
	p += (size_t)(k->panels * QLANES) * (size_t)(k->words * QWORD);
	b.init = (int32_t *)p;
	b.bias = (double *)(p + (size_t)(k->panels * QLANES) * sizeof(int32_t));
	return b;
}

int64_t qmatmul_batches(const struct qmatmul_task *t)
{
	return t->stride_b == 0 ? 1 : t->batch;
}

// One channel of a panel, value by value; returns the sum of its weights.
static int64_t pack_lane(const struct qmatmul *k, char *w, int64_t lane, const void *b, enum dtype type, int64_t n)
{
	const struct qmatmul_task *t = &k->t;
	int64_t step = t->trans_b ? 1 : t->n, at = t->trans_b ? n * t->k : n, sum = 0;
	for (int64_t i = 0; i < t->k; i++, at += step) {
		int32_t v = qcode_at(b, type, at) - t->b_zero;
		qsplit_store(&k->split, k->micro, w, lane, i, v);
		sum += v;
	}
	return sum;
}

// Sixteen whole channels from channel n on (unsplit weights), each in one piece: a word at a time across the panel.
static void pack_along(const struct qmatmul *k, char *w, const char *b, enum dtype type, int64_t n)
{
	enum { PART = 1024 };
	_Alignas(64) char part[PART];
	int64_t size = k->micro->size, lot = k->micro->lot, whole = k->t.k / lot * lot;

	for (int64_t l = 0; l < QLANES; l++) {
		const char *row = b + (size_t)((n + l) * k->t.k) * dtype_size(type);
		char *to = w + l * QWORD;
		for (int64_t i = 0; i < whole; i += PART / size) {
			int64_t m = whole - i < PART / size ? whole - i : PART / size;
			k->micro->widen[type](part, lot, row + (size_t)i * dtype_size(type), lot, m / lot, k->t.b_zero);
			for (int64_t j = 0; j < m * size; j += QWORD, to += QWORD * QLANES)
				memcpy(to, part + j, QWORD);
		}
		for (int64_t i = whole; i < k->t.k; i++)
			qsplit_store(&k->split, k->micro, w, l, i, qcode_at(row, type, i) - k->t.b_zero);
	}
}

typedef uint8_t vbytes __attribute__((vector_size(16)));
typedef uint16_t vwords __attribute__((vector_size(16)));

// Values of a and b in turn, as two vectors.
static inline void zip_bytes(vbytes y[2], vbytes a, vbytes b)
{
	y[0] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	y[1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

static inline void zip_words(vwords y[2], vwords a, vwords b)
{
	y[0] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
	y[1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

// Words of QLANES lanes from a row of lanes for each value of a word.
static void words_of_bytes(char *w, const char *rows)
{
	vbytes v[4], low[2], high[2];
	vwords y[4];
	memcpy(v, rows, sizeof v);
	zip_bytes(low, v[0], v[1]);
	zip_bytes(high, v[2], v[3]);
	zip_words(y, (vwords)low[0], (vwords)high[0]);
	zip_words(y + 2, (vwords)low[1], (vwords)high[1]);
	memcpy(w, y, sizeof y);
}

static void words_of_pairs(char *w, const char *rows)
{
	vwords v[4], y[4];
	memcpy(v, rows, sizeof v);
	zip_words(y, v[0], v[2]);
	zip_words(y + 2, v[1], v[3]);
	memcpy(w, y, sizeof y);
}

// The same where the channels lie side by side.
static void pack_across(const struct qmatmul *k, char *w, const char *b, enum dtype type, int64_t n)
{
	int64_t size = k->micro->size, values = QWORD / size, lot = k->micro->lot;
	size_t row = (size_t)k->t.n * dtype_size(type);
	b += (size_t)n * dtype_size(type);
	for (int64_t i = 0; i < k->t.k; i += values, w += QWORD * QLANES, b += (size_t)values * row) {
		_Alignas(64) char part[QWORD * QLANES] = {0};
		for (int64_t j = 0; j < values && i + j < k->t.k; j++)
			k->micro->widen[type](part + j * QLANES * size, lot, b + (size_t)j * row, lot, QLANES / lot, k->t.b_zero);
		(size == 1 ? words_of_bytes : words_of_pairs)(w, part);
	}
}

// Adds up the lanes of a panel: its products with ones.
static void sums_of(const struct qmatmul *k, int64_t sum[QLANES], const char *w)
{
	static const char ones[] = {
#define EIGHT 1, 1, 1, 1, 1, 1, 1, 1
		EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,
	};
	int32_t acc[QROWS * QLANES];
	const char *row[QROWS];

	for (int r = 0; r < QROWS; r++)
		row[r] = ones;
	for (int64_t i = 0; i < k->words; i += (int64_t)sizeof ones / QWORD, w += sizeof ones * QLANES) {
		int64_t left = k->words - i, most = sizeof ones / QWORD;
		k->micro->gemm(acc, 0, 1, row, &(struct qrun){.words = left < most ? left : most}, 1, w, 0);
		for (int l = 0; l < QLANES; l++)
			sum[l] += acc[l];
	}
}

void qmatmul_pack_panel(const struct qmatmul *k, const struct qmatmul_packed *to, const void *b, enum dtype type, int64_t panel)
{
	int64_t lanes = qsplit_lanes(&k->split), first = panel * lanes, values = QWORD / k->micro->size;
	int64_t here = k->t.n - first < lanes ? k->t.n - first : lanes, sum[QLANES] = {0};
	char *w = to->w + panel * k->words * QWORD * QLANES;
	bool bytes = k->micro->size == 1, fast = here == QLANES && (k->entry.pad == 0 || bytes) && k->micro->widen[type];
	if (fast && k->t.trans_b && k->t.k % values == 0) {
		pack_along(k, w, b, type, first);
	} else if (fast && !k->t.trans_b) {
		pack_across(k, w, b, type, first);
	} else {
		fast = false;
		memset(w, 0, (size_t)(k->words * QWORD * QLANES));
		for (int64_t l = 0; l < here; l++)
			sum[l] = pack_lane(k, w, l, b, type, first + l);
	}
	if (fast && bytes)
		sums_of(k, sum, w);
	for (int64_t l = 0; l < QLANES; l++) {
		int64_t bias = l < here ? k->finish.bias[first + l] - k->entry.pad * sum[l] : 0;
		to->bias[panel * QLANES + l] = (double)bias;
		to->init[panel * QLANES + l] = k->split.wide ? 0 : (int32_t)(uint32_t)bias; // modulo 2^32, as the sums
	}
}

bool qmatmul_pack_constant(struct qmatmul *k, const int16_t *weight)
{
	int64_t count = qmatmul_batches(&k->t);
	k->packed = qalloc((size_t)count, qmatmul_packed_size(k));
	if (!k->packed)
		return false;
	k->base.bytes = (size_t)count * qmatmul_packed_size(k);
	for (int64_t b = 0; b < count; b++) {
		struct qmatmul_packed to = qmatmul_packed_at(k, k->packed + (size_t)b * qmatmul_packed_size(k));
		for (int64_t p = 0; p < k->panels; p++)
			qmatmul_pack_panel(k, &to, weight + b * k->t.stride_b, DT_I16, p);
	}
	return true;
}
