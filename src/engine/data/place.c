// Resizing modes. A letterbox is rounded as Ultralytics rounds it: size round(w * r), offset round(free / 2 - 0.1), both half to
// even; a corner placement truncates the size as YOLOX does; a crop covers the input and cuts what sticks out on both sides.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "place.h"
#include "resample.h"
#include "qtui/base/mem.h"

#define PADDING 114

// The size of the resized image and where its corner goes (negative: it is cut).
struct fit {
	int w, h, x, y;
};

static int at_least_one(double v)
{
	return v < 1 ? 1 : (int)v;
}

static struct fit fit_stretch(const struct image *in, int w, int h)
{
	(void)in;
	return (struct fit){ w, h, 0, 0 };
}

static struct fit fit_letterbox(const struct image *in, int w, int h)
{
	double r = fmin((double)h / in->h, (double)w / in->w);
	struct fit f = { .w = at_least_one(rint(in->w * r)), .h = at_least_one(rint(in->h * r)) };

	f.x = (int)rint((w - f.w) / 2.0 - 0.1);
	f.y = (int)rint((h - f.h) / 2.0 - 0.1);
	return f;
}

static struct fit fit_corner(const struct image *in, int w, int h)
{
	double r = fmin((double)h / in->h, (double)w / in->w);

	return (struct fit){ at_least_one(in->w * r), at_least_one(in->h * r), 0, 0 };
}

static struct fit fit_crop(const struct image *in, int w, int h)
{
	bool wide = (double)w / in->w <= (double)h / in->h; // the height decides
	struct fit f = {
		.w = wide ? (int)((int64_t)h * in->w / in->h) : w,
		.h = wide ? h : (int)((int64_t)w * in->h / in->w),
	};

	f.x = -(int)rint((f.w - w) / 2.0);
	f.y = -(int)rint((f.h - h) / 2.0);
	return f;
}

static struct fit (*const fits[])(const struct image *in, int w, int h) = {
	[RESIZE_STRETCH] = fit_stretch,
	[RESIZE_LETTERBOX] = fit_letterbox,
	[RESIZE_CORNER] = fit_corner,
	[RESIZE_CROP] = fit_crop,
};

// Copies `in` to (x, y) of `out`, as far as it is inside.
static void paste(struct image *out, const struct image *in, int x, int y)
{
	int left = x < 0 ? -x : 0, top = y < 0 ? -y : 0;
	int w = in->w - left < out->w - (x + left) ? in->w - left : out->w - (x + left);
	int h = in->h - top < out->h - (y + top) ? in->h - top : out->h - (y + top);

	for (int row = 0; row < h && w > 0; row++)
		memcpy(out->rgb + ((size_t)(y + top + row) * (size_t)out->w + (size_t)(x + left)) * 3,
		    in->rgb + ((size_t)(top + row) * (size_t)in->w + (size_t)left) * 3, (size_t)w * 3);
}

enum status place_image(struct image *out, struct placement *where, const struct image *in, int w, int h, enum resize_mode mode,
    struct error *err)
{
	struct fit f = fits[mode](in, w, h);
	struct image scaled;
	enum status s = resample(&scaled, in, f.w, f.h, err);

	if (s)
		return s;
	*where = (struct placement){
		.image_w = in->w, .image_h = in->h, .input_w = w, .input_h = h,
		.scale_x = (double)f.w / in->w, .scale_y = (double)f.h / in->h, .pad_x = f.x, .pad_y = f.y,
	};
	if (f.w == w && f.h == h) {
		*out = scaled;
		return STATUS_OK;
	}
	*out = (struct image){ .w = w, .h = h, .rgb = mem_try_array((size_t)w * (size_t)h, 3) };
	if (out->rgb) {
		memset(out->rgb, PADDING, (size_t)w * (size_t)h * 3);
		paste(out, &scaled, f.x, f.y);
	}
	free(scaled.rgb);
	return out->rgb ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory for an input of %d x %d pixels", w, h);
}

static bool is_size(int64_t n)
{
	return n > 0 && n <= 1 << 14;
}

static bool is_channels(int64_t n)
{
	return n == 1 || n == 3;
}

bool place_input(struct image_input *out, const struct shape *s)
{
	bool nhwc = s->rank == 4 && !is_channels(s->dim[1]) && is_channels(s->dim[3]);

	if (s->rank != 4 || s->dim[0] != 1 || !is_channels(s->dim[nhwc ? 3 : 1]) || !is_size(s->dim[nhwc ? 1 : 2]) ||
	    !is_size(s->dim[nhwc ? 2 : 3]))
		return false;
	*out = (struct image_input){
		.nhwc = nhwc,
		.channels = (int)s->dim[nhwc ? 3 : 1],
		.h = (int)s->dim[nhwc ? 1 : 2],
		.w = (int)s->dim[nhwc ? 2 : 3],
	};
	return true;
}

// ITU-R 601 luma in 16-bit fixed point, as Pillow's convert("L").
static uint8_t luma(const uint8_t *rgb)
{
	return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000) >> 16);
}

static uint8_t component(const uint8_t *rgb, const struct image_input *input, int channel, bool bgr)
{
	return input->channels == 1 ? luma(rgb) : rgb[bgr ? 2 - channel : channel];
}

static float clamped(float v, float low, float high)
{
	return rintf(v < low ? low : v > high ? high : v);
}

static void store(void *out, enum dtype type, size_t i, float v)
{
	if (type == DT_F32)
		((float *)out)[i] = v;
	else if (type == DT_U8)
		((uint8_t *)out)[i] = (uint8_t)clamped(v, 0, 255);
	else if (type == DT_I8)
		((int8_t *)out)[i] = (int8_t)clamped(v, -128, 127);
}

void place_pixels(struct tensor *out, const struct image *image, const struct image_input *input, const struct preprocess *pre)
{
	size_t pixels = (size_t)input->w * (size_t)input->h, channels = (size_t)input->channels;
	bool raw = out->type == DT_U8 && !pre->mean_set && !pre->std_set;
	float table[256];

	for (size_t c = 0; c < channels; c++) {
		for (int v = 0; v < 256; v++)
			table[v] = raw ? (float)v : ((float)v - pre->mean[c]) / pre->std[c];
		for (size_t p = 0; p < pixels; p++)
			store(out->data, out->type, input->nhwc ? p * channels + c : c * pixels + p,
			    table[component(image->rgb + 3 * p, input, (int)c, pre->bgr)]);
	}
}
