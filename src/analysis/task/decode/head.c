// What outputs come from: a walk back through the graph.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "head.h"
#include "../labels/names.h"
#include "../metric/coco.h"
#include "floats.h"
#include "qtui/analysis/keypoints.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"
#include "qtui/engine/op.h"

static const struct {
	const char *op;
	unsigned end;
} ends[] = {
    {"Conv", END_LINEAR},
    {"Gemm", END_LINEAR},
    {"MatMul", END_LINEAR},
    {"ConvTranspose", END_LINEAR},
    {"Sigmoid", END_SIGMOID},
    {"HardSigmoid", END_SIGMOID},
    {"Softmax", END_SOFTMAX},
    {"Mul", END_OTHER | END_PRODUCT},
};
static const char *const passed[] = {"Cast", "QuantizeLinear", "DequantizeLinear", "Identity"};

static unsigned end_of(const struct node *n)
{
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (strcmp(ends[i].op, n->op->name) == 0)
			return ends[i].end;
	return END_OTHER;
}

static bool is_passed(const struct node *n)
{
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		if (strcmp(passed[i], n->op->name) == 0)
			return true;
	return n->op->flags & OPF_MOVES;
}

static bool is_constant(const struct graph *g, int value)
{
	return value < 0 || g->value[value].constant;
}

// The bias of a MatMul is an Add with a constant.
static bool is_bias(const struct graph *g, const struct node *n)
{
	if (strcmp(n->op->name, "Add") != 0 || n->n_in != 2 || is_constant(g, n->in[0]) == is_constant(g, n->in[1]))
		return false;
	int from = g->value[n->in[is_constant(g, n->in[0])]].producer;
	return from >= 0 && end_of(&g->node[from]) == END_LINEAR;
}

struct walk {
	const struct graph *g;
	bool *seen; // [n_nodes]
	int *stack, n;
};

static void push(struct walk *w, int value)
{
	int node = value < 0 ? -1 : w->g->value[value].producer;
	if (node >= 0 && !w->seen[node]) {
		w->seen[node] = true;
		w->stack[w->n++] = node;
	}
}

static void walk_init(struct walk *w, const struct graph *g, int value)
{
	*w = (struct walk){.g = g,
	    .seen = xcalloc((size_t)g->n_nodes + 1, 1),
	    .stack = xcalloc((size_t)g->n_nodes + 1, sizeof *w->stack)};
	push(w, value);
}

static void walk_done(struct walk *w)
{
	free(w->seen);
	free(w->stack);
}

static unsigned ends_of(const struct graph *g, int value)
{
	struct walk w;
	unsigned found = 0;
	walk_init(&w, g, value);
	while (w.n) {
		const struct node *n = &g->node[w.stack[--w.n]];
		bool all = strcmp(n->op->name, "Concat") == 0 || is_bias(g, n);
		if (!all && !is_passed(n))
			found |= end_of(n);
		else
			for (int i = 0; i < (all ? n->n_in : 1) && i < n->n_in; i++)
				push(&w, n->in[i]);
	}
	walk_done(&w);
	return found;
}

// Is a node behind the outputs whose name has `name` in it, or which is an operator `op`?
static bool has_ancestor(const struct graph *g, const char *name, const char *op)
{
	struct walk w;
	bool found = false;
	walk_init(&w, g, -1);
	for (int i = 0; i < g->n_outputs; i++)
		push(&w, g->output[i]);
	while (w.n && !found) {
		const struct node *n = &g->node[w.stack[--w.n]];
		found = (name && strstr(n->name, name)) || (op && strcmp(n->op->name, op) == 0);
		for (int i = 0; i < n->n_in; i++)
			push(&w, n->in[i]);
	}
	walk_done(&w);
	return found;
}

// Over how many classes it chooses: of rows [n, C], [1, n, C] or [1, C, n]. 0: not known before anything has run.
static int classes_of(const struct graph *g, const struct node *softmax)
{
	const struct shape *s = &g->value[softmax->out[0]].shape;
	int axis = ((const struct axis_attrs *)softmax->attrs)->axis, at = axis < 0 ? axis + s->rank : axis;
	bool rows = s->rank == 2 || (s->rank == 3 && s->dim[0] == 1);
	return rows && at >= s->rank - 2 && at < s->rank && s->dim[at] > 0 && s->dim[at] <= INT16_MAX ? (int)s->dim[at] : 0;
}

// YOLOX joins a box, an objectness and the classes' probabilities, each a convolution of its own: (4, 1, C) channels. Scores that
// keypoints or coefficients of masks follow look the same, but these come from no Sigmoid alone.
static int classes_beside_object(const struct graph *g, const struct node *concat)
{
	const struct shape *all = &g->value[concat->out[0]].shape;
	int axis = ((const struct axis_attrs *)concat->attrs)->axis, at = axis < 0 ? axis + all->rank : axis, last = concat->n_in - 1;
	int64_t channels[3] = {0}; // in front of the last two, and these
	if (last < 2 || all->rank < 3 || at < 1 || at >= all->rank)
		return 0;
	for (int i = 0; i <= last; i++) {
		const struct value *v = &g->value[concat->in[i]];
		if (v->shape.rank != all->rank || v->shape.dim[at] < 1)
			return 0;
		channels[i < last - 1 ? 0 : i - last + 2] += v->shape.dim[at];
	}
	bool yolox = channels[0] == 4 && channels[1] == 1 && channels[2] <= INT16_MAX && ends_of(g, concat->in[last]) == END_SIGMOID;
	return yolox ? (int)channels[2] : 0;
}

