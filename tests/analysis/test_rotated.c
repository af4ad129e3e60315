// Rotated boxes: their overlap, their suppression, their labels, and a task from images to figures.
#include <math.h>
#include <string.h>
#include "../../src/analysis/task/decode/nms.h"
#include "../../src/analysis/task/kinds/boxes.h"
#include "../../src/analysis/task/labels/labels.h"
#include "../../src/analysis/task/metric/rotated.h"
#include "task_case.h"

static const double PI = 3.14159265358979323846;

static struct spread spread_of(const double box[5])
{
	struct keypoint corner[ROTATED_CORNERS];
	rotated_corners(corner, box[0], box[1], box[2], box[3], box[4]);
	return rotated_spread(corner);
}

// ---- overlap

// Figures of another implementation, written from the formula for centre, size and angle.
void test_rotated__overlap_is_probiou(void **state)
{
	const struct {
		double a[5], b[5], overlap;
	} rows[] = {
	    {{50, 50, 40, 10, 0}, {50, 50, 40, 10, 0}, .999552786},
	    {{50, 50, 40, 10, 0}, {52, 51, 36, 12, .2}, .741514381},
	    {{50, 50, 40, 10, .5}, {50, 50, 40, 10, .5 + PI / 2}, .272393053},
	    {{20, 30, 24, 16, 1.1}, {24, 27, 30, 14, .8}, .583791782},
	    {{50, 50, 40, 10, 0}, {50, 50, 10, 40, PI / 2}, .999552786}, // the same box, said otherwise
	    {{10, 10, 5, 5, 0}, {90, 90, 5, 5, 0}, -.00000005},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spread a = spread_of(rows[i].a), b = spread_of(rows[i].b);
		near(rotated_overlap(&a, &b), rows[i].overlap, 2e-6);
		near(rotated_overlap(&b, &a), rows[i].overlap, 2e-6);
	}
	struct spread none = spread_of((double[]){10, 10, 0, 0, 0});
	assert_true(isfinite(rotated_overlap(&none, &none)));
}

void test_rotated__any_corner_may_be_the_first(void **state)
{
	struct keypoint corner[ROTATED_CORNERS], other[ROTATED_CORNERS];
	rotated_corners(corner, 30, 20, 24, 10, .7);
	for (int i = 0; i < ROTATED_CORNERS; i++)
		other[i] = corner[(6 - i) % ROTATED_CORNERS]; // and the other way round
	struct spread a = rotated_spread(corner), b = rotated_spread(other);
	near(a.xx, b.xx, 1e-5);
	near(a.yy, b.yy, 1e-5);
	near(a.xy, b.xy, 1e-5);
	near(rotated_area(corner), 240, 1e-3);
	near(rotated_area(other), 240, 1e-3);
}

// ---- suppression

// Two that cross at right angles have the same box around them.
void test_rotated__boxes_that_cross_are_both_kept(void **state)
{
	struct candidates c = {0};
	for (int i = 0; i < 3; i++) {
		struct spread s = spread_of((double[]){50, 50, 60, 8, (i == 1 ? 3 : 1) * PI / 4});
		candidates_add(&c, &(struct candidate){.x1 = 26, .y1 = 26, .x2 = 74, .y2 = 74, .xx = (float)s.xx, .yy = (float)s.yy,
		    .xy = (float)s.xy, .score = .9f - .1f * (float)i});
	}
	nms_keep(&c, .7, 300);
	assert_int_equal(c.n, 2);
	near((double)c.at[1].score, .8, 1e-6);
	candidates_done(&c);
}

// ---- a task: images of 64 x 64, rows of cx,cy,w,h,score,class,angle

enum { ROW = 7, KEPT = 12 };

static void begin(struct task_case *c, bool metadata, int w)
{
	static struct metadata said[] = {{"task", "obb"}, {"names", "{0: 'thing'}"}};
	case_begin(c, metadata ? said : NULL, 2, w);
	case_add_output(c, "output0", SHAPE(1, KEPT, ROW));
}

static void add(struct task_case *c, enum task_variant v, const float box[4], double angle)
{
	float data[KEPT * ROW] = {box[0], box[1], box[2], box[3], .9f, 0, (float)angle};
	struct tensor t = {.type = DT_F32, .shape = SHAPE(1, KEPT, ROW), .data = data};
	case_say(c, v, &t);
}

// The corners of 30,30 40 x 10 turned by .5, in parts of an image of w x 64.
static const char *text_labels(const char *dir, double w, const char *more)
{
	struct keypoint k[ROTATED_CORNERS];
	struct str s = {0};
	char *path = file_join(dir, "a.txt");
	rotated_corners(k, 30, 30, 40, 10, .5);
	str_addf(&s, "0");
	for (int i = 0; i < ROTATED_CORNERS; i++)
		str_addf(&s, " %.6f %.6f", (double)k[i].x / w, (double)k[i].y / 64);
	str_addf(&s, "\n%s", more);
	struct error err;
	assert_int_equal(file_mkdirs(support_temp(dir), &err), STATUS_OK);
	support_temp_file(path, str_text(&s), s.len);
	free(path);
	str_done(&s);
	return support_temp(dir);
}

