// Programs that answer lines: what they say, and every way in which they can fail to.
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/child.h"
#include "qtui/base/file.h"
#include "qtui/base/thread.h"

static enum status ask(const char *command, const char *line, char *answer, size_t size, struct error *err)
{
	struct child *c;
	*err = (struct error){0};
	if (child_start(&c, command, err) != STATUS_OK)
		fail_msg("%s", err->text);
	enum status st = child_ask(c, line, answer, size, NULL, err);
	child_end(&c);
	assert_null(c);
	return st;
}

static void fails(const char *command, const char *says)
{
	char answer[16];
	struct error err;
	assert_int_equal(ask(command, "a line", answer, sizeof answer, &err), STATUS_UNSUPPORTED);
	assert_string_equal(err.text, says);
}

void test_child__answers_line_by_line(void **state)
{
	struct child *c;
	struct error err = {0};
	char answer[64], line[32];
	assert_int_equal(child_start(&c, "while read a b; do echo \"$b, $a\"; done", &err), STATUS_OK);
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof line, "%d said", i);
		assert_int_equal(child_ask(c, line, answer, sizeof answer, NULL, &err), STATUS_OK);
		snprintf(line, sizeof line, "said, %d", i);
		assert_string_equal(answer, line);
	}
	child_end(&c);
}

// What it complains of is taken from it, however much it is, and fills no disk: /proc says that it is a pipe.
void test_child__its_errors_have_no_end(void **state)
{
	char answer[64];
	struct error err;
	assert_int_equal(ask("read x; readlink /proc/$$/fd/2", "where?", answer, sizeof answer, &err), STATUS_OK);
	assert_memory_equal(answer, "pipe:", 5);
	assert_int_equal(ask("read x; head -c 1000000 /dev/zero | tr '\\0' '\\n' >&2; echo done", "all", answer, sizeof answer, &err), STATUS_OK);
	assert_string_equal(answer, "done");
	assert_int_equal(ask("exec 2>&-; read x; echo none", "x", answer, sizeof answer, &err), STATUS_OK);
	assert_string_equal(answer, "none");
	fails("read x; seq 100000 >&2; echo last >&2; exit 1", "it has ended with exit code 1: last");
}

// More than a pipe holds, to a program that reads all before it answers.
void test_child__a_long_line(void **state)
{
	enum { LONG = 1 << 18 };
	static char line[LONG];
	char answer[64];
	struct error err;
	memset(line, 'x', LONG - 1);
	assert_int_equal(ask("head -n 1 | wc -c", line, answer, sizeof answer, &err), STATUS_OK);
	assert_string_equal(answer, "262144");
}

void test_child__how_it_fails(void **state)
{
	fails("exit 3", "it has ended with exit code 3");
	fails("read x; echo one >&2; printf 'two \\n\\n' >&2; exit 1", "it has ended with exit code 1: two");
	fails("kill -9 $$", "it was ended by signal 9");
	fails("read x; printf '1\\n2\\n'; cat >/dev/null", "it says more than a line for each that it gets");
	fails("read x; echo 0123456789abcdef; cat >/dev/null", "its answer has no end: 0123456789abcde...");
	fails("read x; printf 12; exit", "it has ended with exit code 0");
	fails("exec 1>&-; cat >/dev/null", "it has closed its output");
	fails("echo 1; exit 4", "it has ended with exit code 4"); // whether it is asked before or behind
	fails("sleep .1; echo 1; exit 4", "it has ended with exit code 4");
	fails("sleep .1; echo ready; sleep 9; cat >/dev/null", "it says more than a line for each that it gets");
}

// What is said later than an answer is not taken for the next one.
void test_child__a_second_line_is_no_next_answer(void **state)
{
	struct child *c;
	struct error err = {0};
	char answer[16], command[512], *may = file_join(support_temp("child"), "may"), *said = file_join(support_temp("child"), "said");
	assert_int_equal(file_mkdirs(support_temp("child"), &err), STATUS_OK);
	remove(may);
	remove(said);
	snprintf(command, sizeof command, "read x; echo 1; until [ -e %s ]; do sleep .01; done; echo 2; : >%s; cat >/dev/null", may, said);
	assert_int_equal(child_start(&c, command, &err), STATUS_OK);
	assert_int_equal(child_ask(c, "a line", answer, sizeof answer, NULL, &err), STATUS_OK);
	assert_int_equal(file_write(may, "", 0, &err), STATUS_OK);
	for (int ms = 0; !file_exists(said) && ms < 10000; ms += 10)
		usleep(10000);
	assert_int_equal(child_ask(c, "a line", answer, sizeof answer, NULL, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "more than a line"));
	child_end(&c);
	free(may);
	free(said);
}

// SIGPIPE, which a program that reads no more brings, ends nobody, wherever it is asked from.
void test_child__one_that_reads_nothing(void **state)
{
	struct child *c;
	struct error err = {0};
	char answer[16], command[256];
	const char *closed = support_temp("closed");
	snprintf(command, sizeof command, "exec <&-; : >%s; sleep 9", closed);
	assert_int_equal(child_start(&c, command, &err), STATUS_OK);
	for (int ms = 0; !file_exists(closed) && ms < 10000; ms += 10)
		usleep(10000);
	assert_int_equal(child_ask(c, "a line", answer, sizeof answer, NULL, &err), STATUS_UNSUPPORTED);
	child_end(&c);
}

static void *stop_soon(void *arg)
{
	usleep(50000);
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

// Whoever waits can be called off, and nothing of the program is left.
void test_child__is_called_off(void **state)
{
	atomic_bool stop = false;
	pthread_t stopper;
	struct child *c;
	struct error err = {0};
	char answer[16];
	assert_true(thread_start(&stopper, stop_soon, &stop));
	assert_int_equal(child_start(&c, "read x; echo $$ >&2; trap '' TERM; sleep 100 & wait", &err), STATUS_OK);
	double begin = clock_seconds();
	assert_int_equal(child_ask(c, "a line", answer, sizeof answer, &stop, &err), STATUS_CANCELLED);
	child_end(&c);
	assert_true(clock_seconds() - begin < 30); // of 100
	pthread_join(stopper, NULL);
}

// Where nobody waits for it, a process that was killed stays as a number.
static bool is_gone(pid_t pid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "r");
	bool gone = !f || !fgets(text, sizeof text, f) || strstr(text, ") Z ");
	if (f)
		fclose(f);
	return gone;
}

// Whether it ended by itself, behind an error, or was ended, what it started in the background is ended too.
void test_child__leaves_nothing_behind(void **state)
{
	static const char *const rest[] = {"cat >/dev/null", "exit 0", "read x; exit 1", "kill -9 $$", "exec sleep 100"};
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		struct child *c;
		struct error err = {0};
		char answer[16], command[128];
		snprintf(command, sizeof command, "sleep 100 >/dev/null 2>&1 </dev/null & read x; echo $!; %s", rest[i]);
		assert_int_equal(child_start(&c, command, &err), STATUS_OK);
		assert_int_equal(child_ask(c, "a line", answer, sizeof answer, NULL, &err), STATUS_OK);
		pid_t left = (pid_t)atoi(answer);
		assert_true(left > 1);
		if (i == 2)
			assert_int_equal(child_ask(c, "another", answer, sizeof answer, NULL, &err), STATUS_UNSUPPORTED);
		child_end(&c);
		int ms = 0;
		for (; !is_gone(left) && ms < 10000; ms += 10)
			usleep(10000);
		assert_true(ms < 10000);
	}
}
