#include "qtui/engine/minifloat.h"

#include <math.h>
#include "float_bits.h"

static const struct format {
	int exponent, fraction, bias; // bits, bits; a value is 1.fraction * 2^(exponent - bias)
	bool infinite;                // the largest exponent is for infinities and NaN, as IEEE has it
	int nan;                      // else: the one code that is NaN, without a sign unless it is 0x80, which takes the place of -0; -1: none
	float largest;
} formats[] = {
    [MINIFLOAT_E4M3FN] = {4, 3, 7, false, 0x7f, 448},
    [MINIFLOAT_E4M3FNUZ] = {4, 3, 8, false, 0x80, 240},
    [MINIFLOAT_E5M2] = {5, 2, 15, true, -1, 57344},
    [MINIFLOAT_E5M2FNUZ] = {5, 2, 16, false, 0x80, 57344},
    [MINIFLOAT_E2M1] = {2, 1, 1, false, -1, 6},
    [MINIFLOAT_E8M0] = {.largest = 0x1p127f},
};

bool is_minifloat(int64_t type)
{
	return type >= 0 && type < (int64_t)(sizeof formats / sizeof formats[0]) && formats[type].largest > 0;
}

float minifloat_largest(int type)
{
	return formats[type].largest;
}

int minifloat_fraction(int type)
{
	return formats[type].fraction;
}

static float value_of(const struct format *f, int code)
{
	int sign_bit = 1 << (f->exponent + f->fraction), rest = code & (sign_bit - 1), steps = 1 << f->fraction;
	int exponent = rest >> f->fraction, fraction = rest & (steps - 1);
	float sign = code & sign_bit ? -1.0f : 1.0f;
	if (f->nan == 0x80 ? code == 0x80 : rest == f->nan)
		return NAN;
	if (f->infinite && exponent == (1 << f->exponent) - 1)
		return fraction ? NAN : sign * INFINITY;
	return sign * ldexpf((float)(exponent ? steps + fraction : fraction), (exponent ? exponent : 1) - f->bias - f->fraction);
}

int minifloat_values(float value[256], int type)
{
	const struct format *f = &formats[type];
	int n = type == MINIFLOAT_E2M1 ? 16 : 256;
	for (int i = 0; i < n; i++)
		value[i] = type != MINIFLOAT_E8M0 ? value_of(f, i) : i == 255 ? NAN : ldexpf(1, i - 127);
	return n;
}

// The digits past those of the format are rounded away in the bits of the float, or,
// below the least exponent, by a sum that has no digits past the least step.
void minifloat_round(float *y, const float *x, int64_t n, int type, bool saturate)
{
	const struct format *f = &formats[type];
	const uint32_t drop = 23 - (uint32_t)f->fraction, half = (UINT32_C(1) << (drop - 1)) - 1, kept = UINT32_MAX << drop;
	const float normal = ldexpf(1, 1 - f->bias), steps = 1.5f * ldexpf(1, 24 - f->bias - f->fraction), largest = f->largest;
	const float nan = f->infinite || f->nan >= 0 ? NAN : largest;
	const float over = saturate ? largest : f->infinite ? INFINITY : nan;
	const bool signed_zero = f->nan != 0x80;
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++)
	{
		float a = fabsf(x[i]);
		uint32_t bits = bits_of_float(a);
		float large = float_of_bits((bits + half + (bits >> drop & 1)) & kept), small = (a + steps) - steps;
		float r = a < normal ? small : large;
		r = r > largest ? over : r;
		r = a == INFINITY ? over : r;
		r = a != a ? nan : r;
		y[i] = signed_zero || r != 0 ? copysignf(r, a != a && !f->infinite && f->nan < 0 ? 1.0f : x[i]) : 0.0f;
	}
}

void minifloat_round_power(float *y, const float *x, int64_t n, char direction, bool saturate)
{
	for (int64_t i = 0; i < n; i++) {
		float a = fabsf(x[i]), fraction;
		int exponent;
		if (isnan(a) || isinf(a)) {
			y[i] = isnan(a) || !saturate ? NAN : 0x1p127f;
			continue;
		}
		fraction = frexpf(a, &exponent); // in [0.5, 1)
		exponent = a > 0 ? exponent - 1 : -127;
		exponent += direction == 'u' ? fraction > 0.5f : direction == 'n' ? fraction >= 0.75f : 0;
		if (exponent > 127 && !saturate)
			y[i] = NAN;
		else
			y[i] = ldexpf(1, exponent < -127 ? -127 : exponent > 127 ? 127 : exponent);
	}
}
