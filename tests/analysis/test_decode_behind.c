// What decoders find beside boxes and classes: keypoints, and masks and sums, which are passed over.
#include <math.h>
#include <string.h>
#include "decode_case.h"
#include "support.h"

static void near(float a, double b)
{
	if (!(fabs((double)a - b) <= .02))
		fail_msg("%.9f is not %.9f", (double)a, b);
}

static void bind(struct made *m, const char *decoder)
{
	struct error err = {0};
	if (decode_find(&m->d, &m->h, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_string_equal(m->d->name, decoder);
	assert_true(m->d->bind(&m->b, &m->h));
}

// One object of the last class, 20,30 to 44,46 with the score .9.
static void check_box(struct made *m, const char *decoder)
{
	bind(m, decoder);
	decode_run(&m->c, m->d, &m->b, &m->h, .25);
	nms_keep(&m->c, m->d->iou, 10);
	assert_int_equal(m->c.n, 1);
	const struct candidate *c = &m->c.at[0];
	assert_int_equal(c->class, m->h.hint[0] - 1);
	near(c->x1, 20);
	near(c->y1, 30);
	near(c->x2, 44);
	near(c->y2, 46);
	near(c->score, .9);
}

// Its keypoints are at 22,40 (sure) and 50,33 (not).
static void check_points(struct made *m, const char *decoder)
{
	struct keypoint k[2];
	check_box(m, decoder);
	assert_int_equal(m->b.points, 2);
	decode_points(k, &m->b, &m->h, &m->c.at[0]);
	near(k[0].x, 22);
	near(k[0].y, 40);
	near(k[0].v, .9);
	near(k[1].x, 50);
	near(k[1].y, 33);
	near(k[1].v, .1);
	made_done(m);
}

enum { ROWS = 64 + 16 + 4, CELL = 2 * 4 + 2, ROW = 64 + CELL }; // cell 2,2 of the stride 16

static const float points[6] = {22, 40, .9f, 50, 33, .1f};

void test_decode_behind__keypoints_of_decoded_rows(void **state)
{
	static const float box[] = {32, 38, 24, 16, .9f}, with_object[] = {32, 38, 24, 16, .95f, .9474f};
	for (int known = 0; known < 2; known++) { // by the metadata, by the labels
		struct made m = made_new(1, 2);
		m.h.extra = known ? 6 : 0;
		float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 11, ROWS), 0);
		put(x, ROW, ROWS, box, 5);
		put(x, 5 * ROWS + ROW, ROWS, points, 6);
		check_points(&m, "yolov8");
		m = made_new(1, 2);
		m.h.extra = known ? 6 : 0;
		x = add_output(&m, "output", END_OTHER, SHAPE(1, 3 * ROWS, 12), 0);
		put(x, ROW * 12, 1, with_object, 6);
		put(x, ROW * 12 + 6, 1, points, 6);
		check_points(&m, "yolov5");
	}
}

void test_decode_behind__keypoints_of_finished_rows(void **state)
{
	static const float row[] = {20, 30, 44, 46, .9f, 0};
	struct made m = made_new(1, 2);
	float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 30, 12), 0);
	put(x, 0, 1, row, 6);
	put(x, 6, 1, points, 6);
	check_points(&m, "end2end");
	m = made_new(1, 0);
	put(add_output(&m, "dets", END_OTHER, SHAPE(1, 3, 5), 0), 5, 1, row, 5);
	put(add_output(&m, "keypoints", END_OTHER, SHAPE(1, 3, 2, 3), 0), 6, 1, points, 6);
	check_points(&m, "rtmo");
}

// Distances in strides from the centre of the cell, 40,40.
static const float distances[4] = {20 / 16.f, 10 / 16.f, 4 / 16.f, 6 / 16.f};

static void put_distances(float *x, int bins)
{
	if (bins > 1)
		put_bins(x, CELL, 16, bins, distances);
	else
		put(x, CELL, 16, distances, 4);
}

// Twice the output from the corner of the cell where distances have bins, else the output from its centre.
void test_decode_behind__keypoints_of_raw_maps(void **state)
{
	for (int bins = 16; bins >= 1; bins -= 15) {
		struct made m = made_new(1, 2);
		const float gain = bins > 1 ? 2 : 1, from = bins > 1 ? 32 : 40;
		for (int side = 8; side >= 2; side /= 2) {
			float *box = add_output(&m, "box", END_LINEAR, SHAPE(1, 4 * bins, side, side), bins > 1 ? -60 : 0);
			float *score = add_output(&m, "score", END_LINEAR, SHAPE(1, 1, side, side), -20);
			float *point = add_output(&m, "kpt", END_LINEAR, SHAPE(1, 6, side, side), 0);
			if (side != 4)
				continue;
			put_distances(box, bins);
			score[CELL] = logit(.9f);
			for (int i = 0; i < 6; i++)
				point[i * 16 + CELL] = i % 3 == 2 ? logit(points[i]) : (points[i] - from) / 16 / gain;
		}
		check_points(&m, "yolov8-raw");
	}
}

