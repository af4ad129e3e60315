#include "convolve.h"

struct tap { // one position of the kernel
	int64_t offset[WINDOW_DIMS];
	struct span span[WINDOW_DIMS];
};

// `moving` is the side that steps by the stride, `fixed` the side that is addressed.
static struct tap make_tap(const struct window *w, int64_t k, const int64_t *moving, const int64_t *fixed)
{
	struct tap t;
	for (int i = WINDOW_DIMS - 1; i >= 0; i--) {
		t.offset[i] = k % w->kernel[i] * w->dilation[i] - w->before[i];
		t.span[i] = window_span(moving[i], fixed[i], w->stride[i], t.offset[i]);
		k /= w->kernel[i];
	}
	return t;
}

#define CONVOLVE(name, type)                                                                                           \
	static void name##_tap(const struct window *w, const struct tap *t, const type *x, type weight, type *y)       \
	{                                                                                                              \
		const int64_t step = w->stride[2], n = t->span[2].end - t->span[2].first;                              \
		for (int64_t d = t->span[0].first; d < t->span[0].end; d++)                                            \
			for (int64_t h = t->span[1].first; h < t->span[1].end; h++) {                                  \
				const type *row =                                                                      \
				    x +                                                                                \
				    ((d * w->stride[0] + t->offset[0]) * w->in[1] + h * w->stride[1] + t->offset[1]) * \
				        w->in[2] +                                                                     \
				    t->span[2].first * step + t->offset[2];                                            \
				type *dst = y + (d * w->out[1] + h) * w->out[2] + t->span[2].first;                    \
				if (step == 1) {                                                                       \
					_Pragma("omp simd") for (int64_t i = 0; i < n; i++) dst[i] += weight * row[i]; \
				} else {                                                                               \
					for (int64_t i = 0; i < n; i++)                                                \
						dst[i] += weight * row[i * step];                                      \
				}                                                                                      \
			}                                                                                              \
	}                                                                                                              \
	void name(const struct convolve *t, const type *x, const type *w, type *y, int width)                          \
	{                                                                                                              \
		const struct window *win = &t->win;                                                                    \
		int64_t cg = t->c / t->group, per = t->oc / t->group, taps = window_kernel(win), in = window_in(win);  \
		_Pragma("omp parallel for num_threads(width) if (width > 1)") for (int64_t p = 0; p < t->n * t->oc;    \
		                                                                   p++)                                \
		{                                                                                                      \
			int64_t oc = p % t->oc, first = p / t->oc * t->c + oc / per * cg;                              \
			for (int64_t c = 0; c < cg; c++)                                                               \
				for (int64_t k = 0; k < taps; k++) {                                                   \
					struct tap tap = make_tap(win, k, win->out, win->in);                          \
					name##_tap(win, &tap, x + (first + c) * in, w[(oc * cg + c) * taps + k],       \
					    y + p * window_out(win));                                                  \
				}                                                                                      \
		}                                                                                                      \
	}
CONVOLVE(convolve_float, float)
CONVOLVE(convolve_int32, uint32_t)

static void transposed_tap(const struct window *w, const struct tap *t, const float *x, float weight, float *y)
{
	const int64_t step = w->stride[2], n = t->span[2].end - t->span[2].first;
	for (int64_t d = t->span[0].first; d < t->span[0].end; d++)
		for (int64_t h = t->span[1].first; h < t->span[1].end; h++) {
			const float *row = x + (d * w->in[1] + h) * w->in[2] + t->span[2].first;
			float *dst = y +
			             ((d * w->stride[0] + t->offset[0]) * w->out[1] + h * w->stride[1] + t->offset[1]) *
			                 w->out[2] +
			             t->span[2].first * step + t->offset[2];
			for (int64_t i = 0; i < n; i++)
				dst[i * step] += weight * row[i];
		}
}

void convolve_transposed(const struct convolve *t, const float *x, const float *w, float *y, int width)
{
	const struct window *win = &t->win;
	int64_t cg = t->c / t->group, per = t->oc / t->group, taps = window_kernel(win), in = window_in(win);

#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t p = 0; p < t->n * t->oc; p++) {
		int64_t oc = p % t->oc, group = oc / per;
		for (int64_t c = group * cg; c < (group + 1) * cg; c++)
			for (int64_t k = 0; k < taps; k++) {
				struct tap tap = make_tap(win, k, win->in, win->out);
				transposed_tap(win, &tap, x + (p / t->oc * t->c + c) * in,
				    w[(c * per + oc % per) * taps + k], y + p * window_out(win));
			}
	}
}
