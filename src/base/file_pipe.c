// What pipes gave. A pipe gives its bytes once, but some files are looked at more than once:
// of what kind they are, then what they say.
#include "file_impl.h"

#include <pthread.h>
#include <string.h>
#include "qtui/base/mem.h"

static struct pipe_bytes {
	struct file_stamp stamp; // behind the last byte: who writes to a named pipe later changes it
	struct bytes bytes;
	struct pipe_bytes *next;
} *pipes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool copy(struct bytes *out, const struct bytes *b)
{
	uint8_t *data = mem_try_resize(NULL, b->size + 1);
	if (!data)
		return false;
	memcpy(data, b->data, b->size + 1);
	*out = (struct bytes){.data = data, .size = b->size};
	return true;
}

void file_pipe_keep(int fd, const struct bytes *b)
{
	struct stat st;
	struct bytes kept;
	if (fstat(fd, &st) != 0 || !copy(&kept, b))
		return;
	struct pipe_bytes *p = xcalloc(1, sizeof *p);
	p->stamp = file_stamp_of(&st);
	p->bytes = kept;
	pthread_mutex_lock(&lock);
	p->next = pipes;
	pipes = p;
	pthread_mutex_unlock(&lock);
}

bool file_pipe_again(struct bytes *out, const char *path)
{
	bool found = false;
	pthread_mutex_lock(&lock);
	for (const struct pipe_bytes *p = pipes; p && !found; p = p->next)
		found = file_has_stamp(path, &p->stamp) && copy(out, &p->bytes);
	pthread_mutex_unlock(&lock);
	return found;
}
