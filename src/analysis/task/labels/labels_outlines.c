// Outlines of objects, as masks of their images or as corners of rotated boxes.
#include <stdlib.h>
#include "../metric/rotated.h"
#include "labels.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

enum status labels_frame(int *w, int *h, const struct labels_samples *s, int sample, struct error *err)
{
	*w = s->w;
	*h = s->h;
	return s->file[sample] && image_is_name(s->file[sample]) ? image_size(w, h, s->file[sample], err) : STATUS_OK;
}

static struct rle *new_mask(int w, int h)
{
	struct rle *m = xmalloc(sizeof *m);
	*m = (struct rle){.w = w, .h = h};
	return m;
}

enum status labels_add_outline(struct rle **mask, int w, int h, const double (*corner)[2], int n, struct error *err)
{
	struct rle one = {.w = w, .h = h};
	if (n < 3)
		return STATUS_OK;
	if (!rle_fits(w, h))
		return error_set(err, STATUS_UNSUPPORTED, "its image is %dx%d, which is too large for masks", w, h);
	if (!*mask)
		*mask = new_mask(w, h);
	bool fits = rle_outline(&one, corner, n);
	if (fits)
		rle_join(*mask, &one);
	rle_done(&one);
	return fits ? STATUS_OK : error_set(err, STATUS_FORMAT, "its outline of %d corners is longer than any in an image of %dx%d", n, w, h);
}

static void fill(struct coco_truth *t, int w, int h)
{
	double right = t->box.x + t->box.w, low = t->box.y + t->box.h;
	const double corner[4][2] = {{t->box.x, t->box.y}, {right, t->box.y}, {right, low}, {t->box.x, low}};
	struct error ignored;
	if (labels_add_outline(&t->mask, w, h, corner, 4, &ignored) != STATUS_OK)
		t->mask = t->mask ? t->mask : new_mask(w, h);
}

// Annotators leave outlines out here and there; where there are none at all, the labels are boxes.
void labels_fill_outlines(struct labels *l, const struct labels_samples *s)
{
	int with = 0, all = 0, w, h;
	struct error ignored; // who loads the sample will tell
	for (int i = 0; i < l->n_samples; i++)
		for (int k = 0; k < l->label[i].n; k++, all++)
			with += l->label[i].truth[k].mask != NULL;
	if (!with)
		return;
	l->kind = LABELS_OUTLINES;
	if (with < all)
		log_warn("%d of %d objects of %s have no outline: their boxes are taken for it", all - with, all, l->source);
	for (int i = 0; i < l->n_samples && with < all; i++)
		for (int k = 0; k < l->label[i].n; k++)
			if (!l->label[i].truth[k].mask) {
				if (labels_frame(&w, &h, s, i, &ignored) != STATUS_OK)
					w = h = 0;
				fill(&l->label[i].truth[k], w, h);
			}
}

// ---- rotated boxes

void labels_take_corners(struct coco_truth *t, const double corner[4][2])
{
	t->point = xcalloc(ROTATED_CORNERS, sizeof *t->point);
	for (int i = 0; i < ROTATED_CORNERS; i++)
		t->point[i] = (struct keypoint){(float)corner[i][0], (float)corner[i][1], 1};
	t->area = rotated_area(t->point);
}

static void box_corners(struct coco_truth *t)
{
	double right = t->box.x + t->box.w, low = t->box.y + t->box.h;
	labels_take_corners(t, (const double[4][2]){{t->box.x, t->box.y}, {right, t->box.y}, {right, low}, {t->box.x, low}});
}

// Lines from corner to corner.
static void init_ring(struct skeleton *s)
{
	skeleton_done(s);
	skeleton_init(s, ROTATED_CORNERS);
	s->n_bones = ROTATED_CORNERS;
	s->bone = xcalloc(ROTATED_CORNERS, sizeof *s->bone);
	for (int i = 0; i < ROTATED_CORNERS; i++) {
		s->bone[i][0] = i;
		s->bone[i][1] = (i + 1) % ROTATED_CORNERS;
	}
}

void labels_fill_corners(struct labels *l)
{
	int with = 0, all = 0;
	for (int i = 0; i < l->n_samples; i++)
		for (int k = 0; k < l->label[i].n; k++, all++)
			with += l->label[i].truth[k].point != NULL;
	if (!with || l->kind == LABELS_POSES)
		return;
	l->kind = LABELS_ROTATED;
	init_ring(&l->skeleton);
	if (with < all)
		log_warn(
		    "%d of %d objects of %s have no four corners: their boxes along the axes are taken for them", all - with, all, l->source);
	for (int i = 0; i < l->n_samples && with < all; i++)
		for (int k = 0; k < l->label[i].n; k++)
			if (!l->label[i].truth[k].point)
				box_corners(&l->label[i].truth[k]);
}
