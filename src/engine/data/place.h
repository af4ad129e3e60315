// Where an image goes in the input, and the pixels of the input.
#ifndef QTUI_ENGINE_DATA_PLACE_H
#define QTUI_ENGINE_DATA_PLACE_H

#include "image/image.h"
#include "qtui/engine/data.h"

// What images are put into: the pixels of the input, and how.
struct frame {
	int w, h;
	enum resize_mode mode;
	double share; // as in struct preprocess
};
// The image resized into *out of the frame's size (the caller frees out->rgb); *where says how it was placed.
MUST_CHECK enum status place_image(
    struct image *out, struct placement *where, const struct image *in, const struct frame *frame, struct error *err);
// A picture of what image `where` shows, of any size in its proportions, laid into w x h pixels as that image lies in the
// input. What a picture has beyond a whole multiple of the image (481 pixels of 120 made four times as large) is cut from
// *in.
MUST_CHECK enum status place_target(
    struct image *out, struct image *in, const struct placement *where, int w, int h, struct error *err);
// Only where an image of w x h pixels would go.
void place_measure(struct placement *where, int w, int h, const struct frame *frame);
// An input that takes one image: [1, C, H, W] or [1, H, W, C], C 1 or 3, or [3, H, W] or [H, W, 3].
struct image_input {
	int channels, h, w;
	bool nhwc;
};
bool place_input(struct image_input *out, const struct shape *s);
// Pixels to elements: (pixel - mean) / std, rounded and clamped for integer inputs. `out` has type and shape and is
// allocated.
void place_pixels(
    struct tensor *out, const struct image *image, const struct image_input *input, const struct preprocess *pre);

#endif
