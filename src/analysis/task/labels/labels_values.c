// Numbers for each sample: a directory of arrays (.npy, .npz, .pb) or of PNGs whose pixels are numbers, as depths are kept, one
// file a sample; a stack of arrays with a row for each; or lines "FILE,NUMBER,..." of a CSV.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"

enum { NUMBERS_MAX = 1 << 20 };  // of a line
#define VALUES_FILE_MAX ((size_t)256 << 20)

// ---- files, one a sample

static char *file_of(const char *dir, const char *file)
{
	static const struct {
		const char *sample, *as;
	} endings[] = {
	    {"", ".npy"}, {"", ".npz"}, {"", ".pb"}, {"", ".png"},
	    {"_rgb", "_depth.npy"}, {"_rgb", "_depth.png"}, {"_colors", "_depth.png"}, // NYU as it is commonly unpacked
	    {"", "_depth.npy"}, {"", "_depth.png"},                                    // DIODE
	};
	char *path = NULL;
	for (size_t i = 0; i < sizeof endings / sizeof *endings && !path; i++)
		path = labels_partner(dir, file, endings[i].sample, endings[i].as);
	return path;
}

// KITTI calls 2011_..._image_0000000005_image_02.png what goes with 2011_..._groundtruth_depth_0000000005_image_02.png.
static char *file_of_kitti(const char *dir, const char *file)
{
	static const char image[] = "_sync_image_";
	const char *base = file_base(file), *at = strstr(base, image);
	if (!at)
		return NULL;
	struct str name = {0};
	str_addn(&name, base, (size_t)(at - base));
	str_addf(&name, "_sync_groundtruth_depth_%s", at + strlen(image));
	char *path = file_join(dir, str_text(&name));
	str_done(&name);
	if (file_exists(path))
		return path;
	free(path);
	return NULL;
}

static void read_directory(struct labels *l, const char *dir, const struct labels_samples *s)
{
	for (int i = 0; i < s->n; i++) {
		struct label *to = &l->label[i];
		to->file = s->file[i] ? file_of(dir, s->file[i]) : NULL;
		if (!to->file && s->file[i])
			to->file = file_of_kitti(dir, s->file[i]);
		to->known = to->file;
	}
}

// ---- a stack

static enum status read_stack(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	enum status st = arrays_open(&l->stack, path, DT_F32, err);
	if (st != STATUS_OK)
		return st;
	if (arrays_count(l->stack) != 1)
		return error_set(err, STATUS_FORMAT, "%s has %d arrays: a stack with a row for each sample is one", path, arrays_count(l->stack));
	int rows = arrays_stacked(l->stack, 0);
	for (int i = 0; i < s->n && i < rows; i++)
		l->label[i].known = true;
	return STATUS_OK;
}

// ---- lines

struct lines {
	struct labels *l;
	const char *path;
	struct sample_index *sample;
	int line;
};

static char *next_cell(char **rest)
{
	char *cell = *rest, *end = cell + strcspn(cell, ",;\t");
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	while (*cell == ' ' || *cell == '"')
		cell++;
	for (size_t n = strlen(cell); n && strchr(" \r\"", cell[n - 1]); n--)
		cell[n - 1] = '\0';
	return cell;
}

// An empty cell and "nan" are numbers that are missing.
static bool read_cell(float *out, const char *cell)
{
	double v = NAN;
	bool is = !*cell || strcasecmp(cell, "nan") == 0 || str_to_double(cell, &v);
	*out = (float)v;
	return is;
}

