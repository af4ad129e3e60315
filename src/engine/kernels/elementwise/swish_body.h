// The epilogues of one processor level, which defines SWISH_LOOP (and VBYTES).
#include "swish.h"
#include "swish_vector.h"

// Called with constants for `kind` and `add`, which makes a loop for each pair.
VINLINE void loop(const enum act_kind kind, const enum add_kind add, const float *from, float *y, const float *residual, int64_t n)
{
	for (int64_t i = 0; i < n; i += VLANES) {
		vfloat v = vload(from + i);
		if (add == ADD_BEFORE)
			v = v + vload(residual + i);
		v = kind == ACT_SWISH ? vswish(v) : vsigmoid(v);
		if (add == ADD_AFTER)
			v = v + vload(residual + i);
		vstore(y + i, v);
	}
}

static void epilogue(const struct epilogue *e, const float *x, float *y, const float *residual, int64_t n)
{
	if (e->act.kind != ACT_SWISH)
		loop(ACT_SIGMOID, e->add, x, y, residual, n);
	else if (e->add == ADD_NONE)
		loop(ACT_SWISH, ADD_NONE, x, y, residual, n);
	else if (e->add == ADD_BEFORE)
		loop(ACT_SWISH, ADD_BEFORE, x, y, residual, n);
	else
		loop(ACT_SWISH, ADD_AFTER, x, y, residual, n);
}

const struct swish_loop SWISH_LOOP = {epilogue, VLANES};
