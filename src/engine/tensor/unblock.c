#include "unblock.h"
#include <string.h>
#include "qtui/base/parts.h"

enum {
	LEAST_RUN = 4, // channels: of fewer, tiles that are turned in registers are as fast
	STRETCH = 256, // rows of a task
};

struct extent { // of a blocked tensor, in elements
	int64_t pixels, channels, image;
};

static struct extent extent_of(const struct tensor *t)
{
	const struct shape *s = &t->shape;
	int64_t block = layout_block(), pixels = 1;
	for (int i = 2; i < s->rank; i++)
		pixels *= s->dim[i];
	return (struct extent){pixels, s->dim[1], (s->dim[1] + block - 1) / block * block * pixels};
}

// Adds a dimension of `length` with this stride in plain order, if it goes over pixels, or channels, or images alone.
static bool add(struct unblock *u, const struct extent *e, int64_t length, int64_t stride)
{
	int64_t pixel_step = 0, channel_step = 0, whole = e->pixels * e->channels;
	if (e->pixels % (stride * length) == 0)
		pixel_step = stride * layout_block();
	else if (stride % e->pixels == 0 && whole % (stride * length) == 0)
		channel_step = stride / e->pixels;
	else if (stride % whole == 0)
		pixel_step = stride / whole * e->image;
	else
		return false;
	int last = u->rank - 1;
	if (last >= 0 && u->pixel_step[last] == pixel_step * length && u->channel_step[last] == channel_step * length) {
		u->dim[last] *= length;
	} else {
		u->dim[++last] = length;
		u->rank++;
	}
	u->pixel_step[last] = pixel_step;
	u->channel_step[last] = channel_step;
	return true;
}

bool unblock_of(struct unblock *u, const struct tensor *src, const struct shape *seen, const int64_t *perm)
{
	const struct extent e = extent_of(src);
	int64_t stride[SHAPE_MAX_RANK], count = 1;
	*u = (struct unblock){0};
	for (int i = seen->rank - 1; i >= 0; i--) {
		stride[i] = count;
		count *= seen->dim[i];
	}
	if (count <= 0 || count != tensor_count(src))
		return false;
	for (int i = 0; i < seen->rank; i++)
		if (seen->dim[perm[i]] > 1 && !add(u, &e, seen->dim[perm[i]], stride[perm[i]]))
			return false;
	return u->rank > 0 && u->channel_step[u->rank - 1] == 1 && u->dim[u->rank - 1] >= LEAST_RUN;
}

// Rows of `run` channels, one behind the other: from lane `lane` of a pixel's block on,
// then from the next blocks. All in bytes but `rows`.
struct rows {
	uint8_t *to;
	const uint8_t *from; // the first pixel's block
	size_t lane, run, pixel_step, plane;
	int64_t rows;
};

static inline __attribute__((always_inline)) void copy_rows(const struct rows *k, const size_t block)
{
	// A row that has a block's room behind it within the task is copied in whole blocks:
	// the rows behind it write what is too much again.
	int64_t whole = k->rows - (int64_t)((block - 1 + k->run - 1) / k->run);
	for (int64_t r = 0; r < k->rows; r++) {
		uint8_t *to = k->to + (size_t)r * k->run;
		const uint8_t *from = k->from + (size_t)r * k->pixel_step;
		if (r < whole) {
			memcpy(to, from + k->lane, block);
			for (size_t done = block - k->lane; done < k->run; done += block)
				memcpy(to + done, from += k->plane, block);
			continue;
		}
		size_t first = block - k->lane < k->run ? block - k->lane : k->run;
		memcpy(to, from + k->lane, first);
		for (size_t done = first; done < k->run; done += block)
			memcpy(to + done, from += k->plane, k->run - done < block ? k->run - done : block);
	}
}

struct task {
	const struct unblock *u;
	struct extent extent;
	uint8_t *to;
	const uint8_t *from;
	size_t size;
	int64_t rows, stretches; // of the last dimension but one
};

// A part_fn: a stretch of rows.
static void copy_stretch(void *arg, int64_t i, int thread)
{
	const struct task *t = arg;
	const struct unblock *u = t->u;
	int64_t first = i % t->stretches * STRETCH, row = i / t->stretches * t->rows + first, run = u->dim[u->rank - 1];
	int64_t at = 0, channel = 0, rest = row, block = layout_block();
	for (int d = u->rank - 2; d >= 0; d--) {
		at += rest % u->dim[d] * u->pixel_step[d];
		channel += rest % u->dim[d] * u->channel_step[d];
		rest /= u->dim[d];
	}
	at += channel / block * t->extent.pixels * block;
	const struct rows k = {
	    .to = t->to + (size_t)(row * run) * t->size,
	    .from = t->from + (size_t)at * t->size,
	    .lane = (size_t)(channel % block) * t->size,
	    .run = (size_t)run * t->size,
	    .pixel_step = u->rank > 1 ? (size_t)u->pixel_step[u->rank - 2] * t->size : 0,
	    .plane = (size_t)(t->extent.pixels * block) * t->size,
	    .rows = t->rows - first < STRETCH ? t->rows - first : STRETCH,
	};
	(void)thread;
	switch ((size_t)block * t->size) {
	case 8: copy_rows(&k, 8); break;
	case 16: copy_rows(&k, 16); break;
	case 32: copy_rows(&k, 32); break;
	default: copy_rows(&k, 64); break;
	}
}

void unblock_run(const struct unblock *u, struct tensor *dst, const struct tensor *src, int width)
{
	enum { ALONE = 32 << 10 }; // bytes that are moved before another thread has begun
	// Rows that lie in other channels are tasks of their own.
	bool rows = u->rank > 1 && u->channel_step[u->rank - 2] == 0;
	struct task t = {u, extent_of(src), dst->data, src->data, dtype_size(src->type), rows ? u->dim[u->rank - 2] : 1, 1};
	t.stretches = (t.rows + STRETCH - 1) / STRETCH;
	int64_t all = tensor_count(src) / u->dim[u->rank - 1] / t.rows;
	parts_share(all * t.stretches, tensor_bytes(dst) > ALONE ? width : 1, copy_stretch, &t);
}
