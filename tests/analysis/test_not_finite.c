// Outputs that are NaN when quantized: every kind of task takes them for lost, none for unknown or for right.
#include "../../src/analysis/task/decode/ctc.h"
#include "labels_case.h"
#include "qtui/base/npy.h"
#include "task_case.h"

enum { SAMPLES = 4, WIDE = 3 };

static void add(struct task_case *c, enum task_variant v, int sample, const struct tensor *out, const struct tensor *float_out)
{
	if (task_add(c->t, case_net(c, v), sample, &(struct task_said){out, float_out, NULL}, &c->err))
		fail_msg("%s", c->err.text);
}

static struct task_report *report(struct task_case *c)
{
	return task_report(c->t, case_net(c, TASK_FLOAT), case_net(c, TASK_QUANT), 0);
}

// With three classes all are among the first five, were it not for NaN.
void test_not_finite__a_class_is_never_right(void **state)
{
	float right[WIDE] = {.8f, .1f, .1f}, none[WIDE] = {NAN, NAN, NAN}, other[WIDE] = {NAN, 3, 1}, without[WIDE] = {5, NAN, 1};
	const struct tensor f = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = right};
	struct tensor q[SAMPLES] = {f, f, f, f};
	struct task_case c;
	q[0].data = q[1].data = none;
	q[2].data = other;
	q[3].data = without; // the right one is there, and first
	case_begin_arrays(&c, "Softmax", SAMPLES, WIDE, "file,class\n0.npy,0\n1.npy,1\n2.npy,0\n3.npy,0\n");
	assert_int_equal(case_task(&c, TASK_CLASSIFY, NULL), STATUS_OK);
	for (int i = 0; i < SAMPLES; i++) {
		add(&c, TASK_FLOAT, i, &f, &f);
		add(&c, TASK_QUANT, i, &q[i], &f);
	}
	struct task_report *r = report(&c);
	near(r->figure[0].value[TASK_FLOAT], .75, 0);
	near(r->figure[0].value[TASK_QUANT], .25, 0);
	near(r->figure[1].value[TASK_QUANT], .25, 0);
	assert_int_equal(r->not_finite, SAMPLES);
	assert_non_null(strstr(r->note, "; 4 samples with outputs that are finite in float and not when quantized"));
	cJSON *j = task_report_json(r);
	struct task_report *again = task_report_parse(j);
	assert_int_equal(again->not_finite, SAMPLES);
	task_report_drop(&again);
	cJSON_Delete(j);
	for (int i = 0; i < SAMPLES; i++)
		near(r->sample[i].value[TASK_QUANT], r->sample[i].sample == 3 ? 1 / (1 + exp(-4)) : 0, 1e-9);
	task_report_drop(&r);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_string_equal(l->said[TASK_QUANT], "NaN");
	assert_true(isnan(l->sure[TASK_QUANT]));
	task_look_drop(&l);
	case_end(&c);
}

static double agreement(struct task_case *c, const char *figure, bool *known)
{
	struct task_report *r = report(c);
	double v = NAN;
	for (int i = 0; i < r->n_figures; i++)
		if (strcmp(r->figure[i].name, figure) == 0)
			v = r->figure[i].value[TASK_QUANT];
	task_report_drop(&r);
	*known = !isnan(v);
	return v;
}

