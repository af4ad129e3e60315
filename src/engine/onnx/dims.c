// Symbolic dimensions: the first of rank 2 and more is the batch and is 1, unless the caller runs another.
// Others: the caller's shape, else the same symbol's value elsewhere, else what the model's metadata say,
// else an attempt from a list of common sizes or lengths: the first at which every shape rule holds is taken.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dims.h"
#include "import.h"
#include "proto/tensor_proto.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"

static const int64_t image_sizes[] = {
    640, 416, 320, 224, 256, 512, 128, 1280, 384, 448, 608, 299, 300, 192, 160, 96, 64, 32, 28};
static const int64_t other_sizes[] = {1, 512, 256, 128, 64, 32, 16, 8, 1024, 1536};
enum { PLANE = 64 }; // no plane is smaller at first: a convolution sees nothing of one of 1 x 1

// What all inputs of a graph are read with.
struct reading {
	struct draft *d;
	struct scope *scope;
	const struct onnx_options *opt; // or NULL
	struct namemap *symbols;        // sizes that are settled, by the names of their symbols
	struct lengths lengths;
	struct dims_try *t;
};

struct input_dims {
	const Onnx__ValueInfoProto *info;
	const Onnx__TypeProto__Tensor *type;
	const struct shape *given;  // the caller's, or NULL
	const char *given_by;       // the file that has it, or NULL
	bool batched;               // its first dimension is the batch, not the number of samples
	int height, width, channel; // which dimensions, -1: not an image
	bool is_main;               // attempts are made on its dimensions only
};

static int64_t next_in(const int64_t *list, size_t n, int64_t current)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (list[i] == current)
			return list[i + 1];
	return 0;
}

struct dims_try dims_first(void)
{
	return (struct dims_try){.image = image_sizes[0], .other = other_sizes[0], .length = lengths_first()};
}

// Sizes of pictures with each length, then those of others without lengths.
bool dims_next(struct dims_try *t)
{
	int64_t image =
	    t->used_image ? next_in(image_sizes, sizeof image_sizes / sizeof image_sizes[0], t->image) : 0;
	int64_t other =
	    t->used_other ? next_in(other_sizes, sizeof other_sizes / sizeof other_sizes[0], t->other) : 0;
	struct lengths_try length = t->length;
	if (image && t->other == other_sizes[0])
		*t = (struct dims_try){.image = image, .other = t->other, .length = length};
	else if (t->used_length && lengths_next(&length, t->used_past, t->used_image))
		*t = (struct dims_try){.image = image_sizes[0], .other = other_sizes[0], .length = length};
	else if (other)
		*t = (struct dims_try){.image = image_sizes[0], .other = other, .length = length};
	else
		return false;
	return true;
}

// The size of dimension i in the file; 0 when it is symbolic (some writers say 0 or -1 for that).
static int64_t fixed_dim(const Onnx__TypeProto__Tensor *t, int i)
{
	const Onnx__TensorShapeProto__Dimension *dim = t->shape->dim[i];
	return dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dim->dim_value > 0
	           ? dim->dim_value
	           : 0;
}

static const char *symbol(const Onnx__TypeProto__Tensor *t, int i)
{
	const Onnx__TensorShapeProto__Dimension *dim = t->shape->dim[i];
	return dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && dim->dim_param
	           ? dim->dim_param
	           : "";
}

static bool is_channels(int64_t n)
{
	return n == 1 || n == 3;
}

// One picture without a batch: [3, H, W] or [H, W, 3], whose sizes are both open or both those of a picture. (The state of an
// LSTM of three layers is [3, batch, 128].)
static void find_single(struct input_dims *in)
{
	enum { LEAST = 32 };
	int channel = fixed_dim(in->type, 0) == 3 ? 0 : 2, at = channel ? 0 : 1;
	int64_t h = fixed_dim(in->type, at), w = fixed_dim(in->type, at + 1);
	if (fixed_dim(in->type, channel) == 3 && (h && w ? h >= LEAST && w >= LEAST : !h && !w))
		in->height = at, in->width = at + 1, in->channel = channel;
}

