#include "pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "head.h"
#include "qtui/base/mem.h"
#include "qtui/engine/op.h"

enum { COARSEST = 16, LARGEST = 8, CLASSES_MAX = PIXEL_NO_CLASS, NO_PICTURE = 4 };

// ---- which output

// What a map of pixels comes from, past what only moves, converts or enlarges it.
static const struct node *origin(const struct graph *g, int value)
{
	static const char *const passed[] = {"Cast", "QuantizeLinear", "DequantizeLinear", "Identity", "Resize", "Upsample"};
	for (int steps = 0; steps < g->n_nodes; steps++) {
		int at = value < 0 ? -1 : g->value[value].producer;
		const struct node *n = at < 0 ? NULL : &g->node[at];
		bool pass = n && n->op->flags & OPF_MOVES;
		for (size_t i = 0; n && i < sizeof passed / sizeof *passed; i++)
			pass |= strcmp(n->op->name, passed[i]) == 0;
		if (!pass)
			return n;
		value = n->n_in ? n->in[0] : -1;
	}
	return NULL;
}

static bool is_op(const struct node *n, const char *op)
{
	return n && strcmp(n->op->name, op) == 0;
}

// How many elements an ArgMax chose between; 0: not known.
static int choices(const struct graph *g, const struct node *argmax)
{
	int64_t all = shape_count(&g->value[argmax->in[0]].shape), chosen = shape_count(&g->value[argmax->out[0]].shape);
	return all > 0 && chosen > 0 && all / chosen <= CLASSES_MAX ? (int)(all / chosen) : 0;
}

static void say_kind(struct pixels *p, const struct graph *g, enum dtype type, int64_t channels)
{
	const struct node *n = origin(g, g->output[p->output]);
	bool chosen = channels == 1 && (type != DT_F32 || is_op(n, "ArgMax"));
	bool probable = is_op(n, "Sigmoid") || is_op(n, "HardSigmoid");
	p->kind = chosen ? PIXELS_CLASSES : channels == 1 ? PIXELS_BINARY : PIXELS_SCORES;
	p->channels = (int)channels;
	p->threshold = probable ? .5F : 0;
	p->likely = chosen || channels >= NO_PICTURE || is_op(n, "Softmax") || (channels == 1 && probable);
	p->classes = p->kind == PIXELS_SCORES ? (int)channels : p->kind == PIXELS_BINARY ? 2 : is_op(n, "ArgMax") ? choices(g, n) : 0;
}

// Does a map of that size have the input's proportions, to a pixel, and a pixel for 16 of the input at least?
static bool is_map(int64_t map_w, int64_t map_h, int w, int h)
{
	if (map_w < 2 || map_h < 2 || map_w > LARGEST * (int64_t)w || map_h > LARGEST * (int64_t)h)
		return false;
	return llabs(map_w * h - map_h * w) <= (w > h ? w : h) && map_w * COARSEST >= w && map_h * COARSEST >= h;
}

// The dimensions of an output in one of its two readings: channels first or last.
static bool read_shape(struct pixels *p, int64_t *channels, const struct shape *s, bool last)
{
	int64_t d[3] = {1, 1, 1};
	int skip = s->rank == 4 ? 1 : 0, rank = s->rank - skip;
	if (rank < 2 || rank > 3 || (skip && s->dim[0] != 1))
		return false;
	for (int i = 0; i < rank; i++)
		d[3 - rank + i] = s->dim[skip + i];
	if (d[0] < 1 || d[1] < 1 || d[2] < 1 || d[0] > INT32_MAX || d[1] > INT32_MAX || d[2] > INT32_MAX)
		return false;
	*channels = d[last ? 2 : 0];
	p->h = (int)d[last ? 0 : 1];
	p->w = (int)d[last ? 1 : 2];
	p->channel = last ? 1 : d[1] * d[2];
	p->column = last ? d[2] : 1;
	p->row = last ? d[1] * d[2] : d[2];
	return *channels <= CLASSES_MAX;
}

static bool find_in(struct pixels *p, const struct graph *g, int output, const struct tensor *t, int w, int h)
{
	const struct value *v = &g->value[g->output[output]];
	for (int last = 0; last < 2; last++) {
		int64_t channels;
		struct pixels it = {.output = output};
		if (!read_shape(&it, &channels, t ? &t->shape : &v->shape, last) || !is_map(it.w, it.h, w, h))
			continue;
		say_kind(&it, g, t ? t->type : v->type, channels);
		*p = it;
		return true;
	}
	return false;
}

bool pixels_find(struct pixels *p, const struct graph *g, const struct tensor *out, int w, int h)
{
	bool found = false;
	for (int i = 0; i < g->n_outputs; i++) {
		struct pixels it;
		if (find_in(&it, g, i, out ? &out[i] : NULL, w, h) && (!found || (int64_t)it.w * it.h > (int64_t)p->w * p->h)) {
			*p = it;
			found = true;
		}
	}
	return found;
}

bool pixels_have_proportions(int w, int h, int image_w, int image_h)
{
	double off = fabs((double)w * image_h - (double)h * image_w);
	return off <= 1.5 * fmax(fmax(w, h), fmax(image_w, image_h));
}

