// Outputs of detectors made by hand, for an input of 64 x 64: what decoders make of them is known.
#ifndef TESTS_ANALYSIS_DECODE_CASE_H
#define TESTS_ANALYSIS_DECODE_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "../../src/analysis/task/decode/decode.h"
#include "qtui/base/mem.h"

enum { SIDE = 64 };

struct made {
	struct head h;
	struct head_output out[16];
	float *data[16];
	const struct decoder *d;
	struct bound b;
	struct candidates c;
};

// `classes` and `points`: what labels or metadata say.
static inline struct made made_new(int classes, int points)
{
	return (struct made){.h = {.hint = {classes}, .n_hints = 1, .points = points}};
}

static inline float *add_output(struct made *m, const char *name, unsigned ends, struct shape s, float value)
{
	int64_t n = shape_count(&s);
	float *x = m->data[m->h.n] = xcalloc((size_t)n, sizeof *x);
	for (int64_t i = 0; i < n; i++)
		x[i] = value;
	m->out[m->h.n++] = (struct head_output){.name = name, .type = DT_F32, .shape = s, .data = x, .ends = ends,
	    .boxes = head_is_box_name(name), .scores = head_is_score_name(name)};
	m->h.out = m->out;
	m->h.input_w = m->h.input_h = SIDE;
	return x;
}

#define SHAPE(...) shape_of(sizeof((int64_t[]){__VA_ARGS__}) / 8, (const int64_t[]){__VA_ARGS__})

static inline void made_done(struct made *m)
{
	for (int i = 0; i < m->h.n; i++)
		free(m->data[i]);
	candidates_done(&m->c);
}

static inline float logit(float p)
{
	return logf(p / (1 - p));
}

static inline void put(float *x, int64_t at, int64_t step, const float *v, int n)
{
	for (int i = 0; i < n; i++)
		x[at + i * step] = v[i];
}

// All the weight on two neighbouring bins: their mean is d.
static inline void put_bins(float *x, int64_t at, int64_t step, int bins, const float d[4])
{
	for (int side = 0; side < 4; side++)
		for (int i = 0; i < bins; i++) {
			float share = 1 - fabsf(d[side] - (float)i);
			x[at + (side * bins + i) * step] = share > 1e-6f ? logf(share) : -60;
		}
}

static inline void made_near(float a, double b)
{
	if (!(fabs((double)a - b) <= .02))
		fail_msg("%.9f is not %.9f", (double)a, b);
}

// Found by that decoder: one object of the class, 20,30 to 44,46 with the score .9; five keypoints, or none.
static inline void made_check(struct made *m, const char *decoder, int class, int points)
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
	made_near(c->x1, 20);
	made_near(c->y1, 30);
	made_near(c->x2, 44);
	made_near(c->y2, 46);
	made_near(c->score, .9);
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
		made_near(k[i].x, 22 + 3 * i);
		made_near(k[i].y, 40 - i);
		made_near(k[i].v, 1);
	}
	made_done(m);
}

#endif
