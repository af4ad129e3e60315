// Spectra: DFT and STFT in double, the windows, MelWeightMatrix.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include "../element.h"
#include "../rule.h"
#include "fft.h"

#define MAX_LENGTH ((int64_t)1 << 24)

// The value of an input of one number, `absent` where it is left out. Pending where it is not known yet.
static enum status number(int64_t *out, const struct node *n, const struct tensor *const *in, int i, int64_t absent, struct error *err)
{
	const struct tensor *t = rule_input(n, in, i);
	*out = absent;
	if (!t)
		return STATUS_OK;
	if (shape_count(&t->shape) != 1)
		return error_set(err, STATUS_FORMAT, "input %d must be one number", i);
	if (!rule_known(t))
		return rule_pending(err);
	*out = element_int(t, 0);
	return STATUS_OK;
}

static enum status check_length(int64_t length, const char *what, struct error *err)
{
	if (rule_within(length, 1, MAX_LENGTH))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "%s is %lld", what, (long long)length);
}

// ---- windows

enum status signal_window_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum dtype type = rule_dtype(((const struct signal_attrs *)n->attrs)->output_dtype);
	int64_t size;
	enum status s = number(&size, n, in, 0, 0, err);
	if (s == STATUS_OK)
		s = check_length(size, "the size", err);
	if (s == STATUS_OK && (type == DT_NONE || type == DT_BOOL))
		s = error_set(err, STATUS_UNSUPPORTED, "output_datatype is not supported");
	if (s == STATUS_OK)
		rule_set(&out[0], type, &(struct shape){1, {size}});
	return s;
}

enum status signal_window_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	// the constant term and the factors of the first and second cosine
	double a = 0.5, b = -0.5, c = 0, size = (double)element_int(in[0], 0);
	double turn = 2 * acos(-1) / (((const struct signal_attrs *)n->attrs)->periodic ? size : size - 1);
	(void)width;
	(void)err;
	if (n->op->id == OP_HammingWindow) {
		a = 25.0 / 46;
		b = a - 1;
	} else if (n->op->id == OP_BlackmanWindow) {
		a = 0.42;
		c = 0.08;
	}
	for (int64_t i = 0; i < tensor_count(&out[0]); i++) {
		double angle = i ? turn * (double)i : 0, v = a + b * cos(angle) + c * cos(2 * angle);
		elements_store_double(out[0].data, out[0].type, i, &v, 1);
	}
	return STATUS_OK;
}

// ---- transforms

// Signals, of which number (o, i) begins at x + o * x_outer + i * x_inner, and their transforms likewise;
// steps are from one element or bin to the next.
struct lines {
	int64_t outer, inner;
	const float *x, *window; // window NULL: none
	float *y;
	int64_t x_outer, x_inner, x_step, y_outer, y_inner, y_step;
	int64_t n, length, bins; // elements there are, those that are transformed (0 where there are none), bins of the result that are wanted
	int parts, y_parts;      // 2: real and imaginary
	bool inverse, half;      // half: elements past the middle are the conjugates of those before it
};

static void read_line(double *to, const struct lines *l, const float *x)
{
	for (int64_t i = 0; i < l->length; i++) {
		bool mirrored = l->half && i > l->length / 2;
		int64_t from = mirrored ? l->length - i : i;
		double w = from < l->n ? l->window ? (double)l->window[from] : 1 : 0;
		to[2 * i] = from < l->n ? w * (double)x[from * l->x_step] : 0;
		to[2 * i + 1] = from < l->n && l->parts == 2 ? (mirrored ? -w : w) * (double)x[from * l->x_step + 1] : 0;
	}
}

static void write_line(const struct lines *l, float *y, const double *from)
{
	double scale = l->inverse ? 1 / (double)l->length : 1;
	for (int64_t k = 0; k < l->bins; k++) {
		y[k * l->y_step] = (float)(from[2 * k] * scale);
		if (l->y_parts == 2)
			y[k * l->y_step + 1] = (float)(from[2 * k + 1] * scale);
	}
}

static enum status transform_lines(const struct lines *l, int width, struct error *err)
{
	struct fft *fft;
	enum status s = fft_new(&fft, l->length, l->inverse, err);
	int64_t each = 4 * l->length + (s == STATUS_OK ? fft_room(fft) : 0);
	double *room = s == STATUS_OK ? mem_try_array((size_t)(each * width), sizeof *room) : NULL;
	if (s == STATUS_OK && !room)
		s = error_set(err, STATUS_NOMEM, "no memory for a transform of %lld", (long long)l->length);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < (s == STATUS_OK ? l->outer * l->inner : 0); i++) {
		double *x = room + omp_get_thread_num() * each, *y = x + 2 * l->length;
		read_line(x, l, l->x + i / l->inner * l->x_outer + i % l->inner * l->x_inner);
		fft_run(fft, y, x, y + 2 * l->length);
		write_line(l, l->y + i / l->inner * l->y_outer + i % l->inner * l->y_inner, y);
	}
	free(room);
	fft_free(&fft);
	return s;
}