// One number of three makes a sample lost; what the float network has not finite is nothing to compare with.
void test_not_finite__agreement_is_lost(void **state)
{
	static const float row[5][2][WIDE] = {{{1, 2, 3}, {1, 2, 3}}, {{1, 2, 3}, {NAN, NAN, NAN}}, {{3, 2, 1}, {3, INFINITY, 1}},
	    {{1, NAN, 3}, {1, 7, 3}}, {{NAN, NAN, NAN}, {NAN, 1, 2}}};
	static const double cosine[5] = {1, 0, 0, 1, NAN}, top[5] = {1, 0, 0, 0, NAN};
	for (int i = 0; i < 5; i++) {
		struct task_case c;
		bool known;
		const struct tensor f = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = (void *)row[i][0]},
		                    q = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = (void *)row[i][1]};
		case_begin_arrays(&c, "Softmax", 1, WIDE, NULL);
		assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
		add(&c, TASK_QUANT, 0, &q, &f);
		double v = agreement(&c, "cosine", &known);
		assert_int_equal(known, !isnan(cosine[i]));
		if (known)
			near(v, cosine[i], 1e-12);
		v = agreement(&c, "same_top1", &known);
		assert_int_equal(known, !isnan(top[i]));
		if (known)
			near(v, top[i], 0);
		agreement(&c, "snr_db", &known);
		assert_false(known);
		double score = task_score(c.t, case_net(&c, TASK_QUANT), 0, 1);
		assert_true(isnan(cosine[i]) ? isnan(score) : fabs(score - cosine[i]) < 1e-12);
		case_end(&c);
	}
}

// All pixels are of class 0, which is what NaN was taken for.
void test_not_finite__pixels_are_of_no_class(void **state)
{
	for (int channels = 1; channels <= 2; channels++) {
		static float x[2 * CASE_SIDE * CASE_SIDE], lost[2 * CASE_SIDE * CASE_SIDE];
		static const uint8_t nothing[CASE_SIDE * CASE_SIDE] = {0};
		const struct tensor f = {.type = DT_F32, .shape = SHAPE(1, channels, CASE_SIDE, CASE_SIDE), .data = x};
		struct tensor q = f;
		struct task_case c;
		const char *dir = support_temp(channels == 1 ? "mask1" : "mask2");
		png_image image = {.version = PNG_IMAGE_VERSION, .width = CASE_SIDE, .height = CASE_SIDE, .format = PNG_FORMAT_GRAY};
		q.data = lost;
		for (int i = 0; i < CASE_SIDE * CASE_SIDE; i++) {
			x[i] = channels == 1 ? -1 : 1;
			lost[i] = lost[CASE_SIDE * CASE_SIDE + i] = NAN;
		}
		case_begin(&c, NULL, 0, CASE_SIDE);
		case_add_output(&c, "scores", f.shape);
		assert_int_equal(file_mkdirs(dir, &c.err), STATUS_OK);
		char *path = file_join(dir, "a.png");
		assert_true(png_image_write_to_file(&image, path, 0, nothing, 0, NULL));
		free(path);
		if (case_task(&c, TASK_SEGMENT, dir))
			fail_msg("%s", c.err.text);
		add(&c, TASK_FLOAT, 0, &f, &f);
		add(&c, TASK_QUANT, 0, &q, &f);
		struct task_report *r = report(&c);
		for (int i = 0; i < 2; i++) { // mIoU and the share of pixels
			near(r->figure[i].value[TASK_FLOAT], 1, 0);
			near(r->figure[i].value[TASK_QUANT], 0, 0);
		}
		task_report_drop(&r);
		case_end(&c);
	}
}

// One of two numbers of each sample: the other alone must not give the figure.
void test_not_finite__numbers_are_off(void **state)
{
	static const char csv[] = "file,angle,age\n0.npy,1,10\n1.npy,2,20\n2.npy,3,10\n3.npy,4,20\n";
	struct task_case c;
	case_begin_arrays(&c, "Relu", SAMPLES, 2, NULL);
	assert_int_equal(case_task(&c, TASK_REGRESS, support_temp_file("numbers.csv", csv, strlen(csv))), STATUS_OK);
	for (int i = 0; i < SAMPLES; i++) {
		float right[2] = {(float)i + 1, i % 2 ? 20 : 10}, lost[2] = {NAN, i % 2 ? 20 : 10};
		const struct tensor f = {.type = DT_F32, .shape = SHAPE(1, 2), .data = right}, q = {.type = DT_F32, .shape = SHAPE(1, 2), .data = lost};
		add(&c, TASK_FLOAT, i, &f, &f);
		add(&c, TASK_QUANT, i, &q, &f);
	}
	struct task_report *r = report(&c);
	near(r->figure[0].value[TASK_FLOAT], 1, 0);
	assert_true(r->figure[0].value[TASK_QUANT] == -INFINITY);
	near(r->sample[0].value[TASK_QUANT], 0, 0);
	task_report_drop(&r);
	case_end(&c);
}

