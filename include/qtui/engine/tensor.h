// Tensors: a shape, an element type, a layout and bytes. A tensor holds one count of its buf, which tensor_drop gives
// back; without a buf its data are borrowed and outlive it. tensor_share makes a second holder of the same bytes.
#ifndef QTUI_ENGINE_TENSOR_H
#define QTUI_ENGINE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "qtui/base/error.h"
#include "qtui/base/mem.h"

// float16, bfloat16, double and the floats of 8 and 4 bits of a model become DT_F32 on import: the engine has one
// float type.
enum dtype { DT_NONE, DT_F32, DT_I8, DT_U8, DT_I16, DT_U16, DT_I32, DT_U32, DT_I64, DT_U64, DT_BOOL, DT_I4, DT_U4, DT_COUNT };
size_t dtype_size(enum dtype t);       // bytes of an element; DT_BOOL, DT_I4 and DT_U4 are one byte
enum dtype dtype_held(enum dtype t);   // how its elements lie in memory: DT_I8 and DT_U8 for those of 4 bits
const char *dtype_name(enum dtype t);  // "float32", "int8" ... as NumPy says

// LAYOUT_PLAIN: row-major in the order of the dimensions.
// LAYOUT_BLOCK: rank-4 NCHW tensors (rank 3 NCW as H = 1) stored as [N][ceil(C/B)][H][W][B] with B = layout_block();
// channels past C are zero (codes: the zero point), always, so that kernels may read them.
enum layout { LAYOUT_PLAIN, LAYOUT_BLOCK };
int layout_block(void); // 16 on processors with AVX-512, else 8

#define SHAPE_MAX_RANK 8
struct shape {
	int rank; // -1: not known
	int64_t dim[SHAPE_MAX_RANK];
};
int64_t shape_count(const struct shape *s); // elements; 1 for rank 0; -1 when not known or over 2^40
bool shape_equal(const struct shape *a, const struct shape *b);
struct shape shape_of(int rank, const int64_t *dim);
// "[1, 3, 640, 640]" into out; returns out.
const char *shape_text(const struct shape *s, char *out, size_t size);

struct tensor {
	enum dtype type;
	enum layout layout;
	struct shape shape;
	void *data;
	struct buf *buf;
};
// Elements in memory: those of the shape, plus the padding of LAYOUT_BLOCK.
int64_t tensor_stored(const struct tensor *t);
int64_t tensor_count(const struct tensor *t);
size_t tensor_bytes(const struct tensor *t);
// Allocates t->buf for the type, layout and shape that are set already, counted in `account` (may be NULL); the bytes
// are undefined. STATUS_NOMEM when there is no memory for it.
MUST_CHECK enum status tensor_alloc(struct tensor *t, atomic_size_t *account, struct error *err);
void tensor_drop(struct tensor *t); // gives the count back and zeroes the struct
// A tensor of its own with the bytes of `from`, in its layout; the caller drops it. Zeros on failure.
MUST_CHECK enum status tensor_copy(struct tensor *out, const struct tensor *from, struct error *err);
struct tensor tensor_share(const struct tensor *t);
// Copies between the plain and the blocked layout, for elements of 1, 2 or 4 bytes; `dst` has type, shape and layout
// set and is allocated. Padding becomes zero bits.
void tensor_reorder(struct tensor *dst, const struct tensor *src, int width);

#endif
