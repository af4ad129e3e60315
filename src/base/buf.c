#include "qtui/base/mem.h"

#include <assert.h>
#include <string.h>
#include "block.h"

#define ALIGN ((size_t)64)

static _Atomic uint64_t bufs; // that there have been

// One block: the head in the first 64 bytes, the data, and up to 127 zeroed bytes that a vector load may touch.
static size_t padded(size_t size)
{
	return (size + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
}

struct buf *buf_new(size_t size, atomic_size_t *account)
{
	struct buf *b;
	uint8_t *block;
	static_assert(sizeof *b <= ALIGN, "the head of a buf fits its alignment");
	if (size > PTRDIFF_MAX - 4 * ALIGN || mem_told_to_fail())
		return NULL;
	block = block_take(ALIGN + padded(size));
	if (!block)
		return NULL;
	b = (struct buf *)block;
	atomic_init(&b->refs, 1);
	b->size = size;
	b->data = block + ALIGN;
	b->account = account;
	b->id = atomic_fetch_add_explicit(&bufs, 1, memory_order_relaxed);
	memset((uint8_t *)b->data + size, 0, padded(size) - size);
	if (account)
		atomic_fetch_add_explicit(account, size, memory_order_relaxed);
	return b;
}

struct buf *buf_take(struct buf *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void buf_drop(struct buf **b)
{
	struct buf *old = *b;
	*b = NULL;
	if (!old || atomic_fetch_sub_explicit(&old->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (old->account)
		atomic_fetch_sub_explicit(old->account, old->size, memory_order_relaxed);
	block_give(old, ALIGN + padded(old->size));
}

bool buf_is_unique(const struct buf *b)
{
	return atomic_load_explicit(&b->refs, memory_order_acquire) == 1;
}
