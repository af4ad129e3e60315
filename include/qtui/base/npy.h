// NumPy files: .npy (format 1.0 to 3.0, C order; Fortran order is transposed on reading) and .npz (through libzip).
#ifndef QTUI_BASE_NPY_H
#define QTUI_BASE_NPY_H

#include <stddef.h>
#include <stdint.h>
#include "qtui/base/error.h"
#include "qtui/base/file.h"

#define NPY_MAX_RANK 8
// kind: 'f' float, 'i' signed, 'u' unsigned, 'b' bool, as in NumPy's dtype.kind; little-endian items of `item` bytes.
struct npy {
	char kind;
	int item;
	int rank;
	int64_t dim[NPY_MAX_RANK];
	void *data; // owner calls npy_done
	size_t size;
};
MUST_CHECK enum status npy_parse(struct npy *out, const void *bytes, size_t size, const char *name, struct error *err);
// As npy_parse, but out->data points into `bytes` and is not owned. STATUS_UNSUPPORTED when the array must be
// transposed or byte-swapped: then npy_parse it.
MUST_CHECK enum status npy_view(struct npy *out, const void *bytes, size_t size, const char *name, struct error *err);
MUST_CHECK enum status npy_write(const struct npy *a, const char *path, struct error *err);
void npy_done(struct npy *a);

struct npz {
	char **name;         // [n] as stored, without ".npy"; members of other names are passed over
	struct npy *array;   // [n]
	struct bytes *bytes; // [n] what an array points into, where it does not own its elements: `data` is NULL then
	size_t n;
	// Members that hold no plain numbers (texts, objects) are left out: why the first of them was; status 0: none
	// was.
	struct error unread;
};
// Large members are unpacked into files without names, and mapped.
MUST_CHECK enum status npz_read(struct npz *out, const char *path, struct error *err);
void npz_done(struct npz *z);

#endif
