// Agreement of two networks without labels: what it goes by, and what it does where outputs have so many rows as come.
#include <string.h>
#include "task_case.h"

static enum status add(struct task_case *c, const struct tensor *f, const struct tensor *q)
{
	return task_add(c->t, case_net(c, TASK_QUANT), 0, &(struct task_said){q, f, NULL}, &c->err);
}

// Three classes that nobody names have numbers; outputs that are no boxes after all are compared all the same.
void test_agree__where_little_is_known(void **state)
{
	enum { N = 12, ROWS = 4 + 3 };
	struct task_case c;
	float before[ROWS * N] = {0}, after[ROWS * N] = {0};
	struct tensor f = {.type = DT_F32, .shape = SHAPE(1, ROWS, N), .data = before}, q = f;
	q.data = after;
	case_begin(&c, NULL, 0, CASE_SIDE);
	case_add_output(&c, "output0", SHAPE(1, ROWS, N));
	if (task_open(&c.t, c.b.g, c.d, &(struct task_options){.kind = TASK_AGREE, .decoder = "yolov8"}, &c.err))
		fail_msg("%s", c.err.text);
	for (int i = 0; i < 4; i++)
		before[i * N] = after[i * N] = 30;
	before[(4 + 2) * N] = after[(4 + 2) * N] = .9f;
	for (int fits = 1; fits >= 0; fits--) {
		f.shape = q.shape = fits ? SHAPE(1, ROWS, N) : SHAPE(1, ROWS * N);
		assert_int_equal(add(&c, &f, &q), STATUS_OK);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_string_equal(r->figure[0].name, fits ? "same_boxes" : "cosine");
		near(r->figure[0].value[TASK_QUANT], 1, 1e-12);
		assert_string_equal(r->figure[2].name, fits ? "snr_db" : "same_top1");
		near(r->figure[fits ? 0 : 2].value[TASK_QUANT], 1, 1e-6);
		task_report_drop(&r);
		struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
		assert_int_equal(l->n_boxes[TASK_QUANT], fits);
		if (fits)
			assert_string_equal(l->class_name[2], "class 2");
		task_look_drop(&l);
	}
	case_end(&c);
}

// Keypoints are shown with their boxes, and tell what moved.
void test_agree__poses(void **state)
{
	enum { POINTS = 2, N = 8 * 8 + 4 * 4 + 2 * 2, ROWS = 4 + 1 + 3 * POINTS };
	static struct metadata said[] = {{"kpt_shape", "[2, 3]"}, {"names", "{0: 'thing'}"}, {"task", "pose"}};
	struct task_case c;
	float before[ROWS * N] = {0}, after[ROWS * N];
	const float object[ROWS] = {32, 30, 24, 20, .9f, 25, 26, .8f, 40, 28, .7f};
	case_begin(&c, said, 3, CASE_WIDE); // as wide again as high: in the input half as large
	case_add_output(&c, "output0", SHAPE(1, ROWS, N));
	struct tensor f = {.type = DT_F32, .shape = SHAPE(1, ROWS, N), .data = before}, q = f;
	for (int i = 0; i < ROWS; i++)
		before[i * N] = object[i];
	memcpy(after, before, sizeof after);
	after[8 * N] = 60; // the second keypoint's x
	q.data = after;
	assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
	assert_int_equal(add(&c, &f, &q), STATUS_OK);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_int_equal(l->points, POINTS);
	assert_int_equal(l->n_boxes[TASK_FLOAT], 1);
	const struct keypoint *was = l->box[TASK_FLOAT][0].point, *is = l->box[TASK_QUANT][0].point;
	near((double)was[0].x, 50, 1e-3);
	near((double)was[0].y, (26 - 16) * 2, 1e-3);
	near((double)was[1].v, .7, 1e-6);
	near((double)is[1].x, 120, 1e-3);
	assert_int_equal(l->n_changes, 1);
	assert_int_equal(l->change[0].kind, CHANGE_MOVED);
	task_look_drop(&l);
	case_end(&c);
}

// Rotated boxes are shown as they lie, and have moved where they turned.
void test_agree__rotated(void **state)
{
	struct task_case c;
	float before[CASE_ROTATED], after[CASE_ROTATED];
	case_begin_rotated(&c, before, after, acosf(-1) / 2);
	struct tensor f = {.type = DT_F32, .shape = SHAPE(1, CASE_ROTATED / CASE_CELLS, CASE_CELLS), .data = before}, q = f;
	q.data = after;
	assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
	assert_int_equal(add(&c, &f, &q), STATUS_OK);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_true(l->rotated && l->points == 4);
	float least[TASK_VARIANTS] = {CASE_SIDE, CASE_SIDE}, most[TASK_VARIANTS] = {0};
	for (int v = 0; v < TASK_VARIANTS; v++)
		for (int i = 0; i < 4; i++) {
			least[v] = fminf(least[v], l->box[v][0].point[i].x);
			most[v] = fmaxf(most[v], l->box[v][0].point[i].x);
		}
	near((double)(most[TASK_FLOAT] - least[TASK_FLOAT]), 24, 1e-4);
	near((double)(most[TASK_QUANT] - least[TASK_QUANT]), 6, 1e-4);
	assert_int_equal(l->n_changes, 2); // lying across each other they are not the same object
	task_look_drop(&l);
	case_end(&c);
}

// ---- rows that a NonMaxSuppression leaves

