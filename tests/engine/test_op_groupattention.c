// GroupQueryAttention against what it is made of: RotaryEmbedding of queries and keys,
// then a causal Attention with a past.
#include <math.h>
#include "node_run.h"

enum { ROWS = 3, PAST = 2, HEADS = 4, KV = 2, SIZE = 8, PAIRS = 3, POSITIONS = 16, Q = ROWS * HEADS * SIZE, K = ROWS * KV * SIZE };

struct parts {
	float q[Q], k[K], v[K], past_k[KV * PAST * SIZE], past_v[KV * PAST * SIZE], cos[POSITIONS * PAIRS], sin[POSITIONS * PAIRS];
};

static void fill(struct parts *p)
{
	struct support_random r = {3};
	support_random_floats(&r, p->q, sizeof *p / sizeof(float), -1, 1);
}

static void run_group(struct node_run *r, const struct parts *p, int window)
{
	static const int32_t length = PAST + ROWS - 1, total = PAST + ROWS;
	node_run_init(r, "com.microsoft", "GroupQueryAttention", 1, 3);
	*(int64_t *)node_run_field(r, "num_heads") = HEADS;
	*(int64_t *)node_run_field(r, "kv_num_heads") = KV;
	*(int64_t *)node_run_field(r, "do_rotary") = 1;
	*(int64_t *)node_run_field(r, "local_window_size") = window;
	node_run_add(r, DT_F32, SHAPE_OF(1, ROWS, HEADS * SIZE), p->q);
	node_run_add(r, DT_F32, SHAPE_OF(1, ROWS, KV * SIZE), p->k);
	node_run_add(r, DT_F32, SHAPE_OF(1, ROWS, KV * SIZE), p->v);
	node_run_add(r, DT_F32, SHAPE_OF(1, KV, PAST, SIZE), p->past_k);
	node_run_add(r, DT_F32, SHAPE_OF(1, KV, PAST, SIZE), p->past_v);
	node_run_add(r, DT_I32, SHAPE_OF(1), &length);
	node_run_add(r, DT_I32, SCALAR, &total);
	node_run_add(r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->cos);
	node_run_add(r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->sin);
}

static void run_rotary(struct node_run *r, const struct parts *p, const float *x, int heads)
{
	static const int64_t first = PAST;
	node_run_init(r, "com.microsoft", "RotaryEmbedding", 1, 1);
	*(int64_t *)node_run_field(r, "num_heads") = heads;
	*(int64_t *)node_run_field(r, "rotary_embedding_dim") = 2 * PAIRS;
	node_run_add(r, DT_F32, SHAPE_OF(1, ROWS, heads * SIZE), x);
	node_run_add(r, DT_I64, SHAPE_OF(1), &first);
	node_run_add(r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->cos);
	node_run_add(r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->sin);
	node_run(r);
}

static void run_plain(struct node_run *r, const struct parts *p, const float *q, const float *k, const float *mask)
{
	node_run_init(r, "", "Attention", 23, 3);
	*(int64_t *)node_run_field(r, "q_num_heads") = HEADS;
	*(int64_t *)node_run_field(r, "kv_num_heads") = KV;
	*(int64_t *)node_run_field(r, "is_causal") = 1;
	node_run_add(r, DT_F32, SHAPE_OF(1, ROWS, HEADS * SIZE), q);
	node_run_add(r, DT_F32, SHAPE_OF(1, ROWS, KV * SIZE), k);
	node_run_add(r, DT_F32, SHAPE_OF(1, ROWS, KV * SIZE), p->v);
	node_run_add(r, DT_F32, SHAPE_OF(ROWS, PAST + ROWS), mask);
	node_run_add(r, DT_F32, SHAPE_OF(1, KV, PAST, SIZE), p->past_k);
	node_run_add(r, DT_F32, SHAPE_OF(1, KV, PAST, SIZE), p->past_v);
	node_run(r);
}

