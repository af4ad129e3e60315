// Small ONNX files for tests, built message by message. Everything lives in the case's arena.
#ifndef TESTS_ENGINE_ONNX_CASE_H
#define TESTS_ENGINE_ONNX_CASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "onnx.pb-c.h"
#include "qtui/base/mem.h"
#include "qtui/engine/onnx.h"
#include "support.h"

#define MANY 64

struct onnx_case {
	struct arena *arena;
	Onnx__ModelProto model;
	Onnx__OperatorSetIdProto opset, other, *opsets[2];
	Onnx__GraphProto *graph;
	struct graph *loaded;
	struct error err;
};

static inline void *case_new(struct onnx_case *c, size_t size)
{
	return arena_alloc(c->arena, size);
}

static inline char *case_text(struct onnx_case *c, const char *s)
{
	return arena_strdup(c->arena, s);
}

static inline Onnx__GraphProto *case_graph(struct onnx_case *c)
{
	Onnx__GraphProto *g = case_new(c, sizeof *g);
	onnx__graph_proto__init(g);
	g->node = case_new(c, MANY * sizeof *g->node);
	g->initializer = case_new(c, MANY * sizeof *g->initializer);
	g->input = case_new(c, MANY * sizeof *g->input);
	g->output = case_new(c, MANY * sizeof *g->output);
	return g;
}

static inline void case_init(struct onnx_case *c)
{
	*c = (struct onnx_case){.arena = arena_new()};
	onnx__model_proto__init(&c->model);
	onnx__operator_set_id_proto__init(&c->opset);
	c->opset.has_version = true;
	c->opset.version = 13;
	c->opsets[0] = &c->opset;
	c->model.opset_import = c->opsets;
	c->model.n_opset_import = 1;
	c->model.has_ir_version = true;
	c->model.ir_version = 8;
	c->graph = c->model.graph = case_graph(c);
}

// A domain besides ONNX's own, which the model's operators may have.
static inline void case_domain(struct onnx_case *c, const char *domain)
{
	onnx__operator_set_id_proto__init(&c->other);
	c->other.domain = case_text(c, domain);
	c->other.has_version = true;
	c->other.version = 1;
	c->opsets[1] = &c->other;
	c->model.n_opset_import = 2;
}

static inline void case_done(struct onnx_case *c)
{
	graph_free(&c->loaded);
	arena_free(&c->arena);
}

// A dimension below 0 is symbolic: -1 "d1", -2 "d2" ...
static inline Onnx__ValueInfoProto *case_value(
    struct onnx_case *c, const char *name, int type, int rank, const int64_t *dims)
{
	Onnx__ValueInfoProto *v = case_new(c, sizeof *v);
	Onnx__TensorShapeProto *shape = case_new(c, sizeof *shape);
	char symbol[8] = "d0";
	onnx__value_info_proto__init(v);
	onnx__tensor_shape_proto__init(shape);
	v->name = case_text(c, name);
	v->type = case_new(c, sizeof *v->type);
	onnx__type_proto__init(v->type);
	v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	v->type->tensor_type = case_new(c, sizeof *v->type->tensor_type);
	onnx__type_proto__tensor__init(v->type->tensor_type);
	v->type->tensor_type->has_elem_type = true;
	v->type->tensor_type->elem_type = type;
	v->type->tensor_type->shape = shape;
	shape->n_dim = (size_t)rank;
	shape->dim = case_new(c, ((size_t)rank + 1) * sizeof *shape->dim);
	for (int i = 0; i < rank; i++) {
		shape->dim[i] = case_new(c, sizeof *shape->dim[i]);
		onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
		symbol[1] = (char)('0' - dims[i]);
		if (dims[i] < 0) {
			shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
			shape->dim[i]->dim_param = case_text(c, symbol);
		} else {
			shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
			shape->dim[i]->dim_value = dims[i];
		}
	}
	return v;
}

#define DIMS(...)                                                                                                      \
	(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])                                   \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}
#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define INT64 ONNX__TENSOR_PROTO__DATA_TYPE__INT64

