// Files beside a model that hold its large tensors (external data). Each is mapped once; the list owns the mappings.
#ifndef QTUI_ENGINE_ONNX_PROTO_EXTERNAL_H
#define QTUI_ENGINE_ONNX_PROTO_EXTERNAL_H

#include <stdint.h>
#include "qtui/base/file.h"

struct externals;
// `model` are the bytes of the model itself, borrowed.
struct externals *externals_new(const char *model_path, const struct bytes *model);
void externals_free(struct externals **e);
// The `size` bytes at `offset` of the file `location`, which must lie in the directory of the model, or of what
// its name links to, or below.
MUST_CHECK enum status externals_get(
    const uint8_t **out, struct externals *e, const char *location, uint64_t offset, uint64_t size, struct error *err);
MUST_CHECK enum status externals_intact(const struct externals *e, struct error *err); // see bytes_intact; NULL is intact
// What of the model's file or of the others has been read, and will hardly be again, leaves memory.
void externals_forget(const struct externals *e, const void *data, size_t size);

#endif
