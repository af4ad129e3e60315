// What decoders find beside boxes and classes: keypoints and masks, and sums, which are passed over.
#include <math.h>
#include <string.h>
#include "decode_case.h"
#include "qtui/engine/data.h"
#include "support.h"

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
	made_near(c->x1, 20);
	made_near(c->y1, 30);
	made_near(c->x2, 44);
	made_near(c->y2, 46);
	made_near(c->score, .9);
}

// Its keypoints are at 22,40 (sure) and 50,33 (not).
static void check_points(struct made *m, const char *decoder)
{
	struct keypoint k[2];
	check_box(m, decoder);
	assert_int_equal(m->b.points, 2);
	decode_points(k, &m->b, &m->h, &m->c.at[0]);
	made_near(k[0].x, 22);
	made_near(k[0].y, 40);
	made_near(k[0].v, .9);
	made_near(k[1].x, 50);
	made_near(k[1].y, 33);
	made_near(k[1].v, .1);
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

// Where the boxes are fractions of the input, so are the keypoints.
void test_decode_behind__keypoints_as_fractions(void **state)
{
	static const float row[] = {20. / SIDE, 30. / SIDE, 44. / SIDE, 46. / SIDE, .9f, 0};
	static const float fractions[] = {22. / SIDE, 40. / SIDE, .9f, 50. / SIDE, 33. / SIDE, .1f};
	struct made m = made_new(1, 2);
	float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 30, 12), 0);
	put(x, 0, 1, row, 6);
	put(x, 6, 1, fractions, 6);
	check_points(&m, "end2end");
}

// A network that is ruined says what is no number: that is a place where nothing is, not the end of the figures.
void test_decode_behind__keypoints_that_are_no_numbers(void **state)
{
	static const float row[] = {20, 30, 44, 46, .9f, 0, NAN, 40, .9f, 50, INFINITY, NAN};
	struct made m = made_new(1, 2);
	struct keypoint k[2];
	put(add_output(&m, "output0", END_OTHER, SHAPE(1, 30, 12), 0), 0, 1, row, 12);
	check_box(&m, "end2end");
	decode_points(k, &m.b, &m.h, &m.c.at[0]);
	for (int i = 0; i < 2; i++)
		assert_true(k[i].x == 0 && k[i].y == 0);
	made_done(&m);
}

// A box that is turned by 30 degrees, such that the one around it is 24 x 16.
void test_decode_behind__rotated_boxes(void **state)
{
	const float angle = 3.14159265f / 6, w = (24 * cosf(angle) - 16 * sinf(angle)) / cosf(2 * angle),
	            h = (16 * cosf(angle) - 24 * sinf(angle)) / cosf(2 * angle);
	const float box[] = {32, 38, w, h, 0, .9f, angle}, finished[] = {32, 38, w, h, .9f, 1, angle};
	struct made m = made_new(2, 0);
	m.h.rotated = true;
	put(add_output(&m, "output0", END_OTHER, SHAPE(1, 7, ROWS), 0), ROW, ROWS, box, 7);
	check_box(&m, "yolov8-obb");
	// Suppression goes by how the box itself is spread, not by the one around it.
	double along = (double)(w * w) / 12, across = (double)(h * h) / 12;
	assert_float_equal(m.c.at[0].xx, along * .75 + across * .25, 1e-3);
	assert_float_equal(m.c.at[0].yy, along * .25 + across * .75, 1e-3);
	assert_float_equal(m.c.at[0].xy, (along - across) * sqrt(.75) / 2, 1e-3);
	made_done(&m);
	m = made_new(2, 0);
	m.h.rotated = true;
	put(add_output(&m, "output0", END_OTHER, SHAPE(1, 30, 7), 0), 14, 1, finished, 7);
	check_box(&m, "end2end-obb");
	made_done(&m);
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

// ---- masks: of the prototypes the first is 1 and the second the distance from the left edge

enum { MASKS = 6, PROTO = 16 }; // prototypes, cells a side

static void add_prototypes(struct made *m, bool last)
{
	float *x = add_output(m, "proto", END_OTHER, last ? SHAPE(1, PROTO, PROTO, MASKS) : SHAPE(1, MASKS, PROTO, PROTO), 0);
	for (int i = 0; i < PROTO * PROTO; i++) {
		x[last ? i * MASKS : i] = 1;
		x[last ? i * MASKS + 1 : PROTO * PROTO + i] = (float)(i % PROTO) * 4 + 2;
	}
}

// The right half of the box, from 32 on.
static const float coefficients[MASKS] = {-32, 1};

static void check_mask(struct made *m, const char *decoder)
{
	const struct placement where = {.image_w = SIDE, .image_h = SIDE, .scale_x = 1, .scale_y = 1};
	struct rle mask;
	check_box(m, decoder);
	assert_true(decode_bind(&m->b, m->d, &m->h));
	assert_int_equal(m->b.masks, MASKS_SUMS);
	assert_int_equal(m->b.maps.map.channels, MASKS);
	decode_mask(&mask, &m->b, &m->h, &m->c.at[0], &where);
	for (int i = 0; i < SIDE * SIDE; i++) {
		int x = i % SIDE, y = i / SIDE;
		bool edge = x == 44 || y == 30 || y == 46; // a last bit of the box decides
		if (!edge && rle_has(&mask, x, y) != (x >= 32 && x < 44 && y >= 30 && y < 46))
			fail_msg("%s: pixel %d,%d", decoder, x, y);
	}
	rle_done(&mask);
	made_done(m);
}

// Coefficients are as many as the prototypes: not a class more, and no objectness in front.
void test_decode_behind__masks_of_decoded_rows(void **state)
{
	static const float box[] = {32, 38, 24, 16, 0, .9f}, with_object[] = {32, 38, 24, 16, .95f, 0, .9474f};
	for (int kind = 0; kind < 4; kind++) { // by the metadata, by the labels, prototypes with channels last, neither metadata nor labels
		struct made m = made_new(2, 0);
		m.h.segments = kind == 0;
		float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 6 + MASKS, ROWS), 0);
		put(x, ROW, ROWS, box, 6);
		put(x, 6 * ROWS + ROW, ROWS, coefficients, MASKS);
		add_prototypes(&m, kind == 2);
		m.h.n_hints = kind < 3;
		check_mask(&m, "yolov8");
		m = made_new(2, 0);
		m.h.segments = kind == 0;
		x = add_output(&m, "output", END_OTHER, SHAPE(1, 3 * ROWS, 7 + MASKS), 0);
		put(x, ROW * (7 + MASKS), 1, with_object, 7);
		put(x, ROW * (7 + MASKS) + 7, 1, coefficients, MASKS);
		add_prototypes(&m, kind == 2);
		check_mask(&m, "yolov5"); // so few rows of unknown classes would be queries
	}
}

