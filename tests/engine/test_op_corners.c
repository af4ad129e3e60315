// Corners of attributes and shapes that the ONNX node tests leave out:
// ONNX Runtime's answers, by which the lines here were written.
#include <float.h>
#include <math.h>
#include "node_run.h"

void test_op_corners__slice_backwards_to_the_end(void **state)
{
	static const float x[] = {0, 1, 2, 3, 4};
	static const int64_t start = 3, axis = 0, step = -2, ends[] = {INT32_MAX, INT64_MAX, -100};
	struct node_run r;
	for (int i = 0; i < 3; i++) {
		node_run_init(&r, "", "Slice", 13, 1);
		node_run_add(&r, DT_F32, SHAPE_OF(5), x);
		node_run_add(&r, DT_I64, SHAPE_OF(1), &start);
		node_run_add(&r, DT_I64, SHAPE_OF(1), &ends[i]);
		node_run_add(&r, DT_I64, SHAPE_OF(1), &axis);
		node_run_add(&r, DT_I64, SHAPE_OF(1), &step);
		node_run(&r);
		node_run_floats(&r, 2, (const float[]){3, 1});
		node_run_done(&r);
	}
}

void test_op_corners__reducing_no_axis_still_squares(void **state)
{
	static const float x[] = {-2, 3};
	static const int64_t none = 0;
	struct node_run r;
	node_run_init(&r, "", "ReduceSumSquare", 18, 1);
	*(int64_t *)node_run_field(&r, "noop_with_empty_axes") = 1;
	node_run_add(&r, DT_F32, SHAPE_OF(2), x);
	node_run_add(&r, DT_I64, SHAPE_OF(0), &none);
	node_run(&r);
	node_run_floats(&r, 2, (const float[]){4, 9});
	node_run_done(&r);
}

// A kernel shorter than its stride needs no padding to be "the same", and gets none that is negative.
void test_op_corners__transposed_convolution_of_the_same_size(void **state)
{
	static const float x[] = {1, 2, 3}, w[] = {10};
	struct node_run r;
	node_run_init(&r, "", "ConvTranspose", 11, 1);
	*(const char **)node_run_field(&r, "auto_pad") = "SAME_UPPER";
	*(struct ints *)node_run_field(&r, "strides") = (struct ints){(int64_t[]){3}, 1};
	node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 3), x);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 1), w);
	node_run(&r);
	node_run_floats(&r, 7, (const float[]){10, 0, 0, 20, 0, 0, 30});
	node_run_done(&r);
}

// 3x3 to 5x5: pixels between four, and edges where both neighbours are one. Four products are added up,
// from the upper left to the lower right, to the bits of ONNX Runtime 1.30.
void test_op_corners__resize_adds_up_four_products(void **state)
{
	static const int64_t sizes[] = {1, 1, 5, 5};
	static const float want[25] = {-0x1.066666p+2f, -0x1.e76c8ap+1f, -0x1.af5c28p+1f, -0x1.774bc4p+1f, -0x1.51eb84p+1f, -0x1.9cac06p+1f,
	    -0x1.774bc6p+1f, -0x1.3f3b62p+1f, -0x1.072bp+1f, -0x1.c3957cp+0f, -0x1.e8f5cp+0f, -0x1.9e353cp+0f, -0x1.2e1478p+0f,
	    -0x1.7be764p-1f, -0x1.cccccp-2f, -0x1.3126d8p-1f, -0x1.374ba2p-2f, 0x1.126eep-3f, 0x1.24dd44p-1f, 0x1.ba5e48p-1f, 0x1.1eb86p-2f,
	    0x1.24dd38p-1f, 0x1.028f6p+0f, 0x1.72b026p+0f, 0x1.bd70a8p+0f};
	float x[9];
	struct node_run r;
	for (int i = 0; i < 9; i++)
		x[i] = (float)(i * (double)0.73f - (double)4.1f);
	node_run_init(&r, "", "Resize", 13, 1);
	*(const char **)node_run_field(&r, "mode") = "linear";
	node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 3, 3), x);
	node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
	node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
	node_run_add(&r, DT_I64, SHAPE_OF(4), sizes);
	node_run(&r);
	assert_int_equal(tensor_count(&r.out[0]), 25);
	assert_memory_equal(r.out[0].data, want, sizeof want);
	node_run_done(&r);
}

