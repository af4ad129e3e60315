// Fast integer kernels (private). All come down to one inner loop: a few rows (pixels)
// against a panel of 16 channels of weights, a word of four bytes at a time, summed in int32.
// A word is two values of 16 bits, the zero point taken away, or four of 8 bits where the processor
// multiplies those (struct qmicro, `size`). Rows lie in a tile of expanded input.
//
// Where int32 could overflow ("wide": 16-bit codes, very long sums), the sum is cut into chunks that fit,
// and the chunks are added up in double, exact to 2^53. Weights whose products with 16-bit inputs are too large
// for that are split into w = lo + 256 * hi: the panel then holds the low parts of 8 channels and their high parts.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QFAST_H
#define QTUI_ENGINE_KERNELS_INTEGER_QFAST_H

#include "qkernel.h"

enum {
	QLANES = 16,  // sums side by side in a panel
	QWORD = 4,    // bytes of a word
	QROWS = 16,   // rows that an inner loop takes at most
};

// Part of a sum: `words` words, `offset` bytes from the row's base.
struct qrun {
	int64_t offset, words;
	bool flush;   // wide: the chunk ends here
};
// How sums become values, in the form that the loops want.
struct qscaling {
	float slope, low, high;      // v < 0: v * slope; then clamped to [low, high]
	float code_low, code_high;   // the same limits and those of the codes, in steps of the output's scale
	bool simple;                 // the usual case: 8-bit codes, rounded to the nearest (halves to even or up), no slope
	bool up;                     // halves are rounded up
	// Simple, all scales powers of two, and no float added: the scales of channels (qscaling_scale) come divided by
	// the output's scale, and `out` and the limits count in its steps. A loop need not know that it is set.
	bool fused;
	enum dtype type;
	struct qspan out;
};
struct qjob;
struct qpanel;
struct qmicro {
	int rows;     // that gemm and tile take at once
	int size;     // bytes of a value in the tile: 2; or 1: unsigned inputs and weights of 8 bits, for sums that fit int32
	int lot;      // values that `widen` makes at once
	int panels;   // the most that gemm and direct take at once
	// acc[rows][QLANES] becomes the sums of a panel. Of `panels` panels each has its sums `step` elements,
	// and its weights w_step bytes, behind those of the one before it.
	void (*gemm)(int32_t *acc, int64_t step, int panels, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
	    int64_t w_step);
	void (*add)(double *sum, const int32_t *acc, int n);
	// v[rows][QLANES] from sums in double. With parts 2 a row of sums has the low parts in its first half
	// and the high parts in its second; v = low + 256 * high lies in the first half.
	void (*narrow)(float *v, const double *sum, const double *bias, int parts, int rows);
	// y[rows][QLANES] from sums, int32 or float; scale and fbias belong to the panel.
	// Reads and writes an even number of rows.
	void (*finish)(void *y, const int32_t *acc, const struct qscaling *s, const float *scale, const float *fbias, int rows);
	void (*finish_wide)(void *y, const float *v, const struct qscaling *s, const float *scale, const float *fbias, int rows);
	// gemm and finish in one, for `rows` rows and one panel; sums begin at from[QLANES].
	void (*tile)(void *y, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
	    const struct qscaling *s, const float *scale, const float *fbias);
	// gemm and finish of `panels` neighbouring panels at once, p being the first;
	// qpanel_is_direct must hold for each. Stores the codes where they belong in y.
	// Returns how many of the n rows it did, from the first on; the caller does the rest. NULL: no such loop.
	int64_t (*direct)(const struct qjob *job, const struct qpanel *p, int panels, uint8_t *y, const char *const *row, const int64_t *at,
	    int64_t n);
	// Codes to values less `shift`: n lots, `step` and `from_step` values apart.
	void (*widen[DT_COUNT])(void *y, int64_t step, const void *x, int64_t from_step, int64_t n, int32_t shift);
	// y = a[0], b[0], c[0], a[1] ...
	void (*interleave3)(void *y, const void *a, const void *b, const void *c, int64_t n);
};
extern const struct qmicro qmicro_plain, qmicro_avx2, qmicro_vnni, qmicro_bytes_vnni;
const struct qmicro *qmicro_here(void);
// Words that hold n values.
static inline int64_t qmicro_words(const struct qmicro *m, int64_t n)
{
	return (n * m->size + QWORD - 1) / QWORD;
}
// The loops of this processor for values of 8 bits, NULL when it has none.
const struct qmicro *qmicro_bytes(void);

