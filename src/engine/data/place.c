// Resizing modes. A letterbox is rounded as Ultralytics rounds it: size round(w * r), offset round(free / 2 - 0.1),
// both half to even; a corner placement truncates the size as YOLOX does; a crop rounds as torchvision's Resize and
// CenterCrop do: sides truncated, the offset half to even.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "place.h"
#include "resample.h"
#include "qtui/base/mem.h"

#define PADDING 114 // the grey of Ultralytics and YOLOX
// A crop scales all of the image and throws away what sticks out: at most this many times what it keeps.
#define WASTE_MAX 64

// The size of the resized image and where its corner goes (negative: it is cut).
struct fit {
	int w, h, x, y;
};

static int at_least_one(double v)
{
	return v < 1 ? 1 : (int)v;
}

static struct fit fit_stretch(const struct image *in, const struct frame *to)
{
	(void)in;
	return (struct fit){to->w, to->h, 0, 0};
}

static struct fit fit_letterbox(const struct image *in, const struct frame *to)
{
	double r = fmin((double)to->h / in->h, (double)to->w / in->w);
	struct fit f = {.w = at_least_one(rint(in->w * r)), .h = at_least_one(rint(in->h * r))};
	f.x = (int)rint((to->w - f.w) / 2.0 - 0.1);
	f.y = (int)rint((to->h - f.h) / 2.0 - 0.1);
	return f;
}

static struct fit fit_corner(const struct image *in, const struct frame *to)
{
	double r = fmin((double)to->h / in->h, (double)to->w / in->w);
	return (struct fit){at_least_one(in->w * r), at_least_one(in->h * r), 0, 0};
}

// a * b / c of sides of images, as far as an int holds it.
static int scaled_side(int a, int b, int c)
{
	int64_t v = (int64_t)a * b / c;
	return v > INT32_MAX ? INT32_MAX : (int)v;
}

// The side of which `share` is kept.
static int side_before_cut(int side, double share)
{
	return share > 0 ? (int)fmin(side / share, INT32_MAX) : side;
}

static struct fit fit_crop(const struct image *in, const struct frame *to)
{
	int w = side_before_cut(to->w, to->share), h = side_before_cut(to->h, to->share);
	bool wide = (double)w / in->w <= (double)h / in->h; // the height decides
	struct fit f = {
	    .w = wide ? scaled_side(h, in->w, in->h) : w,
	    .h = wide ? h : scaled_side(w, in->h, in->w),
	};
	f.x = -(int)rint((f.w - to->w) / 2.0);
	f.y = -(int)rint((f.h - to->h) / 2.0);
	return f;
}

