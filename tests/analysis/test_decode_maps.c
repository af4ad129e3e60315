// Masks that are a map of each object: over the input (RTMDet-Ins, RF-DETR), or over its box (Mask R-CNN).
#include <math.h>
#include "decode_case.h"
#include "qtui/engine/data.h"
#include "support.h"

enum { OBJECTS = 4, OBJECT = 2, HALF = SIDE / 2 };

static const float box[4] = {20, 30, 44, 46};

static void begin(struct made *m, const char *decoder)
{
	struct error err = {0};
	if (decode_find(&m->d, &m->h, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_string_equal(m->d->name, decoder);
	assert_true(decode_bind(&m->b, m->d, &m->h));
	decode_mask_begin(&m->b, &m->h);
	decode_run(&m->c, m->d, &m->b, &m->h, .25);
}

// The object's map is `in` from the middle of its columns on, all else is `out`.
static void add_masks(struct made *m, const char *name, struct shape s, float out, float in)
{
	int w = (int)s.dim[s.rank - 1], h = (int)s.dim[s.rank - 2];
	float *x = add_output(m, name, END_OTHER, s, out) + OBJECT * w * h;
	for (int i = 0; i < w * h; i++)
		x[i] = i % w >= w / 2 ? in : out;
}

static void check(struct made *m, const char *decoder, enum mask_form form)
{
	const struct placement where = {.image_w = SIDE, .image_h = SIDE, .scale_x = 1, .scale_y = 1};
	struct rle mask;
	begin(m, decoder);
	assert_int_equal(m->b.masks, form);
	assert_int_equal(m->c.n, 1);
	decode_mask(&mask, &m->b, &m->h, &m->c.at[0], &where);
	for (int i = 0; i < SIDE * SIDE; i++) {
		int x = i % SIDE, y = i / SIDE;
		bool inside = form == MASKS_OF_INPUT || (x < 44 && y >= 30 && y < 46);
		if (rle_has(&mask, x, y) != (x >= HALF && inside))
			fail_msg("%s, form %d: pixel %d,%d", decoder, (int)form, x, y);
	}
	rle_done(&mask);
	made_done(m);
}

static void add_rows(struct made *m)
{
	float *dets = add_output(m, "dets", END_OTHER, SHAPE(1, OBJECTS, 5), 0);
	put(dets, OBJECT * 5, 1, box, 4);
	dets[OBJECT * 5 + 4] = .9f;
	add_output(m, "labels", END_OTHER, SHAPE(1, OBJECTS), 1);
}

static void add_lists(struct made *m, const float corners[4], const char *const name[3], bool batch)
{
	struct shape four = batch ? SHAPE(1, OBJECTS, 4) : SHAPE(OBJECTS, 4), one = batch ? SHAPE(1, OBJECTS) : SHAPE(OBJECTS);
	put(add_output(m, name[0], END_OTHER, four, 0), OBJECT * 4, 1, corners, 4);
	add_output(m, name[1], END_OTHER, one, 1);
	add_output(m, name[2], END_OTHER, one, 0)[OBJECT] = .9f;
}

void test_decode_maps__of_finished_rows(void **state)
{
	const struct shape of_input[] = {SHAPE(1, OBJECTS, SIDE, SIDE), SHAPE(OBJECTS, 1, SIDE, SIDE), SHAPE(OBJECTS, SIDE, SIDE),
	    SHAPE(1, OBJECTS, HALF, HALF)};
	for (size_t i = 0; i < sizeof of_input / sizeof *of_input; i++) {
		struct made m = made_new(2, 0);
		add_rows(&m);
		add_masks(&m, "masks", of_input[i], .1f, .9f);
		check(&m, "mmdet", MASKS_OF_INPUT);
	}
	struct made m = made_new(2, 0);
	add_rows(&m);
	add_masks(&m, "masks", SHAPE(1, OBJECTS, 28, 28), .1f, .9f);
	check(&m, "mmdet", MASKS_OF_BOX);
}

void test_decode_maps__of_lists(void **state)
{
	static const char *const torchvision[] = {"boxes", "labels", "scores"};
	static const char *const tensorflow[] = {"detection_boxes", "detection_classes", "detection_scores"};
	static const float fractions[4] = {30. / SIDE, 20. / SIDE, 46. / SIDE, 44. / SIDE};
	struct made m = made_new(2, 0);
	add_lists(&m, box, torchvision, false);
	add_masks(&m, "masks", SHAPE(OBJECTS, 1, 28, 28), 0, 1);
	check(&m, "final", MASKS_OF_BOX);
	m = made_new(2, 0);
	add_lists(&m, box, torchvision, false);
	add_masks(&m, "masks", SHAPE(OBJECTS, 1, SIDE, SIDE), 0, 1);
	check(&m, "final", MASKS_OF_INPUT);
	m = made_new(2, 0);
	add_lists(&m, fractions, tensorflow, true);
	add_masks(&m, "detection_masks", SHAPE(1, OBJECTS, 28, 28), .2f, .8f);
	check(&m, "tf-ssd", MASKS_OF_BOX);
}

// A number below 0 says that they are logits: .3 is then more than even.
void test_decode_maps__of_queries_are_logits(void **state)
{
	static const float query[] = {32. / SIDE, 38. / SIDE, 24. / SIDE, 16. / SIDE};
	struct made m = made_new(2, 0);
	put(add_output(&m, "dets", END_SIGMOID, SHAPE(1, OBJECTS, 4), 0), OBJECT * 4, 1, query, 4);
	add_output(&m, "labels", END_LINEAR, SHAPE(1, OBJECTS, 2), -9)[OBJECT * 2 + 1] = 3;
	add_masks(&m, "masks", SHAPE(1, OBJECTS, SIDE / 4, SIDE / 4), -.3f, .3f);
	check(&m, "detr", MASKS_OF_INPUT);
}

// Nothing found is no network without masks.
void test_decode_maps__of_no_objects(void **state)
{
	const struct shape none[] = {SHAPE(1, 0, 28, 28), SHAPE(0, 1, 28, 28), SHAPE(0, SIDE, SIDE)};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		struct made m = made_new(2, 0);
		add_output(&m, "dets", END_OTHER, SHAPE(1, 0, 5), 0);
		add_output(&m, "labels", END_OTHER, SHAPE(1, 0), 0);
		add_output(&m, "masks", END_OTHER, none[i], 0);
		begin(&m, "mmdet");
		assert_true(m.b.masks != MASKS_NONE);
		assert_int_equal(m.c.n, 0);
		made_done(&m);
	}
}

void test_decode_maps__other_outputs_are_none(void **state)
{
	const struct shape others[] = {SHAPE(1, OBJECTS, 17, 3), SHAPE(1, OBJECTS + 1, 28, 28), SHAPE(1, OBJECTS, 200, 200),
	    SHAPE(2, OBJECTS, 28, 28), SHAPE(1, OBJECTS, 9)};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct made m = made_new(2, 0);
		add_rows(&m);
		add_output(&m, "more", END_OTHER, others[i], 0);
		begin(&m, "mmdet");
		assert_int_equal(m.b.masks, MASKS_NONE);
		made_done(&m);
	}
}

