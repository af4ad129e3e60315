// Where a session lies and who else writes there: runs that end at the same time, links, targets given by relative paths.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/session.h"
#include "qtui/base/str.h"
#include "qtui/engine/target.h"
#include "studies.h"

static struct study *open_study(const char *target)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = target,
	    .method = CALIB_MINMAX, .threads = 1, .data = {.samples = 1}, .calibrate_only = true, .task = {.none = true}});
}

static void write_session(const struct study *st, const char *path)
{
	struct error err = {0};
	if (session_write(st, path, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
}

struct writing {
	pthread_t thread;
	struct session_save *save;
	const char *path;
	struct error err;
};

static void *end_writing(void *arg)
{
	struct writing *w = arg;
	(void)!session_save_end(&w->save, w->path, &w->err);
	return NULL;
}

// Both have read the same file: the second finds that it has changed, however close they are.
void test_session_places__one_of_two_writers_is_refused(void **state)
{
	enum { ROUNDS = 20 };
	struct study *st = open_study(NULL);
	const char *path = support_temp("shared.json");
	write_session(st, path);
	for (int round = 0; round < ROUNDS; round++) {
		const struct file_stamp read = file_stamp(path);
		struct writing w[2] = {{.path = path}, {.path = path}};
		for (int i = 0; i < 2; i++) {
			w[i].save = session_save_begin(st, NULL);
			session_save_over(w[i].save, &read);
		}
		for (int i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&w[i].thread, NULL, end_writing, &w[i]), 0);
		for (int i = 0; i < 2; i++)
			pthread_join(w[i].thread, NULL);
		assert_int_equal(w[0].err.status + w[1].err.status, STATUS_REFUSED);
	}
	study_close(&st);
}

void test_session_places__weights_lie_beside_the_file_behind_a_link(void **state)
{
	const char *real = support_temp("real.json"), *link = support_temp("link.json");
	unlink(link);
	assert_int_equal(symlink(real, link), 0);
	char *a = session_tuned_path(real, "0123"), *b = session_tuned_path(link, "0123");
	assert_string_equal(a, b);
	free(a);
	free(b);
	// The session goes, not only its other name.
	support_temp_file("real.json", "{}", 2);
	session_remove(link);
	assert_false(file_exists(real) || file_exists(link));
}

// A file's name has 255 bytes at the most, and the longest of all that belong to an autosave is that of its weights.
void test_session_places__a_long_name_is_cut_between_characters(void **state)
{
	enum { CHARACTERS = 120, BEHIND = sizeof "-01234567.json" - 1, MORE = sizeof "-16" - 1 + sizeof "..onnx" - 2 + TUNING_NAME };
	for (int odd = 0; odd < 2; odd++) {
		char name[2 * CHARACTERS + 2] = "a", *text = name + odd;
		for (int i = 0; i < CHARACTERS; i++)
			memcpy(text + 2 * i, "\xc3\xa9", 3);
		char *path = session_autosave_path(name);
		size_t kept = strlen(file_base(path)) - BEHIND;
		assert_int_equal(strncmp(file_base(path), name, kept), 0);
		assert_int_equal((kept - (size_t)odd) % 2, 0);
		assert_in_range(kept + BEHIND + MORE, 254, 255);
		free(path);
	}
}

static char *here(void)
{
	char *dir = getcwd(NULL, 0);
	assert_non_null(dir);
	return dir;
}

void test_session_places__a_target_s_file_is_found_from_any_directory(void **state)
{
	static const char relative[] = "targets/onnxruntime.json", changed[] = "targets/esp32p4.json,calibration.percentile=0.99";
	struct error err = {0};
	struct str full[2] = {{0}, {0}};
	char *dir = here();
	str_addf(&full[0], "%s/%s", dir, relative);
	str_addf(&full[1], "%s/%s", dir, changed);
	struct study *st = open_study(relative);
	assert_int_equal(study_set_target(st, changed, &err), STATUS_OK);
	const char *path = support_temp("target.json");
	write_session(st, path);
	study_close(&st);
	struct session *se = NULL;
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_string_equal(se->target, str_text(&full[0]));
	assert_string_equal(se->command[0] + strlen("target "), str_text(&full[1]));
	session_free(&se);
	for (int i = 0; i < 2; i++)
		str_done(&full[i]);
	free(dir);
}

void test_session_places__other_targets_keep_their_names(void **state)
{
	static const char *const name[] = {"esp32p4", "esp32p4,activation.symmetric=false", "./nosuch.json", "nosuch"};
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		char *full = target_absolute(name[i]);
		assert_string_equal(full, name[i]);
		free(full);
	}
}
