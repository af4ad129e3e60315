// Private to src/base: pages of memory from the system. Where a virtual machine has shadow page tables, the first touch of a
// page of 4 KiB is served by the host and costs some ten microseconds, whoever has asked for it; that of a huge page costs no
// more. There, and nowhere else, memory is taken in huge pages.
#ifndef QTUI_BASE_PAGES_H
#define QTUI_BASE_PAGES_H

#include <stddef.h>

#define PAGE ((size_t)4096)
// The granularity, a power of two, in which memory is taken and given back: PAGE, or that of huge pages.
size_t pages_unit(void);
// `size` bytes at a multiple of the unit, which size is a multiple of; NULL when there is no memory. munmap gives them, or
// parts of them, back. Thread-safe.
void *pages_map(size_t size);
// From now on huge ones, for the heap of malloc too: main begins so where they are worth it. Nothing happens where the system
// has none, and under sanitizers.
void pages_take_huge(void);
// Of use after malloc has had to ask for more memory, and cheap at any time.
void pages_follow_heap(void);

#endif
