// One sample: images decoded, resized and normalised, arrays converted, inputs with a customary value filled.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../ops/element.h"
#include "convention.h"
#include "dataset.h"
#include "ids.h"
#include "image/image.h"
#include "missing.h"
#include "qtui/base/log.h"

static enum status alloc_input(struct tensor *t, const struct value *v, struct error *err)
{
	enum status s;
	*t = (struct tensor){.type = v->type, .shape = v->shape};
	s = tensor_alloc(t, NULL, err);
	return s ? error_prefix(err, "input '%s'", v->name) : STATUS_OK;
}

static struct frame frame_of(const struct dataset *d)
{
	return (struct frame){.w = d->image.w, .h = d->image.h, .mode = d->opt.pre.resize, .share = d->opt.pre.share};
}

// The caller frees placed->rgb.
static enum status read_placed(
    struct image *placed, const struct dataset *d, const char *path, struct placement *where, struct error *err)
{
	const struct frame frame = frame_of(d);
	struct image raw = {0};
	enum status s = image_read(&raw.rgb, &raw.w, &raw.h, path, err);
	if (!s && place_image(placed, where, &raw, &frame, err))
		s = error_prefix(err, "%s", path);
	free(raw.rgb);
	return s;
}

static enum status fill_image(const struct dataset *d, const struct image *placed, struct tensor *out, struct error *err)
{
	enum status s = alloc_input(out, dataset_input(d, d->image_input), err);
	if (!s)
		place_pixels(out, placed, &d->image, &d->opt.pre);
	return s;
}

static enum status load_image(
    const struct dataset *d, const char *path, struct tensor *out, struct placement *where, struct error *err)
{
	struct image placed = {0};
	enum status s = read_placed(&placed, d, path, where, err);
	if (!s && fill_image(d, &placed, out, err))
		s = error_prefix(err, "%s", path);
	free(placed.rgb);
	return s;
}

enum status picture_read(struct tensor *out, const char *path, const struct graph *g, int input, const struct preprocess *pre,
    struct error *err)
{
	struct dataset *d = NULL;
	struct placement ignored;
	enum status s = dataset_open(&d, path, g, &(struct dataset_options){.pre = *pre}, err);
	if (!s && d->image_input != input)
		s = error_set(err, STATUS_UNSUPPORTED, "%s: input '%s' takes no images, '%s' does", path, g->value[g->input[input]].name,
		    dataset_input(d, d->image_input)->name);
	if (!s)
		s = load_image(d, path, out, &ignored, err);
	dataset_free(&d);
	return s;
}

// -inf is what masks are made of, and a NaN may say that a number is missing.
static bool is_odd(const struct tensor *t, const struct graph *g, int value)
{
	const float *v = t->data;
	int64_t n = t->type == DT_F32 ? tensor_count(t) : 0, none = 0, infinite = 0;
	for (int64_t i = 0; i < n; i++) {
		none += isnan(v[i]);
		infinite += v[i] == INFINITY;
	}
	return infinite || (none && !missing_is_meant(g, value));
}

static void warn_of_nan(const struct dataset *d, const char *path, int row, const struct value *v)
{
	atomic_flag *warned = (atomic_flag *)&d->warned;
	if (!atomic_flag_test_and_set(warned))
		log_warn("%s: sample %d has NaN or infinite numbers for input '%s': check how it was made", path, row, v->name);
}

// Of an open file, the row that is a sample.
struct row {
	const struct arrays *a;
	const char *path;
	int at;
};

static enum status load_array(
    const struct dataset *d, const struct row *row, int array, int input, struct tensor *out, struct error *err)
{
	const struct value *v = dataset_input(d, input);
	int rows = arrays_rows(row->a, array, &v->shape), at = rows == 1 ? 0 : row->at; // one is for all samples
	enum status s;
	if (rows <= at)
		return error_set(err, STATUS_FORMAT, "%s: no sample %d for input '%s'", row->path, row->at, v->name);
	if (alloc_input(out, v, err))
		return error_prefix(err, "%s", row->path);
	s = arrays_copy(out, row->a, array, at, row->path, err);
	if (!s && is_odd(out, d->g, d->g->input[input]))
		warn_of_nan(d, row->path, row->at, v);
	return s;
}

static const char *part_path(const struct dataset *d, int i, int part)
{
	return d->files.path[d->sample[i].file * (size_t)d->files.n_parts + (size_t)part];
}

enum { ALL = -1 };

