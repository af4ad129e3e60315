// tensor_reorder: plain <-> blocked. Both ways transpose a [channels of a block][pixels] matrix; one task is one block of one
// image. Pixels go in runs that stay in the first-level cache while every channel of the block passes over them. Element
// size and block are constants in each instance (inlined), so that the copies become moves.
#include <string.h>
#include "qtui/engine/tensor.h"

#define RUN 64
#define INLINE static inline __attribute__((always_inline))

struct task {
	uint8_t *plain, *blocked; // at the first channel of this block
	int64_t pixels;
	int channels;             // of this block that exist
};

INLINE void pack(const struct task *k, int channels, int block, size_t size)
{
	memset(k->blocked, 0, channels < block ? (size_t)k->pixels * (size_t)block * size : 0);
	for (int64_t p = 0; p < k->pixels; p++)
		for (int c = 0; c < channels; c++)
			memcpy(k->blocked + (size_t)(p * block + c) * size, k->plain + (size_t)(c * k->pixels + p) * size, size);
}

INLINE void unpack(const struct task *k, int channels, int block, size_t size)
{
	for (int64_t start = 0; start < k->pixels; start += RUN) {
		int64_t end = k->pixels - start < RUN ? k->pixels : start + RUN;

		for (int c = 0; c < channels; c++)
			for (int64_t p = start; p < end; p++)
				memcpy(k->plain + (size_t)(c * k->pixels + p) * size,
				    k->blocked + (size_t)(p * block + c) * size, size);
	}
}

// One instance a block width; a full block has a constant number of channels too.
INLINE void move_sized(const struct task *k, bool packs, int block, size_t size)
{
	if (!packs)
		unpack(k, k->channels, block, size);
	else if (k->channels == block)
		pack(k, block, block, size);
	else
		pack(k, k->channels, block, size);
}

INLINE void move(const struct task *k, bool packs, size_t size)
{
	if (layout_block() == 16)
		move_sized(k, packs, 16, size);
	else
		move_sized(k, packs, 8, size);
}

static void move1(const struct task *k, bool packs)
{
	move(k, packs, 1);
}

static void move2(const struct task *k, bool packs)
{
	move(k, packs, 2);
}

static void move4(const struct task *k, bool packs)
{
	move(k, packs, 4);
}

static void (*const moves[5])(const struct task *k, bool packs) = { [1] = move1, [2] = move2, [4] = move4 };

static int64_t pixels_of(const struct shape *s)
{
	int64_t n = 1;

	for (int i = 2; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

static void move_block(const struct tensor *plain, const struct tensor *blocked, bool packs, int64_t image, int64_t b)
{
	size_t size = dtype_size(plain->type);
	int64_t c = plain->shape.dim[1], block = layout_block(), blocks = (c + block - 1) / block;
	int64_t pixels = pixels_of(&plain->shape);
	struct task k = {
		.plain = (uint8_t *)plain->data + (size_t)((image * c + b * block) * pixels) * size,
		.blocked = (uint8_t *)blocked->data + (size_t)((image * blocks + b) * block * pixels) * size,
		.pixels = pixels,
		.channels = (int)(c - b * block < block ? c - b * block : block),
	};

	moves[size](&k, packs);
}

void tensor_reorder(struct tensor *dst, const struct tensor *src, int width)
{
	bool packs = dst->layout == LAYOUT_BLOCK;
	const struct tensor *plain = packs ? src : dst, *blocked = packs ? dst : src;

	if (dst->layout == src->layout) {
		memcpy(dst->data, src->data, tensor_bytes(src));
		return;
	}
	int64_t block = layout_block(), blocks = (plain->shape.dim[1] + block - 1) / block;
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < plain->shape.dim[0] * blocks; i++)
		move_block(plain, blocked, packs, i / blocks, i % blocks);
}
