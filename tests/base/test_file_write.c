// Files that are written: whole or not at all, through links, with their mode, and nothing is left by who was killed.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "file_case.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static mode_t mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

// By any name, and not the other files beside it.
void test_file_write__what_is_kept_is_not_written_over(void **state)
{
	const char *path = support_temp("kept"), *link = support_temp("kept_link"), *other = support_temp("beside");
	struct error e;
	write_text(path, "content");
	write_text(other, "content");
	file_keep(path);
	file_keep("/dev/null");
	unlink(link);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(file_write(path, "x", 1, &e), STATUS_REFUSED);
	assert_int_equal(file_write(link, "x", 1, &e), STATUS_REFUSED);
	assert_non_null(strstr(e.text, "is read here and is not written over"));
	check_text(path, "content");
	assert_int_equal(file_spare("/dev/null", &e), STATUS_OK);
	write_text(other, "new");
	assert_true(file_is_same(path, link));
	assert_false(file_is_same(path, other));
	assert_true(file_is_same("/nosuch/file", "/nosuch/file"));
	assert_false(file_is_same("/nosuch/file", path));
}

void test_file_write__parts_joins(void **state)
{
	const char *path = support_temp("parts");
	struct error e;
	assert_int_equal(
	    file_write_parts(path, (struct file_part[]){{.data = "ab", .size = 2}, {.size = 0}, {.data = "cd", .size = 2}}, 3, &e), STATUS_OK);
	check_text(path, "abcd");
}

// Two letters, in memory that the next call has again.
static const void *make_letters(const void *letter)
{
	static char made[2];
	made[0] = made[1] = *(const char *)letter;
	return made;
}

void test_file_write__parts_are_made_in_their_turn(void **state)
{
	const char *path = support_temp("made");
	const struct file_part a = {.size = 2, .make = make_letters, .arg = "a"}, b = {.size = 2, .make = make_letters, .arg = "b"};
	struct error e;
	assert_int_equal(file_write_parts(path, (struct file_part[]){a, {.data = "-", .size = 1}, b}, 3, &e), STATUS_OK);
	check_text(path, "aa-bb");
}

void test_file_write__keeps_the_mode(void **state)
{
	const char *path = support_temp("mode");
	mode_t before = umask(027);
	write_text(path, "new");
	umask(before);
	assert_int_equal(mode_of(path) & 07777, 0640);
	chmod(path, 0705);
	write_text(path, "again");
	assert_int_equal(mode_of(path) & 07777, 0705);
}

void test_file_write__goes_through_a_link(void **state)
{
	const char *target = support_temp("target"), *link = support_temp("link");
	write_text(target, "old");
	assert_int_equal(symlink(target, link), 0);
	write_text(link, "new");
	assert_true(S_ISLNK(mode_of(link)));
	check_text(target, "new");
}

void test_file_write__goes_through_a_dangling_link(void **state)
{
	const char *target = support_temp("later"), *link = support_temp("dangling");
	assert_int_equal(symlink(target, link), 0);
	write_text(link, "made");
	assert_true(S_ISLNK(mode_of(link)));
	check_text(target, "made");
}

// A reader that has the file open goes on reading the old content.
void test_file_write__is_atomic_for_readers(void **state)
{
	const char *path = support_temp("atomic");
	char text[8] = "";
	int fd;
	write_text(path, "before");
	fd = open(path, O_RDONLY);
	write_text(path, "after!");
	assert_int_equal(read(fd, text, 6), 6);
	close(fd);
	assert_string_equal(text, "before");
}

static int count_entries(const char *dir)
{
	struct str command = {0};
	char line[32] = "";
	FILE *p;
	str_addf(&command, "ls -A '%s' | wc -l", dir);
	p = popen(str_text(&command), "r");
	assert_non_null(fgets(line, sizeof line, p));
	pclose(p);
	str_done(&command);
	return atoi(line);
}

// The limit on the size of a file stands in for a full disk.
void test_file_write__failed_write_leaves_the_old_and_no_rest(void **state)
{
	const char *dir = support_temp("full");
	char *path = file_join(dir, "f"), *big = calloc(1, 100000);
	struct rlimit before, small;
	struct error e;
	enum status s;
	assert_int_equal(file_mkdirs(dir, &e), STATUS_OK);
	write_text(path, "precious");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 5000;
	setrlimit(RLIMIT_FSIZE, &small);
	s = file_write(path, big, 100000, &e);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(s, STATUS_IO);
	assert_non_null(strstr(e.text, path));
	check_text(path, "precious");
	assert_int_equal(count_entries(dir), 1);
	free(big);
	free(path);
}

static pid_t ended_process(void)
{
	pid_t child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return child;
}

