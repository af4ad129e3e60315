// Masks of objects: COCO's protocol with masks in place of boxes, and a task from outputs to figures.
#include <math.h>
#include <string.h>
#include "../../src/analysis/task/kinds/boxes.h"
#include "../../src/analysis/task/metric/coco.h"
#include "task_case.h"

// ---- the protocol

enum { IMAGES = 40, SIDE = 320, TRUTHS = 6, FOUND = 30 };

static struct rle *box_mask(const struct coco_box *b)
{
	struct rle m = {.w = SIDE, .h = SIDE};
	for (int x = (int)b->x; x < (int)(b->x + b->w); x++)
		rle_add(&m, (uint32_t)(x * SIDE + (int)b->y), (uint32_t)(x * SIDE + (int)(b->y + b->h)));
	struct rle *copy = rle_copy(&m);
	rle_done(&m);
	return copy;
}

static struct coco_box draw_box(uint64_t *x)
{
	int left = draw(x, 200), top = draw(x, 200);
	return (struct coco_box){left, top, 1 + draw(x, SIDE - left), 1 + draw(x, SIDE - top)};
}

static struct coco_box shifted(uint64_t *x, const struct coco_box *b)
{
	int dx = draw(x, 21) - 10, dy = draw(x, 21) - 10;
	double left = fmax(0, b->x + dx), top = fmax(0, b->y + dy);
	return (struct coco_box){left, top, fmin(SIDE, b->x + b->w + dx) - left > 0 ? fmin(SIDE, b->x + b->w + dx) - left : 1,
	    fmin(SIDE, b->y + b->h + dy) - top > 0 ? fmin(SIDE, b->y + b->h + dy) - top : 1};
}

// Masks that fill boxes of whole numbers have the figures of the boxes, crowds and sizes included.
void test_instances__masks_that_fill_their_boxes_have_the_boxes_figures(void **state)
{
	static const struct coco_rule rules[2] = {{.masks = false}, {.masks = true}};
	struct coco_image image[2][IMAGES];
	const struct coco_image *at[IMAGES];
	struct coco_scores out[2] = {{.figure = {0}}};
	uint64_t x = 11;
	for (int i = 0; i < IMAGES; i++) {
		struct coco_truth truth[TRUTHS];
		struct coco_found found[FOUND];
		struct rle *mask[FOUND];
		int n = draw(&x, TRUTHS), m = draw(&x, FOUND);
		for (int k = 0; k < n; k++) {
			struct coco_box b = draw_box(&x);
			truth[k] = (struct coco_truth){
			    .box = b, .area = b.w * b.h, .class = draw(&x, 2), .crowd = draw(&x, 8) == 0, .mask = box_mask(&b)};
		}
		for (int k = 0; k < m; k++) {
			struct coco_box b = n && draw(&x, 4) ? shifted(&x, &truth[draw(&x, n)].box) : draw_box(&x);
			mask[k] = box_mask(&b);
			found[k] = (struct coco_found){.box = b, .score = draw(&x, 50) / 50., .class = draw(&x, 2), .mask = mask[k]};
		}
		for (int r = 0; r < 2; r++)
			coco_image_match(&image[r][i], truth, n, found, m, &rules[r]);
		for (int k = 0; k < n; k++)
			rle_free(&truth[k].mask);
		for (int k = 0; k < m; k++)
			rle_free(&mask[k]);
	}
	for (int r = 0; r < 2; r++) {
		for (int i = 0; i < IMAGES; i++)
			at[i] = &image[r][i];
		struct coco_pool *p = coco_pool_new(at, IMAGES, 2);
		coco_pool_score(p, NULL, &out[r]);
		coco_pool_free(&p);
		for (int i = 0; i < IMAGES; i++)
			coco_image_done(&image[r][i]);
	}
	assert_true(out[0].figure[COCO_AP] > .05);
	for (int f = 0; f < COCO_FIGURES; f++)
		if (coco_figure_name((enum coco_figure)f, false))
			near(out[1].figure[f], out[0].figure[f], 1e-12);
}

