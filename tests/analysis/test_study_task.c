// The task inside a study: measured behind the figures, known again after undo, kept in sessions; looks at samples.
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "qtui/analysis/report.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "studies.h"

#define MODEL "examples/digits.onnx"
enum { CALIBRATED = 2, MEASURED = 6 };

// The first images of the demo's validation set as a list, so that nothing lies beside it.
static const char *few(void)
{
	static char path[4096];
	char dir[2048];
	struct str s = {0};
	assert_non_null(realpath("examples/val", dir));
	for (int i = 0; i < MEASURED; i++)
		str_addf(&s, "%s/%03d.jpg\n", dir, i);
	snprintf(path, sizeof path, "%s", support_temp_file("few.txt", s.text, s.len));
	str_done(&s);
	return path;
}

static struct study_options options(void)
{
	return (struct study_options){.model = MODEL, .calib = "examples/calib", .target = "esp32p4", .method = CALIB_MINMAX, .threads = 2,
	    .backend = BACKEND_ONEDNN, .data = {.samples = CALIBRATED}, .calibrate_only = true,
	    .task = {.data = few(), .labels = "examples/val.json"}};
}

// The boxes' coordinates leave the grid that they share with the scores.
static void free_the_end(struct study *st)
{
	struct error err = {0};
	int *nodes = NULL, n = 0;
	assert_int_equal(study_select(st, "/model.12/Split../model.12/Concat_4", NULL, &nodes, &n, &err), STATUS_OK);
	assert_int_equal(study_set(st, nodes, n, PREC_FLOAT, NULL, &err), STATUS_OK);
	free(nodes);
}

static double map(const struct snapshot *s, enum task_variant v)
{
	assert_non_null(s->task);
	assert_string_equal(s->task->figure[0].name, "AP");
	return s->task->figure[0].value[v];
}

static void assert_same_report(const struct task_report *a, const struct task_report *b)
{
	assert_int_equal(a->n_samples, b->n_samples);
	assert_int_equal(a->total, b->total);
	assert_string_equal(a->note, b->note);
	assert_memory_equal(&a->figure[0].value, &b->figure[0].value, sizeof a->figure[0].value);
	assert_memory_equal(&a->interval, &b->interval, sizeof a->interval);
	for (int i = 0; i < a->n_samples; i++) {
		assert_string_equal(a->sample[i].name, b->sample[i].name);
		assert_int_equal(a->sample[i].sample, b->sample[i].sample);
		assert_memory_equal(a->sample[i].value, b->sample[i].value, sizeof a->sample[i].value);
		assert_true(a->sample[i].n_classes > 0 && a->sample[i].n_classes == b->sample[i].n_classes);
	}
}

void test_study_task__an_edit_is_measured_and_undo_is_known(void **state)
{
	struct study_options o = options();
	struct study *st = open_for_test(o);
	struct snapshot *first = run_study(st);
	assert_int_equal(first->stage, STAGE_DONE);
	assert_int_equal(first->task->samples[TASK_QUANT], MEASURED);
	assert_false(first->task_old || first->task_calibrated);
	assert_true(first->task->has_interval);
	assert_true(map(first, TASK_FLOAT) > .6 && map(first, TASK_QUANT) < map(first, TASK_FLOAT) - .1);
	assert_true(first->run[0].task_quant == map(first, TASK_QUANT) && !first->run[0].has_task_change);

	free_the_end(st);
	struct snapshot *pending = study_snapshot(st), *second = run_study(st);
	assert_true(pending->task_old && pending->task == first->task); // what is shown is said to be old
	assert_true(map(second, TASK_FLOAT) == map(first, TASK_FLOAT) && map(second, TASK_QUANT) > map(first, TASK_QUANT));
	assert_true(second->run[1].has_task_change);
	assert_true(fabs(second->run[1].task_change.difference - (map(second, TASK_QUANT) - map(first, TASK_QUANT))) < 1e-12);

	assert_true(undoes(st));
	struct snapshot *third = run_study(st);
	assert_ptr_equal(third->task, first->task); // nothing was measured again
	assert_false(third->task_old);
	snapshot_drop(&first);
	snapshot_drop(&pending);
	snapshot_drop(&second);
	snapshot_drop(&third);
	study_close(&st);
}

