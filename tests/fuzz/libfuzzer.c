// libFuzzer's way in: the environment variable FUZZ names the input.
#include <stdio.h>
#include <stdlib.h>
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *name;
	if (!name && !(name = getenv("FUZZ")))
		name = "";
	if (fuzz_run(name, data, size) < 0) {
		fprintf(stderr, "FUZZ must name one of tests/fuzz/inputs.def\n");
		exit(2);
	}
	return 0;
}
