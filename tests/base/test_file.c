#include "support.h"

#include <errno.h>
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
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static void write_text(const char *path, const char *text)
{
	struct error e;
	if (file_write(path, text, strlen(text), &e))
		fail_msg("%s", e.text);
}

static void check_text(const char *path, const char *text)
{
	struct error e;
	struct bytes b;
	if (file_read(&b, path, 1000, &e))
		fail_msg("%s", e.text);
	assert_string_equal((char *)b.data, text);
	assert_int_equal(b.size, strlen(text));
	bytes_done(&b);
	assert_null(b.data);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

void test_file__text_is_read_without_its_mark(void **state)
{
	struct error e;
	struct bytes b;
	assert_int_equal(file_read_text(&b, support_temp_file("mark.txt", "\xef\xbb\xbf" "ab", 5), 100, &e), STATUS_OK);
	assert_int_equal(b.size, 2);
	assert_string_equal((char *)b.data, "ab");
	bytes_done(&b);
	assert_int_equal(file_read_text(&b, support_temp_file("short.txt", "\xef\xbb", 2), 100, &e), STATUS_OK);
	assert_int_equal(b.size, 2);
	bytes_done(&b);
	assert_int_equal(file_read_text(&b, support_temp_file("wide.txt", "\xfe\xff\0a", 4), 100, &e), STATUS_FORMAT);
	assert_non_null(strstr(e.text, "wide.txt is in UTF-16"));
}

void test_file__what_git_left_in_its_place_is_no_file(void **state)
{
	static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n";
	const char *path = support_temp_file("weights.npy", pointer, sizeof pointer - 1);
	struct error e;
	struct bytes b;
	assert_int_equal(file_map(&b, path, &e), STATUS_FORMAT);
	assert_non_null(strstr(e.text, "`git lfs pull`"));
	assert_null(b.data);
	assert_int_equal(file_read(&b, path, 1000, &e), STATUS_FORMAT);
}

// By any name, and not the other files beside it.
void test_file__what_is_kept_is_not_written_over(void **state)
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

void test_file__write_and_read(void **state)
{
	const char *path = support_temp("plain");
	write_text(path, "first content");
	check_text(path, "first content");
	write_text(path, "second");
	check_text(path, "second");
	write_text(path, "");
	check_text(path, "");
}

void test_file__read_stops_at_the_limit(void **state)
{
	const char *path = support_temp_file("limit", "12345", 5);
	struct error e;
	struct bytes b;
	assert_int_equal(file_read(&b, path, 5, &e), STATUS_OK);
	bytes_done(&b);
	assert_int_equal(file_read(&b, path, 4, &e), STATUS_UNSUPPORTED);
	assert_non_null(strstr(e.text, path));
	assert_null(b.data);
	assert_int_equal(file_read(&b, "/proc/self/status", 100, &e), STATUS_UNSUPPORTED);
	assert_null(b.data);
}

void test_file__read_of_a_file_without_size(void **state)
{
	struct error e;
	struct bytes b;
	assert_int_equal(file_read(&b, "/proc/self/status", 1 << 20, &e), STATUS_OK);
	assert_true(b.size > 100);
	assert_int_equal(b.data[b.size], 0);
	assert_memory_equal(b.data, "Name:", 5);
	bytes_done(&b);
}

void test_file__errors_name_the_file(void **state)
{
	struct error e;
	struct bytes b;
	struct file_list l;
	assert_int_equal(file_read(&b, "no/such", 10, &e), STATUS_IO);
	assert_string_equal(e.text, "no/such: No such file or directory");
	assert_int_equal(file_read(&b, "/", 10, &e), STATUS_IO);
	assert_string_equal(e.text, "/: Is a directory");
	assert_int_equal(file_map(&b, "/", &e), STATUS_IO);
	assert_int_equal(file_list_dir(&l, "no/such", &e), STATUS_IO);
	assert_int_equal(file_write("no/such/file", "x", 1, &e), STATUS_IO);
	assert_string_equal(e.text, "no/such/file: No such file or directory");
	assert_int_equal(file_write("/", "x", 1, &e), STATUS_IO);
}

void test_file__a_device_is_no_input(void **state)
{
	struct bytes b;
	struct error err = {0};
	assert_int_equal(file_read(&b, "/dev/zero", SIZE_MAX, &err), STATUS_FORMAT);
	assert_string_equal(err.text, "/dev/zero: a device, not a file");
	assert_int_equal(file_map(&b, "/dev/zero", &err), STATUS_FORMAT);
	assert_null(b.data);
}

void test_file__read_without_memory_is_an_error(void **state)
{
	const char *path = support_temp_file("nomem", "12345", 5);
	struct error e;
	struct bytes b;
	enum status s;
	mem_fail_at(1);
	s = file_read(&b, path, 100, &e);
	mem_fail_at(0);
	assert_int_equal(s, STATUS_NOMEM);
	assert_null(b.data);
}

// One byte less, exactly, and one byte more than whole pages; small enough to be read, and large enough to be mapped.
void test_file__map_has_a_nul_behind(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 20) + 4096};
	static char data[(1 << 20) + 4096];
	struct error e;
	struct bytes b;
	memset(data, 'z', sizeof data);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const char *path = support_temp_file("map", data, sizes[i]);
		assert_int_equal(file_map(&b, path, &e), STATUS_OK);
		assert_int_equal(b.size, sizes[i]);
		assert_int_equal(b.map != NULL, sizes[i] >= 1 << 20);
		assert_memory_equal(b.data, data, sizes[i]);
		assert_int_equal(b.data[b.size], 0);
		bytes_done(&b);
	}
}

