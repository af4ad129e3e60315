// The comparison of each channel: one element after the other, since it is made of one tensor that somebody looks at.
#include <math.h>
#include <string.h>
#include "qtui/engine/channels.h"

enum { SEEN = 256 }; // codes of which it is noted that they occur: those of 8 bits
struct grid_of { // of one channel
	float scale, low, high;
	int64_t first;       // zero - qmin: the place of the code of 0
	bool few;            // codes can be noted
};

static struct grid_of grid_of(const struct quantizer *q, int64_t channel)
{
	int64_t i = q && q->n > 1 ? channel % q->n : 0, zero;
	if (!q || q->kind != QUANT_LINEAR)
		return (struct grid_of){.low = -INFINITY, .high = INFINITY};
	zero = q->zero ? q->zero[i] : 0;
	return (struct grid_of){q->scale[i], (float)(q->qmin - zero) * q->scale[i], (float)(q->qmax - zero) * q->scale[i], zero - q->qmin,
		q->qmax - q->qmin < SEEN};
}

static void note_code(struct channel_sums *s, const struct grid_of *g, float q)
{
	int64_t code = isfinite(q) ? (int64_t)nearbyintf(q / g->scale) + g->first : -1;
	if (code >= 0 && code < SEEN)
		s->seen[code / 32] |= 1u << (code % 32);
}

// Equal values are without error even if not finite, other pairs with one that is not have infinite error.
static void add_element(struct channel_sums *s, const struct grid_of *g, float f, float q)
{
	double a = isfinite(f) ? (double)f : 0, b = isfinite(q) ? (double)q : 0, e = b - a;
	struct tensor_sums *t = &s->sums;
	if (!isfinite(f) || !isfinite(q))
		e = f == q || (isnan(f) && isnan(q)) ? 0 : INFINITY;
	t->n++;
	t->f2 += a * a;
	t->q2 += b * b;
	t->fq += a * b;
	t->e2 += e * e;
	t->max_error = fmax(t->max_error, fabs(e));
	t->none += isnan(f) && isnan(q);
	t->clipped += f < g->low || f > g->high;
	t->fmin = f < t->fmin ? f : t->fmin;
	t->fmax = f > t->fmax ? f : t->fmax;
	t->qmin = q < t->qmin ? q : t->qmin;
	t->qmax = q > t->qmax ? q : t->qmax;
	s->shift += isfinite(e) ? e : 0;
	if (g->few)
		note_code(s, g, q);
}

static void add_run(struct channel_sums *into, const struct grid_of *g, const float *f, const float *q, int64_t n)
{
	struct channel_sums s = *into;
	for (int64_t i = 0; i < n; i++)
		add_element(&s, g, f[i], q[i]);
	*into = s;
}

// A plain tensor as runs of elements of one channel: `rows` times those of `here` channels, each `inner` elements long.
struct runs {
	int64_t rows, here, inner, group; // rows of a group
};

static struct runs runs_of(const struct channel_split *split, const struct shape *s)
{
	struct runs r = {1, split->axis < 0 ? 1 : s->dim[split->axis], shape_count(s), 1};
	for (int d = 0; d < split->axis; d++)
		r.rows *= s->dim[d];
	if (r.inner == 0)
		return (struct runs){0, 0, 0, 1};
	r.inner /= r.rows * r.here;
	r.group = r.rows / split->groups;
	return r;
}

void channel_sums(struct channel_sums *out, const struct channel_split *split, const struct tensor *f, const struct tensor *q,
    const struct quantizer *quant)
{
	struct runs runs = runs_of(split, &f->shape);
	const float *x = f->data, *y = q->data;
	for (int64_t c = 0; c < split->n; c++)
		out[c] = (struct channel_sums){.sums = {.fmin = INFINITY, .fmax = -INFINITY, .qmin = INFINITY, .qmax = -INFINITY}};
	for (int64_t r = 0; r < runs.rows; r++)
		for (int64_t c = r / runs.group * runs.here, end = c + runs.here; c < end; c++, x += runs.inner, y += runs.inner) {
			struct grid_of g = grid_of(quant, c);
			add_run(&out[c], &g, x, y, runs.inner);
		}
}

static float reach_of(const float *x, int64_t n)
{
	float most = 0;
	for (int64_t i = 0; i < n; i++)
		most = fabsf(x[i]) > most && isfinite(x[i]) ? fabsf(x[i]) : most;
	return most;
}

void channel_reach(double *out, const struct channel_split *split, const struct tensor *x)
{
	struct runs runs = runs_of(split, &x->shape);
	const float *at = x->data;
	memset(out, 0, (size_t)split->n * sizeof *out);
	for (int64_t r = 0; r < runs.rows; r++)
		for (int64_t c = r / runs.group * runs.here, end = c + runs.here; c < end; c++, at += runs.inner) {
			double reach = reach_of(at, runs.inner);
			out[c] = reach > out[c] ? reach : out[c];
		}
}

void channel_sums_merge(struct channel_sums *into, const struct channel_sums *one)
{
	sums_merge(&into->sums, &one->sums);
	into->shift += one->shift;
	for (size_t i = 0; i < sizeof into->seen / sizeof *into->seen; i++)
		into->seen[i] |= one->seen[i];
}

int channel_sums_codes(const struct channel_sums *s)
{
	int n = 0;
	for (int i = 0; i < SEEN; i++)
		n += s->seen[i / 32] >> (i % 32) & 1;
	return n;
}
