// CenterNet: of each cell of 4 pixels class scores, a size and an offset of the centre, in cells. A box is where a score is as high
// as any around it.
#include "../decode_family.h"
#include "qtui/base/str.h"

enum { STRIDE = 4, FIELDS = 3, PAIR = 2 };

static bool is_offset_name(const char *name)
{
	return str_glob("*reg*", name) || str_glob("*off*", name);
}

static bool is_score_name(const char *name)
{
	return str_glob("*hm*", name) || str_glob("*heat*", name);
}

// The sizes come first unless the names say otherwise.
bool centernet_bind(struct bound *b, const struct head *h)
{
	struct levels l;
	const struct field *pair[PAIR], *score = NULL;
	int pairs = 0;
	if (!head_levels(&l, h) || l.n != 1 || l.level[0].stride != STRIDE || l.level[0].n_fields != FIELDS)
		return false;
	for (int i = 0; i < FIELDS; i++) {
		const struct field *f = &l.level[0].field[i];
		if (f->channels == PAIR && pairs < PAIR && !is_score_name(h->out[f->output].name))
			pair[pairs++] = f;
		else
			score = f;
	}
	if (pairs != PAIR || !score || decode_pick_classes(h, score, 0) != score->channels ||
	    !head_ends(h, score->ends, END_LINEAR | END_SIGMOID))
		return false;
	int size = is_offset_name(h->out[pair[0]->output].name) && !is_offset_name(h->out[pair[1]->output].name);
	*b = (struct bound){.n = 1,
	    .peaks = true,
	    .score = decode_squash(score),
	    .source = {{.stride = STRIDE, .w = l.level[0].w, .n = (int64_t)l.level[0].w * l.level[0].h, .anchors = 1, .box = *pair[size],
	        .offset = *pair[!size], .score = *score, .object = FIELD_NONE, .label = FIELD_NONE}}};
	return true;
}

void centernet_box(float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	(void)b;
	float x = (float)(cell % s->w) + field_get(h, &s->offset, anchor, cell, 0);
	float y = (float)(cell / s->w) + field_get(h, &s->offset, anchor, cell, 1);
	decode_from_centre(out, x * STRIDE, y * STRIDE, field_get(h, &s->box, anchor, cell, 0) * STRIDE,
	    field_get(h, &s->box, anchor, cell, 1) * STRIDE);
}
