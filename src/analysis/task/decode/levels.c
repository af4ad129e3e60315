#include "levels.h"

#include <math.h>
#include <stdlib.h>
#include "qtui/base/mem.h"

enum { GLANCE = 1 << 16 };         // pixels that tell the range
static const double CLEARLY = 1.5; // of two mean square errors

// level = x * times + plus, of each channel.
struct range {
	const char *name;
	float times[3], plus[3];
};
enum { RANGE_UNIT, RANGE_BYTES, RANGE_SIGNED, RANGE_INPUT, RANGES, UNKNOWN = -1 };
struct levels_range {
	struct range of[RANGES];
	int known;
};

struct levels_range *levels_range_new(const struct preprocess *input)
{
	struct levels_range *r = xcalloc(1, sizeof *r);
	*r = (struct levels_range){.known = UNKNOWN,
	    .of = {[RANGE_UNIT] = {"0..1", {255, 255, 255}, {0}},
	        [RANGE_BYTES] = {"0..255", {1, 1, 1}, {0}},
	        [RANGE_SIGNED] = {"-1..1", {127.5F, 127.5F, 127.5F}, {127.5F, 127.5F, 127.5F}},
	        [RANGE_INPUT] = {
	            "those of the input", {input->std[0], input->std[1], input->std[2]}, {input->mean[0], input->mean[1], input->mean[2]}}}};
	return r;
}

void levels_range_free(struct levels_range **r)
{
	free(*r);
	*r = NULL;
}

const char *levels_range_name(const struct levels_range *r)
{
	return r->known == UNKNOWN ? NULL : r->of[r->known].name;
}

static bool same_range(const struct range *a, const struct range *b)
{
	for (int c = 0; c < 3; c++)
		if (fabsf(a->times[c] - b->times[c]) > 1 || fabsf(a->plus[c] - b->plus[c]) > 1)
			return false;
	return true;
}

static float level(const struct range *r, int channel, float v)
{
	v = v * r->times[channel] + r->plus[channel];
	return v >= 255 ? 255 : v > 0 ? rintf(v) : 0;
}

static float element(const struct pixels *p, const float *said, int channel, size_t pixel)
{
	size_t w = (size_t)p->w;
	return said[p->channel * channel + p->row * (int64_t)(pixel / w) + p->column * (int64_t)(pixel % w)];
}

// An output and what it should be.
struct reading {
	const struct pixels *p;
	const struct area *a;
	const float *said, *truth;
};

static double error_at_a_glance(const struct range *r, const struct reading *it)
{
	size_t w = (size_t)it->p->w, all = (size_t)it->a->w * (size_t)it->a->h, step = all / GLANCE + 1, n = 0;
	double sum = 0;
	for (int c = 0; c < it->p->channels; c++)
		for (size_t i = 0; i < all; i += step, n++) {
			size_t y = (size_t)it->a->y + i / (size_t)it->a->w, x = (size_t)it->a->x + i % (size_t)it->a->w, at = y * w + x;
			double e = (double)(level(r, c, element(it->p, it->said, c, at)) - it->truth[(size_t)c * w * (size_t)it->p->h + at]);
			sum += e * e;
		}
	return sum / (double)n;
}

// The range in which the picture comes closest; *clear: no other one comes nearly as close.
static int nearest_range(const struct levels_range *r, const struct reading *it, bool *clear)
{
	int best = 0;
	double least = INFINITY, next = INFINITY;
	for (int i = 0; i < RANGES; i++) {
		double e = error_at_a_glance(&r->of[i], it);
		if (e < least) {
			next = same_range(&r->of[i], &r->of[best]) ? next : least;
			least = e;
			best = i;
		} else if (!same_range(&r->of[i], &r->of[best]))
			next = fmin(next, e);
	}
	*clear = next > CLEARLY * least;
	return best;
}

// By its values: pictures are a little darker or lighter than their range at the most.
static int likely_range(const struct reading *it, bool *clear)
{
	float least = INFINITY, most = -INFINITY;
	for (int c = 0; c < it->p->channels; c++)
		for (int y = it->a->y; y < it->a->y + it->a->h; y++)
			for (int x = it->a->x; x < it->a->x + it->a->w; x++) {
				float v = element(it->p, it->said, c, (size_t)y * (size_t)it->p->w + (size_t)x);
				least = v < least ? v : least;
				most = v > most ? v : most;
			}
	bool bytes = most > 4 && least > -most / 4, beyond = fmaxf(most, -least) > 1.3F;
	int range = bytes ? RANGE_BYTES : beyond ? RANGE_INPUT : least < -.2F ? RANGE_SIGNED : RANGE_UNIT;
	*clear = range != RANGE_UNIT; // may be the light part of another
	return range;
}

int levels_range_find(struct levels_range *r, pthread_mutex_t *lock, const struct pixels *p, const struct area *a, const float *said,
    const float *truth)
{
	const struct reading it = {p, a, said, truth};
	bool clear;
	pthread_mutex_lock(lock);
	int range = r->known;
	pthread_mutex_unlock(lock);
	if (range != UNKNOWN)
		return range;
	range = truth ? nearest_range(r, &it, &clear) : likely_range(&it, &clear);
	pthread_mutex_lock(lock);
	if (clear && r->known == UNKNOWN)
		r->known = range;
	pthread_mutex_unlock(lock);
	return range;
}

float *levels_new(const struct levels_range *r, int range, const struct pixels *p, const float *said)
{
	size_t plane = (size_t)p->w * (size_t)p->h;
	float *out = xmalloc(plane * (size_t)p->channels * sizeof *out);
	for (int c = 0; c < p->channels; c++)
		for (size_t i = 0; i < plane; i++)
			out[(size_t)c * plane + i] = level(&r->of[range], c, element(p, said, c, i));
	return out;
}
