// Two directories: files of the same names, figures by hand, layouts, and what cannot be compared.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../engine/dataset_case.h"
#include "qtui/analysis/compare.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"

struct sides {
	char *dir[2];
	cJSON *out;
	struct error err;
};

static struct sides sides_new(const char *name)
{
	struct sides s = {.dir = {NULL, NULL}};
	for (int i = 0; i < 2; i++) {
		mkdir(support_temp(name), 0777);
		s.dir[i] = file_join(support_temp(name), i ? "b" : "a");
		mkdir(s.dir[i], 0777);
	}
	return s;
}

static void sides_done(struct sides *s)
{
	free(s->dir[0]);
	free(s->dir[1]);
	cJSON_Delete(s->out);
}

static enum status status_of(struct sides *s, const char *a, const char *b)
{
	atomic_int done = 0;
	const atomic_bool cancel = false;
	enum status st = compare_collections(&s->out, a, b, &done, &cancel, &s->err);
	if (st == STATUS_OK)
		assert_int_equal(done, COMPARE_ALL);
	return st;
}

static void floats(const struct sides *s, int side, const char *name, struct shape shape, const float *v)
{
	struct error err;
	struct npy a = {.kind = 'f', .item = 4, .rank = shape.rank, .data = (void *)v, .size = (size_t)shape_count(&shape) * 4};
	char *path = file_join(s->dir[side], name);
	memcpy(a.dim, shape.dim, sizeof(int64_t) * (size_t)shape.rank);
	assert_int_equal(npy_write(&a, path, &err), STATUS_OK);
	free(path);
}

static void picture(const struct sides *s, int side, const char *name, int w, int h, int more)
{
	uint8_t *rgb = calloc((size_t)w * (size_t)h, 3);
	for (int i = 0; i < w * h * 3; i++)
		rgb[i] = (uint8_t)(i % 97 + more);
	png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = (png_uint_32)h, .format = PNG_FORMAT_RGB};
	char *path = file_join(s->dir[side], name);
	assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
	free(path);
	free(rgb);
}

static const cJSON *compared(struct sides *s)
{
	if (status_of(s, s->dir[0], s->dir[1]))
		fail_msg("%s", s->err.text);
	return cJSON_GetObjectItemCaseSensitive(s->out, "files");
}

static const cJSON *file_of(const cJSON *files, const char *name)
{
	const cJSON *row;
	cJSON_ArrayForEach(row, files)
		if (!strcmp(json_text(row, "file", ""), name))
			return row;
	fail_msg("%s is not there", name);
	return NULL;
}

static void near(const cJSON *row, const char *figure, double value)
{
	double is = json_number(row, figure, NAN);
	if (!(fabs(is - value) <= 1e-9 * fmax(1, fabs(value))))
		fail_msg("%s is %.12g, not %.12g", figure, is, value);
}

void test_compare_collections__arrays_by_hand(void **state)
{
	static const float x[4] = {1, 2, 3, 4}, y[4] = {1, 2, 3, 6};
	struct sides s = sides_new("by_hand");
	floats(&s, 0, "r.npy", SHAPE(1, 4), x);
	floats(&s, 1, "r.npy", SHAPE(4), y); // the same elements, counted otherwise
	floats(&s, 0, "same.npy", SHAPE(4), x);
	floats(&s, 1, "same.npy", SHAPE(4), x);
	floats(&s, 0, "alone.npy", SHAPE(4), x);
	const cJSON *files = compared(&s), *r = file_of(files, "r.npy");
	assert_int_equal(cJSON_GetArraySize(files), 2);
	near(r, "snr_db", 10 * log10(30. / 4));
	near(r, "l2", 2);
	near(r, "mse", 1);
	near(r, "max_error", 2);
	near(r, "cosine", 38 / sqrt(30. * 50));
	assert_true(json_bool(file_of(files, "same.npy"), "exact", false));
	near(cJSON_GetObjectItemCaseSensitive(s.out, "mean"), "l2", 1);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(s.out, "only_in_a")), 1);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(s.out, "only_in_b")), 0);
	char *read = file_join(s.dir[1], "same.npy"), *other = file_join(s.dir[1], "result.json");
	assert_int_equal(file_may_write(read, &s.err), STATUS_REFUSED); // a result is not written over what was compared
	assert_int_equal(file_may_write(other, &s.err), STATUS_OK);
	free(read);
	free(other);
	sides_done(&s);
}

// A board's tensors often have their channels last.
void test_compare_collections__channels_in_another_place(void **state)
{
	enum { N = 2, C = 3, P = 10 };
	float first[N * C * P], last[N * C * P];
	struct sides s = sides_new("turned");
	for (int i = 0; i < N * C * P; i++)
		first[i] = (float)i;
	for (int n = 0; n < N; n++)
		for (int c = 0; c < C; c++)
			for (int p = 0; p < P; p++)
				last[(n * P + p) * C + c] = first[(n * C + c) * P + p];
	floats(&s, 0, "x.npy", SHAPE(N, C, 2, 5), first);
	floats(&s, 1, "x.npy", SHAPE(N, 2, 5, C), last);
	floats(&s, 0, "y.npy", SHAPE(N, 2, 5, C), last);
	floats(&s, 1, "y.npy", SHAPE(N, C, 2, 5), first);
	const cJSON *files = compared(&s);
	assert_true(json_bool(file_of(files, "x.npy"), "exact", false) && json_bool(file_of(files, "y.npy"), "exact", false));
	assert_string_equal(json_text(file_of(files, "x.npy"), "layout", ""), "B has its channels last");
	assert_string_equal(json_text(file_of(files, "y.npy"), "layout", ""), "B has its channels first");
	sides_done(&s);
}

