// Detectors of faces, and YOLOv3 and v4, on outputs made by their formulas.
#include <math.h>
#include <string.h>
#include "decode_case.h"
#include "support.h"

static void near(float a, double b)
{
	if (!(fabs((double)a - b) <= .02))
		fail_msg("%.9f is not %.9f", (double)a, b);
}

// One object of the class, 20,30 to 44,46 with the score .9; five keypoints, or none.
static void check(struct made *m, const char *decoder, int class, int points)
{
	struct error err = {0};
	struct keypoint k[5];
	if (decode_find(&m->d, &m->h, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_string_equal(m->d->name, decoder);
	assert_true(decode_bind(&m->b, m->d, &m->h));
	decode_run(&m->c, m->d, &m->b, &m->h, .25);
	assert_int_equal(m->c.n, 1);
	const struct candidate *c = &m->c.at[0];
	assert_int_equal(c->class, class);
	near(c->x1, 20);
	near(c->y1, 30);
	near(c->x2, 44);
	near(c->y2, 46);
	near(c->score, .9);
	for (int above = 0; above < 2; above++) { // the limit just below its score, and just above
		struct candidates at = {0};
		decode_run(&at, m->d, &m->b, &m->h, (double)c->score * (above ? 1 + 1e-6 : 1 - 1e-6));
		assert_int_equal(at.n, !above);
		candidates_done(&at);
	}
	assert_int_equal(m->b.points, points);
	if (points)
		decode_points(k, &m->b, &m->h, c);
	for (int i = 0; i < points; i++) {
		near(k[i].x, 22 + 3 * i);
		near(k[i].y, 40 - i);
		near(k[i].v, 1);
	}
	made_done(m);
}

static void point_values(float v[10], float x, float y, float unit)
{
	for (int i = 0; i < 5; i++) {
		v[2 * i] = (22 + 3 * (float)i - x) / unit;
		v[2 * i + 1] = (40 - (float)i - y) / unit;
	}
}

// Cell 2,2 of the stride 16 (4 x 4 cells): its corner is 32,32.
enum { CELL = 2 * 4 + 2 };

// ---- faces

void test_decode_faces__scrfd(void **state)
{
	static const float distances[4] = {12 / 16.f, 2 / 16.f, 12 / 16.f, 14 / 16.f};
	for (int points = 0; points <= 5; points += 5)
		for (int batch = 0; batch < 2; batch++) { // [1, n, c] or [n, c]
			struct made m = made_new(1, 0);
			float v[10];
			point_values(v, 32, 32, 16);
			for (int kind = 0; kind < 2 + (points > 0); kind++)
				for (int stride = 8; stride <= 32; stride *= 2) {
					static const int channels[] = {1, 4, 10};
					int n = 2 * (SIDE / stride) * (SIDE / stride), c = channels[kind];
					float *x =
					    add_output(&m, "446", kind ? END_LINEAR : END_SIGMOID, batch ? SHAPE(1, n, c) : SHAPE(n, c), 0);
					if (stride == 16)
						put(x, (2 * CELL + 1) * c, 1, kind == 0 ? (const float[]){.9f} : kind == 1 ? distances : v, c);
				}
			check(&m, "scrfd", 0, points);
		}
}

void test_decode_faces__retinaface(void **state)
{
	static const int before = 2 * 64; // rows of stride 8
	const float prior = 128;          // the second of stride 16, around 40,40
	const float box[4] = {(32 - 40) / (.1f * prior), (38 - 40) / (.1f * prior), logf(24 / prior) / .2f, logf(16 / prior) / .2f};
	for (int points = 0; points <= 5; points += 5)
		for (int logits = 0; logits < 2; logits++) {
			const int row = before + 2 * CELL + 1, n = 2 * 84;
			struct made m = made_new(1, 0);
			float v[10];
			point_values(v, 40, 40, .1f * prior);
			put(add_output(&m, "loc", END_LINEAR, SHAPE(1, n, 4), 0), row * 4, 1, box, 4);
			float *score = add_output(&m, "conf", logits ? END_LINEAR : END_SOFTMAX, SHAPE(1, n, 2), 0);
			for (int i = 0; i < n; i++)
				score[2 * i] = logits ? 20 : 1;
			score[2 * row] = logits ? 0 : .1f;
			score[2 * row + 1] = logits ? logit(.9f) : .9f;
			if (points)
				put(add_output(&m, "landms", END_LINEAR, SHAPE(1, n, 10), 0), row * 10, 1, v, 10);
			check(&m, "retinaface", 0, points);
		}
}

void test_decode_faces__yunet(void **state)
{
	static const char *const names[] = {"cls_%d", "obj_%d", "bbox_%d", "kps_%d"};
	static const int channels[] = {1, 1, 4, 10};
	const float box[4] = {(32 - 32) / 16.f, (38 - 32) / 16.f, logf(24 / 16.f), logf(16 / 16.f)};
	struct made m = made_new(1, 0);
	float v[10];
	point_values(v, 32, 32, 16);
	for (int kind = 0; kind < 4; kind++)
		for (int stride = 8; stride <= 32; stride *= 2) {
			int c = channels[kind];
			float *x =
			    add_output(&m, names[kind], kind < 2 ? END_SIGMOID : END_LINEAR, SHAPE(1, (SIDE / stride) * (SIDE / stride), c), 0);
			if (stride == 16)
				put(x, CELL * c, 1,
				    kind == 0   ? (const float[]){.9f}
				    : kind == 1 ? (const float[]){.9f}
				    : kind == 2 ? box
				                : v,
				    c);
		}
	check(&m, "yunet", 0, 5);
}

// 16 x 16 cells of 4 pixels with two anchors, 8 x 8 of 8 pixels with six; in an output each, or one behind the other.
void test_decode_faces__blazeface(void **state)
{
	enum { FINE = 512, COARSE = 384, AT = 6 * (4 * 8 + 3) + 5 }; // cell 3,4: its centre is 28,36
	const float box[4] = {32 - 28, 38 - 36, 24, 16};
	for (int joined = 0; joined < 2; joined++) {
		struct made m = made_new(1, 0);
		struct error err = {0};
		int at = joined ? FINE + AT : AT;
		float *x, *p;
		if (!joined) {
			add_output(&m, "s16", END_LINEAR, SHAPE(1, FINE, 1), -50);
			add_output(&m, "b16", END_LINEAR, SHAPE(1, FINE, 16), 0);
		}
		p = add_output(&m, "s8", END_LINEAR, SHAPE(1, joined ? FINE + COARSE : COARSE, 1), -50);
		x = add_output(&m, "b8", END_LINEAR, SHAPE(1, joined ? FINE + COARSE : COARSE, 16), 0);
		p[at] = logit(.9f);
		put(x, at * 16, 1, box, 4);
		x[at * 16 + 4] = 22 - 28;
		x[at * 16 + 15] = 40 - 36;
		assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_OK);
		assert_string_equal(m.d->name, "blazeface");
		assert_true(decode_bind(&m.b, m.d, &m.h));
		decode_run(&m.c, m.d, &m.b, &m.h, .25);
		assert_int_equal(m.c.n, 1);
		near(m.c.at[0].x1, 20);
		near(m.c.at[0].y2, 46);
		near(m.c.at[0].score, .9);
		struct keypoint k[6];
		assert_int_equal(m.b.points, 6);
		decode_points(k, &m.b, &m.h, &m.c.at[0]);
		near(k[0].x, 22);
		near(k[5].y, 40);
		made_done(&m);
	}
}

void test_decode_faces__yolov5_face(void **state)
{
	struct made m = made_new(1, 0);
	float v[16] = {32, 38, 24, 16, .95f};
	point_values(v + 5, 0, 0, 1);
	v[15] = .9f / .95f;
	put(add_output(&m, "output", END_OTHER, SHAPE(1, 3 * 84, 16), 0), (3 * 64 + CELL) * 16, 1, v, 16);
	check(&m, "yolov5-face", 0, 5);
	// Eleven classes are eleven classes.
	m = made_new(11, 0);
	float w[16] = {32, 38, 24, 16, .95f};
	w[7] = .9f / .95f;
	put(add_output(&m, "output", END_OTHER, SHAPE(1, 3 * 84, 16), 0), (3 * 64 + CELL) * 16, 1, w, 16);
	check(&m, "yolov5", 2, 0);
}

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
		check(&m, decoder, 1, 0);
	}
}

