// Sessions written by a thread of their own, while the study goes on.
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "qtui/analysis/session_writer.h"
#include "../../src/analysis/study/study_impl.h"
#include "studies.h"

#define CONV "/model.0/conv/Conv"

static struct study *open_study(void)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .method = CALIB_MINMAX,
	    .threads = 2, .data = {.samples = 1}, .skip_layerwise = true, .task = {.none = true}});
}

static void command(struct study *st, const char *text)
{
	struct error err = {0};
	if (study_command(st, text, &err) != STATUS_OK)
		fail_msg("%s", err.text);
}

static struct session *read_back(const char *path)
{
	struct error err = {0};
	struct session *s = NULL;
	if (session_read(&s, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return s;
}

// Edits, runs and writings go on side by side; the file ends as what was put last.
void test_session_writer__keeps_the_latest(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	const char *path = support_temp("deep/er/session.json");
	struct session_writer *w = session_writer_new(path);
	for (int i = 0; i < 6; i++) {
		command(st, i % 2 ? "set " CONV " int16" : "set " CONV " float");
		session_writer_put(w, session_save_begin(st, NULL));
		study_run(st);
	}
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	struct snapshot *s = study_snapshot(st);
	snapshot_drop(&s);
	session_writer_put(w, session_save_begin(st, NULL));
	assert_int_equal(session_writer_free(&w, &err), STATUS_OK);
	struct session *se = read_back(path);
	assert_int_equal(se->n_commands, 6);
	assert_string_equal(se->command[5], "set " CONV " int16");
	assert_non_null(se->results);
	session_free(&se);
	study_close(&st);
}

// What the writer does is what session_write does, unknown members of the file that was read included.
void test_session_writer__writes_the_same_file(void **state)
{
	static const char text[] = "{\"qtui_session\": 1, \"mine\": {\"a\": [1, 2]}, \"journal\": [\"set " CONV " int16\"], \"results\": {}}";
	struct error err = {0};
	struct study *st = open_study();
	const char *base = support_temp_file("base.json", text, sizeof text - 1), *a = support_temp("a.json"), *b = support_temp("b.json");
	struct session *se = read_back(base);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	wait_for_run(st);
	assert_int_equal(session_write(st, a, se, &err), STATUS_OK);
	struct session_writer *w = session_writer_new(b);
	session_writer_put(w, session_save_begin(st, se));
	assert_int_equal(session_writer_free(&w, &err), STATUS_OK);
	session_free(&se);
	struct session *x = read_back(a), *y = read_back(b);
	assert_true(cJSON_Compare(x->root, y->root, true));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(x->root, "mine"), "a")), 2);
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(x->results, "figures")) > 50);
	session_free(&x);
	session_free(&y);
	study_close(&st);
}

// What is begun and given up lets go of all that it holds, and leaves no file.
void test_session_writer__one_that_gives_way(void **state)
{
	struct study *st = open_study();
	command(st, "set " CONV " int16");
	wait_for_run(st);
	struct snapshot *s = study_snapshot(st);
	struct run_nodes *nodes = st->history.at[0].nodes;
	int runs = atomic_load(&nodes->refs), shown = atomic_load(&s->refs);
	struct session_save *save = session_save_begin(st, NULL);
	assert_true(atomic_load(&nodes->refs) > runs && atomic_load(&s->refs) > shown);
	session_save_free(&save);
	assert_null(save);
	session_save_free(&save);
	assert_int_equal(atomic_load(&nodes->refs), runs);
	assert_int_equal(atomic_load(&s->refs), shown);
	snapshot_drop(&s);
	study_close(&st);
}

// Whoever asks whether it is lost waits for what was put a moment ago.
void test_session_writer__tells_that_it_works_again(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	const char *file = support_temp_file("again", "x", 1), *path = support_temp("again/session.json");
	struct session_writer *w = session_writer_new(path);
	session_writer_put(w, session_save_begin(st, NULL));
	assert_true(session_writer_lost(w));
	assert_true(session_writer_news(w, &err));
	assert_int_equal(remove(file), 0);
	session_writer_put(w, session_save_begin(st, NULL));
	assert_false(session_writer_lost(w));
	struct pollfd fd = {.fd = session_writer_fd(w), .events = POLLIN};
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_true(session_writer_news(w, &err));
	assert_int_equal(err.status, STATUS_OK);
	assert_false(session_writer_news(w, &err));
	assert_true(file_exists(path));
	assert_int_equal(session_writer_free(&w, &err), STATUS_OK);
	study_close(&st);
}

void test_session_writer__tells_what_failed_once(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	support_temp_file("file", "x", 1);
	struct session_writer *w = session_writer_new(support_temp("file/session.json"));
	assert_false(session_writer_news(w, &err));
	session_writer_put(w, session_save_begin(st, NULL));
	struct pollfd fd = {.fd = session_writer_fd(w), .events = POLLIN};
	assert_int_equal(poll(&fd, 1, 60000), 1);
	assert_true(session_writer_news(w, &err));
	assert_non_null(strstr(err.text, "file"));
	assert_false(session_writer_news(w, &err));
	session_writer_put(w, session_save_begin(st, NULL)); // fails in the same way
	assert_true(session_writer_lost(w));
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_false(session_writer_news(w, &err));
	assert_int_equal(session_writer_free(&w, &err), STATUS_IO);
	study_close(&st);
}

// Whether the figures have to wait for the run that is begun here. On a busy machine it may be over before it is seen.
static bool waits_for_run(struct study *st, struct session *se)
{
	struct error err = {0};
	bool runs = false, waits;
	study_run(st);
	while (!runs && study_running(st)) {
		pthread_mutex_lock(&st->lock);
		runs = st->running;
		pthread_mutex_unlock(&st->lock);
	}
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	pthread_mutex_lock(&st->lock);
	waits = st->loads && st->running;
	pthread_mutex_unlock(&st->lock);
	return waits;
}

// A session is opened while the first run goes on: its figures wait for the end of that run,
// which makes and reads such figures itself.
void test_session_writer__figures_are_taken_over_between_runs(void **state)
{
	struct error err = {0};
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .method = CALIB_MINMAX, .threads = 1,
	    .data = {.samples = 16}, .task = {.none = true}};
	struct study *st = open_for_test(o);
	const char *path = support_temp("figures.json");
	bool waits = false;
	command(st, "set " CONV " int16");
	wait_for_run(st);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);
	for (int tries = 0; tries < 20 && !waits; tries++) {
		struct session *se = read_back(path);
		st = open_for_test(o);
		waits = waits_for_run(st, se);
		wait_for_run(st);
		assert_null(st->loads);
		struct snapshot *s = study_snapshot(st);
		assert_int_equal(s->computed, 0);
		snapshot_drop(&s);
		session_free(&se);
		study_close(&st);
	}
	assert_true(waits);
}
