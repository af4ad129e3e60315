// Fast integer convolution (private): what is fixed at creation.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QCONV_H
#define QTUI_ENGINE_KERNELS_INTEGER_QCONV_H

#include "qtile.h"

// Output pixels that see the same taps in the same places. An ordinary convolution is one phase;
// a transposed one with stride s is s * s ordinary ones, each of which gives every s-th pixel.
struct qphase {
	int64_t oh, ow, step_h, step_w; // phase pixel (i, j) is output pixel (oh + i * step_h, ow + j * step_w)
	int64_t nh, nw;                 // phase pixels
	int64_t stride_h, stride_w;     // input pixels from one phase pixel to the next
	int64_t top, left;              // input pixel of the first tap of phase pixel (0, 0)
	int64_t span_h, span_w;         // input pixels from first to last tap, both included
	int64_t tile_h, tile_w;         // phase pixels of a tile
	int64_t cols;                   // input pixels across a tile
	struct qrun *runs;
	int n_runs;
	int64_t words;                  // of all runs
	char *weight;                   // [panel][word][QLANES][QWORD]
	int32_t *init;                  // [panel][QLANES]
	double *bias;                   // [panel][QLANES]
};
struct qconv {
	struct kernel base;
	struct qfinish finish;
	struct qscaling scaling;
	struct qsplit split;
	const struct qmicro *micro;
	struct qimage image;
	struct conv_geometry g;         // a 1x1 convolution without padding is taken as one long row
	enum layout out;
	int64_t panels;                 // of a group
	float *scale, *fbias;           // [panel][QLANES]
	struct qdest *dest;             // [panel]
	struct qphase *phases;
	int n_phases;
	size_t tile_bytes, tile_pixels; // largest of all phases
	bool pads_last;                 // padding channels are not within a panel: written apart
};

// What every way to run a convolution needs: all of k that the task alone decides, without phases. qconv_done frees it.
MUST_CHECK enum status qconv_init(struct qconv *k, const struct qconv_task *t, struct error *err);
void qconv_done(struct qconv *k);
// Panels, and where their channels go.
MUST_CHECK enum status qconv_aim(struct qconv *k);
// Writes the padding channels that no panel does.
void qconv_pad_channels(const struct qconv *k, void *y);
// How the panels of a tile are shared out: more than one share where tiles are too few to go round evenly,
// panels that are taken at once together.
struct qshares {
	int64_t n, units, together, panels;
};
struct qshares qconv_shares(int64_t tiles, int64_t panels, int together, int width);
// The first panel of a share, past the last of them all panels.
static inline int64_t qshares_begin(const struct qshares *s, int64_t share)
{
	int64_t panel = s->units * share / s->n * s->together;
	return panel < s->panels ? panel : s->panels;
}

// A tap of a phase: weight (kh, kw), read at input pixel (row, col) from that of phase pixel (0, 0).
struct qtap {
	int64_t row, col, kh, kw;
};
// The phases of a convolution with runs, tiles and no weights yet; STATUS_UNSUPPORTED when tiles would be too large.
MUST_CHECK enum status qconv_plan(struct qconv *k, const struct qconv_task *t);
// The taps of phase p in the order of its runs; returns how many. taps has room for kh * kw.
int64_t qconv_taps(struct qtap *taps, const struct conv_geometry *g, bool transposed, int64_t phase_h, int64_t phase_w);
// Taps first .. end-1 make one run: `whole` (all channels of a pixel are wanted) neighbours in a row of the tile.
int64_t qconv_run_end(const struct qtap *taps, int64_t n, int64_t first, bool whole);
// Weights, sums and destinations of all panels.
MUST_CHECK enum status qconv_pack(struct qconv *k, const struct qconv_task *t, struct error *err);

#endif
