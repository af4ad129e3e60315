// Which cell of which level an element of an output belongs to.
#include <string.h>
#include "head.h"
#include "qtui/base/str.h"

enum { STRIDE_MIN = 4, STRIDE_MAX = 128 };

struct field field_part(const struct field *f, int first, int n)
{
	struct field part = *f;
	part.at += first * f->channel;
	part.channels = n;
	return part;
}

// No level has cells that are larger than the input.
static bool is_stride(const struct head *h, int stride)
{
	return stride <= STRIDE_MAX && (stride <= h->input_w || stride <= h->input_h);
}

int head_side(int input, int stride)
{
	return (input + stride - 1) / stride;
}

static int64_t cells(const struct head *h, int stride)
{
	return (int64_t)head_side(h->input_w, stride) * head_side(h->input_h, stride);
}

// The dimensions behind a leading 1 that is the batch; 0 when there is no fitting number of them.
static int dims_of(int64_t dim[4], const struct shape *s)
{
	int skip = s->rank > 2 && s->dim[0] == 1, n = s->rank - skip;
	if (n < 1 || n > 4)
		return 0;
	for (int i = 0; i < n; i++) {
		dim[i] = s->dim[skip + i];
		if (dim[i] < 1 || dim[i] > INT32_MAX)
			return 0;
	}
	return n;
}

bool head_rows(struct field *f, int64_t *n, const struct head *h, int output, int channels)
{
	int64_t d[4];
	if (dims_of(d, &h->out[output].shape) != 2)
		return false;
	bool last = channels ? d[1] == channels : d[0] >= d[1];
	if (channels && d[0] != channels && d[1] != channels)
		return false;
	*n = d[last ? 0 : 1];
	*f = (struct field){.output = output,
	    .channels = (int)d[last ? 1 : 0],
	    .anchors = 1,
	    .ends = h->out[output].ends,
	    .cell = last ? d[1] : 1,
	    .channel = last ? 1 : d[1]};
	return true;
}

static bool add_field(struct levels *l, const struct head *h, int stride, const struct field *f)
{
	int at = 0;
	while (at < l->n && l->level[at].stride < stride)
		at++;
	if (at == l->n || l->level[at].stride != stride) {
		if (l->n == LEVELS_MAX)
			return false;
		memmove(&l->level[at + 1], &l->level[at], (size_t)(l->n - at) * sizeof *l->level);
		l->level[at] =
		    (struct level){.stride = stride, .w = head_side(h->input_w, stride), .h = head_side(h->input_h, stride)};
		l->n++;
	}
	if (l->level[at].n_fields == LEVEL_FIELDS)
		return false;
	l->level[at].field[l->level[at].n_fields++] = *f;
	return true;
}

static bool is_map(const struct head *h, int stride, const int64_t *hw)
{
	return hw[0] == head_side(h->input_h, stride) && hw[1] == head_side(h->input_w, stride);
}

// [H, W, A, C]
static bool anchors_inside(struct field *f, const struct head *h, int stride, const int64_t *d)
{
	if (!is_map(h, stride, d) || is_map(h, stride, d + 1) || is_map(h, stride, d + 2))
		return false;
	*f = (struct field){.output = f->output,
	    .ends = f->ends,
	    .channels = (int)d[3],
	    .anchors = (int)d[2],
	    .anchor = d[3],
	    .cell = d[2] * d[3],
	    .channel = 1};
	return true;
}

// [C, H, W], [H, W, C], [A, H, W, C], [A, C, H, W] or [H, W, A, C].
static bool map_field(struct field *f, const struct head *h, int stride, const int64_t *d, int rank)
{
	if (rank == 4 && anchors_inside(f, h, stride, d))
		return true;
	int anchors = rank == 4 ? (int)d[0] : 1;
	d += rank == 4;
	bool first = is_map(h, stride, d + 1);
	if (!first && !is_map(h, stride, d))
		return false;
	int64_t channels = d[first ? 0 : 2], n = cells(h, stride);
	*f = (struct field){.output = f->output,
	    .ends = f->ends,
	    .channels = (int)channels,
	    .anchors = anchors,
	    .anchor = channels * n,
	    .cell = first ? 1 : channels,
	    .channel = first ? n : 1};
	return true;
}

