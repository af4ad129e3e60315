// Samples: which rows of which files they are. dataset_load.c makes inputs of them.
#include <stdio.h>
#include <stdlib.h>
#include "convention.h"
#include "dataset.h"
#include "guess.h"
#include "image/image.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"

// Floats or bytes, or where there are none 32-bit integers (MoveNet), which may be masks elsewhere.
static void find_image_input(struct dataset *d)
{
	d->image_input = -1;
	for (int wide = 0; wide < 2; wide++)
		for (int i = 0; i < d->g->n_inputs && d->image_input < 0; i++) {
			enum dtype t = dataset_input(d, i)->type;
			bool fits = wide ? t == DT_I32 : t == DT_F32 || t == DT_U8 || t == DT_I8;
			if (fits && place_input(&d->image, &dataset_input(d, i)->shape))
				d->image_input = i;
		}
}

int dataset_array(const struct dataset *d, const struct arrays *a, int part, int i)
{
	if (d->files.input[part] >= 0)
		return d->files.input[part] == i ? 0 : -1;
	return arrays_find(a, d->g, i, d->image_input < 0 ? 0 : d->image_input);
}

enum status dataset_open_file(
    struct arrays **out, const struct dataset *d, const char *path, int part, struct error *err)
{
	int input = d->files.input[part] < 0 ? (d->image_input < 0 ? 0 : d->image_input) : d->files.input[part];
	if (!d->single)
		return arrays_open(out, path, dataset_input(d, input)->type, err);
	*out = d->single;
	return STATUS_OK;
}

void dataset_close_file(const struct dataset *d, struct arrays **a)
{
	if (*a != d->single)
		arrays_free(a);
	*a = NULL;
}

static bool is_full(const struct dataset *d)
{
	return d->opt.samples > 0 && d->n >= (size_t)d->opt.samples;
}

static void add_sample(struct dataset *d, size_t file, int row, int rows)
{
	struct sample s = {.file = file, .row = row};
	const char *base = file_base(d->files.path[file * (size_t)d->files.n_parts]);
	struct str name = {0};
	str_add(&name, base);
	if (rows > 1)
		str_addf(&name, "#%d", row);
	s.name = str_detach(&name);
	d->sample = xgrow(d->sample, &d->cap, d->n + 1, sizeof s);
	d->sample[d->n++] = s;
}

static enum status misfit(
    const struct dataset *d, const char *path, const struct arrays *a, int array, int input, struct error *err)
{
	struct shape own = arrays_shape(a, array);
	char has[128], wants[128];
	return error_set(err, STATUS_FORMAT, "%s: %s%san array of shape %s does not fit input '%s' of shape %s, which all samples have", path,
	    arrays_name(a, array), arrays_name(a, array)[0] ? ": " : "", shape_text(&own, has, sizeof has),
	    dataset_input(d, input)->name, shape_text(&dataset_input(d, input)->shape, wants, sizeof wants));
}

// How many samples a file of arrays holds: every array that fills an input holds as many, or one for all.
static enum status count_rows(
    int *rows, const struct dataset *d, const char *path, const struct arrays *a, int part, struct error *err)
{
	*rows = 0;
	for (int i = 0; i < d->g->n_inputs; i++) {
		int array = dataset_array(d, a, part, i), n;
		if (array < 0)
			continue;
		n = arrays_rows(a, array, &dataset_input(d, i)->shape);
		if (!n)
			return misfit(d, path, a, array, i, err);
		if (*rows > 1 && n > 1 && n != *rows)
			return error_set(err, STATUS_FORMAT, "%s: its arrays hold %d and %d samples", path, *rows, n);
		*rows = n > *rows ? n : *rows;
	}
	if (*rows)
		return STATUS_OK;
	if (!arrays_unread(a))
		return error_set(err, STATUS_FORMAT, "%s holds no array for an input of the model", path);
	*err = *arrays_unread(a);
	return err->status;
}

// The pictures among the parts of a file.
static bool pictures_are_whole(const struct dataset *d, size_t file, struct error *err)
{
	char **path = d->files.path + file * (size_t)d->files.n_parts;
	for (int part = 0; part < d->files.n_parts; part++)
		if (image_is_name(path[part]) && image_whole(path[part], err))
			return false;
	return true;
}

static void leave_out(struct dataset *d, const struct error *why)
{
	d->left_out = xgrow(d->left_out, &d->cap_left_out, d->n_left_out + 1, sizeof *d->left_out);
	d->left_out[d->n_left_out++] = xstrdup(why->text);
}

