// Poses: COCO's protocol for keypoints, labels that have them, where decoders find them, and a task from images to figures.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../../src/analysis/task/boxes.h"
#include "../../src/analysis/task/coco.h"
#include "../../src/analysis/task/decode.h"
#include "../../src/analysis/task/labels.h"
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

// ---- the protocol

void test_poses__similarity_of_keypoints(void **state)
{
	struct skeleton s;
	struct keypoint truth[17] = {{10, 20, 2}, {30, 20, 1}}, found[17] = {{10, 20, 0}, {33, 16, 0}}, none[17] = {{0}};
	skeleton_init(&s, 17);
	for (int i = 2; i < 17; i++)
		found[i] = (struct keypoint){1000, 1000, 1}; // nobody marked where they are
	double sigma = .025, moved = exp(-25 / (2 * 400 * 4 * sigma * sigma));
	near(keypoints_similarity(&s, found, truth, 0, 400), (1 + moved) / 2, 1e-12);
	near(keypoints_similarity(&s, truth, truth, 0, 400), 1, 0);
	assert_true(isnan(keypoints_similarity(&s, found, none, 0, 400)));
	assert_int_equal(s.n_bones, 16);
	skeleton_done(&s);
	skeleton_init(&s, 21);
	near(s.sigma[20], 1. / 21, 0);
	assert_int_equal(s.n_bones, 0);
	skeleton_done(&s);
}

// Without marked keypoints what is found within twice the box's size counts as there.
void test_poses__an_object_without_keypoints_is_its_neighbourhood(void **state)
{
	struct skeleton s;
	struct coco_truth t = {.box = {100, 100, 10, 20}, .area = 100};
	struct keypoint k[2] = {{95, 135, 1}, {95, 141, 1}};
	struct coco_found f = {.point = k};
	skeleton_init(&s, 2);
	near(coco_oks(&f, &t, &s), (1 + exp(-1 / (2 * 100 * 4 * .25))) / 2, 1e-12);
	skeleton_done(&s);
}

enum { IMAGES = 40, POINTS = 17 };

static int draw(uint64_t *x, int below)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (int)((*x >> 33) % (unsigned)below);
}

static int draw_truths(uint64_t *x, struct coco_truth *truth, struct keypoint (*point)[POINTS])
{
	int n = draw(x, 5);
	for (int i = 0; i < n; i++) {
		int left = draw(x, 400), top = draw(x, 400), w = 20 + draw(x, 200), h = 20 + draw(x, 200);
		bool crowd = draw(x, 12) == 0, bare = draw(x, 8) == 0;
		for (int k = 0; k < POINTS; k++) {
			int px = left + draw(x, w), py = top + draw(x, h), v = draw(x, 3);
			point[i][k] = (struct keypoint){(float)px, (float)py, bare || crowd ? 0 : (float)v};
		}
		truth[i] = (struct coco_truth){.box = {left, top, w, h}, .area = w * h / 2., .crowd = crowd, .point = point[i]};
	}
	return n;
}

static int draw_found(uint64_t *x, struct coco_found *found, struct keypoint (*point)[POINTS], const struct coco_truth *truth, int n_truths)
{
	int n = draw(x, 30);
	for (int i = 0; i < n; i++) {
		const struct coco_truth *to = n_truths && draw(x, 4) ? &truth[draw(x, n_truths)] : NULL;
		int spread = 1 + draw(x, 40);
		for (int k = 0; k < POINTS; k++) {
			int dx = draw(x, 2 * spread + 1) - spread, dy = draw(x, 2 * spread + 1) - spread;
			point[i][k] = to ? (struct keypoint){to->point[k].x + (float)dx, to->point[k].y + (float)dy, 1}
			                 : (struct keypoint){200 + 5 * (float)dx, 200 + 5 * (float)dy, 1};
		}
		found[i] = (struct coco_found){.score = draw(x, 50) / 50., .point = point[i]};
	}
	return n;
}

