// Two collections of arrays or pictures of the same names, directories or files: the outputs of a float and a quantized
// network, a board's tensors and what should be there.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../task/metric/similarity.h"
#include "compare_impl.h"
#include "qtui/analysis/compare.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"

enum { DEPTH = 8 }; // of directories in directories

// ---- what there is

static const char *const arrays[] = {".npy", ".pb"};

static bool is_array(const char *name)
{
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		if (str_has_suffix(name, arrays[i]))
			return true;
	return false;
}

struct item {
	char *name; // by which it is matched
	char *file; // its path; NULL: it is an array of the side's file
	int array;  // which
};
struct side {
	const char *path;
	struct arrays *arrays; // of an .npz file; NULL: a directory
	struct item *item;
	size_t n, cap;
};

static void side_done(struct side *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->item[i].name);
		free(s->item[i].file);
	}
	free(s->item);
	arrays_free(&s->arrays);
}

// A result is not written over it.
static void add_item(struct side *s, char *name, char *file, int array)
{
	s->item = xgrow(s->item, &s->cap, s->n + 1, sizeof *s->item);
	s->item[s->n++] = (struct item){name, file, array};
	if (file)
		file_keep(file);
}

// Adds the files that can be compared, then those of its subdirectories.
static enum status list(struct side *s, const char *below, int depth, struct error *err)
{
	struct file_list files = {0}, dirs = {0};
	char *here = *below ? file_join(s->path, below) : xstrdup(s->path);
	enum status st = file_list_dir(&files, here, err);
	if (st == STATUS_OK && depth > 0)
		st = file_list_subdirs(&dirs, here, err);
	for (size_t i = 0; st == STATUS_OK && i < files.n; i++)
		if (is_array(files.name[i]) || image_is_name(files.name[i]))
			add_item(s, *below ? file_join(below, files.name[i]) : xstrdup(files.name[i]), file_join(here, files.name[i]), 0);
	for (size_t i = 0; st == STATUS_OK && i < dirs.n; i++) {
		char *deeper = *below ? file_join(below, dirs.name[i]) : xstrdup(dirs.name[i]);
		st = list(s, deeper, depth - 1, err);
		free(deeper);
	}
	file_list_done(&files);
	file_list_done(&dirs);
	free(here);
	return st;
}

static enum status open_side(struct side *s, struct error *err)
{
	if (file_is_dir(s->path))
		return list(s, "", DEPTH, err);
	if (image_is_name(s->path)) {
		add_item(s, xstrdup("picture"), xstrdup(s->path), 0);
		return STATUS_OK;
	}
	enum status st = arrays_open(&s->arrays, s->path, DT_F32, err);
	for (int i = 0; st == STATUS_OK && i < arrays_count(s->arrays); i++)
		add_item(s, xstrdup(*arrays_name(s->arrays, i) ? arrays_name(s->arrays, i) : "array"), NULL, i); // .npy does not name it
	return st;
}

// Arrays of a file beside files in a directory: "a/b" is a_b.npy there, as qtui run writes it.
static void name_as_files(struct side *s)
{
	for (size_t i = 0; i < s->n; i++) {
		char *safe = file_safe_name(s->item[i].name);
		struct str name = {0};
		str_addf(&name, "%s.npy", safe);
		free(safe);
		free(s->item[i].name);
		s->item[i].name = str_detach(&name);
	}
}

// ---- one file

// Of [N, C, H, W] as [N, H, W, C], or the other way round: does b hold a's elements in the other order?
static bool is_turned(const struct shape *a, const struct shape *b, bool last)
{
	static const int first_to_last[] = {0, 2, 3, 1}, last_to_first[] = {0, 3, 1, 2};
	const int *from = last ? first_to_last : last_to_first;
	for (int i = 0; i < 4; i++)
		if (a->rank != 4 || b->rank != 4 || b->dim[i] != a->dim[from[i]])
			return false;
	return true;
}

// *t, [N, H, W, C] (last) or [N, C, H, W], in a's order of channels. In place of its floats.
static void turn(struct tensor *t, const struct shape *as, bool last)
{
	const int64_t n = as->dim[0], channels = as->dim[last ? 1 : 3], pixels = tensor_count(t) / (n * channels);
	float *data = t->data, *copy = xmalloc(tensor_bytes(t));
	memcpy(copy, data, tensor_bytes(t));
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < channels; c++)
			for (int64_t p = 0; p < pixels; p++) {
				int64_t first = (i * channels + c) * pixels + p, at = (i * pixels + p) * channels + c;
				data[last ? first : at] = copy[last ? at : first];
			}
	free(copy);
	t->shape = *as;
}

