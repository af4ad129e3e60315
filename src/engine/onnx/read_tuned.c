// Tuned constants from a float model: those of the nodes that its metadata lists.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/onnx.h"

// The file's constant, if it can stand in for ours.
static bool take_constant(struct tensor *out, struct key *k, const struct graph *g, int ours, const struct graph *file, int theirs)
{
	const struct tensor *x = ours >= 0 ? g->value[ours].constant : NULL, *y = theirs >= 0 ? file->value[theirs].constant : NULL;
	struct error ignored;
	if (!x || !y || y->type != DT_F32 || x->type != DT_F32 || !shape_equal(&x->shape, &y->shape) || tensor_copy(out, y, &ignored))
		return false;
	*k = tensor_key(out);
	return true;
}

// ",BITS:ZERO" for each scale, as write.c has it, or nothing.
static bool read_scales(struct tuned *one, const char *text)
{
	int64_t n = 0;
	struct error ignored;
	for (const char *at = text; *at; at++)
		n += *at == ',';
	one->scale = (struct tensor){.type = DT_F32, .shape = shape_of(1, &n)};
	one->zero = (struct tensor){.type = DT_I32, .shape = shape_of(1, &n)};
	if (n == 0)
		return *text == '\0';
	if (tensor_alloc(&one->scale, NULL, &ignored) || tensor_alloc(&one->zero, NULL, &ignored))
		return false;
	for (int64_t i = 0; i < n; i++) {
		unsigned bits;
		int zero, used = 0;
		if (sscanf(text, ",%8x:%d%n", &bits, &zero, &used) != 2)
			return false;
		float *scale = (float *)one->scale.data + i;
		memcpy(scale, &(uint32_t){bits}, sizeof *scale);
		((int32_t *)one->zero.data)[i] = zero;
		if (!(*scale > 0) || !isfinite(*scale))
			return false;
		text += used;
	}
	return *text == '\0';
}

static bool read_grid(struct tuned *one, char *text)
{
	char *scales = text + strcspn(text, ",");
	bool good = read_scales(one, scales);
	*scales = '\0';
	return good && key_parse(&one->grid, text);
}

static enum status read_node(struct tuning *t, const struct graph *g, const struct graph *file, char *line, struct error *err)
{
	char *name = strchr(line, ' ');
	struct tuned one = {0};
	if (name)
		*name++ = '\0';
	int ours = name ? graph_find_node(g, name) : -1, theirs = name ? graph_find_node(file, name) : -1;
	if (ours < 0 || theirs < 0 || !read_grid(&one, line)) {
		tuned_drop(&one);
		return error_set(err, STATUS_FORMAT, "it was tuned for another model: %s", name ? name : line);
	}
	const struct node *a = &g->node[ours], *b = &file->node[theirs];
	one.node = ours;
	bool fits = a->n_in > 1 && b->n_in > 1 && take_constant(&one.weight, &one.weight_key, g, a->in[1], file, b->in[1]);
	bool bias = a->n_in > 2 && a->in[2] >= 0 && g->value[a->in[2]].constant;
	if (fits && bias && (b->n_in < 3 || !take_constant(&one.bias, &one.bias_key, g, a->in[2], file, b->in[2])))
		fits = false;
	if (fits) {
		tuning_put(t, &one);
		return STATUS_OK;
	}
	tuned_drop(&one);
	return error_set(err, STATUS_FORMAT, "node %s has other weights than the model's", name);
}

enum status onnx_read_tuned(struct tuning **out, const struct graph *g, const char *path, struct error *err)
{
	struct graph *file = NULL;
	struct tuning *t = tuning_new();
	enum status s = onnx_load(&file, path, &(struct onnx_options){0}, err);
	const char *list = s ? NULL : graph_metadata(file, ONNX_TUNED);
	char *copy = xstrdup(list), *rest = NULL;
	if (!s && !list)
		s = error_set(err, STATUS_FORMAT, "%s holds no tuned weights", path);
	for (char *line = copy ? strtok_r(copy, "\n", &rest) : NULL; line && !s; line = strtok_r(NULL, "\n", &rest))
		if ((s = read_node(t, g, file, line, err)))
			error_prefix(err, "%s", path);
	if (s)
		tuning_drop(&t);
	else
		*out = t;
	free(copy);
	graph_free(&file);
	return s;
}
