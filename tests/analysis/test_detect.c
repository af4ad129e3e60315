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
