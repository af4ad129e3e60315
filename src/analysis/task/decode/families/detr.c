// Queries: a box each, commonly cx,cy,w,h as fractions of the input, and class logits. With one class more than there are, the last one is
// "no object" and the scores are a softmax (DETR); else each class has its own sigmoid (RT-DETR, DEIM).
#include "../decode_family.h"

enum { QUERIES_MAX = 1500 }; // more are not taken for queries unless the user names the decoder

static bool is_query_count(const struct head *h, int64_t n)
{
	return n > 0 && (h->named || (n <= QUERIES_MAX && !head_is_pyramid(h, 1) && !head_is_dense(h, n)));
}

static void bind_queries(struct bound *b, const struct head *h, int64_t n, const struct field *box, const struct field *score)
{
	*b = (struct bound){.n = 1,
	    .source = {{.n = n, .anchors = 1, .box = *box, .score = *score, .object = FIELD_NONE, .label = FIELD_NONE}},
	    .score = decode_squash(score),
	    .fractions = decode_are_fractions(h, box, n)};
	b->corners = decode_are_corners(h, box, n, b->fractions);
}

// Number of classes of a softmax with "no object", or -1.
static int with_nothing(const struct head *h, const struct field *score)
{
	enum { DETR_COCO = 92 };
	if (decode_squash(score) != SQUASH_SIGMOID || decode_pick_classes(h, score, 0) > 0)
		return -1;
	return score->channels == DETR_COCO || decode_pick_classes(h, score, 1) > 0 ? score->channels - 1 : -1;
}

bool detr_bind(struct bound *b, const struct head *h)
{
	struct field box, score;
	int64_t n;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n; k++) {
			if (!decode_pair(h, i, k, &box, &score, &n) || !is_query_count(h, n) ||
			    !head_ends(h, score.ends, END_LINEAR | END_SIGMOID))
				continue;
			int softmax = with_nothing(h, &score);
			if (softmax < 0 && decode_pick_classes(h, &score, 0) < 0)
				continue;
			bind_queries(b, h, n, &box, &score);
			b->nothing_last = softmax > 0;
			b->score = softmax > 0 ? SQUASH_SOFTMAX : b->score;
			return true;
		}
	return false;
}

bool detr_bind_rows(struct bound *b, const struct head *h)
{
	struct field f;
	int64_t n;
	if (h->n < 1 || !head_rows(&f, &n, h, 0, 0) || !is_query_count(h, n))
		return false;
	if (!h->any_classes && decode_pick_classes(h, &f, 4) < 0)
		head_rows(&f, &n, h, 0, (int)n); // fewer queries than classes
	int classes = decode_pick_classes(h, &f, 4);
	if (classes < 0)
		return false;
	struct field box = field_part(&f, 0, 4), score = field_part(&f, 4, classes);
	bind_queries(b, h, n, &box, &score);
	return true;
}
