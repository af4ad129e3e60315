// The shape rules and evaluations that ops.def names, declared from its rows.
#ifndef QTUI_ENGINE_OPS_OPS_H
#define QTUI_ENGINE_OPS_OPS_H

#include "attrs.h"

#define ROW(name, domain, since, in_min, in_max, out_min, out_max, types, attributes, rule, evaluation, bits)          \
	op_shape_fn rule;                                                                                              \
	op_eval_fn evaluation;
#include "ops.def"
#undef ROW

#endif
