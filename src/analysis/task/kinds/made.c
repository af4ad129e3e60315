// Figures of a picture that a network makes, and what is kept of it. As in the literature on super-resolution levels are
// rounded to 8 bits, and of a picture that is larger than the input a border as wide as the factor does not count. Light is the
// Y of ITU-R BT.601 in 16..235.
#include "made.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../metric/similarity.h"
#include "qtui/base/mem.h"

enum { CELLS = 48 * 48, PIXELS = 640 * 640 }; // of a sample, that are kept for a look
static const double PICTURES = (double)(8 << 20) / 3; // pixels of all samples' pictures
static const double FARTHER_DB = 1, SEEN = 4;         // of a cell; mean square error of levels below which nobody sees any

const char *const made_figure[MADE_FIGURES] = {[MADE_PSNR] = "psnr_db", [MADE_PSNR_Y] = "psnr_y_db", [MADE_SSIM] = "ssim"};

struct area made_area(int w, int h, const struct placement *where)
{
	double sx = (double)w / where->input_w, sy = (double)h / where->input_h;
	int border = sx > 1.5 ? (int)lrint(sx) : 0;
	struct area a = {.x = (int)ceil(fmax(where->pad_x * sx, 0)) + border, .y = (int)ceil(fmax(where->pad_y * sy, 0)) + border};
	a.w = (int)floor(fmin((where->pad_x + where->image_w * where->scale_x) * sx, w)) - border - a.x;
	a.h = (int)floor(fmin((where->pad_y + where->image_h * where->scale_y) * sy, h)) - border - a.y;
	return a.w > 0 && a.h > 0 ? a : (struct area){0, 0, w, h};
}

static size_t offset(const struct pair *it, const struct area *a, int channel, int y)
{
	return ((size_t)channel * (size_t)it->h + (size_t)(a->y + y)) * (size_t)it->w + (size_t)a->x;
}

static double mean_square_error(const struct pair *it, const struct area *a)
{
	double sum = 0;
	for (int c = 0; c < it->channels; c++)
		for (int y = 0; y < a->h; y++) {
			const float *p = it->said + offset(it, a, c, y), *q = it->truth + offset(it, a, c, y);
			for (int x = 0; x < a->w; x++)
				sum += (double)((p[x] - q[x]) * (p[x] - q[x]));
		}
	return sum / ((double)a->w * a->h * it->channels);
}

// A plane of the area's size. Heap.
static float *light_new(const struct pair *it, const struct area *a, const float *picture)
{
	float *out = xmalloc((size_t)a->w * (size_t)a->h * sizeof *out);
	for (int y = 0; y < a->h; y++) {
		float *to = out + (size_t)y * (size_t)a->w;
		const float *first = picture + offset(it, a, 0, y);
		if (it->channels == 1) {
			memcpy(to, first, (size_t)a->w * sizeof *to);
			continue;
		}
		const float *green = picture + offset(it, a, 1, y), *last = picture + offset(it, a, 2, y);
		const float *red = it->bgr ? last : first, *blue = it->bgr ? first : last;
		for (int x = 0; x < a->w; x++)
			to[x] = similarity_light(red[x], green[x], blue[x]);
	}
	return out;
}

static double error_of_light(const float *a, const float *b, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)((a[i] - b[i]) * (a[i] - b[i]));
	return sum / (double)n;
}

// A size in the area's proportions of at most `most` pixels, and of no more than it has.
static void size_within(int *w, int *h, const struct area *a, double most)
{
	double shrink = fmin(1, sqrt(most / ((double)a->w * a->h)));
	*w = (int)fmax(1, floor(a->w * shrink));
	*h = (int)fmax(1, floor(a->h * shrink));
}

