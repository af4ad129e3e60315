// Where a session lies and who else writes there: runs that end at the same time, links.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "qtui/analysis/session.h"
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
