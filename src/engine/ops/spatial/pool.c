// MaxPool (with the indices of the maxima), AveragePool, LpPool.
#include <math.h>
#include "../ordered/ordered.h"
#include "../rule.h"
#include "qtui/base/parts.h"
#include "window.h"

static enum status resolve(struct window *w, const struct node *n, const struct shape *x, struct error *err)
{
	struct window_spec spec = window_of_pool(n->attrs);
	return window_resolve(w, &spec, x, NULL, err);
}

enum status pool_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct window w;
	struct shape y;
	enum status s = resolve(&w, n, &in[0]->shape, err);
	if (s != STATUS_OK)
		return s;
	if (n->op->id == OP_LpPool && ((const struct pool_attrs *)n->attrs)->p < 1)
		return error_set(err, STATUS_FORMAT, "p must be at least 1");
	y = window_shape(&w, in[0]->shape.dim[0], in[0]->shape.dim[1]);
	rule_set(&out[0], in[0]->type, &y);
	if (n->n_out > 1)
		rule_set(&out[1], DT_I64, &y);
	return STATUS_OK;
}

// What one output element sees: kernel positions 0..end-1 from `start`, those below `first` being padding.
struct field {
	int64_t at[WINDOW_DIMS]; // of the output element
	int64_t start[WINDOW_DIMS], first[WINDOW_DIMS], end[WINDOW_DIMS], padded_end[WINDOW_DIMS];
};

static int64_t positions_below(int64_t limit, int64_t dilation, int64_t kernel)
{
	if (limit > (kernel - 1) * dilation) // nearly always, and without a division
		return kernel;
	return limit > 0 ? (limit + dilation - 1) / dilation : 0;
}

static void field_axis(struct field *f, const struct window *w, int i, int64_t o)
{
	int64_t start = o * w->stride[i] - w->before[i];
	f->at[i] = o;
	f->start[i] = start;
	f->first[i] = positions_below(-start, w->dilation[i], w->kernel[i]);
	f->end[i] = positions_below(w->in[i] - start, w->dilation[i], w->kernel[i]);
	f->padded_end[i] = positions_below(w->in[i] + w->after[i] - start, w->dilation[i], w->kernel[i]);
}

static struct field first_field(const struct window *w)
{
	struct field f;
	for (int i = 0; i < WINDOW_DIMS; i++)
		field_axis(&f, w, i, 0);
	return f;
}

// On to the next output element of the plane.
static void next_field(struct field *f, const struct window *w)
{
	int i = WINDOW_DIMS - 1;
	for (; i > 0 && f->at[i] + 1 == w->out[i]; i--)
		field_axis(f, w, i, 0);
	field_axis(f, w, i, f->at[i] + 1);
}

// Where kernel position 0 of a row of the field lies in the plane.
static int64_t row_start(const struct window *w, const struct field *f, int64_t kd, int64_t kh)
{
	int64_t d = f->start[0] + kd * w->dilation[0], h = f->start[1] + kh * w->dilation[1];
	return (d * w->in[1] + h) * w->in[2] + f->start[2];
}

// Runs the statement for each input position `at` that the field covers.
#define EACH_POSITION(w, f, statement)                                                                                 \
	for (int64_t kd = (f)->first[0]; kd < (f)->end[0]; kd++)                                                       \
		for (int64_t kh = (f)->first[1]; kh < (f)->end[1]; kh++) {                                             \
			int64_t row = row_start(w, f, kd, kh);                                                         \
			for (int64_t kw = (f)->first[2]; kw < (f)->end[2]; kw++) {                                     \
				int64_t at = row + kw * (w)->dilation[2];                                              \
				statement                                                                              \
			}                                                                                              \
		}

static float column_sum(const struct window *w, const struct field *f, const float *x, int64_t kw)
{
	float sum = 0;
	for (int64_t kd = f->first[0]; kd < f->end[0]; kd++)
		for (int64_t kh = f->first[1]; kh < f->end[1]; kh++)
			sum += x[row_start(w, f, kd, kh) + kw * w->dilation[2]];
	return sum;
}

static float rows_first(const struct window *w, const struct field *f, const float *x)
{
	float sum = 0;
	EACH_POSITION(w, f, sum += x[at];)
	return sum;
}

static bool is_whole_plane(const struct window *w)
{
	for (int i = 0; i < WINDOW_DIMS; i++)
		if (w->kernel[i] != w->in[i] || w->stride[i] != 1 || w->before[i] || w->after[i])
			return false;
	return true;
}

static float columns_first(const struct window *w, const struct field *f, const float *x)
{
	float sum = 0;
	for (int64_t kw = f->first[2]; kw < f->end[2]; kw++)
		sum += column_sum(w, f, x, kw);
	return sum;
}

// In float32, in the orders that ONNX Runtime's kernels of each version have (that of QLinearAveragePool: rows first):
// means of dequantized codes often lie halfway between two codes, and the order of the sum
// then decides which of them the mean becomes.
static float sum_of(const struct window *w, const struct field *f, const float *x, const struct op *op)
{
	bool small = w->kernel[0] <= 32 && w->kernel[1] <= 32 && w->kernel[2] <= 32;
	if (op->since >= 19 || op->id == OP_QLinearAveragePool)
		return rows_first(w, f, x);
	if (is_whole_plane(w))
		return ordered_plane_sum(x, window_in(w));
	return small && w->stride[2] <= 2 ? columns_first(w, f, x) : rows_first(w, f, x);
}

