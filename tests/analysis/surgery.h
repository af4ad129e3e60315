// Plants faults in an ONNX file: reads it, changes weights, puts nodes between others,
// writes it into the test's directory. Everything lives in the arena of the surgery.
#ifndef TESTS_ANALYSIS_SURGERY_H
#define TESTS_ANALYSIS_SURGERY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support.h"
#include "onnx.pb-c.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"

struct surgery {
	struct arena *arena;
	Onnx__ModelProto *model; // of protobuf-c; arrays that grow are moved into the arena
	Onnx__GraphProto *graph;
	Onnx__NodeProto **own_nodes;      // what protobuf-c allocated, to be put back before it is freed
	Onnx__TensorProto **own_tensors;
	Onnx__ValueInfoProto **own_outputs;
	size_t n_nodes, n_tensors, n_outputs;
};

static inline void *surgery_grown(struct surgery *s, void *at, size_t n)
{
	enum { MORE = 16 };
	void *more = arena_alloc(s->arena, (n + MORE) * sizeof(void *));
	memcpy(more, at, n * sizeof(void *));
	return more;
}

static inline void surgery_open(struct surgery *s, const char *path)
{
	struct error err = {0};
	struct bytes file = {0};
	if (file_read(&file, path, SIZE_MAX, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	*s = (struct surgery){.arena = arena_new(), .model = onnx__model_proto__unpack(NULL, file.size, file.data)};
	bytes_done(&file);
	assert_non_null(s->model);
	s->graph = s->model->graph;
	s->own_nodes = s->graph->node;
	s->own_tensors = s->graph->initializer;
	s->own_outputs = s->graph->output;
	s->n_nodes = s->graph->n_node;
	s->n_tensors = s->graph->n_initializer;
	s->n_outputs = s->graph->n_output;
	s->graph->node = surgery_grown(s, s->own_nodes, s->n_nodes);
	s->graph->initializer = surgery_grown(s, s->own_tensors, s->n_tensors);
	s->graph->output = surgery_grown(s, s->own_outputs, s->n_outputs);
}

// The elements of an initializer.
static inline float *surgery_weights(struct surgery *s, const char *name)
{
	for (size_t i = 0; i < s->graph->n_initializer; i++) {
		Onnx__TensorProto *t = s->graph->initializer[i];
		if (strcmp(t->name, name) != 0)
			continue;
		assert_true(t->has_raw_data);
		return (float *)(void *)t->raw_data.data;
	}
	fail_msg("no initializer %s", name);
	return NULL;
}

static inline char *surgery_text(struct surgery *s, const char *text)
{
	return arena_strdup(s->arena, text);
}

static inline Onnx__TensorProto *surgery_tensor(struct surgery *s, const char *name, int type, int rank, const int64_t *dim, const void *data,
    size_t size)
{
	Onnx__TensorProto *t = arena_alloc(s->arena, sizeof *t);
	onnx__tensor_proto__init(t);
	t->name = surgery_text(s, name);
	t->has_data_type = t->has_raw_data = true;
	t->data_type = type;
	t->n_dims = (size_t)rank;
	t->dims = arena_alloc(s->arena, (size_t)rank * sizeof *t->dims + 1);
	for (int i = 0; i < rank; i++)
		t->dims[i] = dim[i];
	t->raw_data.len = size;
	t->raw_data.data = arena_alloc(s->arena, size);
	memcpy(t->raw_data.data, data, size);
	s->graph->initializer[s->graph->n_initializer++] = t;
	return t;
}

static inline void surgery_floats(struct surgery *s, const char *name, int rank, const int64_t *dim, const float *x)
{
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= dim[i];
	surgery_tensor(s, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, dim, x, (size_t)n * sizeof *x);
}

// Inputs in one text, parted by blanks.
static inline void surgery_node(struct surgery *s, const char *op, const char *name, const char *inputs, const char *output)
{
	Onnx__NodeProto *n = arena_alloc(s->arena, sizeof *n);
	char *words = surgery_text(s, inputs), *save = NULL;
	onnx__node_proto__init(n);
	n->op_type = surgery_text(s, op);
	n->name = surgery_text(s, name);
	n->input = arena_alloc(s->arena, 8 * sizeof *n->input);
	n->output = arena_alloc(s->arena, sizeof *n->output);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		n->input[n->n_input++] = w;
	n->output[n->n_output++] = surgery_text(s, output);
	s->graph->node[s->graph->n_node++] = n;
}

// A normalization of 12 channels that is written out: the variance of one of them rounds to 0 with what is added against
// that. It divides by its root, or multiplies by its power of -0.5.
static inline void surgery_normalization(struct surgery *s, const char *input, bool raised, const char *output)
{
	static const int64_t one = 1, channels[] = {12, 1, 1};
	static const float epsilon = 1e-5f, power = -0.5f, gain[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.03f};
	char inputs[200];
	snprintf(inputs, sizeof inputs, "%s gain", input);
	surgery_floats(s, "epsilon", 1, &one, &epsilon);
	surgery_floats(s, "power", 1, &one, &power);
	surgery_floats(s, "gain", 3, channels, gain);
	surgery_floats(s, "gamma", 1, &one, &gain[0]);
	surgery_node(s, "Mul", "input", inputs, "x");
	surgery_node(s, "GlobalAveragePool", "mean", "x", "x_mean");
	surgery_node(s, "Sub", "distance", "x x_mean", "d");
	surgery_node(s, "Mul", "square", "d d", "d2");
	surgery_node(s, "GlobalAveragePool", "variance", "d2", "v");
	surgery_node(s, "Add", "positive", "v epsilon", "v_positive");
	surgery_node(s, raised ? "Pow" : "Sqrt", "root", raised ? "v_positive power" : "v_positive", "sd");
	surgery_node(s, raised ? "Mul" : "Div", "normal", "d sd", "n");
	surgery_node(s, "Mul", "scaled", "n gamma", output);
}

static inline void surgery_output(struct surgery *s, const char *name)
{
	Onnx__ValueInfoProto *v = arena_alloc(s->arena, sizeof *v);
	onnx__value_info_proto__init(v);
	v->name = surgery_text(s, name);
	s->graph->output[s->graph->n_output++] = v;
}

// Whoever reads `from` reads `to` instead: for nodes that are put between. Call it before they are added.
static inline void surgery_redirect(struct surgery *s, const char *from, const char *to)
{
	char *moved = surgery_text(s, to);
	for (size_t i = 0; i < s->n_nodes; i++)
		for (size_t k = 0; k < s->graph->node[i]->n_input; k++)
			if (strcmp(s->graph->node[i]->input[k], from) == 0) {
				free(s->graph->node[i]->input[k]);
				s->graph->node[i]->input[k] = strdup(moved); // protobuf-c will free it
			}
}

// Writes the file and ends the surgery; the path stays until the program ends.
static inline const char *surgery_close(struct surgery *s, const char *name)
{
	size_t size = onnx__model_proto__get_packed_size(s->model);
	uint8_t *data = malloc(size);
	onnx__model_proto__pack(s->model, data);
	const char *path = support_temp_file(name, data, size);
	free(data);
	s->graph->node = s->own_nodes;
	s->graph->initializer = s->own_tensors;
	s->graph->output = s->own_outputs;
	s->graph->n_node = s->n_nodes;
	s->graph->n_initializer = s->n_tensors;
	s->graph->n_output = s->n_outputs;
	onnx__model_proto__free_unpacked(s->model, NULL);
	arena_free(&s->arena);
	return path;
}

#endif
