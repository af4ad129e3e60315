// Embeddings that are looked up, added and normalised.
#include <math.h>
#include "node_run.h"

enum { LENGTH = 3, WIDTH = 2 };

static const int32_t ids[] = {2, 0, 1}, segments[] = {0, 1, 1}, mask[] = {1, 0, 1};
static const float words[] = {1, 2, 3, 5, 8, 13}, positions[] = {10, 20, 30, 50, 80, 130}, kinds[] = {100, 300, 200, 600};
static const float gamma_[] = {2, 3}, beta[] = {0.5f, -0.5f};

static void prepare(struct node_run *r, bool with_segments)
{
	node_run_init(r, "com.microsoft", "EmbedLayerNormalization", 1, 3);
	r->out_id[1] = 1;
	r->out_id[2] = 2;
	node_run_add(r, DT_I32, SHAPE_OF(1, LENGTH), ids);
	node_run_add(r, DT_I32, SHAPE_OF(1, LENGTH), with_segments ? segments : NULL);
	node_run_add(r, DT_F32, SHAPE_OF(3, WIDTH), words);
	node_run_add(r, DT_F32, SHAPE_OF(3, WIDTH), positions);
	node_run_add(r, DT_F32, SHAPE_OF(2, WIDTH), with_segments ? kinds : NULL);
	node_run_add(r, DT_F32, SHAPE_OF(WIDTH), gamma_);
	node_run_add(r, DT_F32, SHAPE_OF(WIDTH), beta);
	node_run_add(r, DT_I32, SHAPE_OF(1, LENGTH), mask);
}

static void check(bool with_segments, const float *sums)
{
	struct node_run r;
	prepare(&r, with_segments);
	node_run(&r);
	assert_memory_equal(r.out[2].data, sums, LENGTH * WIDTH * sizeof *sums);
	assert_int_equal(*(int32_t *)r.out[1].data, 2);
	for (int i = 0; i < LENGTH; i++) { // of two different numbers the smaller becomes -1, the greater 1
		const float *y = (const float *)r.out[0].data + i * WIDTH;
		assert_true(fabsf(y[0] - (-2 + 0.5f)) < 1e-5f && fabsf(y[1] - (3 - 0.5f)) < 1e-5f);
	}
	node_run_done(&r);
}

void test_op_embed__adds_what_the_tables_hold(void **state)
{
	check(true, (const float[]){8 + 10 + 100, 13 + 20 + 300, 1 + 30 + 200, 2 + 50 + 600, 3 + 80 + 200, 5 + 130 + 600});
	check(false, (const float[]){8 + 10, 13 + 20, 1 + 30, 2 + 50, 3 + 80, 5 + 130});
}

void test_op_embed__positions_may_be_given(void **state)
{
	static const int64_t given[] = {2, 2, 0};
	struct node_run r;
	prepare(&r, false);
	node_run_add(&r, DT_I64, SHAPE_OF(1, LENGTH), given);
	node_run(&r);
	assert_memory_equal(r.out[2].data, ((const float[]){8 + 80, 13 + 130, 1 + 80, 2 + 130, 3 + 10, 5 + 20}), LENGTH * WIDTH * sizeof(float));
	node_run_done(&r);
}

void test_op_embed__an_id_behind_the_table_is_refused(void **state)
{
	static const int32_t wrong[] = {2, 3, 1};
	struct node_run r;
	struct error err;
	prepare(&r, true);
	r.in[0].data = (void *)wrong;
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "id 3"));
	node_run_done(&r);
}

// Known from shapes, so that a model with an open length is loaded with another.
void test_op_embed__more_ids_than_positions_do_not_fit(void **state)
{
	struct node_run r;
	struct error err;
	prepare(&r, true);
	r.in[3].shape.dim[0] = LENGTH - 1;
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "positions"));
	node_run_done(&r);
}

// From codes; scales and zero points follow the mask.
void test_op_embed__tables_of_codes(void **state)
{
	static const uint8_t table[] = {12, 14, 16, 20, 26, 36}, gain[] = {12, 13}, shift[] = {11, 9}, ten = 10;
	static const float half = 0.5f, one = 1;
	struct node_run r;
	(void)state;
	node_run_init(&r, "com.microsoft", "QEmbedLayerNormalization", 1, 1);
	node_run_add(&r, DT_I32, SHAPE_OF(1, LENGTH), ids);
	node_run_add(&r, DT_I32, SHAPE_OF(1, LENGTH), NULL);
	for (int i = 0; i < 3; i++)
		node_run_add(&r, DT_U8, SHAPE_OF(3, WIDTH), i < 2 ? table : NULL);
	node_run_add(&r, DT_U8, SHAPE_OF(WIDTH), gain);
	node_run_add(&r, DT_U8, SHAPE_OF(WIDTH), shift);
	node_run_add(&r, DT_I32, SHAPE_OF(1, LENGTH), NULL);
	for (int i = 0; i < 5; i++)
		node_run_add(&r, DT_F32, SCALAR, i == 3 ? &one : &half);
	for (int i = 0; i < 5; i++)
		node_run_add(&r, DT_U8, SCALAR, &ten);
	node_run(&r);
	for (int i = 0; i < LENGTH; i++) {
		const float *y = (const float *)r.out[0].data + i * WIDTH;
		assert_true(fabsf(y[0] - (-2 + 0.5f)) < 1e-5f && fabsf(y[1] - (3 - 0.5f)) < 1e-5f);
	}
	node_run_done(&r);
}