static enum status add_file(struct dataset *d, size_t file, struct error *err)
{
	const char *path = d->files.path[file * (size_t)d->files.n_parts];
	struct arrays *a = NULL;
	int rows = 1;
	enum status s = STATUS_OK;
	if (image_is_name(path) && d->image_input < 0)
		return error_set(err, STATUS_UNSUPPORTED,
		    "%s: the model has no input for images ([1, C, H, W] or [1, H, W, C] of 1 or 3 channels, [3, H, W] or [H, W, 3]); give arrays", path);
	if (!pictures_are_whole(d, file, err)) {
		leave_out(d, err);
		return STATUS_OK;
	}
	if (!image_is_name(path)) {
		s = dataset_open_file(&a, d, path, 0, err);
		if (s)
			return s;
		s = count_rows(&rows, d, path, a, 0, err);
		if (!s && d->files.n_files == 1 && d->files.n_parts == 1)
			d->single = a;
		dataset_close_file(d, &a);
	}
	int row = 0;
	for (; row < rows && !s && !is_full(d); row++)
		add_sample(d, file, row, rows);
	d->more |= row < rows;
	return s;
}

static void add_random(struct dataset *d)
{
	for (int i = 0; i < d->opt.random; i++) {
		struct sample s = {.row = i};
		char name[32];
		snprintf(name, sizeof name, "random#%d", i);
		s.name = xstrdup(name);
		d->sample = xgrow(d->sample, &d->cap, d->n + 1, sizeof s);
		d->sample[d->n++] = s;
	}
}

static void report_left_out(const struct dataset *d)
{
	enum { NAMED = 8 };
	for (size_t i = 0; i < d->n_left_out && i < NAMED; i++)
		log_warn("left out: %s", d->left_out[i]);
	if (d->n_left_out > NAMED)
		log_warn("left out: %zu more of %s", d->n_left_out - NAMED, d->path);
}

// Whether the files of the first sample have nothing for the input.
static bool lacks(const struct dataset *d, int input)
{
	char **path = d->files.path + d->sample[0].file * (size_t)d->files.n_parts;
	bool has = input == d->image_input && image_is_name(path[0]);
	for (int part = 0; part < d->files.n_parts && !has; part++) {
		struct arrays *a = NULL;
		struct error ignored; // loading the sample will tell
		if (!image_is_name(path[part]) && !dataset_open_file(&a, d, path[part], part, &ignored))
			has = dataset_array(d, a, part, input) >= 0;
		dataset_close_file(d, &a);
	}
	return !has;
}

static void report_misfit(const struct dataset *d)
{
	const char *path, *with;
	listing_misfit(&d->files, d->n ? d->sample[d->n - 1].file + 1 : 0, &path, &with);
	if (with)
		log_warn("%s goes with %s: subdirectories are paired file by file in their order, and a name is missing in one of them", path, with);
}

static void warn_of_unit(const struct preprocess *pre)
{
	const float *m = pre->mean, *s = pre->std;
	if (preprocess_is_of_unit(pre))
		log_warn("mean and std are of pixels of 0..255; these look like those of 0..1, which are --mean %g,%g,%g --std %g,%g,%g there",
		    255 * (double)m[0], 255 * (double)m[1], 255 * (double)m[2], 255 * (double)s[0], 255 * (double)s[1], 255 * (double)s[2]);
}

// Pictures that somebody has made arrays of already: whether they are prepared nobody knows.
static void report_arrays(const struct dataset *d, bool asked)
{
	char **path = d->files.path + (d->n ? d->sample[0].file * (size_t)d->files.n_parts : 0);
	for (int part = 0; d->n && d->image_input >= 0 && part < d->files.n_parts; part++) {
		struct arrays *a = NULL;
		struct error ignored; // loading the sample will tell
		if (image_is_name(path[part]) || dataset_open_file(&a, d, path[part], part, &ignored))
			continue;
		int at = dataset_array(d, a, part, d->image_input);
		if (at >= 0 && arrays_are_bytes(a, at) && dataset_input(d, d->image_input)->type == DT_F32)
			log_warn("%s: bytes are taken as they are, 0 to 255, since --mean, --std, --color and --resize are of pictures: give prepared floats "
			         "where the network takes others", path[part]);
		else if (at >= 0 && asked)
			log_warn("%s: arrays are taken as they are, since --mean, --std, --color and --resize are of pictures", path[part]);
		dataset_close_file(d, &a);
	}
}

// Somebody who gives a mean beside what is no picture expects it to be taken off.
static void report_unprepared(const struct dataset *d)
{
	const struct preprocess *pre = &d->opt.pre;
	bool asked = pre->mean_set || pre->std_set || pre->color_set || pre->resize_set;
	if (!d->opt.random)
		report_arrays(d, asked);
	else if (asked)
		log_warn("random numbers are taken as they are, since --mean, --std, --color and --resize are of pictures");
}

