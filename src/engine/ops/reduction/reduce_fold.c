#include "qtui/base/parts.h"
#include "reduce_fold.h"

#include <math.h>
#include "../../kernels/rows/row_folds.h"
#include "../element.h"

#define SUM(acc, v)    ((acc) + (v))
#define ABS(acc, v)    ((acc) + fabs(v))
#define SQUARE(acc, v) ((acc) + (v) * (v))
#define PROD(acc, v)   ((acc) * (v))
#define MAX(acc, v)    ((((v) > (acc)) | ((v) != (v))) ? (v) : (acc))
#define MIN(acc, v)    ((((v) < (acc)) | ((v) != (v))) ? (v) : (acc))

// Elements side by side go to accumulators side by side, or all to one.
#define RUN(name, term)                                                                                                \
	static void name(double *acc, int64_t step, const double *v, int64_t n)                                        \
	{                                                                                                              \
		if (step == 1) {                                                                                       \
			_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                            \
				acc[i] = term(acc[i], v[i]);                                                           \
			return;                                                                                        \
		}                                                                                                      \
		for (int64_t i = 0; i < n; i++)                                                                        \
			acc[i * step] = term(acc[i * step], v[i]);                                                     \
	}
RUN(run_sum, SUM)
RUN(run_abs, ABS)
RUN(run_square, SQUARE)
RUN(run_prod, PROD)
RUN(run_max, MAX)
RUN(run_min, MIN)

// Rows of n floats, `pitch` apart, to n accumulators side by side.
#define EACH(name, term)                                                                                               \
	static void name(double *acc, const float *x, int64_t pitch, int64_t rows, int64_t n)                          \
	{                                                                                                              \
		for (int64_t r = 0; r < rows; r++, x += pitch)                                                         \
			_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                            \
			{                                                                                              \
				double v = (double)x[i];                                                               \
				acc[i] = term(acc[i], v);                                                              \
			}                                                                                              \
	}
EACH(each_sum, SUM)
EACH(each_abs, ABS)
EACH(each_square, SQUARE)
EACH(each_prod, PROD)

// The largest or least is a float: no more than ELEMENTS_CHUNK of them.
#define EACH_END(name, term)                                                                                           \
	static void name(double *acc, const float *x, int64_t pitch, int64_t rows, int64_t n)                          \
	{                                                                                                              \
		float end[ELEMENTS_CHUNK];                                                                             \
		for (int64_t i = 0; i < n; i++)                                                                        \
			end[i] = x[i];                                                                                 \
		for (int64_t r = 1; r < rows; r++)                                                                     \
			_Pragma("omp simd") for (int64_t i = 0; i < n; i++) end[i] = term(end[i], x[r * pitch + i]);   \
		for (int64_t i = 0; i < n; i++)                                                                        \
			acc[i] = term(acc[i], (double)end[i]);                                                         \
	}
EACH_END(each_max, MAX)
EACH_END(each_min, MIN)

// A row of floats to one accumulator: long ones by vectors; of short ones four side by side,
// since each addition waits for the one before.
enum { LONG = 32 };
#define SHORT_ROWS(name, term)                                                                                         \
	static void name(double *acc, int64_t apart, const float *x, int64_t pitch, int64_t rows, int64_t n)          \
	{                                                                                                              \
		int64_t r = 0;                                                                                         \
		for (; r + 4 <= rows; r += 4, x += 4 * pitch) {                                                        \
			double a[4];                                                                                   \
			_Pragma("GCC unroll 4") for (int k = 0; k < 4; k++)                                            \
				a[k] = acc[(r + k) * apart];                                                           \
			for (int64_t i = 0; i < n; i++)                                                                \
				_Pragma("GCC unroll 4") for (int k = 0; k < 4; k++)                                    \
				{                                                                                      \
					double v = (double)x[k * pitch + i];                                           \
					a[k] = term(a[k], v);                                                          \
				}                                                                                      \
			_Pragma("GCC unroll 4") for (int k = 0; k < 4; k++)                                            \
				acc[(r + k) * apart] = a[k];                                                           \
		}                                                                                                      \
		for (; r < rows; r++, x += pitch)                                                                      \
			for (int64_t i = 0; i < n; i++) {                                                              \
				double v = (double)x[i];                                                               \
				acc[r * apart] = term(acc[r * apart], v);                                              \
			}                                                                                              \
	}
