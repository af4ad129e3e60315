// What ONNX Runtime's own attentions share (private): queries, keys and values where they lie,
// what is added to them and which keys are seen.
#ifndef QTUI_ENGINE_OPS_ATTENTION_ATTENTION_MS_H
#define QTUI_ENGINE_OPS_ATTENTION_ATTENTION_MS_H

#include "attention.h"

// Borrows all that it points to.
struct attention_ms {
	int64_t batch, heads, queries, now, past, keys, size, v_size; // keys: past + now; size: of one head's queries and keys
	struct heads q, k, v, past_k, past_v;  // k and v: of `now`; past at NULL: there is none
	const float *q_bias, *k_bias, *v_bias; // [heads * size] or [heads * v_size]; NULL: none
	const struct tensor *mask, *added;     // NULL: none
	float *present_k, *present_v, *masked; // outputs; NULL: not wanted
};
// STATUS_UNSUPPORTED or STATUS_FORMAT: there are too many keys, or the mask or what is added does not fit them.
MUST_CHECK enum status attention_ms_check(const struct attention_ms *j, struct error *err);
// Of what was checked; y is [batch, queries, heads * v_size]. `width` threads.
MUST_CHECK enum status attention_ms_run(
    const struct attention_ms *j, const struct fused_attention_attrs *a, struct tensor *y, int width, struct error *err);

#endif