static enum status give_shape(struct tensor *b, const struct tensor *a, cJSON *row, const char *name, struct error *err)
{
	char x[64], y[64];
	if (shape_equal(&a->shape, &b->shape))
		return STATUS_OK;
	for (int last = 0; last < 2; last++)
		if (is_turned(&a->shape, &b->shape, last)) {
			turn(b, &a->shape, last);
			cJSON_AddStringToObject(row, "layout", last ? "B has its channels last" : "B has its channels first");
			return STATUS_OK;
		}
	if (tensor_count(a) != tensor_count(b))
		return error_set(err, STATUS_FORMAT, "%s has the shape %s in B, %s in A", name, shape_text(&b->shape, x, sizeof x),
		    shape_text(&a->shape, y, sizeof y));
	b->shape = a->shape; // the same elements in one order, counted otherwise
	return STATUS_OK;
}

static void add_sums(cJSON *row, const struct tensor_sums *s)
{
	compare_add_figures(row, s);
	json_add_number(row, "l2", sqrt(s->e2));
}

static enum status read_item(struct tensor *out, const struct side *s, const struct item *x, struct error *err)
{
	return x->file ? array_read(out, x->file, NULL, DT_F32, err) : arrays_read(out, s->arrays, x->array, DT_F32, s->path, err);
}

static enum status compare_arrays(cJSON *row, const struct side s[2], const struct item *a, const struct item *b, struct error *err)
{
	struct tensor t[2] = {{0}, {0}};
	struct tensor_sums sums = {0};
	enum status st = read_item(&t[0], &s[0], a, err);
	if (st == STATUS_OK)
		st = read_item(&t[1], &s[1], b, err);
	if (st == STATUS_OK)
		st = give_shape(&t[1], &t[0], row, b->name, err);
	if (st == STATUS_OK) {
		stats_compare(&sums, &t[0], &t[1], NULL);
		add_sums(row, &sums);
	}
	tensor_drop(&t[0]);
	tensor_drop(&t[1]);
	return st;
}

// Levels and, in light, 16..235 (ITU-R BT.601).
static void spread(const uint8_t *rgb, size_t pixels, float *levels, float *light)
{
	for (size_t i = 0; i < pixels; i++) {
		const uint8_t *p = rgb + 3 * i;
		for (int c = 0; c < 3; c++)
			levels[3 * i + (size_t)c] = p[c];
		light[i] = similarity_light(p[0], p[1], p[2]);
	}
}

static void compare_levels(cJSON *row, uint8_t *const rgb[2], int w, int h)
{
	size_t pixels = (size_t)w * (size_t)h;
	float *levels[2], *light[2];
	for (int i = 0; i < 2; i++) {
		levels[i] = xmalloc(3 * pixels * sizeof(float));
		light[i] = xmalloc(pixels * sizeof(float));
		spread(rgb[i], pixels, levels[i], light[i]);
	}
	struct tensor_sums s = {0};
	struct tensor t[2];
	for (int i = 0; i < 2; i++)
		t[i] = (struct tensor){.type = DT_F32, .shape = {3, {h, w, 3}}, .data = levels[i]};
	stats_compare(&s, &t[0], &t[1], NULL);
	add_sums(row, &s);
	json_add_number(row, "psnr_db", psnr_of(s.e2 / s.n));
	json_add_number(row, "ssim", ssim_of(light[0], light[1], w, h));
	for (int i = 0; i < 2; i++) {
		free(levels[i]);
		free(light[i]);
	}
}

static enum status compare_pictures(cJSON *row, const char *const path[2], struct error *err)
{
	uint8_t *rgb[2] = {NULL, NULL};
	int w[2], h[2];
	enum status st = image_read(&rgb[0], &w[0], &h[0], path[0], err);
	if (st == STATUS_OK)
		st = image_read(&rgb[1], &w[1], &h[1], path[1], err);
	if (st == STATUS_OK && (w[0] != w[1] || h[0] != h[1]))
		st = error_set(err, STATUS_FORMAT, "%s has %d x %d pixels, the other %d x %d", path[1], w[1], h[1], w[0], h[0]);
	if (st == STATUS_OK)
		compare_levels(row, rgb, w[0], h[0]);
	free(rgb[0]);
	free(rgb[1]);
	return st;
}

// ---- all of them