SHORT_ROWS(short_sum, SUM)
SHORT_ROWS(short_abs, ABS)
SHORT_ROWS(short_square, SQUARE)
SHORT_ROWS(prod_rows, PROD)

// Without a branch, which random numbers would take every other time.
#define SHORT_ENDS(name, beyond)                                                                                       \
	static void name(double *acc, int64_t apart, const float *x, int64_t pitch, int64_t rows, int64_t n)          \
	{                                                                                                              \
		for (int64_t r = 0; n > 0 && r < rows; r++, x += pitch) {                                              \
			float end = x[0];                                                                              \
			int nan = x[0] != x[0];                                                                        \
			for (int64_t i = 1; i < n; i++) {                                                              \
				end = x[i] beyond end ? x[i] : end;                                                    \
				nan |= x[i] != x[i];                                                                   \
			}                                                                                              \
			acc[r * apart] = nan ? NAN : (double)end beyond acc[r * apart] ? (double)end : acc[r * apart];  \
		}                                                                                                      \
	}
SHORT_ENDS(short_max, >)
SHORT_ENDS(short_min, <)

// `join` puts a row's own total to what is there.
#define ROWS(name, of, join, short_rows)                                                                               \
	static void name(double *acc, int64_t apart, const float *x, int64_t pitch, int64_t rows, int64_t n)          \
	{                                                                                                              \
		const struct row_folds *folds = row_folds_here();                                                      \
		if (n < LONG) {                                                                                        \
			short_rows(acc, apart, x, pitch, rows, n);                                                     \
			return;                                                                                        \
		}                                                                                                      \
		for (int64_t r = 0; r < rows; r++, x += pitch) {                                                       \
			double v = (double)folds->of(x, n);                                                            \
			acc[r * apart] = join(acc[r * apart], v);                                                      \
		}                                                                                                      \
	}
ROWS(sum_rows, sum, SUM, short_sum)
ROWS(abs_rows, abs, SUM, short_abs)
ROWS(square_rows, square, SUM, short_square)
ROWS(max_rows, most, MAX, short_max)
ROWS(min_rows, least, MIN, short_min)

static const struct {
	double start;
	void (*run)(double *acc, int64_t step, const double *v, int64_t n);
	void (*each)(double *acc, const float *x, int64_t pitch, int64_t rows, int64_t n);
	// Rows of n floats, `pitch` apart, each to its accumulator, `apart` apart.
	void (*rows)(double *acc, int64_t apart, const float *x, int64_t pitch, int64_t rows, int64_t n);
} steps[] = {
    [STEP_SUM] = {0, run_sum, each_sum, sum_rows},
    [STEP_ABS] = {0, run_abs, each_abs, abs_rows},
    [STEP_SQUARE] = {0, run_square, each_square, square_rows},
    [STEP_PROD] = {1, run_prod, each_prod, prod_rows},
    [STEP_MAX] = {-INFINITY, run_max, each_max, max_rows},
    [STEP_MIN] = {INFINITY, run_min, each_min, min_rows},
};

enum { ALONE = 32768 }; // elements that are not worth a second thread

double reduce_start(enum step step)
{
	return steps[step].start;
}

struct row_fold {
	enum step step;
	double *acc;
	const float *x;
	int64_t apart, pitch, n; // between accumulators and between rows; floats of a row
};

enum { ROWS_EACH = 256 }; // of a thread's turn