// By a falling line an infinite number would be the farthest depth, which most pixels have here.
void test_not_finite__depths_are_off(void **state)
{
	enum { PIXELS = CASE_SIDE * CASE_SIDE };
	static float truth[PIXELS], x[PIXELS], lost[PIXELS];
	struct task_case c;
	struct error err;
	const char *dir = support_temp("depth");
	for (int i = 0; i < PIXELS; i++) {
		truth[i] = i % CASE_SIDE < 8 ? 1 + (float)(i % 8) / 2 : 5;
		x[i] = 3 - 2 / truth[i];
		lost[i] = i % CASE_SIDE < 8 ? x[i] : NAN;
	}
	char *path = file_join(dir, "a.npy");
	const struct npy a = {.kind = 'f', .item = 4, .rank = 2, .dim = {CASE_SIDE, CASE_SIDE}, .data = truth, .size = sizeof truth};
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	assert_int_equal(npy_write(&a, path, &err), STATUS_OK);
	free(path);
	case_begin(&c, NULL, 0, CASE_SIDE);
	case_add_output(&c, "depth", SHAPE(1, 1, CASE_SIDE, CASE_SIDE));
	assert_int_equal(case_task(&c, TASK_DEPTH, dir), STATUS_OK);
	const struct tensor f = {.type = DT_F32, .shape = SHAPE(1, 1, CASE_SIDE, CASE_SIDE), .data = x};
	struct tensor q = f;
	q.data = lost;
	add(&c, TASK_FLOAT, 0, &f, &f);
	add(&c, TASK_QUANT, 0, &q, &f);
	struct task_report *r = report(&c);
	near(r->figure[0].value[TASK_FLOAT], 1, 0);
	near(r->figure[0].value[TASK_QUANT], 8. / CASE_SIDE, 1e-9);
	task_report_drop(&r);
	case_end(&c);
}

// A step without a score is a character that no text has, not the blank.
void test_not_finite__steps_are_no_blanks(void **state)
{
	enum { STEPS = 3, CLASSES = 4 };
	static const float x[STEPS][CLASSES] = {{NAN, NAN, NAN, NAN}, {1, 0, 0, 0}, {0, NAN, 1, 0}};
	struct names alphabet = {.at = (char *[]){"a", "b", "c"}, .n = 3};
	const struct ctc c = {STEPS, CLASSES, CLASSES, 1};
	int first[STEPS];
	ctc_first(first, &c, x[0]);
	assert_int_equal(first[1], 0);
	assert_int_equal(first[2], 2);
	assert_int_equal(ctc_collapse(first, first, STEPS, 0), 2);
	assert_string_equal(alphabet_at(&alphabet, &c, 0, first[0]), "\xef\xbf\xbd");
	assert_string_equal(alphabet_at(&alphabet, &c, 0, first[1]), "b");
}

// An angle that is none would lie like any other box.
void test_not_finite__rotated_boxes_are_none(void **state)
{
	struct task_case c;
	bool known;
	float before[CASE_ROTATED], after[CASE_ROTATED];
	case_begin_rotated(&c, before, after, NAN);
	struct tensor f = {.type = DT_F32, .shape = SHAPE(1, CASE_ROTATED / CASE_CELLS, CASE_CELLS), .data = before}, q = f;
	q.data = after;
	assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
	add(&c, TASK_QUANT, 0, &q, &f);
	near(agreement(&c, "same_boxes", &known), 0, 0);
	case_end(&c);
}
