// The table of inputs, and the file that each of them becomes.
#include "fuzz.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/study.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"

static const struct row {
	const char *name, *file;
	void (*run)(const struct fuzz_input *in);
} rows[] = {
#define INPUT(name, file, help) {#name, file, fuzz_##name},
#include "inputs.def"
#undef INPUT
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static char directory[PATH_MAX];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st, (void)type, (void)where;
	return remove(path);
}

// With all that the parsers have written beside the input.
static void remove_directory(void)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_directory(void)
{
	if (directory[0])
		return;
	const char *base = getenv("TMPDIR");
	snprintf(directory, sizeof directory, "%.4000s/qtui-fuzz-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(directory))
		abort();
	atexit(remove_directory);
	log_to_stderr(false, LOG_ERROR);
}

static void write_input(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

static void run_row(const struct row *r, const uint8_t *data, size_t size)
{
	char *path = file_join(directory, r->file), *text = malloc(size + 1);
	write_input(path, data, size);
	memcpy(text, data, size);
	text[size] = '\0';
	r->run(&(struct fuzz_input){.path = path, .dir = directory, .text = text, .size = size});
	free(text);
	free(path);
}

int fuzz_run(const char *name, const uint8_t *data, size_t size)
{
	make_directory();
	for (int i = 0; i < N_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0) {
			run_row(&rows[i], data, size);
			return 0;
		}
	return -1;
}

const char *fuzz_name(int i)
{
	return i < N_ROWS ? rows[i].name : NULL;
}

static struct study *study;

static void close_study(void)
{
	study_close(&study);
}

struct study *fuzz_study(void)
{
	struct error err = {0};
	struct study_options o = {.model = "examples/digits.onnx", .method = -1, .threads = 1, .backend = BACKEND_ONEDNN,
	    .calibrate_only = true, .data = {.random = 1, .samples = 1}};
	if (study)
		return study;
	enum status s = study_open(&study, &o, &err);
	if (s == STATUS_OK) {
		study_run(study);
		s = study_wait(study, &err);
	}
	if (s != STATUS_OK) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	atexit(close_study);
	return study;
}
