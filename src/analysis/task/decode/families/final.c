// Outputs that are detections already, or say which of the others are.
#include "../decode_family.h"
#include "qtui/base/str.h"

enum { FINAL_ROWS_MAX = 2000 }; // a longer list has not been through NMS

// A list of n items of `channels` values: [1, n, channels] or [n, channels]; [1, n] or [n] when channels is 1.
static bool list_of(struct field *f, int64_t *n, const struct head *h, int output, int channels)
{
	const struct shape *s = &h->out[output].shape;
	int rank = s->rank;
	if (channels > 1 && (rank < 2 || s->dim[--rank] != channels))
		return false;
	if (channels == 1 && rank > 1 && s->dim[rank - 1] == 1 && s->dim[rank - 2] != 1)
		rank--;
	for (int i = 0; i < rank - 1; i++)
		if (s->dim[i] != 1)
			return false;
	if (rank < 1 || s->dim[rank - 1] < 0 || s->dim[rank - 1] > FINAL_ROWS_MAX)
		return false;
	*n = s->dim[rank - 1];
	*f = (struct field){.output = output,
	    .channels = channels,
	    .anchors = 1,
	    .cell = channels,
	    .channel = 1,
	    .ends = h->out[output].ends};
	return true;
}

static struct bound one_list(int64_t n)
{
	return (struct bound){.n = 1, .source = {{.n = n, .anchors = 1, .object = FIELD_NONE, .label = FIELD_NONE}}};
}

static bool is_label(const struct head_output *o)
{
	return str_glob("*label*", o->name) || str_glob("*class*", o->name) || str_glob("*cls*", o->name) ||
	       o->type == DT_I64 || o->type == DT_I32;
}

// Boxes first, then of the outputs with as many items the scores and the labels.
static bool find_lists(struct source *s, const struct head *h)
{
	int64_t n = -1, other;
	struct field f;
	for (int i = 0; i < h->n && n < 0; i++)
		if (!list_of(&s->box, &n, h, i, 4))
			n = -1;
	if (n < 0)
		return false;
	s->n = n;
	s->score = s->label = FIELD_NONE;
	for (int i = 0; i < h->n; i++) {
		if (i == s->box.output || !list_of(&f, &other, h, i, 1) || other != n ||
		    str_glob("*num*", h->out[i].name))
			continue;
		struct field *to = is_label(&h->out[i]) ? &s->label : &s->score;
		if (to->output < 0)
			*to = f;
	}
	return s->score.output >= 0 && s->label.output >= 0;
}

static bool bind_lists(struct bound *b, const struct head *h, bool ids)
{
	*b = one_list(0);
	b->ids = ids;
	if (!find_lists(&b->source[0], h))
		return false;
	b->fractions = decode_are_fractions(h, &b->source[0].box, b->source[0].n);
	return true;
}

// NMS among the operators: torchvision, whose labels are category ids, as the 91 classes are that it decides among; of a class
// more than there are (the model zoo's Faster R-CNN has 81) the first is the background, and the others are counted from 1.
bool final_bind(struct bound *b, const struct head *h)
{
	int counted = h->decided > 1 && !h->any_classes && head_fits(h, h->decided - 1) ? h->decided - 1 : 0;
	if (!bind_lists(b, h, h->suppressed && !counted))
		return false;
	b->counted = counted;
	return true;
}

bool final_bind_tf(struct bound *b, const struct head *h)
{
	bool tf = h->named;
	for (int i = 0; i < h->n; i++)
		tf = tf || str_has_prefix(h->out[i].name, "detection_boxes");
	return tf && bind_lists(b, h, true);
}

// Rows of five and as many labels, which are indices.
bool final_bind_mmdet(struct bound *b, const struct head *h)
{
	struct field rows, label;
	int64_t n, other;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n; k++) {
			if (i == k || !is_label(&h->out[k]) || !list_of(&rows, &n, h, i, 5) || !list_of(&label, &other, h, k, 1) || other != n)
				continue;
			*b = one_list(n);
			b->source[0].box = field_part(&rows, 0, 4);
			b->source[0].score = field_part(&rows, 4, 1);
			b->source[0].label = label;
			b->fractions = decode_are_fractions(h, &b->source[0].box, b->source[0].n);
			return true;
		}
	return false;
}

// Rows of `channels`, or with masks or keypoints behind.
static bool rows_of(struct field *f, int64_t *n, const struct head *h, int channels)
{
	const int behind[] = {0, h->extra, head_mask_channels(h), h->points * 3, h->points * 2};
	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
		if (list_of(f, n, h, 0, channels + behind[i]))
			return true;
	return false;
}

