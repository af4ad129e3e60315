// The inner loops of the figures (private). stats_body.h is compiled once for every processor level; all levels give
// the same bits: sums run in eight fixed lanes, without fused multiply-add, and are added up in one order.
#ifndef QTUI_ENGINE_STATS_STATS_IMPL_H
#define QTUI_ENGINE_STATS_STATS_IMPL_H

#include <string.h>
#include "../tensor/quantizer_span.h"
#include "qtui/engine/stats.h"

enum {
	STATS_LANES = 8,
	STATS_CHUNK = 512, // vectors of STATS_LANES elements whose squares are summed in float before they go to double
};

// Vectors of STATS_LANES elements, `step` elements apart, of which the first `valid` lanes count:
// 8 but for a tensor's last elements and for the last channel block of LAYOUT_BLOCK.
struct strip {
	int64_t vectors, step;
	int valid;
};
// The chunk of a strip that begins with vector v.
static inline struct strip chunk_of(struct strip strip, int64_t v)
{
	int64_t left = strip.vectors - v;
	return (struct strip){left < STATS_CHUNK ? left : STATS_CHUNK, strip.step, strip.valid};
}
// One scale for the strip, and the range in which values are not clipped.
struct compare_by {
	float scale, low, high;
	int32_t zero;
};
struct hist_by {
	float lo, span; // span = hi - lo
	int bins;
};
struct steps_by {
	float inverse, first; // of the step; the step that bin 0 counts
	int bins;
};
// What all figures of a strip's floats begin with. Where f2 is not finite,
// not all elements need be, and the ends mean nothing.
struct float_sums {
	double f2;      // sum of squares
	float min, max; // INFINITY and -INFINITY of no elements
};
// All of tensor_sums, of codings of the same floats, all of one type: out[i], q[i] and by[i] belong together.
// `count` (may be NULL) is that of a struct counting, to which the codes of q[0] go, eight of every vector.
typedef void compare_fn(struct tensor_sums *const out[], const float *f, const void *const q[], struct strip strip,
    const struct compare_by *const by[], uint32_t *count);
struct stats_table {
	// NULL: no loop for the type. Where an element is not finite, f2, q2,
	// fq or e2 is not, and the ends mean nothing.
	compare_fn *compare[DT_COUNT];  // of one coding
	compare_fn *const *compare_two; // [DT_COUNT] of two, for the same types; NULL: two at once are no faster than one after another
	void (*floats)(struct float_sums *out, const float *f, struct strip strip);
	// Bins of n elements; by->bins for a NaN.
	void (*bins)(int32_t *bin, const float *f, int n, const struct hist_by *by);
	// Counts n elements, each rounded down to a step, at most bins - 1; by->bins for a NaN.
	// They go in turn to GRID_TABLES tables.
	void (*count_steps)(uint16_t (*count)[GRID_BINS + 1], const float *f, int n, const struct steps_by *by);
};
extern const struct stats_table stats_plain, stats_avx2, stats_avx512;
extern compare_fn *const stats_two_avx512[DT_COUNT];
const struct stats_table *stats_loops(void);

// Calls fn for the strips that make up elements [at, at + n) of a plain array.
typedef void strip_fn(void *arg, int64_t at, struct strip strip);
// Calls fn for the strips that cover all elements of a tensor but the padding; `at` counts stored elements.
void strips_each(const struct tensor *t, strip_fn *fn, void *arg);
void strips_of_run(int64_t at, int64_t n, strip_fn *fn, void *arg);

// Elements of a strip from vector v on, side by side in dst:
// as many whole vectors as fit in `most`. Returns how many elements.
int strip_pack(void *dst, const char *src, size_t elem, struct strip strip, int64_t v, int most);
struct hist_by hist_by_of(int bins, float lo, float hi);
int32_t code_of_index(enum dtype type, size_t i); // the code whose bits are i

// Visitors of strips, so that several can walk together. What begins them takes the tensors.

// The floats' own sums, which the visitors behind it share.
struct summing {
	const float *f;
	struct float_sums sums; // of the strip at hand
};
void summing_begin(struct summing *s, const struct tensor *f);
strip_fn sums_strip;

enum { CODE_TABLES = STATS_LANES }; // of codes of 8 bits, one a lane: codes that come again soon do not wait for their own increments
struct counting { // index is the code's bits, 8 or 16 of them
	const void *codes;
	enum dtype type;
	size_t elem;
	uint32_t *count; // CODE_TABLES of 256, or one of 65536; zero before and after
	size_t values;
};
void counting_begin(struct counting *c, const struct tensor *q, uint32_t *count); // count[65536]
strip_fn codes_strip;
void counting_end(struct counting *c, uint32_t *count); // adds to count[values]
// Codes of `elem` bytes, those of a vector.
static inline void count_eight(uint32_t *count, const void *codes, size_t elem)
{
	uint16_t w[8];
	uint64_t v;
	if (elem == 2) {
		memcpy(w, codes, sizeof w);
		_Pragma("GCC unroll 8") for (int i = 0; i < 8; i++)
			count[w[i]]++;
		return;
	}
	memcpy(&v, codes, sizeof v);
	_Pragma("GCC unroll 8") for (int i = 0; i < 8; i++)
		count[i * 256 + (v >> 8 * i & 255)]++;
}

// compare_is_whole: compare_strip serves the whole tensor (one scale, a type with a loop).
struct comparison {
	struct tensor_sums *out;
	struct summing *floats; // compare_strip makes them by the way
	const struct tensor *f, *q;
	const struct quantizer *quant;
	struct qruns runs;
	struct compare_by by;    // of all, or of the run at hand
	struct compare_by *each; // or one for each channel
	struct counting *codes; // counts the codes of q by the way; NULL: they are not counted
};
void compare_begin(struct comparison *c, struct tensor_sums *out, const struct tensor *f, const struct tensor *q,
    const struct quantizer *quant, struct summing *floats);
bool compare_is_whole(const struct comparison *c);
strip_fn compare_strip;
// compare_is_two: compare_two_strip serves both of struct comparison[2], which share the floats.
bool compare_is_two(const struct comparison *c);
strip_fn compare_two_strip;

struct ranging {
	struct tensor_range *out;
	struct summing *floats; // sums_strip or compare_strip goes before range_strip
};
void ranging_begin(struct ranging *r, struct tensor_range *out, struct summing *floats);
strip_fn range_strip;

struct gridding {
	struct grid *grid;
	const struct tensor_range *range; // of the elements so far: range_strip goes before grid_strip
	float step, lo, end;              // of the grid: it holds lo <= x < end
	const float *f;
	uint16_t (*count)[GRID_BINS + 1]; // [GRID_TABLES], not yet in the grid; zero before and after
	int most;                         // that a table's bin can have
};
void gridding_begin(struct gridding *c, struct grid *grid, const struct tensor_range *range, const struct tensor *f,
    uint16_t (*count)[GRID_BINS + 1]);
strip_fn grid_strip; // of at most STATS_CHUNK vectors
void gridding_end(struct gridding *c);

#endif
