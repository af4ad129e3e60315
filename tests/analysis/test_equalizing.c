// Equalizing in the background: the file that is written, and that what is said of it is what a study of its own says.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/onnx_case.h"
#include "qtui/analysis/equalizing.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "studies.h"
#include "two_convs.h"

enum { IN = 3, MID = 4, OUT = 2 };

// Two convolutions with a Relu between, whose channels differ much: one scale for all of a weight does not suit them.
static char *model(const char *between)
{
	static const float front[MID * IN] = {8, 1, -2, 0.5f, 0.25f, 0.125f, 1, -1, 2, 0.01f, -0.01f, 0.005f};
	static const float behind[OUT * MID] = {0.5f, 2, 1, 9, -0.25f, 0.5f, 1, -7};
	return two_convs(&(struct two_convs){between, "unequal.onnx", IN, MID, OUT, 8, front, behind});
}

static struct study *open_model(const char *path)
{
	return open_for_test((struct study_options){.model = path,
	    .target = "a8w8",
	    .method = CALIB_MINMAX,
	    .threads = 1,
	    .backend = BACKEND_ONEDNN,
	    .data = {.random = 2, .samples = 2},
	    .task = {.none = true}});
}

static struct equalizing_result equalized_by(struct study *st, const struct equalizing_wish *wish)
{
	struct equalizing *j = NULL;
	struct equalizing_result r;
	struct error err = {0};
	if (equalizing_start(&j, st, wish, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	while (background_running(equalizing_background(j)))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (equalizing_end(&r, j, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	equalizing_free(&j);
	return r;
}

static struct equalizing_result equalized(struct study *st, const char *path, bool sums)
{
	return equalized_by(st, &(struct equalizing_wish){.path = path, .sums = sums, .weights = true});
}

static void set(struct study *st, const char *node, int precision)
{
	struct error err = {0};
	int n = graph_find_node(study_graph(st), node);
	assert_int_equal(study_set(st, &n, 1, precision, NULL, &err), STATUS_OK);
}

// With the edits that are in force, and the study as it was.
void test_equalizing__measures_what_it_writes(void **state)
{
	char *path = model("Relu");
	const char *out = support_temp("equalized.onnx");
	struct study *st = open_model(path);
	set(st, "two", PREC_INT16);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct equalizing_result r = equalized(st, out, false);
	assert_int_equal(r.groups, 1);
	assert_int_equal(r.nodes, 2);
	assert_true(r.measured && r.equalized.n_edits == 1);
	assert_true(r.equalized.out_snr_db > r.now.out_snr_db + 1);
	struct study *other = open_model(out);
	set(other, "two", PREC_INT16);
	struct snapshot *s = run_study(other);
	assert_true(s->run[0].out_snr_db == r.equalized.out_snr_db);
	snapshot_drop(&s);
	study_close(&other);
	study_close(&st);
	free(path);
}

static void decide(struct study *st)
{
	const char *command[] = {"set two int16", "calibration percentile", "scale one 2^-3"};
	struct error err = {0};
	for (int i = 0; i < 3; i++)
		if (study_command(st, command[i], &err) != STATUS_OK)
			fail_msg("%s", err.text);
}

// What it is measured under is all of what is decided: a calibration and scales, too.
void test_equalizing__goes_by_all_decisions(void **state)
{
	char *path = model("Relu");
	const char *out = support_temp("decided.onnx");
	struct study *st = open_model(path);
	decide(st);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct equalizing_result r = equalized(st, out, false);
	struct study *other = open_model(out);
	decide(other);
	struct snapshot *s = run_study(other);
	assert_int_equal(r.equalized.method, CALIB_PERCENTILE);
	assert_int_equal(r.equalized.n_edits, s->run[0].n_edits);
	assert_true(s->run[0].out_snr_db == r.equalized.out_snr_db);
	snapshot_drop(&s);
	study_close(&other);
	study_close(&st);
	free(path);
}

// What it is measured on is what is in force, not what the study was opened with; and so says the way to go on.
void test_equalizing__goes_by_the_samples_in_force(void **state)
{
	char *path = model("Relu");
	struct study *st = open_model(path);
	struct error err = {0};
	struct str words = {0};
	if (study_samples(st, "5", &err) != STATUS_OK)
		fail_msg("%s", err.text);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct equalizing_result r = equalized(st, support_temp("in_force.onnx"), false);
	assert_true(r.measured && key_equal(r.now.samples, r.equalized.samples));
	study_add_samples(&words, st);
	assert_string_equal(str_text(&words), "--random-data 5");
	str_done(&words);
	study_close(&st);
	free(path);
}

// Factors by how far channels reach: another model than by weights alone, and activations that fill one scale better.
void test_equalizing__goes_by_samples(void **state)
{
	char *path = model("Relu");
	const char *out = support_temp("by_samples.onnx");
	struct study *st = open_model(path);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct equalizing_result r = equalized_by(st, &(struct equalizing_wish){.path = out});
	struct equalizing_result w = equalized(st, support_temp("by_weights.onnx"), false);
	assert_true(r.measured && r.written && w.measured);
	assert_true(r.equalized.out_snr_db > r.now.out_snr_db + 1);
	assert_true(r.equalized.out_snr_db != w.equalized.out_snr_db);
	study_close(&st);
	free(path);
}

// By Quark's rules samples say nothing; it knows no sums.
void test_equalizing__goes_by_quark(void **state)
{
	char *path = model("Relu");
	struct study *st = open_model(path);
	struct equalizing *j = NULL;
	struct error err = {0};
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct equalizing_result r = equalized_by(st, &(struct equalizing_wish){.path = support_temp("by_quark.onnx"), .quark = true});
	struct equalizing_result s = equalized_by(st, &(struct equalizing_wish){.path = support_temp("beside_quark.onnx")});
	assert_int_equal(r.groups, 1);
	assert_int_equal(r.nodes, 2);
	assert_true(r.measured && r.equalized.out_snr_db > r.now.out_snr_db + 1);
	assert_true(r.equalized.out_snr_db != s.equalized.out_snr_db);
	assert_int_equal(equalizing_start(&j, st, &(struct equalizing_wish){.quark = true, .sums = true}, &err), STATUS_REFUSED);
	study_close(&st);
	free(path);
}

// What is decided meanwhile is none of its business: a sanitizer of threads would say that it looks.
void test_equalizing__goes_on_beside_edits(void **state)
{
	enum { EDITS = 40 }; // more than the history has room for at first
	char *path = model("Relu");
	struct study *st = open_model(path);
	struct equalizing *j = NULL;
	struct error err = {0};
	snapshot_drop(&(struct snapshot *){run_study(st)});
	assert_int_equal(equalizing_start(&j, st, &(struct equalizing_wish){.sums = false}, &err), STATUS_OK);
	for (int i = 0; i < EDITS; i++)
		set(st, "two", i % 2 ? PREC_INT8 : PREC_INT16);
	while (background_running(equalizing_background(j)))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	equalizing_free(&j);
	study_close(&st);
	free(path);
}

// Stopped as soon as it has begun.
static struct equalizing_result stopped(const struct equalizing_wish *wish)
{
	char *path = model("Relu");
	struct study *st = open_model(path);
	struct equalizing *j = NULL;
	struct equalizing_result r;
	struct error err = {0};
	snapshot_drop(&(struct snapshot *){run_study(st)});
	assert_int_equal(equalizing_start(&j, st, wish, &err), STATUS_OK);
	background_cancel(equalizing_background(j));
	while (background_running(equalizing_background(j)))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(equalizing_end(&r, j, &err), STATUS_CANCELLED);
	equalizing_free(&j);
	study_close(&st);
	free(path);
	return r;
}

// Whether it goes by samples or by weights: what was not measured is not said to be,
// and of a file that it wrote it says so.
void test_equalizing__what_is_stopped_is_not_measured(void **state)
{
	for (int weights = 0; weights < 2; weights++) {
		const char *out = support_temp(weights ? "stopped_weights.onnx" : "stopped_samples.onnx");
		struct equalizing_result r = stopped(&(struct equalizing_wish){.path = out, .weights = weights});
		assert_true(!r.measured && r.written == file_exists(out));
	}
}

void test_equalizing__only_looks_without_a_file(void **state)
{
	char *path = model("Relu");
	struct study *st = open_model(path);
	struct equalizing_result r = equalized(st, NULL, false);
	assert_int_equal(r.nodes, 2);
	assert_false(r.measured);
	study_close(&st);
	free(path);
}

// What an Add reads has one factor with its result only where groups may reach through sums.
void test_equalizing__reaches_through_sums_where_it_may(void **state)
{
	static const float front[2][MID * IN] = {{8, 1, -2, 0.5f, 0.25f, 0.125f, 1, -1, 2, 0.01f, -0.01f, 0.005f},
	    {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}};
	static const float behind[OUT * MID] = {0.5f, 2, 1, 9, -0.25f, 0.5f, 1, -7};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, IN, 8, 8));
	case_floats(&c, "w1", DIMS(MID, IN, 1, 1), front[0]);
	case_floats(&c, "w2", DIMS(MID, IN, 1, 1), front[1]);
	case_floats(&c, "w3", DIMS(OUT, MID, 1, 1), behind);
	case_node(&c, "Conv", "one", "x w1", "h");
	case_node(&c, "Conv", "other", "x w2", "i");
	case_node(&c, "Add", "sum", "h i", "s");
	case_node(&c, "Conv", "two", "s w3", "y");
	case_output(&c, c.graph, "y");
	struct study *st = open_model(case_save(&c, "sum.onnx"));
	assert_int_equal(equalized(st, NULL, false).groups, 0);
	struct equalizing_result r = equalized(st, NULL, true);
	assert_int_equal(r.groups, 1);
	assert_int_equal(r.nodes, 3);
	study_close(&st);
	case_done(&c);
}

void test_equalizing__nothing_to_write(void **state)
{
	char *path = model("Sigmoid");
	const char *out = support_temp("none.onnx");
	struct study *st = open_model(path);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	struct equalizing_result r = equalized(st, out, false);
	assert_int_equal(r.nodes, 0);
	assert_false(r.measured || file_exists(out));
	study_close(&st);
	free(path);
}

// Neither the model nor anything else that is there is written over;
// figures that are not there cannot be compared with.
void test_equalizing__refuses(void **state)
{
	char *path = model("Relu");
	struct study *st = open_model(path);
	struct equalizing *j = NULL;
	struct error err = {0};
	assert_int_equal(equalizing_start(&j, st, &(struct equalizing_wish){.path = path}, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "name of its own"));
	assert_int_equal(equalizing_start(&j, st, &(struct equalizing_wish){.path = support_temp("other.onnx")}, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "wait for the run"));
	assert_null(j);
	study_close(&st);
	free(path);
}