static void check_window(const struct parts *p, int window, const float *mask)
{
	struct node_run group, q, k, plain;
	run_group(&group, p, window);
	node_run(&group);
	run_rotary(&q, p, p->q, HEADS);
	run_rotary(&k, p, p->k, KV);
	run_plain(&plain, p, q.out[0].data, k.out[0].data, mask);
	for (int o = 0; o < 3; o++) {
		assert_true(shape_equal(&group.out[o].shape, &plain.out[o].shape));
		for (int64_t i = 0; i < tensor_count(&group.out[o]); i++)
			assert_float_equal(((const float *)group.out[o].data)[i], ((const float *)plain.out[o].data)[i], 1e-5);
	}
	node_run_done(&group);
	node_run_done(&q);
	node_run_done(&k);
	node_run_done(&plain);
}

void test_op_groupattention__is_rotary_and_attention(void **state)
{
	const float far = -INFINITY, near_two[ROWS * (PAST + ROWS)] = {far, 0, 0, 0, 0, far, far, 0, 0, 0, far, far, far, 0, 0};
	struct parts p;
	fill(&p);
	check_window(&p, -1, NULL);
	check_window(&p, 2, near_two);
}

// Rotary embedding and causal attention of one prompt of the batch, its heads cut out of rows of `all` heads.
static void run_prompt(struct node_run *plain, const struct parts *p, const float *packed, const int64_t *position)
{
	enum { ALL = (HEADS + 2 * KV) * SIZE };
	static const int first[3] = {0, HEADS * SIZE, (HEADS + KV) * SIZE}, heads[3] = {HEADS, KV, KV};
	static float part[3][Q];
	struct node_run turned[2];
	for (int i = 0; i < 3; i++)
		for (int row = 0; row < ROWS; row++)
			memcpy(part[i] + row * heads[i] * SIZE, packed + row * ALL + first[i], (size_t)(heads[i] * SIZE) * sizeof(float));
	node_run_init(plain, "", "Attention", 23, 1);
	*(int64_t *)node_run_field(plain, "q_num_heads") = HEADS;
	*(int64_t *)node_run_field(plain, "kv_num_heads") = KV;
	*(int64_t *)node_run_field(plain, "is_causal") = 1;
	for (int i = 0; i < 2; i++) {
		node_run_init(&turned[i], "com.microsoft", "RotaryEmbedding", 1, 1);
		*(int64_t *)node_run_field(&turned[i], "num_heads") = heads[i];
		*(int64_t *)node_run_field(&turned[i], "rotary_embedding_dim") = 2 * PAIRS;
		node_run_add(&turned[i], DT_F32, SHAPE_OF(1, ROWS, heads[i] * SIZE), part[i]);
		node_run_add(&turned[i], DT_I64, SHAPE_OF(1, ROWS), position);
		node_run_add(&turned[i], DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->cos);
		node_run_add(&turned[i], DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->sin);
		node_run(&turned[i]);
		node_run_add(plain, DT_F32, SHAPE_OF(1, ROWS, heads[i] * SIZE), turned[i].out[0].data);
	}
	node_run_add(plain, DT_F32, SHAPE_OF(1, ROWS, KV * SIZE), part[2]);
	node_run(plain);
	node_run_done(&turned[0]);
	node_run_done(&turned[1]);
}

