#include "window.h"

#include <string.h>
#include "../rule.h"

struct window_spec window_of_conv(const struct conv_attrs *a)
{
	return (struct window_spec){.auto_pad = a->auto_pad,
	    .strides = &a->strides,
	    .dilations = &a->dilations,
	    .pads = &a->pads,
	    .kernel_shape = &a->kernel_shape,
	    .output_padding = &a->output_padding,
	    .output_shape = &a->output_shape};
}

struct window_spec window_of_pool(const struct pool_attrs *a)
{
	return (struct window_spec){.auto_pad = a->auto_pad,
	    .strides = &a->strides,
	    .dilations = &a->dilations,
	    .pads = &a->pads,
	    .kernel_shape = &a->kernel_shape,
	    .ceil_mode = a->ceil_mode != 0};
}

// Copies an attribute list to the last places of out[WINDOW_DIMS], the rest and an absent list being `dflt`.
static enum status spatial_list(int64_t out[WINDOW_DIMS], const struct ints *list, int spatial, int64_t low,
    int64_t dflt, const char *what, struct error *err)
{
	for (int i = 0; i < WINDOW_DIMS; i++)
		out[i] = dflt;
	if (!list || !list->at || list->n <= 0)
		return STATUS_OK;
	if (list->n != spatial)
		return error_set(
		    err, STATUS_FORMAT, "%s has %d values for %d spatial dimensions", what, list->n, spatial);
	for (int i = 0; i < spatial; i++) {
		if (!rule_within(list->at[i], low, RULE_MAX_DIM))
			return error_set(err, STATUS_FORMAT, "%s[%d] is %lld", what, i, (long long)list->at[i]);
		out[WINDOW_DIMS - spatial + i] = list->at[i];
	}
	return STATUS_OK;
}

static enum status read_pads(struct window *w, const struct ints *pads, struct error *err)
{
	struct ints before, after;
	enum status s;
	if (!pads->at || pads->n <= 0)
		return STATUS_OK;
	if (pads->n != 2 * w->spatial)
		return error_set(
		    err, STATUS_FORMAT, "pads has %d values for %d spatial dimensions", pads->n, w->spatial);
	before = (struct ints){pads->at, w->spatial};
	after = (struct ints){pads->at + w->spatial, w->spatial};
	s = spatial_list(w->before, &before, w->spatial, 0, 0, "pads", err);
	return s == STATUS_OK ? spatial_list(w->after, &after, w->spatial, 0, 0, "pads", err) : s;
}

static enum status read_sizes(
    struct window *w, const struct window_spec *spec, const struct shape *x, const int64_t *kernel, struct error *err)
{
	enum status s;
	*w = (struct window){.spatial = x->rank - 2};
	if (w->spatial < 1 || w->spatial > WINDOW_DIMS)
		return error_set(err, STATUS_UNSUPPORTED, "the input has %d spatial dimensions, 1 to %d are supported",
		    w->spatial, WINDOW_DIMS);
	s = spatial_list(w->stride, spec->strides, w->spatial, 1, 1, "strides", err);
	if (s == STATUS_OK)
		s = spatial_list(w->dilation, spec->dilations, w->spatial, 1, 1, "dilations", err);
	if (s == STATUS_OK)
		s = spatial_list(w->kernel, spec->kernel_shape, w->spatial, 1, 1, "kernel_shape", err);
	if (s == STATUS_OK && !kernel && spec->kernel_shape->n <= 0)
		s = error_set(err, STATUS_FORMAT, "attribute kernel_shape is missing");
	for (int i = 0; s == STATUS_OK && i < WINDOW_DIMS; i++) {
		int j = i - (WINDOW_DIMS - w->spatial);
		w->in[i] = j < 0 ? 1 : x->dim[j + 2];
		if (j < 0 || !kernel)
			continue;
		if (spec->kernel_shape->n > 0 && w->kernel[i] != kernel[j])
			s = error_set(err, STATUS_FORMAT, "kernel_shape[%d] is %lld, the weights have %lld", j,
			    (long long)w->kernel[i], (long long)kernel[j]);
		w->kernel[i] = kernel[j];
		if (kernel[j] < 1 || kernel[j] > RULE_MAX_DIM)
			s = error_set(err, STATUS_FORMAT, "the weights have %lld elements along a spatial dimension",
			    (long long)kernel[j]);
	}
	return s;
}

static int64_t extent(const struct window *w, int i) // of the dilated kernel
{
	return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

static void place_padding(struct window *w, int i, int64_t total, bool more_after)
{
	total = total < 0 ? 0 : total;
	w->before[i] = more_after ? total / 2 : total - total / 2;
	w->after[i] = total - w->before[i];
}

static bool is_same(const char *auto_pad)
{
	return !strcmp(auto_pad, "SAME_UPPER") || !strcmp(auto_pad, "SAME_LOWER");
}

static enum status check_auto_pad(const char *auto_pad, struct error *err)
{
	if (is_same(auto_pad) || !strcmp(auto_pad, "NOTSET") || !strcmp(auto_pad, "VALID") || !*auto_pad)
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "auto_pad is `%s`", auto_pad);
}