static const char *large_file(const char *name)
{
	static char data[2 << 20];
	memset(data, 'z', sizeof data);
	return support_temp_file(name, data, sizeof data);
}

static long count_of(const struct bytes *b, uint8_t value)
{
	long n = 0;
	for (size_t i = 0; i < b->size; i++)
		n += b->data[i] == value;
	return n;
}

void test_file__what_is_cut_off_a_mapped_file_reads_as_zeros(void **state)
{
	const char *path = large_file("cut"), *other = large_file("whole");
	struct bytes b, whole;
	struct error e;
	assert_int_equal(file_map(&b, path, &e), STATUS_OK);
	assert_int_equal(file_map(&whole, other, &e), STATUS_OK);
	assert_int_equal(bytes_intact(&b, path, &e), STATUS_OK);
	assert_int_equal(truncate(path, 5000), 0);
	assert_int_equal(count_of(&b, 'z'), 5000);
	assert_int_equal(count_of(&b, 0), b.size - 5000);
	assert_int_equal(bytes_intact(&b, path, &e), STATUS_IO);
	assert_non_null(strstr(e.text, "cut was written to while it was read"));
	assert_int_equal(count_of(&whole, 'z'), whole.size);
	assert_int_equal(bytes_intact(&whole, other, &e), STATUS_OK);
	bytes_done(&b);
	bytes_done(&whole);
}

void test_file__a_map_keeps_the_file_whose_name_another_has_taken(void **state)
{
	const char *path = large_file("taken"), *other = support_temp_file("shorter", "abc", 3);
	struct bytes b;
	struct error e;
	assert_int_equal(file_map(&b, path, &e), STATUS_OK);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(count_of(&b, 'z'), b.size);
	assert_int_equal(bytes_intact(&b, path, &e), STATUS_OK);
	bytes_done(&b);
}

void test_file__write_parts_joins(void **state)
{
	const char *path = support_temp("parts");
	struct error e;
	assert_int_equal(
	    file_write_parts(path, (struct file_part[]){{"ab", 2}, {NULL, 0}, {"cd", 2}}, 3, &e), STATUS_OK);
	check_text(path, "abcd");
}

void test_file__write_keeps_the_mode(void **state)
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

void test_file__write_goes_through_a_link(void **state)
{
	const char *target = support_temp("target"), *link = support_temp("link");
	write_text(target, "old");
	assert_int_equal(symlink(target, link), 0);
	write_text(link, "new");
	assert_true(S_ISLNK(mode_of(link)));
	check_text(target, "new");
}

void test_file__write_goes_through_a_dangling_link(void **state)
{
	const char *target = support_temp("later"), *link = support_temp("dangling");
	assert_int_equal(symlink(target, link), 0);
	write_text(link, "made");
	assert_true(S_ISLNK(mode_of(link)));
	check_text(target, "made");
}