static void find_image(struct input_dims *in)
{
	int rank = in->type->shape ? (int)in->type->shape->n_dim : 0;
	int64_t c1, c3;
	in->height = in->width = in->channel = -1;
	if (rank == 3)
		find_single(in);
	if (rank != 4)
		return;
	c1 = fixed_dim(in->type, 1);
	c3 = fixed_dim(in->type, 3);
	if (is_channels(c3) && !is_channels(c1))
		in->height = 1, in->width = 2, in->channel = 3;
	else if (is_channels(c1) || !c1)
		in->height = 2, in->width = 3, in->channel = 1;
}

// Is dimension i the batch? The first is, but the height of [H, W, 3].
static bool is_batch(const struct input_dims *in, int i)
{
	return i == 0 && in->type->shape->n_dim > 1 && in->height != 0;
}

// `place`: of the input, from 1.
static const struct onnx_input_shape *given_shape(const struct onnx_options *opt, const char *name, int place, bool is_main)
{
	const struct onnx_input_shape *given = NULL;
	char *as_dir = file_safe_name(name); // what a subdirectory for the input may be called
	for (int i = 0; opt && i < opt->n_shapes && !given; i++) {
		const struct onnx_input_shape *s = &opt->shape[i];
		bool named = s->name && s->name[0], placed = s->place ? s->place == place : is_main;
		if (named ? !strcmp(s->name, name) || !strcmp(s->name, as_dir) : placed)
			given = s;
	}
	free(as_dir);
	return given;
}

// Ultralytics writes imgsz as "[height, width]".
static int64_t metadata_size(const Onnx__ModelProto *m, bool width)
{
	int h = 0, w = 0;
	for (size_t i = 0; i < m->n_metadata_props; i++) {
		const Onnx__StringStringEntryProto *e = m->metadata_props[i];
		if (e->key && e->value && !strcmp(e->key, "imgsz") && sscanf(e->value, "[%d, %d]", &h, &w) == 2)
			return (width ? w : h) > 0 ? (width ? w : h) : 0;
	}
	return 0;
}

// -1: not given; the caller's shape may leave out the batch, or have the number of samples in front.
// 0 is a size like any other: the past of the first token has no elements.
static int64_t given_dim(const struct input_dims *in, int i)
{
	int at = in->given ? i + in->given->rank - (int)in->type->shape->n_dim : -1;
	return at >= 0 ? in->given->dim[at] : -1;
}

// Height or width of what has no 1 or 3 channels: a feature map, the latent picture of a diffusion model.
static bool is_plane(const struct input_dims *in, int i)
{
	return in->type->shape->n_dim > 3 && i + 2 >= (int)in->type->shape->n_dim;
}

static int64_t choose(const struct reading *r, const struct input_dims *in, int i)
{
	struct dims_try *t = r->t;
	bool image = i == in->height || i == in->width;
	int64_t size;
	if (is_batch(in, i) && !in->batched)
		return 1;
	if (given_dim(in, i) >= 0)
		return given_dim(in, i);
	if (symbol(in->type, i)[0] && namemap_get(r->symbols, symbol(in->type, i)) >= 0)
		return namemap_get(r->symbols, symbol(in->type, i));
	if (is_batch(in, i))
		return 1;
	if (i == in->channel)
		return 3;
	size = image ? metadata_size(r->d->model, i == in->width) : 0;
	if (size)
		return size;
	if (!image && lengths_has(&r->lengths, in->info, i)) {
		t->used_length = true;
		t->used_past |= r->lengths.has_past;
		if (t->length.sequence)
			return lengths_of(&r->lengths, &t->length, in->info, i, r->symbols);
	}
	if (!image && !in->is_main)
		return 1;
	if (image)
		t->used_image = true;
	else
		t->used_other = true;
	return image ? t->image : is_plane(in, i) && t->other < PLANE ? PLANE : t->other;
}

// The shape of the file, symbols by name: "[N, 3, 224, 224]".
static const char *declared_text(const Onnx__TypeProto__Tensor *t, char *out, size_t size)
{
	struct str s = {0};
	for (int i = 0; i < (int)t->shape->n_dim; i++) {
		str_add(&s, i ? ", " : "[");
		if (fixed_dim(t, i))
			str_addf(&s, "%lld", (long long)fixed_dim(t, i));
		else
			str_add(&s, symbol(t, i)[0] ? symbol(t, i) : "?");
	}
	str_add(&s, t->shape->n_dim ? "]" : "[]");
	snprintf(out, size, "%s", str_text(&s));
	str_done(&s);
	return out;
}

