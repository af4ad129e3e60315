// An Einsum of three and more operands: two are taken together at a time, those that cost least first.
// Of labels that neither another operand nor the output needs their result has the sum.
#include <stdlib.h>
#include "einsum.h"
#include "../rule.h"

struct step {
	int a, b;              // operands; the result takes the place of a, the last operand that of b
	uint32_t labels, kept; // sets: those of both, and of their result
	int64_t products;
};

// INT64_MAX: as many or more.
static int64_t elements_of(const struct einsum *e, uint32_t labels)
{
	int64_t count = 1;
	for (int i = 0; i < e->labels; i++)
		if (labels >> i & 1 && __builtin_mul_overflow(count, e->dim[i], &count))
			return INT64_MAX;
	return count;
}

// An operand has only the labels along which it has more than one element.
static uint32_t labels_of(const struct einsum_walk *w, int operand)
{
	uint32_t labels = 0;
	for (int i = 0; i < w->e->labels; i++)
		labels |= (uint32_t)(w->stride[operand][i] != 0) << i;
	return labels;
}

// The cheapest pair of `n` operands.
static struct step cheapest(const struct einsum *e, const uint32_t *labels, int n)
{
	struct step best = {.products = -1};
	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++) {
			struct step s = {.a = a, .b = b, .labels = labels[a] | labels[b], .kept = ((uint32_t)1 << e->out.n) - 1};
			s.products = elements_of(e, s.labels);
			for (int k = 0; k < n; k++)
				s.kept |= k != a && k != b ? labels[k] : 0;
			s.kept &= s.labels;
			if (best.products < 0 || s.products < best.products)
				best = s;
		}
	return best;
}

// Returns the number of steps.
static int plan(struct step *step, const struct einsum_walk *w)
{
	uint32_t labels[EINSUM_OPERANDS];
	int steps = 0;
	for (int k = 0; k < w->e->operands; k++)
		labels[k] = labels_of(w, k);
	for (int n = w->e->operands; n > 1; n--) {
		struct step s = cheapest(w->e, labels, n);
		labels[s.a] = s.kept;
		labels[s.b] = labels[n - 1];
		step[steps++] = s;
	}
	return steps;
}

int64_t einsum_path_macs(const struct einsum_walk *w)
{
	struct step step[EINSUM_OPERANDS];
	int64_t sum = 0;
	for (int i = 0, n = plan(step, w); i < n; i++)
		if (step[i].labels != step[i].kept && (step[i].products == INT64_MAX || __builtin_add_overflow(sum, step[i].products, &sum)))
			return 0;
	return sum;
}

// The equation of one step, the labels of its result first.
struct pair {
	struct einsum e;
	struct einsum_walk w;
	const struct tensor *in[2];
	int label[EINSUM_LABELS]; // of the whole equation
};

static void pair_of(struct pair *p, const struct step *s, const struct einsum_walk *w)
{
	const int operand[2] = {s->a, s->b};
	p->e = (struct einsum){.operands = 2};
	p->w = (struct einsum_walk){.e = &p->e, .in = p->in, .terms = elements_of(w->e, s->labels & ~s->kept)};
	for (int summed = 0; summed < 2; summed++)
		for (int i = 0; i < w->e->labels; i++) {
			if (!((summed ? s->labels & ~s->kept : s->kept) >> i & 1))
				continue;
			for (int k = 0; k < 2; k++)
				p->w.stride[k][p->e.labels] = w->stride[operand[k]][i];
			p->label[p->e.labels] = i;
			p->e.dim[p->e.labels++] = w->e->dim[i];
			p->e.out.n += !summed;
		}
	p->in[0] = w->in[s->a];
	p->in[1] = w->in[s->b];
}

// Lets the result of the pair, which is dense, stand for operand a, and the last of n operands for b.
static void replace(
    struct einsum_walk *w, const struct tensor **in, const struct step *s, const struct pair *p, const struct tensor *result, int n)
{
	int64_t dense = 1;
	for (int i = 0; i < EINSUM_LABELS; i++)
		w->stride[s->b][i] = w->stride[n - 1][i];
	in[s->b] = in[n - 1];
	for (int i = 0; i < EINSUM_LABELS; i++)
		w->stride[s->a][i] = 0;
	for (int i = p->e.out.n - 1; i >= 0; i--) {
		w->stride[s->a][p->label[i]] = dense;
		dense *= p->e.dim[i];
	}
	in[s->a] = result;
}

enum status einsum_path(const struct einsum_walk *whole, struct tensor *out, int width, struct error *err)
{
	struct einsum_walk w = *whole;
	const struct tensor *in[EINSUM_OPERANDS];
	struct tensor made[EINSUM_OPERANDS] = {{0}};
	struct step step[EINSUM_OPERANDS];
	enum status st = STATUS_OK;
	int steps = plan(step, whole);
	w.in = in;
	for (int k = 0; k < w.e->operands; k++)
		in[k] = whole->in[k];
	for (int i = 0; i < steps && st == STATUS_OK; i++) {
		struct pair p;
		pair_of(&p, &step[i], &w);
		made[i] = i + 1 < steps ? (struct tensor){.type = out->type, .shape = {.rank = 1, .dim = {elements_of(w.e, step[i].kept)}}} : *out;
		if (i + 1 < steps)
			st = tensor_alloc(&made[i], NULL, err);
		if (st == STATUS_OK)
			st = einsum_at_once(&p.w, &made[i], width, err);
		replace(&w, in, &step[i], &p, &made[i], w.e->operands - i);
	}
	for (int i = 0; i + 1 < steps; i++)
		tensor_drop(&made[i]);
	return st;
}
