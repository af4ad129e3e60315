// YOLOv2 to v4, CenterNet, and rows that NMS left, on outputs made by their formulas.
#include <math.h>
#include <string.h>
#include "decode_case.h"
#include "support.h"

// Cell 2,2 of the stride 16 (4 x 4 cells): its corner is 32,32.
enum { CELL = 2 * 4 + 2 };

// ---- YOLOv3 and v4: three classes, of which it is the second

// Of an offset between the cell's corner, 0, and the next, 1.
static float spread(float at, float k)
{
	float s = (at + (k - 1) / 2) / k;
	return s > 0 ? logit(s) : -20;
}

static void darknet(const char *file, const char *decoder, int levels, float k, const float anchor[2])
{
	const float v[8] = {
	    spread(0, k), spread(.375f, k), logf(24 / anchor[0]), logf(16 / anchor[1]), logit(.95f), -20, logit(.9f / .95f), -20};
	for (int form = 0; form < 3; form++) {
		struct made m = made_new(3, 0);
		m.h.file = file;
		for (int side = levels == 3 ? 8 : 4; side >= 2; side /= 2) {
			struct shape s = form == 0   ? SHAPE(1, 24, side, side)
			                 : form == 1 ? SHAPE(1, 3, side, side, 8)
			                             : SHAPE(1, side, side, 3, 8);
			float *x = add_output(&m, "maps", END_LINEAR, s, -20);
			if (side == 4)
				put(x, form == 0 ? CELL : form == 1 ? CELL * 8 : CELL * 3 * 8, form == 0 ? 16 : 1, v, 8);
		}
		made_check(&m, decoder, 1, 0);
	}
}

void test_decode_families__yolov3_and_v4_by_the_name_of_the_file(void **state)
{
	darknet("models/yolov3.onnx", "yolov3-raw", 3, 1, (const float[]){30, 61});
	darknet("yolov3-tiny.onnx", "yolov3-raw", 2, 1, (const float[]){10, 14});
	darknet("yolov4.onnx", "yolov4-raw", 3, 1.1f, (const float[]){36, 75});
	darknet("yolov4-tiny_416.onnx", "yolov4-raw", 2, 1.05f, (const float[]){23, 27});
}

// One level of 32 pixels, five anchors; the second of three classes by a softmax.
static void yolov2(const char *file, const char *named, int classes, int anchors, const float anchor[2])
{
	for (int last = 0; last < 2; last++) {
		struct made m = made_new(classes, 0);
		struct error err;
		int channels = 5 + classes, all = anchors * channels;
		m.h.file = file;
		float *x = add_output(&m, "grid", END_LINEAR, last ? SHAPE(1, 2, 2, all) : SHAPE(1, all, 2, 2), -20);
		float v[5 + 80] = {-20, logit(6.f / 32), logf(24 / anchor[0]), logf(16 / anchor[1]), logit(.95f)};
		for (int i = 0; i < classes; i++)
			v[5 + i] = logf(i == 1 ? .9f / .95f : (1 - .9f / .95f) / (float)(classes - 1));
		put(x, last ? 3 * all + 2 * channels : 2 * channels * 4 + 3, last ? 1 : 4, v, channels);
		if (decode_find(&m.d, &m.h, named, &err))
			fail_msg("%s", err.text);
		assert_string_equal(m.d->name, "yolov2-raw");
		assert_true(decode_bind(&m.b, m.d, &m.h));
		decode_run(&m.c, m.d, &m.b, &m.h, .25);
		assert_int_equal(m.c.n, 1);
		const struct candidate *c = &m.c.at[0];
		if (c->class != 1 || fabsf(c->score - .9f) > 1e-3f || fabsf(c->x1 - 20) > .02f || fabsf(c->y1 - 30) > .02f ||
		    fabsf(c->x2 - 44) > .02f || fabsf(c->y2 - 46) > .02f)
			fail_msg("%s: class %d, %g at %g,%g,%g,%g", file, c->class, (double)c->score, (double)c->x1, (double)c->y1, (double)c->x2,
			    (double)c->y2);
		made_done(&m);
	}
}

