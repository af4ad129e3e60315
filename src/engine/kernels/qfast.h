// Fast integer kernels (private). All come down to one inner loop: a few rows (pixels) of int16 values against a panel of 16
// channels of int16 weights, two values at a time, summed in int32. Rows lie in a tile of expanded input, zero point taken away.
//
// Where int32 could overflow ("wide": 16-bit codes, very long sums), the sum is cut into chunks that fit, and the chunks are added
// up in double, exact to 2^53. Weights whose products with 16-bit inputs are too large for that are split into w = lo + 256 * hi:
// the panel then holds the low parts of 8 channels and their high parts.
#ifndef QTUI_ENGINE_KERNELS_QFAST_H
#define QTUI_ENGINE_KERNELS_QFAST_H

#include "qkernel.h"

enum {
	QLANES = 16,  // sums side by side in a panel
	QROWS = 16,   // rows that an inner loop takes at most
};

// Part of a sum: `pairs` pairs of values, `offset` int16 from the row's base.
struct qrun {
	int64_t offset, pairs;
	bool flush;   // wide: the chunk ends here
};
// How sums become values, in the form that the loops want.
struct qscaling {
	float slope, low, high;      // v < 0: v * slope; then clamped to [low, high]
	float code_low, code_high;   // the same limits and those of the codes, in steps of the output's scale
	bool simple;                 // 8-bit codes, half to even, no division, no slope
	bool fused;                  // simple, powers of two and nothing added: scales come multiplied by the inverse of the output's,
	                             // and `out` and the limits are in its steps, so that loops may or may not know of it
	enum dtype type;
	struct qspan out;
};
struct qmicro {
	int rows;
	// acc[rows][QLANES] = from + sums; `from` advances by from_step elements a row (0: the same for all).
	void (*gemm)(int32_t *acc, const int32_t *from, int64_t from_step, const int16_t *const *row, const struct qrun *runs,
	    int n_runs, const int16_t *w);
	void (*add)(double *sum, const int32_t *acc, int n);
	// v[rows][QLANES] from sums; parts 2: v = lo + 256 * hi, in the first half of a row.
	void (*narrow)(float *v, const double *sum, const double *bias, int parts, int rows);
	// y[rows][QLANES] from sums, int32 or float; scale and fbias belong to the panel. Reads and writes an even number of rows.
	void (*finish)(void *y, const int32_t *acc, const struct qscaling *s, const float *scale, const float *fbias, int rows);
	void (*finish_wide)(void *y, const float *v, const struct qscaling *s, const float *scale, const float *fbias, int rows);
	// gemm and finish in one, for all rows.
	void (*tile)(void *y, const int32_t *from, const int16_t *const *row, const struct qrun *runs, int n_runs, const int16_t *w,
	    const struct qscaling *s, const float *scale, const float *fbias);
	// gemm and finish for 8-bit codes in whole groups of 8 lanes, stored where they belong: those of row i, whose values begin at
	// row[i] + first, at y[group] + at[i]; y[1] may be NULL. Takes the rows in steps of `rows` and returns how many it took. NULL: no
	// such loop.
	int64_t (*direct)(uint8_t *const y[2], const int64_t *at, const int32_t *from, const int16_t *const *row, int64_t first, int64_t n,
	    const struct qrun *runs, int n_runs, const int16_t *w, const struct qscaling *s, const float *scale, const float *fbias);
	// Codes to int16: n groups of 8, `step` and `from_step` elements apart.
	void (*widen[DT_COUNT])(int16_t *y, int64_t step, const void *x, int64_t from_step, int64_t n, int32_t shift);
	// y = a[0], b[0], c[0], a[1] ...
	void (*interleave3)(int16_t *y, const int16_t *a, const int16_t *b, const int16_t *c, int64_t n);
};
extern const struct qmicro qmicro_plain, qmicro_avx2, qmicro_vnni;
const struct qmicro *qmicro_here(void);

struct qscaling qscaling_of(const struct qfinish *f);
// The scale and addend of channel c as the loops take them.
float qscaling_scale(const struct qscaling *s, const struct qfinish *f, int64_t c);
float qscaling_fbias(const struct qfinish *f, int64_t c);
bool qscaling_pads(const struct qscaling *s); // a lane whose weights, scale and addend are 0 gives the code of padding

// How input codes of a type enter the tile: value - shift, which fits int16 and is at most `reach` in size.
struct qentry {
	int32_t shift, reach;
	int16_t pad;        // the zero point as it enters
};
bool qentry_of(struct qentry *e, enum dtype type, int32_t zero);

// How weights are stored, and whether sums need chunks.
struct qsplit {
	int parts;          // 1, or 2: low and high bytes
	bool wide;
	int64_t chunk;      // pairs whose sum fits int32
};
// most: the largest |weight|; sum: bound of |sum of a channel, bias included|. False when not even double holds it.
bool qsplit_of(struct qsplit *s, const struct qentry *e, int64_t most, double sum);
static inline int64_t qsplit_lanes(const struct qsplit *s)
{
	return QLANES / s->parts;
}
// Stores weight `w` as element `i` of the pair for lane `lane` of a panel; pair points to the 2 * QLANES values of the pair.
static inline void qsplit_store(const struct qsplit *s, int16_t *pair, int64_t lane, int i, int32_t w)
{
	int32_t low = s->parts == 2 ? (int8_t)(uint8_t)(w & 0xff) : w;
	pair[2 * lane + i] = (int16_t)low;
	if (s->parts == 2)
		pair[2 * (lane + QLANES / 2) + i] = (int16_t)((w - low) / 256);
}

// Where the lanes of a panel are stored: element offset of each from the row's offset.
struct qdest {
	int64_t lane[QLANES];
	int lanes;               // that are stored, padding included
	int valid;               // of them channels; the rest is padding
	bool packed;             // lanes come in whole groups of 8 neighbours
};
// One panel against `rows` rows.
struct qpanel {
	const int16_t *w;
	const int32_t *init;     // [QLANES]
	const double *bias;      // wide: [QLANES]
	const float *scale, *fbias;
	const struct qdest *dest;
	int64_t first;           // int16 from a row's address to the values of this panel's group
};
struct qjob {
	const struct qmicro *micro;
	const struct qscaling *scaling;
	const struct qfinish *finish;
	const struct qsplit *split;
	const struct qrun *runs;
	int n_runs;
};
// Whether its sums may become codes by loops that store them themselves, as `direct` does.
bool qpanel_is_direct(const struct qjob *job, const struct qpanel *p);
// Computes and stores n rows: row[i] is the tile address of row i, at[i] its element offset in y.
void qpanel_run(const struct qjob *job, const struct qpanel *p, void *y, const int16_t *const *row, const int64_t *at, int64_t n);
// Stores n rows (QROWS at most) of sums that are ready.
void qpanel_store(const struct qjob *job, const struct qpanel *p, void *y, const int32_t *acc, const int64_t *at, int n);

void *qalloc(size_t n, size_t size); // zeroed, 64-byte aligned, NULL when there is no memory; free() it

#endif
