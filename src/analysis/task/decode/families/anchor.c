// YOLO before its anchors: three anchors a cell (v2: five), x,y,w,h,objectness,classes as logits (or behind a sigmoid).
// v5 and v7: centre = (2s - 0.5 + cell) * stride, size = (2s)^2 * anchor.
// v2, v3 and v4 (Darknet): centre = (k s - (k - 1)/2 + cell) * stride with k the level's scale_x_y, size = exp(v) * anchor.
#include <math.h>
#include "../decode_family.h"

static const float yolov5_anchors[3][ANCHORS][2] = { // v3's too
    {{10, 13}, {16, 30}, {33, 23}}, {{30, 61}, {62, 45}, {59, 119}}, {{116, 90}, {156, 198}, {373, 326}}};
static const float yolov5_p6_anchors[4][ANCHORS][2] = {{{19, 27}, {44, 40}, {38, 94}},
    {{96, 68}, {86, 152}, {180, 137}}, {{140, 301}, {303, 264}, {238, 542}}, {{436, 615}, {739, 380}, {925, 792}}};
static const float yolov7_anchors[3][ANCHORS][2] = { // v4's too
    {{12, 16}, {19, 36}, {40, 28}}, {{36, 75}, {76, 55}, {72, 146}}, {{142, 110}, {192, 243}, {459, 401}}};
static const float yolov3_tiny_anchors[2][ANCHORS][2] = {{{10, 14}, {23, 27}, {37, 58}}, {{81, 82}, {135, 169}, {344, 319}}};
static const float yolov4_tiny_anchors[2][ANCHORS][2] = {{{23, 27}, {37, 58}, {81, 82}}, {{81, 82}, {135, 169}, {344, 319}}};

// n anchors in one dimension of channels: [1, n * (5 + classes), H, W].
static bool split_anchors(struct field *f, int n)
{
	if (f->anchors == n)
		return true;
	if (f->anchors != 1 || f->channels % n)
		return false;
	f->anchors = n;
	f->channels /= n;
	f->anchor = f->channels * f->channel;
	return true;
}

static bool bind_level(struct bound *b, const struct head *h, const struct level *l, const float (*anchors)[2], int n)
{
	struct field f = l->field[0];
	int classes =
	    split_anchors(&f, n) && head_ends(h, f.ends, END_LINEAR | END_SIGMOID) ? decode_pick_classes(h, &f, 5) : -1;
	if (classes < 0)
		return false;
	struct source *s = &b->source[b->n++];
	*s = (struct source){.stride = l->stride,
	    .w = l->w,
	    .n = (int64_t)l->w * l->h,
	    .anchors = n,
	    .anchor = anchors,
	    .box = field_part(&f, 0, 4),
	    .object = field_part(&f, 4, 1),
	    .score = field_part(&f, 5, classes),
	    .label = FIELD_NONE,
	    .mask = l->mask};
	decode_bind_masks(s, h, &f, 5 + classes);
	b->box = b->object = b->score = decode_squash(&f);
	return true;
}

// With the anchors of the family, of n levels, or with those that the user gave.
static bool bind_levels(struct bound *b, const struct head *h, const float (*anchors)[ANCHORS][2], int n)
{
	struct levels l;
	if (h->anchors.n) {
		anchors = (const float(*)[ANCHORS][2])h->anchors.at;
		n = h->anchors.n / ANCHORS;
	}
	*b = (struct bound){0};
	if (!head_levels(&l, h) || l.n != n || l.level[0].n_fields != 1)
		return false;
	for (int i = 0; i < n; i++)
		if (!bind_level(b, h, &l.level[i], anchors[i], ANCHORS))
			return false;
	return true;
}

static bool spread(struct bound *b, const float k[ANCHOR_LEVELS])
{
	for (int i = 0; i < b->n; i++)
		b->source[i].spread = k[i];
	return true;
}

// Of COCO's classes (full and tiny), of Pascal VOC's in full, and tiny; Darknet has them in cells of 32 pixels.
enum { YOLOV2_ANCHORS = 5, YOLOV2_STRIDE = 32, COCO = 80 };
static const float yolov2_coco_anchors[YOLOV2_ANCHORS][2] = {
    {18.32736f, 21.67632f}, {59.98272f, 66.00096f}, {106.82976f, 175.17888f}, {252.25024f, 112.88896f}, {312.65664f, 293.38496f}};
