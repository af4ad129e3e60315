// Pictures against pictures: PSNR and SSIM of what a network makes of a sample, against what it should make. As in the
// literature on super-resolution levels are rounded to 8 bits, figures are means over the samples, and of a picture that is
// larger than the input a border as wide as the factor does not count. Light is the Y of ITU-R BT.601 in 16..235.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "head.h"
#include "levels.h"
#include "restore.h"
#include "similarity.h"

enum { CELLS = 48 * 48, PIXELS = 640 * 640 }; // of a sample, that are kept for a look
static const double PICTURES = (double)(8 << 20) / 3; // pixels of all samples' pictures that a network made

const char *const restored_name[RESTORED_FIGURES] = {"psnr_db", "psnr_y_db", "ssim"};

// ---- opening

static enum status restore_open(struct task *t, struct error *err)
{
	const char *source = t->labels->source;
	struct pixels p;
	int w, h;
	head_input(&w, &h, t->g);
	if (!w)
		return error_set(err, STATUS_UNSUPPORTED, "%s: pictures, but no input of the model takes pictures of one or three channels", source);
	if (task_outputs_known(t->g) && (!pixels_find(&p, t->g, NULL, w, h) || !pixels_may_be_colours(&p)))
		return error_set(err, STATUS_UNSUPPORTED, "%s: pictures, but no output of the model is a picture of one or three channels", source);
	t->state = levels_range_new(dataset_preprocess(t->d));
	return STATUS_OK;
}

static void restore_close(struct task *t)
{
	levels_range_free((struct levels_range **)&t->state);
}

static void restore_note(struct task *t, char *out, size_t size)
{
	const char *range = levels_range_name(t->state);
	snprintf(out, size, "pictures %s (%d of %d samples)%s%s", t->labels->source, t->labels->n_known, t->n_samples,
	    range ? "; levels of the outputs are " : "", range ? range : "");
}

// ---- reading

// What a network made of a sample and what it should have made: planes of levels 0..255.
struct pair {
	const float *said, *truth;
	int channels, w, h;
	bool bgr;
};

static struct area area_of(int w, int h, const struct placement *where)
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
			float row = 0;
			for (int x = 0; x < a->w; x++)
				row += (p[x] - q[x]) * (p[x] - q[x]); // whole numbers: exact up to 2^24
			sum += (double)row;
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

// ---- what is kept for a look

// A size in the area's proportions of at most `most` pixels, and of no more than it has.
static void size_within(int *w, int *h, const struct area *a, double most)
{
	double shrink = fmin(1, sqrt(most / ((double)a->w * a->h)));
	*w = (int)fmax(1, floor(a->w * shrink));
	*h = (int)fmax(1, floor(a->h * shrink));
}

static void keep_cells(struct restored *to, const struct pair *it, const struct area *a)
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

// Each pixel is the mean of those that it stands for. Heap.
static uint8_t *shrunk(const struct pair *it, const struct area *a, const float *picture, int w, int h)
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

static struct restored *measure(const struct pair *it, const struct area *a, double most)
{
	float *said = light_new(it, a, it->said), *truth = light_new(it, a, it->truth);
	struct restored *to = xcalloc(1, sizeof *to);
	*to = (struct restored){.psnr_y = it->channels == 1 ? NAN : psnr_of(error_of_light(said, truth, (size_t)a->w * (size_t)a->h)),
	    .ssim = ssim_of(said, truth, a->w, a->h), .out = {4, {1, it->channels, it->h, it->w}}};
	free(said);
	free(truth);
	keep_cells(to, it, a);
	size_within(&to->w, &to->h, a, most);
	to->rgb = shrunk(it, a, it->said, to->w, to->h);
	to->base = (struct task_result){.refs = 1, .value = psnr_of(mean_square_error(it, a))};
	to->base.bytes = sizeof *to + (size_t)(to->cells_w * to->cells_h) * sizeof *to->error + (size_t)(to->w * to->h) * 3;
	return to;
}

// The picture that goes with a sample, as large as the output. One of other proportions shows something else.
static enum status read_truth(struct tensor *truth, const struct task *t, int sample, const struct placement *where, struct error *err)
{
	const char *path = t->labels->label[sample].file;
	int w, h;
	enum status st = image_size(&w, &h, path, err);
	if (st == STATUS_OK && !pixels_have_proportions(w, h, where->image_w, where->image_h))
		st = error_set(err, STATUS_FORMAT, "%s has %d x %d pixels, its sample %d x %d", path, w, h, where->image_w, where->image_h);
	return st == STATUS_OK ? dataset_target(t->d, path, where, truth, err) : st;
}

