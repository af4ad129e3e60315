// Maps of large files. Of one that another program cuts short while it is mapped, pages are missing, and whoever reads
// them gets a SIGBUS: zeros take their place, the map remembers it, and bytes_torn tells whoever has read.
#include "file_impl.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "qtui/base/mem.h"

// A map costs more than it saves below this size.
#define MAP_FROM ((off_t)1 << 20)

struct mapping {
	uintptr_t begin, end;
	struct file_stamp stamp;
	atomic_bool torn;
	_Atomic(struct mapping *) next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // over changes of the list and of the handler
static _Atomic(struct mapping *) first;
static atomic_int readers; // handlers that walk the list: nothing of it is freed meanwhile
static struct sigaction before;

// mmap is a bare system call, so that a handler may make it. The rest of the map goes too:
// one signal for all of its pages.
static bool fill(struct mapping *m, uintptr_t at)
{
	uintptr_t page = at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	atomic_store(&m->torn, true);
	return mmap((void *)page, m->end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool file_map_fault(const void *address)
{
	uintptr_t at = (uintptr_t)address;
	struct mapping *m;
	int saved = errno;
	bool filled;
	atomic_fetch_add(&readers, 1);
	for (m = atomic_load(&first); m && (at < m->begin || at >= m->end); m = atomic_load(&m->next))
		;
	filled = m && fill(m, at);
	atomic_fetch_sub(&readers, 1);
	errno = saved;
	return filled;
}

// What is not in a map happens again when this returns, and then comes to whoever was asked before.
static void on_bus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!file_map_fault(info->si_addr))
		sigaction(sig, &before, NULL);
}

static void listen(void)
{
	struct sigaction on = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK}, now;
	sigemptyset(&on.sa_mask);
	sigaction(SIGBUS, &on, &now);
	if (now.sa_sigaction != on_bus)
		before = now;
}

static struct mapping *add_mapping(const void *data, size_t size, const struct stat *st)
{
	struct mapping *m = xcalloc(1, sizeof *m);
	m->begin = (uintptr_t)data;
	m->end = m->begin + size;
	m->stamp = file_stamp_of(st);
	pthread_mutex_lock(&lock);
	listen();
	atomic_store(&m->next, atomic_load(&first));
	atomic_store(&first, m);
	pthread_mutex_unlock(&lock);
	return m;
}

static void remove_mapping(struct mapping *m)
{
	_Atomic(struct mapping *) *at = &first;

	pthread_mutex_lock(&lock);
	while (atomic_load(at) != m)
		at = &atomic_load(at)->next;
	atomic_store(at, atomic_load(&m->next));
	while (atomic_load(&readers))
		sched_yield();
	pthread_mutex_unlock(&lock);
	free(m);
}

// A map of the size of whole pages has no NUL behind it, so the file is laid over a map of zeros that is a byte longer.
bool file_map_open(struct bytes *out, int fd)
{
	struct stat st;
	*out = (struct bytes){0};
	if (fstat(fd, &st) != 0)
		return false;
	size_t size = (size_t)st.st_size;
	void *zeros = mmap(NULL, size + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (zeros == MAP_FAILED)
		return false;
	if (mmap(zeros, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		munmap(zeros, size + 1);
		return false;
	}
	*out = (struct bytes){.data = zeros, .size = size, .map = add_mapping(zeros, size, &st)};
	return true;
}

enum status file_map(struct bytes *out, const char *path, struct error *err)
{
	struct stat st;
	enum status s = STATUS_OK;
	int fd;
	*out = (struct bytes){0};
	if (file_pipe_again(out, path))
		return STATUS_OK;
	if (file_open_input(&fd, &st, path, err))
		return err->status;
	if (!S_ISREG(st.st_mode) || st.st_size < MAP_FROM || !file_map_open(out, fd))
		s = file_read_open(out, fd, &st, SIZE_MAX, path, err);
	close(fd);
	return s;
}

// A file that has taken the name of the mapped one does not touch it.
static bool is_rewritten(const struct mapping *m, const char *path)
{
	struct file_stamp now = file_stamp(path);
	return now.device == m->stamp.device && now.inode == m->stamp.inode && memcmp(&now, &m->stamp, sizeof now) != 0;
}

bool bytes_torn(const struct bytes *b)
{
	return b->map && atomic_load(&b->map->torn);
}

enum status bytes_intact(const struct bytes *b, const char *path, struct error *err)
{
	if (!bytes_torn(b) && !(b->map && is_rewritten(b->map, path)))
		return STATUS_OK;
	return error_set(err, STATUS_IO, "%s was written to while it was read: start again when it is complete", path);
}

void bytes_forget(const struct bytes *b, const void *data, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), at, end;
	if (!b->map || (const uint8_t *)data < b->data || (const uint8_t *)data + size > b->data + b->size)
		return;
	at = (size_t)((const uint8_t *)data - b->data) / page * page;
	end = (size_t)((const uint8_t *)data - b->data) + size;
	(void)madvise(b->data + at, end - at, MADV_DONTNEED); // advice: a kernel that does not take it keeps the pages
}

void bytes_done(struct bytes *b)
{
	if (b->map) {
		remove_mapping(b->map);
		munmap(b->data, b->size + 1);
	} else {
		free(b->data);
	}
	*b = (struct bytes){0};
}