static enum status check_given(const struct input_dims *in, const char *name, struct error *err)
{
	char takes[160], has[160];
	const char *by = in->given_by ? in->given_by : "what is given";
	int rank = in->type->shape ? (int)in->type->shape->n_dim : in->given->rank;
	bool stack = in->given->rank == rank + 1; // of samples
	bool fits = rank == in->given->rank || rank == in->given->rank + 1 || stack;
	for (int i = rank > 1; fits && in->type->shape && i < rank; i++)
		fits = !fixed_dim(in->type, i) || fixed_dim(in->type, i) == given_dim(in, i);
	if (fits && shape_count(in->given) >= 0)
		return STATUS_OK;
	if (!in->type->shape)
		return error_set(err, STATUS_FORMAT, "input '%s' cannot have the shape %s of %s", name,
		    shape_text(in->given, has, sizeof has), by);
	return error_set(err, STATUS_FORMAT, "input '%s' takes %s, and %s has %s", name,
	    declared_text(in->type, takes, sizeof takes), by, shape_text(in->given, has, sizeof has));
}

static enum status choose_shape(
    struct shape *out, const struct reading *r, const struct input_dims *in, const char *name, struct error *err)
{
	enum status s = in->given ? check_given(in, name, err) : STATUS_OK;
	if (s)
		return s;
	if (!in->type->shape) {
		if (!in->given)
			return error_set(err, STATUS_UNSUPPORTED,
			    "input '%s' has no shape in the file: give data of the right shape (.npy, .npz or .pb)", name);
		*out = *in->given;
		return STATUS_OK;
	}
	if (in->type->shape->n_dim > SHAPE_MAX_RANK)
		return error_set(err, STATUS_UNSUPPORTED, "input '%s': rank %zu is over %d", name,
		    in->type->shape->n_dim, SHAPE_MAX_RANK);
	out->rank = (int)in->type->shape->n_dim;
	for (int i = 0; i < out->rank; i++) {
		out->dim[i] = fixed_dim(in->type, i);
		if (!out->dim[i])
			out->dim[i] = choose(r, in, i);
		if (symbol(in->type, i)[0] && out->dim[i] <= INT32_MAX)
			namemap_put(r->symbols, symbol(in->type, i), (int)out->dim[i]);
	}
	if (shape_count(out) < 0)
		return error_set(err, STATUS_UNSUPPORTED, "input '%s' is too large", name);
	return STATUS_OK;
}

// What the data say of a symbol holds for inputs that come before theirs, too.
static void settle_given(const struct reading *r, const Onnx__ValueInfoProto *info, int place, bool is_main)
{
	const char *name = info->name ? info->name : "";
	const struct onnx_input_shape *given = given_shape(r->opt, name, place, is_main);
	bool is_tensor = info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	struct input_dims in = {.type = is_tensor ? info->type->tensor_type : NULL, .given = given ? &given->shape : NULL};
	for (int i = 1; given && in.type && in.type->shape && i < (int)in.type->shape->n_dim; i++) {
		int64_t size = given_dim(&in, i);
		if (symbol(in.type, i)[0] && size >= 0 && size <= INT32_MAX)
			namemap_put(r->symbols, symbol(in.type, i), (int)size);
	}
}

static enum status add_input(const struct reading *r, const Onnx__ValueInfoProto *info, bool is_main, struct error *err)
{
	struct draft *d = r->d;
	const char *name = info->name ? info->name : "";
	struct input_dims in = {.info = info, .is_main = is_main, .batched = r->opt && r->opt->batched};
	struct shape shape = {0};
	enum status s;
	int id;
	if (!info->type || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !info->type->tensor_type)
		return error_set(err, STATUS_UNSUPPORTED, "input '%s' is not a tensor", name);
	in.type = info->type->tensor_type;
	find_image(&in);
	const struct onnx_input_shape *given = given_shape(r->opt, name, (int)d->n_inputs + 1, is_main);
	in.given = given ? &given->shape : NULL;
	in.given_by = given ? given->file : NULL;
	s = choose_shape(&shape, r, &in, name, err);
	if (!s)
		s = import_name(&id, d, r->scope, name, err);
	if (s)
		return s;
	d->value[id].type = tensor_proto_type(in.type->elem_type);
	d->value[id].elements = in.type->elem_type;
	d->value[id].shape = shape;
	if (d->value[id].type == DT_NONE)
		return error_set(
		    err, STATUS_UNSUPPORTED, "input '%s': elements of type %s (%d) are not supported", name,
		    tensor_proto_type_name(in.type->elem_type), in.type->elem_type);
	draft_mark_input(d, id);
	return STATUS_OK;
}

