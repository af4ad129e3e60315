// Model files whose large weights stay in the file: the message has to be what protobuf-c makes of the same bytes.
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/onnx/proto/model_file.h"
#include "qtui/base/mem.h"
#include "support.h"

enum { LARGE = 70000, SMALL = 8 };

struct wire {
	uint8_t *bytes;
	size_t n, cap;
};

static void add(struct wire *w, const void *bytes, size_t n)
{
	w->bytes = xgrow(w->bytes, &w->cap, w->n + n, 1);
	memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
}

static void add_field(struct wire *w, unsigned number, const void *bytes, size_t n)
{
	uint8_t head[8] = {(uint8_t)(number << 3 | 2)};
	size_t at = 1;
	for (size_t rest = n; at == 1 || rest; rest >>= 7)
		head[at++] = (uint8_t)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
	add(w, head, at);
	add(w, bytes, n);
}

// Raw data of these sizes, one field behind the other, and a name between.
static void add_initializer(struct wire *graph, const size_t *size, int n)
{
	struct wire t = {0};
	uint8_t *raw = xcalloc(LARGE, 1);
	for (int i = 0; i < n; i++) {
		memset(raw, i + 1, LARGE);
		add_field(&t, 9, raw, size[i]);
		add_field(&t, 8, "name", 4);
	}
	add_field(graph, 5, t.bytes, t.n);
	free(t.bytes);
	free(raw);
}

static void check_same(const struct wire *w)
{
	struct bytes file = {.data = w->bytes, .size = w->n};
	struct error err = {0};
	struct model_file m;
	Onnx__ModelProto *plain = onnx__model_proto__unpack(NULL, w->n, w->bytes);
	assert_non_null(plain);
	assert_int_equal(model_file_unpack(&m, &file, "model", &err), STATUS_OK);
	assert_int_equal(m.proto->graph->n_initializer, plain->graph->n_initializer);
	for (size_t i = 0; i < plain->graph->n_initializer; i++) {
		const Onnx__TensorProto *a = m.proto->graph->initializer[i], *b = plain->graph->initializer[i];
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->has_raw_data, b->has_raw_data);
		assert_int_equal(a->raw_data.len, b->raw_data.len);
		assert_memory_equal(a->raw_data.data, b->raw_data.data, b->raw_data.len);
		bool in_file = a->raw_data.data >= w->bytes && a->raw_data.data < w->bytes + w->n;
		assert_int_equal(in_file, a->raw_data.len == LARGE);
	}
	onnx__model_proto__free_unpacked(plain, NULL);
	model_file_done(&m);
}

void test_model_file__large_weights_are_bytes_of_the_file(void **state)
{
	static const size_t once[] = {LARGE}, small[] = {SMALL}, grows[] = {SMALL, LARGE}, shrinks[] = {LARGE, SMALL}, larger[] = {LARGE, LARGE};
	struct wire graph = {0}, model = {0};
	add_initializer(&graph, small, 1);
	add_initializer(&graph, once, 1);
	add_initializer(&graph, grows, 2);
	add_field(&graph, 2, "graph", 5);
	add_initializer(&graph, shrinks, 2);
	add_initializer(&graph, larger, 2);
	add_field(&model, 7, graph.bytes, graph.n);
	add_field(&model, 2, "somebody", 8);
	check_same(&model);
	add_field(&model, 7, graph.bytes, graph.n); // a second graph is joined to the first
	check_same(&model);
	free(graph.bytes);
	free(model.bytes);
}
