// The gate on the shipped detector, which esp32p4 quantizes badly.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "qtui/analysis/check.h"
#include "qtui/analysis/cost.h"
#include "studies.h"

static struct study *open_study(void)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .method = CALIB_PERCENTILE,
	    .threads = 2, .data = {.samples = 2}, .skip_layerwise = true, .task = {.none = true}});
}

static enum status check(const struct snapshot *s, const char *text, struct error *err)
{
	struct check c = check_nothing;
	if (check_parse(&c, text, err) != STATUS_OK)
		fail_msg("%s", err->text);
	return check_snapshot(&c, s, err);
}

void test_check__words(void **state)
{
	struct error err = {0};
	struct check c = check_nothing;
	assert_int_equal(check_parse(&c, "snr>20, cos>0.99 ,map_drop<0.005", &err), STATUS_OK);
	assert_int_equal(check_parse(&c, "wide<0.15", &err), STATUS_OK);
	assert_true(c.min_snr == 20 && c.min_cos == 0.99 && c.drop.most[DROP_map] == 0.005 && isnan(c.drop.most[DROP_any]) &&
	            isnan(c.drop.most[DROP_top1]) && c.max_wide == 0.15 && isnan(c.max_cost));
	static const char *const bad[] = {"", ",", "snr>20,", "snr", "snr<20", "cos>2", "snr>20 cos>0.9", "nsr<0.1",
	    "snr>1,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(check_parse(&c, bad[i], &err), STATUS_USAGE);
}

void test_check__says_what_failed_and_by_how_much(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	struct snapshot *s = run_study(st);
	double snr = s->output[0].pooled.snr_db;
	char text[64], want[64];
	snprintf(text, sizeof text, "snr>%.6f", snr - 0.5);
	assert_int_equal(check(s, text, &err), STATUS_OK);
	snprintf(text, sizeof text, "snr>%.6f", snr + 0.5);
	assert_int_equal(check(s, text, &err), STATUS_FORMAT);
	snprintf(want, sizeof want, "output0 has %.5g dB, 0.5 too little", snr);
	assert_non_null(strstr(err.text, want));
	assert_int_equal(check(s, "snr>100,cos>0.99999999,wide<0.5", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "; cos>1: output0 has"));
	assert_null(strstr(err.text, "wide"));
	snapshot_drop(&s);
	study_close(&st);
}

void test_check__what_is_not_known_is_not_met(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	struct snapshot *s = run_study(st);
	assert_int_equal(check(s, "drop<1", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "drop<1: no task was measured"));
	struct snapshot blank = *s;
	struct figures unknown = {0};
	blank.output = &unknown;
	blank.n_sites = 0;
	assert_int_equal(check(&blank, "snr>-100", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "of no output a figure is known"));
	snapshot_drop(&s);
	study_close(&st);
}

// A limit is to be passed, not reached; what is exact passes all of them.
void test_check__a_figure_on_its_limit_is_not_above_it(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	struct snapshot *s = run_study(st), made = *s;
	struct figures out = {.known = 2, .pooled = {.snr_db = 20, .cosine = 0.5}};
	(void)state;
	made.output = &out;
	assert_int_equal(check(&made, "snr>19.99,cos>0.49", &err), STATUS_OK);
	assert_int_equal(check(&made, "snr>20", &err), STATUS_FORMAT);
	assert_int_equal(check(&made, "cos>0.5", &err), STATUS_FORMAT);
	out.pooled = (struct metrics){.exact = true, .snr_db = NAN, .cosine = NAN};
	assert_int_equal(check(&made, "snr>199,cos>0.9999", &err), STATUS_OK);
	assert_true(isinf(figures_snr(&out)) && isnan(figures_snr(&(struct figures){0})));
	snapshot_drop(&s);
	study_close(&st);
}

// Of several outputs the worst that is known; what shows as zero has no sign.
void test_check__the_worst_output_is_what_a_run_is_known_by(void **state)
{
	struct figures out[4] = {
	    {.known = 1, .pooled.snr_db = 20}, {.known = 0}, {.known = 1, .pooled.snr_db = 5}, {.known = 1, .pooled.exact = true}};
	struct snapshot s = {.output = out, .n_outputs = 4};
	(void)state;
	assert_true(snapshot_worst_output(&s) == 5);
	out[2].pooled.snr_db = -0.04;
	assert_true(snapshot_worst_output(&s) == 0 && !signbit(snapshot_worst_output(&s)));
	s.n_outputs = 0;
	assert_true(isnan(snapshot_worst_output(&s)));
}

// In a board's times where they are known: milliseconds, and beside everything at 8 bit.
void test_check__counts_times(void **state)
{
	struct error err = {0};
	struct latency *l = NULL;
	static const char times[] = "name,us,bits\n/model.0/conv/Conv,2000,8\n/model.0/conv/Conv,1000,16\n";
	struct study *st = open_study();
	struct snapshot *s = run_study(st);
	assert_int_equal(check(s, "time<1000", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "no times are known"));
	snapshot_drop(&s);
	assert_int_equal(latency_read(&l, study_graph(st), support_temp_file("t.csv", times, sizeof times - 1), &err), STATUS_OK);
	study_set_latency(st, l);
	latency_drop(&l);
	s = study_snapshot(st);
	char text[64];
	snprintf(text, sizeof text, "time<%.9g,cost<1.001", s->costs->narrow / 1000 * 1.001);
	assert_int_equal(check(s, text, &err), STATUS_OK);
	snprintf(text, sizeof text, "time<%.9g", s->costs->narrow / 1000 * 0.999);
	assert_int_equal(check(s, text, &err), STATUS_FORMAT);
	snapshot_drop(&s);
	study_close(&st);
}

// Without labels a task falls back to agreement with the float network: that is no mAP, and no top-1.
void test_check__another_task_is_not_the_one_asked_for(void **state)
{
	static const struct {
		enum task_kind kind;
		const char *met, *unmet, *also_unmet;
	} t[] = {
	    {TASK_AGREE, "drop<0.2", "map_drop<0.2", "top1_drop<0.2"},
	    {TASK_DETECT, "drop<0.2,map_drop<0.2", "top1_drop<0.2", "map_drop<0.05"},
	    {TASK_POSE, "drop<0.2,map_drop<0.2", "miou_drop<0.2", "map_drop<0.05"},
	    {TASK_INSTANCE, "map_drop<0.2", "miou_drop<0.2", "map_drop<0.05"},
	    {TASK_OBB, "map_drop<0.2", "psnr_drop<0.2", "map_drop<0.05"},
	    {TASK_CLASSIFY, "drop<0.2,top1_drop<0.2", "map_drop<0.2", "top1_drop<0.05"},
	    {TASK_SEGMENT, "drop<0.2,miou_drop<0.2", "top1_drop<0.2", "miou_drop<0.05"},
	    {TASK_SCORE, "drop<0.2,score_drop<20", "miou_drop<0.2", "score_drop<0.05"},
	    {TASK_RESTORE, "drop<0.2,psnr_drop<0.2", "miou_drop<0.2", "psnr_drop<0.05"},
	    {TASK_EMBED, "drop<0.2,rank1_drop<0.2", "top1_drop<0.2", "rank1_drop<0.05"},
	    {TASK_TEXT, "drop<0.2,accuracy_drop<0.2", "top1_drop<0.2", "accuracy_drop<0.05"},
	};
	struct error err = {0};
	struct task_figure figure = {.value = {[TASK_FLOAT] = 1, [TASK_QUANT] = 0.9}};
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct task_report task = {.kind = t[i].kind, .figure = &figure, .n_figures = 1};
		struct costs none = {0};
		figure.name = task_figure_name(t[i].kind);
		struct snapshot s = {.task = &task, .costs = &none};
		assert_int_equal(check(&s, t[i].met, &err), STATUS_OK);
		assert_int_equal(check(&s, t[i].unmet, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, figure.name));
		assert_int_equal(check(&s, t[i].also_unmet, &err), STATUS_FORMAT);
		s.task_old = true; // of another decision
		assert_int_equal(check(&s, t[i].met, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "no task was measured"));
	}
	struct task_figure unknown = {.name = "first", .value = {[TASK_FLOAT] = 1, [TASK_QUANT] = NAN}};
	struct task_report task = {.kind = TASK_DETECT, .figure = &unknown, .n_figures = 1};
	struct costs none = {0};
	assert_int_equal(check(&(struct snapshot){.task = &task, .costs = &none}, "drop<0.2", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "first is not known of these samples"));
}

void test_check__counts_macs(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	struct snapshot *s = run_study(st), mixed = *s;
	mixed.macs[PREC_INT8] = 80, mixed.macs[PREC_INT16] = 15, mixed.macs[PREC_FLOAT] = 5; // work: 80 + 2*15 + 4*5 of 100
	assert_int_equal(check(&mixed, "wide<0.21,cost<1.31", &err), STATUS_OK);
	assert_int_equal(check(&mixed, "wide<0.2,cost<1.3", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "cost<1.3: it is 1.3; wide<0.2: it is 0.2"));
	snapshot_drop(&s);
	study_close(&st);
}
