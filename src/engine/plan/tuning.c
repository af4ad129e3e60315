// Tuned constants, in the order of their nodes.
#include "qtui/engine/tuning.h"

#include <stdlib.h>
#include <string.h>

struct tuning {
	atomic_int refs;
	struct tuned *at;
	size_t n, cap;
};

struct tuning *tuning_new(void)
{
	struct tuning *t = xcalloc(1, sizeof *t);
	atomic_store(&t->refs, 1);
	return t;
}

struct tuning *tuning_take(struct tuning *t)
{
	if (t)
		atomic_fetch_add(&t->refs, 1);
	return t;
}

void tuned_drop(struct tuned *one)
{
	tensor_drop(&one->weight);
	tensor_drop(&one->bias);
	tensor_drop(&one->scale);
	tensor_drop(&one->zero);
}

void tuning_drop(struct tuning **t)
{
	if (*t && atomic_fetch_sub(&(*t)->refs, 1) == 1) {
		for (size_t i = 0; i < (*t)->n; i++)
			tuned_drop(&(*t)->at[i]);
		free((*t)->at);
		free(*t);
	}
	*t = NULL;
}

// Where the node is, or would be.
static size_t place_of(const struct tuning *t, int node)
{
	size_t lo = 0, hi = t->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (t->at[mid].node < node)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void tuning_put(struct tuning *t, const struct tuned *one)
{
	size_t i = place_of(t, one->node);
	if (i < t->n && t->at[i].node == one->node) {
		tuned_drop(&t->at[i]);
	} else {
		t->at = xgrow(t->at, &t->cap, t->n + 1, sizeof *t->at);
		memmove(t->at + i + 1, t->at + i, (t->n - i) * sizeof *t->at);
		t->n++;
	}
	t->at[i] = *one;
}

struct tuning *tuning_copy(const struct tuning *t)
{
	struct tuning *c = tuning_new();
	for (size_t i = 0; t && i < t->n; i++) {
		struct tuned one = t->at[i];
		one.weight = tensor_share(&one.weight);
		one.bias = tensor_share(&one.bias);
		one.scale = tensor_share(&one.scale);
		one.zero = tensor_share(&one.zero);
		tuning_put(c, &one);
	}
	return c;
}

const struct tuned *tuning_of(const struct tuning *t, int node)
{
	size_t i = t ? place_of(t, node) : 0;
	return t && i < t->n && t->at[i].node == node ? &t->at[i] : NULL;
}

const struct tensor *tuned_input(const struct tuned *t, int input)
{
	const struct tensor *x = input == (t->first ? 0 : 1) ? &t->weight : input == 2 ? &t->bias : NULL;
	return x && x->data ? x : NULL;
}

int tuning_count(const struct tuning *t)
{
	return t ? (int)t->n : 0;
}

const struct tuned *tuning_at(const struct tuning *t, int i)
{
	return &t->at[i];
}

void tuning_name(const struct tuning *t, char out[TUNING_NAME])
{
	char text[33];
	key_text(tuning_key(t), text);
	memcpy(out, text, TUNING_NAME - 1);
	out[TUNING_NAME - 1] = '\0';
}

struct key tuning_key(const struct tuning *t)
{
	struct key k = {0};
	for (size_t i = 0; t && i < t->n; i++) {
		const struct tuned *one = &t->at[i];
		k = key_add_key(key_add_int(k, one->node), one->grid);
		k = key_add_key(key_add_key(k, one->weight_key), one->bias_key);
	}
	return k;
}
