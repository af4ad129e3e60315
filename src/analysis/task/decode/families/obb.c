// Rotated boxes of Ultralytics: centre, size and an angle.
#include <math.h>
#include "../../metric/rotated.h"
#include "../decode_family.h"

static bool wanted(const struct head *h)
{
	return h->named || h->rotated;
}

static struct bound rows(const struct field *f, int64_t n, int angle)
{
	struct bound b = {
	    .n = 1, .rotated = true, .points = ROTATED_CORNERS, .source = {{.n = n, .anchors = 1, .object = FIELD_NONE, .label = FIELD_NONE}}};
	b.source[0].box = field_part(f, 0, 4);
	b.source[0].angle = field_part(f, angle, 1);
	return b;
}

// All cells of a pyramid, the angle behind the classes.
bool obb_bind(struct bound *b, const struct head *h)
{
	struct field f;
	int64_t n;
	for (int i = 0; i < h->n && wanted(h); i++) {
		int classes = head_rows(&f, &n, h, i, 0) && f.channels > 5 && n > f.channels ? f.channels - 5 : -1;
		if (classes < 0 || !head_fits(h, classes))
			continue;
		*b = rows(&f, n, 4 + classes);
		b->source[0].score = field_part(&f, 4, classes);
		b->score = decode_squash(&b->source[0].score);
		return true;
	}
	return false;
}

// Finished: score and class behind the box, then the angle.
bool obb_bind_rows7(struct bound *b, const struct head *h)
{
	enum { ROW = 7 };
	struct field f;
	int64_t n;
	for (int i = 0; i < h->n && wanted(h); i++) {
		const struct shape *s = &h->out[i].shape;
		if (s->rank != 3 || s->dim[2] != ROW || !head_rows(&f, &n, h, i, ROW))
			continue;
		*b = rows(&f, n, 6);
		b->source[0].score = field_part(&f, 4, 1);
		b->source[0].label = field_part(&f, 5, 1);
		return true;
	}
	return false;
}

// The box around it.
void obb_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	float v[4], angle = field_get(h, &s->angle, anchor, cell, 0);
	float c = fabsf(cosf(angle)), sine = fabsf(sinf(angle));
	(void)b;
	for (int i = 0; i < 4; i++)
		v[i] = field_get(h, &s->box, anchor, cell, i);
	decode_from_centre(out, v[0], v[1], v[2] * c + v[3] * sine, v[2] * sine + v[3] * c);
}
