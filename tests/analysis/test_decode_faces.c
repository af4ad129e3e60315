// Detectors of faces, on outputs made by their formulas.
#include <math.h>
#include <string.h>
#include "decode_case.h"
#include "support.h"

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
			made_check(&m, "scrfd", 0, points);
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
			made_check(&m, "retinaface", 0, points);
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
	made_check(&m, "yunet", 0, 5);
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
		made_near(m.c.at[0].x1, 20);
		made_near(m.c.at[0].y2, 46);
		made_near(m.c.at[0].score, .9);
		struct keypoint k[6];
		assert_int_equal(m.b.points, 6);
		decode_points(k, &m.b, &m.h, &m.c.at[0]);
		made_near(k[0].x, 22);
		made_near(k[5].y, 40);
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
	made_check(&m, "yolov5-face", 0, 5);
	// Eleven classes are eleven classes.
	m = made_new(11, 0);
	float w[16] = {32, 38, 24, 16, .95f};
	w[7] = .9f / .95f;
	put(add_output(&m, "output", END_OTHER, SHAPE(1, 3 * 84, 16), 0), (3 * 64 + CELL) * 16, 1, w, 16);
	made_check(&m, "yolov5", 2, 0);
}
