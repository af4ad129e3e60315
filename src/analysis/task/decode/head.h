// The outputs of a detector as decoders see them: shapes, what each output comes from, and the cells of the grid that
// its elements belong to. The head of a graph owns its array; names are the graph's.
#ifndef QTUI_ANALYSIS_TASK_DECODE_HEAD_H
#define QTUI_ANALYSIS_TASK_DECODE_HEAD_H

#include "qtui/engine/graph.h"

// The operators at which the way back from an output ends, operators that only move elements left out.
enum { END_LINEAR = 1, END_SIGMOID = 2, END_SOFTMAX = 4, END_OTHER = 8, END_PRODUCT = 16 }; // a product is another one too

struct head_output {
	const char *name;
	enum dtype type;
	struct shape shape; // as declared or, with data, as computed
	const float *data;  // NULL: not computed yet
	float *heap;        // what `data` is, where it had to be made from integers
	unsigned ends;
	bool boxes, scores; // its name is one that boxes, or scores, have: matched once, as every pair of outputs is tried
};
enum { ANCHORS = 3, ANCHOR_LEVELS = 4 };
struct anchors {
	int n; // by rising stride, ANCHORS a level or all of one; 0: the decoder's own
	float at[ANCHOR_LEVELS * ANCHORS][2]; // width and height in pixels of the input
};
struct head {
	struct head_output *out;
	int n;
	int input_w, input_h;
	int hint[3], n_hints; // likely numbers of classes: of the metadata, of the labels, COCO's
	bool any_classes;     // none of the hints fits: take what the shapes say
	bool named;           // the decoder was named by the user: `ends` need not agree
	struct anchors anchors; // that the user gave with its name
	bool one2one;         // the outputs come from a branch of that name, which is trained to need no NMS
	bool rtmdet;          // they come from branches that are named as RTMDet's
	bool suppressed;      // NMS is among the operators
	bool chosen;          // it is, or TopK: rows are those that it chose, not the cells of levels
	int decided;          // classes that a Softmax over rows chooses among, the background too; 0: not known
	int beside_object;    // classes that a Concat joins behind a box and one score for there being an object; 0: none does
	int points;           // keypoints of an object, as metadata or labels have it; 0: none
	int extra;            // channels of keypoints behind the classes, as the metadata have it; 0: none
	bool segments;        // the metadata say that the model finds masks
	bool rotated;         // they say that its boxes are rotated
	const char *file;     // the graph's, or NULL: some families differ in constants alone
};
bool head_is_box_name(const char *name);
bool head_is_score_name(const char *name);
// Size of the input that takes pictures, 0 where there is none or its size is not known.
void head_input(int *w, int *h, const struct graph *g);
// Keypoints of an object and what each has (x, y, perhaps visibility), as the model's metadata say; 0: they do not.
void head_points(int *points, int *dims, const struct graph *g);
// Without data. `labels` and `points`: number of classes of the labels, and of keypoints; 0: not known.
void head_init(struct head *h, const struct graph *g, int labels, int points);
void head_done(struct head *h);
// The head with the shapes and data of one sample: `out` has all outputs, plain,
// and stays the caller's. Emptied by head_drain.
void head_fill(struct head *h, const struct head *declared, const struct tensor *out);
void head_drain(struct head *h);
bool head_is_known(const struct head *h);                              // are all shapes known before anything has run?
bool head_is_hinted(const struct head *h, int64_t classes);            // is it among the likely numbers of classes?
bool head_fits(const struct head *h, int64_t classes);                 // may it be the number of classes?
bool head_is_called(const struct head *h, const char *part); // is that in the name of its file?
bool head_ends(const struct head *h, unsigned ends, unsigned allowed); // only `allowed` ones (or named by the user)

// Elements of an output by anchor, cell and channel.
struct field {
	int output; // -1: absent
	int channels, anchors;
	int64_t at, anchor, cell, channel; // offset, and steps
	unsigned ends;
};
#define FIELD_NONE ((struct field){.output = -1})
static inline const float *field_at(const struct head *h, const struct field *f, int anchor, int64_t cell, int channel)
{
	return h->out[f->output].data + (f->at + f->anchor * anchor + f->cell * cell + f->channel * channel);
}
static inline float field_get(const struct head *h, const struct field *f, int anchor, int64_t cell, int channel)
{
	return *field_at(h, f, anchor, cell, channel);
}
struct field field_part(const struct field *f, int first, int n); // channels first..first+n-1

// Maps of which masks of objects are made, the channels of a field whose cells are their pixels.
struct maps {
	struct field map; // channels 0: there are none
	int w, h;
};
// Prototypes, of which masks are sums: the maps that are alone at the finest stride. An object has a coefficient for each.
struct maps head_prototypes(const struct head *h);
int head_mask_channels(const struct head *h); // coefficients that an object has; 0: none
// One map for each of n objects, as an output of its own: [1, n, H, W], [n, 1, H, W] or [n, H, W]. false: there is none. Of no
// objects an output without elements is enough.
bool head_object_maps(struct maps *m, const struct head *h, int64_t n);
bool head_names_masks(const struct head *h); // is an output that may have such a rank called so?

// An output as a list of rows: [1, n, channels], [1, channels, n], or without the first dimension; the larger number is
// n unless `channels` (0: not known) is given.
int head_side(int input, int stride); // cells of a level along a side of the input
bool head_rows(struct field *f, int64_t *n, const struct head *h, int output, int channels);

enum { LEVELS_MAX = 8, LEVEL_FIELDS = 4 };
struct level {
	int stride, w, h, n_fields;
	struct field field[LEVEL_FIELDS];
	struct field mask; // coefficients of masks, where they are an output of their own; channels 0: none
};
void level_drop(struct level *l, int field);
struct levels {
	int n; // by rising stride
	struct level level[LEVELS_MAX];
};
// Sorts the outputs into the levels of a feature pyramid: maps [1, C, H, W], [1, H, W, C], [1, A, H, W, C] or
// [1, H, W, A, C] of a level, rows of one level, rows of all levels one behind the other. Outputs that are none of these are left out, and so
// are prototypes of masks.
// False: no level, or levels with different numbers of fields.
bool head_levels(struct levels *l, const struct head *h);
// Are the outputs several levels of cells with `anchors` anchors (0: any number)?
bool head_is_pyramid(const struct head *h, int anchors);
// Are n rows those of nine anchors a cell, of five levels from cells of 8 pixels on (RetinaNet, EfficientDet)?
bool head_is_dense(const struct head *h, int64_t n);

#endif
