// Integer convolution 3x3 after Winograd, F(4x4, 3x3) (private): 36 products give the 16 outputs
// of a square that take 144 directly. With the integer matrices
//     A = 1 1  1 1  1 0   B = 4  0 -5  0 1 0   G =  6  0  0
//         0 1 -1 2 -2 0       0 -4 -4  1 1 0       -4 -4 -4
//         0 1  1 4  4 0       0  4 -4 -1 1 0       -4  4 -4
//         0 1 -1 8 -8 4       0 -2 -1  2 1 0        1  2  4
//                             0  2 -1 -2 1 0        1 -2  4
//                             0  4  0 -5 0 1        0  0  6
// a square of 4x4 outputs is A (sum over channels of G g G' times B d B', element by element)
// A' / 576, d being the 6x6 inputs that it sees.
//
// It is exact: inputs of 8 bits without their zero point are at most 255, B d B' at most 100 * 255 and G g G' at most
// 144 * 128: both fit int16. Their sums need not fit int32: all that follows is modulo 2^32, where 9 has an inverse
// and only the 64 of 576 takes bits away. So the result is right wherever the convolution's own sum is below 2^25.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QWINOGRAD_H
#define QTUI_ENGINE_KERNELS_INTEGER_QWINOGRAD_H

#include "qconv.h"

enum {
	QWG_OUT = 4,                // outputs across a square
	QWG_IN = 6,                 // inputs
	QWG_PLACES = QWG_IN * QWG_IN,
	QWG_TAPS = 9,
};

struct qwg_loops {
	int channels;               // that `spread` takes at once
	// B d B' of `channels` channels: place p at v + p * step; d has `row` and `pixel` values from one to the next.
	void (*spread)(int16_t *v, int64_t step, const int16_t *d, int64_t row, int64_t pixel);
	// acc[QWG_OUT * QWG_OUT][QLANES] = init + the sums whose products are m[QLANES],
	// those of place p at m + p * step.
	void (*collect)(int32_t *acc, const int32_t *m, int64_t step, const int32_t *init);
	// The same where qpanel_is_direct holds, as 8-bit codes where they belong:
	// output (i, j) at y + i * down + j * right. NULL: no such loop.
	void (*collect_codes)(uint8_t *y, int64_t down, int64_t right, const int32_t *m, int64_t step, const struct qpanel *p,
	    const struct qscaling *s);
	// G g G' of two channels: the pairs of place p at w + p * step.
	void (*pack)(int16_t *w, int64_t step, int16_t (*taps)[QWG_TAPS][QLANES]);
};
extern const struct qwg_loops qwg_plain, qwg_avx2, qwg_avx512;

struct qwinograd {
	struct qconv conv;          // without phases
	const struct qwg_loops *loops;
	int64_t across, down;       // squares of an image
	int64_t block;              // squares that are multiplied at once
	int64_t strip;              // squares in a row whose inputs are expanded at once
	int64_t pitch;              // of a square's channels, at one place
	int64_t step_v, step_m;     // from place to place: squares' channels, products
	int64_t pairs;              // of channels
	char *weight;               // [panel][place][pair][QLANES][QWORD]
	int32_t *init;              // [panel][QLANES]
};
// Whether the sums of a convolution with codes of 8 bits are small enough; `entry` says how its input enters.
bool qwinograd_exact(const struct qconv_task *t, const struct qentry *entry);
MUST_CHECK enum status qwinograd_pack(struct qwinograd *k, const struct qconv_task *t, struct error *err);

#endif
