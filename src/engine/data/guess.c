// What a model says of its input.
#include <math.h>
#include <stdio.h>
#include <string.h>
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

void guess_preprocess(struct preprocess *pre, const struct graph *g, enum dtype type)
{
	bool all = pre->mean_set && pre->std_set && pre->color_set && pre->resize_set;
	bool any = pre->mean_set || pre->std_set || pre->color_set || pre->resize_set;
	bool known = is_ultralytics(g), classifies = known && !strcmp(graph_metadata(g, "task"), "classify");
	enum resize_mode resize = classifies ? RESIZE_CROP : known ? RESIZE_LETTERBOX : RESIZE_STRETCH;
	float mean = type == DT_I8 ? 128 : 0, std = type == DT_F32 ? 255 : 1;
	fill(pre, resize, mean, std);
	pre->guess[0] = '\0';
	pre->warn = !all && !any && !known;
	if (known && !all)
		snprintf(pre->guess, sizeof pre->guess, "Ultralytics metadata: %s, RGB, /%g%s",
		    classifies ? "crop" : "letterbox", std, any ? " where no option says otherwise" : "");
	else if (!all)
		snprintf(pre->guess, sizeof pre->guess, "%sRGB, stretched, mean %g, std %g%s",
		    any ? "" : "no metadata, no options: images are read as ", mean, std,
		    any ? " where no option says otherwise" : "");
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