// What is found is as large as its mask, not as its box: without an object it counts among the small ones.
void test_instances__a_mask_says_how_large_an_object_is(void **state)
{
	struct coco_box whole = {0, 0, 100, 100}, part = {0, 0, 20, 20};
	struct rle *mask = box_mask(&part);
	struct coco_found found = {.box = whole, .score = .9, .mask = mask};
	struct coco_image image;
	coco_image_match(&image, NULL, 0, &found, 1, &(struct coco_rule){.masks = true});
	assert_int_equal(image.match[0].skip[COCO_SMALL], 0);
	assert_int_equal(image.match[0].skip[COCO_LARGE], (1 << COCO_THRESHOLDS) - 1);
	coco_image_done(&image);
	coco_image_match(&image, NULL, 0, &found, 1, &(struct coco_rule){.masks = false});
	assert_int_equal(image.match[0].skip[COCO_SMALL], (1 << COCO_THRESHOLDS) - 1);
	assert_int_equal(image.match[0].skip[COCO_LARGE], 0);
	coco_image_done(&image);
	rle_free(&mask);
}

// ---- a task: images of 64 x 64, rows of x1,y1,x2,y2,score,class and two coefficients; the second prototype is the distance
// from the left edge

enum { ROW = 6 + 2, KEPT = 4, PROTO = 16 };

static void begin(struct task_case *c, bool metadata, int w)
{
	static struct metadata said[] = {{"task", "segment"}, {"names", "{0: 'thing'}"}};
	case_begin(c, metadata ? said : NULL, 2, w);
	case_add_output(c, "output0", SHAPE(1, KEPT, ROW));
	case_add_output(c, "output1", SHAPE(1, 2, PROTO, PROTO));
}

static const char *labels(const char *outline)
{
	char more[128];
	snprintf(more, sizeof more, "\"segmentation\":[%s]", outline);
	return case_labels(more);
}

struct said {
	float row[KEPT * ROW], proto[2 * PROTO * PROTO];
	struct tensor out[2];
};

// The object is at 10,10 to 50,50; its mask begins at the column `from` of the input.
static void say(struct said *s, float from)
{
	*s = (struct said){.row = {10, 10, 50, 50, .9f, 0, -from, 1, 10, 10, 50, 50, .01f, 0, -from, 1}};
	for (int i = 0; i < PROTO * PROTO; i++) {
		s->proto[i] = 1;
		s->proto[PROTO * PROTO + i] = (float)(i % PROTO) * 4 + 2;
	}
	s->out[0] = (struct tensor){.type = DT_F32, .shape = SHAPE(1, KEPT, ROW), .data = s->row};
	s->out[1] = (struct tensor){.type = DT_F32, .shape = SHAPE(1, 2, PROTO, PROTO), .data = s->proto};
}

static void add(struct task_case *c, enum task_variant v, float from)
{
	struct said s;
	say(&s, from);
	case_say(c, v, s.out);
}

#define RIGHT_PART "[20,10,50,10,50,50,20,50]"

// The box is the same; the mask has lost 5 of 30 columns.
void test_instances__a_task_counts_masks_where_boxes_stay(void **state)
{
	for (int metadata = 0; metadata < 2; metadata++) {
		struct task_case c;
		char note[512];
		begin(&c, metadata, CASE_SIDE);
		if (case_task(&c, -1, labels(RIGHT_PART)))
			fail_msg("%s", c.err.text);
		assert_int_equal(task_kind(c.t), TASK_INSTANCE);
		add(&c, TASK_FLOAT, 20);
		add(&c, TASK_QUANT, 29);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_string_equal(r->figure[0].name, "AP");
		assert_int_equal(r->n_figures, 12);
		near(r->figure[0].value[TASK_FLOAT], 1, 1e-12);
		near(r->figure[0].value[TASK_QUANT], .5, 1e-12); // 21 of 30: IoU .7, five of ten thresholds
		assert_false(task_is_blind(r));
		task_report_drop(&r);
		assert_true(task_apart(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT)) > .1);
		near(task_apart(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_FLOAT)), 0, 1e-12);
		task_note(c.t, note, sizeof note);
		assert_non_null(strstr(note, "1 class, masks)"));
		case_end(&c);
	}
}

