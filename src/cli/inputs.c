// The inputs of qtui run: "NAME=FILE", or "FILE" for the inputs in their order; arrays, or a picture.
#include "inputs.h"

#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/engine/onnx.h"
#include "shapes.h"
#include "stack.h"
#include "verbs.h"

// *name is heap or NULL.
static const char *input_path(const char *text, char **name)
{
	*name = NULL;
	const char *path = file_exists(text) ? NULL : name_value(name, text, false);
	return path ? path : text;
}

// An .npz file without NAME= gives every input whose name is in it, as one of CALIB does.
static bool is_bundle(const char *path, const char *name)
{
	return !name && str_has_suffix(path, ".npz");
}

static bool holds(const struct arrays *a, const char *name)
{
	bool any = false;
	for (int i = 0; i < arrays_count(a) && !any; i++)
		any = strcmp(arrays_name(a, i), name) == 0;
	return any;
}

static bool bundle_holds(const char *path, const char *name)
{
	struct arrays *a = NULL;
	struct error ignored; // reading the input will tell
	bool any = str_has_suffix(path, ".npz") && arrays_open(&a, path, DT_F32, &ignored) == STATUS_OK && holds(a, name);
	arrays_free(&a);
	return any;
}

// For an input that an If asks.
static int value_given(int64_t value[2], const struct graph *inputs, int input, const void *options)
{
	const struct options *o = options;
	const struct value *v = &inputs->value[inputs->input[input]];
	int n = 0;
	for (int i = 0; i < o->input.n && !n; i++) {
		char *name;
		const char *path = input_path(o->input.at[i], &name);
		if (name ? strcmp(name, v->name) == 0 : i == input || bundle_holds(path, v->name))
			n = array_value(value, path, v->name, v->type);
		free(name);
	}
	return n;
}

// Of the array that has the input's name, else of the first. Of several files without names each is the input in its
// place, a single one the picture.
static struct onnx_input_shape shape_for(const struct data_shapes *found, const char *name, int place)
{
	const struct data_shape *at = &found->at[0];
	for (size_t i = 0; name && i < found->n; i++)
		if (strcmp(found->at[i].name, name) == 0)
			at = &found->at[i];
	return (struct onnx_input_shape){.name = name, .place = place, .shape = at->shape, .file = at->file};
}

struct shapes_given {
	struct onnx_input_shape *at;
	size_t n, cap;
};

static void add_shape(struct shapes_given *s, struct onnx_input_shape shape)
{
	s->at = xgrow(s->at, &s->cap, s->n + 1, sizeof *s->at);
	s->at[s->n++] = shape;
}

// Which arrays of a bundle are inputs is known when the graph is.
static void add_shapes(struct shapes_given *s, const struct data_shapes *found, const char *path, const char *name, int place)
{
	bool bundle = is_bundle(path, name);
	for (size_t i = 0; bundle && i < found->n; i++)
		add_shape(s, (struct onnx_input_shape){.name = found->at[i].name, .shape = found->at[i].shape, .file = found->at[i].file});
	if (found->n == 1 || (found->n > 1 && !bundle))
		add_shape(s, shape_for(found, name, place));
}

enum status inputs_load_graph(struct graph **out, const struct options *o, struct error *err)
{
	int total = o->input.n;
	struct shapes_given given = {0};
	struct data_shapes *found = xcalloc((size_t)total + 1, sizeof *found);
	char **name = xcalloc((size_t)total + 1, sizeof *name);
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < total; i++) {
		const char *path = input_path(o->input.at[i], &name[i]);
		st = dataset_peek_shapes(&found[i], path, err);
		add_shapes(&given, &found[i], path, name[i], total > 1 ? i + 1 : 0);
	}
	for (int i = 0; i < o->study.n_shapes; i++)
		add_shape(&given, o->study.shape[i]);
	const struct onnx_options how = {.shape = given.at, .n_shapes = (int)given.n, .batched = true, .values = value_given, .arg = o};
	if (st == STATUS_OK)
		st = onnx_load(out, o->positional.at[0], &how, err);
	if (st == STATUS_OK)
		st = shapes_check(o, *out, err);
	for (int i = 0; i < total; i++) {
		free(name[i]);
		data_shapes_done(&found[i]);
	}
	free(name);
	free(found);
	free(given.at);
	return st;
}

