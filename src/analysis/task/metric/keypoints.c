// Keypoints: see qtui/analysis/keypoints.h.
#include "qtui/analysis/keypoints.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"

// nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles: left before right.
enum { PERSON = 17 };
static const double person_sigma[PERSON] = {
    .026, .025, .025, .035, .035, .079, .079, .072, .072, .062, .062, .107, .107, .087, .087, .089, .089};
static const int person_bone[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {5, 6}, {5, 7}, {7, 9}, {6, 8}, {8, 10}, {5, 11},
    {6, 12}, {11, 12}, {11, 13}, {13, 15}, {12, 14}, {14, 16}};

void skeleton_init(struct skeleton *s, int n)
{
	*s = (struct skeleton){.n = n, .sigma = xcalloc((size_t)n + 1, sizeof *s->sigma)};
	for (int i = 0; i < n; i++)
		s->sigma[i] = n == PERSON ? person_sigma[i] : 1. / n;
	if (n != PERSON)
		return;
	s->n_bones = (int)(sizeof person_bone / sizeof *person_bone);
	s->bone = xmalloc(sizeof person_bone);
	memcpy(s->bone, person_bone, sizeof person_bone);
}

void skeleton_done(struct skeleton *s)
{
	free(s->sigma);
	free(s->bone);
	*s = (struct skeleton){0};
}

double keypoints_term(double dx, double dy, double sigma, double area)
{
	return exp(-(dx * dx + dy * dy) / (4 * sigma * sigma) / (area + DBL_EPSILON) / 2);
}

double keypoints_similarity(const struct skeleton *s, const struct keypoint *found, const struct keypoint *truth, float least, double area)
{
	double sum = 0;
	int n = 0;
	for (int i = 0; i < s->n; i++) {
		if (!(truth[i].v > least))
			continue;
		sum += keypoints_term((double)found[i].x - (double)truth[i].x, (double)found[i].y - (double)truth[i].y, s->sigma[i], area);
		n++;
	}
	return n ? sum / n : NAN;
}

int keypoints_marked(const struct keypoint *k, int n)
{
	int marked = 0;
	for (int i = 0; i < n; i++)
		marked += k[i].v > 0;
	return marked;
}

void keypoints_box(double box[4], const struct keypoint *k, int n)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
	for (int i = 0; i < n; i++) {
		double at[2] = {(double)k[i].x, (double)k[i].y};
		for (int axis = 0; axis < 2; axis++) {
			low[axis] = fmin(low[axis], at[axis]);
			high[axis] = fmax(high[axis], at[axis]);
		}
	}
	for (int axis = 0; axis < 2; axis++) {
		box[axis] = n ? low[axis] : 0;
		box[2 + axis] = n ? high[axis] - low[axis] : 0;
	}
}
