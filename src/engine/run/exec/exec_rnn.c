// GRU and LSTM on targets that round within their steps.
#include "../keys.h"
#include "exec.h"

bool exec_rounds_steps(const struct exec *x, struct rounded_steps *own)
{
	const struct stand_in *f = stand_in_of(x->plan, x->sim, x->step->node);
	if (!f || f->step_scale <= 0)
		return false;
	const struct quantizer *y = exec_out_quantizer(x, 0);
	own->attrs = *(const struct rnn_attrs *)x->node->attrs;
	own->scale = f->step_scale;
	own->zero = 0;
	own->rounding = (struct rnn_rounding){
	    .sums = {.kind = QUANT_LINEAR, .bits = 16, .rounding = y ? y->rounding : ROUND_HALF_EVEN, .qmin = INT16_MIN, .qmax = INT16_MAX,
		.symmetric = true, .axis = -1, .n = 1, .scale = &own->scale, .zero = &own->zero},
	    .state = y};
	own->attrs.rounding = &own->rounding;
	return true;
}
