// Corners as fractions of the input or in its pixels: SSD with its priors applied in the graph, whose first score is the background's, and
// YOLOv4 as its PyTorch code writes it.
#include "../decode_family.h"

// A score for each class that is expected leaves none to the background (RetinaNet, EfficientDet): read as an SSD's, each box
// would have its neighbour's class.
static bool has_no_background(const struct head *h, const struct field *score)
{
	return head_is_hinted(h, score->channels) && !head_is_hinted(h, score->channels - 1);
}

// No SSD has one anchor a cell, or nine, on all levels; heads that have so many give each class a sigmoid, and none to the background.
static bool is_of_sigmoids(const struct head *h, const struct field *score, int64_t n)
{
	return score->ends == END_SIGMOID && (head_is_pyramid(h, 1) || head_is_dense(h, n));
}

bool ssd_bind(struct bound *b, const struct head *h)
{
	struct field box, score;
	int64_t n;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n; k++) {
			if (!decode_pair(h, i, k, &box, &score, &n) || decode_pick_classes(h, &score, 1) < 0)
				continue;
			if (!h->named && (box.ends == END_LINEAR || has_no_background(h, &score) || is_of_sigmoids(h, &score, n)))
				continue; // offsets from priors that nobody has applied, or another family's scores
			*b = (struct bound){.n = 1,
			    .background = 1,
			    .source = {{.n = n,
			        .anchors = 1,
			        .box = box,
			        .score = score,
			        .object = FIELD_NONE,
			        .label = FIELD_NONE}}};
			b->score = decode_squash(&score) == SQUASH_SIGMOID ? SQUASH_SOFTMAX : SQUASH_NONE;
			b->fractions = decode_are_fractions(h, &box, n);
			return true;
		}
	return false;
}

// Boxes [1, n, 1, 4], and scores of n rows without a background.
bool ssd_bind_yolov4(struct bound *b, const struct head *h)
{
	struct field score;
	int64_t n;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n; k++) {
			const struct shape *s = &h->out[i].shape;
			if (i == k || s->rank != 4 || s->dim[0] != 1 || s->dim[2] != 1 || s->dim[3] != 4 || !head_rows(&score, &n, h, k, 0) ||
			    n != s->dim[1] || decode_pick_classes(h, &score, 0) != score.channels)
				continue;
			*b = (struct bound){.n = 1,
			    .source = {{.n = n,
			        .anchors = 1,
			        .box = {.output = i, .channels = 4, .anchors = 1, .cell = 4, .channel = 1, .ends = h->out[i].ends},
			        .score = score,
			        .object = FIELD_NONE,
			        .label = FIELD_NONE}}};
			b->score = decode_squash(&score);
			b->fractions = decode_are_fractions(h, &b->source[0].box, n);
			return true;
		}
	return false;
}

void ssd_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	for (int c = 0; c < 4; c++)
		out[c] = field_get(h, &s->box, anchor, cell, c);
	decode_to_input(out, h, b);
}
