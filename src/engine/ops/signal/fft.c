#include "fft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"

enum { RADIX_MAX = 64, STEPS_MAX = 64 };

typedef struct {
	double re, im;
} cplx;

struct fft {
	int64_t n;
	int radix[STEPS_MAX], steps;
	cplx *turn; // e^(-+2 pi sqrt(-1) i / n)
	// Where n has a factor over RADIX_MAX: products with the chirp, convolved with its inverse,
	// of which this is the transform.
	struct fft *forth, *back;
	cplx *chirp, *filter;
};

static cplx times(cplx a, cplx b)
{
	return (cplx){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static cplx plus(cplx a, cplx b)
{
	return (cplx){a.re + b.re, a.im + b.im};
}

static cplx minus(cplx a, cplx b)
{
	return (cplx){a.re - b.re, a.im - b.im};
}

static cplx conjugate(cplx a)
{
	return (cplx){a.re, -a.im};
}

// i parts of n of a turn.
static cplx turned(int64_t i, int64_t n, bool inverse)
{
	double angle = 2 * acos(-1) * (double)i / (double)n;
	return (cplx){cos(angle), inverse ? sin(angle) : -sin(angle)};
}

static int64_t divide(struct fft *f, int64_t left, int p)
{
	for (; left % p == 0; left /= p)
		f->radix[f->steps++] = p;
	return left;
}

// Fours, then primes; false where one is over RADIX_MAX.
static bool factorise(struct fft *f)
{
	int64_t left = divide(f, f->n, 4);
	for (int p = 2; left > 1 && p <= RADIX_MAX; p++)
		left = divide(f, left, p);
	if (f->steps == 0)
		f->radix[0] = 1; // of one element
	return left == 1;
}

// ---- steps

// One column of `p` transforms of m elements each: t, times their turns, to y[0], y[m] ...
static void butterfly(const struct fft *f, cplx *y, int64_t m, int p, const cplx *t)
{
	cplx sum, even, odd;
	switch (p) {
	case 2:
		y[0] = plus(t[0], t[1]);
		y[m] = minus(t[0], t[1]);
		break;
	case 4:
		even = minus(t[0], t[2]);
		odd = times(minus(t[1], t[3]), f->turn[f->n / 4]);
		y[0] = plus(plus(t[0], t[2]), plus(t[1], t[3]));
		y[m] = plus(even, odd);
		y[2 * m] = minus(plus(t[0], t[2]), plus(t[1], t[3]));
		y[3 * m] = minus(even, odd);
		break;
	default:
		for (int q = 0; q < p; q++) {
			sum = t[0];
			for (int r = 1; r < p; r++)
				sum = plus(sum, times(t[r], f->turn[r * q % p * (f->n / p)]));
			y[q * m] = sum;
		}
	}
}

// The transform of n elements of x, `stride` apart, from step `step` on.
static void mixed(const struct fft *f, cplx *y, const cplx *x, int64_t n, int64_t stride, int step)
{
	int p = f->radix[step];
	int64_t m = n / p;
	cplx t[RADIX_MAX];
	for (int r = 0; r < p && m > 1; r++)
		mixed(f, y + r * m, x + r * stride, m, stride * p, step + 1);
	for (int64_t k = 0; k < m; k++) {
		for (int r = 0; r < p; r++)
			t[r] = m > 1 ? times(y[r * m + k], f->turn[r * k * stride]) : x[r * stride];
		butterfly(f, y + k, m, p, t);
	}
}

// ---- Bluestein: i k = (i^2 + k^2 - (k - i)^2) / 2

static void convolve(const struct fft *f, cplx *y, const cplx *x, cplx *room)
{
	int64_t m = f->forth->n;
	cplx *spread = room, *spectrum = room + m;
	memset(spread, 0, (size_t)m * sizeof *spread);
	for (int64_t i = 0; i < f->n; i++)
		spread[i] = times(x[i], f->chirp[i]);
	mixed(f->forth, spectrum, spread, m, 1, 0);
	for (int64_t i = 0; i < m; i++)
		spectrum[i] = times(spectrum[i], f->filter[i]);
	mixed(f->back, spread, spectrum, m, 1, 0);
	for (int64_t i = 0; i < f->n; i++) {
		y[i] = times(spread[i], f->chirp[i]);
		y[i] = (cplx){y[i].re / (double)m, y[i].im / (double)m};
	}
}

static enum status make_turns(struct fft *f, bool inverse, struct error *err)
{
	f->turn = mem_try_array((size_t)f->n, sizeof *f->turn);
	if (!f->turn)
		return error_set(err, STATUS_NOMEM, "no memory for a transform of %lld", (long long)f->n);
	for (int64_t i = 0; i < f->n; i++)
		f->turn[i] = turned(i, f->n, inverse);
	return STATUS_OK;
}

static enum status make_filter(struct fft *f, bool inverse, struct error *err)
{
	int64_t m = 1;
	cplx *back = NULL;
	enum status s;
	while (m < 2 * f->n - 1)
		m *= 2;
	s = fft_new(&f->forth, m, false, err);
	if (s == STATUS_OK)
		s = fft_new(&f->back, m, true, err);
	if (s != STATUS_OK)
		return s;
	f->chirp = mem_try_array((size_t)f->n, sizeof *f->chirp);
	f->filter = mem_try_array((size_t)m, sizeof *f->filter);
	back = mem_try_array((size_t)m, sizeof *back);
	if (!f->chirp || !f->filter || !back) {
		free(back);
		return error_set(err, STATUS_NOMEM, "no memory for a transform of %lld", (long long)f->n);
	}
	for (int64_t i = 0; i < f->n; i++) {
		f->chirp[i] = turned(i * i % (2 * f->n), 2 * f->n, inverse);
		back[i] = back[i ? m - i : 0] = conjugate(f->chirp[i]);
	}
	mixed(f->forth, f->filter, back, m, 1, 0);
	free(back);
	return STATUS_OK;
}

// ----

enum status fft_new(struct fft **out, int64_t n, bool inverse, struct error *err)
{
	struct fft *f = *out = xcalloc(1, sizeof *f);
	enum status s;
	f->n = n;
	s = factorise(f) ? make_turns(f, inverse, err) : make_filter(f, inverse, err);
	if (s != STATUS_OK)
		fft_free(out);
	return s;
}

void fft_free(struct fft **f)
{
	if (!*f)
		return;
	fft_free(&(*f)->forth);
	fft_free(&(*f)->back);
	free((*f)->turn);
	free((*f)->chirp);
	free((*f)->filter);
	free(*f);
	*f = NULL;
}

int64_t fft_room(const struct fft *f)
{
	return f->forth ? 4 * f->forth->n : 0;
}

void fft_run(const struct fft *f, double *y, const double *x, double *room)
{
	if (f->forth)
		convolve(f, (cplx *)(void *)y, (const cplx *)(const void *)x, (cplx *)(void *)room);
	else
		mixed(f, (cplx *)(void *)y, (const cplx *)(const void *)x, f->n, 1, 0);
}