void test_decode_families__yolov2(void **state)
{
	yolov2("yolov2.onnx", NULL, 20, 5, (const float[]){161.78784f, 259.16544f});
	yolov2("tinyyolov2-8.onnx", NULL, 20, 5, (const float[]){212.16f, 364.16f});
	yolov2("yolov2-coco-9.onnx", NULL, 80, 5, (const float[]){106.82976f, 175.17888f});
	yolov2("mine.onnx", "yolov2-raw:1,2,3,4,50,60,7,8", 3, 4, (const float[]){50, 60});
}

// Scores of neighbours fall off from the centre: one box, though they are high too.
void test_decode_families__centernet(void **state)
{
	enum { CELLS = 16, HERE = 9 * CELLS + 8, MAP = CELLS * CELLS };
	for (int swapped = 0; swapped < 2; swapped++) {
		struct made m = made_new(3, 0);
		float *score = add_output(&m, "hm", END_LINEAR, SHAPE(1, 3, CELLS, CELLS), -20) + MAP;
		float *size = add_output(&m, swapped ? "reg" : "wh", END_LINEAR, SHAPE(1, 2, CELLS, CELLS), 0);
		float *offset = add_output(&m, swapped ? "wh" : "reg", END_LINEAR, SHAPE(1, 2, CELLS, CELLS), 0);
		if (swapped) {
			float *first = size;
			size = offset;
			offset = first;
		}
		for (int i = -1; i <= 1; i++)
			score[HERE + i] = score[HERE + i * CELLS] = logit(.7f);
		score[HERE] = logit(.9f);
		put(size, HERE, MAP, (const float[]){6, 4}, 2);
		put(offset, HERE, MAP, (const float[]){0, .5f}, 2);
		made_check(&m, "centernet", 1, 0);
	}
}

// With two classes all fields look alike but for their names.
void test_decode_families__centernet_of_two_classes(void **state)
{
	static const char *const name[3] = {"wh", "hm", "offset"};
	struct made m = made_new(2, 0);
	struct error err;
	for (int i = 0; i < 3; i++)
		add_output(&m, name[i], END_LINEAR, SHAPE(1, 2, 16, 16), 0);
	assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_OK);
	assert_string_equal(m.d->name, "centernet");
	assert_true(decode_bind(&m.b, m.d, &m.h));
	assert_int_equal(m.b.source[0].box.output, 0);
	assert_int_equal(m.b.source[0].score.output, 1);
	assert_int_equal(m.b.source[0].offset.output, 2);
	made_done(&m);
}

// Two levels are of no other family; three of a file of any name are YOLOv5's.
void test_decode_families__yolov3_tiny_by_its_levels(void **state)
{
	darknet("model.onnx", "yolov3-raw", 2, 1, (const float[]){10, 14});
	darknet(NULL, "yolov3-raw", 2, 1, (const float[]){10, 14});
}

void test_decode_families__yolov4_decoded(void **state)
{
	static const float box[] = {20. / SIDE, 30. / SIDE, 44. / SIDE, 46. / SIDE};
	struct made m = made_new(3, 0);
	put(add_output(&m, "boxes", END_OTHER, SHAPE(1, 3 * 84, 1, 4), 0), 17 * 4, 1, box, 4);
	add_output(&m, "confs", END_OTHER, SHAPE(1, 3 * 84, 3), 0)[17 * 3 + 1] = .9f;
	made_check(&m, "yolov4", 1, 0);
}

