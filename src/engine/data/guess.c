// What a model says of its input.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "guess.h"

static bool is_ultralytics(const struct graph *g)
{
	return graph_metadata(g, "task") && (graph_metadata(g, "imgsz") || graph_metadata(g, "names"));
}

static void fill(struct preprocess *pre, enum resize_mode resize, float mean, float std)
{
	for (int c = 0; c < 4; c++) {
		if (!pre->mean_set)
			pre->mean[c] = mean;
		if (!pre->std_set)
			pre->std[c] = std;
	}
	if (!pre->color_set)
		pre->bgr = false;
	if (!pre->resize_set) {
		pre->resize = resize;
		pre->share = 0;
	}
}

// "RGB, stretched, mean 0, std 255": of these what was guessed. The caller frees it.
static char *guessed_parts(const struct preprocess *pre, const char *resize, double mean, double std)
{
	struct str out = {0};
	if (!pre->color_set)
		str_add(&out, ", RGB");
	if (!pre->resize_set)
		str_addf(&out, ", %s", resize);
	if (!pre->mean_set)
		str_addf(&out, ", mean %g", mean);
	if (!pre->std_set)
		str_addf(&out, ", std %g", std);
	char *parts = xstrdup(out.len ? str_text(&out) + 2 : "");
	str_done(&out);
	return parts;
}

void guess_preprocess(struct preprocess *pre, const struct graph *g, enum dtype type)
{
	static const char *const name[] = {
	    [RESIZE_STRETCH] = "stretched", [RESIZE_LETTERBOX] = "letterbox", [RESIZE_CORNER] = "corner", [RESIZE_CROP] = "crop"};
	bool any = pre->mean_set || pre->std_set || pre->color_set || pre->resize_set;
	bool known = is_ultralytics(g), classifies = known && !strcmp(graph_metadata(g, "task"), "classify");
	enum resize_mode resize = classifies ? RESIZE_CROP : known ? RESIZE_LETTERBOX : RESIZE_STRETCH;
	float mean = type == DT_I8 ? 128 : 0, std = type == DT_F32 ? 255 : 1;
	char *parts = guessed_parts(pre, name[resize], mean, std);
	fill(pre, resize, mean, std);
	pre->warn = !any && !known;
	snprintf(pre->guess, sizeof pre->guess, "%s%s%s", !*parts ? "" : known ? "Ultralytics metadata: " : any ? "" :
	    "no metadata, no options: images are read as ", parts, *parts && any ? ", as no option says otherwise" : "");
	free(parts);
}

bool preprocess_is_of_unit(const struct preprocess *pre)
{
	static const float LARGEST_MEAN = 1, LARGEST_STD = 1.5f;
	bool raw = true;
	for (int c = 0; c < 3; c++) {
		raw = raw && pre->mean[c] == 0 && pre->std[c] == 1;
		if (!(fabsf(pre->mean[c]) <= LARGEST_MEAN && pre->std[c] < LARGEST_STD))
			return false;
	}
	return !raw;
}