void test_instances__a_look_has_the_pixels_that_changed(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, -1, labels(RIGHT_PART)), STATUS_OK);
	add(&c, TASK_FLOAT, 25);
	add(&c, TASK_QUANT, 15);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_int_equal(l->n_boxes[TASK_FLOAT], 1);
	assert_int_equal(l->n_changes, 1);
	assert_int_equal(l->change[0].kind, CHANGE_MOVED);
	assert_true(l->change[0].right);
	near(l->change[0].iou, 25. / 35, 1e-12);
	assert_int_equal(rle_area(l->truth[0].mask), 30 * 40);
	assert_int_equal(l->cells_w, CASE_SIDE);
	assert_int_equal(l->cells_h, CASE_SIDE);
	for (int i = 0; i < 64 * 64; i++) {
		int x = i % 64, y = i / 64;
		bool inside = y >= 10 && y < 50;
		enum task_cell is = inside && x >= 20 && x < 25 ? CELL_GAINED : inside && x >= 15 && x < 20 ? CELL_LOST : CELL_SAME;
		if (l->cell[i] != is)
			fail_msg("cell %d,%d is %d", x, y, l->cell[i]);
	}
	task_look_drop(&l);
	case_end(&c);
}

// An image of 128 x 64 is made half as large, with 16 lines above: the column 20 of the input is 40 there.
void test_instances__masks_go_back_to_the_image(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_WIDE);
	assert_int_equal(case_task(&c, TASK_INSTANCE, labels("[40,0,100,0,100,64,40,64]")), STATUS_OK);
	add(&c, TASK_FLOAT, 20);
	near(task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1), 1, 1e-12);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_FLOAT);
	assert_int_equal(rle_area(l->box[TASK_FLOAT][0].mask), 60 * 64);
	assert_true(rle_has(l->box[TASK_FLOAT][0].mask, 40, 0) && !rle_has(l->box[TASK_FLOAT][0].mask, 39, 0));
	task_look_drop(&l);
	case_end(&c);
}

void test_instances__boxes_of_such_a_network_are_measured_when_asked(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, TASK_DETECT, labels(RIGHT_PART)), STATUS_OK);
	add(&c, TASK_QUANT, 40);
	near(task_score(c.t, case_net(&c, TASK_QUANT), 0, 1), 1, 1e-12);
	assert_int_equal(case_task(&c, -1, labels("")), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_DETECT);
	assert_int_equal(case_task(&c, TASK_INSTANCE, labels("")), STATUS_USAGE);
	assert_non_null(strstr(c.err.text, "holds boxes; --task instance needs outlines"));
	assert_int_equal(case_task(&c, TASK_SEGMENT, labels(RIGHT_PART)), STATUS_USAGE);
	assert_non_null(strstr(c.err.text, "needs a class for each pixel; masks of objects are --task instance"));
	case_end(&c);
}

void test_instances__outlines_serve_a_network_of_boxes(void **state)
{
	struct task_case c;
	begin(&c, false, CASE_SIDE);
	c.b.g->n_outputs = 1;
	c.b.g->value[c.b.g->output[0]].shape = SHAPE(1, KEPT, 6);
	assert_int_equal(case_task(&c, -1, labels(RIGHT_PART)), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_DETECT);
	assert_int_equal(case_task(&c, TASK_INSTANCE, labels(RIGHT_PART)), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "finds no masks in the outputs; --task detect"));
	case_end(&c);
}

// Other outlines are other labels: figures that a session keeps are not those of them.
void test_instances__outlines_are_in_the_key(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, -1, labels(RIGHT_PART)), STATUS_OK);
	struct key before = task_labels_key(c.t);
	assert_int_equal(case_task(&c, -1, labels("[21,10,50,10,50,50,21,50]")), STATUS_OK);
	struct key after = task_labels_key(c.t);
	assert_memory_not_equal(&before, &after, sizeof before);
	case_end(&c);
}

