// Keypoints of objects, as networks of pose have them: K places of each object, such as the joints of a person.
#ifndef QTUI_ANALYSIS_KEYPOINTS_H
#define QTUI_ANALYSIS_KEYPOINTS_H

enum { KEYPOINTS_MAX = 512 }; // of an object; whole-body poses have 133, meshes of faces 468

struct keypoint {
	float x, y; // in pixels of the image
	float v;    // of a truth: above 0 where somebody marked it; of a found one: how sure, 0..1 (1: the network does not say)
};
// What all objects of a data set have in common.
struct skeleton {
	int n;                    // keypoints of an object; 0: there are none
	double *sigma;            // [n] how far apart people mark the same place, in parts of the object's size
	int (*bone)[2], n_bones;  // pairs of keypoints to draw a line between; there may be none
};
// COCO's for 17 keypoints (people), else 1/n for each and no bones, as Ultralytics has it. Emptied by skeleton_done.
void skeleton_init(struct skeleton *s, int n);
void skeleton_done(struct skeleton *s);

// Object keypoint similarity, 0..1, over the keypoints of `truth` whose v is above `least`: the mean of
// exp(-d^2 / (2 area (2 sigma)^2)), d the distance in pixels, area that of the object (pycocotools, computeOks).
// NAN where there is none. `least` is 0 for marked ones, KEYPOINT_SEEN for those that a network is sure of.
double keypoints_similarity(const struct skeleton *s, const struct keypoint *found, const struct keypoint *truth, float least, double area);
#define KEYPOINT_SEEN .5f
double keypoints_term(double dx, double dy, double sigma, double area); // of one keypoint
int keypoints_marked(const struct keypoint *k, int n);
// The box around them: x, y, width, height.
void keypoints_box(double box[4], const struct keypoint *k, int n);

#endif
