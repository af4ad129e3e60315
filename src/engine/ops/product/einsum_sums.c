// Einsum as it is defined, one element of the output after the other: of one operand, and of integers.
#include "einsum.h"
#include "../element.h"

// Moves the places `at` to element `flat` of the labels first..last-1.
static void place(const struct einsum_walk *w, int64_t *at, int64_t flat, int first, int last)
{
	for (int i = last - 1; i >= first; i--) {
		int64_t step = flat % w->e->dim[i];
		flat /= w->e->dim[i];
		for (int k = 0; k < w->e->operands; k++)
			at[k] += step * w->stride[k][i];
	}
}

struct sum {
	double f;
	uint64_t i; // modulo 2^64, whose low bits are right for every type
};

// Adds the products along one label.
static void add_floats(struct sum *sum, const struct einsum_walk *w, const int64_t *at, const int64_t *step, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double v = 1;
		for (int k = 0; k < w->e->operands; k++)
			v *= element_double(w->in[k], at[k] + i * step[k]);
		sum->f += v;
	}
}

static void add_ints(struct sum *sum, const struct einsum_walk *w, const int64_t *at, const int64_t *step, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		uint64_t v = 1;
		for (int k = 0; k < w->e->operands; k++)
			v *= (uint64_t)element_int(w->in[k], at[k] + i * step[k]);
		sum->i += v;
	}
}

static struct sum sum_at(const struct einsum_walk *w, int64_t o, bool floats)
{
	int last = w->e->labels - 1;
	bool summed = w->e->labels > w->e->out.n;
	int64_t run = summed ? w->e->dim[last] : 1, step[EINSUM_OPERANDS] = {0};
	struct sum sum = {0};
	for (int k = 0; summed && k < w->e->operands; k++)
		step[k] = w->stride[k][last];
	for (int64_t t = 0; run && t < w->terms / run; t++) {
		int64_t at[EINSUM_OPERANDS] = {0};
		place(w, at, o, 0, w->e->out.n);
		place(w, at, t, w->e->out.n, summed ? last : w->e->labels);
		(floats ? add_floats : add_ints)(&sum, w, at, step, run);
	}
	return sum;
}

void einsum_sums(const struct einsum_walk *w, struct tensor *out, int64_t count, int width)
{
	bool floats = out->type == DT_F32;
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t o = 0; o < count; o++) {
		struct sum sum = sum_at(w, o, floats);
		if (floats)
			((float *)out->data)[o] = (float)sum.f;
		else
			elements_store(out->data, out->type, o, (const int64_t *)&sum.i, 1);
	}
}
