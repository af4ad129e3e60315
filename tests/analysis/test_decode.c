// Decoders: boxes that were encoded by the families' formulas, for an input of 64 x 64 and three classes.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "decode_case.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"
#include "support.h"

enum { CLASSES = 3 };

static void made_find(struct made *m, const char *decoder)
{
	struct error err = {0};
	if (decode_find(&m->d, &m->h, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_string_equal(m->d->name, decoder);
	assert_true(m->d->bind(&m->b, &m->h));
	decode_run(&m->c, m->d, &m->b, &m->h, .25);
}

// Exactly one box is there: class 1, score .9, 20,30 to 44,46.
static void check_one(struct made *m, const char *decoder)
{
	made_find(m, decoder);
	assert_int_equal(m->c.n, 1);
	const struct candidate *c = &m->c.at[0];
	assert_int_equal(c->class, 1);
	assert_true(fabsf(c->score - .9f) < 1e-3f);
	assert_true(fabsf(c->x1 - 20) < .02f && fabsf(c->y1 - 30) < .02f && fabsf(c->x2 - 44) < .02f &&
	            fabsf(c->y2 - 46) < .02f);
	for (int above = 0; above < 2; above++) { // the limit just below its score, and just above
		struct candidates near = {0};
		decode_run(&near, m->d, &m->b, &m->h, (double)c->score * (above ? 1 + 1e-6 : 1 - 1e-6));
		assert_int_equal(near.n, !above);
		candidates_done(&near);
	}
	made_done(m);
}

// Centre 32,38: cell 2,2 of the stride 16 (4 x 4 cells), offset 0 and .375 from its corner.
enum { CELL = 2 * 4 + 2 };

static void yolov5_values(float v[8], const float anchor[2])
{
	v[0] = logit((0 + .5f) / 2);
	v[1] = logit((.375f + .5f) / 2);
	v[2] = logit(sqrtf(24 / anchor[0]) / 2);
	v[3] = logit(sqrtf(16 / anchor[1]) / 2);
	v[4] = logit(.95f);
	v[5] = v[7] = -20;
	v[6] = logit(.9f / .95f);
}

void test_decode__yolov5_maps_before_their_anchors(void **state)
{
	static const float anchor[2] = {30, 61}; // the first of stride 16
	float v[8];
	yolov5_values(v, anchor);
	struct made m = made_new(CLASSES, 0);
	add_output(&m, "p3", END_LINEAR, SHAPE(1, 24, 8, 8), -20);
	float *x = add_output(&m, "p4", END_LINEAR, SHAPE(1, 24, 4, 4), -20);
	add_output(&m, "p5", END_LINEAR, SHAPE(1, 24, 2, 2), -20);
	put(x, CELL, 16, v, 8);
	check_one(&m, "yolov5-raw");

	m = made_new(CLASSES, 0);
	add_output(&m, "p3", END_LINEAR, SHAPE(1, 3, 8, 8, 8), -20);
	x = add_output(&m, "p4", END_LINEAR, SHAPE(1, 3, 4, 4, 8), -20);
	add_output(&m, "p5", END_LINEAR, SHAPE(1, 3, 2, 2, 8), -20);
	put(x, CELL * 8, 1, v, 8);
	check_one(&m, "yolov5-raw");

	m = made_new(CLASSES, 0);
	x = add_output(&m, "rows", END_LINEAR, SHAPE(1, 3 * 84, 8), -20);
	put(x, (3 * 64 + CELL) * 8, 1, v, 8);
	check_one(&m, "yolov5-raw");
}

// A network that was trained with anchors of its own: they come behind the decoder's name, for levels by rising stride.
void test_decode__anchors_that_the_user_gives(void **state)
{
	static const float anchor[2] = {20.5f, 33};
	struct error err = {0};
	float v[8];
	yolov5_values(v, anchor);
	struct made m = made_new(CLASSES, 0);
	add_output(&m, "p3", END_LINEAR, SHAPE(1, 24, 8, 8), -20);
	put(add_output(&m, "p4", END_LINEAR, SHAPE(1, 24, 4, 4), -20), CELL, 16, v, 8);
	assert_int_equal(decode_find(&m.d, &m.h, "yolov5-raw", &err), STATUS_UNSUPPORTED); // it has three levels
	if (decode_find(&m.d, &m.h, "yolov5-raw:1,2,3,4,5,6,20.5,33,9,10,11,12", &err))
		fail_msg("%s", err.text);
	assert_true(decode_bind(&m.b, m.d, &m.h));
	decode_run(&m.c, m.d, &m.b, &m.h, .25);
	assert_int_equal(m.c.n, 1);
	assert_true(fabsf(m.c.at[0].x1 - 20) < .02f && fabsf(m.c.at[0].y1 - 30) < .02f && fabsf(m.c.at[0].x2 - 44) < .02f &&
	            fabsf(m.c.at[0].y2 - 46) < .02f);
	assert_int_equal(decode_find(&m.d, &m.h, "yolov5-raw:1,2,3,4,5,6", &err), STATUS_UNSUPPORTED); // of one level
	made_done(&m);
}

void test_decode__anchors_that_are_none(void **state)
{
	static const struct {
		const char *name, *says;
		enum status status;
	} rows[] = {
	    {"yolov8:1,2,3,4,5,6", "yolov8 has no anchors", STATUS_USAGE},
	    {"yolov5-raw:", "three pairs", STATUS_USAGE},
	    {"yolov5-raw:1,2,3,4,5", "three pairs", STATUS_USAGE},
	    {"yolov5-raw:1,2,3,4,5,6,", "three pairs", STATUS_USAGE},
	    {"yolov5-raw:1,2,3,4,5,x", "three pairs", STATUS_USAGE},
	    {"yolov5-raw:1,2,3,4,5,0", "three pairs", STATUS_USAGE},
	    {"yolov5-raw:1,2,3,4,5,nan", "three pairs", STATUS_USAGE},
	    {"yolov5-raw:1,2,3,4,5,6,1,2,3,4,5,6,1,2,3,4,5,6,1,2,3,4,5,6,1,2,3,4,5,6", "up to four levels", STATUS_USAGE},
	    {"yolov2-raw:1,2,3,4,5", "up to twelve pairs", STATUS_USAGE},
	    {"yolov5-raw:1,2,3,4", "three pairs", STATUS_USAGE},
	    {"yolov5-ra:1,2,3,4,5,6", "one of ", STATUS_NOTFOUND},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err = {0};
		const struct decoder *d;
		struct anchors a;
		assert_int_equal(decode_named(&d, &a, rows[i].name, &err), rows[i].status);
		if (!strstr(err.text, rows[i].says))
			fail_msg("%s: %s", rows[i].name, err.text);
	}
}

void test_decode__yolov7_has_other_anchors(void **state)
{
	static const float anchor[2] = {36, 75};
	float v[8];
	yolov5_values(v, anchor);
	struct made m = made_new(CLASSES, 0);
	add_output(&m, "p3", END_SIGMOID, SHAPE(1, 3, 8, 8, 8), 0);
	float *x = add_output(&m, "p4", END_SIGMOID, SHAPE(1, 3, 4, 4, 8), 0);
	add_output(&m, "p5", END_SIGMOID, SHAPE(1, 3, 2, 2, 8), 0);
	for (int i = 0; i < 8; i++)
		v[i] = decode_sigmoid(v[i]);
	put(x, CELL * 8, 1, v, 8);
	m.h.file = "yolov7.onnx";
	check_one(&m, "yolov7-raw");
}

// Distances in strides from the centre of the cell, 40,40: 20, 10 to the left and up, 4, 6 to the right and down.
static const float distances[4] = {20 / 16.f, 10 / 16.f, 4 / 16.f, 6 / 16.f};

void test_decode__distances_as_distributions_and_class_logits(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *x = NULL;
	for (int side = 8; side >= 2; side /= 2) {
		float *one = add_output(&m, "p", END_LINEAR, SHAPE(1, 64 + CLASSES, side, side), -20);
		x = side == 4 ? one : x;
	}
	put_bins(x, CELL, 16, 16, distances);
	x[(64 + 1) * 16 + CELL] = logit(.9f);
	check_one(&m, "yolov8-raw");
}

void test_decode__boxes_and_scores_of_a_level_in_any_order(void **state)
{
	for (int order = 0; order < 2; order++) {
		struct made m = made_new(CLASSES, 0);
		float *x = NULL, *p = NULL, *a, *b;
		for (int side = 8; side >= 2; side /= 2) {
			a = order ? add_output(&m, "box", END_LINEAR, SHAPE(1, side, side, 64), 0) : NULL;
			b = add_output(&m, "score", END_SIGMOID, SHAPE(1, side, side, CLASSES), 0);
			a = order ? a : add_output(&m, "box", END_LINEAR, SHAPE(1, side, side, 64), 0);
			x = side == 4 ? a : x;
			p = side == 4 ? b : p;
		}
		put_bins(x, CELL * 64, 1, 16, distances);
		p[CELL * CLASSES + 1] = .9f;
		check_one(&m, "yolov8-raw");
	}
}

void test_decode__plain_distances_of_a_one2one_head(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *x = add_output(&m, "rows", END_LINEAR, SHAPE(1, 4 + CLASSES, 84), -20);
	put(x, 64 + CELL, 84, distances, 4);
	x[(4 + 1) * 84 + 64 + CELL] = logit(.9f);
	m.h.one2one = true;
	check_one(&m, "one2one-raw");
}

void test_decode__a_score_that_is_nan_hides_no_other(void **state)
{
	for (int cell = 0; cell < 84; cell++) {
		struct made m = made_new(CLASSES, 0);
		float *x = add_output(&m, "rows", END_LINEAR, SHAPE(1, 4 + CLASSES, 84), -20);
		for (int c = 0; c < CLASSES; c++)
			x[(4 + c) * 84 + cell] = c == 1 ? logit(.9f) : NAN;
		m.h.one2one = true;
		made_find(&m, "one2one-raw");
		assert_int_equal(m.c.n, 1);
		assert_int_equal(m.c.at[0].class, 1);
		made_done(&m);
	}
}

// Class logits, and distances from the corner 32,32: in strides, or times the stride.
void test_decode__rtmdet_in_strides_and_in_pixels(void **state)
{
	static const float d[2][4] = {{12 / 16.f, 2 / 16.f, 12 / 16.f, 14 / 16.f}, {12, 2, 12, 14}};
	for (int pixels = 0; pixels < 2; pixels++) {
		struct made m = made_new(CLASSES, 0);
		float *x = NULL, *p = NULL, *score, *box;
		for (int side = 8; side >= 2; side /= 2) {
			score = add_output(&m, "cls", END_LINEAR, SHAPE(1, CLASSES, side, side), -20);
			box = add_output(&m, "dist", pixels ? END_OTHER | END_PRODUCT : END_LINEAR, SHAPE(1, 4, side, side), 0);
			p = side == 4 ? score : p;
			x = side == 4 ? box : x;
		}
		put(x, CELL, 16, d[pixels], 4);
		p[16 + CELL] = logit(.9f);
		m.h.rtmdet = true;
		check_one(&m, "rtmdet-raw");
	}
}

// Four levels, scores in front, centres at the corners of the cells: 32,32.
// PicoDet has four levels as NanoDet-Plus, boxes and scores apart, and counts from the middle of cells. Of an input of
// 320 x 320 its coarsest level has 25 rows, fewer than channels.
void test_decode__picodet(void **state)
{
	static const float box[4] = {20 / 64.f, 10 / 64.f, 4 / 64.f, 6 / 64.f}; // from 96,96, cell 1,1 of the stride 64
	struct made m = made_new(CLASSES, 0);
	float *x = NULL, *p = NULL;
	for (int stride = 8; stride <= 64; stride *= 2) {
		int n = (320 / stride) * (320 / stride);
		p = add_output(&m, "cls", END_SIGMOID, SHAPE(1, n, CLASSES), 0);
		x = add_output(&m, "dis", END_LINEAR, SHAPE(1, n, 32), 0);
	}
	m.h.input_w = m.h.input_h = 320;
	for (int i = 0; i < 32; i++)
		x[6 * 32 + i] = -60;
	put_bins(x, 6 * 32, 1, 8, box);
	p[6 * CLASSES + 1] = .9f;
	made_find(&m, "nanodet");
	assert_int_equal(m.c.n, 1);
	const struct candidate *c = &m.c.at[0];
	assert_true(fabsf(c->x1 - 76) < .05f && fabsf(c->y1 - 86) < .05f && fabsf(c->x2 - 100) < .05f && fabsf(c->y2 - 102) < .05f);
	made_done(&m);
}

void test_decode__nanodet_plus(void **state)
{
	static const float d[4] = {12 / 16.f, 2 / 16.f, 12 / 16.f, 14 / 16.f};
	struct made m = made_new(CLASSES, 0);
	float *x = add_output(&m, "rows", END_LINEAR | END_SIGMOID, SHAPE(1, 85, CLASSES + 32), 0);
	put_bins(x, (64 + CELL) * 35 + CLASSES, 1, 8, d);
	x[(64 + CELL) * 35 + 1] = .9f;
	check_one(&m, "nanodet-plus");
}

void test_decode__yolox_in_three_maps_a_level(void **state)
{
	static const float box[4] = {0, .375f, 0.405465108f, 0}; // log(24/16), log(16/16)
	struct made m = made_new(CLASSES, 0);
	float *x[3] = {0};
	for (int side = 8; side >= 2; side /= 2) {
		float *one[3] = {add_output(&m, "cls_preds", END_LINEAR, SHAPE(1, CLASSES, side, side), -20),
		    add_output(&m, "reg_preds", END_LINEAR, SHAPE(1, 4, side, side), 0),
		    add_output(&m, "obj_preds", END_LINEAR, SHAPE(1, 1, side, side), -20)};
		if (side == 4)
			memcpy(x, one, sizeof x);
	}
	x[0][16 + CELL] = logit(.9f / .95f);
	put(x[1], CELL, 16, box, 4);
	x[2][CELL] = logit(.95f);
	check_one(&m, "yolox-raw");
}

static const float fractions[4] = {32 / 64.f, 38 / 64.f, 24 / 64.f, 16 / 64.f};
static const float corners[4] = {20, 30, 44, 46};

void test_decode__queries_with_a_sigmoid_a_class(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *p = add_output(&m, "pred_logits", END_LINEAR, SHAPE(1, 10, CLASSES), -20);
	float *x = add_output(&m, "pred_boxes", END_SIGMOID, SHAPE(1, 10, 4), .5f);
	p[7 * CLASSES + 1] = logit(.9f);
	put(x, 7 * 4, 1, fractions, 4);
	check_one(&m, "detr");
}

void test_decode__queries_with_a_softmax_and_no_object(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *p = add_output(&m, "logits", END_LINEAR, SHAPE(1, 10, CLASSES + 1), 0);
	float *x = add_output(&m, "boxes", END_SIGMOID, SHAPE(1, 10, 4), .5f);
	for (int i = 0; i < 10; i++)
		p[i * 4 + 3] = 20;
	static const float logits[4] = {-3.40119738f, 0, -3.40119738f, -3.40119738f}; // 1/30 each beside 1: .909
	put(p, 7 * 4, 1, logits, 4);
	put(x, 7 * 4, 1, fractions, 4);
	made_find(&m, "detr");
	assert_int_equal(m.c.n, 1);
	assert_int_equal(m.c.at[0].class, 1);
	assert_true(fabsf(m.c.at[0].score - 1 / 1.1f) < 1e-4f);
	assert_int_equal(decode_classes(&m.b), CLASSES);
	made_done(&m);
}

void test_decode__rows_of_fractions(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *x = add_output(&m, "output0", END_OTHER | END_SIGMOID, SHAPE(1, 30, 4 + CLASSES), 0);
	put(x, 7 * 7, 1, fractions, 4);
	x[7 * 7 + 4 + 1] = .9f;
	check_one(&m, "rtdetr");
}

void test_decode__decoded_rows_with_and_without_objectness(void **state)
{
	static const float centred[4] = {32, 38, 24, 16};
	struct made m = made_new(CLASSES, 0);
	float *x = add_output(&m, "output", END_OTHER | END_SIGMOID, SHAPE(1, 252, 5 + CLASSES), 0);
	put(x, 100 * 8, 1, centred, 4);
	x[100 * 8 + 4] = .95f;
	x[100 * 8 + 5 + 1] = .9f / .95f;
	check_one(&m, "yolov5");

	m = made_new(CLASSES, 0);
	x = add_output(&m, "output0", END_OTHER | END_SIGMOID, SHAPE(1, 4 + CLASSES, 84), 0);
	put(x, 50, 84, centred, 4);
	x[5 * 84 + 50] = .9f;
	check_one(&m, "yolov8");

	m = made_new(CLASSES, 0);
	x = add_output(&m, "output0", END_OTHER | END_SIGMOID, SHAPE(1, 4 + CLASSES, 84), 0);
	put(x, 50, 84, corners, 4);
	x[5 * 84 + 50] = .9f;
	m.h.one2one = true;
	check_one(&m, "one2one");

	m = made_new(CLASSES, 0);
	float *p = add_output(&m, "scores", END_SIGMOID, SHAPE(1, CLASSES, 84), 0);
	x = add_output(&m, "boxes", END_OTHER, SHAPE(1, 4, 84), 0);
	put(x, 50, 84, centred, 4);
	p[84 + 50] = .9f;
	check_one(&m, "yolov8");
}

// Offsets from priors look like corners, and would be none.
void test_decode__ssd_before_its_priors_is_refused(void **state)
{
	struct error err = {0};
	struct made m = made_new(CLASSES, 0);
	add_output(&m, "loc", END_LINEAR, SHAPE(1, 100, 4), 0);
	add_output(&m, "conf", END_SOFTMAX, SHAPE(1, 100, CLASSES + 1), 0);
	assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_UNSUPPORTED);
	assert_int_equal(decode_find(&m.d, &m.h, "ssd", &err), STATUS_OK);
	made_done(&m);
}

// YOLO-NAS and PP-YOLOE without their NMS have corners where YOLOv8's boxes are centres and sizes: what most of the boxes
// say tells which.
void test_decode__boxes_beside_scores_may_be_corners(void **state)
{
	for (int kind = 0; kind < 2; kind++) {
		struct made m = made_new(CLASSES, 0);
		float *x = add_output(&m, "boxes", END_OTHER, SHAPE(1, 84, 4), 0),
		      *p = add_output(&m, "scores", END_SIGMOID, SHAPE(1, 84, CLASSES), 0);
		for (int i = 0; i < 84; i++) {
			float cx = (float)(i % 8) * 8 + 4, cy = (float)(i / 8 % 8) * 8 + 4, size = i == 50 ? 0 : 12;
			const float centred[4] = {cx, cy, size, size}, around[4] = {cx - size / 2, cy - size / 2, cx + size / 2, cy + size / 2};
			put(x, 4 * i, 1, kind ? around : centred, 4);
		}
		put(x, 4 * 50, 1, kind ? corners : (const float[]){32, 38, 24, 16}, 4);
		p[50 * CLASSES + 1] = .9f;
		check_one(&m, "yolov8");
	}
}

void test_decode__ssd_has_a_background_class(void **state)
{
	static const float v[4] = {20 / 64.f, 30 / 64.f, 44 / 64.f, 46 / 64.f};
	struct made m = made_new(CLASSES, 0);
	float *p = add_output(&m, "scores", END_SOFTMAX, SHAPE(1, 4420, 1 + CLASSES), 0);
	float *x = add_output(&m, "boxes", END_OTHER, SHAPE(1, 4420, 4), 0);
	for (int i = 0; i < 4420; i++)
		p[i * 4] = 1;
	p[9 * 4] = .1f;
	p[9 * 4 + 2] = .9f;
	put(x, 9 * 4, 1, v, 4);
	check_one(&m, "ssd");
}

void test_decode__rows_that_are_detections(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 300, 6), 0);
	put(x, 6, 1, (const float[]){20, 30, 44, 46, .9f, 1}, 6);
	check_one(&m, "end2end");
	m = made_new(CLASSES, 0);
	x = add_output(&m, "output", END_OTHER, SHAPE(5, 7), 0);
	put(x, 7, 1, (const float[]){0, 20, 30, 44, 46, 1, .9f}, 7);
	check_one(&m, "yolov7-nms");
	m = made_new(CLASSES, 0);
	x = add_output(&m, "multiclass_nms3_0.tmp_0", END_OTHER, SHAPE(11, 6), 0);
	put(x, 6, 1, (const float[]){1, .9f, 20, 30, 44, 46}, 6);
	check_one(&m, "paddle");
}