// Boxes, scores and coefficients as an output each.
void test_decode_behind__masks_of_rows_apart(void **state)
{
	static const float box[] = {32, 38, 24, 16};
	struct made m = made_new(2, 0);
	put(add_output(&m, "boxes", END_OTHER, SHAPE(1, 4, ROWS), 0), ROW, ROWS, box, 4);
	add_output(&m, "scores", END_SIGMOID, SHAPE(1, 2, ROWS), 0)[ROWS + ROW] = .9f;
	put(add_output(&m, "coefficients", END_LINEAR, SHAPE(1, MASKS, ROWS), 0), ROW, ROWS, coefficients, MASKS);
	add_prototypes(&m, false);
	check_mask(&m, "yolov8");
}

void test_decode_behind__masks_of_finished_rows(void **state)
{
	static const float row[] = {20, 30, 44, 46, .9f, 1};
	struct made m = made_new(2, 0);
	float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 30, 6 + MASKS), 0);
	put(x, 0, 1, row, 6);
	put(x, 6, 1, coefficients, MASKS);
	add_prototypes(&m, false);
	check_mask(&m, "end2end");
}

// An object whose coefficients are no numbers has no pixels.
void test_decode_behind__masks_that_are_no_numbers(void **state)
{
	static const float row[] = {20, 30, 44, 46, .9f, 1, NAN, INFINITY};
	const struct placement where = {.image_w = SIDE, .image_h = SIDE, .scale_x = 1, .scale_y = 1};
	struct made m = made_new(2, 0);
	struct rle mask;
	put(add_output(&m, "output0", END_OTHER, SHAPE(1, 30, 6 + MASKS), 0), 0, 1, row, 8);
	add_prototypes(&m, false);
	check_box(&m, "end2end");
	assert_true(decode_bind(&m.b, m.d, &m.h));
	decode_mask(&mask, &m.b, &m.h, &m.c.at[0], &where);
	assert_int_equal(rle_area(&mask), 0);
	rle_done(&mask);
	made_done(&m);
}

// Coefficients as an output of each level, with sums of scores (RKNN) and without, or behind the scores.
void test_decode_behind__masks_of_raw_maps(void **state)
{
	enum { APART, SUMS, BEHIND };
	for (int form = APART; form <= BEHIND; form++) {
		struct made m = made_new(3, 0);
		for (int side = 8; side >= 2; side /= 2) {
			int cells = side * side, channels = form == BEHIND ? 67 + MASKS : 64;
			float *box = add_output(&m, "box", END_LINEAR, SHAPE(1, channels, side, side), -60), *score = box + 64 * cells,
			      *mask = score + 3 * cells;
			if (form != BEHIND)
				score = add_output(&m, "score", END_SIGMOID, SHAPE(1, 3, side, side), 0);
			if (form == SUMS)
				add_output(&m, "sum", END_OTHER, SHAPE(1, 1, side, side), 0);
			if (form != BEHIND)
				mask = add_output(&m, "mask", END_LINEAR, SHAPE(1, MASKS, side, side), 1);
			if (side != 4)
				continue;
			put_distances(box, 16);
			score[2 * 16 + CELL] = form == BEHIND ? logit(.9f) : .9f;
			put(mask, CELL, 16, coefficients, MASKS);
		}
		add_prototypes(&m, false);
		check_mask(&m, "yolov8-raw");
	}
}

