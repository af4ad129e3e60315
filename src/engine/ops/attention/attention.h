// Scaled dot products of heads, for the operators that are an attention: Y = softmax(scale Q K' + masks) V.
#ifndef QTUI_ENGINE_OPS_ATTENTION_ATTENTION_H
#define QTUI_ENGINE_OPS_ATTENTION_ATTENTION_H

#include <float.h>
#include "../ops.h"

// Rows of consecutive floats, one for each batch, head and position; elements from one to the next.
struct heads {
	const float *at;
	int64_t batch, head, row;
};
// Of a tensor [batch, heads, rows, size], or [batch, rows, heads * size].
struct heads heads_of(const struct tensor *t, int64_t heads);
// Of an array [batch, heads, rows, size].
struct heads heads_dense(const float *at, int64_t heads, int64_t rows, int64_t size);

// Added to the products; a step of 0 repeats what there is. at NULL: nothing is added.
struct addend {
	const float *at;
	int64_t batch, head, query, key;
};
// Of a tensor that broadcasts to [batch, heads, queries, keys] and has those values.
struct addend addend_of(const struct shape *s, const float *at);

// Added to what a query does not see at all. One that sees nothing gets zeros.
#define ATTENTION_HIDDEN (-FLT_MAX)

enum attention_stage { ATTENTION_PRODUCTS, ATTENTION_CAPPED, ATTENTION_MASKED, ATTENTION_SHARES, ATTENTION_STAGES };

struct attention {
	int64_t batch, heads, kv_heads, queries, size, v_size; // kv_heads divides heads: neighbouring heads share one
	int64_t keys;                                           // those of the past counted
	struct heads q, k, v;
	struct heads y;                                         // written
	struct addend mask, bias;
	float scale, softcap;                                   // softcap 0: none
	bool causal;                                            // query i sees keys up to i + before
	int64_t before;
	const float *sink;                                      // [heads]: joins the softmax as the score of a key without a value; NULL: none
	float *kept[ATTENTION_STAGES];                          // [batch, heads, queries, keys] as it is at that stage; NULL: not wanted
};
// Whether the products of so many queries and keys can be had at all:
// where rows are of no elements, both can be any number.
MUST_CHECK enum status attention_check(int64_t batch, int64_t heads, int64_t queries, int64_t keys, struct error *err);
// Checked before; `width` threads.
MUST_CHECK enum status attention_run(const struct attention *t, int width, struct error *err);

// The rows of `now` behind those of `past` (at NULL: there are none);
// `bias`, one row for all heads or NULL, is added to `now`.
struct attention_rows {
	int64_t batch, heads, size, past_rows, now_rows;
	struct heads past, now;
	const float *bias;
};
// All of them, [batch, heads, past_rows + now_rows, size]. The caller frees *out.
MUST_CHECK enum status attention_join(float **out, const struct attention_rows *r, struct error *err);
// Where they lie: as they are, if nothing is before them and nothing is added, else joined.
// The caller frees *made, NULL where nothing was.
MUST_CHECK enum status attention_place(struct heads *at, float **made, const struct attention_rows *r, struct error *err);
// Copies `rows` rows of each head to [batch, heads, rows, size].
void heads_copy(float *to, const struct heads *from, int64_t batch, int64_t heads, int64_t rows, int64_t size);

#endif