static enum status read_line(struct lines *t, char *text, struct error *err)
{
	float *value = NULL;
	size_t cap = 0;
	int n = 0;
	char *rest = text, *file = next_cell(&rest);
	bool heading = false;
	while (rest && n < NUMBERS_MAX && !heading) {
		value = xgrow(value, &cap, (size_t)n + 1, sizeof *value);
		heading = !read_cell(&value[n++], next_cell(&rest));
	}
	enum status st = STATUS_OK;
	int sample = *file && n && !heading ? labels_sample(t->l, t->sample, file) : -1;
	if ((rest && !heading) || (heading && t->line > 1) || (*file && !n))
		st = error_set(err, STATUS_FORMAT, "%s:%d: a line is a file and up to %d numbers, with commas between", t->path, t->line, NUMBERS_MAX);
	else if (sample >= 0 && t->l->label[sample].known && !sample_index_tear(t->sample, sample))
		st = error_set(err, STATUS_FORMAT, "%s:%d: this sample has numbers above", t->path, t->line);
	else if (sample >= 0 && !t->l->label[sample].known) {
		t->l->label[sample].known = true;
		t->l->label[sample].value = value;
		t->l->label[sample].n_values = n;
		return STATUS_OK;
	}
	free(value);
	return st;
}

static enum status read_lines(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	struct bytes b;
	enum status st = file_read_text(&b, path, VALUES_FILE_MAX, err);
	if (st != STATUS_OK)
		return st;
	struct lines t = {l, path, sample_index_new(s), 1};
	for (char *line = (char *)b.data; line && st == STATUS_OK; t.line++) {
		char *end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		st = read_line(&t, line, err);
		line = end;
	}
	if (st == STATUS_OK)
		st = sample_index_check(t.sample, path, true, err);
	sample_index_free(&t.sample);
	bytes_done(&b);
	return st;
}

enum status labels_read_values(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	l->kind = LABELS_VALUES;
	l->source = xstrdup(path);
	if (file_is_dir(path)) {
		read_directory(l, path, s);
		return STATUS_OK;
	}
	bool array = str_has_suffix(path, ".npy") || str_has_suffix(path, ".npz") || str_has_suffix(path, ".pb");
	return array ? read_stack(l, path, s, err) : read_lines(l, path, s, err);
}

// ---- of a sample

static void take_array(struct truth *out, struct tensor *t)
{
	const struct shape *s = &t->shape;
	out->n = tensor_count(t);
	out->w = s->rank > 1 && s->dim[s->rank - 1] <= INT32_MAX ? (int)s->dim[s->rank - 1] : 0;
	out->h = s->rank > 1 && s->dim[s->rank - 2] <= INT32_MAX ? (int)s->dim[s->rank - 2] : 0;
	out->at = xcalloc((size_t)out->n + 1, sizeof *out->at);
	memcpy(out->at, t->data, (size_t)out->n * sizeof *out->at);
	tensor_drop(t);
}

static enum status read_numbers(struct truth *out, const char *path, struct error *err)
{
	struct mask m = {0};
	enum status st = mask_read(&m, path, err);
	if (st != STATUS_OK)
		return st;
	*out = (struct truth){.n = (int64_t)m.w * m.h, .w = m.w, .h = m.h};
	out->at = xcalloc((size_t)out->n + 1, sizeof *out->at);
	for (int64_t i = 0; i < out->n; i++)
		out->at[i] = m.number[i];
	mask_done(&m);
	return STATUS_OK;
}

enum status labels_truth(struct truth *out, const struct labels *l, int sample, struct error *err)
{
	const struct label *from = &l->label[sample];
	struct tensor t;
	*out = (struct truth){0};
	if (from->value) {
		out->n = from->n_values;
		out->at = xcalloc((size_t)out->n + 1, sizeof *out->at);
		memcpy(out->at, from->value, (size_t)out->n * sizeof *out->at);
		return STATUS_OK;
	}
	if (from->file && str_has_suffix(from->file, ".png"))
		return read_numbers(out, from->file, err);
	enum status st = from->file ? array_read(&t, from->file, NULL, DT_F32, err)
	                            : arrays_read_row(&t, l->stack, 0, sample, DT_F32, l->source, err);
	if (st == STATUS_OK)
		take_array(out, &t);
	return st;
}

void truth_done(struct truth *t)
{
	free(t->at);
	*t = (struct truth){0};
}
