// Text files that are part of the program: tables made from a directory at build time (tools/embed.awk), ended by a
// NULL name.
#ifndef QTUI_BASE_EMBED_H
#define QTUI_BASE_EMBED_H

struct embed {
	const char *name; // of the file, without directory and extension
	const char *text;
};

#endif
