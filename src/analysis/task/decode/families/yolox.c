// YOLOX before decoding: centre = (offset + cell) * stride, size = exp(v) * stride. One output (or one a level) with
// box, objectness and classes, or three a level.
#include <math.h>
#include "../decode_family.h"

// Which of a level's three fields is which: 4 channels, 1 channel, and the classes.
static bool bind_three(struct source *s, const struct head *h, const struct level *l)
{
	s->box = s->object = s->score = FIELD_NONE;
	for (int i = 0; i < 3; i++) {
		const struct field *f = &l->field[i];
		bool score = h->out[f->output].scores;
		if (f->channels == 4 && s->box.output < 0 && !score)
			s->box = *f;
		else if (f->channels == 1 && s->object.output < 0 && !score)
			s->object = *f;
		else if (decode_pick_classes(h, f, 0) > 0)
			s->score = *f;
	}
	return s->box.output >= 0 && s->object.output >= 0 && s->score.output >= 0 &&
	       head_ends(h, s->box.ends, END_LINEAR);
}

static bool bind_one(struct source *s, const struct head *h, const struct level *l)
{
	const struct field *f = &l->field[0];
	int classes = decode_pick_classes(h, f, 5);
	if (classes < 0 || !head_ends(h, f->ends, END_LINEAR | END_SIGMOID))
		return false;
	s->box = field_part(f, 0, 4);
	s->object = field_part(f, 4, 1);
	s->score = field_part(f, 5, classes);
	return true;
}

bool yolox_bind(struct bound *b, const struct head *h)
{
	struct levels l;
	*b = (struct bound){0};
	if (!head_levels(&l, h) || (l.n < 2 && !h->named)) // one level is another family's (FastestDet)
		return false;
	for (b->n = 0; b->n < l.n; b->n++) {
		const struct level *level = &l.level[b->n];
		struct source *s = &b->source[b->n];
		*s = (struct source){.stride = level->stride,
		    .w = level->w,
		    .n = (int64_t)level->w * level->h,
		    .anchors = 1,
		    .label = FIELD_NONE};
		bool bound =
		    level->n_fields == 3 ? bind_three(s, h, level) : level->n_fields == 1 && bind_one(s, h, level);
		if (!bound || s->box.anchors != 1)
			return false;
	}
	b->object = decode_squash(&b->source[0].object);
	b->score = decode_squash(&b->source[0].score);
	return true;
}

void yolox_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	(void)b, (void)anchor;
	float stride = (float)s->stride, v[4];
	for (int c = 0; c < 4; c++)
		v[c] = field_get(h, &s->box, 0, cell, c);
	decode_from_centre(out, (v[0] + (float)(cell % s->w)) * stride, (v[1] + (float)(cell / s->w)) * stride,
	    expf(v[2]) * stride, expf(v[3]) * stride);
}