// What NMS left is said by numbers of rows: one of them is that of an object, another's score is too low, a third is no row.
void test_decode_families__rows_that_nms_left(void **state)
{
	enum { N = 8 };
	static const float yx[4] = {30, 20, 46, 44}, picks[3 * 3] = {0, 1, 6, 0, 0, 2, 0, 1, N};
	for (int batch = 0; batch < 2; batch++) {
		struct made m = made_new(2, 0);
		put(add_output(&m, "boxes", END_OTHER, SHAPE(1, N, 4), 0), 6 * 4, 1, yx, 4);
		add_output(&m, "scores", END_SIGMOID, SHAPE(1, 2, N), .1f)[N + 6] = .9f;
		put(add_output(&m, "indices", END_OTHER, batch ? SHAPE(1, 3, 3) : SHAPE(3, 3), 0), 0, 1, picks, 9);
		m.out[2].type = DT_I64;
		made_check(&m, "nms-indices", 1, 0);
	}
}

// n rows of four numbers in front of the others: corners of small boxes all over the input, but for that of row 50, which is scaled likewise.
static void put_boxes(float *x, int64_t n, int64_t row, int64_t channel, const float box[4], float unit)
{
	for (int64_t i = 0; i < n; i++)
		for (int c = 0; c < 4; c++)
			x[i * row + c * channel] = (i == 50 ? box[c] : (float)(i % 7 * 8 + (c < 2 ? 0 : 8))) * unit;
	x[channel] = 3 * SIDE * unit; // one that is far beyond
}

void test_decode_families__rows_may_be_fractions(void **state)
{
	enum { N = 84, CLASSES = 3 };
	static const float centred[4] = {32, 38, 24, 16}, corners[4] = {20, 30, 44, 46};
	for (int pixels = 0; pixels < 2; pixels++) {
		float unit = pixels ? 1 : 1.f / SIDE;
		struct made m = made_new(CLASSES, 0);
		float *x = add_output(&m, "output0", END_PRODUCT | END_OTHER | END_SIGMOID, SHAPE(1, 4 + CLASSES, N), 0);
		put_boxes(x, N, 1, N, centred, unit);
		x[5 * N + 50] = .9f;
		made_check(&m, "yolov8", 1, 0);

		m = made_new(CLASSES, 0);
		x = add_output(&m, "output", END_PRODUCT | END_OTHER | END_SIGMOID, SHAPE(1, 3 * N, 5 + CLASSES), 0);
		put_boxes(x, 3 * N, 5 + CLASSES, 1, centred, unit);
		x[50 * (5 + CLASSES) + 4] = 1;
		x[50 * (5 + CLASSES) + 6] = .9f;
		made_check(&m, "yolov5", 1, 0);

		m = made_new(CLASSES, 0);
		float *p = add_output(&m, "scores", END_SIGMOID, SHAPE(1, CLASSES, N), 0);
		put_boxes(add_output(&m, "boxes", END_OTHER, SHAPE(1, N, 4), 0), N, 4, 1, corners, unit);
		p[N + 50] = .9f;
		made_check(&m, "yolov8", 1, 0);
	}
	(void)state;
}

void test_decode_families__ssd_may_be_in_pixels(void **state)
{
	enum { N = 2000, CLASSES = 3 };
	static const float corners[4] = {20, 30, 44, 46};
	for (int pixels = 0; pixels < 2; pixels++) {
		struct made m = made_new(CLASSES, 0);
		float *p = add_output(&m, "scores", END_SOFTMAX, SHAPE(1, N, 1 + CLASSES), 0);
		put_boxes(add_output(&m, "boxes", END_OTHER, SHAPE(1, N, 4), 0), N, 4, 1, corners, pixels ? 1 : 1.f / SIDE);
		p[50 * (1 + CLASSES) + 2] = .9f;
		made_check(&m, "ssd", 1, 0);
	}
	(void)state;
}

// Six numbers a row, as detections have: but no class comes out of a sigmoid.
void test_decode_families__queries_of_two_classes(void **state)
{
	struct made m = made_new(2, 0);
	float *x = add_output(&m, "output0", END_SIGMOID, SHAPE(1, 30, 6), 0);
	put(x, 7 * 6, 1, (const float[]){.5f, 38.f / SIDE, 24.f / SIDE, .25f, .1f, .9f}, 6);
	made_check(&m, "rtdetr", 1, 0);
	(void)state;
}

