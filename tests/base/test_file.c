// Files: read, mapped, listed, named; stamps that tell whether one was written over.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "file_case.h"
#include "qtui/base/mem.h"

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
	assert_string_equal(e.text, "no/such/file: there is no directory no/such");
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

static bool is_mapped(const uint8_t *at)
{
	unsigned char resident;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	return mincore((void *)((uintptr_t)at / page * page), 1, &resident) == 0;
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
		const uint8_t *nul = b.map ? b.data + b.size : NULL;
		bytes_done(&b);
		assert_false(nul && is_mapped(nul)); // it may have a page of its own
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
	assert_false(file_is_changed(path, &s) || file_is_changed(absent, &s)); // what is gone has not changed
	assert_true(file_is_changed(path, &none));
	write_text(path, "two"); // of the same length
	assert_true(file_is_changed(path, &s) && !file_has_stamp(path, &s));
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

void test_file__lists_are_sorted_by_bytes_and_hold_files_or_directories(void **state)
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
	assert_int_equal(symlink("sub", support_temp("list/to sub")), 0);
	assert_int_equal(file_list_dir(&l, dir, &e), STATUS_OK);
	assert_int_equal(l.n, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(l.name[i], listing[i]);
	file_list_done(&l);
	assert_int_equal(l.n, 0);
	assert_int_equal(file_list_subdirs(&l, dir, &e), STATUS_OK);
	assert_true(l.n == 2 && !strcmp(l.name[0], "sub") && !strcmp(l.name[1], "to sub"));
	file_list_done(&l);
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

void test_file__names_that_are_safe(void **state)
{
	static const char *const name[][2] = {{"a-b_c.9", "a-b_c.9"}, {"/model/Conv:0", "_model_Conv_0"}, {"\xc3\xa9 \n", "____"}, {"", ""}};
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		char *safe = file_safe_name(name[i][0]);
		assert_string_equal(safe, name[i][1]);
		free(safe);
	}
}

// The descriptor's file; "" where there is none.
static const char *path_of(int fd)
{
	static char path[512];
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	return path;
}

// Where TMPDIR names a directory that is there; else where the system has temporary files. Nobody else gets the file, by its name
// or as a program that is started.
void test_file__a_file_without_a_name(void **state)
{
	char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL, *real = realpath(support_temp("."), NULL), want[512];
	snprintf(want, sizeof want, "%s/qtui-", real);
	const char *const tmpdir[] = {real, "/no/such/directory", NULL};
	for (size_t i = 0; i < sizeof tmpdir / sizeof *tmpdir; i++) {
		if (tmpdir[i])
			setenv("TMPDIR", tmpdir[i], 1);
		else
			unsetenv("TMPDIR");
		int fd = file_nameless(1 << 20);
		assert_true(fd >= 0);
		assert_int_equal(strncmp(path_of(fd), want, strlen(want)) == 0, i == 0);
		assert_non_null(strstr(path_of(fd), " (deleted)"));
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
	}
	assert_int_equal(file_nameless(SIZE_MAX), -1); // as nothing has room for it
	if (before)
		setenv("TMPDIR", before, 1);
	free(before);
	free(real);
}

// Some files are looked at twice, and a pipe gives its bytes once: `qtui compare <(git show HEAD:s.json) s.json`.
void test_file__a_pipe_is_read_again(void **state)
{
	struct error e;
	struct bytes b;
	char path[32];
	int fd[2];
	assert_int_equal(pipe(fd), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
	assert_int_equal(write(fd[1], "12345", 5), 5);
	close(fd[1]);
	assert_int_equal(file_map(&b, path, &e), STATUS_OK);
	bytes_done(&b);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(file_read(&b, path, 5, &e), STATUS_OK);
		assert_int_equal(b.size, 5);
		assert_string_equal((char *)b.data, "12345");
		bytes_done(&b);
	}
	assert_int_equal(file_read(&b, path, 4, &e), STATUS_UNSUPPORTED);
	assert_null(b.data);
	close(fd[0]);
}