static bool is_image(const Onnx__ValueInfoProto *info)
{
	struct input_dims in = {0};
	if (!info->type || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !info->type->tensor_type)
		return false;
	in.type = info->type->tensor_type;
	find_image(&in);
	return in.channel >= 0;
}

static bool is_listed(const struct namemap *names, const Onnx__ValueInfoProto *info)
{
	return namemap_get(names, info->name ? info->name : "") >= 0;
}

// The first image-like input, else the first input.
static size_t main_input(const Onnx__GraphProto *g, const struct namemap *initializers)
{
	size_t first = g->n_input;
	for (size_t i = g->n_input; i-- > 0;)
		if (!is_listed(initializers, g->input[i]))
			first = i;
	for (size_t i = 0; i < g->n_input; i++)
		if (!is_listed(initializers, g->input[i]) && is_image(g->input[i]))
			return i;
	return first;
}

enum status dims_inputs(struct draft *d, const Onnx__GraphProto *g, struct scope *scope, const struct onnx_options *opt,
    struct dims_try *t, struct error *err)
{
	struct namemap *initializers = namemap_new(), *symbols = namemap_new();
	struct reading r = {.d = d, .scope = scope, .opt = opt, .symbols = symbols, .t = t};
	size_t main;
	enum status s = STATUS_OK;
	for (size_t i = 0; i < g->n_initializer; i++)
		namemap_put(initializers, g->initializer[i]->name ? g->initializer[i]->name : "", 1);
	main = main_input(g, initializers);
	lengths_find(&r.lengths, g);
	for (size_t i = 0, place = 1; i < g->n_input; i++)
		if (!is_listed(initializers, g->input[i]))
			settle_given(&r, g->input[i], (int)place++, i == main);
	for (size_t i = 0; i < g->n_input && !s; i++)
		if (!is_listed(initializers, g->input[i])) {
			const struct dims_try before = *t;
			t->used_image = t->used_other = t->used_length = false;
			s = add_input(&r, g->input[i], i == main, err);
			t->guessed |= (uint64_t)(t->used_image || t->used_other || t->used_length) << (i & 63);
			t->used_image |= before.used_image;
			t->used_other |= before.used_other;
			t->used_length |= before.used_length;
		}
	namemap_free(&initializers);
	namemap_free(&symbols);
	lengths_done(&r.lengths);
	return s;
}

static bool has_symbols(const Onnx__ValueInfoProto *info)
{
	const Onnx__TypeProto__Tensor *t = info->type ? info->type->tensor_type : NULL;
	for (size_t i = 0; t && t->shape && i < t->shape->n_dim; i++)
		if (!fixed_dim(t, (int)i))
			return true;
	return false;
}

void dims_report(const struct graph *g, const Onnx__GraphProto *proto, const struct dims_try *t)
{
	char text[160];
	for (size_t i = 0; i < proto->n_input; i++) {
		int id = proto->input[i]->name ? graph_find_value(g, proto->input[i]->name) : -1;
		if (id < 0 || !g->value[id].is_input || !has_symbols(proto->input[i]))
			continue;
		shape_text(&g->value[id].shape, text, sizeof text);
		if (i < 64 && t->guessed >> i & 1)
			log_warn("input %s is dynamic: taken as %s, the first common size that fits; --shape %s=SIZES and data of another shape "
			         "(.npy, .npz, .pb) change that",
			    g->value[id].name, text, g->value[id].name);
		else
			log_info("input %s is dynamic: taken as %s", g->value[id].name, text);
	}
}
