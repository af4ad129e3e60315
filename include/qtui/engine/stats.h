// Figures of a tensor: sums that merge. One struct tensor_sums is the comparison of one tensor on one sample; summing
// them in the order of the samples gives the same bits for any number of threads. Formulas: docs/NUMERICS.md.
#ifndef QTUI_ENGINE_STATS_H
#define QTUI_ENGINE_STATS_H

#include "qtui/engine/quantizer.h"
#include "qtui/engine/tensor.h"

struct tensor_sums {
	double n;              // elements
	double f2, q2, fq, e2; // sums of f*f, q*q, f*q, (q-f)^2 with f float, q quantized
	double max_error;      // max |q - f|
	double none;           // elements that are NaN in both
	double clipped;        // elements of f outside [(qmin-zero)*scale, (qmax-zero)*scale]
	float fmin, fmax, qmin, qmax;
};
struct tensor_range {
	float min, max;        // NaN and infinities are left out and counted
	double n, nonfinite;
};
#define STATS_BINS 2048    // fine histogram, over the tensor's own [min, max]
#define STATS_SHOWN 64     // as written to JSON

// Compares f (float32) with its quantized version q, which holds codes of `quant`, or floats when its type is DT_F32
// (then quant may be NULL: nothing is clipped). Both have one shape and layout; padding of LAYOUT_BLOCK is left out.
// Where both are NaN the error is 0.
void stats_compare(struct tensor_sums *out, const struct tensor *f, const struct tensor *q, const struct quantizer *quant);
void stats_range(struct tensor_range *out, const struct tensor *f);
// Adds the elements of a float tensor to hist[bins] over [lo, hi] (last bin closed; outside: the end bins).
void stats_hist(uint32_t *hist, int bins, float lo, float hi, const struct tensor *f);

// Counts of a float tensor's elements, each rounded down to a multiple of 2^exponent. The step follows from the range
// alone: the finest that makes at most 2 * GRID_LEAST steps of it. So counts of different data merge exactly,
// whatever ranges they were made over and in whatever order, and no range has to be known before counting.
enum { GRID_LEAST = 4096, GRID_BINS = 2 * GRID_LEAST + 1, GRID_TABLES = 4 };
struct grid {
	int exponent, n;       // n bins are in use; 0: empty
	int64_t first;         // bin[i] counts the elements of [(first + i) * 2^exponent, (first + i + 1) * 2^exponent)
	uint32_t bin[GRID_BINS];
};
void grid_clear(struct grid *g); // it is empty; its bins are not touched
void grid_merge(struct grid *into, const struct grid *one); // adds the counts; *into gets more or wider bins where it needs them
// A grid to keep, as small as its counts are: one block, which the caller frees.
struct packed_grid;
struct packed_grid *packed_grid_new(const struct grid *g);
size_t packed_grid_bytes(const struct packed_grid *p);
void packed_grid_open(struct grid *g, const struct packed_grid *p);  // *g gets its bins and counts
void packed_grid_shape(struct grid *g, const struct packed_grid *p); // its bins, all with a count of 0
// How often the codes of a tensor occur, neighbours together: count[i] is of the codes whose bits are i << shift up to
// ((i + 1) << shift) - 1. All are borrowed.
struct code_counts {
	const uint32_t *count;
	enum dtype type;               // of the codes
	int shift;                     // 0: every code has a count of its own
	const struct quantizer *quant; // what they stand for: per tensor
};
// Add counts to hist[bins], whose bins have equal width over [lo, hi]; what lies outside goes to the end bins.
// grid_spread puts the count of a bin of the grid where that bin begins; grid_codes puts a count where the value lies
// that its first code stands for.
void grid_spread(const struct grid *g, float lo, float hi, uint32_t *hist, int bins);
void grid_codes(const struct code_counts *c, float lo, float hi, uint32_t *hist, int bins);

// Tables that one thread's calls of stats_site count in: zeroed once by the caller, zero again after every call.
struct stats_scratch {
	uint16_t grid[2][GRID_TABLES][GRID_BINS + 1];
	uint32_t codes[65536];
};
// All that a site wants of one float tensor, in one walk; sums differ from those of stats_compare at most in the
// order of addition.
struct stats_site {
	const struct tensor *f;
	const struct tensor *q[2];        // quantized versions in f's layout, as for stats_compare
	const struct quantizer *quant[2];
	// What follows is NULL where it is not wanted.
	struct tensor_sums *sums[2];
	struct tensor_range *range;       // of f
	struct grid *grid, *grid_q;       // of f; of q[0] when it is floats: counts are added
	struct stats_scratch *scratch;    // NULL: the walk makes its own
	uint32_t *codes_q;                // [256 or 65536] of q[0] when it is codes: counts are added by the codes' bits
	bool thin;                        // provisional: of a large tensor grids and codes count only an eighth of the elements
};
void stats_site(const struct stats_site *s);
void sums_merge(struct tensor_sums *into, const struct tensor_sums *one);

// Derived figures. `exact`: the noise is exactly zero (then snr_db is not defined). NAN where not defined.
struct metrics {
	double snr_db, nsr, cosine, mse, max_error, clipped;
	bool exact;
	bool odd; // f holds NaN, or +inf: -inf is what masks are made of
};
struct metrics sums_metrics(const struct tensor_sums *s);

#endif