// All prompts are as long as the longest; where a shorter one ends its padding follows, which nothing before it sees.
void test_op_groupattention__packed_prompts_with_positions(void **state)
{
	enum { BATCH = 2, ROW = (HEADS + 2 * KV) * SIZE };
	static const int32_t lengths[BATCH] = {ROWS - 2, ROWS - 1}, total = ROWS;
	static const int64_t position[BATCH * ROWS] = {0, 1, 2, 5, 9, 7};
	static float packed[BATCH * ROWS * ROW];
	struct support_random random = {4};
	struct parts p;
	struct node_run r;
	fill(&p);
	support_random_floats(&random, packed, BATCH * ROWS * ROW, -1, 1);
	node_run_init(&r, "com.microsoft", "GroupQueryAttention", 1, 1);
	*(int64_t *)node_run_field(&r, "num_heads") = HEADS;
	*(int64_t *)node_run_field(&r, "kv_num_heads") = KV;
	*(int64_t *)node_run_field(&r, "do_rotary") = 1;
	node_run_add(&r, DT_F32, SHAPE_OF(BATCH, ROWS, ROW), packed);
	for (int i = 0; i < 4; i++)
		node_run_add(&r, DT_F32, SCALAR, NULL);
	node_run_add(&r, DT_I32, SHAPE_OF(BATCH), lengths);
	node_run_add(&r, DT_I32, SCALAR, &total);
	node_run_add(&r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p.cos);
	node_run_add(&r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p.sin);
	node_run_add(&r, DT_I64, SHAPE_OF(BATCH, ROWS), position);
	node_run(&r);
	for (int b = 0; b < BATCH; b++) {
		struct node_run plain;
		run_prompt(&plain, &p, packed + b * ROWS * ROW, position + b * ROWS);
		for (int i = 0; i < Q; i++)
			assert_float_equal(((const float *)r.out[0].data)[b * Q + i], ((const float *)plain.out[0].data)[i], 1e-5);
		node_run_done(&plain);
	}
	node_run_done(&r);
}

// A batch, or one entry alone, with pasts of PAST rows at most.
struct entries {
	float q[2 * Q], k[2 * K], v[2 * K];
	float past_k[2 * KV * PAST * SIZE], past_v[2 * KV * PAST * SIZE], bias[2 * ROWS * (PAST + ROWS)];
	int32_t length[2], total;
};

static void run_entries(struct node_run *r, const struct parts *p, const struct entries *e, int batch, int past)
{
	node_run_init(r, "com.microsoft", "GroupQueryAttention", 1, 3);
	*(int64_t *)node_run_field(r, "num_heads") = HEADS;
	*(int64_t *)node_run_field(r, "kv_num_heads") = KV;
	*(int64_t *)node_run_field(r, "do_rotary") = 1;
	*(int64_t *)node_run_field(r, "local_window_size") = 3;
	node_run_add(r, DT_F32, SHAPE_OF(batch, ROWS, HEADS * SIZE), e->q);
	node_run_add(r, DT_F32, SHAPE_OF(batch, ROWS, KV * SIZE), e->k);
	node_run_add(r, DT_F32, SHAPE_OF(batch, ROWS, KV * SIZE), e->v);
	node_run_add(r, DT_F32, SHAPE_OF(batch, KV, past, SIZE), e->past_k);
	node_run_add(r, DT_F32, SHAPE_OF(batch, KV, past, SIZE), e->past_v);
	node_run_add(r, DT_I32, SHAPE_OF(batch), e->length);
	node_run_add(r, DT_I32, SCALAR, &e->total);
	node_run_add(r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->cos);
	node_run_add(r, DT_F32, SHAPE_OF(POSITIONS, PAIRS), p->sin);
	node_run_add(r, DT_I64, SCALAR, NULL);
	node_run_add(r, DT_F32, SHAPE_OF(batch, 1, ROWS, past + ROWS), e->bias);
	node_run(r);
}

// Entry b alone, with a past of as many rows as count.
static struct entries cut_entry(const struct entries *all, int b, int past)
{
	struct entries e = {.length = {all->length[b]}, .total = past + ROWS};
	memcpy(e.q, all->q + b * Q, Q * sizeof(float));
	memcpy(e.k, all->k + b * K, K * sizeof(float));
	memcpy(e.v, all->v + b * K, K * sizeof(float));
	for (int h = 0; h < KV; h++) {
		memcpy(e.past_k + h * past * SIZE, all->past_k + (b * KV + h) * PAST * SIZE, (size_t)(past * SIZE) * sizeof(float));
		memcpy(e.past_v + h * past * SIZE, all->past_v + (b * KV + h) * PAST * SIZE, (size_t)(past * SIZE) * sizeof(float));
	}
	for (int i = 0; i < ROWS; i++)
		memcpy(e.bias + i * (past + ROWS), all->bias + (b * ROWS + i) * (PAST + ROWS), (size_t)(past + ROWS) * sizeof(float));
	return e;
}

