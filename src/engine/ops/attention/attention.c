// What the attention operators share: products of heads, masks, softmax, and keys that follow those of the past.
#include "attention.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "../normalization/softmax.h"
#include "../product/matmul.h"

struct heads heads_of(const struct tensor *t, int64_t heads)
{
	const int64_t *d = t->shape.dim;
	if (t->shape.rank == 4)
		return (struct heads){t->data, d[1] * d[2] * d[3], d[2] * d[3], d[3]};
	return (struct heads){t->data, d[1] * d[2], d[2] / heads, d[2]};
}

struct heads heads_dense(const float *at, int64_t heads, int64_t rows, int64_t size)
{
	return (struct heads){at, heads * rows * size, rows * size, size};
}

struct addend addend_of(const struct shape *s, const float *at)
{
	int64_t step[4] = {0}, p = 1;
	for (int i = s->rank - 1, to = 3; i >= 0; i--, to--) {
		step[to] = s->dim[i] == 1 ? 0 : p;
		p *= s->dim[i];
	}
	return (struct addend){at, step[0], step[1], step[2], step[3]};
}

static const float *row_of(const struct heads *h, int64_t b, int64_t head, int64_t row)
{
	return h->at + b * h->batch + head * h->head + row * h->row;
}

static void add_to(const struct attention *t, const struct addend *a, int64_t b, int64_t h, float *s)
{
	for (int64_t i = 0; a->at && i < t->queries; i++) {
		const float *from = a->at + b * a->batch + h * a->head + i * a->query;
		for (int64_t j = 0; j < t->keys; j++)
			s[i * t->keys + j] += from[j * a->key];
	}
}

static void hide_what_follows(const struct attention *t, float *s)
{
	for (int64_t i = 0; i < t->queries; i++)
		for (int64_t j = i + t->before + 1; j < t->keys; j++)
			s[i * t->keys + j] += ATTENTION_HIDDEN;
}

static void cap(float *s, float most, int64_t n)
{
	for (int64_t i = 0; i < n && most > 0; i++)
		s[i] = tanhf(s[i] / most) * most;
}

static void keep(const struct attention *t, enum attention_stage stage, int64_t b, int64_t h, const float *s)
{
	int64_t n = t->queries * t->keys;
	if (t->kept[stage])
		memcpy(t->kept[stage] + (b * t->heads + h) * n, s, (size_t)n * sizeof *s);
}

// s = scale Q K'
static void products(const struct attention *t, int64_t b, int64_t h, float *s)
{
	const struct matrices m = {.m = t->queries, .n = t->keys, .k = t->size, .a_row = t->q.row, .a_col = 1, .b_row = 1, .b_col = t->k.row};
	memset(s, 0, (size_t)(t->queries * t->keys) * sizeof *s);
	product_floats(&m, row_of(&t->q, b, h, 0), row_of(&t->k, b, h / (t->heads / t->kv_heads), 0), s, 1);
	for (int64_t i = 0; i < t->queries * t->keys; i++)
		s[i] *= t->scale;
}

static bool sees_nothing(const float *s, int64_t keys)
{
	for (int64_t j = 0; j < keys; j++)
		if (!(s[j] <= ATTENTION_HIDDEN))
			return false;
	return true;
}

// A query that sees nothing has no shares.
static enum status shares(const struct attention *t, float *s, struct error *err)
{
	int64_t from = 0;
	for (int64_t i = 0; i <= t->queries; i++) {
		bool blind = i < t->queries && sees_nothing(s + i * t->keys, t->keys);
		if (!blind && i < t->queries)
			continue;
		struct softmax_extent seeing = {.outer = i - from, .n = t->keys, .inner = 1};
		enum status st = softmax_along(OP_Softmax, s + from * t->keys, s + from * t->keys, &seeing, 1, err);
		if (st != STATUS_OK)
			return st;
		if (blind)
			memset(s + i * t->keys, 0, (size_t)t->keys * sizeof *s);
		from = i + 1;
	}
	return STATUS_OK;
}

// Y = s V, through `rows`, which has room for it.
static void weigh(const struct attention *t, int64_t b, int64_t h, const float *s, float *rows)
{
	const float *v = row_of(&t->v, b, h / (t->heads / t->kv_heads), 0);
	const struct matrices m = {.m = t->queries, .n = t->v_size, .k = t->keys, .a_row = t->keys, .a_col = 1, .b_row = t->v.row, .b_col = 1};
	memset(rows, 0, (size_t)(t->queries * t->v_size) * sizeof *rows);
	product_floats(&m, s, v, rows, 1);
	for (int64_t i = 0; i < t->queries; i++)
		memcpy((float *)row_of(&t->y, b, h, i), rows + i * t->v_size, (size_t)t->v_size * sizeof *rows);
}

