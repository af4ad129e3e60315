// Turned pairs, by hand: the cache has the angles 0, 90 and 180 degrees.
#include "node_run.h"

static const float cosines[] = {1, 1, 0, 0, -1, -1}, sines[] = {0, 0, 1, 1, 0, 0};

// Two heads of 5 in each of two rows, the last element of each is left as it is; rows at 180 and at 90 degrees.
static const float x[] = {1, 2, 3, 4, 50, 5, 6, 7, 8, 60, 1, 2, 3, 4, 70, 5, 6, 7, 8, 80};

static void prepare(struct node_run *r, const char *domain, bool interleaved)
{
	node_run_init(r, domain, "RotaryEmbedding", 23, 1);
	*(int64_t *)node_run_field(r, "interleaved") = interleaved;
	*(int64_t *)node_run_field(r, "num_heads") = 2;
	*(int64_t *)node_run_field(r, "rotary_embedding_dim") = 4;
	node_run_add(r, DT_F32, SHAPE_OF(1, 2, 10), x);
}

static void check(bool interleaved, const float *want)
{
	static const int64_t positions[] = {2, 1};
	struct node_run r;
	prepare(&r, "", interleaved);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), cosines);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), sines);
	node_run_add(&r, DT_I64, SHAPE_OF(1, 2), positions);
	node_run(&r);
	node_run_floats(&r, 20, want);
	node_run_done(&r);
	prepare(&r, "com.microsoft", interleaved);
	node_run_add(&r, DT_I64, SHAPE_OF(1, 2), positions);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), cosines);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), sines);
	node_run(&r);
	node_run_floats(&r, 20, want);
	node_run_done(&r);
}

void test_op_rotary__halves(void **state)
{
	check(false, (const float[]){-1, -2, -3, -4, 50, -5, -6, -7, -8, 60, -3, -4, 1, 2, 70, -7, -8, 5, 6, 80});
}

void test_op_rotary__neighbours(void **state)
{
	check(true, (const float[]){-1, -2, -3, -4, 50, -5, -6, -7, -8, 60, -2, 1, -4, 3, 70, -6, 5, -8, 7, 80});
}

void test_op_rotary__one_position_is_that_of_the_first_row(void **state)
{
	static const int64_t first = 1;
	struct node_run r;
	prepare(&r, "com.microsoft", false);
	node_run_add(&r, DT_I64, SHAPE_OF(1), &first);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), cosines);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), sines);
	node_run(&r);
	node_run_floats(&r, 20, (const float[]){-3, -4, 1, 2, 50, -7, -8, 5, 6, 60, -1, -2, -3, -4, 70, -5, -6, -7, -8, 80});
	node_run_done(&r);
}

// Heads of 4 in rank 4, and caches that hold the angles of every row.
void test_op_rotary__without_positions(void **state)
{
	static const float rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
	struct node_run r;
	node_run_init(&r, "", "RotaryEmbedding", 23, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 2, 4), rows);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 2), cosines + 2);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 2), sines + 2);
	node_run(&r);
	node_run_floats(&r, 16, (const float[]){-3, -4, 1, 2, -5, -6, -7, -8, -3, -4, 1, 2, -5, -6, -7, -8});
	node_run_done(&r);
}

void test_op_rotary__a_position_behind_the_caches_is_refused(void **state)
{
	static const int64_t positions[] = {2, 3};
	struct node_run r;
	struct error err;
	prepare(&r, "", false);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), cosines);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), sines);
	node_run_add(&r, DT_I64, SHAPE_OF(1, 2), positions);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	node_run_done(&r);
}

void test_op_rotary__a_first_position_at_the_end_of_all_numbers_is_refused(void **state)
{
	static const int64_t first = INT64_MAX;
	struct node_run r;
	struct error err;
	prepare(&r, "com.microsoft", false);
	node_run_add(&r, DT_I64, SHAPE_OF(1), &first);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), cosines);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 2), sines);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	node_run_done(&r);
}
