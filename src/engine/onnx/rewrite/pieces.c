#include "pieces.h"

#include <stdlib.h>
#include <string.h>
#include "../proto/proto.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

// Operator `op` on `from` and the constant v; as proto_add_step.
static Onnx__NodeProto *add_sum(
    struct proto_list *to, const Onnx__NodeProto *p, const char *op, const char *from, int64_t v, bool list, const char *name)
{
	char *constant = str_format("%s_by", name), *by = proto_add_constant(to, p, constant, v, list);
	Onnx__NodeProto *node = proto_add_step(to, p, op, from, 2, name);
	node->input[1] = by;
	free(constant);
	return node;
}

// How many pieces there are, as a number or a list of it: (size + piece - 1) / piece. The caller frees the name.
static char *count_of_pieces(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, bool list)
{
	Onnx__NodeProto *n = add_sum(to, p, "Gather", proto_add_step(to, p, "Shape", s->whole, 1, "shape")->output[0], s->axis, list, "size");
	if (s->piece > 1) {
		n = add_sum(to, p, "Add", n->output[0], s->piece - 1, list, "padded");
		n = add_sum(to, p, "Div", n->output[0], s->piece, list, "count");
	}
	return xstrdup(n->output[0]);
}

// Where piece `at` begins. From the end that depends on how many there are, as the last may be shorter.
static char *first_of_piece(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, int64_t at)
{
	if (at >= 0 || s->piece == 1)
		return proto_add_constant(to, p, "first", at * s->piece, true);
	char *count = count_of_pieces(to, p, s, true);
	Onnx__NodeProto *place = add_sum(to, p, "Add", count, at, true, "place");
	free(count);
	return xstrdup(add_sum(to, p, "Mul", place->output[0], s->piece, true, "first")->output[0]);
}

bool pieces_take(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, const int64_t *at)
{
	if (s->piece == 0) {
		Onnx__NodeProto *node = proto_add_step(to, p, "Gather", s->whole, 2, NULL);
		node->input[1] = xstrdup(p->input[1]);
		proto_add_int(node, "axis", s->axis);
		return true;
	}
	if (!at || *at < -INT32_MAX || *at > INT32_MAX)
		return false;
	char *first = first_of_piece(to, p, s, *at), *axes = proto_add_constant(to, p, "axes", s->axis, true);
	char *end = *at == -1 ? proto_add_constant(to, p, "end", INT64_MAX, true)
	                     : xstrdup(add_sum(to, p, "Add", first, s->piece, true, "end")->output[0]);
	Onnx__NodeProto *node = proto_add_step(to, p, "Slice", s->whole, 4, NULL);
	node->input[1] = first;
	node->input[2] = end;
	node->input[3] = axes;
	return true;
}

void pieces_count(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s)
{
	char *n = count_of_pieces(to, p, s, false);
	proto_add_step(to, p, "Identity", n, 1, NULL);
	free(n);
}

// Pieces along the axis that they were cut along are the whole again;
// elements of a first axis of their own, joined along the next, are it with both in one.
bool pieces_concat(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, int64_t axis, bool stack)
{
	if (s->axis == axis && stack == (s->piece == 0)) {
		proto_add_step(to, p, "Identity", s->whole, 1, NULL);
		return true;
	}
	if (s->axis != 0 || axis != 0 || s->piece != 0)
		return false;
	char *two = proto_add_constant(to, p, "two", 2, true), *end = proto_add_constant(to, p, "end", INT64_MAX, true);
	char *any = proto_add_constant(to, p, "any", -1, true);
	Onnx__NodeProto *shape = proto_add_step(to, p, "Shape", s->whole, 1, "shape");
	Onnx__NodeProto *rest = proto_add_step(to, p, "Slice", shape->output[0], 3, "rest");
	rest->input[1] = two;
	rest->input[2] = end;
	Onnx__NodeProto *joined = proto_add_step(to, p, "Concat", any, 2, "joined");
	joined->input[1] = xstrdup(rest->output[0]);
	proto_add_int(joined, "axis", 0);
	proto_add_step(to, p, "Reshape", s->whole, 2, NULL)->input[1] = xstrdup(joined->output[0]);
	free(any);
	return true;
}

static const Onnx__ValueInfoProto *info_among(Onnx__ValueInfoProto *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(text_of(list[i]->name), name))
			return list[i];
	return NULL;
}

int64_t pieces_length(const Onnx__GraphProto *g, const struct sequence *s)
{
	const Onnx__ValueInfoProto *info = info_among(g->input, g->n_input, s->whole);
	if (!info)
		info = info_among(g->value_info, g->n_value_info, s->whole);
	bool is_tensor = info && info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	const Onnx__TypeProto__Tensor *t = is_tensor ? info->type->tensor_type : NULL;
	int64_t rank = t && t->shape ? (int64_t)t->shape->n_dim : 0, i = s->axis + (s->axis < 0 ? rank : 0);
	if (i < 0 || i >= rank || t->shape->dim[i]->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
		return 0;
	return t->shape->dim[i]->dim_value;
}

char **pieces_cut(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, int64_t length, size_t *n)
{
	int64_t step = s->piece ? s->piece : 1, count = (length + step - 1) / step, *sizes = xcalloc((size_t)count, sizeof *sizes);
	char **name = xcalloc((size_t)count, sizeof *name);
	for (int64_t i = 0; i < count; i++)
		sizes[i] = i + 1 < count ? step : length - i * step;
	char *list = proto_add_constants(to, p, "sizes", sizes, (size_t)count);
	Onnx__NodeProto *all = proto_add_node(to, p, "Split", 2, (size_t)count);
	all->input[0] = xstrdup(s->whole);
	all->input[1] = list;
	proto_add_int(all, "axis", s->axis);
	for (int64_t i = 0; i < count; i++) {
		all->output[i] = str_format("%s/piece_%lld", p->output[0], (long long)i);
		name[i] = xstrdup(all->output[i]);
	}
	char *axes = s->piece ? NULL : proto_add_constant(to, p, "axes", s->axis, true);
	for (int64_t i = 0; axes && i < count; i++) {
		Onnx__NodeProto *bare = proto_add_node(to, p, "Squeeze", 2, 1);
		bare->input[0] = name[i];
		bare->input[1] = xstrdup(axes);
		bare->output[0] = str_format("%s/bare_%lld", p->output[0], (long long)i);
		name[i] = xstrdup(bare->output[0]);
	}
	free(axes);
	free(sizes);
	*n = (size_t)count;
	return name;
}