struct transform {
	int axis, parts; // of the result
	int64_t length, bins;
	bool half;       // an inverse from half a spectrum, which gives real numbers
};

static enum status resolve(struct transform *t, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct signal_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int64_t axis = a->axis;
	t->half = a->onesided && a->inverse;
	enum status s = n->op->since >= 20 ? number(&axis, n, in, 2, -2, err) : STATUS_OK;

	if (s == STATUS_OK && (x->rank < 2 || (x->dim[x->rank - 1] != 1 && x->dim[x->rank - 1] != 2)))
		s = error_set(err, STATUS_FORMAT, "the last dimension must be 1 (real) or 2 (complex)");
	if (s == STATUS_OK)
		s = rule_axis(&t->axis, axis, x->rank, err);
	if (s == STATUS_OK && t->axis == x->rank - 1)
		s = error_set(err, STATUS_FORMAT, "the axis is that of the real and imaginary parts");
	if (s == STATUS_OK)
		s = number(&t->length, n, in, 1, t->half ? 2 * (x->dim[t->axis] - 1) : x->dim[t->axis], err);
	if (s == STATUS_OK)
		s = check_length(t->length, "dft_length", err);
	if (s != STATUS_OK)
		return s;
	t->parts = t->half ? 1 : 2;
	t->bins = a->onesided && !t->half ? t->length / 2 + 1 : t->length;
	return STATUS_OK;
}

enum status dft_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	struct transform t;
	enum status s = resolve(&t, n, in, err);
	if (s != STATUS_OK)
		return s;
	y.dim[t.axis] = t.bins;
	y.dim[y.rank - 1] = t.parts;
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

enum status dft_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int parts = (int)x->dim[x->rank - 1];
	struct transform t;
	enum status s = resolve(&t, n, in, err);
	if (s != STATUS_OK)
		return s;
	int64_t inner = rule_product(x, t.axis + 1, x->rank - 1);
	const struct lines lines = {.outer = rule_product(x, 0, t.axis), .inner = inner, .x = in[0]->data, .y = out[0].data,
	    .x_outer = x->dim[t.axis] * inner * parts, .x_inner = parts, .x_step = inner * parts,
	    .y_outer = t.bins * inner * t.parts, .y_inner = t.parts, .y_step = inner * t.parts,
	    .n = x->dim[t.axis], .length = t.length, .bins = t.bins, .parts = parts, .y_parts = t.parts, .half = t.half,
	    .inverse = ((const struct signal_attrs *)n->attrs)->inverse != 0};
	return transform_lines(&lines, width, err);
}

struct frames {
	int64_t step, length, count, bins;
	const struct tensor *window;
};

static enum status resolve_frames(struct frames *f, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	enum status s = number(&f->step, n, in, 1, 0, err);
	f->window = rule_input(n, in, 2);
	if (s == STATUS_OK && (x->rank < 2 || x->rank > 3 || (x->rank == 3 && x->dim[2] != 1 && x->dim[2] != 2)))
		s = error_set(err, STATUS_FORMAT, "the signal must be [batch, length, 1 or 2]");
	if (s == STATUS_OK && f->window && f->window->shape.rank != 1)
		s = error_set(err, STATUS_FORMAT, "the window must have one dimension");
	if (s == STATUS_OK)
		s = number(&f->length, n, in, 3, f->window ? f->window->shape.dim[0] : 0, err);
	if (s == STATUS_OK)
		s = check_length(f->length, "frame_length", err);
	if (s == STATUS_OK)
		s = check_length(f->step, "frame_step", err);
	if (s == STATUS_OK && ((f->window && f->window->shape.dim[0] != f->length) || f->length > x->dim[1]))
		s = error_set(err, STATUS_FORMAT, "frames of %lld do not fit the window or a signal of %lld", (long long)f->length,
		    (long long)x->dim[1]);
	if (s != STATUS_OK)
		return s;
	f->count = (x->dim[1] - f->length) / f->step + 1;
	f->bins = ((const struct signal_attrs *)n->attrs)->onesided ? f->length / 2 + 1 : f->length;
	return STATUS_OK;
}

enum status stft_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct frames f;
	enum status s = resolve_frames(&f, n, in, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &(struct shape){4, {in[0]->shape.dim[0], f.count, f.bins, 2}});
	return s;
}

