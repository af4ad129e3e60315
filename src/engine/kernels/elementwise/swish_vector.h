// Swish and logistic of a vector, within 3 and 2 ulp: the same bits at all levels with a fused multiply-add.
#ifndef QTUI_ENGINE_KERNELS_ELEMENTWISE_SWISH_VECTOR_H
#define QTUI_ENGINE_KERNELS_ELEMENTWISE_SWISH_VECTOR_H

#include "../../tensor/vector.h"

// 1 + e^-x for x >= -89; below -88.3 2^n is infinity. With n the integer nearest to -x / ln 2 and r = x + n ln 2, e^-x
// is 2^n e^-r; n stands in the low bits of t once 1.5 * 2^23 has been added. The polynomial is a minimax fit of e^-r on
// |r| <= ln 2 / 2. NaN passes through the clamp.
VINLINE vfloat one_plus_exp(vfloat x)
{
	static const float fit[] = {-0.0083690183f, 0.041666202f, -0.16666518f, 0.5f, -1.0f, 1.0f};
	const vfloat round = vall(12582912.0f), one = vall(1.0f);
	vfloat clamped = vmin(vall(87.0f), x);
	vfloat t = vfma(clamped, vall(-1.44269504f), round), n = t - round;
	vfloat r = vfma(n, vall(0.693359375f), clamped), p = vall(0.0013950708f);
	r = vfma(n, vall(-2.12194440e-4f), r);
#pragma GCC unroll 6
	for (int i = 0; i < 6; i++)
		p = vfma(p, r, vall(fit[i]));
	return vfma(p, (vfloat)(((vuint)t << 23) + (vuint)one), one);
}

// Where e^-x is no finite float it is 0. NaN stays.
VINLINE vfloat vsigmoid(vfloat x)
{
	return vall(1.0f) / one_plus_exp(vmax(vall(-89.0f), x));
}

// Rounded as the Sigmoid and the Mul that it is, so that a tensor has the same bits whether the Sigmoid is asked for or
// not; a quotient would be a multiplication less. (But of minus infinity it is 0.)
VINLINE vfloat vswish(vfloat x)
{
	x = vmax(vall(-89.0f), x);
	return x * vsigmoid(x);
}

#endif
