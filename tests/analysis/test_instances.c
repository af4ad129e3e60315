// Masks of objects: COCO's protocol with masks in place of boxes, and a task from outputs to figures.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/task/boxes.h"
#include "../../src/analysis/task/coco.h"
#include "../engine/data_case.h"
#include "../engine/graph_builder.h"
#include "qtui/analysis/task_look.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9f is not %.9f", a, b);
}

static int draw(uint64_t *x, int below)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (int)((*x >> 33) % (unsigned)below);
}

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
			truth[k] = (struct coco_truth){.box = b, .area = b.w * b.h, .class = draw(&x, 2), .crowd = draw(&x, 8) == 0, .mask = box_mask(&b)};
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

struct bench {
	struct builder b;
	struct dataset *d;
	struct task *t;
	struct error err;
};

enum { ROW = 6 + 2, KEPT = 4, PROTO = 16 };

static void bench_new(struct bench *b, bool metadata, int w)
{
	static struct metadata said[] = {{"task", "segment"}, {"names", "{0: 'cat'}"}};
	static const uint8_t rgb[128 * 64 * 3] = {0};
	const char *dir = support_temp(w == 64 ? "images" : "wide");
	png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = 64, .format = PNG_FORMAT_RGB};
	*b = (struct bench){.b = builder_new()};
	int in = builder_input(&b->b, "image");
	b->b.g->value[in].shape = SHAPE(1, 3, 64, 64);
	builder_node(&b->b, "Relu", "rows", "image", "output0");
	builder_node(&b->b, "Relu", "prototypes", "image", "output1");
	builder_output(&b->b, "output0");
	builder_output(&b->b, "output1");
	struct value *out = &b->b.g->value[b->b.g->output[0]], *proto = &b->b.g->value[b->b.g->output[1]];
	out->type = proto->type = DT_F32;
	out->shape = SHAPE(1, KEPT, ROW);
	proto->shape = SHAPE(1, 2, PROTO, PROTO);
	b->b.g->metadata = metadata ? said : NULL;
	b->b.g->n_metadata = metadata ? 2 : 0;
	assert_int_equal(file_mkdirs(dir, &b->err), STATUS_OK);
	char *path = file_join(dir, "a.png");
	assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
	free(path);
	if (dataset_open(&b->d, dir, b->b.g, &(struct dataset_options){0}, &b->err))
		fail_msg("%s", b->err.text);
}

static const char *labels(const char *outline)
{
	struct str s = {0};
	str_addf(&s, "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"annotations\":[{\"image_id\":1,\"category_id\":1,"
	    "\"bbox\":[10,10,40,40],\"area\":1600,\"segmentation\":[%s]}],\"categories\":[{\"id\":1,\"name\":\"cat\"}]}", outline);
	const char *path = support_temp_file("bench.json", str_text(&s), s.len);
	str_done(&s);
	return path;
}

static enum status open_task(struct bench *b, int kind, const char *path)
{
	task_free(&b->t);
	return task_open(&b->t, b->b.g, b->d, &(struct task_options){.kind = kind, .labels = path}, &b->err);
}

static struct task_net *net(struct bench *b, enum task_variant v)
{
	return v == TASK_FLOAT ? task_net(b->t, task_key(b->t, NULL)) : task_net(b->t, (struct key){1, 2});
}

// The object is at 10,10 to 50,50; its mask begins at the column `from` of the input.
static void add(struct bench *b, enum task_variant v, float from)
{
	float data[KEPT * ROW] = {10, 10, 50, 50, .9f, 0, -from, 1, 10, 10, 50, 50, .01f, 0, -from, 1};
	float proto[2 * PROTO * PROTO];
	for (int i = 0; i < PROTO * PROTO; i++) {
		proto[i] = 1;
		proto[PROTO * PROTO + i] = (float)(i % PROTO) * 4 + 2;
	}
	struct tensor t[2] = {{.type = DT_F32, .shape = SHAPE(1, KEPT, ROW), .data = data},
	    {.type = DT_F32, .shape = SHAPE(1, 2, PROTO, PROTO), .data = proto}};
	if (task_add(b->t, net(b, v), 0, t, t, &b->err))
		fail_msg("%s", b->err.text);
}

static void bench_done(struct bench *b)
{
	task_free(&b->t);
	dataset_free(&b->d);
	graph_free(&b->b.g);
}

#define RIGHT_PART "[20,10,50,10,50,50,20,50]"

// The box is the same; the mask has lost 5 of 30 columns.
void test_instances__a_task_counts_masks_where_boxes_stay(void **state)
{
	for (int metadata = 0; metadata < 2; metadata++) {
		struct bench b;
		char note[512];
		bench_new(&b, metadata, 64);
		if (open_task(&b, -1, labels(RIGHT_PART)))
			fail_msg("%s", b.err.text);
		assert_int_equal(task_kind(b.t), TASK_INSTANCE);
		add(&b, TASK_FLOAT, 20);
		add(&b, TASK_QUANT, 29);
		struct task_report *r = task_report(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), 0);
		assert_string_equal(r->figure[0].name, "AP");
		assert_int_equal(r->n_figures, 12);
		near(r->figure[0].value[TASK_FLOAT], 1, 1e-12);
		near(r->figure[0].value[TASK_QUANT], .5, 1e-12); // 21 of 30: IoU .7, five of ten thresholds
		assert_false(task_is_blind(r));
		task_report_drop(&r);
		assert_true(task_apart(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT)) > .1);
		near(task_apart(b.t, net(&b, TASK_FLOAT), net(&b, TASK_FLOAT)), 0, 1e-12);
		task_note(b.t, note, sizeof note);
		assert_non_null(strstr(note, "1 class, masks)"));
		bench_done(&b);
	}
}