struct maps head_prototypes(const struct head *h)
{
	struct maps p = {.map = {.channels = 0}};
	int found = 0;
	for (int stride = STRIDE_MIN; !found && is_stride(h, stride); stride *= 2)
		for (int i = 0; i < h->n; i++) {
			struct field f = {.output = i, .ends = h->out[i].ends};
			int64_t d[4];
			if (h->out[i].shape.rank != 4 || dims_of(d, &h->out[i].shape) != 3 || !map_field(&f, h, stride, d, 3))
				continue;
			found++;
			p = (struct maps){f, head_side(h->input_w, stride), head_side(h->input_h, stride)};
		}
	return found == 1 ? p : (struct maps){.map = {.channels = 0}};
}

bool head_object_maps(struct maps *m, const struct head *h, int64_t n)
{
	enum { SIDE_MIN = 7 }; // smaller ones are rows of something else, keypoints for one
	for (int i = 0; i < h->n; i++) {
		const struct shape *s = &h->out[i].shape;
		const int64_t *d = s->dim + (s->rank == 4);
		bool single = s->rank == 4 && d[0] == 1; // [n, 1, H, W]
		if ((s->rank != 4 && s->rank != 3) || (single ? s->dim[0] : d[0]) != n || (s->rank == 4 && !single && s->dim[0] != 1))
			continue;
		if (n && (d[1] < SIDE_MIN || d[2] < SIDE_MIN || d[1] > INT32_MAX || d[2] > INT32_MAX))
			continue;
		*m = (struct maps){{.output = i, .ends = h->out[i].ends, .channels = (int)n, .anchors = 1, .cell = 1, .channel = d[1] * d[2]},
		    .w = (int)d[2],
		    .h = (int)d[1]};
		return true;
	}
	return false;
}

bool head_names_masks(const struct head *h)
{
	for (int i = 0; i < h->n; i++) {
		int rank = h->out[i].shape.rank; // below 0: not known before anything has run
		if ((rank < 0 || rank == 3 || rank == 4) && str_glob("*mask*", h->out[i].name))
			return true;
	}
	return false;
}

int head_mask_channels(const struct head *h)
{
	enum { COMMON = 32 }; // where the prototypes were cut off
	int channels = head_prototypes(h).map.channels;
	return channels ? channels : h->segments ? COMMON : 0;
}

static bool add_map(struct levels *l, const struct head *h, int output)
{
	int64_t d[4];
	int rank = dims_of(d, &h->out[output].shape);
	for (int stride = STRIDE_MIN; rank >= 3 && is_stride(h, stride); stride *= 2) {
		struct field f = {.output = output, .ends = h->out[output].ends};
		if (map_field(&f, h, stride, d, rank))
			return add_field(l, h, stride, &f);
	}
	return false;
}

// Several levels begin with cells of 8 pixels or finer, those of three anchors with 16 at the most (YOLOv3-tiny): 300 queries would
// be 32 and 64 of 640 x 384, or 16 and 32 of 320 x 192.
static bool may_be_levels(const struct head *h, int first, int anchors)
{
	enum { FINEST_MAX = 8, FINEST_MAX_ANCHORS = 16 };
	return !h->chosen && first <= (anchors > 1 ? FINEST_MAX_ANCHORS : FINEST_MAX);
}

// Strides first..last whose cells, times 1 or 3 anchors, are n. Rows of the finest level alone come last: four levels of three
// anchors are as many.
static bool split_rows(int *first, int *last, int *anchors, const struct head *h, int64_t n)
{
	for (*anchors = 1; *anchors <= 3; *anchors += 2)
		for (*first = STRIDE_MIN; is_stride(h, *first); *first *= 2) {
			int64_t sum = 0;
			for (*last = *first; is_stride(h, *last); *last *= 2) {
				sum += cells(h, *last) * *anchors;
				bool alone = *last == *first;
				if (sum == n && (alone ? *first > STRIDE_MIN : may_be_levels(h, *first, *anchors)))
					return true;
			}
		}
	*first = *last = STRIDE_MIN;
	for (*anchors = 1; *anchors <= 3; *anchors += 2)
		if (is_stride(h, STRIDE_MIN) && cells(h, STRIDE_MIN) * *anchors == n)
			return true;
	return false;
}