void test_study_task__a_session_shows_it_before_anything_runs(void **state)
{
	struct study_options o = options();
	struct error err = {0};
	const char *path = support_temp("task.qtui.json");
	struct study *st = open_for_test(o);
	struct snapshot *then = run_study(st);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);

	struct session *se;
	struct study_options again = {.method = -1, .threads = 2, .calibrate_only = true};
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	session_options(se, &again);
	assert_non_null(again.task.data);
	st = open_for_test(again);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	struct snapshot *now = run_study(st);
	assert_same_report(then->task, now->task);
	assert_true(now->timing.task_s == 0); // it was not measured
	// A look at a sample has to be: what the networks said of it is not in the file.
	int worst = now->task->sample[0].sample;
	study_look(st, worst);
	struct snapshot *seen = NULL;
	for (int tries = 0; tries < 200 && !(seen && seen->look && seen->look->known); tries++) {
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 100);
		snapshot_drop(&seen);
		seen = study_snapshot(st);
	}
	assert_true(seen->look && seen->look->known && seen->look->sample == worst);
	assert_true(seen->look->value[TASK_FLOAT] == now->task->sample[0].value[TASK_FLOAT]);
	assert_true(seen->look->rgb && seen->look->w > 0 && seen->look->n_truths > 0 && seen->look->n_changes > 0);
	snapshot_drop(&seen);
	snapshot_drop(&now);
	snapshot_drop(&then);
	study_close(&st);
	session_free(&se);
}

// Samples may have moved since the session was written: what is known of them is told of where they are.
void test_study_task__a_moved_session_names_the_new_place(void **state)
{
	struct study_options o = options();
	struct error err = {0};
	const char *path = support_temp("moved.qtui.json");
	struct study *st = open_for_test(o);
	struct snapshot *then = run_study(st);
	char *elsewhere;
	struct bytes list;
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);
	assert_int_equal(file_read(&list, o.task.data, 1 << 20, &err), STATUS_OK);
	elsewhere = xstrdup(support_temp_file("elsewhere.txt", list.data, list.size));
	bytes_done(&list);

	struct session *se;
	o.task.data = elsewhere;
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	st = open_for_test(o);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	struct snapshot *now = run_study(st);
	assert_true(now->timing.task_s == 0); // it was not measured
	assert_string_equal(now->task->dataset, elsewhere);
	assert_string_equal(now->task->note, then->task->note); // the decoder too, which only a run finds
	snapshot_drop(&now);
	snapshot_drop(&then);
	study_close(&st);
	session_free(&se);
	free(elsewhere);
}

void test_study_task__labels_beside_the_samples_are_measured_on_them(void **state)
{
	struct study_options o = options();
	o.calib = "examples/val";
	o.task = (struct task_wish){0};
	struct study *st = open_for_test(o);
	struct snapshot *s = run_study(st);
	assert_null(s->task); // scales alone were asked for
	snapshot_drop(&s);
	study_close(&st);
	o.calibrate_only = false;
	o.skip_layerwise = true;
	st = open_for_test(o);
	s = run_study(st);
	assert_int_equal(s->task->total, CALIBRATED);
	assert_true(s->task_calibrated);
	cJSON *made = report_json(st, s), *report;
	char *text = cJSON_Print(made);
	struct error err;
	assert_int_equal(json_parse(&report, text, strlen(text), "report", &err), STATUS_OK);
	cJSON *task = cJSON_GetObjectItemCaseSensitive(report, "task");
	assert_true(json_bool(task, "calibration_samples", false));
	assert_true(json_number(cJSON_GetObjectItemCaseSensitive(task, "quantized"), "AP", NAN) == map(s, TASK_QUANT));
	cJSON_Delete(report);
	cJSON_Delete(made);
	free(text);
	snapshot_drop(&s);
	study_set_task(st, &(struct task_wish){.none = true});
	s = run_study(st);
	assert_null(s->task);
	snapshot_drop(&s);
	study_close(&st);
}

// Labels that are none are a failure for as long as they are asked for, and no longer.
void test_study_task__broken_labels_are_taken_back(void **state)
{
	static const char broken[] = "{\"images\":3}";
	struct study_options o = options();
	struct error err;
	o.task.labels = support_temp_file("broken.json", broken, sizeof broken - 1);
	struct study *st = open_for_test(o);
	study_run(st);
	assert_int_not_equal(study_wait(st, &err), STATUS_OK);
	struct snapshot *s = study_snapshot(st);
	assert_non_null(strstr(s->task_problem, "broken.json"));
	snapshot_drop(&s);
	study_set_task(st, &(struct task_wish){.none = true});
	s = run_study(st);
	assert_string_equal(s->task_problem, "");
	snapshot_drop(&s);
	study_close(&st);
}

