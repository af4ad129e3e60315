// Poses: COCO's protocol for keypoints, and a task from images to figures.
#include <math.h>
#include <string.h>
#include "../../src/analysis/task/kinds/boxes.h"
#include "../../src/analysis/task/metric/coco.h"
#include "qtui/base/log.h"
#include "task_case.h"

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
			coco_image_match(&image[i], truth, n, found, m, &(struct coco_rule){.poses = &s});
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

// ---- a task: images of 64 x 64, rows of x1,y1,x2,y2,score,class and four keypoints

enum { ROW = 6 + 12, KEPT = 4 };

static void begin(struct task_case *c, bool metadata, int w)
{
	static struct metadata said[] = {{"task", "pose"}, {"names", "{0: 'thing'}"}, {"kpt_shape", "[4, 3]"}};
	case_begin(c, metadata ? said : NULL, 3, w);
	case_add_output(c, "output0", SHAPE(1, KEPT, ROW));
}

static const char *labels(const char *points)
{
	char more[128];
	snprintf(more, sizeof more, "\"keypoints\":[%s]", points);
	return case_labels(more);
}

static void add(struct task_case *c, enum task_variant v, float shift)
{
	float data[KEPT * ROW] = {10, 10, 50, 50, .9f, 0, 20 + shift, 20, 1, 30 + shift, 30, 1, 40 + shift, 40, .2f, 1, 1, .3f};
	struct tensor t = {.type = DT_F32, .shape = SHAPE(1, KEPT, ROW), .data = data};
	case_say(c, v, &t);
}

#define MARKED "20,20,2,30,30,2,0,0,0,0,0,0"

// The box is the same; its keypoints have moved by 16 pixels of 40, which is a similarity of .73.
void test_poses__a_task_counts_keypoints_where_boxes_stay(void **state)
{
	for (int metadata = 0; metadata < 2; metadata++) {
		struct task_case c;
		char note[512];
		begin(&c, metadata, CASE_SIDE);
		assert_int_equal(case_task(&c, -1, labels(MARKED)), STATUS_OK);
		assert_int_equal(task_kind(c.t), TASK_POSE);
		add(&c, TASK_FLOAT, 0);
		add(&c, TASK_QUANT, 16);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_string_equal(r->figure[0].name, "AP");
		near(r->figure[0].value[TASK_FLOAT], 1, 1e-12);
		double oks = exp(-16 * 16 / (2 * 1600 * 4 / 16.));
		near(r->figure[0].value[TASK_QUANT], floor((oks - .5) / .05 + 1) / 10, 1e-12);
		assert_int_equal(r->n_figures, 10);
		task_report_drop(&r);
		assert_true(task_apart(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT)) > .1);
		task_note(c.t, note, sizeof note);
		assert_non_null(strstr(note, "1 class, 4 keypoints)"));
		struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
		assert_int_equal(l->n_changes, 1);
		assert_int_equal(l->change[0].kind, CHANGE_MOVED);
		near(l->change[0].iou, oks, 1e-6);
		assert_true(l->change[0].right == (oks >= .5));
		near((double)l->change[0].box[TASK_QUANT].point[1].x, 46, 1e-5);
		near((double)l->truth[0].point[0].y, 20, 0);
		task_look_drop(&l);
		case_end(&c);
	}
}

// An image of 128 x 64 is made half as large, with 16 lines above: 20,20 of the input is 40,8 there.
void test_poses__keypoints_go_back_to_the_image(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_WIDE);
	assert_int_equal(case_task(&c, TASK_POSE, labels("40,8,2,60,28,2,0,0,0,0,0,0")), STATUS_OK);
	add(&c, TASK_FLOAT, 0);
	near(task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1), 1, 1e-12);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_FLOAT);
	near((double)l->box[TASK_FLOAT][0].point[1].x, 60, 1e-4);
	near((double)l->box[TASK_FLOAT][0].point[1].y, 28, 1e-4);
	task_look_drop(&l);
	case_end(&c);
}

void test_poses__boxes_of_such_a_network_are_measured_when_asked(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, TASK_DETECT, labels(MARKED)), STATUS_OK);
	add(&c, TASK_FLOAT, 0);
	add(&c, TASK_QUANT, 24);
	near(task_score(c.t, case_net(&c, TASK_QUANT), 0, 1), 1, 1e-12);
	near(task_apart(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT)), 0, 1e-12);
	case_end(&c);
}

void test_poses__other_keypoints_than_the_models_are_refused(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, -1, labels("1,1,1")), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "the model has 4 keypoints of an object, and "));
	assert_int_equal(case_task(&c, TASK_POSE, labels("")), STATUS_USAGE);
	assert_non_null(strstr(c.err.text, "holds boxes; --task pose needs keypoints"));
	case_end(&c);
}

// A network of boxes is measured by its boxes, whatever the labels have besides.
void test_poses__labels_with_keypoints_serve_boxes(void **state)
{
	struct task_case c;
	begin(&c, false, CASE_SIDE);
	c.b.g->value[c.b.g->output[0]].shape = SHAPE(1, KEPT, 6);
	assert_int_equal(case_task(&c, -1, labels(MARKED)), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_DETECT);
	assert_int_equal(case_task(&c, TASK_POSE, labels(MARKED)), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "finds no keypoints"));
	case_end(&c);
}

// Two keypoints of one object, ten pixels apart in a row.
struct lines {
	float x[2 * 128], y[2 * 128];
	struct tensor out[2];
};