// A level with boxes and scores apart has no keypoints to read, whatever the others have.
void test_decode_behind__keypoints_of_some_levels_are_none(void **state)
{
	struct made m = made_new(1, 2);
	struct error err = {0};
	for (int side = 8; side >= 2; side /= 2) {
		add_output(&m, "p", END_LINEAR, SHAPE(1, side == 8 ? 64 : 65, side, side), -20);
		add_output(&m, "q", END_LINEAR, SHAPE(1, side == 8 ? 1 : 6, side, side), 0);
	}
	assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_UNSUPPORTED);
	made_done(&m);
}

// RKNN's: of a level boxes, scores and their sum; of a pose boxes with scores behind, and the keypoints of all levels.
void test_decode_behind__sums_of_scores_are_passed_over(void **state)
{
	static const int bins[] = {16, 17, 1}; // YOLOv8 and 11, PP-YOLOE, YOLOv6
	for (size_t i = 0; i < 3; i++) {
		struct made m = made_new(3, 0);
		for (int side = 8; side >= 2; side /= 2) {
			float *box = add_output(&m, "reg", END_LINEAR, SHAPE(1, 4 * bins[i], side, side), bins[i] > 1 ? -60 : 0);
			float *score = add_output(&m, "cls", END_SIGMOID, SHAPE(1, 3, side, side), 0);
			float *sum = add_output(&m, "sum", END_OTHER, SHAPE(1, 1, side, side), 0);
			if (side != 4)
				continue;
			put_distances(box, bins[i]);
			score[2 * 16 + CELL] = sum[CELL] = .9f;
		}
		check_box(&m, "yolov8-raw");
		made_done(&m);
	}
}

void test_decode_behind__keypoints_of_all_levels_in_one_output(void **state)
{
	struct made m = made_new(1, 2);
	for (int side = 8; side >= 2; side /= 2) {
		float *x = add_output(&m, "p", END_LINEAR, SHAPE(1, 65, side, side), -20);
		if (side != 4)
			continue;
		put_distances(x, 16);
		x[64 * 16 + CELL] = logit(.9f);
	}
	put(add_output(&m, "points", END_OTHER, SHAPE(1, 2, 3, ROWS), 0), ROW, ROWS, points, 6);
	check_points(&m, "yolov8-raw");
}

// Coefficients of masks are as many as the prototypes: not a class more, and no objectness in front.
void test_decode_behind__masks_of_decoded_rows(void **state)
{
	static const float box[] = {32, 38, 24, 16};
	struct made m = made_new(80, 0);
	m.h.extra = 32;
	float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 4 + 80 + 32, 4 * ROWS), 0);
	add_output(&m, "output1", END_OTHER, SHAPE(1, 32, 32, 32), 0);
	m.h.input_w = m.h.input_h = 2 * SIDE;
	put(x, ROW, 4 * ROWS, box, 4);
	x[83 * 4 * ROWS + ROW] = .9f;
	x[90 * 4 * ROWS + ROW] = 5;
	check_box(&m, "yolov8");
	made_done(&m);
}

void test_decode_behind__masks_of_raw_maps(void **state)
{
	for (int sum = 0; sum < 2; sum++) {
		struct made m = made_new(3, 0);
		for (int side = 8; side >= 4; side /= 2) {
			float *box = add_output(&m, "box", END_LINEAR, SHAPE(1, 64, side, side), -60);
			float *score = add_output(&m, "score", END_SIGMOID, SHAPE(1, 3, side, side), 0);
			if (sum)
				add_output(&m, "sum", END_OTHER, SHAPE(1, 1, side, side), 0);
			add_output(&m, "mask", END_LINEAR, SHAPE(1, 32, side, side), 1);
			if (side == 4) {
				put_distances(box, 16);
				score[2 * 16 + CELL] = .9f;
			}
		}
		add_output(&m, "proto", END_OTHER, SHAPE(1, 32, 16, 16), 1);
		check_box(&m, "yolov8-raw");
		made_done(&m);
	}
}