// A reader that has the file open goes on reading the old content.
void test_file__write_is_atomic_for_readers(void **state)
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
void test_file__failed_write_leaves_the_old_and_no_rest(void **state)
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
void test_file__what_a_killed_run_left_is_removed(void **state)
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

void test_file__a_signal_leaves_no_rest(void **state)
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

void test_file__write_to_a_device(void **state)
{
	struct error e;
	write_text("/dev/null", "nothing");
	assert_true(S_ISCHR(mode_of("/dev/null")));
	assert_int_equal(file_write("/dev/full", "x", 1, &e), STATUS_IO);
	assert_true(S_ISCHR(mode_of("/dev/full")));
}

// As /dev/stdout in a pipeline: what its link says is no name that could be opened.
void test_file__write_to_a_pipe_by_its_descriptor(void **state)
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
void test_file__what_cannot_be_written_is_told_beforehand(void **state)
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

void test_file__write_protected_stays(void **state)
{
	const char *path = support_temp_file("protected", "old", 3);
	struct error e;
	if (geteuid() == 0)
		skip(); // the system lets root write anything
	chmod(path, 0444);
	assert_int_equal(file_write(path, "new", 3, &e), STATUS_IO);
	check_text(path, "old");
}

void test_file__dash_is_stdout(void **state)
{
	const char *path = support_temp_file("stdout", "", 0);
	int saved, fd = open(path, O_WRONLY);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	printf("before ");
	write_text("-", "text");
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	check_text(path, "before text");
	assert_false(file_exists("-"));
}

void test_file__exists_and_is_dir(void **state)
{
	const char *path = support_temp_file("there", "", 0);
	assert_true(file_exists(path));
	assert_false(file_is_dir(path));
	assert_true(file_is_dir("/"));
	assert_false(file_exists("no/such"));
	assert_false(file_is_dir("no/such"));
}

void test_file__mkdirs(void **state)
{
	const char *path = support_temp("a/b//c/"), *file = support_temp_file("plainfile", "", 0);
	char *below = file_join(file, "x");
	struct error e;
	assert_int_equal(file_mkdirs(path, &e), STATUS_OK);
	assert_true(file_is_dir(path));
	assert_int_equal(file_mkdirs(path, &e), STATUS_OK);
	assert_int_equal(file_mkdirs("/", &e), STATUS_OK);
	assert_int_equal(file_mkdirs(file, &e), STATUS_IO);
	assert_non_null(strstr(e.text, "Not a directory"));
	assert_int_equal(file_mkdirs(below, &e), STATUS_IO);
	assert_int_equal(file_mkdirs("", &e), STATUS_IO);
	free(below);
}

void test_file__a_stamp_tells_what_was_written_over(void **state)
{
	const char *path = support_temp_file("stamped", "one", 3), *absent = support_temp("not_stamped");
	struct file_stamp s = file_stamp(path), none = file_stamp(absent);
	assert_true(file_has_stamp(path, &s));
	assert_true(file_has_stamp(absent, &none));
	assert_false(file_has_stamp(absent, &s));
	assert_false(file_has_stamp(path, &none));
	write_text(path, "two"); // of the same length
	assert_false(file_has_stamp(path, &s));
}

// Within a second, over the same file, as many bytes.
void test_file__a_stamp_counts_nanoseconds(void **state)
{
	const char *path = support_temp_file("stamped_twice", "one", 3);
	const struct timespec at = {1700000000, 400000000}, later = {1700000000, 400000001};
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){at, at}, 0), 0);
	struct file_stamp s = file_stamp(path);
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){at, later}, 0), 0);
	assert_false(file_has_stamp(path, &s));
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){later, at}, 0), 0);
	assert_true(file_has_stamp(path, &s)); // to read it is not to write it
}

static const char *const listing[] = {"Z.png", "a 1.png", "a10.png", "a9.png", "b.png", "dangling", "\303\251.png"};

