// Networks that give each pixel a class: which output says so and how, and what it says of the pixels of an image of any
// size.
#ifndef QTUI_ANALYSIS_TASK_DECODE_PIXELS_H
#define QTUI_ANALYSIS_TASK_DECODE_PIXELS_H

#include "qtui/engine/data.h"

enum pixels_kind {
	PIXELS_SCORES,  // a score a class: the highest is the class
	PIXELS_BINARY,  // one score: above a threshold it is class 1, else 0
	PIXELS_CLASSES, // the number of the class
};
struct pixels {
	int output; // of the graph
	enum pixels_kind kind;
	float threshold;             // PIXELS_BINARY
	int classes;                 // 0: not known (PIXELS_CLASSES)
	int channels;                // of the output
	bool likely;                 // false: it may as well be a picture, depths or a flow
	int w, h;
	int64_t channel, row, column; // steps between elements
};
// The output whose maps have the proportions of the input (w x h) and the most pixels: [1, C, H, W], [1, H, W, C],
// [C, H, W], [1, H, W] or [H, W]. `out`: as computed; NULL: as declared. False: there is none.
bool pixels_find(struct pixels *p, const struct graph *g, const struct tensor *out, int w, int h);
// Are classes of pixels all that the declared outputs say?
bool pixels_are_all(const struct graph *g);
// May the output be a picture: a level, or three colours, of each pixel?
static inline bool pixels_may_be_colours(const struct pixels *p)
{
	return p->kind != PIXELS_CLASSES && (p->channels == 1 || p->channels == 3);
}
// Have masks and pictures of w x h pixels the proportions of an image, to a pixel?
bool pixels_have_proportions(int w, int h, int image_w, int image_h);

// The classes of an image, laid over the network's input as `where` says. Scores are interpolated between pixels first,
// as an upsampling of the output would do (bilinear, centres of pixels). A line has `w` pixels of the image.
struct pixel_lines;
struct pixel_lines *pixel_lines_new(const struct pixels *p, const float *data, const struct placement *where, int w, int h);
enum { PIXEL_NO_CLASS = INT16_MAX }; // greater than any class: its scores are NaN, or its number is that of none
// The classes of line y: -1 where the network did not see the image. Valid until the next call.
const int16_t *pixel_line(struct pixel_lines *l, int y);
// The values of the output's first channel along line y, interpolated likewise: NAN where the network did not see the image, INFINITY
// where it says NaN.
// Valid until the next call.
const float *pixel_value_line(struct pixel_lines *l, int y);
void pixel_lines_free(struct pixel_lines **l);

#endif
