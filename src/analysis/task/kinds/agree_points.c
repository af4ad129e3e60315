#include "agree_points.h"

#include <math.h>
#include <stdlib.h>
#include "../decode/decode.h"
#include "qtui/base/mem.h"

struct agree_points {
	struct head head;
	const struct decoder *decoder;
	struct skeleton skeleton;
};

struct agree_points *agree_points_new(const struct graph *g, const char *decoder)
{
	struct agree_points *p = xcalloc(1, sizeof *p);
	struct bound b = {0};
	struct error ignored; // then there are no keypoints to compare
	head_init(&p->head, g, 0, 0);
	if (!head_is_known(&p->head) || decode_find(&p->decoder, &p->head, decoder, &ignored) != STATUS_OK ||
	    !decode_bind(&b, p->decoder, &p->head) || !b.single.form) {
		agree_points_free(&p);
		return NULL;
	}
	skeleton_init(&p->skeleton, b.points);
	return p;
}

void agree_points_free(struct agree_points **pp)
{
	struct agree_points *p = *pp;
	*pp = NULL;
	if (!p)
		return;
	head_done(&p->head);
	skeleton_done(&p->skeleton);
	free(p);
}

static bool read_points(struct keypoint *k, const struct agree_points *p, const struct tensor *out)
{
	struct head h;
	struct bound b = {0};
	head_fill(&h, &p->head, out);
	bool fits = decode_bind(&b, p->decoder, &h) && b.points == p->skeleton.n;
	if (fits)
		decode_single(k, &b, &h);
	head_drain(&h);
	return fits;
}

double agree_points_similarity(const struct agree_points *p, const struct tensor *f, const struct tensor *q)
{
	struct keypoint a[KEYPOINTS_MAX], b[KEYPOINTS_MAX];
	double area = (double)p->head.input_w * p->head.input_h, same = 0, sure = 0;
	if (!read_points(a, p, f) || !read_points(b, p, q))
		return NAN;
	for (int i = 0; i < p->skeleton.n; i++) {
		double dx = (double)b[i].x - (double)a[i].x, dy = (double)b[i].y - (double)a[i].y;
		same += (double)a[i].v * keypoints_term(dx, dy, p->skeleton.sigma[i], area);
		sure += (double)a[i].v;
	}
	return sure > 0 ? same / sure : NAN;
}