// Mask R-CNN: as many objects as it finds, so that only the name of an output tells before it has run. A map over the box, of
// which the right three quarters or the right half is the object's.
static void say_maps(struct task_case *c, enum task_variant v, int from)
{
	enum { OBJECTS = 2, CELLS = 28 };
	float rows[OBJECTS * 5] = {10, 10, 50, 50, .9f, 10, 10, 50, 50, .01f}, maps[OBJECTS * CELLS * CELLS];
	int64_t classes[OBJECTS] = {0};
	for (int i = 0; i < OBJECTS * CELLS * CELLS; i++)
		maps[i] = i % CELLS >= from ? .95f : .05f;
	const struct tensor out[3] = {{.type = DT_F32, .shape = SHAPE(1, OBJECTS, 5), .data = rows},
	    {.type = DT_I64, .shape = SHAPE(1, OBJECTS), .data = classes}, {.type = DT_F32, .shape = SHAPE(1, OBJECTS, CELLS, CELLS), .data = maps}};
	case_say(c, v, out);
}

void test_instances__a_map_an_object_known_by_its_name(void **state)
{
	for (int named = 0; named < 2; named++) {
		struct task_case c;
		case_begin(&c, NULL, 0, CASE_SIDE);
		case_add_output(&c, "dets", (struct shape){.rank = -1});
		case_add_output(&c, "labels", (struct shape){.rank = -1});
		case_add_output(&c, named ? "masks" : "6887", (struct shape){.rank = -1});
		assert_int_equal(case_task(&c, named ? -1 : TASK_INSTANCE, labels(RIGHT_PART)), STATUS_OK);
		assert_int_equal(task_kind(c.t), TASK_INSTANCE);
		say_maps(&c, TASK_FLOAT, 7);
		say_maps(&c, TASK_QUANT, 14);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		near(r->figure[0].value[TASK_FLOAT], 1, 1e-12);
		near(r->figure[0].value[TASK_QUANT], .4, 1e-12); // 20 of 30 columns: IoU .67, four of ten thresholds
		task_report_drop(&r);
		assert_true(task_apart(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT)) > .1);
		case_end(&c);
	}
}

// What a network with NMS among its operators says of a class: one of as many as its Softmax has, less the background, else a
// category id. The only category has id 5.
static double score_of_label(int classes, int64_t label)
{
	static const char labels[] = "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"annotations\":[{\"image_id\":1,\"category_id\":5,"
	                             "\"bbox\":[10,10,40,40],\"area\":1600}],\"categories\":[{\"id\":5,\"name\":\"thing\"}]}";
	struct task_case c;
	float box[4] = {10, 10, 50, 50}, sure = .9f;
	const struct tensor out[3] = {{.type = DT_F32, .shape = SHAPE(1, 4), .data = box}, {.type = DT_I64, .shape = SHAPE(1), .data = &label},
	    {.type = DT_F32, .shape = SHAPE(1), .data = &sure}};
	static const char *const name[3] = {"boxes", "labels", "scores"};
	case_begin(&c, NULL, 0, CASE_SIDE);
	int softmax = builder_node(&c.b, "Softmax", "softmax", "image", "p");
	((struct axis_attrs *)c.b.g->node[softmax].attrs)->axis = -1;
	c.b.g->value[c.b.g->n_values - 1].shape = SHAPE(20, classes);
	builder_node(&c.b, "NonMaxSuppression", "nms", "p", "kept");
	for (int i = 0; i < 3; i++) {
		builder_node(&c.b, "Relu", name[i], "kept", name[i]);
		builder_output(&c.b, name[i]);
		c.b.g->value[c.b.g->output[i]].type = out[i].type;
		c.b.g->value[c.b.g->output[i]].shape = (struct shape){.rank = -1};
	}
	if (case_task(&c, TASK_DETECT, support_temp_file("five.json", labels, strlen(labels))))
		fail_msg("%s", c.err.text);
	case_say(&c, TASK_QUANT, out);
	double score = task_score(c.t, case_net(&c, TASK_QUANT), 0, 1);
	case_end(&c);
	return score;
}

