// Masks as runs of pixels: see qtui/analysis/rle.h.
#include "qtui/analysis/rle.h"
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"

bool rle_fits(int w, int h)
{
	return w > 0 && h > 0 && w <= RLE_SIDE_MAX && h <= RLE_SIDE_MAX && (int64_t)w * h <= RLE_PIXELS_MAX;
}

void rle_done(struct rle *m)
{
	free(m->edge);
	*m = (struct rle){0};
}

struct rle *rle_copy(const struct rle *m)
{
	if (!m)
		return NULL;
	struct rle *copy = xmalloc(sizeof *copy);
	size_t n = (size_t)m->n;
	*copy = (struct rle){.w = m->w, .h = m->h, .edge = xcalloc(n + 1, sizeof *copy->edge), .n = m->n, .cap = n};
	if (n)
		memcpy(copy->edge, m->edge, n * sizeof *copy->edge);
	return copy;
}

void rle_free(struct rle **m)
{
	if (*m)
		rle_done(*m);
	free(*m);
	*m = NULL;
}

void rle_add(struct rle *m, uint32_t from, uint32_t to)
{
	if (from >= to)
		return;
	if (m->n && m->edge[m->n - 1] == from) {
		m->edge[m->n - 1] = to;
		return;
	}
	m->edge = xgrow(m->edge, &m->cap, (size_t)m->n + 2, sizeof *m->edge);
	m->edge[m->n++] = from;
	m->edge[m->n++] = to;
}

// ---- two of them

// Walks through two masks at once, from edge to edge.
struct sweep {
	const struct rle *a, *b;
	int i, k;       // edges that are passed
	uint32_t at;    // everything before is passed
};

// The next stretch from..to-1 in which neither changes: bit 0 says whether it is in a, bit 1 in b. -1: no more.
static int sweep_next(struct sweep *s, uint32_t *from, uint32_t *to)
{
	int in = (s->i & 1) | (s->k & 1) << 1;
	if (s->i == s->a->n && s->k == s->b->n)
		return -1;
	uint32_t a = s->i < s->a->n ? s->a->edge[s->i] : UINT32_MAX, b = s->k < s->b->n ? s->b->edge[s->k] : UINT32_MAX;
	*from = s->at;
	*to = s->at = a < b ? a : b;
	s->i += a == s->at;
	s->k += b == s->at;
	return in;
}

void rle_join(struct rle *m, const struct rle *other)
{
	struct rle all = {.w = m->w, .h = m->h};
	struct sweep s = {.a = m, .b = other};
	uint32_t from, to;
	for (int in; (in = sweep_next(&s, &from, &to)) >= 0;)
		if (in)
			rle_add(&all, from, to);
	rle_done(m);
	*m = all;
}

int64_t rle_area(const struct rle *m)
{
	int64_t area = 0;
	for (int i = 0; i < m->n; i += 2)
		area += m->edge[i + 1] - m->edge[i];
	return area;
}

static int64_t shared(const struct rle *a, const struct rle *b)
{
	int64_t area = 0;
	for (int i = 0, k = 0; i < a->n && k < b->n;) {
		uint32_t from = a->edge[i] > b->edge[k] ? a->edge[i] : b->edge[k];
		uint32_t to = a->edge[i + 1] < b->edge[k + 1] ? a->edge[i + 1] : b->edge[k + 1];
		area += from < to ? to - from : 0;
		if (a->edge[i + 1] < b->edge[k + 1])
			i += 2;
		else
			k += 2;
	}
	return area;
}

double rle_iou(const struct rle *found, const struct rle *truth, bool crowd)
{
	if (found->w != truth->w || found->h != truth->h)
		return 0;
	int64_t both = shared(found, truth), own = rle_area(found);
	return both ? (double)both / (double)(crowd ? own : own + rle_area(truth) - both) : 0;
}

