// The header of an .npy file, apart from its data. Nothing is owned.
#ifndef QTUI_BASE_NPY_HEADER_H
#define QTUI_BASE_NPY_HEADER_H

#include <stdbool.h>
#include "qtui/base/npy.h"

struct npy_header {
	struct npy array; // kind, item, rank and dim are set
	bool fortran, big_endian;
};
// `text` of `len` bytes needs no NUL.
MUST_CHECK enum status npy_header_parse(
    struct npy_header *out, const char *text, size_t len, const char *name, struct error *err);

#endif