void test_op_groupattention__each_of_a_batch_has_its_own_past(void **state)
{
	static const int past[2] = {PAST, PAST - 1};
	struct entries all;
	struct support_random random = {8};
	struct parts p;
	struct node_run both;
	(void)state;
	fill(&p);
	support_random_floats(&random, all.q, sizeof all / sizeof(float), -1, 1);
	all.length[0] = PAST + ROWS - 1;
	all.length[1] = PAST + ROWS - 2;
	all.total = PAST + ROWS;
	run_entries(&both, &p, &all, 2, PAST);
	for (int b = 0; b < 2; b++) {
		struct entries one = cut_entry(&all, b, past[b]);
		struct node_run alone;
		run_entries(&alone, &p, &one, 1, past[b]);
		assert_memory_equal((float *)both.out[0].data + b * Q, alone.out[0].data, Q * sizeof(float));
		for (int i = 0; i < 2 * KV; i++) // keys, then values, of each head: the rows that count
			assert_memory_equal((float *)both.out[1 + i / KV].data + (b * KV + i % KV) * (PAST + ROWS) * SIZE,
			    (float *)alone.out[1 + i / KV].data + i % KV * (past[b] + ROWS) * SIZE, (size_t)((past[b] + ROWS) * SIZE) * sizeof(float));
		node_run_done(&alone);
	}
	node_run_done(&both);
}

void test_op_groupattention__lengths_that_do_not_fit_are_refused(void **state)
{
	static const int32_t beyond = PAST + ROWS, fits = PAST + ROWS - 1, few = ROWS - 1;
	struct parts p;
	struct node_run r;
	struct error err;
	fill(&p);
	run_group(&r, &p, -1);
	r.in[5].data = (void *)&beyond;
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	r.in[5].data = r.in[6].data = (void *)&fits; // one row more than the caches have in the end
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	r.in[6].data = (void *)&few;
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	node_run_done(&r);
	run_group(&r, &p, -1);
	r.in[7].shape.dim[0] = r.in[8].shape.dim[0] = PAST + ROWS - 1; // known from shapes: another length is tried
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "cos_cache has"));
	node_run_done(&r);
}

// One key, whose share is exp(s) / (exp(s) + exp(sink)) of its value:
// 0 is the sink of all heads if the softmax is smooth.
void test_op_groupattention__sinks_take_a_share(void **state)
{
	static const float q[2] = {0.5f, -2}, k[1] = {3}, v[1] = {10}, sinks[2] = {1, -1};
	static const int32_t length = 0, total = 1;
	for (int smooth = 0; smooth < 2; smooth++) {
		struct node_run r;
		node_run_init(&r, "com.microsoft", "GroupQueryAttention", 1, 1);
		*(int64_t *)node_run_field(&r, "num_heads") = 2;
		*(int64_t *)node_run_field(&r, "kv_num_heads") = 1;
		*(int64_t *)node_run_field(&r, "smooth_softmax") = smooth;
		node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 2), q);
		node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 1), k);
		node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 1), v);
		for (int i = 0; i < 2; i++)
			node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
		node_run_add(&r, DT_I32, SHAPE_OF(1), &length);
		node_run_add(&r, DT_I32, SCALAR, &total);
		for (int i = 0; i < 4; i++)
			node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
		node_run_add(&r, DT_F32, SHAPE_OF(2), smooth ? NULL : sinks);
		node_run(&r);
		for (int i = 0; i < 2; i++)
			assert_float_equal(
			    ((float *)r.out[0].data)[i], 10 / (1 + exp((smooth ? 0 : (double)sinks[i]) - 3 * (double)q[i])), 1e-5);
		node_run_done(&r);
	}
}
