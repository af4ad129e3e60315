// Memory. Small allocations (xmalloc and the like) never return NULL: without memory for them the program ends
// (mem_exhausted). Sizes that an input decides go through mem_try_*, which may return NULL; under a limit on address
// space they leave a reserve for the small allocations and the libraries. An arena owns everything allocated from it,
// until arena_free. A buf is a reference-counted block of bytes, 64-byte aligned.
#ifndef QTUI_BASE_MEM_H
#define QTUI_BASE_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size); // zeroed
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s); // NULL of NULL
// Grows *array (elements of `size` bytes) so that it holds at least `need`; *cap is its capacity in elements.
void *xgrow(void *array, size_t *cap, size_t need, size_t size);

void *mem_try_array(size_t n, size_t size);  // zeroed, NULL on overflow or when there is no memory; free() it
void *mem_try_resize(void *p, size_t size);  // realloc with the same refusals; p stays valid when NULL is returned
bool mem_may_take(size_t size);              // would the reserve be left if a block of this size were taken?
void mem_fail_at(long n);                    // for tests: the n-th mem_try_* or buf_new from now fails; 0: none
size_t mem_address_space_left(void);         // SIZE_MAX: there is no limit (ulimit -v)
_Noreturn void mem_exhausted(void);          // says that memory is gone, and ends the program (error_end)
size_t mem_available(void);                  // bytes that the system could give now; cgroup and address space limits respected
size_t mem_available_under(const char *root); // the same from the files /proc and /sys below `root`, "" for this system
// Does new memory cost several times what it costs elsewhere, as on a virtual machine with shadow page tables (pages.h)?
bool mem_pages_dear(void);
// Raises (negative: lowers) how many bytes of freed large buffers the program keeps for new ones, in place of giving
// them back to the system.
void mem_keep_more(ptrdiff_t size);
void mem_trim(void);                         // freed small blocks go back to the system, where it knows how
double mem_peak_rss_mib(void);

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena **a);
void *arena_alloc(struct arena *a, size_t size); // zeroed, 16-byte aligned; ends the program when memory is gone
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
void *arena_memdup(struct arena *a, const void *p, size_t size);

// Shared bytes. A buf is freed when its count drops to zero; whoever holds a count may read; only a sole holder may
// write. `account` counts the bytes of a memory budget, or is NULL. No two bufs of a process have one `id`.
struct buf {
	atomic_int refs;
	size_t size;
	void *data;           // 64-byte aligned, padded so that 64 bytes past the end may be read
	atomic_size_t *account;
	uint64_t id;
};
struct buf *buf_new(size_t size, atomic_size_t *account); // NULL when there is no memory; bytes undefined
struct buf *buf_take(struct buf *b);
void buf_drop(struct buf **b); // *b may be NULL
bool buf_is_unique(const struct buf *b);

#endif
