// A model as a file has it, in parts: large initializers are not copied, they may be all there is.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "write.h"

enum { MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5, TENSOR_RAW_DATA = 9 }; // numbers of fields, which may come in any order
enum { BYTES_FOLLOW = 2, LARGE = 1 << 16 }; // bytes; smaller elements are written with what is around them

static void add_varint(struct str *s, uint64_t v)
{
	char byte;
	for (; v > 127; v >>= 7) {
		byte = (char)((v & 127) | 128);
		str_addn(s, &byte, 1);
	}
	byte = (char)v;
	str_addn(s, &byte, 1);
}

static void add_field(struct str *s, int number, size_t size)
{
	add_varint(s, (uint64_t)((number << 3) | BYTES_FOLLOW));
	add_varint(s, size);
}

static void add_message(struct str *s, const ProtobufCMessage *m)
{
	uint8_t *bytes = xmalloc(protobuf_c_message_get_packed_size(m) + 1);
	size_t size = protobuf_c_message_pack(m, bytes);
	str_addn(s, (const char *)bytes, size);
	free(bytes);
}

// All of the tensor but its elements, which are to follow.
static void add_tensor(struct str *s, const Onnx__TensorProto *t)
{
	Onnx__TensorProto bare = *t;
	bare.has_raw_data = false;
	add_field(s, GRAPH_INITIALIZER, onnx__tensor_proto__get_packed_size(t));
	add_message(s, &bare.base);
	add_field(s, TENSOR_RAW_DATA, t->raw_data.len);
}

struct cut { // elements that belong behind so many bytes of the text
	size_t end;
	ProtobufCBinaryData elements;
};

static size_t add_model(struct str *s, struct cut *cut, const Onnx__ModelProto *m)
{
	Onnx__ModelProto rest = *m;
	Onnx__GraphProto graph = *m->graph;
	size_t n = 0;
	rest.graph = NULL;
	graph.n_initializer = 0;
	add_message(s, &rest.base);
	add_field(s, MODEL_GRAPH, onnx__graph_proto__get_packed_size(m->graph));
	add_message(s, &graph.base);
	for (size_t i = 0; i < m->graph->n_initializer; i++) {
		ProtobufCBinaryData elements = m->graph->initializer[i]->raw_data;
		add_tensor(s, m->graph->initializer[i]);
		if (elements.len < LARGE)
			str_addn(s, (const char *)elements.data, elements.len);
		else
			cut[n++] = (struct cut){s->len, elements};
	}
	return n;
}

enum status write_parts(const Onnx__ModelProto *m, write_sink *sink, void *arg, struct error *err)
{
	size_t size = onnx__model_proto__get_packed_size(m), at = 0;
	if (size > INT32_MAX)
		return error_set(err, STATUS_UNSUPPORTED, "the model needs %zu bytes; an ONNX file holds 2 GiB", size);
	struct cut *cut = xcalloc(m->graph->n_initializer + 1, sizeof *cut);
	struct str text = {0};
	size_t n = add_model(&text, cut, m);
	struct file_part *part = xcalloc(2 * n + 1, sizeof *part);
	for (size_t i = 0; i < n; i++) {
		part[2 * i] = (struct file_part){text.text + at, cut[i].end - at};
		part[2 * i + 1] = (struct file_part){cut[i].elements.data, cut[i].elements.len};
		at = cut[i].end;
	}
	part[2 * n] = (struct file_part){text.text + at, text.len - at};
	enum status s = sink(part, (int)(2 * n + 1), arg, err);
	str_done(&text);
	free(part);
	free(cut);
	return s;
}