// A score for each class of the labels: none is the background's, and and no family is known by so many rows.
void test_decode_families__scores_without_a_background_are_no_ssd(void **state)
{
	enum { N = 2000, CLASSES = 3 };
	static const float corners[4] = {20, 30, 44, 46};
	for (int background = 0; background < 2; background++) {
		struct made m = made_new(CLASSES, 0);
		struct error err;
		add_output(&m, "scores", END_SIGMOID, SHAPE(1, N, background + CLASSES), 0);
		put_boxes(add_output(&m, "boxes", END_OTHER, SHAPE(1, N, 4), 0), N, 4, 1, corners, 1);
		if (background)
			assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_OK);
		else if (decode_find(&m.d, &m.h, NULL, &err) == STATUS_OK)
			fail_msg("taken for %s", m.d->name);
		assert_int_equal(decode_find(&m.d, &m.h, background ? "ssd" : "yolov8", &err), STATUS_OK);
		made_done(&m);
	}
	(void)state;
}

// The queries of a DETR: most boxes are small, all over the input or in its upper left, or all are as large as the input.
enum queries { ALL_OVER, UPPER_LEFT, LARGE };
static void put_queries(float *x, int64_t n, int64_t row, bool corners, enum queries where, const float unit[2])
{
	for (int64_t i = 0; i < n; i++) {
		float side = where == LARGE ? .96f * SIDE : 8, step = (float)(i % 13) * (where == ALL_OVER ? 4 : 2);
		float at = where == LARGE ? SIDE / 2.f : 6 + step;
		const float box[4] = {i == 50 ? 32 : at, i == 50 ? 38 : at, i == 50 ? 24 : side, i == 50 ? 16 : side};
		for (int c = 0; c < 2; c++) {
			x[i * row + c] = (corners ? box[c] - box[2 + c] / 2 : box[c]) * unit[c];
			x[i * row + 2 + c] = (corners ? box[c] + box[2 + c] / 2 : box[2 + c]) * unit[c];
		}
	}
}

void test_decode_families__queries_may_be_corners_and_pixels(void **state)
{
	enum { N = 100, CLASSES = 3 };
	for (int as = 0; as < 12; as++) {
		const float pixel = as & 1 ? 1 : 1.f / SIDE, unit[2] = {pixel, pixel};
		bool corners = as & 2;
		enum queries where = (enum queries)(as / 4);
		struct made m = made_new(CLASSES, 0);
		float *p = add_output(&m, "pred_logits", END_LINEAR, SHAPE(1, N, CLASSES), -20);
		put_queries(add_output(&m, "pred_boxes", END_OTHER, SHAPE(1, N, 4), 0), N, 4, corners, where, unit);
		p[50 * CLASSES + 1] = logit(.9f);
		made_check(&m, "detr", 1, 0);

		m = made_new(CLASSES, 0);
		float *x = add_output(&m, "output0", END_OTHER | END_SIGMOID, SHAPE(1, N, 4 + CLASSES), 0);
		put_queries(x, N, 4 + CLASSES, corners, where, unit);
		x[50 * (4 + CLASSES) + 5] = .9f;
		made_check(&m, "rtdetr", 1, 0);
	}
	(void)state;
}