// Rounded up, a window that lacks less than a stride still fits: it hangs over the end.
static void output_size(struct window *w, int i, bool ceil_mode)
{
	int64_t room = w->in[i] + w->before[i] + w->after[i] - extent(w, i) + (ceil_mode ? w->stride[i] - 1 : 0);
	if (room < 0) {
		w->out[i] = 0;
		return;
	}
	w->out[i] = room / w->stride[i] + 1;
	// a last window that would lie wholly in the padding behind is left out
	if (ceil_mode && (w->out[i] - 1) * w->stride[i] >= w->in[i] + w->before[i])
		w->out[i]--;
}

enum status window_resolve(
    struct window *w, const struct window_spec *spec, const struct shape *x, const int64_t *kernel, struct error *err)
{
	enum status s = read_sizes(w, spec, x, kernel, err);
	if (s == STATUS_OK)
		s = check_auto_pad(spec->auto_pad, err);
	if (s == STATUS_OK && strcmp(spec->auto_pad, "VALID"))
		s = read_pads(w, spec->pads, err);
	for (int i = 0; s == STATUS_OK && i < WINDOW_DIMS; i++) {
		if (is_same(spec->auto_pad)) {
			w->out[i] = (w->in[i] + w->stride[i] - 1) / w->stride[i];
			place_padding(w, i, (w->out[i] - 1) * w->stride[i] + extent(w, i) - w->in[i],
			    !strcmp(spec->auto_pad, "SAME_UPPER"));
		} else {
			output_size(w, i, spec->ceil_mode);
		}
		if (w->out[i] < 1 || w->in[i] < 1)
			s = error_set(err, STATUS_FORMAT,
			    "a window of %lld elements does not fit into %lld with padding %lld and %lld",
			    (long long)extent(w, i), (long long)w->in[i], (long long)w->before[i],
			    (long long)w->after[i]);
	}
	return s;
}

enum status window_resolve_transposed(
    struct window *w, const struct window_spec *spec, const struct shape *x, const int64_t *kernel, struct error *err)
{
	int64_t extra[WINDOW_DIMS], wanted[WINDOW_DIMS];
	struct ints last = *spec->output_shape; // may begin with batch and channels
	enum status s = read_sizes(w, spec, x, kernel, err);
	if (last.n > 0 && s == STATUS_OK && last.n == w->spatial + 2)
		last = (struct ints){last.at + 2, w->spatial};
	if (s == STATUS_OK)
		s = check_auto_pad(spec->auto_pad, err);
	if (s == STATUS_OK && strcmp(spec->auto_pad, "VALID"))
		s = read_pads(w, spec->pads, err);
	if (s == STATUS_OK)
		s = spatial_list(extra, spec->output_padding, w->spatial, 0, 0, "output_padding", err);
	if (s == STATUS_OK)
		s = spatial_list(wanted, &last, w->spatial, 1, 0, "output_shape", err);
	for (int i = 0; s == STATUS_OK && i < WINDOW_DIMS; i++) {
		int64_t full;
		if (w->in[i] < 1 || w->in[i] > RULE_MAX_DIM)
			return error_set(err, STATUS_FORMAT, "the input has %lld elements along a spatial dimension",
			    (long long)w->in[i]);
		full = w->stride[i] * (w->in[i] - 1) / 2 + extra[i] / 2 + extent(w, i) / 2;
		if (full > RULE_MAX_DIM)
			return error_set(err, STATUS_FORMAT, "the output would be too large");
		full = w->stride[i] * (w->in[i] - 1) + extra[i] + extent(w, i);
		if (wanted[i] > 0 || is_same(spec->auto_pad)) {
			int64_t same = full < w->in[i] * w->stride[i] ? full : w->in[i] * w->stride[i]; // padding is never negative
			w->out[i] = wanted[i] > 0 ? wanted[i] : same;
			place_padding(w, i, full - w->out[i], !strcmp(spec->auto_pad, "SAME_UPPER"));
		} else {
			w->out[i] = full - w->before[i] - w->after[i];
		}
		if (w->out[i] < 1)
			s = error_set(err, STATUS_FORMAT, "the padding leaves no output");
	}
	return s;
}

struct shape window_shape(const struct window *w, int64_t n, int64_t c)
{
	struct shape y = {2, {n, c}};
	for (int i = WINDOW_DIMS - w->spatial; i < WINDOW_DIMS; i++)
		rule_push(&y, w->out[i]);
	return y;
}

int64_t window_in(const struct window *w)
{
	return w->in[0] * w->in[1] * w->in[2];
}

int64_t window_out(const struct window *w)
{
	return w->out[0] * w->out[1] * w->out[2];
}

int64_t window_kernel(const struct window *w)
{
	return w->kernel[0] * w->kernel[1] * w->kernel[2];
}

struct span window_span(int64_t steps, int64_t size, int64_t stride, int64_t offset)
{
	struct span s = {.first = offset < 0 ? (-offset + stride - 1) / stride : 0};
	s.end = offset < size ? (size - 1 - offset) / stride + 1 : 0;
	if (s.end > steps)
		s.end = steps;
	if (s.first > s.end)
		s.first = s.end;
	return s;
}