// A class is a number that something chose: rows out of sigmoids alone are scores of two classes behind boxes (RT-DETR).
static bool may_have_class(const struct field *f)
{
	return !f->ends || f->ends & ~(END_LINEAR | END_SIGMOID);
}

// One output of rows; channels at which box, score and class begin.
static bool bind_rows(struct bound *b, const struct head *h, int channels, int box, int score, int label)
{
	struct field f;
	int64_t n;
	if (h->n < 1 || !rows_of(&f, &n, h, channels) || (!h->named && (head_is_pyramid(h, 0) || !may_have_class(&f))))
		return false;
	*b = one_list(n);
	b->source[0].box = field_part(&f, box, 4);
	b->source[0].score = field_part(&f, score, 1);
	b->source[0].label = field_part(&f, label, 1);
	b->fractions = decode_are_fractions(h, &b->source[0].box, b->source[0].n);
	decode_bind_points(b, &b->source[0], h, &f, channels);
	decode_bind_masks(&b->source[0], h, &f, channels);
	return true;
}

// Rows of five, and [1, n, K, 3] keypoints: of one class.
bool final_bind_rtmo(struct bound *b, const struct head *h)
{
	struct field rows;
	int64_t n;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n; k++) {
			const struct shape *s = &h->out[k].shape;
			if (i == k || s->rank != 4 || !list_of(&rows, &n, h, i, 5) || s->dim[0] != 1 || s->dim[1] != n ||
			    s->dim[2] < 1 || s->dim[2] > KEYPOINTS_MAX || (s->dim[3] != 2 && s->dim[3] != 3))
				continue;
			int channels = (int)(s->dim[2] * s->dim[3]);
			*b = one_list(n);
			b->source[0].box = field_part(&rows, 0, 4);
			b->source[0].score = field_part(&rows, 4, 1);
			b->source[0].point = (struct field){
			    .output = k, .channels = channels, .anchors = 1, .cell = channels, .channel = 1, .ends = h->out[k].ends};
			b->points = (int)s->dim[2];
			return true;
		}
	return false;
}

// Of six people 17 keypoints of y, x and how sure, then the box as y1, x1, y2, x2 and its score: fractions of the input.
bool final_bind_movenet(struct bound *b, const struct head *h)
{
	enum { PEOPLE = 6, POINTS = 17, BOX = POINTS * 3, CHANNELS = BOX + 5 };
	struct field f;
	int64_t n;
	if (h->n != 1 || !list_of(&f, &n, h, 0, CHANNELS) || n != PEOPLE)
		return false;
	*b = one_list(n);
	b->source[0].point = field_part(&f, 0, BOX);
	b->source[0].box = field_part(&f, BOX, 4);
	b->source[0].score = field_part(&f, BOX + 4, 1);
	b->points = POINTS;
	b->fractions = b->yx = true;
	return true;
}

bool final_bind_rows6(struct bound *b, const struct head *h)
{
	bool paddle = h->n && str_glob("*nms*", h->out[0].name);
	return (h->named || !paddle) && bind_rows(b, h, 6, 0, 4, 5);
}

bool final_bind_rows7(struct bound *b, const struct head *h)
{
	return (h->named || (h->n && h->out[0].shape.rank == 2)) && bind_rows(b, h, 7, 1, 6, 5);
}

bool final_bind_paddle(struct bound *b, const struct head *h)
{
	return bind_rows(b, h, 6, 2, 1, 0);
}

// Integers [n, 3] or [1, n, 3], as NonMaxSuppression gives them.
static bool picks_of(struct field *f, int64_t *n, const struct head *h, int output)
{
	enum dtype type = h->out[output].type;
	return (type == DT_I64 || type == DT_I32) && list_of(f, n, h, output, 3);
}

bool final_bind_picks(struct bound *b, const struct head *h)
{
	struct field pick, box, score;
	int64_t n, picks;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n && h->n == 3; k++) {
			int other = 3 - i - k;
			if (i == k || !picks_of(&pick, &picks, h, other) || !decode_pair(h, i, k, &box, &score, &n))
				continue;
			*b = one_list(n);
			b->source[0].box = box;
			b->source[0].score = score;
			b->source[0].pick = pick;
			b->source[0].n_picks = picks;
			b->score = decode_squash(&score);
			b->fractions = decode_are_fractions(h, &b->source[0].box, b->source[0].n);
			return true;
		}
	return false;
}

void final_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	for (int c = 0; c < 4; c++)
		out[c] = field_get(h, &s->box, anchor, cell, c);
	decode_to_input(out, h, b);
}

void final_box_yx(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	for (int c = 0; c < 4; c++)
		out[c] = field_get(h, &s->box, anchor, cell, c ^ 1);
	decode_to_input(out, h, b);
}
