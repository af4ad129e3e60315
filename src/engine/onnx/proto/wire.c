// The walk over an encoded message that comes before protobuf_c_message_unpack.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "wire.h"
#include "qtui/base/mem.h"

#define NESTING_MAX 64        // messages within messages, which protobuf-c follows on the stack
#define FIELDS_MAX (16 << 20) // 56 bytes each, at most, in protobuf-c's tables
#define MESSAGE_BYTES_MAX ((uint64_t)1 << 30)

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct walk {
	uint64_t fields, message_bytes;
	const char *trouble; // what is wrong
};

static bool fail(struct walk *w, const char *trouble)
{
	w->trouble = trouble;
	return false;
}

static bool read_varint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	*out = 0;
	for (int shift = 0; shift < 64 && *p < end; shift += 7) {
		uint8_t byte = *(*p)++;
		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

const char *wire_next(struct wire_field *f, const uint8_t **p, const uint8_t *end)
{
	static const uint8_t fixed[8] = {[WIRE_FIXED64] = 8, [WIRE_FIXED32] = 4};
	uint64_t tag, size = 0;
	f->start = *p;
	if (!read_varint(p, end, &tag) || tag >> 3 == 0 || tag >> 32)
		return "it is truncated or not an ONNX file";
	f->number = (unsigned)(tag >> 3);
	f->has_bytes = (tag & 7) == WIRE_BYTES;
	switch (tag & 7) {
	case WIRE_VARINT:
		f->data = *p;
		return read_varint(p, end, &size) ? NULL : "it is truncated";
	case WIRE_BYTES:
		if (!read_varint(p, end, &size) || size > (uint64_t)(end - *p))
			return "it is truncated or not an ONNX file";
		break;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		size = fixed[tag & 7];
		if (size > (uint64_t)(end - *p))
			return "it is truncated";
		break;
	default:
		return "it is not an ONNX file";
	}
	f->data = *p;
	f->size = (size_t)size;
	*p += size;
	return NULL;
}

static bool walk_message(
    struct walk *w, const ProtobufCMessageDescriptor *type, const uint8_t *p, const uint8_t *end, int depth);

static bool walk_field(
    struct walk *w, const ProtobufCMessageDescriptor *type, const uint8_t **p, const uint8_t *end, int depth)
{
	const ProtobufCFieldDescriptor *field;
	struct wire_field f;
	const char *trouble;
	if (++w->fields > FIELDS_MAX)
		return fail(w, "it has too many fields");
	trouble = wire_next(&f, p, end);
	if (trouble)
		return fail(w, trouble);
	field = f.has_bytes ? protobuf_c_message_descriptor_get_field(type, f.number) : NULL;
	if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE)
		return true;
	return walk_message(w, field->descriptor, f.data, f.data + f.size, depth + 1);
}

static bool walk_message(
    struct walk *w, const ProtobufCMessageDescriptor *type, const uint8_t *p, const uint8_t *end, int depth)
{
	w->message_bytes += type->sizeof_message;
	if (w->message_bytes > MESSAGE_BYTES_MAX)
		return fail(w, "it has too many parts");
	if (depth > NESTING_MAX)
		return fail(w, "it is nested too deeply");
	while (p < end)
		if (!walk_field(w, type, &p, end, depth))
			return false;
	return true;
}

enum status wire_check(
    const ProtobufCMessageDescriptor *type, const void *data, size_t size, const char *name, struct error *err)
{
	struct walk w = {0};
	if (walk_message(&w, type, data, (const uint8_t *)data + size, 0))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "%s cannot be read: %s", name, w.trouble);
}

// ---- unpacking

static void *take(void *refused, size_t size)
{
	void *p = mem_may_take(size) ? malloc(size) : NULL;
	*(bool *)refused |= !p;
	return p;
}

static void *take_sure(void *unused, size_t size)
{
	(void)unused;
	return xmalloc(size);
}

static void give(void *unused, void *p)
{
	(void)unused;
	free(p);
}

enum status wire_unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *type, const void *data, size_t size,
    const char *name, struct error *err)
{
	bool refused = false;
	ProtobufCAllocator memory = {take, give, &refused};
	*out = protobuf_c_message_unpack(type, &memory, size, data);
	if (*out)
		return STATUS_OK;
	if (refused)
		return error_set(err, STATUS_NOMEM, "%s: no memory to read it (%zu MiB)", name, size >> 20);
	return error_set(err, STATUS_FORMAT, "%s is not an ONNX %s", name, type->short_name);
}

ProtobufCMessage *wire_copy(const ProtobufCMessage *m)
{
	ProtobufCAllocator memory = {take_sure, give, NULL};
	size_t size = protobuf_c_message_get_packed_size(m);
	uint8_t *bytes = xmalloc(size);
	ProtobufCMessage *copy;
	protobuf_c_message_pack(m, bytes);
	copy = protobuf_c_message_unpack(m->descriptor, &memory, size, bytes);
	free(bytes);
	return copy;
}
