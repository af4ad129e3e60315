// What the tests of datasets share besides: arrays as files, folders, and a graph with one input of four floats.
#ifndef TESTS_ENGINE_DATASET_CASE_H
#define TESTS_ENGINE_DATASET_CASE_H

#include <zip.h>
#include "data_case.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/npy.h"

static inline struct data_case vector_case(void)
{
	struct data_case c = {.opt = {.samples = 0}};
	case_input(&c, "x", DT_F32, SHAPE(1, 4));
	return c;
}

static inline const char *write_npy(const char *name, char kind, int item, struct shape s, const void *data)
{
	struct error err;
	struct npy a = {.kind = kind, .item = item, .rank = s.rank, .data = (void *)data};
	const char *path = support_temp(name);
	for (int i = 0; i < s.rank; i++)
		a.dim[i] = s.dim[i];
	a.size = (size_t)shape_count(&s) * (size_t)item;
	assert_int_equal(npy_write(&a, path, &err), STATUS_OK);
	return path;
}

static inline char *make_dir(const char *name)
{
	struct error err;
	const char *path = support_temp(name);
	assert_int_equal(file_mkdirs(path, &err), STATUS_OK);
	return xstrdup(path);
}

static inline float x0(const struct data_case *c, int i)
{
	return ((const float *)c->in[0].data)[i];
}

static const float batch[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

// Packs .npy files into an .npz; `name` pairs: name in the archive, file.
static inline const char *write_npz(const char *name, int n, const char *const *pairs)
{
	const char *path = support_temp(name);
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	assert_non_null(z);
	for (int i = 0; i < n; i++)
		assert_true(zip_file_add(z, pairs[2 * i], zip_source_file(z, pairs[2 * i + 1], 0, -1), 0) >= 0);
	assert_int_equal(zip_close(z), 0);
	return path;
}

#endif