// As many rows as levels of some input have cells: 300 are 32 and 64 of 640 x 384, and 16 and 32 of 320 x 192.
void test_decode_families__rows_of_queries_are_no_levels(void **state)
{
	enum { N = 300, CLASSES = 3 };
	static const float corners[4] = {20, 30, 44, 46}, centred[4] = {32, 38, 24, 16};
	for (int as = 0; as < 4; as++) {
		const int chosen = as / 2, w = as % 2 ? 320 : 640, h = as % 2 ? 192 : 384;
		struct made m = made_new(CLASSES, 0);
		float *x = add_output(&m, "output0", END_OTHER | END_SIGMOID, SHAPE(1, N, 6), 0);
		m.h.chosen = chosen;
		m.h.input_w = w;
		m.h.input_h = h;
		put(x, 50 * 6, 1, corners, 4);
		x[50 * 6 + 4] = .9f;
		x[50 * 6 + 5] = 1;
		made_check(&m, "end2end", 1, 0);

		m = made_new(CLASSES, 0);
		float *p = add_output(&m, "pred_logits", END_LINEAR, SHAPE(1, N, CLASSES), -20);
		x = add_output(&m, "pred_boxes", END_SIGMOID, SHAPE(1, N, 4), .5f);
		m.h.chosen = chosen;
		m.h.input_w = w;
		m.h.input_h = h;
		p[50 * CLASSES + 1] = logit(.9f);
		for (int c = 0; c < 4; c++)
			x[50 * 4 + c] = centred[c] / (float)(c % 2 ? h : w);
		made_check(&m, "detr", 1, 0);
	}
	(void)state;
}

// Four levels of three anchors (YOLOv5-P6) of 320 x 240 are as many rows as cells of four pixels.
void test_decode_families__levels_that_are_as_many_as_a_fine_one(void **state)
{
	enum { N = 3 * (40 * 30 + 20 * 15 + 10 * 8 + 5 * 4), CLASSES = 3 };
	static const float box[5] = {32, 38, 24, 16, .95f};
	struct made m = made_new(80, 0);
	float *x = add_output(&m, "output", END_OTHER | END_SIGMOID, SHAPE(1, N, 5 + CLASSES), 0);
	m.h.input_w = 320;
	m.h.input_h = 240;
	assert_int_equal(N, 80 * 60);
	put(x, 100 * (5 + CLASSES), 1, box, 5);
	x[100 * (5 + CLASSES) + 5 + 1] = .9f / .95f;
	made_check(&m, "yolov5", 1, 0);
	(void)state;
}

// A table of scores is not turned around where a sample has fewer boxes than there are classes.
void test_decode_families__fewer_queries_than_classes(void **state)
{
	enum { N = 20, CLASSES = 30 };
	for (int joined = 0; joined < 2; joined++) {
		struct made m = made_new(CLASSES, 0);
		const int row = 4 + CLASSES;
		float *p, *x;
		if (joined) {
			x = add_output(&m, "output0", END_OTHER | END_SIGMOID, SHAPE(1, N, row), 0);
			p = x + 4;
		} else {
			p = add_output(&m, "pred_scores", END_SIGMOID, SHAPE(1, N, CLASSES), 0);
			x = add_output(&m, "pred_boxes", END_SIGMOID, SHAPE(1, N, 4), 0);
		}
		put(x, 7 * (joined ? row : 4), 1, (const float[]){.5f, 38.f / SIDE, 24.f / SIDE, .25f}, 4);
		p[7 * (joined ? row : CLASSES) + 25] = .9f;
		made_check(&m, joined ? "rtdetr" : "detr", 25, 0);
	}
	(void)state;
}

// Nine anchors a cell are RetinaNet's, with a sigmoid a class and none for a background: neither of as many classes as the labels
// have nor of one more is the first score one.
void test_decode_families__nine_anchors_a_cell_have_no_background(void **state)
{
	enum { N = 9 * (8 * 8 + 4 * 4 + 2 * 2 + 1 + 1), CLASSES = 3 };
	static const float corners[4] = {20, 30, 44, 46};
	for (int more = 0; more < 2; more++)
		for (int pixels = 0; pixels < 2; pixels++) {
			struct made m = made_new(CLASSES, 0);
			float *p = add_output(&m, "scores", END_SIGMOID, SHAPE(1, N, CLASSES + more), 0);
			put_boxes(add_output(&m, "boxes", END_OTHER, SHAPE(1, N, 4), 0), N, 4, 1, corners, pixels ? 1 : 1.f / SIDE);
			p[50 * (CLASSES + more) + 2] = .9f;
			made_check(&m, "retinanet", 2, 0);
		}
	(void)state;
}
