// The ring of log lines.
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/log.h"

// The ring belongs to the process, so every test asks for the newest lines.
static int newest(int back, char *out, int size)
{
	return log_line(support_log_count() - 1 - back, out, size);
}

void test_log__keeps_lines_in_order_with_levels(void **state)
{
	char text[64];
	log_info("one %d", 1);
	log_warn("two");
	log_add(LOG_ERROR, "three\n\033[m");
	assert_int_equal(newest(2, text, sizeof text), LOG_INFO);
	assert_string_equal(text, "one 1");
	assert_int_equal(newest(1, text, sizeof text), LOG_WARN);
	assert_int_equal(newest(0, text, sizeof text), LOG_ERROR);
	assert_string_equal(text, "three ?[m");
}

void test_log__has_no_line_outside(void **state)
{
	char text[8] = "same";
	log_info("a line");
	assert_int_equal(log_line(-1, text, sizeof text), -1);
	assert_int_equal(log_line(support_log_count(), text, sizeof text), -1);
	assert_string_equal(text, "same");
	assert_int_equal(newest(0, text, 4), LOG_INFO);
	assert_string_equal(text, "a l");
}

void test_log__forgets_the_oldest(void **state)
{
	char text[32];
	int kept;
	for (int i = 0; i < 5000; i++)
		log_info("line %d", i);
	kept = support_log_count();
	assert_in_range(kept, 100, 4999);
	assert_int_equal(log_line(0, text, sizeof text), LOG_INFO);
	assert_int_equal(atoi(text + 5), 5000 - kept);
	newest(0, text, sizeof text);
	assert_string_equal(text, "line 4999");
}

void test_log__cuts_long_lines(void **state)
{
	char line[2000], text[2000];
	memset(line, 'x', sizeof line - 1);
	line[sizeof line - 1] = '\0';
	log_info("%s", line);
	newest(0, text, sizeof text);
	assert_in_range(strlen(text), 100, 1000);
}

// What stands on standard error between the two.
static int stderr_taken(void)
{
	int saved = dup(STDERR_FILENO);
	assert_non_null(freopen(support_temp("stderr"), "w", stderr));
	return saved;
}

static void stderr_was(int saved, const char *want)
{
	char text[128] = "";
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	FILE *f = fopen(support_temp("stderr"), "r");
	fread(text, 1, sizeof text - 1, f);
	fclose(f);
	assert_string_equal(text, want);
}

void test_log__goes_to_stderr_from_a_level_on(void **state)
{
	int saved = stderr_taken();
	log_to_stderr(true, LOG_WARN);
	log_info("quiet");
	log_warn("loud");
	log_warn("loud"); // said already
	log_to_stderr(false, LOG_INFO);
	log_warn("off");
	stderr_was(saved, "qtui: warning: loud\n");
}

// What only the ring has heard so far is still to be said.
void test_log__what_was_kept_under_a_screen_is_said_later(void **state)
{
	int saved = stderr_taken();
	log_to_stderr(false, LOG_INFO);
	log_warn("under a screen");
	log_to_stderr(true, LOG_WARN);
	log_warn("under a screen"); // the latest line of the ring
	log_warn("another");
	log_warn("under a screen"); // said by now
	log_to_stderr(false, LOG_INFO);
	stderr_was(saved, "qtui: warning: under a screen\nqtui: warning: another\n");
}

static void latest_is(int back, const char *what)
{
	char text[64];
	assert_true(log_line(support_log_count() - 1 - back, text, sizeof text) >= 0);
	assert_string_equal(text, what);
}

void test_log__says_the_same_once(void **state)
{
	log_info("before");
	log_info("once");
	log_info("once");
	latest_is(0, "once");
	latest_is(1, "before");
	log_warn("once"); // is another one
	latest_is(1, "once");
	latest_is(2, "before");
}

static int times_in_log(const char *what)
{
	char text[64];
	int n = 0;
	for (int i = 0; log_line(i, text, sizeof text) >= 0; i++)
		n += strcmp(text, what) == 0;
	return n;
}

// What is opened again warns again, with other lines between: it stands where it was said last.
void test_log__says_again_at_the_end(void **state)
{
	log_warn("one file left out");
	log_info("between");
	log_info("run 2");
	int warnings = log_warnings();
	unsigned additions = log_additions();
	log_warn("one file left out");
	assert_int_equal(log_warnings(), warnings + 1);
	assert_true(log_additions() != additions); // what shows the log draws it anew
	assert_int_equal(times_in_log("one file left out"), 1);
	latest_is(0, "one file left out");
	latest_is(1, "run 2");
	latest_is(2, "between");
}

static void *chatter(void *arg)
{
	char text[64];
	for (int i = 0; i < 2000; i++) {
		log_info("thread %d line %d", *(int *)arg, i);
		log_line(i % 100, text, sizeof text);
	}
	return NULL;
}

void test_log__is_thread_safe(void **state)
{
	pthread_t thread[4];
	int number[4];
	char text[64];
	for (int i = 0; i < 4; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, chatter, &number[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < support_log_count(); i++) {
		assert_int_equal(log_line(i, text, sizeof text), LOG_INFO);
		assert_memory_equal(text, "thread ", 7);
	}
}