bool pixels_are_all(const struct graph *g)
{
	struct pixels first, it;
	int w, h;
	head_input(&w, &h, g);
	for (int i = 0; i < g->n_outputs; i++) {
		if (!find_in(&it, g, i, NULL, w, h) || (i && (it.classes != first.classes || it.kind != first.kind)))
			return false;
		first = i ? first : it;
	}
	return w && g->n_outputs > 0;
}

// ---- lines of an image

// Where a pixel of the image lies in the map: between `at` and the next one, `part` of the way.
struct place {
	int at;
	float part;
	bool seen; // does the input hold it?
};
struct pixel_lines {
	struct pixels p;
	const float *data;
	struct place *x, *y; // [w], [h] of the image
	int w;
	float *row;          // [p.w + 1] of a channel, between two rows of the map; the last pixel twice
	float *best;         // [w]
	int16_t *class;      // [w]
};

static struct place *places_new(int n, int image, double scale, double pad, int input, int map)
{
	struct place *to = xcalloc((size_t)n, sizeof *to);
	for (int i = 0; i < n; i++) {
		double in = (i + .5) * image / n * scale + pad, at = in * map / input - .5;
		at = fmin(fmax(at, 0), map - 1);
		int whole = (int)floor(at);
		to[i] = (struct place){whole, (float)(at - whole), in >= 0 && in < input};
	}
	return to;
}

struct pixel_lines *pixel_lines_new(const struct pixels *p, const float *data, const struct placement *where, int w, int h)
{
	struct pixel_lines *l = xcalloc(1, sizeof *l);
	*l = (struct pixel_lines){.p = *p, .data = data, .w = w};
	l->x = places_new(w, where->image_w, where->scale_x, where->pad_x, where->input_w, p->w);
	l->y = places_new(h, where->image_h, where->scale_y, where->pad_y, where->input_h, p->h);
	l->row = xcalloc((size_t)p->w + 1, sizeof *l->row);
	l->best = xcalloc((size_t)w, sizeof *l->best);
	l->class = xcalloc((size_t)w, sizeof *l->class);
	return l;
}

void pixel_lines_free(struct pixel_lines **lp)
{
	struct pixel_lines *l = *lp;
	*lp = NULL;
	if (!l)
		return;
	free(l->x);
	free(l->y);
	free(l->row);
	free(l->best);
	free(l->class);
	free(l);
}

static void make_row(struct pixel_lines *l, struct place y, int channel)
{
	const struct pixels *p = &l->p;
	const float *a = l->data + p->channel * channel + p->row * y.at, *b = y.part > 0 ? a + p->row : a;
	for (int x = 0; x < p->w; x++)
		l->row[x] = a[p->column * x] + (b[p->column * x] - a[p->column * x]) * y.part;
	l->row[p->w] = l->row[p->w - 1];
}

static float between(const struct pixel_lines *l, int x)
{
	const float *from = l->row + l->x[x].at;
	return l->x[x].part > 0 ? from[0] + (from[1] - from[0]) * l->x[x].part : from[0]; // else what is infinite beside it would count
}

// Of equal scores the lower class is first, as with numpy.argmax. NaN never wins, even where there is nothing else.
static void best_class(struct pixel_lines *l, int channel)
{
	for (int x = 0; x < l->w; x++) {
		float v = between(l, x);
		if (v > l->best[x] || (l->class[x] == PIXEL_NO_CLASS && !isnan(v))) {
			l->best[x] = v;
			l->class[x] = (int16_t)channel;
		}
	}
}

static void above_threshold(struct pixel_lines *l)
{
	for (int x = 0; x < l->w; x++) {
		float v = between(l, x);
		l->class[x] = isnan(v) ? PIXEL_NO_CLASS : v > l->p.threshold;
	}
}

// Numbers are not interpolated.
static void nearest_class(struct pixel_lines *l, struct place y)
{
	const float *row = l->data + l->p.row * (y.at + (y.part > .5F));
	for (int x = 0; x < l->w; x++) {
		float v = row[l->p.column * (l->x[x].at + (l->x[x].part > .5F))];
		l->class[x] = v >= 0 && v < PIXEL_NO_CLASS ? (int16_t)lrintf(v) : PIXEL_NO_CLASS;
	}
}

static void score_line(struct pixel_lines *l, struct place y)
{
	for (int x = 0; x < l->w; x++) {
		l->best[x] = -INFINITY;
		l->class[x] = PIXEL_NO_CLASS;
	}
	for (int c = 0; c < l->p.classes; c++) {
		make_row(l, y, c);
		best_class(l, c);
	}
}

const int16_t *pixel_line(struct pixel_lines *l, int y)
{
	struct place at = l->y[y];
	if (l->p.kind == PIXELS_SCORES)
		score_line(l, at);
	else if (l->p.kind == PIXELS_CLASSES)
		nearest_class(l, at);
	else {
		make_row(l, at, 0);
		above_threshold(l);
	}
	for (int x = 0; x < l->w; x++)
		if (!at.seen || !l->x[x].seen)
			l->class[x] = -1;
	return l->class;
}

const float *pixel_value_line(struct pixel_lines *l, int y)
{
	make_row(l, l->y[y], 0);
	for (int x = 0; x < l->w; x++) {
		float v = between(l, x);
		l->best[x] = !l->y[y].seen || !l->x[x].seen ? NAN : isnan(v) ? INFINITY : v;
	}
	return l->best;
}
