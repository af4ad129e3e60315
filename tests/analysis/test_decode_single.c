// Keypoints of the only object: lines along both axes, maps, coordinates. Three are at 10,20, at 50,33 and at 0,63 of 64 x 64.
#include <math.h>
#include "decode_case.h"
#include "support.h"

enum { K = 3 };

static const float places[K][2] = {{10, 20}, {50, 33}, {0, 63}}, sure[K] = {.9f, .6f, .3f};

static void bind(struct made *m, const char *decoder)
{
	struct error err = {0};
	if (decode_find(&m->d, &m->h, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_string_equal(m->d->name, decoder);
	assert_true(decode_bind(&m->b, m->d, &m->h));
	assert_int_equal(m->b.points, K);
	assert_int_equal(decode_classes(&m->b), 1);
}

// One object in all of the input, with these keypoints to a part of a pixel.
static void check(struct made *m, const char *decoder, double off, bool says_how_sure)
{
	struct keypoint k[K];
	bind(m, decoder);
	decode_run(&m->c, m->d, &m->b, &m->h, .001);
	assert_int_equal(m->c.n, 1);
	assert_float_equal(m->c.at[0].score, says_how_sure ? .6f : 1, 1e-6);
	assert_float_equal(m->c.at[0].x2 - m->c.at[0].x1, SIDE, 0);
	decode_points(k, &m->b, &m->h, &m->c.at[0]);
	for (int i = 0; i < K; i++) {
		if (!(fabsf(k[i].x - places[i][0]) <= (float)off && fabsf(k[i].y - places[i][1]) <= (float)off))
			fail_msg("%s: keypoint %d at %g,%g", decoder, i, (double)k[i].x, (double)k[i].y);
		assert_float_equal(k[i].v, says_how_sure ? sure[i] : 1, 1e-6);
	}
	made_done(m);
}

// As sure as the less sure axis.
static void add_lines(struct made *m, const char *name, int axis, int times)
{
	float *x = add_output(m, name, END_LINEAR, SHAPE(1, K, SIDE * times), -.1f);
	for (int i = 0; i < K; i++)
		x[i * SIDE * times + (int)places[i][axis] * times] = sure[i] + (i % 2 == axis ? .05f : 0);
}

void test_decode_single__lines(void **state)
{
	for (int times = 1; times <= 4; times++) {
		struct made m = made_new(80, 0);
		add_lines(&m, "simcc_x", 0, times);
		add_lines(&m, "simcc_y", 1, times);
		check(&m, "simcc", 0, true);
	}
	struct made m = made_new(80, 0); // by the names, where both are as long
	add_lines(&m, "simcc_y", 1, 2);
	add_lines(&m, "simcc_x", 0, 2);
	check(&m, "simcc", 0, true);
	m = made_new(80, 0); // by their lengths
	add_output(&m, "a", END_LINEAR, SHAPE(1, K, 2 * SIDE), 0);
	add_output(&m, "b", END_LINEAR, SHAPE(1, K, SIDE), 0);
	m.h.input_w = SIDE / 2;
	bind(&m, "simcc");
	assert_int_equal(m.b.single.x.output, 1);
	assert_int_equal(m.b.single.w, SIDE);
	made_done(&m);
}

// The second highest cell draws a quarter of a cell, but at the border.
void test_decode_single__maps(void **state)
{
	enum { CELLS = SIDE / 4 };
	for (int by_name = 0; by_name < 2; by_name++) {
		struct made m = made_new(80, by_name ? 0 : K);
		float *map = add_output(&m, by_name ? "heatmaps" : "output", END_LINEAR, SHAPE(1, K, CELLS, CELLS), 0);
		for (int i = 0; i < K; i++, map += CELLS * CELLS) {
			int x = (int)places[i][0] / 4, y = (int)places[i][1] / 4;
			map[y * CELLS + x] = sure[i];
			if (i == 0)
				map[y * CELLS + x + 1] = map[(y - 1) * CELLS + x] = .2f;
		}
		bind(&m, "heatmap");
		struct keypoint k[K];
		decode_single(k, &m.b, &m.h);
		assert_float_equal(k[0].x, 9, 0); // cell 2 and a quarter
		assert_float_equal(k[0].y, 19, 0);
		assert_float_equal(k[2].x, 0, 0);
		assert_float_equal(k[2].y, 60, 0);
		check(&m, "heatmap", 3, true);
	}
}

void test_decode_single__coordinates(void **state)
{
	enum { ROWS, FLAT, FRACTIONS };
	for (int form = ROWS; form <= FRACTIONS; form++)
		for (int dims = 2; dims <= 3; dims++) {
			struct made m = made_new(80, K);
			float *x = add_output(&m, "out", END_LINEAR, form == FLAT ? SHAPE(1, K * dims) : SHAPE(1, K, dims), 0);
			for (int i = 0; i < K; i++) {
				for (int axis = 0; axis < 2; axis++)
					x[i * dims + axis] = places[i][axis] / (form == FRACTIONS ? SIDE : 1);
				if (dims == 3)
					x[i * dims + 2] = sure[i];
			}
			check(&m, "landmarks", 1e-4, dims == 3);
		}
}

// y, x and how sure, as fractions: of one person, or of six with a box each, of which only the second is there.
void test_decode_single__movenet(void **state)
{
	enum { PERSON = 17, ROW = PERSON * 3 + 5 };
	for (int people = 1; people <= 6; people += 5) {
		struct made m = made_new(80, 0);
		struct error err;
		struct keypoint k[PERSON];
		float *x = add_output(&m, "output_0", END_OTHER, people == 1 ? SHAPE(1, 1, PERSON, 3) : SHAPE(1, 6, ROW), 0);
		x += people == 1 ? 0 : ROW;
		for (int i = 0; i < PERSON; i++) {
			x[i * 3] = (10 + (float)i) / SIDE;
			x[i * 3 + 1] = (40 - (float)i) / SIDE;
			x[i * 3 + 2] = .5f;
		}
		if (people > 1)
			put(x, PERSON * 3, 1, (const float[]){10.f / SIDE, 20.f / SIDE, 30.f / SIDE, 50.f / SIDE, .7f}, 5);
		assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_OK);
		assert_string_equal(m.d->name, people == 1 ? "movenet" : "movenet-multipose");
		assert_true(decode_bind(&m.b, m.d, &m.h));
		decode_run(&m.c, m.d, &m.b, &m.h, .001);
		assert_int_equal(m.c.n, 1);
		assert_float_equal(m.c.at[0].score, people == 1 ? .5f : .7f, 1e-6);
		assert_float_equal(m.c.at[0].x1, people == 1 ? 0 : 20, 1e-4);
		assert_float_equal(m.c.at[0].y2, people == 1 ? SIDE : 30, 1e-4);
		decode_points(k, &m.b, &m.h, &m.c.at[0]);
		for (int i = 0; i < PERSON; i++) {
			assert_float_equal(k[i].x, 40 - i, 1e-3);
			assert_float_equal(k[i].y, 10 + i, 1e-3);
			assert_float_equal(k[i].v, .5f, 0);
		}
		made_done(&m);
	}
}

// Without labels the user names the decoder: 136 numbers are 68 places, 63 are 21 of three.
void test_decode_single__how_many_coordinates(void **state)
{
	static const struct {
		int numbers, points, dims;
	} rows[] = {{136, 68, 2}, {63, 21, 3}, {10, 5, 2}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct made m = made_new(80, 0);
		struct error err;
		add_output(&m, "landmarks", END_LINEAR, SHAPE(1, rows[i].numbers), .5f);
		assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_UNSUPPORTED);
		assert_int_equal(decode_find(&m.d, &m.h, "landmarks", &err), STATUS_OK);
		assert_true(decode_bind(&m.b, m.d, &m.h));
		assert_int_equal(m.b.points, rows[i].points);
		assert_int_equal(m.b.single.x.channel, rows[i].dims);
		made_done(&m);
	}
}

// Maps of classes are none of keypoints, unless somebody says so; what is no number is nowhere.
void test_decode_single__what_is_none(void **state)
{
	struct made m = made_new(80, 0);
	struct error err;
	add_output(&m, "logits", END_LINEAR, SHAPE(1, K, SIDE / 4, SIDE / 4), 0);
	assert_int_equal(decode_find(&m.d, &m.h, NULL, &err), STATUS_UNSUPPORTED);
	assert_int_equal(decode_find(&m.d, &m.h, "heatmap", &err), STATUS_OK);
	made_done(&m);
	m = made_new(80, 0);
	add_output(&m, "simcc_x", END_LINEAR, SHAPE(1, K, 2 * SIDE), NAN);
	add_output(&m, "simcc_y", END_LINEAR, SHAPE(1, K, 2 * SIDE), .5f);
	bind(&m, "simcc");
	decode_run(&m.c, m.d, &m.b, &m.h, .001);
	assert_int_equal(m.c.n, 0);
	made_done(&m);
}