// Fills the inputs that have no data yet from the arrays of a part of sample i: that of index `only`, or ALL.
static enum status load_arrays(const struct dataset *d, int i, int part, int only, struct tensor *in, struct error *err)
{
	struct arrays *a = NULL;
	const char *path = part_path(d, i, part);
	enum status s = dataset_open_file(&a, d, path, part, err);
	const struct row from = {a, path, d->sample[i].row};
	for (int k = 0; k < d->g->n_inputs && !s; k++) {
		int array = only == ALL || only == k ? dataset_array(d, a, part, k) : -1;
		if (array >= 0 && !in[k].data)
			s = load_array(d, &from, array, k, &in[k], err);
	}
	dataset_close_file(d, &a);
	return s;
}

// Part `part` of sample i.
static enum status load_part(
    const struct dataset *d, int i, int part, struct tensor *in, struct placement *where, struct error *err)
{
	const char *path = part_path(d, i, part);
	if (!image_is_name(path))
		return load_arrays(d, i, part, ALL, in, err);
	if (d->image_input < 0 || (d->files.input[part] >= 0 && d->files.input[part] != d->image_input))
		return error_set(err, STATUS_UNSUPPORTED, "%s: this input does not take images", path);
	return load_image(d, path, &in[d->image_input], where, err);
}

// xorshift64* on a state that the seed, the sample and the input decide.
static float next_uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (float)((*state * 0x2545f4914f6cdd1dULL) >> 40) * 0x1p-24f;
}

// Integers are 0 but for pixels, and for what picks one of `rows` (0: nothing).
static void fill_random(struct tensor *t, uint64_t seed, int sample, int input, bool picture, int64_t rows)
{
	struct key k = key_add_int(key_add_int(key_add_int((struct key){0}, (int64_t)seed), sample), input);
	uint64_t state = k.lo | 1;
	int64_t n = tensor_count(t);
	memset(t->data, 0, tensor_bytes(t));
	for (int64_t i = 0; i < n; i++) {
		float v = next_uniform(&state);
		if (t->type == DT_F32)
			((float *)t->data)[i] = v;
		else if (t->type == DT_U8 || t->type == DT_I8)
			((uint8_t *)t->data)[i] = (uint8_t)(v * 256);
		else if (t->type == DT_I32)
			((int32_t *)t->data)[i] = (int32_t)((double)v * (double)(picture ? 256 : rows));
		else if (t->type == DT_I64)
			((int64_t *)t->data)[i] = (int64_t)((double)v * (double)rows);
	}
}

// An input that the data do not hold.
static enum status fill_missing(const struct dataset *d, int sample, int input, struct tensor *out, struct error *err)
{
	const struct value *v = dataset_input(d, input);
	bool known = convention_known(v, NULL);
	enum status s;
	if (!known && !d->opt.random)
		return error_set(err, STATUS_FORMAT,
		    "%s has nothing for input '%s': give an .npz with an array of that name, or a subdirectory of it",
		    dataset_file(d, sample), v->name);
	s = alloc_input(out, v, err);
	if (!s && known)
		convention_fill(out, v, d->image.w, d->image.h);
	else if (!s)
		fill_random(out, d->opt.seed, d->sample[sample].row, input, input == d->image_input, ids_rows(d->g, d->g->input[input]));
	return s;
}

static enum status fill_rest(const struct dataset *d, int sample, struct tensor *in, struct error *err)
{
	enum status s = STATUS_OK;
	for (int i = 0; i < d->g->n_inputs && !s; i++)
		if (!in[i].data)
			s = fill_missing(d, sample, i, &in[i], err);
	return s;
}

static struct placement unplaced(const struct dataset *d)
{
	return (struct placement){d->image.w, d->image.h, d->image.w, d->image.h, 1, 1, 0, 0};
}

const char *dataset_file(const struct dataset *d, int i)
{
	return d->files.n_files ? part_path(d, i, 0) : NULL;
}

enum status dataset_place(const struct dataset *d, int i, struct placement *where, struct error *err)
{
	const struct frame frame = frame_of(d);
	*where = unplaced(d);
	for (int part = 0; d->files.n_files && part < d->files.n_parts; part++) {
		int w, h;
		if (!image_is_name(part_path(d, i, part)))
			continue;
		enum status s = image_size(&w, &h, part_path(d, i, part), err);
		if (s)
			return s;
		place_measure(where, w, h, &frame);
	}
	return STATUS_OK;
}

static enum status lay_target(const struct dataset *d, struct image *raw, const struct placement *where, const struct image_input *as,
    struct tensor *target, struct error *err)
{
	const struct preprocess pixels = {.std = {1, 1, 1, 1}, .bgr = d->opt.pre.bgr};
	struct image placed = {0};
	enum status s = place_target(&placed, raw, where, as->w, as->h, err);
	if (!s)
		s = tensor_alloc(target, NULL, err);
	if (!s)
		place_pixels(target, &placed, as, &pixels);
	free(placed.rgb);
	return s;
}

