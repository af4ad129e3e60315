// What a detector says of samples, without labels, and how far two networks are apart in it.
#ifndef QTUI_ANALYSIS_TASK_KINDS_BOXES_H
#define QTUI_ANALYSIS_TASK_KINDS_BOXES_H

#include "program.h"
#include "qtui/engine/graph.h"

// From the outputs of a detector to boxes, through the decoder and the NMS of its family.
struct boxes_reader;
// NULL: no decoder fits what is known of the outputs. `decoder`, `classes` and `points` (of labels) may be NULL and 0;
// without them only a head whose classes are those of the metadata or COCO's is taken for a detector's.
struct boxes_reader *boxes_reader_new(const struct graph *g, const char *decoder, int classes, int points);
// Of a detector with NMS in it, which leaves so many rows as there are boxes, or of which the user says how it is read: its
// decoder is found with every sample, until one settles it. NULL: it is none, or its shapes are known.
struct boxes_reader *boxes_reader_of_rows(const struct graph *g, const char *decoder);
// All samples are read as this one is, whose outputs these are: a few rows look like columns, and another decoder would take
// them for something else. false: none fits it.
bool boxes_reader_settle(struct boxes_reader *r, const struct tensor *output);
struct task;
struct boxes_reader *boxes_reader_of(const struct task *t); // as the task reads outputs, which must live on; NULL: its kind has no boxes
int boxes_reader_classes(const struct boxes_reader *r); // of a decoder; 0: not known
void boxes_reader_free(struct boxes_reader **r);
struct key boxes_reader_key(const struct boxes_reader *r); // of what it was asked to read by

struct boxes; // of one sample: in pixels of the network's input, or all in those of the picture
struct task_box;
struct boxes *boxes_of(const struct task_box *box, int n, int points); // `points`: keypoints of each, 0 none
struct boxes *boxes_of_rotated(const struct task_box *box, int n);     // whose keypoints are their corners
// *out NULL: the decoder does not take outputs of such shapes, as where there are as many rows as columns.
MUST_CHECK enum status boxes_read(struct boxes **out, const struct boxes_reader *r, const struct sample_outputs *of, struct error *err);
void boxes_free(struct boxes **b);
struct found_boxes { // in pixels of the image, by falling score
	const struct task_box *box;
	int n;
};
struct placement;
struct keypoint;
// Those that a look may need, cut at the image's border, without masks; the caller frees `box`, which is never NULL, and *points,
// their keypoints (NULL: they have none).
struct found_boxes boxes_in_image(const struct boxes *b, const struct placement *where, struct keypoint **points);
int boxes_points(const struct boxes *b); // keypoints of each, or corners
bool boxes_are_rotated(const struct boxes *b); // by a decoder
double boxes_mass(const struct boxes *b); // the sum of the squared scores

// How far `after` is from `before` over samples 0..n-1. A box of one is matched with one of the same class
// in the other that overlaps it; with the scores p and q and the worth g of the overlap (of poses also of how
// near their keypoints are, of instances of their masks' overlap) a sample's figure is one less the sum of 2 g p q
// over the sum of all p^2 and q^2.
// 0: the same boxes with the same scores, 1: nothing in common. Small differences count by their square, so
// that those of many causes add up. Samples count alike, those with hardly a box less: one crowd does not
// rule the others. A sample that is NULL in one of them is left out.
double boxes_apart(const struct boxes *const *before, const struct boxes *const *after, int n);

#endif
