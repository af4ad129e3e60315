// Boxes that a program of the user's reads: its answers, what becomes of them, what is wrong with them.
#include <string.h>
#include "../../src/analysis/task/kinds/boxes.h"
#include "task_case.h"

static void begin_named(struct task_case *c, struct metadata *names, const char *answer, double iou, int w)
{
	char command[512];
	case_begin(c, names, 1, w);
	case_add_output(c, "head", SHAPE(1, 2));
	snprintf(command, sizeof command, "while read -r line; do echo '%s'; done", answer);
	const struct task_options o = {.kind = TASK_DETECT, .labels = case_labels("\"iscrowd\":0"), .boxes_by = command, .iou = iou};
	if (task_open(&c->t, c->b.g, c->d, &o, &c->err))
		fail_msg("%s", c->err.text);
}

static void begin(struct task_case *c, const char *answer, double iou, int w)
{
	begin_named(c, NULL, answer, iou, w);
}

static enum status say(struct task_case *c, enum task_variant v)
{
	float data[2] = {0};
	struct tensor out = {.type = DT_F32, .shape = SHAPE(1, 2), .data = data};
	c->err = (struct error){0};
	return task_add(c->t, case_net(c, v), 0, &(struct task_said){&out, &out, NULL}, &c->err);
}

static double ap(const char *answer, double iou, int w)
{
	struct task_case c;
	begin(&c, answer, iou, w);
	assert_int_equal(say(&c, TASK_FLOAT), STATUS_OK);
	double score = task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1);
	case_end(&c);
	return score;
}

// The truth is 10,10 to 50,50 of the model's first class, which is category 1, "thing".
void test_boxes_program__boxes_are_of_the_labels_classes(void **state)
{
	near(ap("10 10 50 50 .9 0", 0, CASE_SIDE), 1, 1e-9);
	near(ap("  10.0\t10 50 5e1  0.9   thing \r", 0, CASE_SIDE), 1, 1e-9);
	near(ap("10 10 50 50 .9 1", 0, CASE_SIDE), 0, 1e-9); // no such class
	near(ap("10 10 50 50 .9 -1", 0, CASE_SIDE), 0, 1e-9);
	near(ap("10 10 50 50 .9 a thing", 0, CASE_SIDE), 0, 1e-9);
	near(ap("", 0, CASE_SIDE), 0, 1e-9);
	near(ap(" ; 1 1 2 2 .8 thing;10 10 50 50 .9 0; ", 0, CASE_SIDE), 1, 1e-9);
	near(ap("1 1 2 2 .95 thing;10 10 50 50 .9 0", 0, CASE_SIDE), .5, 1e-9);
	near(ap("10 10 50 50 .0005 0", 0, CASE_SIDE), 0, 1e-9);            // no score worth a look
	near(ap("nan 10 50 50 .99 0;10 10 50 50 .9 0", 0, CASE_SIDE), 1, 1e-9);
}

// As of a decoder: by the names in the model's metadata, where there are some.
void test_boxes_program__classes_of_the_model_become_the_labels(void **state)
{
	static struct metadata said[] = {{"names", "{0: 'other', 1: 'thing'}"}};
	static const char *const answer[] = {"10 10 50 50 .9 0", "10 10 50 50 .9 1"};
	for (int right = 0; right < 2; right++) {
		struct task_case c;
		begin_named(&c, said, answer[right], 0, CASE_SIDE);
		assert_int_equal(say(&c, TASK_FLOAT), STATUS_OK);
		near(task_score(c.t, case_net(&c, TASK_FLOAT), 0, 1), right, 1e-9);
		case_end(&c);
	}
}

// A picture of 128 x 64 is half as wide in the input.
void test_boxes_program__boxes_are_in_pixels_of_the_input(void **state)
{
	near(ap("5 10 25 50 .9 0", 0, CASE_WIDE), 1, 1e-9);
	near(ap("10 10 50 50 .9 0", 0, CASE_WIDE), 0, 1e-9);
}

// Nothing is suppressed unless it is asked for.
void test_boxes_program__overlap_is_the_program_s(void **state)
{
	static const char twice[] = "9 9 50 50 .95 0;10 10 50 50 .9 0;1 1 2 2 .5 0";
	for (int i = 0; i < 2; i++) {
		struct task_case c;
		struct task_look *l;
		begin(&c, twice, i ? .5 : 0, CASE_SIDE);
		assert_int_equal(say(&c, TASK_FLOAT), STATUS_OK);
		assert_int_equal(say(&c, TASK_QUANT), STATUS_OK);
		l = case_look(&c, TASK_FLOAT, TASK_QUANT);
		assert_int_equal(l->n_boxes[TASK_QUANT], i ? 2 : 3);
		assert_string_equal(l->class_name[l->box[TASK_QUANT][0].class], "thing");
		task_look_drop(&l);
		case_end(&c);
	}
}