static const float yolov2_voc_anchors[YOLOV2_ANCHORS][2] = {
    {42.3072f, 55.4064f}, {102.168f, 128.30208f}, {161.78784f, 259.16544f}, {303.07584f, 154.89728f}, {359.5648f, 320.22624f}};
static const float yolov2_tiny_voc_anchors[YOLOV2_ANCHORS][2] = {
    {34.56f, 38.08f}, {109.44f, 141.12f}, {212.16f, 364.16f}, {301.44f, 163.52f}, {531.84f, 336.64f}};

static const float (*yolov2_anchors(const struct head *h, int classes))[2]
{
	if (classes == COCO)
		return yolov2_coco_anchors;
	return head_is_called(h, "tiny") ? yolov2_tiny_voc_anchors : yolov2_voc_anchors;
}

// One level, and a softmax over the classes.
bool anchor_bind_yolov2(struct bound *b, const struct head *h)
{
	struct levels l;
	int n = h->anchors.n ? h->anchors.n : YOLOV2_ANCHORS;
	*b = (struct bound){0};
	if (!head_levels(&l, h) || l.n != 1 || l.level[0].n_fields != 1 || l.level[0].stride != YOLOV2_STRIDE)
		return false;
	if (!bind_level(b, h, &l.level[0], NULL, n))
		return false;
	struct source *s = &b->source[0];
	s->anchor = h->anchors.n ? (const float(*)[2])h->anchors.at : yolov2_anchors(h, s->score.channels);
	s->spread = 1;
	b->score = b->score == SQUASH_SIGMOID ? SQUASH_SOFTMAX : b->score;
	return true;
}

// Of two levels there is no other family; three look like YOLOv5's.
bool anchor_bind_yolov3(struct bound *b, const struct head *h)
{
	static const float one[ANCHOR_LEVELS] = {1, 1, 1, 1};
	if (!h->any_classes && bind_levels(b, h, yolov3_tiny_anchors, 2))
		return spread(b, one);
	return (h->named || head_is_called(h, "yolov3")) &&
	       (bind_levels(b, h, yolov5_anchors, 3) || bind_levels(b, h, yolov3_tiny_anchors, 2)) && spread(b, one);
}

bool anchor_bind_yolov4(struct bound *b, const struct head *h)
{
	static const float all[ANCHOR_LEVELS] = {1.2f, 1.1f, 1.05f, 1.05f}, tiny[ANCHOR_LEVELS] = {1.05f, 1.05f};
	if (!h->named && !head_is_called(h, "yolov4"))
		return false;
	return (bind_levels(b, h, yolov7_anchors, 3) || bind_levels(b, h, yolov4_tiny_anchors, 2)) && spread(b, b->n > 2 ? all : tiny);
}

bool anchor_bind(struct bound *b, const struct head *h)
{
	return bind_levels(b, h, yolov5_anchors, 3) || bind_levels(b, h, yolov5_p6_anchors, 4);
}

bool anchor_bind_yolov7(struct bound *b, const struct head *h)
{
	return (h->named || head_is_called(h, "yolov7")) && bind_levels(b, h, yolov7_anchors, 3);
}

void anchor_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	float v[4];
	for (int c = 0; c < 4; c++) {
		float raw = field_get(h, &s->box, anchor, cell, c);
		v[c] = 2 * (b->box == SQUASH_SIGMOID ? decode_sigmoid(raw) : raw);
	}
	decode_from_centre(out, (v[0] - .5f + (float)(cell % s->w)) * (float)s->stride,
	    (v[1] - .5f + (float)(cell / s->w)) * (float)s->stride, v[2] * v[2] * s->anchor[anchor][0],
	    v[3] * v[3] * s->anchor[anchor][1]);
}

void anchor_box_exp(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	float v[4], k = s->spread;
	for (int c = 0; c < 4; c++)
		v[c] = field_get(h, &s->box, anchor, cell, c);
	for (int c = 0; c < 2; c++)
		v[c] = k * (b->box == SQUASH_SIGMOID ? decode_sigmoid(v[c]) : v[c]) - (k - 1) / 2;
	decode_from_centre(out, (v[0] + (float)(cell % s->w)) * (float)s->stride, (v[1] + (float)(cell / s->w)) * (float)s->stride,
	    expf(v[2]) * s->anchor[anchor][0], expf(v[3]) * s->anchor[anchor][1]);
}