// exp(s) by the sum of all of them and exp(sink).
static void shares_beside(float sink, float *s, int64_t keys)
{
	float most = sink, sum;
	for (int64_t j = 0; j < keys; j++)
		most = s[j] > most ? s[j] : most;
	sum = expf(sink - most);
	for (int64_t j = 0; j < keys; j++)
		sum += s[j] = expf(s[j] - most);
	for (int64_t j = 0; j < keys; j++)
		s[j] /= sum;
}

static enum status one_head(const struct attention *t, int64_t b, int64_t h, float *scratch, struct error *err)
{
	float *s = scratch, *rows = scratch + t->queries * t->keys;
	enum status st = STATUS_OK;
	products(t, b, h, s);
	keep(t, ATTENTION_PRODUCTS, b, h, s);
	cap(s, t->softcap, t->queries * t->keys);
	keep(t, ATTENTION_CAPPED, b, h, s);
	add_to(t, &t->mask, b, h, s);
	if (t->causal)
		hide_what_follows(t, s);
	add_to(t, &t->bias, b, h, s);
	keep(t, ATTENTION_MASKED, b, h, s);
	if (!t->sink)
		st = shares(t, s, err);
	for (int64_t i = 0; t->sink && i < t->queries; i++)
		shares_beside(t->sink[h], s + i * t->keys, t->keys);
	keep(t, ATTENTION_SHARES, b, h, s);
	if (st == STATUS_OK)
		weigh(t, b, h, s, rows);
	return st;
}

enum status attention_check(int64_t batch, int64_t heads, int64_t queries, int64_t keys, struct error *err)
{
	if (shape_count(&(struct shape){4, {batch, heads, queries, keys}}) >= 0)
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "products of %lld queries and %lld keys are too many", (long long)queries, (long long)keys);
}

enum status attention_run(const struct attention *t, int width, struct error *err)
{
	size_t each = (size_t)(t->queries * (t->keys + t->v_size));
	float *scratch = mem_try_array(each * (size_t)width + 1, sizeof *scratch);
	enum status s = STATUS_OK;
	if (!scratch)
		return error_set(err, STATUS_NOMEM, "no memory for products of %lld x %lld", (long long)t->queries, (long long)t->keys);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < t->batch * t->heads; i++) {
		struct error own;
		enum status one = one_head(t, i / t->heads, i % t->heads, scratch + (size_t)omp_get_thread_num() * each, &own);
#pragma omp critical
		if (one != STATUS_OK) {
			s = one;
			*err = own;
		}
	}
	free(scratch);
	return s;
}

void heads_copy(float *to, const struct heads *from, int64_t batch, int64_t heads, int64_t rows, int64_t size)
{
	for (int64_t i = 0; i < batch * heads; i++)
		for (int64_t row = 0; row < rows; row++, to += size)
			memcpy(to, row_of(from, i / heads, i % heads, row), (size_t)size * sizeof *to);
}

static void join_head(float *to, const struct attention_rows *r, int64_t b, int64_t h)
{
	for (int64_t row = 0; row < r->past_rows; row++, to += r->size)
		memcpy(to, row_of(&r->past, b, h, row), (size_t)r->size * sizeof *to);
	for (int64_t row = 0; row < r->now_rows; row++, to += r->size) {
		memcpy(to, row_of(&r->now, b, h, row), (size_t)r->size * sizeof *to);
		for (int64_t c = 0; r->bias && c < r->size; c++)
			to[c] += r->bias[h * r->size + c];
	}
}

enum status attention_join(float **out, const struct attention_rows *r, struct error *err)
{
	int64_t each = (r->past_rows + r->now_rows) * r->size;
	float *y = *out = mem_try_array((size_t)(r->batch * r->heads * each) + 1, sizeof *y);
	if (!y)
		return error_set(err, STATUS_NOMEM, "no memory for %lld rows of keys", (long long)(r->past_rows + r->now_rows));
	for (int64_t i = 0; i < r->batch * r->heads; i++)
		join_head(y + i * each, r, i / r->heads, i % r->heads);
	return STATUS_OK;
}

enum status attention_place(struct heads *at, float **made, const struct attention_rows *r, struct error *err)
{
	enum status s = STATUS_OK;
	*at = r->now;
	*made = NULL;
	if (r->past_rows || r->bias) {
		s = attention_join(made, r, err);
		*at = heads_dense(*made, r->heads, r->past_rows + r->now_rows, r->size);
	}
	return s;
}