// Where padding counts, so does for QLinearAveragePool what ceil_mode has of the window beyond it.
static float average(const struct window *w, const struct field *f, const float *x, const struct node *n)
{
	bool include_pad = ((const struct pool_attrs *)n->attrs)->count_include_pad != 0;
	const int64_t *padded = n->op->id == OP_QLinearAveragePool ? w->kernel : f->padded_end;
	float sum = sum_of(w, f, x, n->op), count = 1;
	for (int i = 0; i < WINDOW_DIMS; i++)
		count *= (float)(include_pad ? padded[i] : f->end[i] - f->first[i]);
	return count > 0 ? sum / count : 0;
}

static float lp_norm(const struct window *w, const struct field *f, const float *x, double p)
{
	double sum = 0;
	if (p == 2) {
		EACH_POSITION(w, f, sum += (double)x[at] * (double)x[at];)
		return (float)sqrt(sum);
	}
	EACH_POSITION(w, f, sum += pow(fabs((double)x[at]), p);)
	return (float)pow(sum, 1 / p);
}

// The maximum, the first of equals, becomes element `to` of y; returns its position:
// -1, and 0 in y, where the field lies in the padding.
#define MAX_AT(name, type)                                                                                             \
	static int64_t name(const struct window *w, const struct field *f, const void *data, void *y, int64_t to)      \
	{                                                                                                              \
		const type *x = data;                                                                                  \
		int64_t best = -1;                                                                                     \
		type most = 0;                                                                                         \
		EACH_POSITION(w, f, bool more = best < 0 || x[at] > most; best = more ? at : best; most = more ? x[at] : most;) \
		((type *)y)[to] = most;                                                                                \
		return best;                                                                                           \
	}
MAX_AT(max_f32, float)
MAX_AT(max_i8, int8_t)
MAX_AT(max_u8, uint8_t)
MAX_AT(max_i16, int16_t)
MAX_AT(max_u16, uint16_t)
MAX_AT(max_i32, int32_t)
MAX_AT(max_u32, uint32_t)
MAX_AT(max_i64, int64_t)
MAX_AT(max_u64, uint64_t)
static int64_t (*const max_at[DT_COUNT])(const struct window *, const struct field *, const void *, void *, int64_t) = {
    [DT_F32] = max_f32,
    [DT_I8] = max_i8,
    [DT_U8] = max_u8,
    [DT_I16] = max_i16,
    [DT_U16] = max_u16,
    [DT_I32] = max_i32,
    [DT_U32] = max_u32,
    [DT_I64] = max_i64,
    [DT_U64] = max_u64,
};

// Index into the whole input tensor; column-major within a plane for storage_order 1.
static int64_t index_of(const struct window *w, int64_t plane, int64_t at, bool column_major)
{
	if (column_major) {
		int64_t d = at / (w->in[1] * w->in[2]), h = at / w->in[2] % w->in[1], col = at % w->in[2];
		at = (col * w->in[1] + h) * w->in[0] + d;
	}
	return plane * window_in(w) + at;
}

static void max_plane(
    const struct window *w, const struct tensor *x, struct tensor *y, int64_t *index, int64_t plane, bool column_major)
{
	int64_t size = window_out(w);
	const char *from = (const char *)x->data + (size_t)(plane * window_in(w)) * dtype_size(x->type);
	struct field f = first_field(w);
	for (int64_t o = 0; o < size; o++, next_field(&f, w)) {
		int64_t at = max_at[x->type](w, &f, from, y->data, plane * size + o);
		if (index)
			index[plane * size + o] = at < 0 ? -1 : index_of(w, plane, at, column_major);
	}
}

static void float_plane(const struct window *w, const struct node *n, const float *x, float *y)
{
	const struct pool_attrs *a = n->attrs;
	struct field f = first_field(w);
	for (int64_t o = 0; o < window_out(w); o++, next_field(&f, w))
		y[o] = n->op->id == OP_LpPool ? lp_norm(w, &f, x, (double)a->p) : average(w, &f, x, n);
}

struct planes {
	struct window w;
	const struct node *node;
	const struct tensor *x;
	struct tensor *y;
	int64_t *index; // of maxima, or NULL
};

static void one_plane(void *arg, int64_t p, int thread)
{
	const struct planes *a = arg;
	(void)thread;
	if (a->node->op->id == OP_MaxPool)
		max_plane(&a->w, a->x, a->y, a->index, p, ((const struct pool_attrs *)a->node->attrs)->storage_order == 1);
	else
		float_plane(&a->w, a->node, (const float *)a->x->data + p * window_in(&a->w), (float *)a->y->data + p * window_out(&a->w));
}

enum status pool_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct planes p = {.node = n, .x = in[0], .y = &out[0], .index = n->n_out > 1 && n->out[1] >= 0 ? out[1].data : NULL};
	enum status s = resolve(&p.w, n, &in[0]->shape, err);
	if (s != STATUS_OK)
		return s;
	parts_share(in[0]->shape.dim[0] * in[0]->shape.dim[1], width, one_plane, &p);
	return STATUS_OK;
}