void test_decode__lists_of_boxes_scores_and_labels(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *n = add_output(&m, "num_dets", END_OTHER, SHAPE(1, 1), 1),
	      *x = add_output(&m, "det_boxes", END_OTHER, SHAPE(1, 100, 4), 50);
	float *p = add_output(&m, "det_scores", END_OTHER, SHAPE(1, 100), 0),
	      *l = add_output(&m, "det_classes", END_OTHER, SHAPE(1, 100), 0);
	(void)n;
	put(x, 0, 1, corners, 4);
	p[0] = .9f;
	l[0] = 1;
	check_one(&m, "final");

	m = made_new(CLASSES, 0);
	l = add_output(&m, "labels", END_OTHER, SHAPE(1, 100), 0);
	x = add_output(&m, "dets", END_OTHER, SHAPE(1, 100, 5), 0);
	put(x, 2 * 5, 1, (const float[]){20, 30, 44, 46, .9f}, 5);
	l[2] = 1;
	check_one(&m, "mmdet");

	m = made_new(CLASSES, 0);
	x = add_output(&m, "detection_boxes:0", END_OTHER, SHAPE(1, 10, 4), 0);
	l = add_output(&m, "detection_classes:0", END_OTHER, SHAPE(1, 10), 0);
	p = add_output(&m, "detection_scores:0", END_OTHER, SHAPE(1, 10), 0);
	add_output(&m, "num_detections:0", END_OTHER, SHAPE(1), 10);
	put(x, 4, 1, (const float[]){30 / 64.f, 20 / 64.f, 46 / 64.f, 44 / 64.f}, 4);
	p[1] = .9f;
	l[1] = 1;
	check_one(&m, "tf-ssd");
}