static void fold_some_rows(void *arg, int64_t at, int64_t rows)
{
	const struct row_fold *f = arg;
	steps[f->step].rows(f->acc + at * f->apart, f->apart, f->x + at * f->pitch, f->pitch, rows, f->n);
}

// Floats that are reduced over their last dimensions; false for anything else.
static bool fold_rows(enum step step, double *acc, const struct tensor *x, const struct strided *s, int width)
{
	bool many = s->rank > 1;
	int64_t rows = strided_rows(s);
	struct row_fold f = {step, acc, x->data, many ? s->stride[0][0] : 1, many ? s->stride[1][0] : 0, strided_run(s)};
	if (x->type != DT_F32 || s->rank > 2 || strided_step(s, 0) != 0 || strided_step(s, 1) != 1)
		return false;
	parts_cut(rows, ROWS_EACH, rows * f.n > ALONE ? width : 1, fold_some_rows, &f);
	return true;
}

struct fold {
	enum step step;
	double *acc;
	const struct tensor *x;
	const struct strided *s;
	const double *shift;
};

// Elements i, i + 1, ... of a run, at most ELEMENTS_CHUNK of them.
static void fold_piece(const struct fold *f, int64_t row, int64_t i)
{
	int64_t left = strided_run(f->s) - i, n = left < ELEMENTS_CHUNK ? left : ELEMENTS_CHUNK, at[STRIDED_MAX];
	int64_t to = strided_step(f->s, 0), from = strided_step(f->s, 1);
	double v[ELEMENTS_CHUNK];
	strided_at(f->s, row, at);
	elements_load_double(v, f->x->type, f->x->data, at[1] + i * from, from, n);
	for (int64_t j = 0; f->shift && j < n; j++)
		v[j] = exp(v[j] - f->shift[at[0] + (i + j) * to]);
	steps[f->step].run(f->acc + at[0] + i * to, to, v, n);
}

// The same elements of `rows` rows that have their accumulators in common.
static void fold_pieces(const struct fold *f, int64_t row, int64_t rows, int64_t i)
{
	int64_t left = strided_run(f->s) - i, at[STRIDED_MAX], pitch = f->s->rank > 1 ? f->s->stride[1][f->s->rank - 2] : 0;
	if (f->x->type != DT_F32 || f->shift || strided_step(f->s, 0) != 1 || strided_step(f->s, 1) != 1) {
		for (int64_t r = 0; r < rows; r++)
			fold_piece(f, row + r, i);
		return;
	}
	strided_at(f->s, row, at);
	steps[f->step].each(
	    f->acc + at[0] + i, (const float *)f->x->data + at[1] + i, pitch, rows, left < ELEMENTS_CHUNK ? left : ELEMENTS_CHUNK);
}

// Each piece of a run has accumulators of its own, which stay in the cache over the rows.
static void fold_columns(void *arg, int64_t at, int64_t n)
{
	const struct fold *f = arg;
	const struct strided *s = f->s;
	int64_t together = s->rank > 1 && s->stride[0][s->rank - 2] == 0 ? s->dim[s->rank - 2] : 1, rows = strided_rows(s);
	(void)n;
	for (int64_t r = 0; r < rows; r += together)
		fold_pieces(f, r, together, at);
}

void reduce_fold(enum step step, double *acc, const struct tensor *x, const struct strided *s, const double *shift, int width)
{
	struct fold f = {step, acc, x, s, shift};
	int64_t rows = strided_rows(s), run = strided_run(s);
	if (!shift && fold_rows(step, acc, x, s, width))
		return;
	if (strided_step(s, 0) == 0) {
		for (int64_t r = 0; r < rows; r++)
			for (int64_t i = 0; i < run; i += ELEMENTS_CHUNK)
				fold_piece(&f, r, i);
		return;
	}
	parts_cut(run, ELEMENTS_CHUNK, rows * run > ALONE ? width : 1, fold_columns, &f);
}
