// Masks of objects, as instance segmentation finds them: sets of an image's pixels, run-length encoded as COCO does it.
#ifndef QTUI_ANALYSIS_RLE_H
#define QTUI_ANALYSIS_RLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pixels are numbered column by column, as COCO numbers them: x * h + y. Those of edge[0]..edge[1]-1, of
// edge[2]..edge[3]-1 and so on are in the mask.
struct rle {
	int w, h;
	uint32_t *edge; // rising
	int n;          // edges, an even number
	size_t cap;
};
enum { RLE_PIXELS_MAX = 1 << 28, RLE_SIDE_MAX = 1 << 20 };
bool rle_fits(int w, int h); // is an image of this size small enough?

void rle_done(struct rle *m);
// Adds the pixels from..to-1, which lie behind all that are there.
void rle_add(struct rle *m, uint32_t from, uint32_t to);
// Adds those of another one of the same image, in any order.
void rle_join(struct rle *m, const struct rle *other);
// The inside of an outline (even and odd), n corners x, y in pixels: the pixels that pycocotools chooses (rleFrPoly).
// Corners far outside are moved to one image's size beside it. The mask's w and h are set, and it has no pixels yet.
// false: it is longer than any outline in such an image.
bool rle_outline(struct rle *m, const double (*corner)[2], int n);
// From the lengths of runs, out and in by turns and first out, as COCO's files have them: whole numbers, or a text.
// false: they do not have just the image's pixels.
bool rle_runs(struct rle *m, const uint32_t *run, int n);
bool rle_text(struct rle *m, const char *text);

struct rle *rle_copy(const struct rle *m); // heap; NULL of NULL
void rle_free(struct rle **m);
int64_t rle_area(const struct rle *m); // pixels
bool rle_has(const struct rle *m, int x, int y);
// Intersection over union, for crowds intersection over the found one (pycocotools, maskUtils.iou). 0: of images of
// different sizes.
double rle_iou(const struct rle *found, const struct rle *truth, bool crowd);

#endif