bool rle_has(const struct rle *m, int x, int y)
{
	if (x < 0 || y < 0 || x >= m->w || y >= m->h)
		return false;
	uint32_t at = (uint32_t)x * (uint32_t)m->h + (uint32_t)y;
	int low = 0, high = m->n; // edges before `low` are passed
	while (low < high) {
		int middle = (low + high) / 2;
		if (m->edge[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low & 1;
}

// ---- outlines

enum { FINE = 5, STEPS_MAX = 1 << 24 }; // steps of an outline in a pixel; in all

// Goes along an outline in steps of a fifth of a pixel; where it crosses the middle of a column of pixels, all that is
// below in that column changes sides.
struct walk {
	int w, h;
	int x, y; // where it is, in steps
	int64_t steps;
	uint32_t *flip;
	size_t n, cap;
};

static void walk_to(struct walk *k, int x, int y)
{
	int left = x < k->x ? x : k->x, top = y < k->y ? y : k->y;
	int column = left - FINE / 2;
	bool crosses = x != k->x && column >= 0 && column % FINE == 0 && column / FINE < k->w;
	k->x = x;
	k->y = y;
	if (!crosses)
		return;
	int above = top - FINE / 2, row = above > 0 ? (above + FINE - 1) / FINE : 0;
	row = row < k->h ? row : k->h;
	k->flip = xgrow(k->flip, &k->cap, k->n + 1, sizeof *k->flip);
	k->flip[k->n++] = (uint32_t)(column / FINE) * (uint32_t)k->h + (uint32_t)row;
}

// Steps go along the longer side, and the other coordinate is rounded; whichever end comes first, the places between
// are those of the edge from its lesser end.
static void walk_edge(struct walk *k, const int from[2], const int to[2])
{
	int dx = abs(to[0] - from[0]), dy = abs(to[1] - from[1]), n = dx >= dy ? dx : dy;
	bool flat = dx >= dy, back = flat ? from[0] > to[0] : from[1] > to[1];
	const int *low = back ? to : from, *high = back ? from : to;
	double slope = n ? (double)(flat ? high[1] - low[1] : high[0] - low[0]) / n : 0;
	k->steps += n;
	for (int i = 0; i <= n && k->steps <= STEPS_MAX; i++) {
		int d = back ? n - i : i, across = (int)((double)low[flat] + slope * d + .5);
		walk_to(k, flat ? low[0] + d : across, flat ? across : low[1] + d);
	}
}

static int step_of(double at, int size)
{
	double low = -size, high = 2. * size;
	return (int)(FINE * (at < low ? low : at > high ? high : at) + .5);
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

bool rle_outline(struct rle *m, const double (*corner)[2], int n)
{
	struct walk k = {.w = m->w, .h = m->h};
	int first[2] = {step_of(corner[0][0], m->w), step_of(corner[0][1], m->h)}, at[2] = {first[0], first[1]};
	k.x = at[0];
	k.y = at[1];
	for (int i = 1; i <= n; i++) {
		int to[2] = {first[0], first[1]};
		if (i < n) {
			to[0] = step_of(corner[i][0], m->w);
			to[1] = step_of(corner[i][1], m->h);
		}
		walk_edge(&k, at, to);
		at[0] = to[0];
		at[1] = to[1];
	}
	if (k.n)
		qsort(k.flip, k.n, sizeof *k.flip, by_place);
	for (size_t i = 0; i + 1 < k.n; i += 2)
		rle_add(m, k.flip[i], k.flip[i + 1]);
	free(k.flip);
	return k.steps <= STEPS_MAX;
}

// ---- runs

bool rle_runs(struct rle *m, const uint32_t *run, int n)
{
	const uint64_t pixels = (uint64_t)m->w * (uint64_t)m->h;
	uint64_t at = 0;
	for (int i = 0; i < n; i++) {
		if (run[i] > pixels - at)
			return false;
		if (i & 1)
			rle_add(m, (uint32_t)at, (uint32_t)(at + run[i]));
		at += run[i];
	}
	return at == pixels;
}

// A number of COCO's texts: five bits a character from '0' on, the lowest first; bit 5 says that there are more, and
// the highest one at the end is the sign.
static bool read_number(int64_t *out, const char **text)
{
	enum { BITS = 5, MORE = 32, SIGN = 16, CHARACTERS = 7 };
	int64_t value = 0;
	for (int i = 0; i < CHARACTERS; i++) {
		int c = *(*text)++ - '0';
		if (c < 0 || c > 63)
			return false;
		value |= (int64_t)(c & 31) << (BITS * i);
		if (c & MORE)
			continue;
		*out = c & SIGN ? value - ((int64_t)1 << (BITS * (i + 1))) : value;
		return true;
	}
	return false;
}

// From the fourth on, numbers are differences from the one before the last.
bool rle_text(struct rle *m, const char *text)
{
	uint32_t *run = NULL;
	size_t n = 0, cap = 0;
	bool fits = true;
	while (*text && fits) {
		int64_t v;
		fits = n < INT32_MAX && read_number(&v, &text);
		if (!fits)
			break;
		run = xgrow(run, &cap, n + 1, sizeof *run);
		v += n > 2 ? run[n - 2] : 0;
		fits = v >= 0 && v <= RLE_PIXELS_MAX;
		run[n++] = fits ? (uint32_t)v : 0;
	}
	fits = fits && rle_runs(m, run, (int)n);
	free(run);
	return fits;
}