// As a run that was killed `age` seconds ago leaves it; heap.
static char *leave(const char *dir, const char *begin, long pid, int age)
{
	struct timespec when[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
	struct str name = {0};
	char *path;
	int fd;
	str_addf(&name, "%s%ld-7.tmp", begin, pid);
	path = file_join(dir, str_text(&name));
	str_done(&name);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_int_equal(futimens(fd, when), 0);
	close(fd);
	return path;
}

// A later run removes them: of nobody who lives, works elsewhere or has just begun, and nobody's own file.
void test_file_write__what_a_killed_run_left_is_removed(void **state)
{
	const char *dir = support_temp("stale");
	pid_t dead = ended_process();
	struct error e;
	char *left, *young, *living, *locked, *other, *path = file_join(dir, "f");
	int fd;
	assert_int_equal(file_mkdirs(dir, &e), STATUS_OK);
	left = leave(dir, ".qtui-", dead, 3600);
	young = leave(dir, ".qtui-", ended_process(), 1);
	living = leave(dir, ".qtui-", getppid(), 3600);
	locked = leave(dir, ".qtui-", ended_process(), 3600);
	other = leave(dir, ".qtuix", dead, 3600);
	fd = open(locked, O_WRONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(file_write(path, "new", 3, &e), STATUS_OK);
	close(fd);
	check_text(path, "new");
	assert_false(file_exists(left));
	assert_true(file_exists(young) && file_exists(living) && file_exists(locked) && file_exists(other));
	assert_int_equal(count_entries(dir), 5);
	free(left);
	free(young);
	free(living);
	free(locked);
	free(other);
	free(path);
}

// A child writes one file over and over until it is told to end.
static pid_t write_for_ever(const char *path)
{
	enum { SIZE = 1 << 20 };
	pid_t child = fork();
	if (child)
		return child;
	char *data = xcalloc(SIZE, 1);
	for (;;)
		if (file_write(path, data, SIZE, &(struct error){0}) != STATUS_OK)
			_exit(1);
}

void test_file_write__a_signal_leaves_no_rest(void **state)
{
	enum { TIMES = 20 };
	const char *dir = support_temp("ended");
	char *path = file_join(dir, "big");
	struct error e;
	assert_int_equal(file_mkdirs(dir, &e), STATUS_OK);

	for (int i = 0; i < TIMES; i++) {
		int how;
		pid_t child = write_for_ever(path);
		while (!file_exists(path))
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		nanosleep(&(struct timespec){.tv_nsec = 300000 * i}, NULL);
		kill(child, i % 2 ? SIGTERM : SIGHUP);
		assert_int_equal(waitpid(child, &how, 0), child);
		assert_true(WIFSIGNALED(how));
		assert_int_equal(count_entries(dir), 1);
		unlink(path);
	}
	free(path);
}

void test_file_write__to_a_device(void **state)
{
	struct error e;
	write_text("/dev/null", "nothing");
	assert_true(S_ISCHR(mode_of("/dev/null")));
	assert_int_equal(file_write("/dev/full", "x", 1, &e), STATUS_IO);
	assert_true(S_ISCHR(mode_of("/dev/full")));
}

// As /dev/stdout in a pipeline: what its link says is no name that could be opened.
void test_file_write__to_a_pipe_by_its_descriptor(void **state)
{
	char name[64], got[8] = "";
	struct error e;
	int fd[2];
	assert_int_equal(pipe(fd), 0);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd[1]);
	assert_int_equal(file_may_write(name, &e), STATUS_OK);
	write_text(name, "text");
	assert_int_equal(read(fd[0], got, sizeof got - 1), 4);
	assert_string_equal(got, "text");
	close(fd[0]);
	close(fd[1]);
}

// In a process of its own, since the system lets root write anything.
static enum status may_write_as_nobody(const char *path)
{
	struct error e = {0};
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(255);
		_exit((int)file_may_write(path, &e));
	}
	waitpid(child, &status, 0);
	return (enum status)WEXITSTATUS(status);
}

// A file is replaced, for which its directory must be writable, whatever the file itself is.
void test_file_write__what_cannot_be_written_is_told_beforehand(void **state)
{
	struct error e;
	const char *dir = support_temp("closed"), *link = support_temp("closed_link");
	chmod(support_temp(""), 0755);
	assert_int_equal(file_mkdirs(dir, &e), STATUS_OK);
	char *old = file_join(dir, "old"), *new = file_join(dir, "new"), *below = file_join(dir, "none/x");
	write_text(old, "old");
	assert_int_equal(symlink(old, link), 0);
	chmod(old, 0666);
	chmod(dir, 0777);
	assert_int_equal(may_write_as_nobody(old), STATUS_OK);
	assert_int_equal(may_write_as_nobody(new), STATUS_OK);
	assert_int_equal(may_write_as_nobody(below), STATUS_IO);
	assert_int_equal(may_write_as_nobody(dir), STATUS_IO);
	chmod(dir, 0555);
	assert_int_equal(may_write_as_nobody(old), STATUS_IO);
	assert_int_equal(may_write_as_nobody(link), STATUS_IO);
	assert_int_equal(may_write_as_nobody(new), STATUS_IO);
	chmod(dir, 0777);
	chmod(old, 0444);
	assert_int_equal(may_write_as_nobody(old), STATUS_IO);
	assert_int_equal(may_write_as_nobody("-"), STATUS_OK);
	assert_int_equal(may_write_as_nobody("/dev/null"), STATUS_OK);
	free(old);
	free(new);
	free(below);
}

void test_file_write__protected_stays(void **state)
{
	const char *path = support_temp_file("protected", "old", 3);
	struct error e;
	if (geteuid() == 0)
		skip(); // the system lets root write anything
	chmod(path, 0444);
	assert_int_equal(file_write(path, "new", 3, &e), STATUS_IO);
	check_text(path, "old");
}
