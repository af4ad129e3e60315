// A depthwise kernel and its ring of expanded rows (private to qdepthwise*.c).
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QDEPTHWISE_IMPL_H
#define QTUI_ENGINE_KERNELS_INTEGER_QDEPTHWISE_IMPL_H

#include "qdepthwise.h"

struct qdw {
	struct kernel base;
	struct qfinish finish;
	struct qscaling scaling;
	struct conv_geometry g;
	const struct qmicro *micro;
	const struct qdw_loops *loops;
	enum dtype in_type;
	size_t in_size;             // bytes of a code
	int32_t in_zero, shift;     // of codes; what is taken away from them, and is not the zero point where that does not fit int16
	bool direct;                // rows go from sums to codes where they belong
	bool shared;                // as in struct qdw_band
	int64_t lanes, vectors;     // channels of a vector; vectors, padding included
	int64_t unit;               // input rows from one expanded row to the next
	int64_t apart, rise, pace;  // expanded rows from a tap to the next below it, from an output row to the next, from a band to the next
	int64_t span;               // expanded rows that a band sees
	int64_t cols;               // pixels of an expanded row
	int64_t inside;             // of them pixels of the image
	int64_t block;              // channels of a block of the layout
	size_t number, row_size;    // bytes of the numbers of a pixel, and of an expanded row
	int64_t tap_rows, taps;     // of the numbers that a sum takes, and all of them
	int64_t tap_sets;           // sets of numbers that a band takes: one that its rows share, or one each
	char *weight;               // [vector][tap][QDW_ROWS when shared, or 1][lanes] numbers
	char *bias;                 // [vector][lanes] sums
	float *scale, *fbias;       // [vector][QLANES]: eight channels twice, two pixels are finished as one row
};

// The expanded rows that outputs are made from, a thread's own: for one vector of one image after the other.
struct qdw_ring {
	const char *x;
	int64_t top;        // input row where expanded row 0 begins
	char *blank;        // codes of an input row outside of the image
	char *rows;         // [span]
	const char **tap;   // [span][tap_sets * taps]: what each tap meets, by `head`
	int64_t first;      // that the band sees
	int64_t head;       // where in the ring that one is
	int64_t next;       // first that is not yet there
};

void qdw_ring_begin(const struct qdw *k, const struct qdw_ring *ring); // writes what lies beside any image, and points the taps
void qdw_ring_fill(const struct qdw *k, struct qdw_ring *ring);    // brings in what the band sees
void qdw_ring_advance(const struct qdw *k, struct qdw_ring *ring); // to the next band

#endif
