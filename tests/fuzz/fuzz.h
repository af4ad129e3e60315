// Fuzzing: every parser of the program behind one function each, fed by libFuzzer
// (libfuzzer.c) or from files (replay.c).
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct study;

// What a function may look at: the input as a file, in a directory of its own, and as text with a NUL behind it.
struct fuzz_input {
	const char *path, *dir;
	const char *text;
	size_t size;
};
#define INPUT(name, file, help) void fuzz_##name(const struct fuzz_input *in);
#include "inputs.def"
#undef INPUT

// The function of this name on these bytes; 0, or -1 when there is no such function.
int fuzz_run(const char *name, const uint8_t *data, size_t size);
const char *fuzz_name(int i); // NULL past the last
// The demo model with one random sample, calibrated: opened at first use, for parsers that need a network.
struct study *fuzz_study(void);

#endif