// Labels that merely lie there and are broken: said, and no failure.
void test_study_task__broken_labels_beside_the_samples_are_no_failure(void **state)
{
	struct study_options o = options();
	static const char broken[] = "{\"images\":[{\"id\":1}";
	char dir[4096], image[2100], link[4200];
	snprintf(dir, sizeof dir, "%s", support_temp("beside"));
	assert_int_equal(mkdir(dir, 0777), 0);
	assert_non_null(realpath("examples/val/000.jpg", image));
	snprintf(link, sizeof link, "%s/000.jpg", dir);
	assert_int_equal(symlink(image, link), 0);
	support_temp_file("beside/instances.json", broken, sizeof broken - 1);
	o.calib = dir;
	o.task = (struct task_wish){0};
	o.calibrate_only = false;
	struct study *st = open_for_test(o);
	struct snapshot *s = run_study(st); // fails when the study does
	assert_int_equal(s->stage, STAGE_DONE);
	assert_null(s->task);
	assert_non_null(strstr(s->task_problem, "instances.json"));
	snapshot_drop(&s);
	study_close(&st);
}

void test_study_task__what_was_asked_for_and_cannot_be_is_an_error(void **state)
{
	struct study_options o = options();
	struct error err = {0};
	o.task.labels = "examples/none.json";
	struct study *st = open_for_test(o);
	for (int i = 0; i < 2; i++) { // it is tried again, and said again
		study_run(st);
		assert_int_equal(study_wait(st, &err), STATUS_IO);
		assert_non_null(strstr(err.text, "none.json"));
		struct snapshot *s = study_snapshot(st);
		assert_int_equal(s->stage, STAGE_DONE);
		assert_non_null(strstr(s->task_problem, "none.json"));
		assert_null(s->task);
		assert_non_null(snapshot_plan(s)); // the analysis itself is whole
		snapshot_drop(&s);
	}
	study_set_task(st, &(struct task_wish){.data = few(), .labels = "examples/val.json"});
	struct snapshot *s = run_study(st);
	assert_true(map(s, TASK_FLOAT) > .6 && !s->task_problem[0]);
	snapshot_drop(&s);
	study_close(&st);
}

void test_study_task__stopping_keeps_what_is_measured(void **state)
{
	struct study_options o = options();
	struct error err = {0};
	o.task.data = "examples/val";
	struct study *st = open_for_test(o);
	study_run(st);
	struct snapshot *s = NULL;
	do {
		snapshot_drop(&s);
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 1000);
		s = study_snapshot(st);
	} while (!s->task && study_running(st));
	study_cancel(st);
	(void)!study_wait(st, &err);
	snapshot_drop(&s);
	s = study_snapshot(st);
	int part = s->task->samples[TASK_QUANT];
	assert_int_equal(s->stage, STAGE_DONE);
	assert_true(part > 0);
	if (part < s->task->total) {
		assert_int_equal(err.status, STATUS_CANCELLED);
		assert_true(isnan(s->run[0].task_quant)); // a part is no result
	}
	snapshot_drop(&s);
	s = run_study(st);
	assert_int_equal(s->task->samples[TASK_QUANT], 100);
	snapshot_drop(&s);
	study_close(&st);
}

// A report that somebody has written by hand is taken for what it holds.
void test_study_task__malformed_reports(void **state)
{
	static const char *const text[] = {"{}", "[]", "3", "{\"task\":\"detect\"}", "{\"task\":\"dance\",\"images\":3,\"float\":{\"AP\":1}}",
	    "{\"task\":\"detect\",\"images\":-3,\"float\":{\"AP\":1},\"samples\":7,\"classes\":{\"a\":1}}",
	    "{\"task\":\"detect\",\"images\":3,\"float\":[1,2],\"quantized\":\"AP\"}"};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		cJSON *j;
		struct error err;
		assert_int_equal(json_parse(&j, text[i], strlen(text[i]), "report", &err), STATUS_OK);
		assert_null(task_report_parse(j));
		cJSON_Delete(j);
	}
	const char good[] = "{\"task\":\"agree\",\"images\":3,\"float\":{},\"quantized\":{\"cosine\":0.5},\"samples\":[{\"sample\":1e99},4]}";
	cJSON *j;
	struct error err;
	assert_int_equal(json_parse(&j, good, strlen(good), "report", &err), STATUS_OK);
	struct task_report *r = task_report_parse(j);
	assert_non_null(r);
	assert_true(isnan(r->figure[0].value[TASK_FLOAT]) && r->figure[0].value[TASK_QUANT] == .5);
	assert_int_equal(r->n_samples, 2);
	assert_int_equal(r->sample[0].sample, 0);
	task_report_drop(&r);
	cJSON_Delete(j);
}