enum status dataset_target(const struct dataset *d, const char *path, const struct placement *where, struct tensor *target,
    struct error *err)
{
	struct image_input as;
	struct image raw = {0};
	if (!place_input(&as, &target->shape))
		return error_set(err, STATUS_UNSUPPORTED, "%s: the output is no picture of one or three channels", path);
	enum status s = image_read(&raw.rgb, &raw.w, &raw.h, path, err);
	if (!s && lay_target(d, &raw, where, &as, target, err))
		s = error_prefix(err, "%s", path);
	free(raw.rgb);
	return s;
}

enum status input_as_fixed(const struct value *input, const struct tensor *t, struct error *err)
{
	if (!input->fixed || element_int(t, 0) == *input->fixed)
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT,
	    "input '%s' is %lld, but the network is fixed at %lld, the value of all calibration samples: leave it out, or "
	    "calibrate on such samples",
	    input->name, (long long)element_int(t, 0), (long long)*input->fixed);
}

static void drop_inputs(const struct dataset *d, struct tensor *in)
{
	for (int i = 0; i < d->g->n_inputs; i++)
		tensor_drop(&in[i]);
}

enum status dataset_pixels(const struct dataset *d, int i, struct tensor *pixels, struct error *err)
{
	struct image placed = {0};
	struct placement ignored;
	enum status s;
	if (d->image_input < 0 || d->files.n_parts != 1 || !image_is_name(part_path(d, i, 0)) ||
	    dataset_input(d, d->image_input)->type != DT_F32)
		return STATUS_UNSUPPORTED;
	s = read_placed(&placed, d, part_path(d, i, 0), &ignored, err);
	if (s)
		return s;
	s = dataset_unchanged(d, i, err);
	if (s) {
		free(placed.rgb);
		return s;
	}
	*pixels = (struct tensor){.type = DT_U8, .shape = {3, {placed.h, placed.w, 3}}};
	if (tensor_alloc(pixels, NULL, err))
		s = error_prefix(err, "%s", part_path(d, i, 0));
	else
		memcpy(pixels->data, placed.rgb, tensor_bytes(pixels));
	free(placed.rgb);
	return s;
}

enum status dataset_load_pixels(const struct dataset *d, int i, const struct tensor *pixels, struct tensor *in, struct error *err)
{
	struct image placed = {.h = (int)pixels->shape.dim[0], .w = (int)pixels->shape.dim[1], .rgb = pixels->data};
	enum status s;
	memset(in, 0, (size_t)d->g->n_inputs * sizeof *in);
	s = fill_image(d, &placed, &in[d->image_input], err);
	if (s)
		error_prefix(err, "%s", part_path(d, i, 0));
	else
		s = fill_rest(d, i, in, err);
	if (s)
		drop_inputs(d, in);
	return s;
}

enum status dataset_load(const struct dataset *d, int i, struct tensor *in, struct placement *where, struct error *err)
{
	struct placement ignored;
	enum status s = STATUS_OK;
	memset(in, 0, (size_t)d->g->n_inputs * sizeof *in);
	where = where ? where : &ignored;
	*where = unplaced(d);
	for (int part = 0; part < d->files.n_parts && !s; part++)
		s = load_part(d, i, part, in, where, err);
	if (!s)
		s = dataset_unchanged(d, i, err);
	if (!s)
		s = fill_rest(d, i, in, err);
	for (int k = 0; k < d->g->n_inputs && !s; k++)
		if (input_as_fixed(dataset_input(d, k), &in[k], err))
			s = error_prefix(err, "%s", d->sample[i].name);
	if (s)
		drop_inputs(d, in);
	return s;
}

static enum status load_input(const struct dataset *d, int i, int input, struct tensor *in, struct error *err)
{
	enum status s = STATUS_OK;
	for (int part = 0; part < d->files.n_parts && !s; part++)
		if (!image_is_name(part_path(d, i, part)))
			s = load_arrays(d, i, part, input, in, err);
	return s || in[input].data ? s : fill_missing(d, i, input, &in[input], err);
}

int dataset_values(int64_t value[2], const struct dataset *d, int input)
{
	struct tensor *in = xcalloc((size_t)d->g->n_inputs, sizeof *in);
	struct error ignored; // loading the sample will tell
	int n = 0;
	for (size_t i = 0; i < d->n && n < 2; i++) {
		if (load_input(d, (int)i, input, in, &ignored)) {
			n = 0;
			break;
		}
		value[n] = element_int(&in[input], 0);
		n += !n || value[n] != value[0];
		tensor_drop(&in[input]);
	}
	free(in);
	return n;
}