void test_compare_collections__pictures_in_folders(void **state)
{
	struct sides s = sides_new("pictures");
	for (int i = 0; i < 2; i++) {
		char *deeper = file_join(s.dir[i], "set");
		mkdir(deeper, 0777);
		free(deeper);
		picture(&s, i, "set/p.png", 16, 12, 5 * i);
		picture(&s, i, "small.png", 4, 4, 0);
	}
	const cJSON *files = compared(&s), *p = file_of(files, "set/p.png");
	near(p, "psnr_db", 10 * log10(255. * 255 / 25));
	assert_true(json_number(p, "ssim", NAN) > .9 && json_number(p, "ssim", NAN) < 1);
	near(file_of(files, "small.png"), "psnr_db", 100);
	assert_true(isnan(json_number(file_of(files, "small.png"), "ssim", NAN))); // no window fits
	sides_done(&s);
}

void test_compare_collections__two_pictures_of_any_name(void **state)
{
	struct sides s = sides_new("single");
	picture(&s, 0, "float.png", 16, 12, 0);
	picture(&s, 1, "board.png", 16, 12, 5);
	char *a = file_join(s.dir[0], "float.png"), *b = file_join(s.dir[1], "board.png");
	assert_int_equal(status_of(&s, a, b), STATUS_OK);
	near(file_of(cJSON_GetObjectItemCaseSensitive(s.out, "files"), "picture"), "psnr_db", 10 * log10(255. * 255 / 25));
	assert_string_equal(json_text(cJSON_GetObjectItemCaseSensitive(s.out, "a"), "file", ""), a);
	free(a);
	free(b);
	sides_done(&s);
}

// As other tools give all tensors in one file; beside a directory their names are those of files.
void test_compare_collections__arrays_of_one_file(void **state)
{
	static const float x[2] = {3, 4}, y[2] = {3, 5};
	const char *a = write_npy("x.npy", 'f', 4, SHAPE(2), x), *b = write_npy("y.npy", 'f', 4, SHAPE(2), y);
	char *before[] = {"/conv/Conv_output_0.npy", (char *)a, "same.npy", (char *)a, "alone.npy", (char *)a};
	char *after[] = {"/conv/Conv_output_0.npy", (char *)b, "same.npy", (char *)a};
	const char *one = write_npz("one.npz", 3, (const char *const *)before), *other = write_npz("other.npz", 2, (const char *const *)after);
	struct sides s = sides_new("npz");
	if (status_of(&s, one, other))
		fail_msg("%s", s.err.text);
	const cJSON *files = cJSON_GetObjectItemCaseSensitive(s.out, "files");
	assert_int_equal(cJSON_GetArraySize(files), 2);
	near(file_of(files, "/conv/Conv_output_0"), "max_error", 1);
	assert_true(json_bool(file_of(files, "same"), "exact", false));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(s.out, "only_in_a")), 1);
	cJSON_Delete(s.out);
	s.out = NULL;
	floats(&s, 0, "_conv_Conv_output_0.npy", SHAPE(2), x);
	if (status_of(&s, s.dir[0], other))
		fail_msg("%s", s.err.text);
	near(file_of(cJSON_GetObjectItemCaseSensitive(s.out, "files"), "_conv_Conv_output_0.npy"), "max_error", 1);
	sides_done(&s);
}

// One file that cannot be compared says why and keeps no other from it; where none can, that is an error.
void test_compare_collections__what_cannot_be_compared(void **state)
{
	static const float x[6] = {1, 2, 3, 4, 5, 6};
	struct sides s = sides_new("problems");
	assert_int_equal(status_of(&s, s.dir[0], s.dir[1]), STATUS_NOTFOUND);
	assert_null(s.out);
	floats(&s, 0, "x.npy", SHAPE(6), x);
	floats(&s, 1, "x.npy", SHAPE(2), x);
	assert_int_equal(status_of(&s, s.dir[0], s.dir[1]), STATUS_FORMAT);
	assert_non_null(strstr(s.err.text, "x.npy has the shape"));
	char *torn = file_join(s.dir[1], "torn.npy");
	assert_int_equal(file_write(torn, "\x93NUMPY", 6, &s.err), STATUS_OK);
	free(torn);
	floats(&s, 0, "torn.npy", SHAPE(6), x);
	picture(&s, 0, "p.png", 16, 16, 0);
	picture(&s, 1, "p.png", 16, 8, 0);
	floats(&s, 0, "good.npy", SHAPE(6), x);
	floats(&s, 1, "good.npy", SHAPE(6), x);
	const cJSON *files = compared(&s);
	assert_int_equal(cJSON_GetArraySize(files), 4);
	assert_non_null(strstr(json_text(file_of(files, "p.png"), "problem", ""), "p.png has 16 x 8 pixels"));
	assert_non_null(strstr(json_text(file_of(files, "torn.npy"), "problem", ""), "torn.npy"));
	assert_true(json_bool(file_of(files, "good.npy"), "exact", false));
	sides_done(&s);
	s = sides_new("missing");
	char *nowhere = file_join(s.dir[0], "nowhere");
	assert_true(status_of(&s, nowhere, s.dir[1]) != STATUS_OK);
	free(nowhere);
	sides_done(&s);
}

void test_compare_collections__cancelled(void **state)
{
	struct sides s = sides_new("cancelled");
	atomic_int done = 0;
	const atomic_bool cancel = true;
	for (int i = 0; i < 2; i++)
		floats(&s, i, "y.npy", shape_of(1, &(int64_t){1}), &(float){1});
	assert_int_equal(compare_collections(&s.out, s.dir[0], s.dir[1], &done, &cancel, &s.err), STATUS_CANCELLED);
	assert_string_equal(s.err.text, "cancelled"); // as every verb says it
	assert_null(s.out);
	sides_done(&s);
}
