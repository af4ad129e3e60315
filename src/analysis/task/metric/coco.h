// COCO's protocol for detectors: boxes of an image, their keypoints or their masks are matched once (coco_image_match),
// and the matches of many images are pooled and scored (coco_pool_score), again and again for a bootstrap. Everything is
// in pixels of the image.
#ifndef QTUI_ANALYSIS_TASK_METRIC_COCO_H
#define QTUI_ANALYSIS_TASK_METRIC_COCO_H

#include <stdbool.h>
#include <stdint.h>
#include "qtui/analysis/keypoints.h"
#include "qtui/analysis/rle.h"

enum { COCO_CLASSES = 80, COCO_THRESHOLDS = 10, COCO_RECALLS = 101 };
enum { COCO_MAX_FOUND = 100, COCO_MAX_POSES = 20 }; // of a class in an image
enum coco_area { COCO_ALL, COCO_SMALL, COCO_MEDIUM, COCO_LARGE, COCO_AREAS };
enum coco_figure {
	COCO_AP,
	COCO_AP50,
	COCO_AP75,
	COCO_AP_SMALL,
	COCO_AP_MEDIUM,
	COCO_AP_LARGE,
	COCO_AR_1,
	COCO_AR_10,
	COCO_AR_100,
	COCO_AR50,
	COCO_AR75,
	COCO_AR_SMALL,
	COCO_AR_MEDIUM,
	COCO_AR_LARGE,
	COCO_FIGURES,
};
// As files name it; NULL: the figure is none of boxes, or none of poses.
const char *coco_figure_name(enum coco_figure f, bool poses);

struct coco_box {
	double x, y, w, h; // corner and size
};
struct coco_truth {
	struct coco_box box;
	double area; // of the object, not of its box: decides between small, medium and large
	int class;
	bool crowd; // many objects in one box: what is found inside counts neither for nor against
	struct keypoint *point; // [skeleton.n]; NULL: none are marked. Of rotated boxes the corners
	struct rle *mask; // NULL: none is known
};
struct coco_found {
	struct coco_box box;
	double score;
	int class;
	const struct keypoint *point; // [skeleton.n] where poses or rotated boxes are matched
	const struct rle *mask; // where masks are
};
// What is matched of the objects.
struct coco_rule {
	const struct skeleton *poses; // not NULL: their keypoints, by coco_oks
	bool masks;                   // their masks, by rle_iou
	bool rotated;                 // their keypoints, which are corners of boxes, by rotated_overlap; else their boxes, by coco_iou
};
// `found` over `truth`: intersection over union, for crowds intersection over the found box.
double coco_iou(const struct coco_box *found, const struct coco_box *truth, bool crowd);
// The same for poses, object keypoint similarity. Of a truth without marked keypoints: by how far the found ones lie
// outside its box, made larger by its own size on each side.
double coco_oks(const struct coco_found *found, const struct coco_truth *truth, const struct skeleton *s);

// A found box after matching. Bit t of hit and skip is for threshold .5 + t * .05: a hit matched an object, a skipped
// box counts neither way (it matched a crowd or an object of another size, or matched nothing and is of another size).
struct coco_match {
	double score;
	int class, rank; // rank: position by score among the boxes of its class in its image
	uint16_t hit[COCO_AREAS], skip[COCO_AREAS];
};
struct coco_count {
	int class;
	int truths[COCO_AREAS]; // that have to be found
};
struct coco_image { // owns its arrays, which are sorted by class
	struct coco_match *match;
	struct coco_count *count;
	int n_matches, n_counts;
};
double coco_likeness(const struct coco_found *found, const struct coco_truth *truth, const struct coco_rule *rule);
// Of poses, an object none of whose keypoints is marked need not be found.
void coco_image_match(struct coco_image *out, const struct coco_truth *truth, int n_truths,
    const struct coco_found *found, int n_found, const struct coco_rule *rule);
void coco_image_done(struct coco_image *image);

// The matches of images 0..n-1, sorted for scoring; holds copies.
struct coco_pool;
// image[i] NULL: not measured, and what is in it need not be found. Classes outside 0..n_classes-1 are left out.
struct coco_pool *coco_pool_new(const struct coco_image *const *image, int n_images, int n_classes);
void coco_pool_free(struct coco_pool **p);
struct coco_scores {
	double figure[COCO_FIGURES]; // NAN: there are no objects of that kind
	double *ap;                  // [n_classes] NAN: no objects; may be NULL when not wanted
	int *truths;                 // [n_classes] likewise
};
// `weight` (NULL: 1 each) says how many times each image is drawn.
void coco_pool_score(const struct coco_pool *p, const int *weight, struct coco_scores *out);
double coco_pool_ap(const struct coco_pool *p, const int *weight); // COCO_AP alone

// A pool arranged for drawing again and again: the same AP as coco_pool_ap, to the bit, in a fraction of its time.
struct coco_draws;
struct coco_draws *coco_draws_new(const struct coco_pool *p);
void coco_draws_free(struct coco_draws **d);
double coco_draws_ap(struct coco_draws *d, const int *weight); // of one thread at a time

#endif
