// Non-maximum suppression.
#include <stdlib.h>
#include "../../src/analysis/task/decode/nms.h"
#include "support.h"

static void add(struct candidates *c, float x, float score, int class)
{
	candidates_add(
	    c, &(struct candidate){.x1 = x, .y1 = 0, .x2 = x + 10, .y2 = 10, .score = score, .class = class});
}

void test_nms__a_box_goes_when_a_better_one_of_its_class_overlaps_it(void **state)
{
	struct candidates c = {0};
	add(&c, 0, .5f, 0);
	add(&c, 1, .9f, 0); // .818 of the first
	add(&c, 1, .4f, 1); // another class
	add(&c, 50, .1f, 0);
	nms_keep(&c, .7, 300);
	assert_int_equal(c.n, 3);
	assert_true(c.at[0].score == .9f && c.at[1].score == .4f && c.at[2].score == .1f);
	candidates_done(&c);
}

void test_nms__exactly_the_limit_stays(void **state)
{
	struct candidates c = {0};
	add(&c, 0, .9f, 0);
	add(&c, 5, .8f, 0); // 50 / 150
	nms_keep(&c, 1 / 3., 300);
	assert_int_equal(c.n, 2);
	nms_keep(&c, .33, 300);
	assert_int_equal(c.n, 1);
	candidates_done(&c);
}

// The second goes because of the first, and so does not take the third with it.
void test_nms__what_was_dropped_drops_nothing(void **state)
{
	struct candidates c = {0};
	add(&c, 0, .9f, 0);
	add(&c, 2, .8f, 0);
	add(&c, 4, .7f, 0);
	nms_keep(&c, .5, 300);
	assert_int_equal(c.n, 2);
	assert_true(c.at[1].score == .7f);
	candidates_done(&c);
}

void test_nms__the_best_of_all_classes_are_kept_and_equals_stay_in_order(void **state)
{
	struct candidates c = {0};
	for (int i = 0; i < 10; i++)
		add(&c, (float)(20 * i), .5f, i % 3);
	nms_keep(&c, 0, 4);
	assert_int_equal(c.n, 4);
	for (int i = 0; i < 4; i++)
		assert_true(c.at[i].x1 == (float)(20 * i));
	candidates_done(&c);
}

// Of an image the best 30000 are looked at, however few of them stay.
void test_nms__what_is_far_behind_is_not_looked_at(void **state)
{
	struct candidates c = {0};
	for (int i = 0; i < 30000; i++)
		add(&c, 0, .9f, 0);
	add(&c, 50, .1f, 0);
	nms_keep(&c, .5, 300);
	assert_int_equal(c.n, 1);
	candidates_done(&c);
}

void test_nms__nothing_in_nothing_out(void **state)
{
	struct candidates c = {0};
	nms_keep(&c, .7, 300);
	assert_int_equal(c.n, 0);
	candidates_done(&c);
}

// Against the definition, on random boxes.
void test_nms__survivors_overlap_none_and_the_dropped_overlap_a_better_one(void **state)
{
	struct support_random r = {11};
	struct candidates c = {0}, kept = {0};
	for (int i = 0; i < 400; i++)
		add(&c, support_random_float(&r, 0, 200), support_random_float(&r, 0, 1), support_random_int(&r, 0, 2));
	for (size_t i = 0; i < c.n; i++)
		candidates_add(&kept, &c.at[i]);
	nms_keep(&kept, .6, 1000);
	for (size_t i = 0; i < c.n; i++) {
		int is_kept = 0, better = 0;
		for (size_t k = 0; k < kept.n; k++) {
			const struct candidate *a = &c.at[i], *b = &kept.at[k];
			float shared = 10 - (a->x1 > b->x1 ? a->x1 - b->x1 : b->x1 - a->x1);
			int over = shared > 0 && shared / (20 - shared) > .6f && a->class == b->class;
			is_kept |= a->x1 == b->x1 && a->score == b->score;
			better |= over && b->score > a->score;
		}
		assert_int_equal(is_kept, !better);
	}
	candidates_done(&c);
	candidates_done(&kept);
}
