// TensorRT's calibration cache: "TRT-VERSION-CALIBRATOR", then "TENSOR: HHHHHHHH", a float scale as eight hexadecimal
// digits; and the one that ONNX Runtime writes for its TensorRT provider: "TENSOR RANGE", the largest magnitude.
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
	if (bits == 0) {
		wish_note(w, "%.120s: 0 is no scale", line);
		return;
	}
	memcpy(&scale, &word, sizeof scale);
	wish_tensor(w, line, 8, (double)scale, ZERO_MIDDLE);
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

// Cuts "NAME NUMBER" at its last blank; false: the line is none. "name: 1" is YAML.
static bool cut_range(char *line, double *range)
{
	char *blank = strrchr(line, ' ');
	if (!blank || blank == line || blank[-1] == ':' || !str_to_double(blank + 1, range))
		return false;
	*blank = '\0';
	return true;
}

static bool is_range_cache(const char *text)
{
	char *copy = xstrdup(text), *rest = NULL;
	bool any = false, all = true;
	double range;
	for (char *line = strtok_r(copy, "\r\n", &rest); line && all; line = strtok_r(NULL, "\r\n", &rest))
		any = all = cut_range(line, &range);
	free(copy);
	return any && all;
}

bool read_range_cache(struct wishes *w, char *text)
{
	char *rest = NULL;
	double range;
	if (!is_range_cache(text))
		return false;
	for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
		if (cut_range(line, &range))
			wish_threshold(w, line, range, 0, NULL);
	return true;
}
