// Detection as a task: what the line about its labels and outputs says.
#include "task_case.h"

// One class by the labels; three by the outputs, or an objectness and two.
void test_detect__a_number_of_classes_that_nobody_named_is_said(void **state)
{
	enum { ROWS = 84 }; // 8, 4 and 2 cells a side of the picture
	for (int classes = 1; classes < 4; classes += 2) {
		struct task_case c;
		char note[1024];
		case_begin(&c, NULL, 0, CASE_SIDE);
		case_add_output(&c, "output0", SHAPE(1, 4 + classes, ROWS));
		assert_int_equal(case_task(&c, TASK_DETECT, case_labels("\"iscrowd\":0")), STATUS_OK);
		task_note(c.t, note, sizeof note);
		assert_non_null(strstr(note, "decoder yolov8: "));
		assert_int_equal(strstr(note, " (3 by the outputs' shape, a number that neither metadata nor labels have: --decoder ") != NULL, classes == 3);
		case_end(&c);
	}
	(void)state;
}

// A sample has the classes of its objects, and those of crowds, which need not be found, only beside one.
void test_detect__classes_of_a_sample(void **state)
{
	static const float nothing[6 * CASE_CELLS];
	for (int crowd = 0; crowd < 2; crowd++) {
		struct task_case c;
		const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, 6, CASE_CELLS), .data = (void *)nothing};
		case_begin(&c, NULL, 0, CASE_SIDE);
		case_add_output(&c, "output0", SHAPE(1, 6, CASE_CELLS));
		assert_int_equal(case_task(&c, TASK_DETECT, case_labels(crowd ? "\"iscrowd\":1" : "\"iscrowd\":0")), STATUS_OK);
		case_say(&c, TASK_FLOAT, &out);
		case_say(&c, TASK_QUANT, &out);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_int_equal(task_sample_has(&r->sample[0], 1), !crowd); // its id
		assert_int_equal(r->class[0].objects, !crowd);
		task_report_drop(&r);
		case_end(&c);
	}
	(void)state;
}

// YOLOX joins box, objectness and classes, and computes the boxes behind; YOLOv8 joins boxes and classes, and of one class
// what follows may be coefficients.
static void joined(struct task_case *c, const int part[3], const char *last)
{
	static const struct axis_attrs axis = {.axis = 1};
	char in[32] = "";
	int64_t channels = 0;
	case_begin(c, NULL, 0, CASE_SIDE);
	for (int i = 0; i < 3 && part[i]; i++) {
		char name[8];
		snprintf(name, sizeof name, "p%d", i);
		builder_node(&c->b, i == 2 ? last : "Sigmoid", name, "image", name);
		c->b.g->value[builder_value(&c->b, name)].shape = SHAPE(1, part[i], 84);
		channels += part[i];
		snprintf(in + strlen(in), sizeof in - strlen(in), "%s ", name);
	}
	c->b.g->node[builder_node(&c->b, "Concat", "joined", in, "joined")].attrs = &axis;
	c->b.g->value[builder_value(&c->b, "joined")].shape = SHAPE(1, channels, 84);
	builder_node(&c->b, "Exp", "output0", "joined", "output0");
	builder_output(&c->b, "output0");
	struct value *out = &c->b.g->value[c->b.g->output[0]];
	out->type = DT_F32;
	out->shape = SHAPE(1, channels, 84);
	assert_int_equal(case_task(c, TASK_DETECT, case_labels("\"iscrowd\":0")), STATUS_OK);
}

void test_detect__an_objectness_is_told_by_what_joins_it(void **state)
{
	static const struct {
		int part[3];
		const char *last, *decoder;
		bool guessed;
	} rows[] = {{{4, 1, 2}, "Sigmoid", "decoder yolov5: ", false}, {{4, 1, 79}, "Sigmoid", "decoder yolov5: ", false},
	    {{4, 1, 2}, "Relu", "decoder yolov8: ", true}, {{4, 3}, "", "decoder yolov8: ", true}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct task_case c;
		char note[1024];
		joined(&c, rows[i].part, rows[i].last);
		task_note(c.t, note, sizeof note);
		if (!strstr(note, rows[i].decoder) || rows[i].guessed != (strstr(note, "(3 by the outputs' shape") != NULL))
			fail_msg("%zu: %s", i, note);
		case_end(&c);
	}
	(void)state;
}

// Boxes beside scores, of one anchor a cell or of priors: what a class more than the labels have is.
void test_detect__a_background_is_said(void **state)
{
	static const int64_t rows[] = {84, 100};
	for (int priors = 0; priors < 2; priors++) {
		struct task_case c;
		char note[1024];
		case_begin(&c, NULL, 0, CASE_SIDE);
		for (int scores = 0; scores < 2; scores++) {
			const char *name = scores ? "scores" : "boxes";
			builder_node(&c.b, scores ? "Sigmoid" : "Relu", name, "image", name);
			builder_output(&c.b, name);
			struct value *out = &c.b.g->value[c.b.g->output[scores]];
			out->type = DT_F32;
			out->shape = SHAPE(1, rows[priors], scores ? 2 : 4);
		}
		assert_int_equal(case_task(&c, TASK_DETECT, case_labels("\"iscrowd\":0")), STATUS_OK);
		task_note(c.t, note, sizeof note);
		assert_non_null(strstr(note, priors ? "decoder ssd: " : "decoder yolov8: "));
		assert_non_null(strstr(note, priors ? " behind a background, the first of 2 scores" : " (2 by the outputs' shape"));
		case_end(&c);
	}
	(void)state;
}