void test_file__list_is_sorted_by_bytes_and_holds_files_only(void **state)
{
	const char *dir = support_temp("list");
	struct error e;
	struct file_list l;
	const size_t n = sizeof listing / sizeof *listing;
	assert_int_equal(file_mkdirs(support_temp("list/sub"), &e), STATUS_OK);
	for (size_t i = n; i-- > 0;) {
		char *path = file_join(dir, listing[i]);
		if (strcmp(listing[i], "dangling") == 0)
			assert_int_equal(symlink("nowhere", path), 0);
		else
			write_text(path, "");
		free(path);
	}
	write_text(support_temp("list/.hidden"), "");
	assert_int_equal(mkfifo(support_temp("list/fifo"), 0600), 0);
	assert_int_equal(file_list_dir(&l, dir, &e), STATUS_OK);
	assert_int_equal(l.n, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(l.name[i], listing[i]);
	file_list_done(&l);
	assert_int_equal(l.n, 0);
}

void test_file__list_of_an_empty_directory(void **state)
{
	const char *dir = support_temp("empty");
	struct error e;
	struct file_list l;
	assert_int_equal(file_mkdirs(dir, &e), STATUS_OK);
	assert_int_equal(file_list_dir(&l, dir, &e), STATUS_OK);
	assert_int_equal(l.n, 0);
	file_list_done(&l);
}

static void check_owned(char *text, const char *want)
{
	assert_string_equal(text, want);
	free(text);
}

void test_file__names(void **state)
{
	check_owned(file_join("a", "b"), "a/b");
	check_owned(file_join("a/", "b"), "a/b");
	check_owned(file_join("", "b"), "b");
	check_owned(file_join("a", "/b"), "/b");
	check_owned(file_dir("a/b/c"), "a/b");
	check_owned(file_dir("c"), ".");
	check_owned(file_dir("/c"), "/");
	check_owned(file_dir(""), ".");
	assert_string_equal(file_base("a/b/c.onnx"), "c.onnx");
	assert_string_equal(file_base("c"), "c");
	assert_string_equal(file_base("a/"), "");
}

static void sha256_hex(const void *data, size_t size, char out[65])
{
	struct sha256 *s = sha256_begin();
	sha256_add(s, data, size);
	sha256_end(&s, out);
}

// FIPS 180-2, appendix B.
void test_sha256__hex(void **state)
{
	char hex[65];
	sha256_hex("", 0, hex);
	assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex("abc", 3, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
	assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

// Around the edges of a block, and many blocks: expected values from another implementation.
void test_sha256__whole_and_broken_blocks(void **state)
{
	static const struct {
		size_t size;
		const char *hex;
	} rows[] = {
		{63, "30b345906b493f06f69444b6521113511c242f30e29840462950035043682f1e"},
		{64, "d8bc63b4fc1156e5e7d95a418b9bf54cd3174bedbc2db40f74895349b229b3c0"},
		{65, "1ee23b0fbcaecc1aff4a9e8f1645f35ab2c8e13609cd73b68df8b5e3f63ce073"},
		{128, "54c9eb041badfd7064645067b107661fed6113197ce2dd066ba69618abd3732f"},
		{1000, "d037d0c973603f656fb02dc19aeef08b254b1e09507bcd191cbe060422768ac8"},
	};
	uint8_t data[1000];
	char hex[65];
	(void)state;
	for (int i = 0; i < 1000; i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8) * 13);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		sha256_hex(data, rows[i].size, hex);
		assert_string_equal(hex, rows[i].hex);
	}
}

void test_sha256__parts_of_any_size(void **state)
{
	uint8_t data[1000];
	char hex[65];
	(void)state;
	for (int i = 0; i < 1000; i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8) * 13);
	for (size_t step = 1; step < 1000; step += 21) {
		struct sha256 *s = sha256_begin();
		for (size_t at = 0; at < 1000; at += step)
			sha256_add(s, data + at, at + step < 1000 ? step : 1000 - at);
		sha256_end(&s, hex);
		assert_string_equal(hex, "d037d0c973603f656fb02dc19aeef08b254b1e09507bcd191cbe060422768ac8");
	}
}

void test_file__names_that_are_safe(void **state)
{
	static const char *const name[][2] = {{"a-b_c.9", "a-b_c.9"}, {"/model/Conv:0", "_model_Conv_0"}, {"\xc3\xa9 \n", "____"}, {"", ""}};
	(void)state;
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		char *safe = file_safe_name(name[i][0]);
		assert_string_equal(safe, name[i][1]);
		free(safe);
	}
}