// As Detectron2 lays it into the image: between the centres of cells, with nothing beside them. Boxes that reach beyond the
// image, are less than a pixel, or lie in a picture of another size.
void test_decode_maps__over_boxes_of_any_place(void **state)
{
	enum { CELLS = 14 };
	static const struct placement places[] = {
	    {.image_w = SIDE, .image_h = SIDE, .scale_x = 1, .scale_y = 1},
	    {.image_w = 100, .image_h = 50, .scale_x = .64, .scale_y = .64, .pad_y = 16},
	    {.image_w = 90, .image_h = 80, .scale_x = .9, .scale_y = .9, .pad_x = -8.5, .pad_y = -4}, // cropped
	};
	static const float boxes[][4] = {{20, 30, 44, 46}, {-7.3f, 10.2f, 33.9f, 80}, {30.2f, 20.1f, 30.9f, 50}};
	struct made m = made_new(2, 0);
	float *map;
	long inside = 0;
	add_rows(&m);
	map = add_output(&m, "masks", END_OTHER, SHAPE(1, OBJECTS, CELLS, CELLS), 0) + OBJECT * CELLS * CELLS;
	for (int i = 0; i < CELLS * CELLS; i++)
		map[i] = .5f + .5f * sinf((float)(i * i % 97));
	begin(&m, "mmdet");
	for (size_t k = 0; k < sizeof places / sizeof *places * 3; k++) {
		const struct placement *to = &places[k / 3];
		const float *b = boxes[k % 3];
		const struct candidate c = {.x1 = b[0], .y1 = b[1], .x2 = b[2], .y2 = b[3], .cell = OBJECT};
		struct rle mask;
		decode_mask(&mask, &m.b, &m.h, &c, to);
		for (int i = 0; i < to->image_w * to->image_h; i++) {
			int px = i % to->image_w, py = i / to->image_w;
			double x = ((px + .5) * to->scale_x + to->pad_x - (double)b[0]) / (double)(b[2] - b[0]) * CELLS - .5;
			double y = ((py + .5) * to->scale_y + to->pad_y - (double)b[1]) / (double)(b[3] - b[1]) * CELLS - .5, p = 0;
			for (int corner = 0; corner < 4; corner++) {
				double cx = floor(x) + corner % 2, cy = floor(y) + corner / 2;
				if (cx >= 0 && cx < CELLS && cy >= 0 && cy < CELLS)
					p += (1 - fabs(x - cx)) * (1 - fabs(y - cy)) * (double)map[(int)cy * CELLS + (int)cx];
			}
			inside += p > .5;
			if (fabs(p - .5) > 1e-5 && rle_has(&mask, px, py) != (p > .5))
				fail_msg("place and box %zu, pixel %d,%d: %g", k, px, py, p);
		}
		rle_done(&mask);
	}
	assert_true(inside > 3000);
	made_done(&m);
}
