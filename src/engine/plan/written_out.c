// Operators that a model has written out in several nodes and the target's tool makes one of before it quantizes. What such an
// operator reads and gives may have quantizers, what is between is inside of it.
//   RMSNormalization  x * w / sqrt(mean(x^2) + e) over the last dimensions       esp-ppq's formatter
//   LpNormalization   x / max(|x|, e) along one dimension                        esp-ppq's formatter
//   LayerNormalization, Gelu                                                     XSlim's passes
//   YoloDecode        what YOLOv8 and its like have behind their last Concat     XSlim's passes
//   Conv              with a factor and an addend, of each channel or of all     XSlim's passes
//   Conv              of a whole image: Flatten and Gemm                         XSlim's passes
#include <math.h>
#include "qtui/engine/op.h"
#include "../ops/reduction/reduce.h"
#include "plan_impl.h"

enum { MOST_NODES = 20 };
// The nodes found so far; the last one gives the result.
struct found {
	const struct graph *g;
	int x;
	int node[MOST_NODES], n;
	int weights; // the node that has them; -1: none
};

static const struct node *last_of(const struct found *f)
{
	return &f->g->node[f->node[f->n - 1]];
}

// Goes on to the reader of this type, of the so many readers that the value has; NULL: there is none.
static const struct node *follow_from(struct found *f, int value, enum op_id id, int readers)
{
	const struct value *y = value < 0 ? NULL : &f->g->value[value];
	for (int i = 0; y && i < y->n_consumers && y->n_consumers == readers && !y->is_output && f->n < MOST_NODES; i++)
		if (f->g->node[y->consumer[i]].op->id == id) {
			f->node[f->n++] = y->consumer[i];
			return &f->g->node[y->consumer[i]];
		}
	return NULL;
}

// To the one reader of what the last node gives.
static const struct node *follow(struct found *f, enum op_id id)
{
	return last_of(f)->n_out > 0 ? follow_from(f, last_of(f)->out[0], id, 1) : NULL;
}

static bool reads(const struct node *n, int value)
{
	return n->n_in == 2 && (n->in[0] == value || n->in[1] == value);
}

static const struct tensor *constant(const struct graph *g, const struct node *n, int i)
{
	return i < n->n_in && n->in[i] >= 0 ? g->value[n->in[i]].constant : NULL;
}

// The dimensions that a reduction of known axes takes out, each left with one element. False: it is none.
static bool reduced(bool gone[SHAPE_MAX_RANK], const struct graph *g, const struct node *n)
{
	const struct value *x = &g->value[n->in[0]];
	const struct tensor like = {.type = x->type, .shape = x->shape};
	const struct tensor *in[] = {&like, constant(g, n, 1)};
	struct error ignored;
	bool known = x->type == DT_F32 && x->shape.rank > 0 && (n->n_in < 2 || n->in[1] < 0 || in[1]);
	return known && reduce_axes(gone, n, in, &ignored) == STATUS_OK && g->value[n->out[0]].shape.rank == x->shape.rank;
}

static bool is_over_last(const struct graph *g, const struct node *n)
{
	bool gone[SHAPE_MAX_RANK];
	if (!reduced(gone, g, n))
		return false;
	int rank = g->value[n->in[0]].shape.rank, first = 0;
	while (first < rank && !gone[first])
		first++;
	for (int i = first; i < rank; i++)
		if (!gone[i])
			return false;
	return first < rank;
}

static bool is_along_one(const struct graph *g, const struct node *n)
{
	bool gone[SHAPE_MAX_RANK];
	int axes = 0;
	if (!reduced(gone, g, n))
		return false;
	for (int i = 0; i < g->value[n->in[0]].shape.rank; i++)
		axes += gone[i];
	return axes == 1;
}

static bool is_number(const struct graph *g, const struct node *n, int i, double number)
{
	const struct tensor *t = constant(g, n, i);
	return t && t->type == DT_F32 && tensor_count(t) == 1 && fabs(*(const float *)t->data - number) <= 1e-5 * number;
}

static bool is_square(const struct graph *g, const struct node *n)
{
	return n->op->id == OP_Pow && is_number(g, n, 1, 2);
}

static bool has_constant(const struct graph *g, const struct node *n)
{
	return n->n_in == 2 && (constant(g, n, 0) || constant(g, n, 1));
}

// Behind the root: x divided by it, or multiplied by its reciprocal, which a division may be as well.
static bool divides_by_root(struct found *f)
{
	int root = last_of(f)->out[0];
	const struct node *n = follow(f, OP_Div);
	if (n && n->in[0] == f->x && n->in[1] == root)
		return true;
	if (n ? n->in[1] != root : !follow(f, OP_Reciprocal))
		return false;
	n = follow(f, OP_Mul);
	return n && reads(n, f->x);
}