static struct fit (*const fits[])(const struct image *in, const struct frame *to) = {
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

static struct placement placement_of(const struct image *in, const struct fit *f, const struct frame *to)
{
	return (struct placement){
	    .image_w = in->w,
	    .image_h = in->h,
	    .input_w = to->w,
	    .input_h = to->h,
	    .scale_x = (double)f->w / in->w,
	    .scale_y = (double)f->h / in->h,
	    .pad_x = f->x,
	    .pad_y = f->y,
	};
}

void place_measure(struct placement *where, int w, int h, const struct frame *frame)
{
	struct image in = {.w = w, .h = h};
	struct fit f = fits[frame->mode](&in, frame);
	*where = placement_of(&in, &f, frame);
}

static enum status place_fitted(struct image *out, const struct image *in, const struct fit *f, int w, int h, struct error *err)
{
	struct image scaled;
	enum status s;
	if ((int64_t)f->w * f->h / WASTE_MAX > (int64_t)w * h)
		return error_set(err, STATUS_UNSUPPORTED,
		    "%d x %d pixels: cropped to %d x %d, less than a %dth of them would be kept: give another --resize, or leave the picture out",
		    in->w, in->h, w, h, WASTE_MAX);
	s = resample(&scaled, in, f->w, f->h, err);
	if (s)
		return s;
	if (f->w == w && f->h == h) {
		*out = scaled;
		return STATUS_OK;
	}
	*out = (struct image){.w = w, .h = h, .rgb = mem_try_array((size_t)w * (size_t)h, 3)};
	if (out->rgb) {
		memset(out->rgb, PADDING, (size_t)w * (size_t)h * 3);
		paste(out, &scaled, f->x, f->y);
	}
	free(scaled.rgb);
	return out->rgb ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory for an input of %d x %d pixels", w, h);
}

enum status place_image(
    struct image *out, struct placement *where, const struct image *in, const struct frame *frame, struct error *err)
{
	struct fit f = fits[frame->mode](in, frame);
	*where = placement_of(in, &f, frame);
	return place_fitted(out, in, &f, frame->w, frame->h, err);
}

// Pictures whose sides are no multiples of the factor lose the rest before they are made smaller.
static int whole_multiple(int target, int image)
{
	int times = target / image;
	return times >= 1 && target % image < times ? image * times : target;
}

static void cut_to(struct image *in, int w, int h)
{
	for (int y = 0; y < h; y++)
		memmove(in->rgb + (size_t)y * (size_t)w * 3, in->rgb + (size_t)y * (size_t)in->w * 3, (size_t)w * 3);
	in->w = w;
	in->h = h;
}

enum status place_target(struct image *out, struct image *in, const struct placement *where, int w, int h, struct error *err)
{
	double x = (double)w / where->input_w, y = (double)h / where->input_h;
	struct fit f = {.x = (int)rint(where->pad_x * x), .y = (int)rint(where->pad_y * y)};
	f.w = at_least_one(rint(where->image_w * where->scale_x * x));
	f.h = at_least_one(rint(where->image_h * where->scale_y * y));
	cut_to(in, whole_multiple(in->w, where->image_w), whole_multiple(in->h, where->image_h));
	return place_fitted(out, in, &f, w, h, err);
}

static bool is_size(int64_t n)
{
	return n > 0 && n <= 1 << 14;
}

static bool is_channels(int64_t n)
{
	return n == 1 || n == 3;
}

// Without a batch there are three channels, and sides of a picture: [1, length, features] is no grey picture, [3, 1, 128] the
// state of an LSTM.
static bool lies_in(struct image_input *out, const struct shape *s)
{
	enum { LEAST = 32 };
	const int64_t *d = s->dim + (s->rank == 4);
	if (s->rank != 3 && s->rank != 4)
		return false;
	bool nhwc = !is_channels(d[0]) && is_channels(d[2]);
	int64_t channels = d[nhwc ? 2 : 0], h = d[nhwc ? 0 : 1], w = d[nhwc ? 1 : 2];
	if (!is_channels(channels) || !is_size(h) || !is_size(w) || (s->rank == 3 && (channels != 3 || h < LEAST || w < LEAST)))
		return false;
	*out = (struct image_input){.nhwc = nhwc, .channels = (int)channels, .h = (int)h, .w = (int)w};
	return true;
}

bool place_input(struct image_input *out, const struct shape *s)
{
	return lies_in(out, s) && (s->rank == 3 || s->dim[0] == 1);
}

bool picture_size(int *w, int *h, const struct shape *s)
{
	struct image_input in = {0};
	bool is_picture = lies_in(&in, s);
	*w = in.w;
	*h = in.h;
	return is_picture;
}

// ITU-R 601 luma in 16-bit fixed point, as Pillow's convert("L").
static uint8_t luma(const uint8_t *rgb)
{
	return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000) >> 16);
}

static float clamped(float v, float low, float high)
{
	return rintf(v < low ? low : v > high ? high : v);
}

static void store(void *out, enum dtype type, size_t i, float v)
{
	if (type == DT_U8)
		((uint8_t *)out)[i] = (uint8_t)clamped(v, 0, 255);
	else if (type == DT_I8)
		((int8_t *)out)[i] = (int8_t)clamped(v, -128, 127);
	else if (type == DT_I32)
		((int32_t *)out)[i] = (int32_t)clamped(v, -0x1p24F, 0x1p24F);
}

// Element c of pixel p lies at c * plane + p * step.
struct spread {
	size_t pixels, plane, step;
};

static void fill_rgb(
    float *restrict out, const uint8_t *restrict rgb, const struct spread *s, float table[3][256], bool bgr)
{
	int first = bgr ? 2 : 0, last = bgr ? 0 : 2;
	for (size_t p = 0; p < s->pixels; p++, rgb += 3) {
		out[p * s->step] = table[0][rgb[first]];
		out[p * s->step + s->plane] = table[1][rgb[1]];
		out[p * s->step + 2 * s->plane] = table[2][rgb[last]];
	}
}

static void fill_any(
    struct tensor *out, const uint8_t *rgb, const struct spread *s, int channels, float table[3][256], bool bgr)
{
	for (size_t p = 0; p < s->pixels; p++, rgb += 3)
		for (int c = 0; c < channels; c++) {
			float v = table[c][channels == 1 ? luma(rgb) : rgb[bgr ? 2 - c : c]];
			size_t at = p * s->step + (size_t)c * s->plane;
			if (out->type == DT_F32)
				((float *)out->data)[at] = v;
			else
				store(out->data, out->type, at, v);
		}
}

void place_pixels(
    struct tensor *out, const struct image *image, const struct image_input *input, const struct preprocess *pre)
{
	struct spread s = {.pixels = (size_t)input->w * (size_t)input->h};
	float table[3][256];
	s.plane = input->nhwc ? 1 : s.pixels;
	s.step = input->nhwc ? (size_t)input->channels : 1;
	for (int c = 0; c < 3; c++)
		for (int v = 0; v < 256; v++)
			table[c][v] = ((float)v - pre->mean[c]) / pre->std[c];
	if (out->type == DT_F32 && input->channels == 3)
		fill_rgb(out->data, image->rgb, &s, table, pre->bgr);
	else
		fill_any(out, image->rgb, &s, input->channels, table, pre->bgr);
}