enum status stft_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int parts = x->rank == 3 ? (int)x->dim[2] : 1;
	struct frames f;
	enum status s = resolve_frames(&f, n, in, err);
	if (s != STATUS_OK)
		return s;
	const struct lines lines = {.outer = x->dim[0], .inner = f.count, .x = in[0]->data, .y = out[0].data,
	    .window = f.window ? f.window->data : NULL,
	    .x_outer = x->dim[1] * parts, .x_inner = f.step * parts, .x_step = parts,
	    .y_outer = f.count * f.bins * 2, .y_inner = f.bins * 2, .y_step = 2,
	    .n = f.length, .length = f.length, .bins = f.bins, .parts = parts, .y_parts = 2};
	return transform_lines(&lines, width, err);
}

// ---- MelWeightMatrix

enum { MEL_BINS, MEL_LENGTH, MEL_RATE, MEL_LOW, MEL_HIGH };

struct mel {
	double low, step; // in mel
	double per_hertz; // elements of the spectrum
	int64_t rows;
};

// The element of the spectrum on which edge i lies, -1 where none does.
static int64_t edge(const struct mel *m, int64_t i)
{
	double hertz = 700 * (pow(10, (m->low + (double)i * m->step) / 2595) - 1), at = floor(hertz * m->per_hertz);
	return at >= 0 && at < (double)m->rows ? (int64_t)at : -1;
}

static struct mel mel_of(const struct tensor *const *in, int64_t bins, int64_t rows)
{
	double low = 2595 * log10(1 + element_double(in[MEL_LOW], 0) / 700), high = 2595 * log10(1 + element_double(in[MEL_HIGH], 0) / 700);
	double per_hertz = (double)(element_int(in[MEL_LENGTH], 0) + 1) / (double)element_int(in[MEL_RATE], 0);
	return (struct mel){.low = low, .step = (high - low) / (double)(bins + 2), .per_hertz = per_hertz, .rows = rows};
}

static enum status check_band(const struct mel *m, int64_t i, struct error *err)
{
	int64_t low = edge(m, i), top = edge(m, i + 1), high = edge(m, i + 2);
	return low < 0 || top < low || high < top
	    ? error_set(err, STATUS_FORMAT, "the edges of band %lld lie outside of the spectrum", (long long)i) : STATUS_OK;
}

enum status mel_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum dtype type = rule_dtype(((const struct signal_attrs *)n->attrs)->output_dtype);
	int64_t bins, length, rate = 0;
	enum status s = number(&bins, n, in, MEL_BINS, 0, err);
	if (s == STATUS_OK)
		s = number(&length, n, in, MEL_LENGTH, 0, err);
	if (s == STATUS_OK)
		s = number(&rate, n, in, MEL_RATE, 0, err);
	if (s == STATUS_OK && (shape_count(&in[MEL_LOW]->shape) != 1 || shape_count(&in[MEL_HIGH]->shape) != 1))
		s = error_set(err, STATUS_FORMAT, "the edges must be one number each");
	if (s == STATUS_OK && type != DT_F32)
		s = error_set(err, STATUS_UNSUPPORTED, "output_datatype is not supported");
	if (s == STATUS_OK)
		s = check_length(bins, "num_mel_bins", err);
	if (s == STATUS_OK)
		s = check_length(length, "dft_length", err);
	if (s == STATUS_OK)
		s = check_length(rate, "sample_rate", err);
	if (s == STATUS_OK && in[MEL_LOW]->data && in[MEL_HIGH]->data) {
		struct mel m = mel_of(in, bins, length / 2 + 1);
		for (int64_t i = 0; i < bins && s == STATUS_OK; i++)
			s = check_band(&m, i, err);
	}
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &(struct shape){2, {length / 2 + 1, bins}});
	return s;
}

// The triangle from one edge over the next, where it is 1, to the one behind that, where it is 0.
static enum status triangle(float *y, const struct mel *m, int64_t i, int64_t columns, struct error *err)
{
	int64_t low = edge(m, i), top = edge(m, i + 1), high = edge(m, i + 2);
	enum status s = check_band(m, i, err);
	if (s != STATUS_OK)
		return s;
	for (int64_t r = low; r < top; r++)
		y[r * columns + i] = (float)((double)(r - low) / (double)(top - low));
	y[top * columns + i] = 1;
	for (int64_t r = top + 1; r < high; r++)
		y[r * columns + i] = (float)((double)(high - r) / (double)(high - top));
	return STATUS_OK;
}

enum status mel_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t bins = out[0].shape.dim[1];
	struct mel m = mel_of(in, bins, out[0].shape.dim[0]);
	enum status s = STATUS_OK;
	(void)n;
	(void)width;
	for (int64_t i = 0; i < tensor_count(&out[0]); i++)
		((float *)out[0].data)[i] = 0;
	for (int64_t i = 0; i < bins && s == STATUS_OK; i++)
		s = triangle(out[0].data, &m, i, bins, err);
	return s;
}
