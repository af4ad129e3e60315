// TensorRT's calibration cache: "TRT-VERSION-CALIBRATOR", then "TENSOR: HHHHHHHH", a float scale as eight hexadecimal digits.
#include <stdlib.h>
#include <string.h>
#include "wishes.h"

static void read_line(struct wishes *w, char *line)
{
	char *colon = strrchr(line, ':'), *end = NULL;
	unsigned long bits = colon ? strtoul(colon + 1, &end, 16) : 0;
	uint32_t word = (uint32_t)bits;
	float scale;
	if (!colon || end == colon + 1 || end[strspn(end, " \t")] || bits > UINT32_MAX) {
		wish_note(w, "%.60s: not TENSOR: HHHHHHHH", line);
		return;
	}
	*colon = '\0';
	memcpy(&scale, &word, sizeof scale);
	wish_tensor(w, line, 8, (double)scale);
}

bool read_tensorrt_cache(struct wishes *w, char *text)
{
	char *rest = NULL, *line;
	if (strncmp(text, "TRT-", 4) != 0)
		return false;
	strtok_r(text, "\r\n", &rest);
	while ((line = strtok_r(NULL, "\r\n", &rest)))
		read_line(w, line);
	return true;
}
