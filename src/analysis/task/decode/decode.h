// Decoders: from the outputs of a detector to candidates, in pixels of its input. A decoder is a row of decoders.def:
// `bind` says from shapes alone where boxes and scores are, or that this is not its family; `box` computes one box. All
// else (loops, activations, thresholds) is the same for every family and is done here.
#ifndef QTUI_ANALYSIS_TASK_DECODE_DECODE_H
#define QTUI_ANALYSIS_TASK_DECODE_DECODE_H

#include "head.h"
#include "nms.h"
#include "qtui/analysis/keypoints.h"
#include "qtui/analysis/rle.h"
#include "qtui/base/error.h"

enum squash { SQUASH_NONE, SQUASH_SIGMOID, SQUASH_SOFTMAX }; // what is still to be done to raw scores

// What the masks of objects are made of.
enum mask_form {
	MASKS_NONE,
	MASKS_SUMS,     // sums of prototypes, cut at the box
	MASKS_OF_INPUT, // a map an object over the whole input
	MASKS_OF_BOX,   // a map an object over its box
};

// How a network says where the keypoints of its only object are, which fills the input.
enum single_form {
	SINGLE_NONE,
	SINGLE_LINES,  // the highest cell of a line along each axis (SimCC)
	SINGLE_MAPS,   // the highest cell of a map (heatmaps)
	SINGLE_POINTS, // coordinates, perhaps with a visibility
};
struct single {
	enum single_form form;
	struct field x, y; // a channel a keypoint; y: of lines alone
	int w, h;          // cells of lines and maps
};

// Rows, or the cells of one level.
struct source {
	int stride, w; // 0 for rows
	int64_t n;     // rows, or cells
	int anchors;
	const float (*anchor)[2]; // [anchors] width and height, or NULL
	float spread;             // of a centre over its cell, in cells (Darknet's scale_x_y)
	struct field box;
	struct field offset; // of a centre in its cell, where it is a field of its own
	struct field object; // absent: 1
	struct field score;  // one channel a class ...
	struct field label;  // ... or one channel, and here the class
	struct field pick;   // where channels is not 0: rows of image, class and the row of box and score, which are what NMS left
	int64_t n_picks;
	struct field angle;  // of a rotated box, in radians
	struct field point;  // where the family has keypoints: of each x, y and perhaps visibility
	struct field mask;   // where there are prototypes of masks: their coefficients; channels 0: none
};
struct bound {
	struct source source[LEVELS_MAX];
	int n;
	enum squash box, object, score;
	int background;    // classes at the front of `score` that are no class
	bool nothing_last; // and one at its end
	int bins;          // of a distance that is given as a distribution; 1: the distance itself
	float centre;      // of a cell, in cells: 0.5 or 0
	bool pixels;       // distances are in pixels, not in strides
	bool fractions;    // the boxes are fractions of the input
	bool corners;      // they are corners, not a centre and a size
	bool ids;          // labels are category ids of the data set, not indices
	int counted;       // not 0: so many classes there are, and labels count them from 1
	bool peaks;        // only a score that none beside it is above is one
	bool root;         // a score is the root of the product with the objectness
	int points;        // keypoints of an object; 0: none
	bool yx;           // they are y, x and not x, y
	struct single single; // where there are no others
	bool rotated;      // boxes have an angle; their keypoints are their corners
	enum mask_form masks;
	struct maps maps;  // of which they are made
	float above;       // which value an object's map has a pixel of it
	float reach;       // of a keypoint in strides from its cell's corner, times this; 0: keypoints are in pixels
	float from;        // and from here, in cells
	float priors;      // not 0: keypoints are offsets from the cell's centre in anchors, times this
};
struct decoder {
	const char *name, *title;
	double iou; // of the NMS that belongs to it; 0: none
	bool (*bind)(struct bound *b, const struct head *h);
	void (*box)(float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor,
	    int64_t cell);
};
const struct decoder *decode_rows(int *n);
bool decode_bind(struct bound *b, const struct decoder *d, const struct head *h); // d->bind, and where masks are
// "NAME", or "NAME:w,h,w,h,..." with three anchors a level (of yolov2-raw all), of a network that was trained with others than its family's.
// STATUS_NOTFOUND: no decoder has that name; STATUS_USAGE: it has no anchors, or these are none.
MUST_CHECK enum status decode_named(const struct decoder **out, struct anchors *anchors, const char *name, struct error *err);
// The decoder that `name` says (as above), or (NULL) the first whose family the head is; the head takes its anchors.
// STATUS_UNSUPPORTED: it does not fit the head.
MUST_CHECK enum status decode_find(const struct decoder **out, struct head *h, const char *name, struct error *err);
bool decode_is_likely(const struct head *h); // does a decoder fit, with a number of classes that is likely?
// Number of classes that the scores have; 0: not known (labels).
int decode_classes(const struct bound *b);
// Adds the candidates whose score is above `least`. The head has data for every output that b uses.
void decode_run(
    struct candidates *out, const struct decoder *d, const struct bound *b, const struct head *h, double least);

// The keypoints of a candidate, [b->points], likewise in pixels of the input.
void decode_points(struct keypoint *out, const struct bound *b, const struct head *h, const struct candidate *c);

// The keypoints of the only object, likewise.
void decode_single(struct keypoint *out, const struct bound *b, const struct head *h);

// Before the masks of a sample are read: finds b->above, for which all maps are looked through.
void decode_mask_begin(struct bound *b, const struct head *h);
// The mask of a candidate of a head that has masks, in the picture that lies in the input as `to` says: the pixels where its
// map, interpolated between the centres of its cells, is above b->above. A map over the box has nothing around it.
struct placement;
void decode_mask(struct rle *out, const struct bound *b, const struct head *h, const struct candidate *c, const struct placement *to);

// Of a picture where nothing else is asked for, as figures of detectors are commonly taken:
// boxes that NMS leaves, and the score below which a candidate is none.
enum { DECODE_KEPT = 300 };
#define DECODE_LEAST_SCORE .001
// Masks of boxes below are not kept once they are matched: they take the most memory, and say the least.
#define DECODE_MASK_SCORE .05f

// What the families share.
enum squash decode_squash(const struct field *f); // what is left to do: logits need a sigmoid
int decode_pick_classes(const struct head *h, const struct field *f, int others); // channels behind `others`, or -1
// Keypoints in the channels of f behind `others`, if there are just so many.
void decode_bind_points(struct bound *b, struct source *s, const struct head *h, const struct field *f, int others);
// Coefficients of masks in the channels of f behind `others`, if there are as many as prototypes.
void decode_bind_masks(struct source *s, const struct head *h, const struct field *f, int others);
// Output `box` as n rows of 4 and output `score` as n rows of anything.
bool decode_pair(const struct head *h, int box, int score, struct field *boxes, struct field *scores, int64_t *n);
float decode_sigmoid(float x);
// Are n boxes fractions of the input, and not in its pixels? Their values tell; without data they do not.
bool decode_are_fractions(const struct head *h, const struct field *box, int64_t n);
// Are they corners, and not a centre and a size each? Likewise.
bool decode_are_corners(const struct head *h, const struct field *box, int64_t n, bool fractions);
void decode_to_input(float box[4], const struct head *h, const struct bound *b); // to pixels, where b->fractions says so
void decode_from_centre(float out[4], float cx, float cy, float w, float h);

#endif
