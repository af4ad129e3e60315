// How far two networks' boxes are apart.
#include <math.h>
#include "../../src/analysis/task/kinds/boxes.h"
#include "qtui/analysis/task_look.h"
#include "support.h"

static double apart(const struct task_box *a, int n, const struct task_box *b, int m)
{
	struct boxes *before = boxes_of(a, n, 0), *after = boxes_of(b, m, 0);
	double v = boxes_apart((const struct boxes *[]){before}, (const struct boxes *[]){after}, 1);
	assert_true(v == boxes_apart((const struct boxes *[]){after}, (const struct boxes *[]){before}, 1));
	boxes_free(&before);
	boxes_free(&after);
	return v;
}

static const struct task_box two[] = {{0, 0, 10, 10, .8f, 0, NULL, NULL}, {50, 50, 20, 20, .4f, 1, NULL, NULL}};

void test_boxes__the_same_are_not_apart(void **state)
{
	const struct task_box swapped[] = {two[1], two[0]};
	assert_true(apart(two, 2, two, 2) < 1e-12);
	assert_true(apart(two, 2, swapped, 2) < 1e-12);
	assert_true(apart(two, 0, two, 0) == 0);
}

void test_boxes__what_one_lacks_counts_by_its_score(void **state)
{
	assert_true(fabs(apart(two, 2, two, 1) - (1 - 2 * .64 / (2 * .64 + .16))) < 1e-6);
	assert_true(apart(two, 2, two, 0) == 1);
}

void test_boxes__scores_count_by_the_square_of_their_difference(void **state)
{
	struct task_box less = two[0], lesser = two[0];
	less.score = .72f;
	lesser.score = .64f;
	double one = apart(two, 1, &less, 1), two_steps = apart(two, 1, &lesser, 1);
	assert_true(one > 0 && two_steps / one > 3.5 && two_steps / one < 5);
}

void test_boxes__another_class_has_nothing_in_common(void **state)
{
	struct task_box other = two[0];
	other.class = 1;
	assert_true(apart(two, 1, &other, 1) == 1);
}

// The one with the higher score chooses first, and a box is taken once.
void test_boxes__a_box_has_one_partner(void **state)
{
	const struct task_box twice[] = {two[0], {0, 0, 10, 10, .3f, 0, NULL, NULL}};
	assert_true(fabs(apart(two, 1, twice, 2) - (1 - 2 * .64 / (2 * .64 + .09))) < 1e-6);
}

void test_boxes__a_shift_counts_the_less_the_smaller_it_is(void **state)
{
	struct task_box near = two[0], far = two[0];
	near.x = 0.2f;
	far.x = 4;
	double small = apart(two, 1, &near, 1), large = apart(two, 1, &far, 1);
	assert_true(small > 0 && small < 0.03);
	assert_true(large > 0.7 && large < 1);
}

// Images count by their boxes, one with many for little more than one with some:
// 1.6 counts 1.6 / 2.6, .09 counts .09 / 1.09.
void test_boxes__images_count_by_what_is_in_them(void **state)
{
	const struct task_box small = {0, 0, 10, 10, .3f, 0, NULL, NULL};
	struct boxes *full = boxes_of(two, 2, 0), *again = boxes_of(two, 2, 0), *some = boxes_of(&small, 1, 0), *none = boxes_of(NULL, 0, 0);
	double full_weight = 1.6 / 2.6, some_weight = .09 / 1.09;
	double v = boxes_apart((const struct boxes *[]){full, some}, (const struct boxes *[]){again, none}, 2);
	assert_true(fabs(v - some_weight / (full_weight + some_weight)) < 1e-6);
	boxes_free(&full);
	boxes_free(&again);
	boxes_free(&some);
	boxes_free(&none);
}
