// What protobuf-c does not check: nesting (it recurses without a limit) and how much memory a small file would become.
#ifndef QTUI_ENGINE_ONNX_PROTO_WIRE_H
#define QTUI_ENGINE_ONNX_PROTO_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>
#include "qtui/base/error.h"

struct wire_field {
	unsigned number;
	bool has_bytes;       // a message, a text or bytes: `size` of them at `data`
	const uint8_t *start; // its tag
	const uint8_t *data;
	size_t size;
};
// The field at *p, which moves behind it. NULL, or what is wrong.
const char *wire_next(struct wire_field *f, const uint8_t **p, const uint8_t *end);

// Walks the encoded message `data` of type `type`; `name` is the file, for the message.
MUST_CHECK enum status wire_check(
    const ProtobufCMessageDescriptor *type, const void *data, size_t size, const char *name, struct error *err);

// Unpacks what wire_check has passed; the caller frees it with protobuf_c_message_free_unpacked(m, NULL).
// STATUS_FORMAT: it is no such message; STATUS_NOMEM.
MUST_CHECK enum status wire_unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *type, const void *data, size_t size,
    const char *name, struct error *err);
ProtobufCMessage *wire_copy(const ProtobufCMessage *m); // likewise freed

#endif
