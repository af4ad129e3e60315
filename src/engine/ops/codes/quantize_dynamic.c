// DynamicQuantizeLinear: uint8 codes whose range is that of the values at hand, and 0.
#include <math.h>
#include "../rule.h"
#include "qlinear.h"
#include "quantize_dynamic.h"

void quantize_dynamic_range(float *scale, int32_t *zero, const float *x, int64_t n)
{
	float low = 0, high = 0, at;

#pragma omp simd reduction(min : low) reduction(max : high)
	for (int64_t i = 0; i < n; i++) {
		low = x[i] < low ? x[i] : low;
		high = x[i] > high ? x[i] : high;
	}
	*scale = high > low ? (high - low) / 255 : 1;
	at = rintf(0 - low / *scale);
	*zero = at > 0 ? (at < 255 ? (int32_t)at : 255) : 0;
}

enum status dynamicquantize_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape scalar = {.rank = 0};
	(void)n;
	(void)err;
	rule_set(&out[0], DT_U8, &in[0]->shape);
	rule_set(&out[1], DT_F32, &scalar);
	rule_set(&out[2], DT_U8, &scalar);
	return STATUS_OK;
}

enum status dynamicquantize_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	float scale;
	int32_t zero;
	(void)n;
	(void)err;
	quantize_dynamic_range(&scale, &zero, in[0]->data, tensor_count(in[0]));
	struct quantizer q = qlinear_quantizer(DT_U8, &scale, &zero, 1, -1);
	quantize(&out[0], in[0], &q, width);
	*(float *)out[1].data = scale;
	*(uint8_t *)out[2].data = (uint8_t)zero;
	return STATUS_OK;
}
