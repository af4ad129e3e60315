// What protobuf-c unpacks is the file without the raw_data of large initializers, which then point into the file.
#include <stdlib.h>
#include <string.h>
#include "model_file.h"
#include "qtui/base/mem.h"
#include "wire.h"

enum { MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5, TENSOR_RAW_DATA = 9 }; // numbers of fields in onnx.proto
#define LARGE ((size_t)64 << 10)

struct payload {
	const uint8_t *data;
	size_t size; // 0: it is in the slim copy
};
struct slim {
	uint8_t *bytes;
	size_t n, cap;
	struct payload *of; // [n_initializers]
	size_t n_initializers, cap_initializers;
};

static void add(struct slim *s, const void *bytes, size_t size)
{
	s->bytes = xgrow(s->bytes, &s->cap, s->n + size, 1);
	memcpy(s->bytes + s->n, bytes, size);
	s->n += size;
}

enum { LENGTH_BYTES = 5 }; // with leading zeros, so that the length may be written when it is known

static void begin_message(struct slim *s, unsigned number, size_t *at)
{
	uint8_t head[1 + LENGTH_BYTES] = {(uint8_t)(number << 3 | 2)};
	add(s, head, sizeof head);
	*at = s->n;
}

static void end_message(struct slim *s, size_t at)
{
	uint64_t size = s->n - at;
	for (int i = 0; i < LENGTH_BYTES; i++, size >>= 7)
		s->bytes[at - LENGTH_BYTES + (size_t)i] = (uint8_t)((size & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

// Of a field that comes twice the last one counts.
static struct payload payload_of(const uint8_t *p, const uint8_t *end)
{
	struct payload last = {0};
	struct wire_field f;
	while (p < end && !wire_next(&f, &p, end))
		if (f.has_bytes && f.number == TENSOR_RAW_DATA)
			last = (struct payload){f.data, f.size};
	return last.size >= LARGE ? last : (struct payload){0};
}

static void slim_tensor(struct slim *s, const uint8_t *p, const uint8_t *end)
{
	struct payload payload = payload_of(p, end);
	struct wire_field f;
	while (p < end && !wire_next(&f, &p, end))
		if (!payload.size || !f.has_bytes || f.number != TENSOR_RAW_DATA)
			add(s, f.start, (size_t)(p - f.start));
	s->of = xgrow(s->of, &s->cap_initializers, s->n_initializers + 1, sizeof *s->of);
	s->of[s->n_initializers++] = payload;
}

static void slim_graph(struct slim *s, const uint8_t *p, const uint8_t *end)
{
	struct wire_field f;
	size_t at;
	while (p < end && !wire_next(&f, &p, end)) {
		if (!f.has_bytes || f.number != GRAPH_INITIALIZER) {
			add(s, f.start, (size_t)(p - f.start));
			continue;
		}
		begin_message(s, GRAPH_INITIALIZER, &at);
		slim_tensor(s, f.data, f.data + f.size);
		end_message(s, at);
	}
}

static void slim_model(struct slim *s, const uint8_t *p, const uint8_t *end)
{
	struct wire_field f;
	size_t at;
	while (p < end && !wire_next(&f, &p, end)) {
		if (!f.has_bytes || f.number != MODEL_GRAPH) {
			add(s, f.start, (size_t)(p - f.start));
			continue;
		}
		begin_message(s, MODEL_GRAPH, &at);
		slim_graph(s, f.data, f.data + f.size);
		end_message(s, at);
	}
}

static void lend(struct model_file *m, const struct slim *s)
{
	m->lent = xcalloc(s->n_initializers + 1, sizeof *m->lent);
	for (size_t i = 0; i < s->n_initializers; i++) {
		Onnx__TensorProto *t = m->proto->graph->initializer[i];
		if (!s->of[i].size)
			continue;
		t->has_raw_data = true;
		t->raw_data = (ProtobufCBinaryData){s->of[i].size, (uint8_t *)s->of[i].data};
		m->lent[m->n_lent++] = t;
	}
}

enum status model_file_unpack(struct model_file *out, const struct bytes *file, const char *path, struct error *err)
{
	struct slim slim = {0};
	enum status s = wire_check(&onnx__model_proto__descriptor, file->data, file->size, path, err);
	*out = (struct model_file){0};
	if (s)
		return s;
	slim_model(&slim, file->data, file->data + file->size);
	s = wire_unpack((ProtobufCMessage **)&out->proto, &onnx__model_proto__descriptor, slim.bytes, slim.n, path, err);
	if (!s && (!out->proto->graph || out->proto->graph->n_initializer != slim.n_initializers))
		s = error_set(err, STATUS_FORMAT, "%s is not an ONNX model", path);
	if (!s)
		lend(out, &slim);
	free(slim.bytes);
	free(slim.of);
	if (s)
		model_file_done(out);
	return s;
}

void model_file_done(struct model_file *m)
{
	for (size_t i = 0; i < m->n_lent; i++)
		m->lent[i]->raw_data = (ProtobufCBinaryData){0};
	free(m->lent);
	if (m->proto)
		onnx__model_proto__free_unpacked(m->proto, NULL);
	*m = (struct model_file){0};
}
