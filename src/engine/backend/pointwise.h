// Convolutions by a 1x1 kernel of stride 1 for AVX-512: in groups that do not fill blocks,
// of which it passes over the inputs that a panel of outputs does not have, and on few pixels.
// Such layers have many channels for their size: oneDNN's kernel waits for weights that come from the third-level cache
// and costs 2 or 3 microseconds a call, this one sends for the weights of the next panel while it uses those of one.
// Where pixels are many both are at the processor's bound.
#ifndef QTUI_ENGINE_BACKEND_POINTWISE_H
#define QTUI_ENGINE_BACKEND_POINTWISE_H

#include "panel.h"

// STATUS_UNSUPPORTED for other kernels and groups, larger images and other processors.
MUST_CHECK enum status pointwise_conv(struct kernel **out, const struct conv_task *t, struct error *err);

// Private to pointwise*. A panel of outputs of an image.
struct pointwise_panel {
	struct panel_product product;
	const float *bias;
	float *y;              // the first pixel of the panel's first block
	const float *residual; // likewise
	int64_t y_step;        // floats between blocks
	struct panel_finish finish;
};
void pointwise_avx512(const struct pointwise_panel *p);

#endif