// ---- what cannot be

void test_decode__nan_and_infinity_are_no_boxes(void **state)
{
	struct made m = made_new(CLASSES, 0);
	float *x = add_output(&m, "output0", END_OTHER | END_SIGMOID, SHAPE(1, 4 + CLASSES, 84), NAN);
	put(x, 50, 84, (const float[]){32, 38, INFINITY, 16, .9f, .9f, .9f}, 7);
	made_find(&m, "yolov8");
	assert_int_equal(m.c.n, 0);
	made_done(&m);
}

void test_decode__a_head_of_no_family_is_an_error_that_shows_it(void **state)
{
	struct made m = made_new(CLASSES, 0);
	struct error err;
	add_output(&m, "mask", END_OTHER, SHAPE(1, 2, 60, 60), 0);
	assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "mask [1, 2, 60, 60]"));
	assert_int_equal(decode_find(&m.d, &m.h, "yolov8", &err), STATUS_UNSUPPORTED);
	assert_int_equal(decode_find(&m.d, &m.h, "yolo", &err), STATUS_NOTFOUND);
	assert_non_null(strstr(err.text, "nanodet"));
	made_done(&m);
}

static void read_more(const struct bound *b, const struct head *h, const struct candidate *c)
{
	const struct placement where = {
	    .image_w = 50, .image_h = 40, .input_w = SIDE, .input_h = SIDE, .scale_x = 1.2, .scale_y = 1.5, .pad_y = 2};
	static struct keypoint point[KEYPOINTS_MAX];
	struct rle mask;
	if (b->points)
		decode_points(point, b, h, c);
	if (!b->masks)
		return;
	decode_mask(&mask, b, h, c, &where);
	assert_true(rle_area(&mask) <= 50 * 40);
	rle_done(&mask);
}