static void keep_cells(struct made *to, const struct pair *it, const struct area *a)
{
	size_within(&to->cells_w, &to->cells_h, a, CELLS);
	size_t n = (size_t)to->cells_w * (size_t)to->cells_h;
	int *count = xcalloc(n, sizeof *count);
	to->error = xcalloc(n, sizeof *to->error);
	for (int c = 0; c < it->channels; c++)
		for (int y = 0; y < a->h; y++) {
			const float *p = it->said + offset(it, a, c, y), *q = it->truth + offset(it, a, c, y);
			int row = (int)((int64_t)y * to->cells_h / a->h) * to->cells_w;
			for (int x = 0; x < a->w; x++) {
				int cell = row + (int)((int64_t)x * to->cells_w / a->w);
				to->error[cell] += (p[x] - q[x]) * (p[x] - q[x]);
				count[cell]++;
			}
		}
	for (size_t i = 0; i < n; i++)
		to->error[i] /= (float)count[i];
	free(count);
}

// Each pixel is the mean of those that it stands for.
uint8_t *made_rgb(const struct pair *it, const struct area *a, const float *picture, int w, int h)
{
	uint8_t *rgb = xcalloc((size_t)w * (size_t)h, 3);
	for (int i = 0; i < w * h * 3; i++) {
		int x = i / 3 % w, y = i / 3 / w, c = it->channels == 1 ? 0 : it->bgr ? 2 - i % 3 : i % 3;
		int left = (int)((int64_t)x * a->w / w), right = (int)((int64_t)(x + 1) * a->w / w);
		int top = (int)((int64_t)y * a->h / h), bottom = (int)((int64_t)(y + 1) * a->h / h);
		float sum = 0;
		for (int v = top; v < bottom; v++)
			for (int u = left; u < right; u++)
				sum += picture[offset(it, a, c, v) + (size_t)u];
		rgb[i] = (uint8_t)lrintf(sum / (float)((bottom - top) * (right - left)));
	}
	return rgb;
}

void made_keep(struct made *to, const struct pair *it, const struct area *a, double most)
{
	*to = (struct made){.figure = {NAN, NAN, NAN}};
	keep_cells(to, it, a);
	size_within(&to->w, &to->h, a, fmin(most, PIXELS));
	to->rgb = made_rgb(it, a, it->said, to->w, to->h);
	to->bytes = sizeof *to + (size_t)(to->cells_w * to->cells_h) * sizeof *to->error + (size_t)(to->w * to->h) * 3;
}

void made_measure(struct made *to, const struct pair *it, const struct area *a, double most)
{
	float *said = light_new(it, a, it->said), *truth = light_new(it, a, it->truth);
	made_keep(to, it, a, most);
	to->figure[MADE_PSNR] = psnr_of(mean_square_error(it, a));
	to->figure[MADE_PSNR_Y] = it->channels == 1 ? NAN : psnr_of(error_of_light(said, truth, (size_t)a->w * (size_t)a->h));
	to->figure[MADE_SSIM] = ssim_of(said, truth, a->w, a->h);
	free(said);
	free(truth);
}

void made_done(struct made *m)
{
	free(m->error);
	free(m->rgb);
}

double made_share(int samples)
{
	return PICTURES / samples;
}

// ---- a look

static enum task_cell cell_of(double before, double after)
{
	double farther = psnr_of(fmax(before, SEEN)) - psnr_of(fmax(after, SEEN));
	return farther >= FARTHER_DB ? CELL_LOST : farther <= -FARTHER_DB ? CELL_GAINED : CELL_SAME;
}

static uint8_t *copy_of(const struct made *m)
{
	size_t n = (size_t)m->w * (size_t)m->h * 3;
	return memcpy(xmalloc(n), m->rgb, n);
}

bool made_look(struct task_look *l, const struct made *before, const struct made *after)
{
	if (before->w != after->w || before->h != after->h || before->cells_w != after->cells_w || before->cells_h != after->cells_h)
		return false;
	l->made[TASK_FLOAT] = copy_of(before);
	l->made[TASK_QUANT] = copy_of(after);
	l->w = after->w;
	l->h = after->h;
	l->scale = 1;
	l->cells_w = after->cells_w;
	l->cells_h = after->cells_h;
	l->cell = xcalloc((size_t)(after->cells_w * after->cells_h), 1);
	for (int i = 0; i < after->cells_w * after->cells_h; i++)
		l->cell[i] = cell_of((double)before->error[i], (double)after->error[i]);
	return true;
}
