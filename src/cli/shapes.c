// --shape [NAME=]1x3x640x640: what inputs get where the model leaves it open.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "shapes.h"
#include "verbs.h"

static const char OWN[] = "--shape"; // the `file` of shapes that have a name of their own to free

static bool parse_sizes(struct shape *out, const char *text)
{
	*out = (struct shape){0};
	for (const char *at = text; out->rank < SHAPE_MAX_RANK; at++) {
		char size[12] = "";
		size_t n = strcspn(at, "x");
		long long dim;
		memcpy(size, at, n < sizeof size ? n : 0);
		if (!str_to_int(size, &dim) || dim < 0 || dim > INT32_MAX)
			return false;
		out->dim[out->rank++] = dim;
		at += n;
		if (!*at)
			return true;
	}
	return false;
}

void shapes_add(struct options *o, const struct onnx_input_shape *more, int n)
{
	if (n == 0)
		return;
	o->shapes = xrealloc(o->shapes, ((size_t)o->study.n_shapes + (size_t)n) * sizeof *o->shapes);
	memcpy(o->shapes + o->study.n_shapes, more, (size_t)n * sizeof *more);
	o->study.n_shapes += n;
	o->study.shape = o->shapes;
}

enum status shapes_read(struct options *o, struct error *err)
{
	for (int i = 0; i < o->shape.n; i++) {
		char *name = NULL;
		const char *text = o->shape.at[i], *sizes = name_value(&name, text, true);
		struct onnx_input_shape at = {.name = name, .file = OWN};
		bool right = parse_sizes(&at.shape, sizes ? sizes : text);
		if (right)
			shapes_add(o, &at, 1);
		else
			free(name);
		if (!right)
			return error_set(err, STATUS_USAGE, "--shape %s: sizes like 1x3x640x640 are needed, or NAME=1x3x640x640", text);
	}
	return STATUS_OK;
}

void shapes_free(struct options *o)
{
	for (int i = 0; i < o->study.n_shapes && o->shapes; i++)
		if (o->shapes[i].file == OWN)
			free((char *)o->shapes[i].name);
	free(o->shapes);
	o->shapes = NULL;
}

// Has the input this shape, but for the batch, which may be left out?
static bool has_shape(const struct value *v, const struct shape *given)
{
	const struct shape *s = &v->shape;
	bool same = s->rank == given->rank || s->rank == given->rank + 1;
	for (int i = s->rank - 1; same && i > 0; i--)
		same = s->dim[i] == given->dim[i + given->rank - s->rank];
	return same && (s->rank != 1 || s->dim[0] == given->dim[0]);
}

static enum status check_one(const struct onnx_input_shape *given, const char *text, const struct graph *g, struct error *err)
{
	char shape[96];
	const struct value *v = NULL;
	for (int i = 0; i < g->n_inputs; i++) {
		const struct value *input = &g->value[g->input[i]];
		bool meant = given->name ? strcmp(given->name, input->name) == 0 : has_shape(input, &given->shape);
		if (meant || (!v && !given->name && i == g->n_inputs - 1))
			v = input;
	}
	if (!v)
		return error_set(err, STATUS_USAGE, "--shape %s: the model has no such input; its first is %s", text,
		    g->n_inputs ? g->value[g->input[0]].name : "(none)");
	shape_text(&v->shape, shape, sizeof shape);
	if (!has_shape(v, &given->shape))
		return error_set(err, STATUS_USAGE, "--shape %s: input %s has the shape of the data that are given, %s", text, v->name, shape);
	if (v->shape.rank == given->shape.rank && v->shape.rank > 1 && v->shape.dim[0] != given->shape.dim[0])
		log_warn("--shape %s: samples are computed one at a time, each as %s", text, shape);
	return STATUS_OK;
}

enum status shapes_check(const struct options *o, const struct graph *g, struct error *err)
{
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < o->shape.n; i++) // they come before those of a configuration
		st = check_one(&o->study.shape[i], o->shape.at[i], g, err);
	return st;
}