static bool find_rms(struct found *f)
{
	const struct node *n;
	if (!is_square(f->g, last_of(f)) || !(n = follow(f, OP_ReduceMean)) || !is_over_last(f->g, n))
		return false;
	follow(f, OP_Add); // an epsilon, if there is one
	n = follow(f, OP_Sqrt) && divides_by_root(f) ? follow(f, OP_Mul) : NULL;
	return n && n->n_in == 2 && !reads(n, f->x);
}

static bool find_lp(struct found *f)
{
	const struct node *n = last_of(f);
	if (n->op->id != OP_ReduceL2 || !is_along_one(f->g, n) || !follow(f, OP_Clip) || !(n = follow(f, OP_Expand)))
		return false;
	int norm = n->out[0];
	n = follow(f, OP_Div);
	return n && n->in[0] == f->x && n->in[1] == norm;
}

static bool same_dimensions(const struct graph *g, const struct node *a, const struct node *b)
{
	bool first[SHAPE_MAX_RANK], second[SHAPE_MAX_RANK], any = false;
	if (!reduced(first, g, a) || !reduced(second, g, b))
		return false;
	for (int i = 0; i < g->value[a->in[0]].shape.rank; i++) {
		any |= first[i];
		if (first[i] != second[i])
			return false;
	}
	return any;
}

// (x - mean) / sqrt(mean((x - mean)^2) + e) * w + b.
static bool find_layer(struct found *f)
{
	const struct node *mean = last_of(f), *n;
	if (mean->op->id != OP_ReduceMean || !(n = follow(f, OP_Sub)) || n->in[0] != f->x)
		return false;
	int difference = n->out[0];
	n = follow_from(f, difference, OP_Pow, 2);
	if (!n || n->in[0] != difference || !is_square(f->g, n) || !(n = follow(f, OP_ReduceMean)) || !same_dimensions(f->g, mean, n))
		return false;
	if (!(n = follow(f, OP_Add)) || !has_constant(f->g, n) || !(n = follow(f, OP_Sqrt)))
		return false;
	int deviation = n->out[0];
	n = follow(f, OP_Div);
	if (!n || n->in[0] != difference || n->in[1] != deviation)
		return false;
	n = follow(f, OP_Mul);
	if (!n || !has_constant(f->g, n))
		return false;
	n = follow(f, OP_Add);
	return n && has_constant(f->g, n);
}

// x * (1 + erf(x / sqrt(2))) / 2.
static bool find_gelu(struct found *f)
{
	const struct node *n = last_of(f);
	if (n->op->id != OP_Div || !is_number(f->g, n, 1, sqrt(2)) || !follow(f, OP_Erf) || !(n = follow(f, OP_Add)) ||
	    !(is_number(f->g, n, 0, 1) || is_number(f->g, n, 1, 1)))
		return false;
	n = follow(f, OP_Mul);
	if (!n || !reads(n, f->x))
		return false;
	n = follow(f, OP_Mul);
	return n && (is_number(f->g, n, 0, .5) || is_number(f->g, n, 1, .5));
}

static bool has_axis(const struct found *f, const struct node *n, int64_t axis)
{
	int64_t has = ((const struct axis_attrs *)n->attrs)->axis;
	return (has < 0 ? has + f->g->value[n->out[0]].shape.rank : has) == axis;
}

// From the logits of a box's four distances to the distances.
static bool find_distances(struct found *f)
{
	static const int64_t order[] = {0, 2, 1, 3}, weight[] = {1, 16, 1, 1};
	const struct node *n = last_of(f);
	const struct tensor *w;
	if (n->op->id != OP_Reshape || !(n = follow(f, OP_Transpose)))
		return false;
	const struct ints *perm = &((const struct transpose_attrs *)n->attrs)->perm;
	for (int i = 0; i < 4; i++)
		if (perm->n != 4 || perm->at[i] != order[i])
			return false;
	if (!(n = follow(f, OP_Softmax)) || !has_axis(f, n, 1) || !(n = follow(f, OP_Conv)) || !(w = constant(f->g, n, 1)))
		return false;
	for (int i = 0; i < 4; i++)
		if (w->shape.rank != 4 || w->shape.dim[i] != weight[i])
			return false;
	return follow(f, OP_Reshape) != NULL;
}

// Half of the distances, and the corner that they make: a constant less them, or with them.
static const struct node *find_corner(struct found *f, int distances, enum op_id id)
{
	const struct value *v = &f->g->value[distances];
	for (int i = 0; i < 2 && v->n_consumers == 2 && f->n + 2 <= MOST_NODES; i++) {
		const struct node *half = &f->g->node[v->consumer[i]];
		const struct value *y = half->op->id == OP_Slice ? &f->g->value[half->out[0]] : NULL;
		const struct node *n = y && y->n_consumers == 1 ? &f->g->node[y->consumer[0]] : NULL;
		if (!n || n->op->id != id || !constant(f->g, n, 0))
			continue;
		f->node[f->n++] = v->consumer[i];
		f->node[f->n++] = y->consumer[0];
		return n;
	}
	return NULL;
}