enum { COLUMNS = 6, MOST = 4 }; // x1 y1 x2 y2 score class
static const float first[COLUMNS] = {10, 10, 30, 30, .9f, 0}, second[COLUMNS] = {35, 5, 60, 60, .8f, 2};

struct rows {
	float at[MOST][COLUMNS];
	struct tensor t;
};

static void rows_add(struct rows *r, const float *row)
{
	memcpy(r->at[r->t.shape.dim[0]++], row, sizeof r->at[0]);
}

static void rows_init(struct rows *r)
{
	*r = (struct rows){.t = {.type = DT_F32, .shape = SHAPE(0, COLUMNS), .data = r->at}};
}

static void begin_rows(struct task_case *c, const char *op)
{
	case_begin(c, NULL, 0, CASE_SIDE);
	builder_node(&c->b, op, "last", strcmp(op, "Relu") == 0 ? "image" : "image image", "det");
	builder_output(&c->b, "det");
	struct value *out = &c->b.g->value[c->b.g->output[0]];
	out->type = DT_F32;
	out->shape = (struct shape){.rank = -1};
	if (case_task(c, TASK_AGREE, NULL))
		fail_msg("%s", c->err.text);
}

static void expect_boxes(struct task_case *c, struct rows *f, struct rows *q, double same)
{
	assert_int_equal(add(c, &f->t, &q->t), STATUS_OK);
	struct task_report *r = task_report(c->t, case_net(c, TASK_FLOAT), case_net(c, TASK_QUANT), 0);
	assert_string_equal(r->figure[0].name, "same_boxes");
	near(r->figure[0].value[TASK_QUANT], same, 1e-6);
	near(r->sample[0].value[TASK_QUANT], same, 1e-6);
	near(task_score(c->t, case_net(c, TASK_QUANT), 0, 1), same, 1e-6);
	assert_string_equal(r->figure[1].name, "cosine");
	assert_true(isnan(r->figure[1].value[TASK_QUANT])); // rows are not compared number by number, also where they are as many
	assert_true(isnan(r->figure[2].value[TASK_QUANT]));
	task_report_drop(&r);
}

void test_agree__rows_in_another_order_or_number(void **state)
{
	struct task_case c;
	struct rows both, turned, one;
	rows_init(&both);
	rows_add(&both, first);
	rows_add(&both, second);
	rows_init(&turned);
	rows_add(&turned, second);
	rows_add(&turned, first);
	rows_init(&one);
	rows_add(&one, first);
	begin_rows(&c, "NonMaxSuppression");
	assert_string_equal(task_leading_figure(c.t), "same_boxes");
	expect_boxes(&c, &both, &turned, 1);
	expect_boxes(&c, &both, &one, 2 * .81 / (2 * .81 + .64));
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_int_equal(l->n_changes, 1);
	assert_int_equal(l->change[0].kind, CHANGE_MISSED);
	task_look_drop(&l);
	case_end(&c);
}

// Where neither finds anything, the boxes are still what counts, and nothing is known of them.
void test_agree__nothing_found(void **state)
{
	struct task_case c;
	struct rows none, also;
	rows_init(&none);
	rows_init(&also);
	begin_rows(&c, "NonMaxSuppression");
	assert_int_equal(add(&c, &none.t, &also.t), STATUS_OK);
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_string_equal(r->figure[0].name, "same_boxes");
	assert_true(isnan(r->figure[0].value[TASK_QUANT]));
	near(r->sample[0].value[TASK_QUANT], 1, 0); // which is no loss
	task_report_drop(&r);
	case_end(&c);
}

// Without NMS rows of another number are no boxes that anybody said to be some.
void test_agree__rows_that_nobody_reads(void **state)
{
	struct task_case c;
	struct rows both, one;
	rows_init(&both);
	rows_add(&both, first);
	rows_add(&both, second);
	rows_init(&one);
	rows_add(&one, first);
	begin_rows(&c, "Relu");
	assert_string_equal(task_leading_figure(c.t), "cosine");
	struct tensor same = both.t;
	assert_int_equal(add(&c, &both.t, &same), STATUS_OK);
	near(task_score(c.t, case_net(&c, TASK_QUANT), 0, 1), 1, 1e-12);
	assert_int_equal(add(&c, &both.t, &one.t), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "output det has another shape when quantized"));
	assert_non_null(strstr(c.err.text, "--decoder"));
	task_free(&c.t); // which the user says
	if (task_open(&c.t, c.b.g, c.d, &(struct task_options){.kind = TASK_AGREE, .decoder = "end2end"}, &c.err))
		fail_msg("%s", c.err.text);
	expect_boxes(&c, &both, &one, 2 * .81 / (2 * .81 + .64));
	case_end(&c);
}

// Who has not asked for it is told that labels were looked for, and how to name them.
void test_agree__says_that_no_labels_were_found(void **state)
{
	for (int asked = 0; asked < 2; asked++) {
		struct task_case c;
		char note[256];
		case_begin(&c, NULL, 0, CASE_SIDE);
		case_add_output(&c, "head", SHAPE(1, 2));
		if (task_open(&c.t, c.b.g, c.d, &(struct task_options){.kind = asked ? TASK_AGREE : -1}, &c.err))
			fail_msg("%s", c.err.text);
		task_note(c.t, note, sizeof note);
		assert_int_equal(strstr(note, "--labels names them") == NULL, asked);
		case_end(&c);
	}
	(void)state;
}
