// Integer kernels (private): what follows the exact sum, and what the reference and the fast kernels share.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QKERNEL_H
#define QTUI_ENGINE_KERNELS_INTEGER_QKERNEL_H

#include "../../tensor/quantizer_span.h"
#include "../kernel_impl.h"

// From a sum to what is stored. Owns its arrays.
struct qfinish {
	int64_t channels;
	float *scale, *fbias;  // [channels]; fbias NULL: nothing is added
	int64_t *bias;         // [channels]
	struct act act;
	bool to_float;
	enum dtype type;       // of the output
	struct qspan out;
	int32_t pad;           // code of the padding channels of LAYOUT_BLOCK
};
MUST_CHECK enum status qfinish_of_conv(struct qfinish *f, const struct qconv_task *t, struct error *err);
MUST_CHECK enum status qfinish_of_matmul(struct qfinish *f, const struct qmatmul_task *t, struct error *err);
void qfinish_done(struct qfinish *f);
// Stores the result for channel c with the sum `acc` (bias included) at element `at` of y.
void qfinish_store(const struct qfinish *f, void *y, int64_t at, int64_t c, int64_t acc);
// The sums of channel c stay within `reach` of its bias. If all of them give one code, as where a channel with hardly
// any weights has a bias past int32, the bias is brought as near to zero as gives it too, so that the sums fit int32.
void qfinish_tame(struct qfinish *f, int64_t c, double reach);
// Stores the code of padding channels: `lanes` of them (16 at the most) from element `at` of y on,
// at `pixels` pixels `step` elements apart.
void qfinish_pad(const struct qfinish *f, void *y, int64_t at, int64_t lanes, int64_t pixels, int64_t step);
// The fast kernels leave out NaN, and codes that do not fit their loops: false where those may come up.
bool qfinish_is_plain(const struct qfinish *f);

// Element offsets in an activation: n, c, pixel (h * W + w) of `channels` channels with `plane` pixels.
static inline int64_t act_offset(enum layout l, int64_t block, int64_t channels, int64_t plane, int64_t n, int64_t c, int64_t pixel)
{
	if (l == LAYOUT_PLAIN)
		return (n * channels + c) * plane + pixel;
	int64_t blocks = (channels + block - 1) / block;
	return ((n * blocks + c / block) * plane + pixel) * block + c % block;
}

// First tap of the weights from input channel c (of the group of `oc`) to output channel oc.
static inline int64_t qweight_offset(const struct qconv_task *t, int64_t oc, int64_t c)
{
	int64_t cg = t->g.c / t->g.group, ocg = t->g.oc / t->g.group;
	int64_t at = t->transposed ? (oc / ocg * cg + c) * ocg + oc % ocg : oc * cg + c;
	return at * t->g.kh * t->g.kw;
}

bool qcode_type(enum dtype t); // DT_I8, DT_U8, DT_I16, DT_U16
int32_t qcode_at(const void *x, enum dtype t, int64_t i);

MUST_CHECK enum status qref_conv(struct kernel **out, const struct qconv_task *t, struct error *err);
MUST_CHECK enum status qref_matmul(struct kernel **out, const struct qmatmul_task *t, struct error *err);
MUST_CHECK enum status qfast_conv(struct kernel **out, const struct qconv_task *t, struct error *err);
MUST_CHECK enum status qfast_winograd(struct kernel **out, const struct qconv_task *t, struct error *err);
MUST_CHECK enum status qfast_depthwise(struct kernel **out, const struct qconv_task *t, struct error *err);
MUST_CHECK enum status qfast_matmul(struct kernel **out, const struct qmatmul_task *t, struct error *err);

#endif
