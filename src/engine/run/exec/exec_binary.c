// Add, Sub, Mul, Div and PRelu of tensors of one shape, or of a tensor and one value, or (blocked)
// one value a channel, or (plain) a row. Other broadcasts are the plain code's.
#include "../strips.h"

static bool is_binary(const struct exec *x)
{
	enum op_id op = x->node->op->id;
	return (op == OP_Add || op == OP_Sub || op == OP_Mul || op == OP_Div || op == OP_PRelu) && exec_float_input(x, 0) &&
	    exec_float_input(x, 1);
}

static void binary_strip(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	const struct exec *x = arg;
	elt_binary(x->node->op->id, a, b, y, n);
	if (x->step->epi.act.kind != ACT_NONE)
		elt_act(&x->step->epi.act, y, y, n);
}

static bool is_one_value(const struct rep *r, const struct rep *full)
{
	return tensor_count(&r->t) == 1 && r->t.shape.rank <= full->t.shape.rank;
}

// [C, 1, 1], [1, C, 1, 1] or [N, C, 1, 1] against a blocked [N, C, H, W]; *out is it with four dimensions.
static bool is_per_channel(const struct rep *r, const struct rep *full, struct shape *out)
{
	const struct shape *s = &r->t.shape, *f = &full->t.shape;
	if (full->t.layout != LAYOUT_BLOCK || f->rank != 4 || s->rank < 3 || s->rank > 4)
		return false;
	int64_t n = s->rank == 4 ? s->dim[0] : 1;
	*out = shape_of(4, (int64_t[]){n, s->dim[s->rank - 3], 1, 1});
	return (n == 1 || n == f->dim[0]) && out->dim[1] == f->dim[1] && s->dim[s->rank - 2] == 1 && s->dim[s->rank - 1] == 1;
}

// One value for each place of the last dimension.
static bool is_row(const struct rep *r, const struct rep *full)
{
	const struct shape *s = &r->t.shape, *f = &full->t.shape;
	int64_t n = f->rank > 0 ? f->dim[f->rank - 1] : 0;
	return full->t.layout == LAYOUT_PLAIN && s->rank > 0 && s->rank <= f->rank && s->dim[s->rank - 1] == n && tensor_count(&r->t) == n &&
	    n > 1 && n <= STRIPS_PIXEL;
}

// The spread operand: one value, a row, or channels in blocks. STATUS_UNSUPPORTED for other shapes.
static enum status spread(struct exec *x, struct rep *r, const struct rep *full, struct rep *out, struct strips *s)
{
	struct shape shape;
	bool plain = is_one_value(r, full) || is_row(r, full);
	if (!plain && !is_per_channel(r, full, &shape))
		return STATUS_UNSUPPORTED;
	struct rep own = rep_share(r);
	if (!plain && own.t.layout == LAYOUT_PLAIN)
		own.t.shape = shape;
	s->pixel = plain ? tensor_count(&r->t) : layout_block();
	s->by_plane = !plain;
	enum status st = rep_to_layout(out, &own, plain ? LAYOUT_PLAIN : LAYOUT_BLOCK, x->width, x->err);
	rep_drop(&own);
	return st;
}

static enum status binary_spread(struct exec *x, int full)
{
	struct rep other = {0};
	struct strips s = {.n_in = 2, .fn = binary_strip, .arg = x, .arithmetic = true, .layout = x->in[full]->t.layout,
	    .shape = x->in[full]->t.shape};
	enum status st = spread(x, x->in[!full], x->in[full], &other, &s);
	if (st == STATUS_OK) {
		int64_t block = layout_block();
		s.in[full] = (struct operand){.rep = x->in[full]};
		s.in[!full] = (struct operand){.rep = &other, .spread = true,
		    .pixels = s.by_plane ? other.t.shape.dim[0] * ((other.t.shape.dim[1] + block - 1) / block) : 1};
		st = strips_run(x, &s);
	}
	rep_drop(&other);
	return st;
}

// Blocked if either is.
static enum status binary_same(struct exec *x)
{
	enum layout l = x->in[0]->t.layout == LAYOUT_BLOCK || x->in[1]->t.layout == LAYOUT_BLOCK ? LAYOUT_BLOCK : LAYOUT_PLAIN;
	struct rep moved[2] = {{.coded = false}};
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < 2; i++)
		st = rep_to_layout(&moved[i], x->in[i], l, x->width, x->err);
	struct strips s = {.in = {{.rep = &moved[0]}, {.rep = &moved[1]}}, .n_in = 2, .fn = binary_strip, .arg = x, .arithmetic = true,
	    .layout = l, .shape = x->in[0]->t.shape};
	if (st == STATUS_OK)
		st = strips_run(x, &s);
	rep_drop(&moved[0]);
	rep_drop(&moved[1]);
	return st;
}

enum status exec_binary(struct exec *x)
{
	if (!is_binary(x))
		return STATUS_UNSUPPORTED;
	if (shape_equal(&x->in[0]->t.shape, &x->in[1]->t.shape))
		return binary_same(x);
	enum status st = binary_spread(x, 0);
	if (x->node->op->id == OP_PRelu) // a slope has no more dimensions than what it bends
		return st;
	return st == STATUS_UNSUPPORTED && x->err->text[0] == '\0' ? binary_spread(x, 1) : st;
}