static void draw_lines(struct lines *l, int x, int y, float sure)
{
	*l = (struct lines){.x = {0}};
	l->out[0] = (struct tensor){.type = DT_F32, .shape = SHAPE(1, 2, 128), .data = l->x};
	l->out[1] = (struct tensor){.type = DT_F32, .shape = SHAPE(1, 2, 128), .data = l->y};
	for (int k = 0; k < 2; k++)
		l->x[k * 128 + 2 * (x + 10 * k)] = l->y[k * 128 + 2 * y] = sure;
}

static void say_lines(struct task_case *c, enum task_variant v, int x, int y)
{
	struct lines l;
	draw_lines(&l, x, y, .8f);
	case_say(c, v, l.out);
}

static void begin_lines(struct task_case *c)
{
	case_begin(c, NULL, 0, CASE_SIDE);
	case_add_output(c, "simcc_x", SHAPE(1, 2, 128));
	case_add_output(c, "simcc_y", SHAPE(1, 2, 128));
}

// Labels of keypoints that lie beside the samples have boxes, too.
void test_poses__labels_beside_the_samples_serve_boxes(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	char *path = file_join(dataset_path(c.d), "person_keypoints.json");
	assert_int_equal(rename(labels(MARKED), path), 0);
	assert_int_equal(case_task(&c, TASK_DETECT, NULL), STATUS_OK);
	assert_int_equal(task_samples(c.t), 1);
	case_end(&c);
	assert_int_equal(remove(path), 0); // other tests have the same samples
	free(path);
	(void)state;
}

// Pictures of one person each, with COCO's keypoints: a task of poses like any other.
void test_poses__of_one_object_a_picture(void **state)
{
	struct task_case c;
	char note[512];
	begin_lines(&c);
	assert_int_equal(case_task(&c, -1, case_labels("\"keypoints\":[20,30,2,30,30,2],\"num_keypoints\":2")), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_POSE);
	say_lines(&c, TASK_FLOAT, 20, 30);
	say_lines(&c, TASK_QUANT, 60 - 10, 30); // thirty pixels beside
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_float_equal(r->figure[0].value[TASK_FLOAT], 1, 1e-12);
	assert_true(r->figure[0].value[TASK_QUANT] < .9);
	task_report_drop(&r);
	task_note(c.t, note, sizeof note);
	assert_non_null(strstr(note, "decoder simcc"));
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_int_equal(l->n_boxes[TASK_FLOAT], 1);
	assert_int_equal(l->n_changes, 1);
	assert_int_equal(l->change[0].kind, CHANGE_MOVED);
	task_look_drop(&l);
	case_end(&c);
}

void test_poses__more_than_one_object_is_warned_of(void **state)
{
	static const char labels[] = "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"annotations\":["
	                             "{\"image_id\":1,\"category_id\":1,\"bbox\":[10,10,40,40],\"area\":1600,\"keypoints\":[20,30,2,30,30,2]},"
	                             "{\"image_id\":1,\"category_id\":1,\"bbox\":[12,10,40,40],\"area\":1600,\"keypoints\":[22,30,2,32,30,2]}],"
	                             "\"categories\":[{\"id\":1,\"name\":\"person\"}]}";
	struct task_case c;
	char text[512] = "";
	begin_lines(&c);
	int before = support_log_count();
	assert_int_equal(case_task(&c, -1, support_temp_file("two.json", labels, strlen(labels))), STATUS_OK);
	bool said = false;
	for (int i = before; i < support_log_count(); i++)
		said |= log_line(i, text, sizeof text) >= 0 && strstr(text, "finds one object a sample, and 1 of 1 have more");
	assert_true(said);
	case_end(&c);
}

// Without labels: one keypoint of two has moved by 8 pixels of 64 x 64. The yardstick of repair sees it too, however sure the
// network is.
void test_poses__of_one_object_without_labels(void **state)
{
	const double apart = exp(-64 / (2 * 4096 * 4 * .25));
	for (int i = 0; i < 2; i++) {
		struct task_case c;
		struct lines before, after;
		struct boxes *a, *b;
		begin_lines(&c);
		draw_lines(&before, 20, 30, i ? .8f : .2f);
		draw_lines(&after, 20, 30, i ? .8f : .2f);
		after.x[2 * 28] = 1;
		assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
		if (task_add(c.t, case_net(&c, TASK_QUANT), 0, &(struct task_said){after.out, before.out, NULL}, &c.err))
			fail_msg("%s", c.err.text);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_int_equal(r->n_figures, 3);
		assert_string_equal(r->figure[0].name, "same_points");
		near(r->figure[0].value[TASK_QUANT], (1 + apart) / 2, 1e-6);
		task_report_drop(&r);
		struct boxes_reader *reader = boxes_reader_new(c.b.g, NULL, 0, 0);
		assert_int_equal(boxes_read(&a, reader, &(struct sample_outputs){.out = before.out}, &c.err), STATUS_OK);
		assert_int_equal(boxes_read(&b, reader, &(struct sample_outputs){.out = after.out}, &c.err), STATUS_OK);
		near(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){a}, 1), 0, 1e-6);
		assert_true(boxes_apart((const struct boxes *[]){a}, (const struct boxes *[]){b}, 1) > 1e-5);
		boxes_free(&a);
		boxes_free(&b);
		boxes_reader_free(&reader);
		case_end(&c);
	}
}

// The yardstick of repair, without labels: keypoints count where the network is sure of them.
void test_poses__two_networks_are_compared_by_keypoints_too(void **state)
{
	struct keypoint here[2] = {{20, 20, 1}, {40, 40, .9f}}, moved[2] = {{30, 20, 1}, {40, 40, .9f}},
	                unsure[2] = {{20, 20, 1}, {90, 90, .1f}};
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
