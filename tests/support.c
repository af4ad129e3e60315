#include "support.h"

#include <assert.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/npy.h"

// Texts that were handed out; kept here, so that a leak checker sees them.
static char **kept;
static size_t kept_count;
static char temp_dir[64];
static pid_t temp_owner;

void support_float_equal(float a, float b, float epsilon, const char *file, int line)
{
	if (a != b && !(isfinite(a) && isfinite(b))) {
		print_error("%g is not %g\n", (double)a, (double)b);
		_fail(file, line);
	}
	_assert_float_equal(a, b, epsilon, file, line);
}

static void release_kept(void)
{
	while (kept_count > 0)
		free(kept[--kept_count]);
	free(kept);
	kept = NULL;
}

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		abort();
	}
}

static const char *keep(const char *dir, const char *name)
{
	size_t n = strlen(dir) + strlen(name) + 2;
	char *text = malloc(n);
	if (!kept)
		atexit(release_kept);
	kept = realloc(kept, (kept_count + 1) * sizeof *kept);
	check(text && kept, "memory for a path");
	snprintf(text, n, "%s/%s", dir, name);
	kept[kept_count++] = text;
	return text;
}

const char *support_data(const char *relative)
{
	const char *dir = getenv("QTUI_DATA");
	const char *path = keep(dir && *dir ? dir : "../shared/data", relative);
	return access(path, R_OK) == 0 ? path : NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st, (void)type, (void)where;
	return remove(path);
}

// A child that was forked by a test must not take its parent's directory away.
static void remove_temp(void)
{
	if (getpid() == temp_owner)
		nftw(temp_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_temp(void)
{
	const char *base = getenv("TMPDIR");
	snprintf(temp_dir, sizeof temp_dir, "%.40s/qtui-test-XXXXXX", base && strlen(base) <= 40 ? base : "/tmp");
	check(mkdtemp(temp_dir) != NULL, temp_dir);
	temp_owner = getpid();
	atexit(remove_temp);
}

const char *support_temp(const char *name)
{
	if (!temp_owner)
		make_temp();
	return keep(temp_dir, name);
}

const char *support_temp_file(const char *name, const void *data, size_t size)
{
	const char *path = support_temp(name);
	FILE *f = fopen(path, "wb");
	check(f && fwrite(data, 1, size, f) == size, path);
	check(fclose(f) == 0, path);
	return path;
}

int support_log_count(void)
{
	char line[2];
	int n = 0;
	while (log_line(n, line, sizeof line) >= 0)
		n++;
	return n;
}

int support_npy_read(struct npy *out, const char *path, struct error *err)
{
	struct bytes b;
	if (file_read(&b, path, SIZE_MAX, err))
		return err->status;
	enum status s = npy_parse(out, b.data, b.size, path, err);
	bytes_done(&b);
	return s;
}

const struct npy *support_npz_find(const struct npz *z, const char *name)
{
	for (size_t i = 0; i < z->n; i++)
		if (strcmp(z->name[i], name) == 0)
			return &z->array[i];
	return NULL;
}

uint64_t support_random_bits(struct support_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int support_random_int(struct support_random *r, int low, int high)
{
	uint64_t n = (uint64_t)((int64_t)high - low) + 1;
	assert(low <= high);
	return (int)(low + (int64_t)(support_random_bits(r) % n));
}

float support_random_float(struct support_random *r, float low, float high)
{
	return low + (high - low) * (float)(support_random_bits(r) >> 40) * 0x1p-24f;
}

float support_random_normal(struct support_random *r)
{
	double u = ((double)(support_random_bits(r) >> 11) + 1) * 0x1p-53;
	double v = (double)(support_random_bits(r) >> 11) * 0x1p-53;
	return (float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
}

void support_random_floats(struct support_random *r, float *out, size_t n, float low, float high)
{
	for (size_t i = 0; i < n; i++)
		out[i] = support_random_float(r, low, high);
}

size_t support_mapped_bytes(void)
{
	unsigned long size, resident, mapped = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	int n = f ? fscanf(f, "%lu %lu %lu", &size, &resident, &mapped) : 0;
	if (f)
		fclose(f);
	if (n != 3) {
		fprintf(stderr, "/proc/self/statm cannot be read\n");
		abort();
	}
	return (size_t)mapped * (size_t)sysconf(_SC_PAGESIZE);
}