// The figures are of another implementation, written from the definition (pycocotools' evaluateImg and accumulate).
void test_poses__figures_are_those_of_another_implementation(void **state)
{
	static const struct {
		uint64_t seed;
		double figure[COCO_FIGURES];
	} rows[] = {
	    {1, {[COCO_AP] = .0303085, [COCO_AP50] = .0720344, [COCO_AP75] = .0199117, [COCO_AP_MEDIUM] = .0805686,
	            [COCO_AP_LARGE] = .0176057, [COCO_AR_100] = .3695652, [COCO_AR50] = .6231884, [COCO_AR75] = .3333333,
	            [COCO_AR_MEDIUM] = .36875, [COCO_AR_LARGE] = .4125}},
	    {2, {[COCO_AP] = .0619707, [COCO_AP50] = .1395575, [COCO_AP75] = .0514246, [COCO_AP_MEDIUM] = .1316377,
	            [COCO_AP_LARGE] = .054241, [COCO_AR_100] = .4313433, [COCO_AR50] = .6567164, [COCO_AR75] = .4328358,
	            [COCO_AR_MEDIUM] = .3851064, [COCO_AR_LARGE] = .54}},
	    {3, {[COCO_AP] = .0413296, [COCO_AP50] = .0800939, [COCO_AP75] = .0347211, [COCO_AP_MEDIUM] = .0704363,
	            [COCO_AP_LARGE] = .0538467, [COCO_AR_100] = .3915254, [COCO_AR50] = .5254237, [COCO_AR75] = .3728814,
	            [COCO_AR_MEDIUM] = .2848485, [COCO_AR_LARGE] = .652381}},
	};
	struct skeleton s;
	skeleton_init(&s, POINTS);
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct coco_image image[IMAGES];
		const struct coco_image *at[IMAGES];
		struct coco_scores out = {0};
		uint64_t x = rows[r].seed;
		for (int i = 0; i < IMAGES; i++) {
			struct coco_truth truth[5];
			struct coco_found found[30];
			struct keypoint marked[5][POINTS], said[30][POINTS];
			int n = draw_truths(&x, truth, marked), m = draw_found(&x, found, said, truth, n);
			coco_image_match(&image[i], truth, n, found, m, &s);
			at[i] = &image[i];
		}
		struct coco_pool *p = coco_pool_new(at, IMAGES, 1);
		coco_pool_score(p, NULL, &out);
		for (int f = 0; f < COCO_FIGURES; f++)
			if (coco_figure_name((enum coco_figure)f, true))
				near(out.figure[f], rows[r].figure[f], 1e-6);
		coco_pool_free(&p);
		for (int i = 0; i < IMAGES; i++)
			coco_image_done(&image[i]);
	}
	skeleton_done(&s);
}

// ---- labels

static const char *const arrays[] = {"x/a.npy", "x/b.npy"};

static const char *write_text(const char *name, const char *text)
{
	return support_temp_file(name, text, strlen(text));
}