void test_decode_faces__yolov3_and_v4_by_the_name_of_the_file(void **state)
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

void test_decode_faces__yolov2(void **state)
{
	yolov2("yolov2.onnx", NULL, 20, 5, (const float[]){161.78784f, 259.16544f});
	yolov2("tinyyolov2-8.onnx", NULL, 20, 5, (const float[]){212.16f, 364.16f});
	yolov2("yolov2-coco-9.onnx", NULL, 80, 5, (const float[]){106.82976f, 175.17888f});
	yolov2("mine.onnx", "yolov2-raw:1,2,3,4,50,60,7,8", 3, 4, (const float[]){50, 60});
}

// Scores of neighbours fall off from the centre: one box, though they are high too.
void test_decode_faces__centernet(void **state)
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
		check(&m, "centernet", 1, 0);
	}
}

// With two classes all fields look alike but for their names.
void test_decode_faces__centernet_of_two_classes(void **state)
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
void test_decode_faces__yolov3_tiny_by_its_levels(void **state)
{
	darknet("model.onnx", "yolov3-raw", 2, 1, (const float[]){10, 14});
	darknet(NULL, "yolov3-raw", 2, 1, (const float[]){10, 14});
}

void test_decode_faces__yolov4_decoded(void **state)
{
	static const float box[] = {20. / SIDE, 30. / SIDE, 44. / SIDE, 46. / SIDE};
	struct made m = made_new(3, 0);
	put(add_output(&m, "boxes", END_OTHER, SHAPE(1, 3 * 84, 1, 4), 0), 17 * 4, 1, box, 4);
	add_output(&m, "confs", END_OTHER, SHAPE(1, 3 * 84, 3), 0)[17 * 3 + 1] = .9f;
	check(&m, "yolov4", 1, 0);
}
