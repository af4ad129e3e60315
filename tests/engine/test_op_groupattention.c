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
