// Col2Im and AffineGrid, by hand.
#include "node_run.h"

// Blocks of 2 at every position of a row of 3, in two channels of two samples.
void test_op_blocks__overlaps_add_up(void **state)
{
	static const int64_t image = 3, block = 2;
	static const float x[] = {1, 2, 10, 20, 3, 4, 30, 40, 5, 6, 50, 60, 7, 8, 70, 80};
	struct node_run r;
	node_run_init(&r, "", "Col2Im", 18, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 4, 2), x);
	node_run_add(&r, DT_I64, SHAPE_OF(1), &image);
	node_run_add(&r, DT_I64, SHAPE_OF(1), &block);
	node_run(&r);
	node_run_floats(&r, 12, (const float[]){1, 12, 20, 3, 34, 40, 5, 56, 60, 7, 78, 80});
	node_run_done(&r);
}

// Dilated blocks with a stride, whose first element lies in the padding on the left.
void test_op_blocks__padding_is_left_out(void **state)
{
	static const int64_t image[] = {1, 4}, block[] = {1, 2};
	static const float x[] = {1, 2, 3, 10, 20, 30};
	struct node_run r;
	node_run_init(&r, "", "Col2Im", 18, 1);
	*(struct ints *)node_run_field(&r, "pads") = (struct ints){(int64_t[]){0, 1, 0, 2}, 4};
	*(struct ints *)node_run_field(&r, "strides") = (struct ints){(int64_t[]){1, 2}, 2};
	*(struct ints *)node_run_field(&r, "dilations") = (struct ints){(int64_t[]){1, 2}, 2};
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 3), x);
	node_run_add(&r, DT_I64, SHAPE_OF(2), image);
	node_run_add(&r, DT_I64, SHAPE_OF(2), block);
	node_run(&r);
	node_run_floats(&r, 4, (const float[]){0, 12, 0, 23});
	node_run_done(&r);
}

static void check_grid(bool align, const float *want)
{
	static const int64_t size[] = {1, 1, 2, 3};
	static const float theta[] = {1, 0, 10, 0, 2, 20};
	struct node_run r;
	node_run_init(&r, "", "AffineGrid", 20, 1);
	*(int64_t *)node_run_field(&r, "align_corners") = align;
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 3), theta);
	node_run_add(&r, DT_I64, SHAPE_OF(4), size);
	node_run(&r);
	node_run_floats(&r, 12, want);
	node_run_done(&r);
}

void test_op_blocks__a_grid(void **state)
{
	const float third = (float)(10 - 2.0 / 3), thirds = (float)(10 + 2.0 / 3);
	check_grid(true, (const float[]){9, 18, 10, 18, 11, 18, 9, 22, 10, 22, 11, 22});
	check_grid(false, (const float[]){third, 19, 10, 19, thirds, 19, third, 21, 10, 21, thirds, 21});
}

void test_op_blocks__blocks_of_any_number_are_refused(void **state)
{
	static const int64_t image = 3, block[] = {INT64_MIN, 0, INT64_MAX};
	static const float x[] = {1, 2};
	for (int i = 0; i < 3; i++) {
		struct node_run r;
		struct error err;
		node_run_init(&r, "", "Col2Im", 18, 1);
		*(struct ints *)node_run_field(&r, "dilations") = (struct ints){(int64_t[]){1 << 30}, 1};
		node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 2), x);
		node_run_add(&r, DT_I64, SHAPE_OF(1), &image);
		node_run_add(&r, DT_I64, SHAPE_OF(1), &block[i]);
		assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
		node_run_done(&r);
	}
}