static enum status restore_read(struct task *t, int sample, const struct tensor *out, const struct tensor *float_out,
    struct task_result **result, struct error *err)
{
	struct placement where;
	struct pixels p;
	float *heap;
	(void)float_out;
	enum status st = dataset_place(t->d, sample, &where, err);
	if (st == STATUS_OK && (!pixels_find(&p, t->g, out, where.input_w, where.input_h) || !pixels_may_be_colours(&p)))
		st = error_set(err, STATUS_UNSUPPORTED, "no output is a picture of one or three channels");
	if (st != STATUS_OK)
		return st;
	struct tensor truth = {.type = DT_F32, .shape = {4, {1, p.channels, p.h, p.w}}};
	st = read_truth(&truth, t, sample, &where, err);
	if (st != STATUS_OK)
		return st;
	const float *data = task_floats(&out[p.output], &heap);
	struct area a = area_of(p.w, p.h, &where);
	float *said = levels_new(t->state, &t->lock, &p, &a, data, truth.data);
	const struct pair it = {said, truth.data, p.channels, p.w, p.h, dataset_preprocess(t->d)->bgr};
	*result = &measure(&it, &a, fmin(PIXELS, PICTURES / t->labels->n_known))->base;
	free(said);
	free(heap);
	tensor_drop(&truth);
	return STATUS_OK;
}

static void restore_release(struct task_result *result)
{
	struct restored *r = (struct restored *)result;
	free(r->error);
	free(r->rgb);
	free(r);
}

uint8_t *restore_truth(const struct task *t, int sample, const struct restored *like)
{
	struct tensor truth = {.type = DT_F32, .shape = like->out};
	struct placement where;
	struct error ignored; // what was measured had it; it may be gone
	if (dataset_place(t->d, sample, &where, &ignored) || read_truth(&truth, t, sample, &where, &ignored))
		return NULL;
	const int64_t *dim = like->out.dim;
	const struct pair it = {NULL, truth.data, (int)dim[1], (int)dim[3], (int)dim[2], dataset_preprocess(t->d)->bgr};
	struct area a = area_of(it.w, it.h, &where);
	uint8_t *rgb = shrunk(&it, &a, it.truth, like->w, like->h);
	tensor_drop(&truth);
	return rgb;
}

// ---- scoring

void restored_figures(double out[RESTORED_FIGURES], const struct restored *r)
{
	out[0] = r->base.value;
	out[1] = r->psnr_y;
	out[2] = r->ssim;
}

// Over those samples that have the figure.
static double mean_of(const struct frozen *f, const int *weight, int figure)
{
	double sum = 0, n = 0;
	for (int i = 0; i < f->n; i++) {
		double v[RESTORED_FIGURES], times = weight ? weight[i] : 1;
		if (!f->at[i])
			continue;
		restored_figures(v, (const struct restored *)f->at[i]);
		sum += isnan(v[figure]) ? 0 : times * v[figure];
		n += isnan(v[figure]) ? 0 : times;
	}
	return n > 0 ? sum / n : NAN;
}

static double restore_score(const struct task *t, const struct frozen *f, const int *weight)
{
	(void)t;
	return mean_of(f, weight, 0);
}

static void restore_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	(void)t;
	r->figure = xcalloc(RESTORED_FIGURES, sizeof *r->figure);
	for (int i = 0; i < RESTORED_FIGURES; i++) {
		struct task_figure *to = &r->figure[r->n_figures];
		to->name = restored_name[i];
		for (int v = 0; v < TASK_VARIANTS; v++)
			to->value[v] = mean_of(&f[v], NULL, i);
		r->n_figures += i == 0 || !isnan(to->value[TASK_FLOAT]) || !isnan(to->value[TASK_QUANT]);
	}
}

const struct task_ops restore_ops = {
    .name = "restore",
    .labels = LABELS_PICTURES,
    .open = restore_open,
    .close = restore_close,
    .note = restore_note,
    .read = restore_read,
    .release = restore_release,
    .score = restore_score,
    .report = restore_report,
    .look = restore_look,
};
