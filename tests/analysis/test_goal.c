// Goals of a repair as users write them, and when they are met.
#include <math.h>
#include "../../src/analysis/repair/repair_impl.h"
#include "support.h"

void test_goal__goals_are_read(void **state)
{
	struct error err = {0};
	struct repair_goal g = repair_goal_default;
	assert_int_equal(repair_goal_parse(&g, "map_drop<0.005", &err), STATUS_OK);
	assert_int_equal(repair_goal_parse(&g, "snr>-3.5", &err), STATUS_OK);
	assert_int_equal(repair_goal_parse(&g, "cost<1.1", &err), STATUS_OK);
	assert_int_equal(repair_goal_parse(&g, "snr>9,wide<0.1,time<12.5", &err), STATUS_OK);
	assert_true(g.min_snr == 9 && g.max_wide == 0.1 && g.max_time == 12.5);
	assert_int_equal(repair_goal_parse(&g, "snr>-3.5,wide<0.15", &err), STATUS_OK);
	assert_true(isnan(g.max_drop)); // until it is known what is measured
	assert_int_equal(repair_goal_task(&g, "AP", &err), STATUS_OK);
	assert_true(g.max_drop == 0.005 && g.min_snr == -3.5 && g.max_cost == 1.1 && g.max_wide == 0.15);
	static const char *const bad[] = {"", "snr", "snr<3", "map_drop>1", "cost<0.5", "wide<2", "snr>nan", "snr>", "speed>3", "map_drop<",
	    "snr=3", "snr>3,", ",snr>3", "snr>3,,wide<0.1"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(repair_goal_parse(&g, bad[i], &err), STATUS_USAGE);
}

// What is nearly right is told how it is written, not that it is something else.
void test_goal__what_is_wrong_with_a_condition_is_said(void **state)
{
	static const struct {
		const char *text, *said;
	} wrong[] = {
	    {"snr>=10", "snr>=10: it is written snr>NUMBER, with a number from -200 to 200"},
	    {"snr<10", "snr<10: it is written snr>NUMBER, with a number from -200 to 200"},
	    {"map_drop", "map_drop: it is written map_drop<NUMBER, with a number from 0 to 1"},
	    {"snr>10 wide<0.1", "snr>10 wide<0.1: it is written snr>NUMBER, with a number from -200 to 200; a comma stands between two conditions"},
	    {"snr>10,", "\"snr>10,\": a condition is missing beside a comma"},
	    {"wide<0.1, ,snr>10", "\"wide<0.1, ,snr>10\": a condition is missing beside a comma"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct error err = {0};
		struct repair_goal g = repair_goal_default;
		assert_int_equal(repair_goal_parse(&g, wrong[i].text, &err), STATUS_USAGE);
		assert_string_equal(err.text, wrong[i].said);
	}
}

// 0.1 dB are no 0.1 of a mAP: a goal of another task is none of this one.
void test_goal__is_of_the_task_that_is_measured(void **state)
{
	struct error err = {0};
	struct repair_goal g = repair_goal_default;
	assert_int_equal(repair_goal_task(&g, NULL, &err), STATUS_OK); // none asked for
	assert_int_equal(repair_goal_parse(&g, "psnr_drop<0.1,drop<0.05", &err), STATUS_OK);
	assert_int_equal(repair_goal_task(&g, "psnr_db", &err), STATUS_OK);
	assert_true(g.max_drop == 0.05);
	assert_int_equal(repair_goal_task(&g, "AP", &err), STATUS_REFUSED);
	assert_string_equal(err.text, "psnr_drop<0.1: what is measured is AP");
	assert_int_equal(repair_goal_task(&g, NULL, &err), STATUS_REFUSED);
	g = repair_goal_default;
	assert_int_equal(repair_goal_parse(&g, "score_drop<25", &err), STATUS_OK);
	assert_int_equal(repair_goal_task(&g, "score", &err), STATUS_OK);
	assert_true(g.max_drop == 25);
}

// A limit is to be passed, not reached; what nobody limits is limited to some more work.
void test_goal__goals_are_passed_not_reached(void **state)
{
	(void)state;
	struct error err = {0};
	struct repair r = {.float_score = 0.75, .opt.goal = repair_goal_default};
	struct repair_figures f = {.score = 0.5, .snr_db = 25};
	assert_false(repair_goal_met_by(&r, &f)); // nothing is asked for
	assert_int_equal(repair_goal_parse(&r.opt.goal, "drop<0.25", &err), STATUS_OK);
	assert_int_equal(repair_goal_task(&r.opt.goal, "top1", &err), STATUS_OK);
	assert_false(repair_goal_met_by(&r, &f));
	f.score = 0.5625;
	assert_true(repair_goal_met_by(&r, &f));
	assert_int_equal(repair_goal_parse(&r.opt.goal, "snr>25", &err), STATUS_OK);
	assert_false(repair_goal_met_by(&r, &f));
	f.snr_db = 25.5;
	assert_true(repair_goal_met_by(&r, &f));
	f.score = NAN;
	assert_false(repair_goal_met_by(&r, &f));
	struct repair_goal timed = repair_goal_default, untimed = timed;
	assert_int_equal(repair_goal_limits(&timed, true, &err), STATUS_OK);
	assert_int_equal(repair_goal_limits(&untimed, false, &err), STATUS_OK);
	assert_true(timed.max_cost == 1.15 && isnan(timed.max_wide) && untimed.max_wide == 0.15 && isnan(untimed.max_cost));
	// What somebody limits is limited to that alone.
	static const char *const limit[] = {"cost<2", "time<12", "wide<0.5"};
	for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
		struct repair_goal asked = repair_goal_default;
		assert_int_equal(repair_goal_parse(&asked, limit[i], &err), STATUS_OK);
		struct repair_goal limited = asked;
		assert_int_equal(repair_goal_limits(&limited, true, &err), STATUS_OK);
		assert_memory_equal(&limited, &asked, sizeof asked);
	}
}