// What `of` says of a node behind the outputs, of the first of which it says something; 0: of none.
static int find_behind(const struct graph *g, int (*of)(const struct graph *, const struct node *), enum op_id op)
{
	struct walk w;
	int found = 0;
	walk_init(&w, g, -1);
	for (int i = 0; i < g->n_outputs; i++)
		push(&w, g->output[i]);
	while (w.n && !found) {
		const struct node *n = &g->node[w.stack[--w.n]];
		if (n->op->id == op && n->out[0] >= 0)
			found = of(g, n);
		for (int i = 0; i < n->n_in; i++)
			push(&w, n->in[i]);
	}
	walk_done(&w);
	return found;
}

void head_input(int *w, int *h, const struct graph *g)
{
	*w = *h = 0;
	for (int i = 0; i < g->n_inputs && !picture_size(w, h, &g->value[g->input[i]].shape); i++)
		;
}

static void add_hint(struct head *h, int classes)
{
	if (classes > 0)
		h->hint[h->n_hints++] = classes;
}

// "kpt_shape", "[17, 3]", as Ultralytics writes it.
void head_points(int *points, int *dims, const struct graph *g)
{
	const char *text = graph_metadata(g, "kpt_shape");
	*points = *dims = 0;
	if (!text || sscanf(text, " [ %d , %d", points, dims) != 2 || *points < 1 || *points > KEYPOINTS_MAX || (*dims != 2 && *dims != 3))
		*points = *dims = 0;
}

static bool matches_any(const char *name, const char *const *pattern)
{
	for (; *pattern; pattern++)
		if (str_glob(*pattern, name))
			return true;
	return false;
}

bool head_is_box_name(const char *name)
{
	static const char *const patterns[] = {"*box*", "*reg*", "*dis*", "*loc*", "*Box*", NULL};
	return matches_any(name, patterns);
}

bool head_is_score_name(const char *name)
{
	static const char *const patterns[] = {
	    "*cls*", "*score*", "*conf*", "*class*", "*prob*", "*logit*", "*Score*", NULL};
	return matches_any(name, patterns);
}

void head_init(struct head *h, const struct graph *g, int labels, int points)
{
	const char *task = graph_metadata(g, "task");
	int dims;
	struct names names;
	*h = (struct head){.n = g->n_outputs, .out = xcalloc((size_t)g->n_outputs + 1, sizeof *h->out)};
	for (int i = 0; i < g->n_outputs; i++) {
		const struct value *v = &g->value[g->output[i]];
		h->out[i] = (struct head_output){
		    .name = v->name, .type = v->type, .shape = v->shape, .ends = ends_of(g, g->output[i]), .boxes = head_is_box_name(v->name),
		    .scores = head_is_score_name(v->name)};
	}
	names_of_model(&names, g);
	add_hint(h, names.n);
	add_hint(h, labels);
	add_hint(h, COCO_CLASSES);
	names_done(&names);
	head_input(&h->input_w, &h->input_h, g);
	h->one2one = has_ancestor(g, "one2one", NULL);
	h->rtmdet = has_ancestor(g, "rtm_reg", NULL);
	h->suppressed = has_ancestor(g, NULL, "NonMaxSuppression");
	h->chosen = h->suppressed || has_ancestor(g, NULL, "TopK");
	h->decided = h->suppressed ? find_behind(g, classes_of, OP_Softmax) : 0;
	h->beside_object = find_behind(g, classes_beside_object, OP_Concat);
	head_points(&h->points, &dims, g);
	h->segments = task && strcmp(task, "segment") == 0;
	h->rotated = task && strcmp(task, "obb") == 0;
	h->extra = h->points * dims;
	h->points = h->points ? h->points : points;
	h->file = g->path;
}

void head_done(struct head *h)
{
	free(h->out);
	*h = (struct head){0};
}

void head_fill(struct head *h, const struct head *declared, const struct tensor *out)
{
	*h = *declared;
	h->out = xcalloc((size_t)h->n + 1, sizeof *h->out);
	for (int i = 0; i < h->n; i++) {
		h->out[i] = declared->out[i];
		h->out[i].shape = out[i].shape;
		h->out[i].data = output_floats(&out[i], &h->out[i].heap);
	}
}

void head_drain(struct head *h)
{
	for (int i = 0; i < h->n; i++)
		free(h->out[i].heap);
	free(h->out);
	*h = (struct head){0};
}

bool head_is_known(const struct head *h)
{
	for (int i = 0; i < h->n; i++)
		if (h->out[i].shape.rank < 0)
			return false;
	return h->n > 0;
}

bool head_is_hinted(const struct head *h, int64_t classes)
{
	for (int i = 0; i < h->n_hints; i++)
		if (h->hint[i] == classes)
			return true;
	return false;
}

bool head_fits(const struct head *h, int64_t classes)
{
	return head_is_hinted(h, classes) || (h->any_classes && classes > 0);
}

bool head_is_called(const struct head *h, const char *part)
{
	return h->file && strstr(h->file, part);
}

bool head_ends(const struct head *h, unsigned ends_there, unsigned allowed)
{
	return h->named || !(ends_there & ~allowed);
}
