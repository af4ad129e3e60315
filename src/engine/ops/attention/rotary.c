// RotaryEmbedding: pairs of elements of each head are turned by an angle that the position decides.
// In ai.onnx the caches may hold the angles of each element of the batch already;
// in com.microsoft positions may be one number, that of the first row.
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "attention.h"
#include "rotary.h"

struct turn {
	int64_t batch, heads, rows;
	struct rotary_pairs how;
	struct heads x;
	const struct tensor *positions, *cos, *sin; // positions NULL: the caches are [batch, rows, pairs]
};

static struct turn inputs_of(const struct node *n, const struct tensor *const *in)
{
	if (!strcmp(n->op->domain, "com.microsoft"))
		return (struct turn){.positions = in[1], .cos = in[2], .sin = in[3]};
	return (struct turn){.positions = rule_input(n, in, 3), .cos = in[1], .sin = in[2]};
}

// The heads of a rank 3 input without a number of them are as long as twice the caches.
static enum status read_heads(struct turn *t, const struct rotary_attrs *a, const struct tensor *x, struct error *err)
{
	int64_t hidden, cached = t->cos->shape.rank ? t->cos->shape.dim[t->cos->shape.rank - 1] : 0;
	if (x->shape.rank != 3 && x->shape.rank != 4)
		return error_set(err, STATUS_FORMAT, "the input must be of rank 3 or 4");
	t->batch = x->shape.dim[0];
	t->rows = x->shape.dim[x->shape.rank - 2];
	if (x->shape.rank == 4) {
		t->heads = x->shape.dim[1];
		t->how.size = x->shape.dim[3];
	} else {
		hidden = x->shape.dim[2];
		t->rows = x->shape.dim[1];
		t->heads = a->heads > 0 ? a->heads : cached > 0 ? hidden / (2 * cached) : 0;
		if (t->heads < 1 || hidden % t->heads)
			return error_set(err, STATUS_FORMAT, "%lld elements do not make %lld heads", (long long)hidden, (long long)t->heads);
		t->how.size = hidden / t->heads;
	}
	t->how.pairs = (a->rotated > 0 ? a->rotated : t->how.size) / 2;
	if (t->how.pairs * 2 > t->how.size || cached != t->how.pairs)
		return error_set(err, STATUS_FORMAT, "heads of %lld cannot be turned by caches of %lld", (long long)t->how.size,
		    (long long)cached);
	t->x = heads_of(x, t->heads);
	t->how.interleaved = a->interleaved != 0;
	return STATUS_OK;
}

static enum status resolve(struct turn *t, const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status s;
	int64_t positions;
	*t = inputs_of(n, in);
	s = read_heads(t, n->attrs, in[0], err);
	if (s != STATUS_OK)
		return s;
	if (!shape_equal(&t->cos->shape, &t->sin->shape) || t->cos->shape.rank != (t->positions ? 2 : 3))
		return error_set(err, STATUS_FORMAT, "the caches must both be %s", t->positions ? "[positions, pairs]" : "[batch, rows, pairs]");
	if (!t->positions && (t->cos->shape.dim[0] != t->batch || t->cos->shape.dim[1] != t->rows))
		return error_set(err, STATUS_FORMAT, "the caches do not fit the input");
	positions = t->positions ? shape_count(&t->positions->shape) : 1;
	if (positions != 1 && positions != t->batch * t->rows)
		return error_set(err, STATUS_FORMAT, "%lld positions for %lld rows", (long long)positions, (long long)(t->batch * t->rows));
	return STATUS_OK;
}

enum status rotary_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct turn t;
	enum status s = resolve(&t, n, in, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &in[0]->shape);
	return s;
}

// The row of the caches for a row of the input.
static enum status cache_row(int64_t *at, const struct turn *t, int64_t b, int64_t row, struct error *err)
{
	int64_t given = t->positions ? tensor_count(t->positions) : 0, i = b * t->rows + row;
	bool one = given && given != t->batch * t->rows; // of the first row, `row` before this one
	int64_t first = given ? element_int(t->positions, one ? 0 : i) : i, behind = one ? row : 0;
	if (given && !rule_within(first, 0, t->cos->shape.dim[0] - 1 - behind))
		return error_set(err, STATUS_FORMAT, "position %lld (and the %lld behind it) is not one of %lld", (long long)first,
		    (long long)behind, (long long)t->cos->shape.dim[0]);
	*at = first + behind;
	return STATUS_OK;
}

void rotary_turn(float *y, const float *x, const struct rotary_pairs *r, const float *cos, const float *sin)
{
	int64_t step = r->interleaved ? 2 : 1, apart = r->interleaved ? 1 : r->pairs;
	for (int64_t p = 0; p < r->pairs; p++) {
		float a = x[p * step], b = x[p * step + apart];
		y[p * step] = a * cos[p] - b * sin[p];
		y[p * step + apart] = a * sin[p] + b * cos[p];
	}
	if (y != x)
		memcpy(y + 2 * r->pairs, x + 2 * r->pairs, (size_t)(r->size - 2 * r->pairs) * sizeof *y);
}

enum status rotary_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct turn t;
	enum status s = resolve(&t, n, in, err);
	int64_t at = 0;
	(void)width;
	for (int64_t i = 0; s == STATUS_OK && i < t.batch * t.rows; i++) {
		int64_t b = i / t.rows, row = i % t.rows;
		s = cache_row(&at, &t, b, row, err);
		for (int64_t h = 0; s == STATUS_OK && h < t.heads; h++) {
			int64_t from = b * t.x.batch + h * t.x.head + row * t.x.row;
			const float *cos = (const float *)t.cos->data + at * t.how.pairs, *sin = (const float *)t.sin->data + at * t.how.pairs;
			rotary_turn((float *)out[0].data + from, (const float *)in[0]->data + from, &t.how, cos, sin);
		}
	}
	return s;
}