// (1 + 0.5) / 0.3 - 0.5 is 4.5 in float, but less in double: 0.3f is above 0.3.
void test_op_corners__resize_rounds_coordinates_in_float(void **state)
{
	static const float x[] = {0, 1, 2, 3, 4, 5, 6, 7}, scale = 0.3f, none = 0;
	struct node_run r;
	node_run_init(&r, "", "Resize", 13, 1);
	*(const char **)node_run_field(&r, "nearest_mode") = "round_prefer_ceil";
	node_run_add(&r, DT_F32, SHAPE_OF(8), x);
	node_run_add(&r, DT_F32, SHAPE_OF(0), &none);
	node_run_add(&r, DT_F32, SHAPE_OF(1), &scale);
	node_run(&r);
	node_run_floats(&r, 2, (const float[]){1, 5});
	node_run_done(&r);
}

// (1 + 0.5) / 0.6 - 0.5 is below 2 in double, and 2 in float; the offset in front of it is a float.
void test_op_corners__resize_half_pixel_symmetric_adds_up_in_double(void **state)
{
	static const float x[] = {0, 1, 2, 3, 4};
	static const int64_t size = 3;
	struct node_run r;
	node_run_init(&r, "", "Resize", 19, 1);
	*(const char **)node_run_field(&r, "nearest_mode") = "floor";
	*(const char **)node_run_field(&r, "coordinate_transformation_mode") = "half_pixel_symmetric";
	node_run_add(&r, DT_F32, SHAPE_OF(5), x);
	node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
	node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
	node_run_add(&r, DT_I64, SHAPE_OF(1), &size);
	node_run(&r);
	node_run_floats(&r, 3, (const float[]){0, 1, 3});
	node_run_done(&r);
}

void test_op_corners__pads_below_zero_cut_before_the_rest_is_wrapped(void **state)
{
	static const float x[] = {0, 1, 2, 3, 4, 5};
	static const int64_t pads[][2] = {{-2, 4}, {4, -2}, {-6, 1}};
	struct node_run r;
	struct error err;
	for (int i = 0; i < 3; i++) {
		node_run_init(&r, "", "Pad", 19, 1);
		*(const char **)node_run_field(&r, "mode") = "wrap";
		node_run_add(&r, DT_F32, SHAPE_OF(6), x);
		node_run_add(&r, DT_I64, SHAPE_OF(2), pads[i]);
		if (i < 2) {
			node_run(&r);
			node_run_floats(&r, 8, i ? (const float[]){0, 1, 2, 3, 0, 1, 2, 3} : (const float[]){2, 3, 4, 5, 2, 3, 4, 5});
		} else {
			assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
		}
		node_run_done(&r);
	}
}

void test_op_corners__the_upper_limit_of_a_clip_wins(void **state)
{
	static const int8_t x[] = {-100, 0, 100}, low = 50, high = -50;
	struct node_run r;
	node_run_init(&r, "", "Clip", 13, 1);
	node_run_add(&r, DT_I8, SHAPE_OF(3), x);
	node_run_add(&r, DT_I8, SCALAR, &low);
	node_run_add(&r, DT_I8, SCALAR, &high);
	node_run(&r);
	for (int i = 0; i < 3; i++)
		assert_int_equal(((int8_t *)r.out[0].data)[i], -50);
	node_run_done(&r);
}

// Before opset 11: 1 / 0.6 is rounded up, where it grows 1 / 1.5 down.
void test_op_corners__the_first_resize_rounds_up_where_it_shrinks(void **state)
{
	static const float x[] = {0, 1, 2, 3, 4}, scale[] = {0.6f, 1.5f};
	struct node_run r;
	for (int i = 0; i < 2; i++) {
		node_run_init(&r, "", "Resize", 10, 1);
		node_run_add(&r, DT_F32, SHAPE_OF(5), x);
		node_run_add(&r, DT_F32, SHAPE_OF(1), &scale[i]);
		node_run(&r);
		node_run_floats(&r, i ? 7 : 3, i ? (const float[]){0, 0, 1, 2, 2, 3, 4} : (const float[]){0, 2, 4});
		node_run_done(&r);
	}
}

// As ONNX's shape inference has it: 10 * 2.3f is 23 in float, and 22.9999995 in double.
void test_op_corners__resize_multiplies_sizes_in_float(void **state)
{
	static const float x[10] = {0}, scale = 2.3f;
	struct node_run r;
	node_run_init(&r, "", "Resize", 13, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(10), x);
	node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
	node_run_add(&r, DT_F32, SHAPE_OF(1), &scale);
	node_run(&r);
	assert_int_equal(r.out[0].shape.dim[0], 23);
	node_run_done(&r);
}