static void refuses(const char *answer, const char *says)
{
	struct task_case c;
	begin(&c, answer, 0, CASE_SIDE);
	assert_int_equal(say(&c, TASK_FLOAT), STATUS_UNSUPPORTED);
	if (!strstr(c.err.text, says) || strstr(c.err.text, "a.png: --boxes while read") != c.err.text)
		fail_msg("%s", c.err.text);
	case_end(&c);
}

void test_boxes_program__what_is_no_box(void **state)
{
	refuses("no", "box 1 of its answer is \"no\", not x1 y1 x2 y2 score class");
	refuses("1 2 3 4 .5", "box 1 of its answer is \"1 2 3 4 .5\"");
	refuses("1 2 3 4 .5 0; 1 2 3 x .5 0", "box 2 of its answer is \"1 2 3 x .5 0\"");
	refuses("1,2,3,4,.5,1", "box 1");
}

// What a repair compares networks by, without labels: the same boxes.
void test_boxes_program__a_reader_asks_it_too(void **state)
{
	struct task_case c, other;
	float data[2] = {0};
	struct tensor out = {.type = DT_F32, .shape = SHAPE(1, 2), .data = data};
	begin(&c, "10 10 50 50 .9 0;5 5 8 8 .3 thing;5 5 8 8 .3 other", 0, CASE_SIDE);
	begin(&other, "", 0, CASE_SIDE);
	struct boxes_reader *r = boxes_reader_of(c.t), *o = boxes_reader_of(other.t);
	struct boxes *b = NULL, *none = NULL;
	assert_int_equal(boxes_read(&b, r, &(struct sample_outputs){c.b.g, c.d, 0, &out, NULL}, &c.err), STATUS_OK);
	assert_int_equal(boxes_read(&none, o, &(struct sample_outputs){c.b.g, c.d, 0, &out, NULL}, &c.err), STATUS_OK);
	near(boxes_mass(b), .81 + .09, 1e-6);
	near(boxes_mass(none), 0, 0);
	assert_false(key_equal(boxes_reader_key(r), boxes_reader_key(o)));
	boxes_free(&b);
	boxes_free(&none);
	boxes_reader_free(&r);
	boxes_reader_free(&o);
	assert_false(key_equal(task_labels_key(c.t), task_labels_key(other.t)));
	case_end(&c);
	case_end(&other);
}

void test_boxes_program__finds_boxes_alone(void **state)
{
	struct task_case c;
	case_begin(&c, NULL, 0, CASE_SIDE);
	case_add_output(&c, "head", SHAPE(1, 2));
	const struct task_options o = {.kind = TASK_POSE, .labels = case_labels("\"keypoints\":[1,1,2]"), .boxes_by = "true"};
	assert_int_equal(task_open(&c.t, c.b.g, c.d, &o, &c.err), STATUS_USAGE);
	assert_string_equal(c.err.text, "task pose: --boxes gives boxes and nothing else: --task detect measures them");
	case_end(&c);
}

// Where it finds nothing, no decoder is to be named beside it.
void test_boxes_program__a_blind_one_is_named(void **state)
{
	struct task_case c;
	char text[TASK_BLIND_TEXT];
	begin(&c, "", 0, CASE_SIDE);
	assert_int_equal(say(&c, TASK_FLOAT), STATUS_OK);
	assert_int_equal(say(&c, TASK_QUANT), STATUS_OK);
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_true(task_is_blind(r));
	task_tell_blind(text, sizeof text, r, ":survey");
	assert_non_null(strstr(text, "the boxes that the program reads (--boxes) or"));
	assert_null(strstr(text, "--decoder"));
	case_check_told_again(r, text);
	task_report_drop(&r);
	case_end(&c);
	(void)state;
}

// Figures that a session keeps are of the names, too: these say which class of the model is meant.
void test_boxes_program__names_of_classes_are_a_part_of_the_key(void **state)
{
	static const char *const name[] = {"cat", "dog"};
	struct key key[3];
	for (int i = 0; i < 3; i++) {
		struct task_case c;
		char text[512], file[32];
		snprintf(file, sizeof file, "names%d.json", i);
		snprintf(text, sizeof text, "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"annotations\":[{\"image_id\":1,\"category_id\":1,"
		    "\"bbox\":[10,10,40,40]}],\"categories\":[{\"id\":1,\"name\":\"%s\"},{\"id\":2,\"name\":\"%s\"}]}", name[i % 2], name[!(i % 2)]);
		case_begin(&c, NULL, 0, CASE_SIDE);
		case_add_output(&c, "head", SHAPE(1, 2));
		const struct task_options o = {.kind = TASK_DETECT, .labels = support_temp_file(file, text, strlen(text)), .boxes_by = "cat"};
		if (task_open(&c.t, c.b.g, c.d, &o, &c.err))
			fail_msg("%s", c.err.text);
		key[i] = task_labels_key(c.t);
		case_end(&c);
	}
	assert_false(key_equal(key[0], key[1]));
	assert_true(key_equal(key[0], key[2]));
	(void)state;
}