// Three anchors a cell: an output of coefficients beside that of the boxes (RKNN), or behind the classes of each anchor.
void test_decode_behind__masks_of_anchors(void **state)
{
	for (int behind = 0; behind < 2; behind++) {
		struct made m = made_new(2, 0);
		const float row[] = {
		    logit(.25f), logit(.4375f), logit(sqrtf(24 / 30.f) / 2), logit(sqrtf(16 / 61.f) / 2), logit(.95f), -20, logit(.9474f)};
		for (int side = 8; side >= 2; side /= 2) {
			float *x = add_output(&m, "maps", END_LINEAR, SHAPE(1, 3 * (7 + behind * MASKS), side, side), -20),
			      *mask = x + 7 * side * side;
			if (!behind)
				mask = add_output(&m, "coefficients", END_LINEAR, SHAPE(1, 3 * MASKS, side, side), 0);
			if (side != 4)
				continue;
			put(x, CELL, 16, row, 7);
			put(mask, CELL, 16, coefficients, MASKS);
		}
		add_prototypes(&m, false);
		check_mask(&m, "yolov5-raw");
	}
}

// Where the picture lies in the input with padding beside it, and is larger: brute force over its pixels.
void test_decode_behind__masks_of_pictures_of_any_size(void **state)
{
	static const struct placement places[] = {
	    {.image_w = 100, .image_h = 50, .scale_x = .64, .scale_y = .64, .pad_y = 16},
	    {.image_w = 17, .image_h = 40, .scale_x = 1.6, .scale_y = 1.6, .pad_x = 18.4},
	    {.image_w = 64, .image_h = 64, .scale_x = 1, .scale_y = 1},
	    {.image_w = 200, .image_h = 90, .scale_x = .32, .scale_y = 64 / 90.},
	    {.image_w = 90, .image_h = 80, .scale_x = .9, .scale_y = .9, .pad_x = -8.5, .pad_y = -4}, // cropped
	};
	struct made m = made_new(1, 0);
	float *x = add_output(&m, "output0", END_OTHER, SHAPE(1, 5 + 2, ROWS), 0);
	float *proto = add_output(&m, "proto", END_OTHER, SHAPE(1, 2, PROTO, PROTO), 0);
	x[5 * ROWS] = 1;
	x[6 * ROWS] = -.5f;
	for (int i = 0; i < 2 * PROTO * PROTO; i++)
		proto[i] = sinf((float)(i * i % 97));
	bind(&m, "yolov8");
	assert_true(decode_bind(&m.b, m.d, &m.h));
	for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
		const struct placement *to = &places[p];
		struct candidate c = {.x1 = -3, .y1 = 10.3f, .x2 = 50.5f, .y2 = 70};
		struct rle mask;
		decode_mask(&mask, &m.b, &m.h, &c, to);
		for (int i = 0; i < to->image_w * to->image_h; i++) {
			const double at[2] = {(double)(i % to->image_w), (double)(i / to->image_w)}, scale[2] = {to->scale_x, to->scale_y},
			             pad[2] = {to->pad_x, to->pad_y};
			const double box[4] = {(double)c.x1, (double)c.y1, (double)c.x2, (double)c.y2}, size[2] = {to->image_w, to->image_h};
			bool inside = true;
			int cell[2], next[2];
			double part[2], sum = 0;
			for (int k = 0; k < 2; k++) {
				double first = fmax(0, floor(pad[k] / 4 + .5)),
				       last = fmin(PROTO, floor((pad[k] + size[k] * scale[k]) / 4 + .5)) - 1;
				double u = fmin(fmax(((at[k] + .5) * scale[k] + pad[k]) / 4 - .5, first), last);
				inside = inside && at[k] >= (box[k] - pad[k]) / scale[k] && at[k] < (box[2 + k] - pad[k]) / scale[k];
				cell[k] = (int)u;
				next[k] = u < last ? cell[k] + 1 : cell[k];
				part[k] = u - cell[k];
			}
			for (int k = 0; k < 2; k++) {
				const float *q = proto + k * PROTO * PROTO;
				double top =
				    (double)q[cell[1] * PROTO + cell[0]] * (1 - part[0]) + (double)q[cell[1] * PROTO + next[0]] * part[0];
				double low =
				    (double)q[next[1] * PROTO + cell[0]] * (1 - part[0]) + (double)q[next[1] * PROTO + next[0]] * part[0];
				sum += (k ? -.5 : 1) * (top * (1 - part[1]) + low * part[1]);
			}
			if (fabs(sum) > 1e-5 && rle_has(&mask, (int)at[0], (int)at[1]) != (inside && sum > 0))
				fail_msg("place %zu, pixel %g,%g: %g", p, at[0], at[1], sum);
		}
		assert_true(rle_area(&mask) > 20);
		rle_done(&mask);
	}
	made_done(&m);
}
