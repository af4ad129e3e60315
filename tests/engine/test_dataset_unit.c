// Mean and std of pixels of 0..1, given for pixels of 0..255: they are warned of, once, where pictures are opened.
#include <stdio.h>
#include "data_case.h"
#include "qtui/base/log.h"

struct given {
	float mean[4], std[4];
	bool warned;
};

static int count_warnings(int from, const char *what)
{
	char line[400];
	int n = 0;
	for (int i = from; i < support_log_count(); i++)
		n += log_line(i, line, sizeof line) == LOG_WARN && strstr(line, what);
	return n;
}

static void check(const struct given *g, const char *path, bool prepared)
{
	struct data_case c = {.opt = {.prepared = prepared, .pre = {.mean_set = true, .std_set = true, .color_set = true, .resize_set = true}}};
	int before = support_log_count();
	memcpy(c.opt.pre.mean, g->mean, sizeof g->mean);
	memcpy(c.opt.pre.std, g->std, sizeof g->std);
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 8, 8));
	case_open(&c, path);
	int warnings = count_warnings(before, "pixels of 0..255");
	if (warnings != (g->warned && !prepared))
		fail_msg("mean %g std %g: %d warnings", (double)g->mean[0], (double)g->std[0], warnings);
	case_done(&c);
}

// What leaves pixels as they are may be meant, and so may deviations of 0..255 without a mean.
void test_dataset_unit__mean_and_std_of_torch_are_warned_of(void **state)
{
	static const struct given given[] = {
		{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}, true},
		{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}, true},
		{{0.5f, 0.5f, 0.5f}, {1, 1, 1}, true},
		{{0, 0, 0}, {1, 1, 1}, false},
		{{0, 0, 0}, {255, 255, 255}, false},
		{{123.675f, 116.28f, 103.53f}, {58.395f, 57.12f, 57.375f}, false},
		{{127.5f, 127.5f, 127.5f}, {1, 1, 1}, false},
		{{0.485f, 0.456f, 0.406f}, {255, 255, 255}, false},
	};
	const char *path = case_png("unit.png", 4, 6);
	for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
		check(&given[i], path, false);
		check(&given[i], path, true);
	}
}

void test_dataset_unit__says_what_they_are_there(void **state)
{
	static const struct given unit = {{0.4f, 0.6f, 0.4f}, {0.2f, 0.2f, 0.2f}, true}; // of no other test: a text stands once
	int before = support_log_count();
	check(&unit, case_png("unit.png", 4, 6), false);
	assert_int_equal(count_warnings(before, "--mean 102,153,102 --std 51,51,51"), 1);
}
