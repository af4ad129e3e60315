// Rotated boxes: see rotated.h.
#include "rotated.h"
#include <math.h>

void rotated_corners(struct keypoint out[ROTATED_CORNERS], double cx, double cy, double w, double h, double angle)
{
	static const double side[ROTATED_CORNERS][2] = {{-.5, -.5}, {.5, -.5}, {.5, .5}, {-.5, .5}};
	double c = cos(angle), s = sin(angle);
	for (int i = 0; i < ROTATED_CORNERS; i++) {
		double along = side[i][0] * w, across = side[i][1] * h;
		out[i] = (struct keypoint){(float)(cx + along * c - across * s), (float)(cy + along * s + across * c), 1};
	}
}

// Half of one side and half of the other. Of four corners that people drew, each is the mean of the two that lie opposite.
struct halves {
	double x[2], y[2];
};

static struct halves halves_of(const struct keypoint c[ROTATED_CORNERS])
{
	double x[ROTATED_CORNERS], y[ROTATED_CORNERS];
	for (int i = 0; i < ROTATED_CORNERS; i++) {
		x[i] = (double)c[i].x;
		y[i] = (double)c[i].y;
	}
	return (struct halves){.x = {(x[1] - x[0] + x[2] - x[3]) / 4, (x[3] - x[0] + x[2] - x[1]) / 4},
	    .y = {(y[1] - y[0] + y[2] - y[3]) / 4, (y[3] - y[0] + y[2] - y[1]) / 4}};
}

// A point that may lie anywhere on a line of half length 1 has the variance 1/3.
struct spread rotated_spread(const struct keypoint corner[ROTATED_CORNERS])
{
	struct halves h = halves_of(corner);
	struct spread s = {0};
	for (int i = 0; i < ROTATED_CORNERS; i++) {
		s.x += (double)corner[i].x / ROTATED_CORNERS;
		s.y += (double)corner[i].y / ROTATED_CORNERS;
	}
	for (int i = 0; i < 2; i++) {
		s.xx += h.x[i] * h.x[i] / 3;
		s.yy += h.y[i] * h.y[i] / 3;
		s.xy += h.x[i] * h.y[i] / 3;
	}
	return s;
}

double rotated_area(const struct keypoint corner[ROTATED_CORNERS])
{
	struct halves h = halves_of(corner);
	return 4 * fabs(h.x[0] * h.y[1] - h.x[1] * h.y[0]);
}

static double determinant(double xx, double yy, double xy)
{
	return fmax(xx * yy - xy * xy, 0);
}

// 1 - sqrt(1 - exp(-B)), B the Bhattacharyya distance. The smallest numbers are Ultralytics': boxes without area are no 0 / 0,
// and two that are equal come to .9996.
double rotated_overlap(const struct spread *a, const struct spread *b)
{
	const double least = 1e-7;
	double xx = a->xx + b->xx, yy = a->yy + b->yy, xy = a->xy + b->xy, dx = a->x - b->x, dy = a->y - b->y;
	double both = xx * yy - xy * xy;
	double apart = ((xx * dy * dy + yy * dx * dx) / 4 - xy * dx * dy / 2) / (both + least);
	double own = sqrt(determinant(a->xx, a->yy, a->xy) * determinant(b->xx, b->yy, b->xy));
	double unlike = log(both / (4 * own + least) + least) / 2;
	double distance = fmin(fmax(apart + unlike, least), 100);
	return 1 - sqrt(1 - exp(-distance) + least);
}
