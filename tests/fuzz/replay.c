// replay CORPUS: every file of CORPUS/NAME through fuzz_NAME, one line a name.
// A crash, or an input that takes ten seconds, ends it.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "fuzz.h"
#include "qtui/base/file.h"

enum { SECONDS_EACH = 10 };

static void replay_file(const char *name, const char *path)
{
	struct error err = {0};
	struct bytes b;
	if (file_read(&b, path, SIZE_MAX, &err) != STATUS_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	fprintf(stderr, "%s\n", path); // the last one said is the one that crashed
	alarm(SECONDS_EACH);
	fuzz_run(name, b.data, b.size);
	alarm(0);
	bytes_done(&b);
}

static size_t replay_all(const char *corpus, const char *name)
{
	struct error err = {0};
	struct file_list files = {0};
	char *dir = file_join(corpus, name);
	if (file_list_dir(&files, dir, &err) != STATUS_OK)
		fprintf(stderr, "%s\n", err.text);
	for (size_t i = 0; i < files.n; i++) {
		char *path = file_join(dir, files.name[i]);
		replay_file(name, path);
		free(path);
	}
	size_t n = files.n;
	file_list_done(&files);
	free(dir);
	return n;
}

int main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && fuzz_name(i); i++) {
		size_t n = replay_all(argv[1], fuzz_name(i));
		printf("%s fuzz_%s %zu inputs\n", n ? "ok" : "not ok", fuzz_name(i), n);
		fflush(stdout);
	}
	return argc > 1 ? 0 : 2;
}
