// Sums of products for panels of output channels, in registers: what Winograd's convolutions and those
// of 1x1 are made of (private to panel*, winograd* and pointwise*).
//
// Tensors are in blocks of 8 or 16 channels, a block being one vector. A panel is 1 to 3 blocks of output channels;
// its weights stand as [input channel][output channel], inputs as [block][tile][channel],
// sums as [tile][output channel]. A tile has one number a channel.
#ifndef QTUI_ENGINE_BACKEND_PANEL_H
#define QTUI_ENGINE_BACKEND_PANEL_H

#include "../tensor/cpu.h"
#include "backend.h"

enum { PANEL_WIDEST = 3 };

// Panels are two blocks wide, but for the first, which takes what is odd.
int64_t panel_count(int64_t out_blocks);
int64_t panel_begin(int64_t out_blocks, int64_t panel);

// The sums of a panel for some tiles. What is wanted next is sent for meanwhile:
// a tile has too few products to wait for weights that come from memory.
struct panel_product {
	const float *v;          // inputs: tiles of a block side by side, blocks v_step floats apart
	int64_t v_step;
	const float *now, *next; // weights of this panel and of what comes next
	int64_t blocks, tiles;
	int width;               // of the panel, in blocks
};

// What of an epilogue is done in registers.
struct panel_finish {
	enum add_kind add;
	enum act_kind act; // ACT_SWISH, ACT_SIGMOID, or ACT_CLIP to what is between low and high
	float low, high;
};
// False where the activation is none of these: then nothing is done in registers.
bool panel_finish_of(struct panel_finish *f, const struct epilogue *e);

// Room for the weights of all panels and for the biases of all blocks, which are filled in, zero where there is none.
// On STATUS_NOMEM the kernel that owns them frees what there is.
MUST_CHECK enum status panel_memory(float **weight, size_t bytes, float **bias, int64_t outputs, const struct conv_task *t, struct error *err);

#endif