static inline void case_input(struct onnx_case *c, const char *name, int type, int rank, const int64_t *dims)
{
	c->graph->input[c->graph->n_input++] = case_value(c, name, type, rank, dims);
}

static inline void case_output(struct onnx_case *c, Onnx__GraphProto *g, const char *name)
{
	g->output[g->n_output++] = case_value(c, name, FLOAT, 0, NULL);
}

static inline Onnx__TensorProto *case_tensor(
    struct onnx_case *c, const char *name, int type, int rank, const int64_t *dims)
{
	Onnx__TensorProto *t = case_new(c, sizeof *t);
	onnx__tensor_proto__init(t);
	t->name = case_text(c, name);
	t->has_data_type = true;
	t->data_type = type;
	t->n_dims = (size_t)rank;
	t->dims = arena_memdup(c->arena, dims, (size_t)rank * sizeof(int64_t));
	return t;
}

static inline void case_raw(struct onnx_case *c, Onnx__TensorProto *t, const void *data, size_t size)
{
	t->has_raw_data = true;
	t->raw_data.len = size;
	t->raw_data.data = arena_memdup(c->arena, data, size);
}

// An initializer of any type, whose bytes are taken as they are.
static inline Onnx__TensorProto *case_const(
    struct onnx_case *c, const char *name, int type, int rank, const int64_t *dims, const void *data, size_t size)
{
	Onnx__TensorProto *t = case_tensor(c, name, type, rank, dims);
	case_raw(c, t, data, size);
	return c->graph->initializer[c->graph->n_initializer++] = t;
}

static inline Onnx__TensorProto *case_floats(
    struct onnx_case *c, const char *name, int rank, const int64_t *dims, const float *v)
{
	size_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= (size_t)dims[i];
	return case_const(c, name, FLOAT, rank, dims, v, n * sizeof(float));
}

static inline Onnx__TensorProto *case_ints(struct onnx_case *c, const char *name, int n, const int64_t *v)
{
	return case_const(c, name, INT64, 1, (int64_t[]){n}, v, (size_t)n * sizeof(int64_t));
}

// "a b  c" into names; "-" is an input that is left out.
static inline size_t case_words(struct onnx_case *c, char **out, const char *words)
{
	char *copy = case_text(c, words), *save, *word;
	size_t n = 0;
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		out[n++] = strcmp(word, "-") ? word : case_text(c, "");
	return n;
}

static inline Onnx__NodeProto *case_node_in(
    struct onnx_case *c, Onnx__GraphProto *g, const char *op, const char *name, const char *in, const char *out)
{
	Onnx__NodeProto *n = case_new(c, sizeof *n);
	onnx__node_proto__init(n);
	n->op_type = case_text(c, op);
	n->name = case_text(c, name);
	n->input = case_new(c, MANY * sizeof(char *));
	n->output = case_new(c, MANY * sizeof(char *));
	n->attribute = case_new(c, MANY * sizeof *n->attribute);
	n->n_input = case_words(c, n->input, in);
	n->n_output = case_words(c, n->output, out);
	g->node[g->n_node++] = n;
	return n;
}

static inline Onnx__NodeProto *case_node(
    struct onnx_case *c, const char *op, const char *name, const char *in, const char *out)
{
	return case_node_in(c, c->graph, op, name, in, out);
}

// TENSOR -> TENSOR_quantize -> TENSOR_q -> TENSOR_dequantize -> `to`. Returns the zero point TENSOR_zero, of uint8.
static inline Onnx__TensorProto *case_pair(struct onnx_case *c, const char *tensor, const char *to, float scale, int zero)
{
	char text[5][64], line[200];
	static const char *const suffix[] = {"scale", "zero", "q", "quantize", "dequantize"};
	for (int i = 0; i < 5; i++)
		snprintf(text[i], sizeof text[i], "%s_%s", tensor, suffix[i]);
	case_floats(c, text[0], 0, NULL, &scale);
	snprintf(line, sizeof line, "%s %s %s", tensor, text[0], text[1]);
	case_node(c, "QuantizeLinear", text[3], line, text[2]);
	snprintf(line, sizeof line, "%s %s %s", text[2], text[0], text[1]);
	case_node(c, "DequantizeLinear", text[4], line, to);
	return case_const(c, text[1], ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, 0, NULL, &(uint8_t){(uint8_t)zero}, 1);
}

