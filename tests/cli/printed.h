// What a function prints to standard output.
#ifndef TESTS_CLI_PRINTED_H
#define TESTS_CLI_PRINTED_H

#include <stdio.h>
#include <unistd.h>
#include "support.h"

// From here on it goes to a file. Returns what printed_end needs.
static inline int printed_begin(void)
{
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	assert_non_null(freopen(support_temp("stdout"), "w", stdout));
	return saved;
}

// The text since then, up to the next call.
static inline const char *printed_end(int saved)
{
	static char text[2000];
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	FILE *f = fopen(support_temp("stdout"), "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	return text;
}

#endif