static bool find_yolo(struct found *f)
{
	const struct node *n, *low, *high;
	if (!find_distances(f))
		return false;
	int distances = last_of(f)->out[0];
	low = find_corner(f, distances, OP_Sub);
	high = low ? find_corner(f, distances, OP_Add) : NULL;
	if (!high || !(n = follow_from(f, high->out[0], OP_Sub, 2)) || n->in[0] != high->out[0] || n->in[1] != low->out[0])
		return false;
	int size = n->out[0];
	n = follow_from(f, low->out[0], OP_Add, 2);
	if (!n || !reads(n, low->out[0]) || !reads(n, high->out[0]) || !(n = follow(f, OP_Div)) || !is_number(f->g, n, 1, 2))
		return false;
	n = follow(f, OP_Concat);
	if (!n || !has_axis(f, n, 1) || !reads(n, size) || !(n = follow(f, OP_Mul)) || !has_constant(f->g, n))
		return false;
	int boxes = n->out[0];
	n = follow(f, OP_Concat);
	int scores = n && n->n_in == 2 && n->in[0] == boxes && has_axis(f, n, 1) ? f->g->value[n->in[1]].producer : -1;
	if (scores < 0 || f->g->node[scores].op->id != OP_Sigmoid || f->n == MOST_NODES)
		return false;
	f->node[f->n] = f->node[f->n - 1]; // the Concat stays the last
	f->node[f->n++ - 1] = scores;
	return true;
}

// One number, or one of each channel.
static bool is_of_channels(const struct tensor *t, const struct tensor *weight)
{
	int64_t n = t && t->type == DT_F32 ? tensor_count(t) : 0;
	return n == 1 || (n > 1 && t->shape.rank == weight->shape.rank && t->shape.dim[1] == n);
}

// Goes on to a factor or an addend that is a constant.
static bool follow_folded(struct found *f, const struct tensor *weight)
{
	static const enum op_id types[] = {OP_Mul, OP_Add, OP_Div, OP_Sub};
	const struct node *n = NULL;
	for (size_t i = 0; !n && i < sizeof types / sizeof *types; i++)
		n = follow(f, types[i]);
	if (!n)
		return false;
	bool turns = n->op->id == OP_Mul || n->op->id == OP_Add;
	if (n->n_in == 2 && (is_of_channels(constant(f->g, n, 1), weight) || (turns && is_of_channels(constant(f->g, n, 0), weight))))
		return true;
	f->n--;
	return false;
}

// XSlim folds two of them into the weights: one scale for each output channel is the same with the factor and without.
static bool find_folded(struct found *f)
{
	const struct node *n = last_of(f);
	const struct tensor *weight = n->op->id == OP_Conv ? constant(f->g, n, 1) : NULL;
	if (!weight || !follow_folded(f, weight))
		return false;
	follow_folded(f, weight); // if there is one
	f->weights = f->node[0];
	return true;
}

// What ends a classifier. XSlim quantizes its weights as a convolution's.
static bool find_flattened(struct found *f)
{
	const struct node *n = last_of(f);
	if (n->op->id != OP_Flatten || f->g->value[f->x].shape.rank < 3 || ((const struct axis_attrs *)n->attrs)->axis != 1 ||
	    !(n = follow(f, OP_Gemm)))
		return false;
	const struct gemm_attrs *a = n->attrs;
	f->weights = f->node[1];
	return constant(f->g, n, 1) && n->in[0] == f->g->node[f->node[0]].out[0] && !a->trans_a && a->alpha == 1;
}

static const struct {
	const char *op_type;
	bool (*find)(struct found *f); // from the first node, which reads x
} operators[] = {{"RMSNormalization", find_rms}, {"LpNormalization", find_lp}, {"LayerNormalization", find_layer}, {"Gelu", find_gelu},
    {"YoloDecode", find_yolo}, {"Conv", find_folded}, {"Conv", find_flattened}};

// No node is a part of two operators: the first that is found has it.
static bool is_free(const struct plan *p, const struct found *f)
{
	for (int i = 0; i < f->n; i++)
		if (plan_written_out(p, f->node[i]))
			return false;
	return true;
}

void plan_find_written_out(struct plan *p)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		const struct op_rule *rule = target_rule(p->target, operators[i].op_type);
		for (int first = 0; rule->flags & RULE_WRITTEN_OUT && first < p->g->n_nodes; first++) {
			const struct node *n = &p->g->node[first];
			struct found f = {.g = p->g, .x = n->n_in > 0 ? n->in[0] : -1, .node = {first}, .n = 1, .weights = -1};
			if (f.x < 0 || p->g->value[f.x].constant || !operators[i].find(&f) || !is_free(p, &f))
				continue;
			for (int k = 0; k < f.n; k++) {
				struct node_plan *part = &p->priv->node[f.node[k]];
				part->rule = rule;
				part->written = (struct written_out){operators[i].op_type, first, f.node[f.n - 1], f.x, f.weights};
			}
		}
	}
}

const struct written_out *plan_written_out(const struct plan *p, int node)
{
	const struct written_out *w = &p->priv->node[node].written;
	return w->op_type ? w : NULL;
}