static inline Onnx__AttributeProto *case_attr(struct onnx_case *c, Onnx__NodeProto *n, const char *name, int type)
{
	Onnx__AttributeProto *a = case_new(c, sizeof *a);
	onnx__attribute_proto__init(a);
	a->name = case_text(c, name);
	a->has_type = true;
	a->type = (Onnx__AttributeProto__AttributeType)type;
	n->attribute[n->n_attribute++] = a;
	return a;
}

static inline void case_attr_int(struct onnx_case *c, Onnx__NodeProto *n, const char *name, int64_t v)
{
	Onnx__AttributeProto *a = case_attr(c, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
	a->has_i = true;
	a->i = v;
}

static inline void case_attr_float(struct onnx_case *c, Onnx__NodeProto *n, const char *name, float v)
{
	Onnx__AttributeProto *a = case_attr(c, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
	a->has_f = true;
	a->f = v;
}

static inline void case_attr_ints(struct onnx_case *c, Onnx__NodeProto *n, const char *name, int count, const int64_t *v)
{
	Onnx__AttributeProto *a = case_attr(c, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
	a->n_ints = (size_t)count;
	a->ints = case_new(c, (size_t)count * sizeof *a->ints);
	memcpy(a->ints, v, a->n_ints * sizeof *a->ints);
}

static inline void case_attr_text(struct onnx_case *c, Onnx__NodeProto *n, const char *name, const char *v)
{
	Onnx__AttributeProto *a = case_attr(c, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
	a->has_s = true;
	a->s.data = (uint8_t *)case_text(c, v);
	a->s.len = strlen(v);
}

static inline void case_attr_graph(struct onnx_case *c, Onnx__NodeProto *n, const char *name, Onnx__GraphProto *g)
{
	case_attr(c, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH)->g = g;
}

static inline const char *case_save(struct onnx_case *c, const char *file)
{
	size_t size = onnx__model_proto__get_packed_size(&c->model);
	uint8_t *packed = case_new(c, size + 1);
	onnx__model_proto__pack(&c->model, packed);
	return support_temp_file(file, packed, size);
}

// Writes the file and ends the case.
static inline const char *case_finish(struct onnx_case *c, const char *file)
{
	const char *path = case_save(c, file);
	case_done(c);
	return path;
}

static inline enum status case_load_with(struct onnx_case *c, const struct onnx_options *opt)
{
	graph_free(&c->loaded);
	return onnx_load(&c->loaded, case_save(c, "case.onnx"), opt, &c->err);
}

static inline void case_load(struct onnx_case *c)
{
	if (case_load_with(c, NULL))
		fail_msg("%s", c->err.text);
}

// Begins with an image x of 4 channels of 6x6 and a convolution of it, by weights that are apart from each other.
static inline void case_begin_conv(struct onnx_case *c, const char *output)
{
	float w[4 * 4];
	for (int i = 0; i < 16; i++)
		w[i] = (float)((i * 37 + 11) % 101) / 101 - 0.4f;
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(c, "w", DIMS(4, 4, 1, 1), w);
	case_node(c, "Conv", "conv", "x w", output);
}

// What was loaded, written and loaded again.
static inline void case_rewrite(struct onnx_case *c)
{
	const char *file = support_temp("again.onnx");
	struct graph *again = NULL;
	if (onnx_save_tuned(file, c->loaded, NULL, &c->err) || onnx_load(&again, file, NULL, &c->err))
		fail_msg("%s", c->err.text);
	graph_free(&c->loaded);
	c->loaded = again;
}

static inline void case_refused(struct onnx_case *c, enum status status, const char *text)
{
	assert_int_equal(case_load_with(c, NULL), status);
	assert_null(c->loaded);
	if (!strstr(c->err.text, text))
		fail_msg("'%s' is not in: %s", text, c->err.text);
}

#endif
