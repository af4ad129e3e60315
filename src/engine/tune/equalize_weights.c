// A layer's weights under work: copies of the graph's, on which ranges are read and factors act.
#include <math.h>
#include <string.h>
#include "equalize_impl.h"

// The weights of one first index: stretches of `inner`, one a second index.
struct stripe {
	float *w;
	int64_t row, column;          // of the first stretch
	int64_t next_row, next_column; // from one stretch to the next: 0 or 1
};

static struct stripe stripe_of(const struct layer *l, int64_t first)
{
	int64_t other = first / (l->first / l->groups) * l->second;
	float *w = (float *)l->w.data + first * l->second * l->inner;
	return l->rows_first ? (struct stripe){w, first, other, 0, 1} : (struct stripe){w, other, first, 1, 0};
}

enum status layer_open(struct layer *l, const struct graph *g, struct error *err)
{
	enum status st = tensor_copy(&l->w, l->weight, err);
	if (st == STATUS_OK && l->bias)
		st = tensor_copy(&l->b, l->bias, err);
	if (st == STATUS_OK)
		return st;
	layer_close(l);
	return error_prefix(err, "node %s", g->node[l->node].name);
}

void layer_close(struct layer *l)
{
	tensor_drop(&l->w);
	tensor_drop(&l->b);
}

static bool is_finite(const struct tensor *t)
{
	const float *x = t->data;
	for (int64_t i = 0; x && i < tensor_count(t); i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

bool layer_is_finite(const struct layer *l)
{
	return is_finite(&l->w) && is_finite(&l->b);
}

void layer_raise(float *top, const struct layer *l, bool rows)
{
	for (int64_t a = 0; a < l->first; a++) {
		struct stripe s = stripe_of(l, a);
		for (int64_t b = 0; b < l->second; b++, s.w += l->inner) {
			float *most = &top[rows ? s.row + b * s.next_row : s.column + b * s.next_column], m = *most;
			for (int64_t k = 0; k < l->inner; k++)
				m = fabsf(s.w[k]) > m ? fabsf(s.w[k]) : m;
			*most = m;
		}
	}
}

void layer_raise_by_bias(float *top, const struct layer *l, double by)
{
	const float *b = l->b.data;
	for (int64_t r = 0; b && r < l->rows; r++)
		top[r] = fmaxf(top[r], fabsf(b[r] * (float)by));
}

void layer_multiply_rows(struct layer *l, const float *factor)
{
	for (int64_t a = 0; a < l->first; a++) {
		struct stripe s = stripe_of(l, a);
		for (int64_t b = 0; b < l->second; b++, s.w += l->inner)
			for (int64_t k = 0; k < l->inner; k++)
				s.w[k] *= factor[s.row + b * s.next_row];
	}
	for (int64_t r = 0; l->bias && r < l->rows; r++)
		((float *)l->b.data)[r] *= factor[r];
}

void layer_divide_columns(struct layer *l, const float *factor)
{
	for (int64_t a = 0; a < l->first; a++) {
		struct stripe s = stripe_of(l, a);
		for (int64_t b = 0; b < l->second; b++, s.w += l->inner)
			for (int64_t k = 0; k < l->inner; k++)
				s.w[k] /= factor[s.column + b * s.next_column];
	}
}

static bool is_as_it_was(const struct tensor *copy, const struct tensor *original)
{
	return !copy->data || memcmp(copy->data, original->data, tensor_bytes(original)) == 0;
}

// The bias of weights that are all zero may be all that changed.
void layer_put(struct tuning *t, struct layer *l)
{
	struct tuned one = {.node = l->node, .first = l->slot == 0};
	if (is_as_it_was(&l->w, l->weight) && is_as_it_was(&l->b, l->bias))
		return;
	one.weight = tensor_share(&l->w);
	one.weight_key = tensor_key(&one.weight);
	if (l->b.data) {
		one.bias = tensor_share(&l->b);
		one.bias_key = tensor_key(&one.bias);
	}
	tuning_put(t, &one);
}