// No shape may lead outside of the data or crash: all decoders over odd shapes.
// What they find are boxes above the threshold.
void test_decode__odd_shapes_never_reach_outside(void **state)
{
	struct support_random r = {3};
	int rows, found = 0;
	const struct decoder *d = decode_rows(&rows);
	for (int round = 0; round < 3000; round++) {
		struct made m = made_new(CLASSES, round % 3);
		int n = support_random_int(&r, 1, 6);
		for (int i = 0; i < n; i++) {
			static const int sizes[] = {1, 1, 2, 3, 4, 4, 6, 7, 8, 16, 24, 32, 64, 67, 84, 252};
			struct shape s = {.rank = support_random_int(&r, 0, 4)};
			for (int k = 0; k < s.rank; k++)
				s.dim[k] = k ? sizes[support_random_int(&r, 0, 15)] : 1;
			if (shape_count(&s) > 100000)
				s = SHAPE(1, 7, 84);
			float *x = add_output(&m, i % 2 ? "score" : "box", support_random_bits(&r) & 15, s, 0);
			support_random_floats(&r, x, (size_t)shape_count(&s), -1, 3);
		}
		m.h.any_classes = round & 1;
		m.h.named = round & 2;
		m.h.rotated = round & 4;
		m.h.segments = round & 8;
		for (int k = 0; k < rows; k++) {
			struct bound b;
			size_t before = m.c.n;
			if (!decode_bind(&b, &d[k], &m.h))
				continue;
			decode_run(&m.c, &d[k], &b, &m.h, .5);
			for (size_t c = before; c < m.c.n; c++)
				read_more(&b, &m.h, &m.c.at[c]);
		}
		for (size_t i = 0; i < m.c.n; i++) {
			const struct candidate *c = &m.c.at[i];
			assert_true(c->score > .5f && c->class >= 0 && isfinite(c->x1 + c->y1 + c->x2 + c->y2));
		}
		found += m.c.n > 0;
		made_done(&m);
	}
	assert_true(found > 0);
}

void test_decode__every_decoder_is_in_the_documentation(void **state)
{
	struct error err;
	struct bytes text;
	int n;
	const struct decoder *d = decode_rows(&n);
	assert_int_equal(file_read(&text, "docs/TASK.md", 1 << 20, &err), STATUS_OK);
	for (int i = 0; i < n; i++) {
		struct str name = {0};
		str_addf(&name, "`%s`", d[i].name);
		if (!strstr((const char *)text.data, str_text(&name)))
			fail_msg("docs/TASK.md does not mention %s", str_text(&name));
		str_done(&name);
	}
	bytes_done(&text);
}
