// SSD with its priors applied in the graph: corners as fractions of the input, and scores of which the first class is
// the background.
#include "../decode_family.h"

bool ssd_bind(struct bound *b, const struct head *h)
{
	struct field box, score;
	int64_t n;
	for (int i = 0; i < h->n; i++)
		for (int k = 0; k < h->n; k++) {
			if (!decode_pair(h, i, k, &box, &score, &n) || decode_pick_classes(h, &score, 1) < 0)
				continue;
			*b = (struct bound){.n = 1,
			    .background = 1,
			    .source = {{.n = n,
			        .anchors = 1,
			        .box = box,
			        .score = score,
			        .object = FIELD_NONE,
			        .label = FIELD_NONE}}};
			b->score = decode_squash(&score) == SQUASH_SIGMOID ? SQUASH_SOFTMAX : SQUASH_NONE;
			return true;
		}
	return false;
}

void ssd_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	(void)b;
	for (int c = 0; c < 4; c++)
		out[c] = field_get(h, &s->box, anchor, cell, c) * (float)(c % 2 ? h->input_h : h->input_w);
}