static bool has_pictures(const struct dataset *d)
{
	bool any = false;
	for (int part = 0; part < d->files.n_parts && !d->opt.random; part++)
		any |= image_is_name(d->files.path[part]);
	return any;
}

static void report(const struct dataset *d)
{
	const char *text;
	bool prepares = has_pictures(d) && !d->opt.prepared, warn = d->opt.pre.warn;
	if (prepares && d->opt.pre.guess[0])
		log_add(warn ? LOG_WARN : LOG_INFO, "%s%s", d->opt.pre.guess,
		    warn ? "; say otherwise with --mean, --std, --color, --resize" : "");
	if (prepares)
		warn_of_unit(&d->opt.pre);
	else if (!d->opt.prepared)
		report_unprepared(d);
	report_left_out(d);
	report_misfit(d);
	for (int i = 0; i < d->g->n_inputs && !d->opt.random; i++)
		if (convention_known(dataset_input(d, i), &text) && lacks(d, i))
			log_info("input %s is not in the data: it gets %s", dataset_input(d, i)->name, text);
}

static enum status none_left(const struct dataset *d, const char *path, struct error *err)
{
	if (d->n_left_out == 1)
		return error_set(err, STATUS_FORMAT, "%s", d->left_out[0]);
	return error_set(err, STATUS_FORMAT, "%s: none of its %zu pictures can be read; the first: %s", path, d->n_left_out, d->left_out[0]);
}

static enum status fill(struct dataset *d, const char *path, struct error *err)
{
	enum status s = STATUS_OK;
	if (d->opt.random) {
		add_random(d);
		return STATUS_OK;
	}
	s = listing_read(&d->files, path, d->g, err);
	size_t i = 0;
	for (; i < d->files.n_files && !s && !is_full(d); i++)
		s = add_file(d, i, err);
	d->more |= i < d->files.n_files;
	if (!s && !d->n)
		s = none_left(d, path, err);
	d->mark = xcalloc(d->files.n_files * (size_t)d->files.n_parts + 1, sizeof *d->mark);
	return s;
}

enum status dataset_open_silently(
    struct dataset **out, const char *path, const struct graph *g, const struct dataset_options *opt, struct error *err)
{
	struct dataset *d = xcalloc(1, sizeof *d);
	enum status s;
	d->g = g;
	d->opt = *opt;
	d->path = xstrdup(path ? path : "random");
	pthread_mutex_init(&d->lock, NULL);
	d->warned = (atomic_flag)ATOMIC_FLAG_INIT;
	find_image_input(d);
	guess_preprocess(&d->opt.pre, g, d->image_input < 0 ? DT_F32 : dataset_input(d, d->image_input)->type);
	s = g->n_inputs ? fill(d, path, err)
	                : error_set(err, STATUS_UNSUPPORTED,
	                      "%s: the model has no inputs, so there is nothing to calibrate on; qtui run computes it", g->path);
	if (!s && !has_pictures(d))
		d->opt.pre.guess[0] = '\0'; // nothing was prepared by it
	if (s)
		dataset_free(&d);
	*out = d;
	return s;
}

enum status dataset_open(
    struct dataset **out, const char *path, const struct graph *g, const struct dataset_options *opt, struct error *err)
{
	enum status s = dataset_open_silently(out, path, g, opt, err);
	if (!s)
		report(*out);
	return s;
}

void dataset_free(struct dataset **dp)
{
	struct dataset *d = *dp;
	*dp = NULL;
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		free(d->sample[i].name);
	free(d->sample);
	for (size_t i = 0; i < d->n_left_out; i++)
		free(d->left_out[i]);
	free(d->left_out);
	free(d->mark);
	free(d->path);
	arrays_free(&d->single);
	listing_done(&d->files);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

bool dataset_has_more(const struct dataset *d)
{
	return d->more;
}

int dataset_count(const struct dataset *d)
{
	return (int)d->n;
}

int dataset_left_out(const struct dataset *d)
{
	return (int)d->n_left_out;
}

const char *dataset_left_out_why(const struct dataset *d, int i)
{
	return d->left_out[i];
}

const char *dataset_name(const struct dataset *d, int i)
{
	return d->sample[i].name;
}

const struct preprocess *dataset_preprocess(const struct dataset *d)
{
	return &d->opt.pre;
}

const char *dataset_path(const struct dataset *d)
{
	return d->path;
}
