// The files of a dataset. A sample is one row of one file, or of one file an input when each input has a subdirectory.
#ifndef QTUI_ENGINE_DATA_LISTING_H
#define QTUI_ENGINE_DATA_LISTING_H

#include <stddef.h>
#include "qtui/engine/graph.h"

struct listing {
	char **path; // n_files * n_parts: the parts of a sample lie together
	size_t n_files, cap;
	int n_parts;
	int *input; // of a part: index into graph.input; -1 when the file itself tells (one part)
	size_t foreign; // images of kinds that are not read, and the first of them
	char *first_foreign;
};
// `path` is a directory (of data, or of directories of data), a list file
// (one path a line, relative to it) or one data file.
MUST_CHECK enum status listing_read(struct listing *out, const char *path, const struct graph *g, struct error *err);
// The files of subdirectories are paired by their order. Two of the first `rows` rows with other names (without their
// extensions), although most names of the one subdirectory are in the other too; *with NULL: there are none.
void listing_misfit(const struct listing *l, size_t rows, const char **path, const char **with);
void listing_done(struct listing *l);

#endif