static enum status find_input(const struct graph *g, const char *name, int position, int *out, struct error *err)
{
	for (int i = 0; i < g->n_inputs; i++)
		if (name && strcmp(g->value[g->input[i]].name, name) == 0) {
			*out = i;
			return STATUS_OK;
		}
	int value = name ? graph_find_value(g, name) : -1;
	const char *why = value >= 0 && g->value[value].constant ? "it is a constant of the model here, which keeps the file's value"
	                                                         : "the model has no such input";
	if (name)
		return error_set(err, STATUS_NOTFOUND, "-i %s: %s; its first input is %s", name, why,
		    g->n_inputs ? g->value[g->input[0]].name : "(none)");
	if (position >= g->n_inputs)
		return error_set(err, STATUS_USAGE, "the model has %d input%s, more are given", g->n_inputs, plural(g->n_inputs));
	*out = position;
	return STATUS_OK;
}

// All stacks have the same samples; what is no stack goes with each.
static enum status take_stack(struct inputs *x, int64_t n, const char *path, struct error *err)
{
	if (x->stack && x->stack != n)
		return error_set(err, STATUS_FORMAT, "%s holds %lld samples, another input %lld", path, (long long)n, (long long)x->stack);
	x->stack = n;
	return STATUS_OK;
}

// A sample without its batch dimension of 1 is taken as one with it.
static enum status fit_shape(struct inputs *x, int input, struct tensor *t, const char *path, struct error *err)
{
	char have[128], need[128];
	const struct value *v = &x->g->value[x->g->input[input]];
	struct shape batched = {.rank = t->shape.rank + 1, .dim = {1}};
	if (v->shape.rank < 0 || shape_equal(&v->shape, &t->shape))
		return STATUS_OK;
	if (str_has_suffix(path, ".bin") && tensor_count(t) == shape_count(&v->shape)) { // it says nothing of its shape
		t->shape = v->shape;
		return STATUS_OK;
	}
	if (v->shape.rank == batched.rank) {
		memcpy(&batched.dim[1], t->shape.dim, (size_t)t->shape.rank * sizeof t->shape.dim[0]);
		if (shape_equal(&v->shape, &batched)) {
			t->shape = batched;
			return STATUS_OK;
		}
	}
	if (stack_height(&v->shape, &t->shape) > 0)
		return take_stack(x, stack_height(&v->shape, &t->shape), path, err);
	return error_set(err, STATUS_FORMAT, "%s: shape %s, but input %s needs %s%s", path, shape_text(&t->shape, have, sizeof have), v->name,
	    shape_text(&v->shape, need, sizeof need),
	    x->study ? ": the quantized network has the shapes of the samples that it is calibrated on" : "");
}

static bool is_stack(const struct inputs *x, int input)
{
	const struct value *v = &x->g->value[x->g->input[input]];
	return x->stack && v->shape.rank >= 0 && !shape_equal(&v->shape, &x->in[input].shape);
}

struct tensor inputs_sample(const struct inputs *x, int input, int64_t k)
{
	return is_stack(x, input) ? stack_sample(&x->in[input], &x->g->value[x->g->input[input]].shape, k) : x->in[input];
}

// Prepared as the samples are that the network was calibrated on.
static enum status read_picture(struct inputs *x, const char *path, int input, const struct options *o, struct error *err)
{
	struct preprocess pre = o->study.data.pre;
	if (x->study) {
		pre = *dataset_preprocess(study_dataset(x->study));
		pre.mean_set = pre.std_set = pre.color_set = pre.resize_set = true;
	}
	return picture_read(&x->in[input], path, x->g, input, &pre, err);
}

