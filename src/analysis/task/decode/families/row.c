// One output of decoded rows: cx,cy,w,h in pixels (TensorFlow: as fractions of the input), perhaps an objectness, and a score
// for each class, perhaps keypoints or coefficients of masks behind; or the boxes and the scores as two outputs, the boxes
// perhaps as corners.
#include "../decode_family.h"

// The rows of a pyramid, computed already (raw maps end in convolutions and sigmoids alone), as one list.
static bool decoded_rows(struct field *f, int64_t *n, const struct head *h, int output)
{
	return head_rows(f, n, h, output, 0) && (h->named || f->ends & END_OTHER);
}

static struct bound list(const struct head *h, const struct field *rows, int64_t n, int others, int classes)
{
	struct bound b = {.n = 1, .source = {{.n = n, .anchors = 1, .object = FIELD_NONE, .label = FIELD_NONE}}};
	b.source[0].box = field_part(rows, 0, 4);
	b.source[0].score = field_part(rows, others, classes);
	b.score = decode_squash(rows);
	b.fractions = decode_are_fractions(h, &b.source[0].box, n);
	decode_bind_points(&b, &b.source[0], h, rows, others + classes);
	decode_bind_masks(&b.source[0], h, rows, others + classes);
	return b;
}

// Where the graph shows an objectness in front of the classes, it is not one of them, whatever numbers are likely.
static int pick_classes(const struct head *h, const struct field *f, int others)
{
	if (!h->named && h->beside_object && f->channels == 5 + h->beside_object)
		return others == 5 ? h->beside_object : -1;
	return decode_pick_classes(h, f, others);
}

static bool bind_one(struct bound *b, const struct head *h, int others)
{
	struct field f;
	int64_t n;
	for (int i = 0; i < h->n; i++) {
		int classes = decoded_rows(&f, &n, h, i) ? pick_classes(h, &f, others) : -1;
		if (classes < 0)
			continue;
		*b = list(h, &f, n, others, classes);
		return true;
	}
	return false;
}

static bool bind_two(struct bound *b, const struct head *h)
{
	struct field box, score;
	int64_t n;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n; k++) {
			if (!decode_pair(h, i, k, &box, &score, &n) || !(h->named || box.ends & END_OTHER) ||
			    decode_pick_classes(h, &score, 0) < 0)
				continue;
			*b = list(h, &box, n, 4, 0);
			b->source[0].score = score;
			b->score = decode_squash(&score);
			b->corners = decode_are_corners(h, &box, n, b->fractions);
			return true;
		}
	return false;
}

bool row_bind_object(struct bound *b, const struct head *h)
{
	// Without a number of classes that fits, three anchors a cell are what tells this family from the next.
	if (!(h->named || head_is_pyramid(h, h->any_classes && !h->beside_object ? 3 : 0)) || !bind_one(b, h, 5))
		return false;
	b->source[0].object = b->source[0].score;
	b->source[0].object.at -= b->source[0].object.channel;
	b->source[0].object.channels = 1;
	b->object = b->score;
	return true;
}

// YOLOv5-face has five keypoints in front of its only class. As many classes would look the same: they count first where
// they are likely.
bool row_bind_face(struct bound *b, const struct head *h)
{
	enum { POINTS = 10, ROW = 5 + POINTS + 1 };
	struct field f;
	int64_t n;
	if (!(h->named || (head_is_pyramid(h, 3) && !h->any_classes && !head_fits(h, ROW - 5))))
		return false;
	for (int i = 0; i < h->n; i++) {
		if (!decoded_rows(&f, &n, h, i) || f.channels != ROW)
			continue;
		*b = list(h, &f, n, ROW - 1, 1);
		b->source[0].object = field_part(&f, 4, 1);
		b->object = b->score;
		b->points = POINTS / 2;
		b->source[0].point = field_part(&f, 5, POINTS);
		return true;
	}
	return false;
}

bool row_bind(struct bound *b, const struct head *h)
{
	return (h->named || head_is_pyramid(h, 1)) && (bind_one(b, h, 4) || bind_two(b, h));
}

bool row_bind_dense(struct bound *b, const struct head *h)
{
	return bind_two(b, h) && (h->named || head_is_dense(h, b->source[0].n));
}

bool row_bind_one2one(struct bound *b, const struct head *h)
{
	return (h->named || h->one2one) && row_bind(b, h);
}

void row_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	float v[4];
	if (b->corners) {
		row_box_corners(out, h, b, s, anchor, cell);
		return;
	}
	for (int c = 0; c < 4; c++)
		v[c] = field_get(h, &s->box, anchor, cell, c);
	decode_to_input(v, h, b);
	decode_from_centre(out, v[0], v[1], v[2], v[3]);
}

void row_box_corners(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	for (int c = 0; c < 4; c++)
		out[c] = field_get(h, &s->box, anchor, cell, c);
	decode_to_input(out, h, b);
}
