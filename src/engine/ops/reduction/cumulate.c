// CumSum, CumProd: forwards or backwards, with or without the element itself.
#include "../element.h"
#include "../rule.h"

enum status cumulate_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = STATUS_OK;
	int axis;
	(void)n;
	if (tensor_count(in[1]) != 1)
		return error_set(err, STATUS_FORMAT, "axis must be one number");
	if (in[1]->data)
		s = rule_axis(&axis, element_int(in[1], 0), in[0]->shape.rank, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &in[0]->shape);
	return s;
}

struct line {
	int64_t from, n, inner;
	bool reverse, exclusive, product;
};

static int64_t place(const struct line *l, int64_t i)
{
	return l->from + (l->reverse ? l->n - 1 - i : i) * l->inner;
}

static void add_floats(const struct line *l, const float *x, float *y)
{
	double all = l->product;
	for (int64_t i = 0; i < l->n; i++) {
		int64_t at = place(l, i);
		double before = all;
		all = l->product ? all * (double)x[at] : all + (double)x[at];
		y[at] = (float)(l->exclusive ? before : all);
	}
}

// Lines side by side, from the first of them.
static void add_columns(const struct line *l, const float *x, float *y, int64_t columns)
{
	double all[ELEMENTS_CHUNK];
	for (int64_t c = 0; c < columns; c++)
		all[c] = l->product;
	for (int64_t i = 0; i < l->n; i++) {
		const float *from = x + place(l, i);
		float *to = y + place(l, i);
		_Pragma("omp simd") for (int64_t c = 0; c < columns; c++)
		{
			double before = all[c];
			all[c] = l->product ? all[c] * (double)from[c] : all[c] + (double)from[c];
			to[c] = (float)(l->exclusive ? before : all[c]);
		}
	}
}

static void add_ints(const struct line *l, const struct tensor *x, struct tensor *y)
{
	int64_t all = l->product;
	for (int64_t i = 0; i < l->n; i++) {
		int64_t at = place(l, i), before = all;
		uint64_t v = (uint64_t)element_int(x, at);
		all = (int64_t)(l->product ? (uint64_t)all * v : (uint64_t)all + v);
		elements_store(y->data, y->type, at, l->exclusive ? &before : &all, 1);
	}
}

enum status cumulate_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct cumulate_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	struct line l = {.reverse = a->reverse != 0, .exclusive = a->exclusive != 0, .product = n->op->id == OP_CumProd};
	int axis = 0;
	int64_t outer;
	enum status s = rule_axis(&axis, element_int(in[1], 0), x->rank, err);
	(void)width;
	if (s != STATUS_OK)
		return s;
	l.n = x->dim[axis];
	l.inner = rule_product(x, axis + 1, x->rank);
	outer = rule_product(x, 0, axis) * l.inner;
	for (int64_t r = 0; in[0]->type == DT_F32 && l.inner > 1 && r < outer;) {
		int64_t column = r % l.inner, columns = l.inner - column < ELEMENTS_CHUNK ? l.inner - column : ELEMENTS_CHUNK;
		l.from = r / l.inner * l.n * l.inner + column;
		add_columns(&l, in[0]->data, out[0].data, columns);
		r += columns;
	}
	for (int64_t r = 0; (in[0]->type != DT_F32 || l.inner == 1) && r < outer; r++) {
		l.from = r / l.inner * l.n * l.inner + r % l.inner;
		if (in[0]->type == DT_F32)
			add_floats(&l, in[0]->data, out[0].data);
		else
			add_ints(&l, in[0], &out[0]);
	}
	return STATUS_OK;
}
