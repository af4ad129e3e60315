// A model as a file has it, in parts: large initializers are not copied, they may be all there is; codes are made
// where the file has them, of one initializer at a time.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
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

static size_t largest(const Onnx__ModelProto *m, const struct late *late, size_t n)
{
	size_t most = 0;
	for (size_t i = 0; i < n; i++)
		if (m->graph->initializer[late[i].initializer]->raw_data.len > most)
			most = m->graph->initializer[late[i].initializer]->raw_data.len;
	return most;
}

struct making { // of an initializer among the late ones
	const struct late *late;
	void *room; // for the largest of them
};

static const void *make(const void *arg)
{
	const struct making *a = arg;
	const struct late *l = a->late;
	struct tensor made = {.type = l->type, .shape = l->from->shape, .data = a->room};
	if (l->type == DT_F32)
		fake_quantize(&made, l->from, l->quant, 1);
	else
		quantize(&made, l->from, l->quant, 1);
	int32_t zero = l->quant->zero ? l->quant->zero[0] : 0;
	for (int64_t i = 0; l->type == DT_I32 && i < tensor_count(&made); i++)
		((int32_t *)made.data)[i] -= zero;
	return made.data;
}

struct cut { // elements that belong behind so many bytes of the text
	size_t end;
	struct file_part elements;
};

static void add_elements(struct str *s, const struct file_part *p)
{
	str_addn(s, p->make ? p->make(p->arg) : p->data, p->size);
}

// `making`: of each initializer; without `late`: it has its elements.
static size_t add_model(struct str *s, struct cut *cut, const Onnx__ModelProto *m, const struct making *making)
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
		const ProtobufCBinaryData *raw = &m->graph->initializer[i]->raw_data;
		struct file_part elements = {.data = raw->data, .size = raw->len, .make = making[i].late ? make : NULL, .arg = &making[i]};
		add_tensor(s, m->graph->initializer[i]);
		if (elements.size < LARGE)
			add_elements(s, &elements);
		else
			cut[n++] = (struct cut){s->len, elements};
	}
	return n;
}

static enum status write_model(const char *path, const Onnx__ModelProto *m, const struct making *making, struct error *err)
{
	struct cut *cut = xcalloc(m->graph->n_initializer + 1, sizeof *cut);
	struct str text = {0};
	size_t n = add_model(&text, cut, m, making), at = 0;
	struct file_part *part = xcalloc(2 * n + 1, sizeof *part);
	for (size_t i = 0; i < n; i++) {
		part[2 * i] = (struct file_part){.data = text.text + at, .size = cut[i].end - at};
		part[2 * i + 1] = cut[i].elements;
		at = cut[i].end;
	}
	part[2 * n] = (struct file_part){.data = text.text + at, .size = text.len - at};
	enum status s = file_write_parts(path, part, (int)(2 * n + 1), err);
	str_done(&text);
	free(part);
	free(cut);
	return s;
}

enum status write_parts(const char *path, const Onnx__ModelProto *m, const struct late *late, size_t n_late, struct error *err)
{
	size_t size = onnx__model_proto__get_packed_size(m), room = largest(m, late, n_late);
	if (size > INT32_MAX)
		return error_set(err, STATUS_UNSUPPORTED, "the model needs %zu bytes; an ONNX file holds 2 GiB", size);
	void *codes = mem_try_array(room + 1, 1);
	if (!codes)
		return error_set(err, STATUS_NOMEM, "no memory for the %zu bytes of the largest quantized weight", room);
	struct making *making = xcalloc(m->graph->n_initializer + 1, sizeof *making);
	for (size_t i = 0; i < n_late; i++)
		making[late[i].initializer] = (struct making){&late[i], codes};
	enum status s = write_model(path, m, making, err);
	free(making);
	free(codes);
	return s;
}
