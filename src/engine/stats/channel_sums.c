// The comparison of each channel: one element after the other, since it is made of one tensor that somebody looks at.
#include <math.h>
#include <string.h>
#include "qtui/engine/channels.h"

enum { SEEN = 256 };
struct grid_of { // of one channel
	float scale, low, high;
	int64_t first;       // zero - qmin: the place of the code of 0
	bool few;            // codes can be noted
};

static struct grid_of grid_of(const struct quantizer *q, int64_t channel)
{
	int64_t i = q && q->n > 1 ? channel % q->n : 0, zero;

	if (!q || q->kind != QUANT_LINEAR)
		return (struct grid_of) { .low = -INFINITY, .high = INFINITY };
	zero = q->zero ? q->zero[i] : 0;
	return (struct grid_of) { q->scale[i], (float)(q->qmin - zero) * q->scale[i], (float)(q->qmax - zero) * q->scale[i], zero - q->qmin,
		q->qmax - q->qmin < SEEN };
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

void channel_sums(struct channel_sums *out, const struct channel_split *split, const struct tensor *f, const struct tensor *q,
    const struct quantizer *quant)
{
	const float *x = f->data, *y = q->data;
	int64_t count = tensor_count(f), here = split->axis < 0 ? 1 : f->shape.dim[split->axis], inner = count, rows = 1;

	for (int64_t c = 0; c < split->n; c++)
		out[c] = (struct channel_sums) { .sums = { .fmin = INFINITY, .fmax = -INFINITY, .qmin = INFINITY, .qmax = -INFINITY } };
	for (int d = 0; d <= split->axis; d++)
		inner /= f->shape.dim[d] > 0 ? f->shape.dim[d] : 1;
	for (int d = 0; d < split->axis; d++)
		rows *= f->shape.dim[d];
	for (int64_t r = 0; count > 0 && r < rows; r++) {
		int64_t first = r / (rows / split->groups) * here;
		for (int64_t c = first; c < first + here; c++, x += inner, y += inner) {
			struct grid_of g = grid_of(quant, c);
			add_run(&out[c], &g, x, y, inner);
		}
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