// What has 8 bits is rounded behind each pass of an antialiased Resize; the figures are ONNX Runtime's.
void test_op_corners__resize_of_bytes_with_antialias(void **state)
{
	static const uint8_t x[24] = {10, 200, 31, 40, 7, 99, 250, 3, 90, 14, 60, 60, 0, 255, 255, 0, 1, 2, 77, 78, 80, 83, 87, 92};
	static const struct {
		const char *mode;
		uint8_t want[6];
	} rows[] = {{"linear", {109, 60, 49, 104, 95, 52}}, {"cubic", {121, 53, 43, 113, 105, 48}}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct node_run r;
		node_run_init(&r, "", "Resize", 18, 1);
		*(const char **)node_run_field(&r, "mode") = rows[i].mode;
		*(int64_t *)node_run_field(&r, "antialias") = 1;
		node_run_add(&r, DT_U8, SHAPE_OF(1, 1, 4, 6), x);
		node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
		node_run_add(&r, DT_F32, SHAPE_OF(0), NULL);
		node_run_add(&r, DT_I64, SHAPE_OF(4), (const int64_t[]){1, 1, 2, 3});
		node_run(&r);
		assert_memory_equal(r.out[0].data, rows[i].want, sizeof rows[i].want);
		node_run_done(&r);
	}
}

static void check_linear(enum dtype type, const void *x, struct shape shape, const float *scale, bool antialias, struct node_run *r)
{
	node_run_init(r, "", "Resize", 18, 1);
	*(const char **)node_run_field(r, "mode") = "linear";
	*(int64_t *)node_run_field(r, "antialias") = antialias;
	node_run_add(r, type, shape, x);
	node_run_add(r, DT_F32, SHAPE_OF(0), NULL);
	node_run_add(r, DT_F32, SHAPE_OF(4), scale);
	node_run(r);
}

// Integers are cut off, so that the order in which the four products are added up tells,
// and with channels last what the weights of bytes are rounded to. The figures are ONNX Runtime's.
void test_op_corners__linear_resize_of_integers(void **state)
{
	static const int8_t bytes[12] = {71, -100, 31, 40, 7, 99, -50, 3, 90, 14, 60, 60};
	static const int8_t flat[12] = {71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71};
	static const int8_t last[42] = {71, -100, 67, -89, 52, -35, 37, 18, 25, 53, 16, 76, 7, 99, 24, -60, 26, -53, 38, -18, 49, 16, 47, 42, 37,
	    63, 27, 84, -46, 0, -36, 1, 15, 6, 67, 12, 81, 25, 69, 43, 58, 61};
	static const int32_t wide[12] = {71, -100, 31, 40, 7, 99, -50, 3, 90, 14, 60, 60}, smooth[2] = {25, -9};
	struct node_run r;
	check_linear(DT_I8, bytes, SHAPE_OF(1, 2, 3, 2), (const float[]){1, 1.7f, 2.6f, 1}, false, &r);
	assert_memory_equal(r.out[0].data, last, sizeof last);
	node_run_done(&r);
	check_linear(DT_I8, flat, SHAPE_OF(1, 1, 4, 3), (const float[]){1, 1, 1.5f, 2.6f}, false, &r);
	for (int i = 0; i < 42; i++)
		assert_int_equal(((int8_t *)r.out[0].data)[i], i == 8 || i == 29 || i == 36 ? 70 : 71);
	node_run_done(&r);
	check_linear(DT_I32, wide, SHAPE_OF(1, 1, 3, 4), (const float[]){1, 1, .6f, .7f}, true, &r);
	assert_memory_equal(r.out[0].data, smooth, sizeof smooth);
	node_run_done(&r);
}

// 2 times 1.25 are 2 elements, but not those that there were.
void test_op_corners__an_axis_that_keeps_its_length_is_resized_by_its_scale(void **state)
{
	static const float x[2] = {0, 1}, scale[4] = {1, 1.25f, 1, 1}, want[2] = {0, 1.5f / 1.25f - .5f};
	struct node_run r;
	check_linear(DT_F32, x, SHAPE_OF(1, 2, 1, 1), scale, false, &r);
	node_run_floats(&r, 2, want);
	node_run_done(&r);
}

// The limits that are left out are the largest numbers.
void test_op_corners__a_clip_leaves_no_infinity(void **state)
{
	static const float x[4] = {-INFINITY, -1, 2, INFINITY}, limit = 1;
	static const float want[3][4] = {{-FLT_MAX, -1, 2, FLT_MAX}, {1, 1, 2, FLT_MAX}, {-FLT_MAX, -1, 1, 1}};
	for (int i = 0; i < 3; i++) {
		struct node_run r;
		node_run_init(&r, "", "Clip", 13, 1);
		node_run_add(&r, DT_F32, SHAPE_OF(4), x);
		node_run_add(&r, DT_F32, SCALAR, i == 1 ? &limit : NULL);
		node_run_add(&r, DT_F32, SCALAR, i == 2 ? &limit : NULL);
		node_run(&r);
		node_run_floats(&r, 4, want[i]);
		node_run_done(&r);
	}
}