void test_instances__a_look_has_the_pixels_that_changed(void **state)
{
	struct bench b;
	bench_new(&b, true, 64);
	assert_int_equal(open_task(&b, -1, labels(RIGHT_PART)), STATUS_OK);
	add(&b, TASK_FLOAT, 25);
	add(&b, TASK_QUANT, 15);
	struct task_look *l = task_look_new(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), (struct key){1, 2}, 0, .25);
	assert_int_equal(l->n_boxes[TASK_FLOAT], 1);
	assert_int_equal(l->n_changes, 1);
	assert_int_equal(l->change[0].kind, CHANGE_MOVED);
	assert_true(l->change[0].right);
	near(l->change[0].iou, 25. / 35, 1e-12);
	assert_int_equal(rle_area(l->truth[0].mask), 30 * 40);
	assert_int_equal(l->cells_w, 64);
	assert_int_equal(l->cells_h, 64);
	for (int i = 0; i < 64 * 64; i++) {
		int x = i % 64, y = i / 64;
		bool inside = y >= 10 && y < 50;
		enum task_cell is = inside && x >= 20 && x < 25 ? CELL_GAINED : inside && x >= 15 && x < 20 ? CELL_LOST : CELL_SAME;
		if (l->cell[i] != is)
			fail_msg("cell %d,%d is %d", x, y, l->cell[i]);
	}
	task_look_drop(&l);
	bench_done(&b);
}

// An image of 128 x 64 is made half as large, with 16 lines above: the column 20 of the input is 40 there.
void test_instances__masks_go_back_to_the_image(void **state)
{
	struct bench b;
	bench_new(&b, true, 128);
	assert_int_equal(open_task(&b, TASK_INSTANCE, labels("[40,0,100,0,100,64,40,64]")), STATUS_OK);
	add(&b, TASK_FLOAT, 20);
	near(task_score(b.t, net(&b, TASK_FLOAT), 0, 1), 1, 1e-12);
	struct task_look *l = task_look_new(b.t, net(&b, TASK_FLOAT), net(&b, TASK_FLOAT), (struct key){1, 2}, 0, .25);
	assert_int_equal(rle_area(l->box[TASK_FLOAT][0].mask), 60 * 64);
	assert_true(rle_has(l->box[TASK_FLOAT][0].mask, 40, 0) && !rle_has(l->box[TASK_FLOAT][0].mask, 39, 0));
	task_look_drop(&l);
	bench_done(&b);
}

void test_instances__boxes_of_such_a_network_are_measured_when_asked(void **state)
{
	struct bench b;
	bench_new(&b, true, 64);
	assert_int_equal(open_task(&b, TASK_DETECT, labels(RIGHT_PART)), STATUS_OK);
	add(&b, TASK_QUANT, 40);
	near(task_score(b.t, net(&b, TASK_QUANT), 0, 1), 1, 1e-12);
	assert_int_equal(open_task(&b, -1, labels("")), STATUS_OK);
	assert_int_equal(task_kind(b.t), TASK_DETECT);
	assert_int_equal(open_task(&b, TASK_INSTANCE, labels("")), STATUS_USAGE);
	assert_non_null(strstr(b.err.text, "holds boxes; --task instance needs outlines"));
	assert_int_equal(open_task(&b, TASK_SEGMENT, labels(RIGHT_PART)), STATUS_USAGE);
	assert_non_null(strstr(b.err.text, "needs a class for each pixel; masks of objects are --task instance"));
	bench_done(&b);
}

void test_instances__outlines_serve_a_network_of_boxes(void **state)
{
	struct bench b;
	bench_new(&b, false, 64);
	b.b.g->n_outputs = 1;
	b.b.g->value[b.b.g->output[0]].shape = SHAPE(1, KEPT, 6);
	assert_int_equal(open_task(&b, -1, labels(RIGHT_PART)), STATUS_OK);
	assert_int_equal(task_kind(b.t), TASK_DETECT);
	assert_int_equal(open_task(&b, TASK_INSTANCE, labels(RIGHT_PART)), STATUS_UNSUPPORTED);
	assert_non_null(strstr(b.err.text, "finds no masks in the outputs; --task detect"));
	bench_done(&b);
}

// Other outlines are other labels: figures that a session keeps are not those of them.
void test_instances__outlines_are_in_the_key(void **state)
{
	struct bench b;
	bench_new(&b, true, 64);
	assert_int_equal(open_task(&b, -1, labels(RIGHT_PART)), STATUS_OK);
	struct key before = task_labels_key(b.t);
	assert_int_equal(open_task(&b, -1, labels("[21,10,50,10,50,50,21,50]")), STATUS_OK);
	struct key after = task_labels_key(b.t);
	assert_memory_not_equal(&before, &after, sizeof before);
	bench_done(&b);
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
