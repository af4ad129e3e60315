// Whether boxes can be of the images that they are said to be of.
// Images that were made smaller after they were labelled (arrays are as large as the input), corners in the place of width and
// height, and pixels in the place of fractions give figures that are near zero, and no other sign.
#include "labels.h"
#include "qtui/base/log.h"

struct doubt {
	const char *file; // the first
	int n, w, h;
};
static void add_doubt(struct doubt *d, const char *file, int w, int h)
{
	if (d->n++ == 0)
		*d = (struct doubt){file, 1, w, h};
}

// Labels are rounded, and some reach a little beyond the border.
static bool reaches_out(const struct coco_box *b, int w, int h)
{
	double x = 2 + .02 * w, y = 2 + .02 * h;
	return b->x < -x || b->y < -y || b->x + b->w > w + x || b->y + b->h > h + y;
}

void labels_check(const struct labels *l, const struct labels_samples *s)
{
	struct doubt size = {0}, box = {0};
	int samples = 0, boxes = 0;
	for (int i = 0; i < s->n; i++) {
		const struct label *label = &l->label[i];
		struct error ignored; // who loads the sample will tell
		int w, h;
		if (!label->n || !s->file[i] || labels_frame(&w, &h, s, i, &ignored) != STATUS_OK || !w || !h)
			continue;
		samples++;
		boxes += label->n;
		if (label->w > 0 && label->h > 0 && (label->w != w || label->h != h))
			add_doubt(&size, s->file[i], w, h);
		for (int b = 0; b < label->n; b++)
			if (reaches_out(&label->truth[b].box, w, h))
				add_doubt(&box, s->file[i], w, h);
	}
	if (size.n)
		log_warn("%s says another size of %d of %d samples (first: %s, which has %d x %d): are they those that were labelled?",
		    l->source, size.n, samples, size.file, size.w, size.h);
	else if (box.n)
		log_warn("%d of %d boxes of %s reach out of their image (first: %s, which has %d x %d): check what their numbers mean",
		    box.n, boxes, l->source, box.file, box.w, box.h);
}