static enum status read_into(
    struct inputs *x, int at, const struct options *o, const char *text, const char *path, struct error *err)
{
	const struct value *v = &x->g->value[x->g->input[at]];
	if (x->in[at].data)
		return error_set(err, STATUS_USAGE, "-i %s: input %s is given twice", text, v->name);
	file_keep(path); // an output may have its name
	enum status st = image_is_name(path) ? read_picture(x, path, at, o, err) : array_read(&x->in[at], path, v->name, v->type, err);
	if (st == STATUS_OK)
		st = fit_shape(x, at, &x->in[at], path, err);
	for (int64_t k = 0; st == STATUS_OK && k < (is_stack(x, at) ? x->stack : 1); k++) {
		struct tensor one = inputs_sample(x, at, k);
		if (input_as_fixed(v, &one, err))
			st = error_prefix(err, "%s", path);
	}
	return st;
}

// *any: it holds at least one.
static enum status read_bundle(
    bool *any, struct inputs *x, const struct options *o, const char *path, struct error *err)
{
	struct arrays *a = NULL;
	enum status st = arrays_open(&a, path, DT_F32, err);
	for (int i = 0; st == STATUS_OK && i < x->g->n_inputs; i++)
		if (holds(a, x->g->value[x->g->input[i]].name)) {
			*any = true;
			st = read_into(x, i, o, path, path, err);
		}
	arrays_free(&a);
	return st;
}

static enum status read_input(struct inputs *x, const struct options *o, const char *text, int position, struct error *err)
{
	char *name;
	int at = 0;
	bool done = false;
	const char *path = input_path(text, &name);
	enum status st = is_bundle(path, name) ? read_bundle(&done, x, o, path, err) : STATUS_OK;
	if (st == STATUS_OK && !done)
		st = find_input(x->g, name, position, &at, err);
	free(name);
	return st == STATUS_OK && !done ? read_into(x, at, o, text, path, err) : st;
}

static enum status lacks_input(const struct value *v, struct error *err)
{
	char shape[96];
	return error_set(err, STATUS_USAGE, "input %s is missing: -i %s=FILE.npy, %s of shape %s", v->name, v->name, dtype_name(v->type),
	    shape_text(&v->shape, shape, sizeof shape));
}

enum status inputs_read(struct inputs *x, const struct options *o, struct error *err)
{
	enum status st = STATUS_OK;
	x->in = xcalloc((size_t)x->g->n_inputs + 1, sizeof *x->in);
	for (int i = 0; st == STATUS_OK && i < o->input.n; i++)
		st = read_input(x, o, o->input.at[i], i, err);
	for (int i = 0; st == STATUS_OK && i < x->g->n_inputs; i++)
		if (!x->in[i].data)
			st = lacks_input(&x->g->value[x->g->input[i]], err);
	return st;
}

enum status inputs_check(const struct options *o, struct error *err)
{
	for (int i = 0; i < o->input.n; i++) {
		char *name;
		bool none = !*input_path(o->input.at[i], &name);
		free(name);
		if (none)
			return error_set(err, STATUS_USAGE, "-i %s: a file is needed behind the =", o->input.at[i]);
	}
	return STATUS_OK;
}

bool inputs_lack_shape(const struct options *o)
{
	bool any = false;
	for (int i = 0; i < o->input.n && !any; i++) {
		char *name;
		const char *path = input_path(o->input.at[i], &name);
		any = image_is_name(path) || str_has_suffix(path, ".bin");
		free(name);
	}
	return any;
}

void inputs_done(struct inputs *x)
{
	for (int i = 0; x->in && i < x->g->n_inputs; i++)
		tensor_drop(&x->in[i]);
	free(x->in);
	x->in = NULL;
}