void test_instances__labels_are_counted_or_ids(void **state)
{
	near(score_of_label(2, 1), 1, 1e-12); // of a background and one class: the first
	near(score_of_label(2, 5), 0, 1e-12);
	near(score_of_label(91, 5), 1, 1e-12); // torchvision
	near(score_of_label(91, 1), 0, 1e-12);
}

// Likewise from the outputs, without labels: on the cells of the prototypes, 10 of which the box is wide.
void test_instances__masks_of_outputs_are_compared(void **state)
{
	struct task_case c;
	struct said whole, less;
	begin(&c, true, CASE_SIDE);
	struct boxes_reader *r = boxes_reader_new(c.b.g, NULL, 0, 0);
	struct boxes *a, *b;
	assert_non_null(r);
	say(&whole, 0);
	say(&less, 30); // the right half of the box
	assert_int_equal(boxes_read(&a, r, &(struct sample_outputs){.out = whole.out}, &c.err), STATUS_OK);
	assert_int_equal(boxes_read(&b, r, &(struct sample_outputs){.out = less.out}, &c.err), STATUS_OK);
	near(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){a}, 1), 0, 1e-6);
	near(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){b}, 1), 1 - exp(-pow(.5 / .3, 2)), 2e-3);
	boxes_free(&a);
	boxes_free(&b);
	boxes_reader_free(&r);
	case_end(&c);
}

// Without labels: how like the boxes and masks of both are, 1 less what they are apart.
void test_instances__agreement_of_boxes(void **state)
{
	struct task_case c;
	struct said whole, less;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
	say(&whole, 0);
	say(&less, 30);
	if (task_add(c.t, case_net(&c, TASK_QUANT), 0, &(struct task_said){less.out, whole.out, NULL}, &c.err))
		fail_msg("%s", c.err.text);
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_int_equal(r->n_figures, 3);
	assert_string_equal(r->figure[0].name, "same_boxes");
	assert_string_equal(r->figure[1].name, "cosine");
	near(r->figure[0].value[TASK_QUANT], exp(-pow(.5 / .3, 2)), 2e-3);
	task_report_drop(&r);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_string_equal(l->figure[0].name, "same_boxes");
	assert_int_equal(l->n_boxes[TASK_FLOAT], 1);
	assert_string_equal(l->class_name[0], "thing");
	assert_int_equal(l->n_changes, 0); // of the boxes, which are shown
	task_look_drop(&l);
	less.row[4] = .2f;
	if (task_add(c.t, case_net(&c, TASK_QUANT), 0, &(struct task_said){less.out, whole.out, NULL}, &c.err))
		fail_msg("%s", c.err.text);
	l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_int_equal(l->n_changes, 1);
	assert_int_equal(l->change[0].kind, CHANGE_MISSED);
	assert_float_equal(l->change[0].box[TASK_QUANT].score, .2f, 0);
	assert_float_equal(l->change[0].box[TASK_FLOAT].x, 10, 1e-4);
	task_look_drop(&l);
	case_end(&c);
}

// The yardstick of repair, without labels.
void test_instances__two_networks_are_compared_by_masks_too(void **state)
{
	struct coco_box whole = {10, 10, 40, 40}, half = {10, 10, 20, 40};
	struct rle *full = box_mask(&whole), *part = box_mask(&half);
	struct task_box box = {.x = 10, .y = 10, .w = 40, .h = 40, .score = .9f, .mask = full}, other = box;
	other.mask = part;
	struct boxes *a = boxes_of(&box, 1, 0), *b = boxes_of(&other, 1, 0);
	near(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){a}, 1), 0, 1e-6);
	near(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){b}, 1), 1 - exp(-pow(.5 / .3, 2)), 1e-6);
	boxes_free(&a);
	boxes_free(&b);
	rle_free(&full);
	rle_free(&part);
}