// What of one cannot be compared does not keep the others from it.
static cJSON *compare_item(const struct side s[2], const struct item *a, const struct item *b)
{
	cJSON *row = cJSON_CreateObject();
	struct error err = {0};
	bool both_pictures = a->file && b->file && image_is_name(a->file);
	json_add_text(row, "file", a->name);
	if ((both_pictures ? compare_pictures(row, (const char *const[2]){a->file, b->file}, &err) : compare_arrays(row, s, a, b, &err)) !=
	    STATUS_OK)
		json_add_text(row, "problem", err.text);
	return row;
}

static void add_mean(cJSON *to, const cJSON *files, const char *figure)
{
	const cJSON *row;
	double sum = 0;
	int n = 0;
	cJSON_ArrayForEach(row, files)
	{
		double v = json_number(row, figure, NAN);
		sum += isnan(v) ? 0 : v;
		n += !isnan(v);
	}
	if (n)
		json_add_number(to, figure, sum / n);
}

static cJSON *side_json(const struct side *s)
{
	cJSON *side = cJSON_CreateObject();
	json_add_text(side, file_is_dir(s->path) ? "directory" : "file", s->path);
	return side;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

// Until all are compared or it is cancelled.
static cJSON *compare_sides(const struct side s[2], atomic_int *done, const atomic_bool *cancel)
{
	static const char *const figure[] = {"snr_db", "cosine", "l2", "psnr_db", "ssim"};
	cJSON *root = cJSON_CreateObject(), *only[2];
	cJSON_AddNumberToObject(root, "qtui_compare", 1);
	cJSON_AddItemToObject(root, "a", side_json(&s[0]));
	cJSON_AddItemToObject(root, "b", side_json(&s[1]));
	cJSON *files = cJSON_AddArrayToObject(root, "files");
	only[0] = cJSON_AddArrayToObject(root, "only_in_a");
	only[1] = cJSON_AddArrayToObject(root, "only_in_b");
	for (int i = 0; i < 2; i++)
		if (s[i].n)
			qsort(s[i].item, s[i].n, sizeof *s[i].item, by_name);
	for (size_t i = 0, k = 0; (i < s[0].n || k < s[1].n) && !atomic_load(cancel);) {
		const struct item *a = &s[0].item[i], *b = &s[1].item[k];
		int order = i == s[0].n ? 1 : k == s[1].n ? -1 : strcmp(a->name, b->name);
		if (order)
			cJSON_AddItemToArray(only[order > 0], cJSON_CreateString(order > 0 ? b->name : a->name));
		else
			cJSON_AddItemToArray(files, compare_item(s, a, b));
		i += order <= 0;
		k += order >= 0;
		atomic_store(done, (int)(COMPARE_ALL * (i + k) / (s[0].n + s[1].n)));
	}
	cJSON *mean = cJSON_AddObjectToObject(root, "mean");
	for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
		add_mean(mean, files, figure[i]);
	return root;
}

// Something must have been compared.
static enum status check(const cJSON *root, const char *a, const char *b, struct error *err)
{
	const cJSON *row, *files = cJSON_GetObjectItemCaseSensitive(root, "files");
	const char *problem = NULL;
	cJSON_ArrayForEach(row, files)
	{
		const char *its = json_text(row, "problem", NULL);
		if (!its)
			return STATUS_OK;
		problem = problem ? problem : its;
	}
	if (!problem)
		return error_set(err, STATUS_NOTFOUND,
		    "%s and %s have no array or picture of the same name (.npy, .pb, .png and the like): nothing to compare", a, b);
	return error_set(err, STATUS_FORMAT, "%s and %s: nothing of the same name can be compared: %s", a, b, problem);
}

enum status compare_collections(
    struct cJSON **out, const char *a, const char *b, atomic_int *done, const atomic_bool *cancel, struct error *err)
{
	struct side s[2] = {{.path = a}, {.path = b}};
	cJSON *root = NULL;
	enum status st = open_side(&s[0], err);
	if (st == STATUS_OK)
		st = open_side(&s[1], err);
	for (int i = 0; i < 2; i++)
		if (s[i].arrays && !s[1 - i].arrays)
			name_as_files(&s[i]);
	if (st == STATUS_OK) {
		root = compare_sides(s, done, cancel);
		st = atomic_load(cancel) ? error_set(err, STATUS_CANCELLED, "cancelled") : check(root, a, b, err);
	}
	if (st == STATUS_OK)
		*out = root;
	else
		cJSON_Delete(root);
	side_done(&s[0]);
	side_done(&s[1]);
	return st;
}
