// Cast, CastLike. Floats become integers by truncation, integers keep their low bits, everything but zero is true.
#include <string.h>
#include "element.h"
#include "rule.h"

enum status cast_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum dtype to = n->op->id == OP_CastLike ? in[1]->type : rule_dtype(((const struct cast_attrs *)n->attrs)->to);

	if (to == DT_NONE)
		return error_set(err, STATUS_UNSUPPORTED, "element type %lld of attribute `to` is not supported",
		    (long long)((const struct cast_attrs *)n->attrs)->to);
	rule_set(&out[0], to, &in[0]->shape);
	return STATUS_OK;
}

static void cast_ints(const struct tensor *x, struct tensor *y, int64_t at, int64_t m)
{
	int64_t v[ELEMENTS_CHUNK];

	elements_load(v, x->type, x->data, at, 1, m);
	elements_store(y->data, y->type, at, v, m);
}

static void cast_floats(const struct tensor *x, struct tensor *y, int64_t at, int64_t m)
{
	double v[ELEMENTS_CHUNK];

	elements_load_double(v, x->type, x->data, at, 1, m);
	for (int64_t i = 0; i < m && y->type == DT_BOOL; i++)
		v[i] = v[i] != 0;
	elements_store_double(y->data, y->type, at, v, m);
}

enum status cast_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t count = tensor_count(in[0]);
	bool floats = out[0].type == DT_F32 || (in[0]->type == DT_F32 && out[0].type == DT_BOOL);

	(void)n;
	(void)width;
	(void)err;
	if (in[0]->type == out[0].type) {
		if (count)
			memcpy(out[0].data, in[0]->data, tensor_bytes(&out[0]));
		return STATUS_OK;
	}
	for (int64_t at = 0; at < count; at += ELEMENTS_CHUNK) {
		int64_t m = count - at < ELEMENTS_CHUNK ? count - at : ELEMENTS_CHUNK;
		(floats ? cast_floats : cast_ints)(in[0], &out[0], at, m);
	}
	return STATUS_OK;
}
