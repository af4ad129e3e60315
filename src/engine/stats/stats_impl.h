// The inner loops of the figures (private). stats_body.h is compiled once for every processor level; all levels give the same
// bits: sums run in eight fixed lanes, without fused multiply-add, and are added up in one order.
#ifndef QTUI_ENGINE_STATS_IMPL_H
#define QTUI_ENGINE_STATS_IMPL_H

#include "../quantizer_span.h"
#include "qtui/engine/stats.h"

enum {
	STATS_LANES = 8,
	STATS_CHUNK = 512, // vectors of STATS_LANES elements whose squares are summed in float before they go to double
};

// Vectors of STATS_LANES elements, `step` elements apart, of which the first `valid` lanes count: 8 but for a tensor's last
// elements and for the last channel block of LAYOUT_BLOCK.
struct strip {
	int64_t vectors, step;
	int valid;
};
// One scale for the strip, and the range in which values are not clipped.
struct compare_by {
	float scale, low, high;
	int32_t zero;
};
struct hist_by {
	float lo, span; // span = hi - lo
	int bins;
};
typedef void compare_fn(struct tensor_sums *out, const float *f, const void *q, struct strip strip, const struct compare_by *by);
struct stats_table {
	compare_fn *compare[DT_COUNT]; // NULL: no loop for the type; all elements finite, else the sums show it
	// Minimum and maximum of the finite elements; false when there were others.
	bool (*range)(struct tensor_range *out, const float *f, struct strip strip);
	// Bins of n elements; by->bins for a NaN.
	void (*bins)(int32_t *bin, const float *f, int n, const struct hist_by *by);
};
extern const struct stats_table stats_plain, stats_avx2;
const struct stats_table *stats_loops(void);

// Calls fn for the strips that make up elements [at, at + n) of a plain array.
typedef void strip_fn(void *arg, int64_t at, struct strip strip);
// Calls fn for the strips that cover all elements of a tensor but the padding; `at` counts stored elements.
void strips_each(const struct tensor *t, strip_fn *fn, void *arg);
void strips_of_run(int64_t at, int64_t n, strip_fn *fn, void *arg);

// Comparison, histogram and count of codes as visitors of strips, so that several can walk together. What begins them takes the
// tensors; `compare_is_whole`: compare_strip serves the whole tensor (one scale, a type with a loop).
struct comparison {
	struct tensor_sums *out;
	const struct tensor *f, *q;
	const struct quantizer *quant;
	struct qruns runs;
	struct compare_by by;
};
void compare_begin(struct comparison *c, struct tensor_sums *out, const struct tensor *f, const struct tensor *q,
    const struct quantizer *quant);
bool compare_is_whole(const struct comparison *c);
strip_fn compare_strip;

struct histogram {
	uint32_t *hist;
	const float *f;
	struct hist_by by;
	uint32_t *tables; // several counts of (bins + 1), or NULL: straight to hist
};
void hist_begin(struct histogram *h, uint32_t *hist, int bins, float lo, float hi, const struct tensor *f);
strip_fn hist_strip;
void hist_end(struct histogram *h); // adds to the histogram and frees

struct counting { // index is the code's bits, 8 or 16 of them
	const void *codes;
	enum dtype type;
	size_t elem;
	uint32_t *count; // several tables of `values`
	size_t values;
};
void codes_begin(struct counting *c, const struct tensor *q);
strip_fn codes_strip;
void codes_end(struct counting *c, uint32_t *hist, int bins, float lo, float hi, const struct quantizer *quant, uint8_t *used);

#endif