struct qscaling qscaling_of(const struct qfinish *f);
// The scale and addend of channel c as the loops take them.
float qscaling_scale(const struct qscaling *s, const struct qfinish *f, int64_t c);
float qscaling_fbias(const struct qfinish *f, int64_t c);
float qscaling_nearest(const struct qscaling *s, float steps); // what a simple one rounds to
// Does a lane whose weights, scale and addend are all 0 give the code of padding channels?
// Then padding needs no step of its own.
bool qscaling_pads(const struct qscaling *s);

// How input codes of a type enter the tile: value - shift, which fits int16 and is at most `reach` in size.
struct qentry {
	int32_t shift, reach;
	int16_t pad;        // the zero point as it enters
};
bool qentry_of(struct qentry *e, enum dtype type, int32_t zero);
// The same for loops of 8 bits, whose values are unsigned.
struct qentry qentry_bytes(enum dtype type, int32_t zero);

// How weights are stored, and whether sums need chunks.
struct qsplit {
	int parts;          // 1, or 2: low and high bytes
	bool wide;
	bool bytes;         // the loops of 8 bits may be used. They sum modulo 2^32 with the zero point left in, so that only the sum without
	                    // it must fit int32
	int64_t chunk;      // words whose sum fits int32
};
// low, high: the limits of the weights; sum: bound of |sum of a channel, bias included|.
// False when not even double holds it.
bool qsplit_of(struct qsplit *s, const struct qentry *e, int64_t low, int64_t high, double sum);
static inline int64_t qsplit_lanes(const struct qsplit *s)
{
	return QLANES / s->parts;
}
// Stores value `at` of a row.
static inline void qvalue_put(char *row, const struct qmicro *m, int64_t at, int32_t v)
{
	if (m->size == 1)
		row[at] = (char)v;
	else
		((int16_t *)row)[at] = (int16_t)v;
}
// Stores weight `v` as value `i` of lane `lane` of the panel at w,
// whose words are QLANES times four bytes, lane by lane.
static inline void qsplit_store(const struct qsplit *s, const struct qmicro *m, char *w, int64_t lane, int64_t i, int32_t v)
{
	if (m->size == 1) {
		w[(i / 4 * QLANES + lane) * 4 + i % 4] = (char)v;
		return;
	}
	int16_t *pair = (int16_t *)w + i / 2 * 2 * QLANES;
	int32_t low = s->parts == 2 ? (int8_t)(uint8_t)(v & 0xff) : v;
	pair[2 * lane + i % 2] = (int16_t)low;
	if (s->parts == 2)
		pair[2 * (lane + QLANES / 2) + i % 2] = (int16_t)((v - low) / 256);
}

// Where the lanes of a panel are stored: element offset of each from the row's offset.
struct qdest {
	int64_t lane[QLANES];
	int lanes;               // how many are stored, padding included
	int valid;               // how many of them are channels; the rest is padding
	bool packed;             // the lanes lie in whole groups of 8 neighbours
	bool whole;              // all 16 are neighbours
};
// A panel; its neighbours of the same group follow it in every array.
struct qpanel {
	const char *w;
	const int32_t *init;     // [QLANES]
	const double *bias;      // wide: [QLANES]
	const float *scale, *fbias;
	const struct qdest *dest;
	int64_t step;            // bytes from a panel's weights to the next one's
	int64_t first;           // bytes from a row's address to the values of this panel's group
};
struct qjob {
	const struct qmicro *micro;
	const struct qscaling *scaling;
	const struct qfinish *finish;
	const struct qsplit *split;
	const struct qrun *runs;
	int n_runs;
};
// May `direct` do this panel: its sums become codes, which the loop stores itself?
bool qpanel_is_direct(const struct qjob *job, const struct qpanel *p);
// Computes and stores n rows of `panels` neighbours: row[i] is the tile address of row i,
// at[i] its element offset in y.
void qpanel_run(const struct qjob *job, const struct qpanel *p, int64_t panels, void *y, const char *const *row, const int64_t *at, int64_t n);
// Stores n rows (QROWS at most) of sums that are ready.
void qpanel_store(const struct qjob *job, const struct qpanel *p, void *y, const int32_t *acc, const int64_t *at, int n);

void *qalloc(size_t n, size_t size); // zeroed, 64-byte aligned, NULL when there is no memory; free() it

#endif
