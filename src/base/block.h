// Private to src/base: memory for large bufs. A page that is touched for the first time costs more than most operators
// take to fill it. So pages that are given back are kept for the next requests, BLOCK_KEPT bytes at the most
// (and what mem_keep_more adds); beyond that those given back longest ago return to the system, in whole units of pages.h:
// where these are huge pages, what is left of them around blocks in use stays beyond the bound. Thread-safe.
#ifndef QTUI_BASE_BLOCK_H
#define QTUI_BASE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#define BLOCK_KEPT ((size_t)64 << 20)
// Smaller ones are left to malloc, and so are all where a sanitizer watches what happens to memory.
#define BLOCK_LEAST ((size_t)32 << 10)

// 64-byte aligned, bytes undefined; NULL when there is no memory. The system is asked for what it has (mem_has_room)
// where pages are new: that takes a call of it or several, as long as a step of a small network.
void *block_take(size_t size);
void block_give(void *p, size_t size); // of block_take(size)
size_t block_kept(void);               // bytes kept now
size_t block_release(void);            // gives all that is kept back to the system; how many bytes that were

// ---- mem.c

bool mem_told_to_fail(void);    // mem_fail_at
bool mem_has_room(size_t size); // mem_may_take, but for that

#endif
