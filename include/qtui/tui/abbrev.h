// Names of nodes in few columns so that they stay apart: names of repeated blocks end alike, and what is cut off from the
// left is what they differ in.
#ifndef QTUI_TUI_ABBREV_H
#define QTUI_TUI_ABBREV_H

#include <stddef.h>

struct abbrev {
	struct name *at; // ordered from their ends; borrows the texts
	int *place;      // of each in at
	int n;
};
// name(i, context) gives the i-th of n, which live as long as they are asked for. Cheap where nothing has changed.
void abbrev_set(struct abbrev *s, int n, const char *(*name)(int i, const void *context), const void *context);
void abbrev_done(struct abbrev *s);
// The i-th, shortened to `width` columns as text_cut does at the left; where others would look the same, what they differ
// in and the end: "…/layers.0/…/MatMul".
void abbrev_cut(char *out, size_t size, const struct abbrev *s, int i, int width);

#endif