static const float right[4] = {30, 30, 40, 10};

// The box around it stays nearly the same when it is turned the other way.
void test_rotated__a_task_counts_the_angle(void **state)
{
	struct task_case c;
	char note[512];
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, -1, text_labels("obb", 64, "")), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_OBB);
	add(&c, TASK_FLOAT, right, .5);
	add(&c, TASK_QUANT, right, -.5);
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_string_equal(r->figure[0].name, "AP");
	near(r->figure[0].value[TASK_FLOAT], 1, 1e-12);
	near(r->figure[0].value[TASK_QUANT], 0, 1e-12);
	task_report_drop(&r);
	assert_true(task_apart(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT)) > .5);
	task_note(c.t, note, sizeof note);
	assert_non_null(strstr(note, "1 class, rotated boxes); decoder end2end-obb"));
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_true(l->rotated);
	assert_int_equal(l->n_bones, 4);
	assert_int_equal(l->n_changes, 1);
	assert_int_equal(l->change[0].kind, CHANGE_MOVED);
	assert_true(l->change[0].iou < .5 && l->change[0].right);
	near((double)l->truth[0].point[0].x, (double)l->box[TASK_FLOAT][0].point[0].x, 1e-3);
	task_look_drop(&l);
	// The same box said otherwise has lost nothing.
	add(&c, TASK_QUANT, (const float[]){30, 30, 10, 40}, .5 + PI / 2);
	near(task_score(c.t, case_net(&c, TASK_QUANT), 0, 1), 1, 1e-12);
	near(task_apart(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT)), 0, 1e-5);
	case_end(&c);
}

// An image of 128 x 64 is made half as large, with 16 lines above.
void test_rotated__corners_go_back_to_the_image(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_WIDE);
	assert_int_equal(case_task(&c, -1, text_labels("obbwide", 128, "")), STATUS_OK);
	add(&c, TASK_FLOAT, (const float[]){15, 31, 20, 5}, .5);
	near(task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1), 1, 1e-12);
	case_end(&c);
}

// A box that reaches over the edge is not cut there: it would be turned by that.
void test_rotated__corners_outside_are_kept(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, TASK_OBB, case_labels("\"segmentation\":[[-10,4,22,-4,24,4,-8,12]]")), STATUS_OK);
	add(&c, TASK_FLOAT, (const float[]){7, 4, 32.98f, 8.246f}, -atan2(8, 32));
	near(task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1), 1, 1e-12);
	case_end(&c);
}

void test_rotated__without_metadata_it_is_asked_for(void **state)
{
	struct task_case c;
	begin(&c, false, CASE_SIDE);
	assert_int_equal(case_task(&c, TASK_OBB, text_labels("obb", 64, "")), STATUS_OK);
	add(&c, TASK_FLOAT, right, .5);
	near(task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1), 1, 1e-12);
	struct boxes_reader *r = boxes_reader_of(c.t);
	assert_non_null(r);
	boxes_reader_free(&r);
	case_end(&c);
}

void test_rotated__boxes_along_the_axes_are_measured_when_asked(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, TASK_DETECT, text_labels("obb", 64, "")), STATUS_OK);
	add(&c, TASK_FLOAT, right, -.5);
	near(task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1), 1, 1e-12);
	case_end(&c);
}

// Labels that have no corners at all are boxes; where some have them, the others' are those of their boxes.
void test_rotated__labels_with_and_without_corners(void **state)
{
	struct task_case c;
	begin(&c, true, CASE_SIDE);
	assert_int_equal(case_task(&c, -1, text_labels("obbmixed", 64, "0 .5 .5 .25 .25\n0 .1 .1 .2 .1 .2 .2\n")), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_OBB);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_FLOAT);
	assert_int_equal(l->n_truths, 3);
	near((double)l->truth[1].point[0].x, 24, 1e-4);
	near((double)l->truth[1].point[2].y, 40, 1e-4);
	task_look_drop(&l);
	task_free(&c.t);
	assert_int_equal(case_task(&c, -1, case_labels("\"iscrowd\":0")), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_DETECT);
	task_free(&c.t);
	assert_int_equal(case_task(&c, TASK_OBB, case_labels("\"iscrowd\":0")), STATUS_USAGE);
	assert_non_null(strstr(c.err.text, "holds boxes; --task obb needs rotated boxes"));
	case_end(&c);
}

// Its labels' four corners are an outline, of which the box is taken.
void test_rotated__a_network_of_boxes_has_none(void **state)
{
	struct task_case c;
	begin(&c, false, CASE_SIDE);
	c.b.g->value[c.b.g->output[0]].shape = SHAPE(1, 5, 6);
	assert_int_equal(case_task(&c, -1, text_labels("obb", 64, "")), STATUS_OK);
	assert_int_equal(task_kind(c.t), TASK_DETECT);
	task_free(&c.t);
	assert_int_equal(case_task(&c, TASK_OBB, text_labels("obb", 64, "")), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "finds no rotated boxes"));
	case_end(&c);
}
