// tensor_reorder: plain <-> blocked. Both ways transpose matrices of [channels of a block][pixels]; one task is one
// block of one image. Eight channels by eight pixels go through registers where the processor can; the last pixels go
// one by one.
#include <string.h>
#include "qtui/base/parts.h"
#include "qtui/engine/tensor.h"
#include "transpose.h"

#define TILE 8
#define RUN 64      // pixels that a group of fewer than eight channels passes through a buffer at a time
#define STRETCH 256 // pixels that the groups of a block take in turn, so that both halves of a cache line are written while it is at hand
#define INLINE static inline __attribute__((always_inline))

struct task {
	uint8_t *plain, *blocked; // at the first channel of a group of eight, at the first pixel
	int64_t pixels, plane;    // those to move, and all of a channel
	int channels; // of the group that exist; the others are zero in the blocked form
	int block;
	size_t size; // of an element
};

// Pixels from `start` on, one element at a time; `size` is a constant in each instance.
INLINE void move_elements(const struct task *k, bool packs, int64_t start, size_t size)
{
	for (int64_t p = start; p < k->pixels; p++)
		for (int c = 0; c < (packs ? TILE : k->channels); c++) {
			uint8_t *blocked = k->blocked + (size_t)(p * k->block + c) * size;
			uint8_t *plain = k->plain + (size_t)(c * k->plane + p) * size;
			if (c < k->channels)
				memcpy(packs ? blocked : plain, packs ? plain : blocked, size);
			else
				memset(blocked, 0, size);
		}
}

static void move_rest(const struct task *k, bool packs, int64_t start)
{
	if (k->size == 1)
		move_elements(k, packs, start, 1);
	else if (k->size == 2)
		move_elements(k, packs, start, 2);
	else
		move_elements(k, packs, start, 4);
}

static void move_tiles(const struct task *k, bool packs, transpose_fn *transpose)
{
	size_t row = (size_t)k->plane * k->size, pixel = (size_t)k->block * k->size;
	if (packs)
		transpose(k->blocked, pixel, TILE * pixel, k->plain, row, TILE * k->size, k->pixels / TILE);
	else
		transpose(k->plain, row, TILE * k->size, k->blocked, pixel, TILE * pixel, k->pixels / TILE);
}

// As move_tiles for fewer channels: their rows are complete in a buffer.
static void move_few(const struct task *k, bool packs, transpose_fn *transpose)
{
	uint8_t buffer[TILE * RUN * 4] __attribute__((aligned(32))) = {0};
	size_t row = RUN * k->size, pixel = (size_t)k->block * k->size;
	for (int64_t p = 0; p < k->pixels / TILE * TILE; p += RUN) {
		int64_t tiles = (k->pixels - p < RUN ? k->pixels - p : RUN) / TILE;
		uint8_t *plain = k->plain + (size_t)p * k->size, *blocked = k->blocked + (size_t)p * pixel;
		if (!packs)
			transpose(buffer, row, TILE * k->size, blocked, pixel, TILE * pixel, tiles);
		for (int c = 0; c < k->channels; c++) {
			uint8_t *outside = plain + (size_t)(c * k->plane) * k->size,
			        *inside = buffer + (size_t)c * row;
			memcpy(packs ? inside : outside, packs ? outside : inside, (size_t)tiles * TILE * k->size);
		}
		if (packs)
			transpose(blocked, pixel, TILE * pixel, buffer, row, TILE * k->size, tiles);
	}
}

static void move_group(const struct task *k, bool packs)
{
	transpose_fn *transpose = transpose_find(k->size);
	if (!transpose) {
		move_rest(k, packs, 0);
		return;
	}
	if (k->channels == TILE)
		move_tiles(k, packs, transpose);
	else if (packs || k->channels)
		move_few(k, packs, transpose);
	move_rest(k, packs, k->pixels / TILE * TILE);
}

static int64_t pixels_of(const struct shape *s)
{
	int64_t n = 1;
	for (int i = 2; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

// A stretch of pixels of a block, of whose channels so many exist.
static void move_stretch(const struct task *whole, bool packs, int64_t first_pixel, int channels)
{
	struct task k = *whole;
	k.pixels = k.plane - first_pixel < STRETCH ? k.plane - first_pixel : STRETCH;
	k.plain += (size_t)first_pixel * k.size;
	k.blocked += (size_t)(first_pixel * k.block) * k.size;
	for (int first = 0; first < k.block; first += TILE) {
		struct task group = k;
		group.channels = channels - first < 0 ? 0 : channels - first < TILE ? channels - first : TILE;
		group.plain += group.channels ? (size_t)(first * k.plane) * k.size : 0;
		group.blocked += (size_t)first * k.size;
		move_group(&group, packs);
	}
}

static void move_block(const struct tensor *plain, const struct tensor *blocked, bool packs, int64_t image, int64_t b)
{
	size_t size = dtype_size(plain->type);
	int64_t c = plain->shape.dim[1], block = layout_block(), blocks = (c + block - 1) / block, pixels = pixels_of(&plain->shape);
	const struct task k = {
	    .plain = (uint8_t *)plain->data + (size_t)((image * c + b * block) * pixels) * size,
	    .blocked = (uint8_t *)blocked->data + (size_t)((image * blocks + b) * block * pixels) * size,
	    .plane = pixels,
	    .block = (int)block,
	    .size = size,
	};
	for (int64_t first = 0; first < pixels; first += STRETCH)
		move_stretch(&k, packs, first, (int)(c - b * block < block ? c - b * block : block));
}

struct move {
	const struct tensor *plain, *blocked;
	bool packs;
	int64_t blocks; // of channels
};

// A part_fn of struct move.
static void one_block(void *arg, int64_t i, int thread)
{
	const struct move *m = arg;
	(void)thread;
	move_block(m->plain, m->blocked, m->packs, i / m->blocks, i % m->blocks);
}

void tensor_reorder(struct tensor *dst, const struct tensor *src, int width)
{
	enum { ALONE = 32 << 10 }; // bytes that are moved before another thread has begun
	bool packs = dst->layout == LAYOUT_BLOCK;
	struct move m = {.plain = packs ? src : dst, .blocked = packs ? dst : src, .packs = packs};
	if (dst->layout == src->layout) {
		memcpy(dst->data, src->data, tensor_bytes(src));
		return;
	}
	int64_t block = layout_block();
	m.blocks = (src->shape.dim[1] + block - 1) / block;
	parts_share(src->shape.dim[0] * m.blocks, tensor_bytes(src) > ALONE ? width : 1, one_block, &m);
}
