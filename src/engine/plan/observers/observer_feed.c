// What an observer gets to see of a tensor: spans of elements that lie side by side,
// without padding; and how spans are counted.
#include <stdlib.h>
#include <string.h>
#include "observer_impl.h"

typedef void span_fn(void *arg, const float *x, int64_t n);

// The last channel block without its padding, so many pixels at a time.
static void fringe_spans(const float *x, int64_t pixels, int64_t valid, span_fn *fn, void *arg)
{
	enum { PIXELS = 2048, MOST = 16 };
	float packed[PIXELS * MOST];
	int64_t block = layout_block();
	for (int64_t at = 0; at < pixels; at += PIXELS) {
		int64_t n = pixels - at < PIXELS ? pixels - at : PIXELS;
		for (int64_t k = 0; k < n; k++)
			memcpy(packed + k * valid, x + (at + k) * block, (size_t)valid * sizeof *packed);
		fn(arg, packed, n * valid);
	}
}

// Calls fn with all elements but the padding of LAYOUT_BLOCK, as they lie side by side.
static void each_span(const struct tensor *x, span_fn *fn, void *arg)
{
	int64_t block = layout_block(), pixels = 1;
	const float *at = x->data;
	if (x->layout != LAYOUT_BLOCK || x->shape.dim[1] % block == 0) {
		fn(arg, at, tensor_count(x));
		return;
	}
	for (int i = 2; i < x->shape.rank; i++)
		pixels *= x->shape.dim[i];
	int64_t valid = x->shape.dim[1] % block, whole = (x->shape.dim[1] - valid) * pixels;
	for (int64_t i = 0; i < x->shape.dim[0]; i++, at += whole + block * pixels) {
		if (whole > 0)
			fn(arg, at, whole);
		fringe_spans(at + whole, pixels, valid, fn, arg);
	}
}

// What a thin observer takes of a large tensor.
enum { PIECE = 4096, TAKEN = 512, LARGE = 1 << 18 };

struct feeding {
	struct observer *o;
	int phase, sample;
	float *gathered; // of a thin count, or of a method that wants all elements at once
	int64_t n;
};

static void feed_span(void *arg, const float *x, int64_t n)
{
	const struct feeding *f = arg;
	f->o->method->feed[f->phase](f->o, f->sample, x, n);
}

static void gather_all(void *arg, const float *x, int64_t n)
{
	struct feeding *f = arg;
	memcpy(f->gathered + f->n, x, (size_t)n * sizeof *x);
	f->n += n;
}

static void gather_few(void *arg, const float *x, int64_t n)
{
	for (int64_t at = 0; at < n; at += PIECE)
		gather_all(arg, x + at, n - at < TAKEN ? n - at : TAKEN);
}

static void feed_gathered(struct feeding *f, const struct tensor *x, span_fn *gather)
{
	f->gathered = xmalloc((size_t)tensor_count(x) * sizeof *f->gathered);
	each_span(x, gather, f);
	feed_span(f, f->gathered, f->n);
	free(f->gathered);
}

void observer_thin(struct observer *o)
{
	o->thin = true;
}

void observer_feed(struct observer *o, int phase, int sample, const struct tensor *x)
{
	struct feeding f = {o, phase, sample, NULL, 0};
	bool padded = x->layout == LAYOUT_BLOCK && x->shape.dim[1] % layout_block() != 0;
	if (tensor_count(x) < 1)
		return;
	atomic_store(&o->fed, true);
	if (o->thin && phase > 0 && tensor_count(x) >= LARGE)
		feed_gathered(&f, x, gather_few);
	else if (o->method->at_once && padded)
		feed_gathered(&f, x, gather_all);
	else
		each_span(x, feed_span, &f);
}

// Large histograms are counted in place, small ones aside and then added, so that threads seldom wait.
#define COUNT_ASIDE 8192

void observer_add_counts(struct observer *o, const uint32_t *hist)
{
	uint32_t *whole = o->hist;
	_Pragma("omp simd") for (int i = 0; i < o->bins; i++)
	{
		uint32_t sum = whole[i] + hist[i];
		whole[i] = sum < hist[i] ? UINT32_MAX : sum;
	}
}

static void count_into(uint32_t *hist, const struct observer *o, bool absolute, const float *x, int64_t n)
{
	if (absolute)
		scan_hist_abs(hist, o->bins, range_largest(&o->total), x, n);
	else
		scan_hist(hist, o->bins, o->total.lo, o->total.hi, x, n);
}

static void count(struct observer *o, bool absolute, const float *x, int64_t n)
{
	uint32_t aside[COUNT_ASIDE + 1];
	bool is_aside = o->bins <= COUNT_ASIDE;
	if (is_aside) {
		memset(aside, 0, ((size_t)o->bins + 1) * sizeof *aside);
		count_into(aside, o, absolute, x, n);
	}
	pthread_mutex_lock(&o->lock);
	if (is_aside)
		observer_add_counts(o, aside);
	else
		count_into(o->hist, o, absolute, x, n);
	pthread_mutex_unlock(&o->lock);
}

void observer_count_abs(struct observer *o, const float *x, int64_t n)
{
	count(o, true, x, n);
}

void observer_count(struct observer *o, const float *x, int64_t n)
{
	count(o, false, x, n);
}