static bool add_rows(struct levels *l, const struct head *h, int output)
{
	struct field f;
	int64_t n;
	int first, last, anchors;
	if (!head_rows(&f, &n, h, output, 0) || !split_rows(&first, &last, &anchors, h, n))
		return false;
	f.anchors = anchors;
	for (int stride = first; stride <= last; stride *= 2) {
		f.anchor = cells(h, stride) * f.cell;
		if (!add_field(l, h, stride, &f))
			return false;
		f.at += cells(h, stride) * anchors * f.cell;
	}
	return true;
}

void level_drop(struct level *l, int field)
{
	l->n_fields--;
	memmove(&l->field[field], &l->field[field + 1], (size_t)(l->n_fields - field) * sizeof *l->field);
}

static int field_of(const struct level *l, int channels)
{
	for (int i = 0; i < l->n_fields; i++)
		if (l->field[i].channels == channels)
			return i;
	return -1;
}

// Coefficients as an output of their own, of three anchors perhaps; *at: which field, -1 where they lie behind the rest
// of the level's only one.
static bool has_coefficients(int *at, const struct level *l, int masks)
{
	*at = l->n_fields > 1 ? field_of(l, masks) : -1;
	if (*at < 0 && l->n_fields > 1)
		*at = field_of(l, 3 * masks);
	return *at >= 0 || (l->n_fields == 1 && l->field[0].channels > masks + 4);
}

static void take_coefficients(struct level *l, int at, int masks)
{
	struct field f = l->field[at];
	if (f.channels != masks) {
		f.anchors = f.channels / masks;
		f.channels = masks;
		f.anchor = masks * f.channel;
	}
	level_drop(l, at);
	l->mask = f;
}

// The finest level has prototypes alone, and each of the others as many coefficients.
static void take_masks(struct levels *l)
{
	int masks = l->n > 1 && l->level[0].n_fields == 1 ? l->level[0].field[0].channels : 0, at;
	for (int i = 1; i < l->n; i++)
		if (!masks || !has_coefficients(&at, &l->level[i], masks))
			return;
	for (int i = 1; masks && i < l->n; i++) {
		has_coefficients(&at, &l->level[i], masks);
		if (at >= 0)
			take_coefficients(&l->level[i], at, masks);
		l->level[i - 1] = l->level[i];
	}
	l->n -= masks > 0;
}

// The coarsest level may have fewer rows than channels (PicoDet: 25 of 32): it has as many channels as the finest.
static void add_few_rows(struct levels *l, const struct head *h, int output, int stride)
{
	struct field f;
	int64_t n;
	if (head_rows(&f, &n, h, output, 0) && n <= INT32_MAX && head_rows(&f, &n, h, output, (int)n) && n == cells(h, stride) &&
	    field_of(&l->level[0], f.channels) >= 0)
		add_field(l, h, stride, &f);
}

static bool has_output(const struct levels *l, int output)
{
	for (int i = 0; i < l->n; i++)
		for (int k = 0; k < l->level[i].n_fields; k++)
			if (l->level[i].field[k].output == output)
				return true;
	return false;
}

bool head_levels(struct levels *l, const struct head *h)
{
	*l = (struct levels){0};
	if (h->input_w < 1 || h->input_h < 1)
		return false;
	for (int i = 0; i < h->n; i++)
		if (!add_map(l, h, i))
			add_rows(l, h, i);
	int last = l->n ? l->level[l->n - 1].stride : 0;
	for (int i = 0; i < h->n && last; i++)
		for (int stride = last; !has_output(l, i) && stride <= 2 * last && is_stride(h, stride); stride *= 2)
			add_few_rows(l, h, i, stride);
	take_masks(l);
	for (int i = 1; i < l->n; i++)
		if (l->level[i].n_fields != l->level[0].n_fields)
			return false;
	return l->n > 0;
}

bool head_is_dense(const struct head *h, int64_t n)
{
	enum { FINEST = 8, COARSEST = 128, DENSE = 9 };
	int64_t sum = 0;
	for (int stride = FINEST; stride <= COARSEST && h->input_w > 0 && h->input_h > 0; stride *= 2)
		sum += DENSE * cells(h, stride);
	return n > 0 && n == sum;
}

bool head_is_pyramid(const struct head *h, int anchors)
{
	struct levels l;
	return head_levels(&l, h) && l.n > 1 && (!anchors || l.level[0].field[0].anchors == anchors);
}