static struct labels *read_ok(const char *path, const struct labels_samples *s)
{
	struct labels *l;
	struct error err = {0};
	if (labels_read(&l, path, s, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return l;
}

static void read_bad(const char *path, const struct labels_samples *s, const char *says)
{
	struct labels *l;
	struct error err = {0};
	assert_int_equal(labels_read(&l, path, s, &err), STATUS_FORMAT);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

#define IMAGE "{\"images\":[{\"id\":1,\"file_name\":\"a.npy\"}],\"annotations\":["
#define PERSON "{\"image_id\":1,\"category_id\":1,\"bbox\":[1,2,30,40]"

void test_poses__labels_of_coco(void **state)
{
	const struct labels_samples s = {.file = arrays, .n = 2, .w = 64, .h = 48};
	struct labels *l = read_ok(write_text("poses.json", IMAGE PERSON ",\"area\":500,\"keypoints\":[5,6,2,0,0,0,7,8,1]},"
	    PERSON ",\"keypoints\":[]}],\"categories\":[{\"id\":1,\"name\":\"person\",\"skeleton\":[[1,3],[3,9],[2,3]]}]}"), &s);
	assert_int_equal(l->kind, LABELS_POSES);
	assert_int_equal(l->skeleton.n, 3);
	const struct coco_truth *t = l->label[0].truth;
	assert_true(t[0].area == 500 && t[0].point[0].y == 6 && t[0].point[2].v == 1 && t[0].point[1].v == 0);
	assert_null(t[1].point);
	assert_int_equal(l->skeleton.n_bones, 2); // there is no ninth
	assert_true(l->skeleton.bone[1][0] == 1 && l->skeleton.bone[1][1] == 2);
	labels_free(&l);
#define CATEGORY "],\"categories\":[{\"id\":1}]}"
	read_bad(write_text("four.json", IMAGE PERSON ",\"keypoints\":[5,6,2,1]}" CATEGORY), &s, "[x, y, visibility]");
	read_bad(write_text("text.json", IMAGE PERSON ",\"keypoints\":[5,\"6\",2]}" CATEGORY), &s, "keypoints[1] is no number");
	read_bad(write_text("two.json", IMAGE PERSON ",\"keypoints\":[5,6,2]}," PERSON ",\"keypoints\":[5,6,2,7,8,1]}" CATEGORY), &s,
	    "it has 2 keypoints, and an object before it 1");
}

static const char *text_dir(const char *name, const char *a)
{
	struct error err;
	char *path = file_join(support_temp(name), "a.txt");
	assert_int_equal(file_mkdirs(support_temp(name), &err), STATUS_OK);
	assert_int_equal(file_write(path, a, strlen(a), &err), STATUS_OK);
	free(path);
	return support_temp(name);
}

void test_poses__labels_as_text(void **state)
{
	struct labels_samples s = {.file = arrays, .n = 2, .w = 64, .h = 48};
	// An even number of numbers is no outline.
	struct labels *l = read_ok(text_dir("even", "0 .5 .5 .25 .5 .25 .5 2 0 0 0 .5 1 1\n0 .5 .5 .25 .5\n"), &s);
	assert_int_equal(l->kind, LABELS_POSES);
	assert_int_equal(l->skeleton.n, 3);
	const struct coco_truth *t = l->label[0].truth;
	assert_true(t[0].point[0].x == 16 && t[0].point[0].y == 24 && t[0].point[0].v == 2 && t[0].point[2].y == 48);
	near(t[0].area, .53 * 16 * 24, 1e-9);
	assert_true(t[1].area == 16 * 24 && !t[1].point);
	labels_free(&l);
	// An odd one is, but where the model says what its objects have.
	l = read_ok(text_dir("odd", "0 .5 .5 .25 .5 .25 .5 -.1 .5\n"), &s);
	assert_int_equal(l->kind, LABELS_BOXES);
	labels_free(&l);
	s.points = s.dims = 2;
	l = read_ok(text_dir("odd", "0 .5 .5 .25 .5 .25 .5 -.1 .5\n"), &s);
	assert_int_equal(l->skeleton.n, 2);
	assert_true(l->label[0].truth[0].point[0].v == 1 && l->label[0].truth[0].point[1].v == 0); // beside the image
	labels_free(&l);
	s.points = 0;
	read_bad(text_dir("bad", "0 .5 .5 .25 .5 .25 .5 2 0 0 0 .5 1 3\n"), &s, "a.txt:1: a line is \"class cx cy w h\"");
}

// COCO's own directories: train2017 beside annotations/, or in images/ beside it.
void test_poses__annotations_lie_as_coco_has_them(void **state)
{
	static const struct {
		const char *dataset, *file;
		enum labels_kind kind;
	} rows[] = {{"val2017", "annotations/person_keypoints_val2017.json", LABELS_POSES},
	    {"val2017/", "annotations/instances_val2017.json", LABELS_BOXES},
	    {"images/val2017", "annotations/instances_val2017.json", LABELS_BOXES},
	    {"images/val2017", "annotations/person_keypoints_val2017.json", LABELS_POSES}};
	const struct labels_samples s = {.file = arrays, .n = 2};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct str root = {0};
		struct error err;
		str_addf(&root, "%s%d", support_temp("coco"), (int)i);
		char *file = file_join(str_text(&root), rows[i].file), *dir = file_dir(file), *data = file_join(str_text(&root), rows[i].dataset);
		assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
		assert_int_equal(file_mkdirs(data, &err), STATUS_OK);
		assert_int_equal(file_write(file, "{}", 2, &err), STATUS_OK);
		char *found = labels_find(data, rows[i].kind, &s);
		assert_non_null(found);
		assert_string_equal(found, file);
		assert_null(labels_find(data, LABELS_CLASSES, &s));
		str_done(&root);
		free(found);
		free(file);
		free(dir);
		free(data);
	}
}

// ---- decoders: an input of 64 x 64, one class, two keypoints

struct made {
	struct head h;
	struct head_output out[9];
	float *data[9];
	struct candidates c;
};

static float *add_output(struct made *m, const char *name, unsigned ends, struct shape s, float value)
{
	int64_t n = shape_count(&s);
	float *x = m->data[m->h.n] = xcalloc((size_t)n, sizeof *x);
	for (int64_t i = 0; i < n; i++)
		x[i] = value;
	m->out[m->h.n++] = (struct head_output){.name = name, .type = DT_F32, .shape = s, .data = x, .ends = ends};
	m->h.out = m->out;
	m->h.input_w = m->h.input_h = 64;
	m->h.hint[0] = 1;
	m->h.n_hints = 1;
	return x;
}

// One object, 20,30 to 44,46, whose keypoints are at 22,40 (sure) and 50,33 (not).
static void check_one(struct made *m, const char *decoder)
{
	struct error err = {0};
	struct bound b = {0};
	const struct decoder *d;
	struct keypoint k[2];
	if (decode_find(&d, &m->h, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_string_equal(d->name, decoder);
	assert_true(d->bind(&b, &m->h));
	assert_int_equal(b.points, 2);
	decode_run(&m->c, d, &b, &m->h, .25);
	nms_keep(&m->c, d->iou, 10);
	assert_int_equal(m->c.n, 1);
	near((double)m->c.at[0].x1, 20, .02);
	near((double)m->c.at[0].y2, 46, .02);
	decode_points(k, &b, &m->h, &m->c.at[0]);
	near((double)k[0].x, 22, 1e-4);
	near((double)k[0].y, 40, 1e-4);
	near((double)k[1].x, 50, 1e-4);
	near((double)k[1].y, 33, 1e-4);
	near((double)k[0].v, .9, 1e-4);
	near((double)k[1].v, .1, 1e-4);
	for (int i = 0; i < m->h.n; i++)
		free(m->data[i]);
	candidates_done(&m->c);
}

enum { ROWS = 64 + 16 + 4, CELL = 64 + 2 * 4 + 2 }; // cell 2,2 of the stride 16

static void put(float *x, const float *v, int n, int64_t at, int64_t step)
{
	for (int i = 0; i < n; i++)
		x[at + i * step] = v[i];
}

void test_poses__keypoints_behind_the_classes_of_decoded_rows(void **state)
{
	static const float row[] = {32, 38, 24, 16, .9f, 22, 40, .9f, 50, 33, .1f};
	static const float with_object[] = {32, 38, 24, 16, .95f, .95f, 22, 40, .9f, 50, 33, .1f};
	for (int known = 0; known < 2; known++) { // by the metadata, by the labels
		struct made m = {.h = {.points = 2, .extra = known ? 6 : 0}};
		put(add_output(&m, "output0", END_OTHER, SHAPE(1, 11, ROWS), 0), row, 11, CELL, ROWS);
		check_one(&m, "yolov8");
		m = (struct made){.h = {.points = 2, .extra = known ? 6 : 0}};
		put(add_output(&m, "output", END_OTHER, SHAPE(1, 3 * ROWS, 12), 0), with_object, 12, (int64_t)CELL * 12, 1);
		check_one(&m, "yolov5");
	}
}

void test_poses__keypoints_behind_finished_rows(void **state)
{
	static const float row[] = {20, 30, 44, 46, .9f, 0, 22, 40, .9f, 50, 33, .1f};
	struct made m = {.h = {.points = 2, .extra = 6}};
	put(add_output(&m, "output0", END_OTHER, SHAPE(1, 30, 12), 0), row, 12, 0, 1);
	check_one(&m, "end2end");
	m = (struct made){0};
	put(add_output(&m, "dets", END_OTHER, SHAPE(1, 3, 5), 0), row, 5, 5, 1);
	put(add_output(&m, "keypoints", END_OTHER, SHAPE(1, 3, 2, 3), 0), row + 6, 6, 6, 1);
	check_one(&m, "rtmo");
}

static float logit(float p)
{
	return logf(p / (1 - p));
}

// The centre of the cell is 40,40. With bins all of a distance's weight is on one, or on two in equal parts.
static void put_raw(float *box, float *score, float *point, int bins)
{
	static const float distance[4] = {20 / 16.f, 10 / 16.f, 4 / 16.f, 6 / 16.f};
	for (int side = 0; side < 4 && bins == 1; side++)
		box[side * 16 + 10] = distance[side];
	for (int side = 0; side < 4 && bins > 1; side++)
		for (int i = 0; i < 2; i++)
			box[(side * bins + (int)distance[side] + i) * 16 + 10] = logf(fabsf((float)(1 - i) - distance[side] + floorf(distance[side])));
	score[10] = logit(.9f);
	const float gain = bins > 1 ? 2 : 1, from = bins > 1 ? 32 : 40;
	const float v[] = {(22 - from) / 16 / gain, (40 - from) / 16 / gain, logit(.9f), (50 - from) / 16 / gain, (33 - from) / 16 / gain,
	    logit(.1f)};
	put(point, v, 6, 10, 16);
}

void test_poses__keypoints_of_raw_maps(void **state)
{
	for (int bins = 16; bins >= 1; bins -= 15) {
		struct made m = {.h = {.points = 2}};
		float *at[3] = {0};
		for (int side = 8; side >= 2; side /= 2) {
			float *box = add_output(&m, "box", END_LINEAR, SHAPE(1, 4 * bins, side, side), bins > 1 ? -60 : 0);
			float *score = add_output(&m, "score", END_LINEAR, SHAPE(1, 1, side, side), -20);
			float *point = add_output(&m, "kpt", END_LINEAR, SHAPE(1, 6, side, side), 0);
			if (side == 4)
				memcpy(at, (float *[]){box, score, point}, sizeof at);
		}
		put_raw(at[0], at[1], at[2], bins);
		check_one(&m, "yolov8-raw");
	}
}

// Masks' coefficients behind the classes are as many as the prototypes: not a class more, and no objectness.
void test_poses__masks_behind_the_classes_are_none(void **state)
{
	struct made m = {.h = {.extra = 32}};
	struct error err = {0};
	struct bound b = {0};
	const struct decoder *d;
	add_output(&m, "output0", END_OTHER, SHAPE(1, 4 + 80 + 32, 4 * ROWS), 0);
	add_output(&m, "output1", END_OTHER, SHAPE(1, 32, 32, 32), 0);
	m.h.input_w = m.h.input_h = 128;
	m.h.hint[0] = 80;
	assert_int_equal(decode_find(&d, &m.h, NULL, &err), STATUS_OK);
	assert_string_equal(d->name, "yolov8");
	assert_true(d->bind(&b, &m.h));
	assert_int_equal(decode_classes(&b), 80);
	assert_int_equal(b.points, 0);
	for (int i = 0; i < m.h.n; i++)
		free(m.data[i]);
}

// ---- a task: images of 64 x 64, rows of x1,y1,x2,y2,score,class and four keypoints

struct bench {
	struct builder b;
	struct dataset *d;
	struct task *t;
	struct error err;
};

enum { ROW = 6 + 12, KEPT = 4 };

static void bench_new(struct bench *b, const char *name, bool metadata)
{
	static struct metadata said[] = {{"task", "pose"}, {"names", "{0: 'person'}"}, {"kpt_shape", "[4, 3]"}};
	static const uint8_t rgb[64 * 64 * 3] = {0};
	png_image image = {.version = PNG_IMAGE_VERSION, .width = 64, .height = 64, .format = PNG_FORMAT_RGB};
	*b = (struct bench){.b = builder_new()};
	int in = builder_input(&b->b, "image");
	b->b.g->value[in].shape = SHAPE(1, 3, 64, 64);
	builder_node(&b->b, "Relu", "last", "image", "output0");
	builder_output(&b->b, "output0");
	struct value *out = &b->b.g->value[b->b.g->output[0]];
	out->type = DT_F32;
	out->shape = SHAPE(1, KEPT, ROW);
	b->b.g->metadata = metadata ? said : NULL;
	b->b.g->n_metadata = metadata ? 3 : 0;
	assert_int_equal(file_mkdirs(support_temp(name), &b->err), STATUS_OK);
	char *path = file_join(support_temp(name), "a.png");
	assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
	free(path);
	if (dataset_open(&b->d, support_temp(name), b->b.g, &(struct dataset_options){0}, &b->err))
		fail_msg("%s", b->err.text);
}

static const char *labels(const char *points)
{
	struct str s = {0};
	str_addf(&s, "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"annotations\":[{\"image_id\":1,\"category_id\":1,"
	    "\"bbox\":[10,10,40,40],\"area\":1600,\"keypoints\":[%s]}],\"categories\":[{\"id\":1,\"name\":\"person\"}]}", points);
	const char *path = write_text("bench.json", str_text(&s));
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

static void add(struct bench *b, enum task_variant v, float shift)
{
	float data[KEPT * ROW] = {10, 10, 50, 50, .9f, 0, 20 + shift, 20, 1, 30 + shift, 30, 1, 40 + shift, 40, .2f, 1, 1, .3f};
	struct tensor t = {.type = DT_F32, .shape = SHAPE(1, KEPT, ROW), .data = data};
	if (task_add(b->t, net(b, v), 0, &t, &t, &b->err))
		fail_msg("%s", b->err.text);
}

static void bench_done(struct bench *b)
{
	task_free(&b->t);
	dataset_free(&b->d);
	graph_free(&b->b.g);
}

#define MARKED "20,20,2,30,30,2,0,0,0,0,0,0"

// The box is the same; its keypoints have moved by 16 pixels of 40, which is a similarity of .73.
void test_poses__a_task_counts_keypoints_where_boxes_stay(void **state)
{
	for (int metadata = 0; metadata < 2; metadata++) {
		struct bench b;
		char note[512];
		bench_new(&b, "bench", metadata);
		assert_int_equal(open_task(&b, -1, labels(MARKED)), STATUS_OK);
		assert_int_equal(task_kind(b.t), TASK_POSE);
		add(&b, TASK_FLOAT, 0);
		add(&b, TASK_QUANT, 16);
		struct task_report *r = task_report(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), 0);
		assert_string_equal(r->figure[0].name, "AP");
		near(r->figure[0].value[TASK_FLOAT], 1, 1e-12);
		double oks = exp(-16 * 16 / (2 * 1600 * 4 / 16.));
		near(r->figure[0].value[TASK_QUANT], floor((oks - .5) / .05 + 1) / 10, 1e-12);
		assert_int_equal(r->n_figures, 10);
		task_report_drop(&r);
		assert_true(task_apart(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT)) > .1);
		task_note(b.t, note, sizeof note);
		assert_non_null(strstr(note, "1 class, 4 keypoints)"));
		struct task_look *l = task_look_new(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), (struct key){1, 2}, 0, .25);
		assert_int_equal(l->n_changes, 1);
		assert_int_equal(l->change[0].kind, CHANGE_MOVED);
		near(l->change[0].iou, oks, 1e-6);
		assert_true(l->change[0].right == (oks >= .5));
		near((double)l->change[0].box[TASK_QUANT].point[1].x, 46, 1e-5);
		near((double)l->truth[0].point[0].y, 20, 0);
		task_look_drop(&l);
		bench_done(&b);
	}
}

void test_poses__boxes_of_such_a_network_are_measured_when_asked(void **state)
{
	struct bench b;
	bench_new(&b, "bench", true);
	assert_int_equal(open_task(&b, TASK_DETECT, labels(MARKED)), STATUS_OK);
	add(&b, TASK_FLOAT, 0);
	add(&b, TASK_QUANT, 24);
	near(task_score(b.t, net(&b, TASK_QUANT), 0, 1), 1, 1e-12);
	near(task_apart(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT)), 0, 1e-12);
	bench_done(&b);
}

void test_poses__other_keypoints_than_the_models_are_refused(void **state)
{
	struct bench b;
	bench_new(&b, "bench", true);
	assert_int_equal(open_task(&b, -1, labels("1,1,1")), STATUS_FORMAT);
	assert_non_null(strstr(b.err.text, "the model has 4 keypoints of an object, and "));
	assert_int_equal(open_task(&b, TASK_POSE, labels("")), STATUS_USAGE);
	assert_non_null(strstr(b.err.text, "holds boxes; --task pose needs keypoints"));
	bench_done(&b);
}

// A network of boxes is measured by its boxes, whatever the labels have besides.
void test_poses__labels_with_keypoints_serve_boxes(void **state)
{
	struct bench b;
	bench_new(&b, "bench", false);
	b.b.g->value[b.b.g->output[0]].shape = SHAPE(1, KEPT, 6);
	assert_int_equal(open_task(&b, -1, labels(MARKED)), STATUS_OK);
	assert_int_equal(task_kind(b.t), TASK_DETECT);
	assert_int_equal(open_task(&b, TASK_POSE, labels(MARKED)), STATUS_UNSUPPORTED);
	assert_non_null(strstr(b.err.text, "finds no keypoints"));
	bench_done(&b);
}

// The yardstick of repair, without labels: keypoints count where the network is sure of them.
void test_poses__two_networks_are_compared_by_keypoints_too(void **state)
{
	struct keypoint here[2] = {{20, 20, 1}, {40, 40, .9f}}, moved[2] = {{30, 20, 1}, {40, 40, .9f}}, unsure[2] = {{20, 20, 1}, {90, 90, .1f}};
	struct task_box box = {.x = 10, .y = 10, .w = 40, .h = 40, .score = .9f, .point = here}, other = box, third = box;
	struct keypoint hidden[2] = {here[0], {40, 40, .1f}};
	other.point = moved;
	third.point = unsure;
	struct boxes *a = boxes_of(&box, 1, 2), *b = boxes_of(&other, 1, 2);
	near(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){a}, 1), 0, 1e-6);
	assert_true(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){b}, 1) > .001);
	boxes_free(&a);
	boxes_free(&b);
	box.point = hidden;
	a = boxes_of(&box, 1, 2);
	b = boxes_of(&third, 1, 2);
	near(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){b}, 1), 0, 1e-6);
	boxes_free(&a);
	boxes_free(&b);
}
