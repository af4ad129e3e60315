#include "narrow.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct format {
	int exponent, fraction, bias; // bits, bits; a value is 1.fraction * 2^(exponent - bias)
	bool infinite;                // the largest exponent is for infinities and NaN, as IEEE has it
	int nan;                      // else: the one code that is NaN, without a sign unless it is 0x80; -1: none
};

static const struct format e4m3fn = {4, 3, 7, false, 0x7f}, e4m3fnuz = {4, 3, 8, false, 0x80}, e5m2 = {5, 2, 15, true, -1},
                           e5m2fnuz = {5, 2, 16, false, 0x80}, e2m1 = {2, 1, 1, false, -1};

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

static void from_bytes(float *out, const uint8_t *in, size_t n, const struct format *f)
{
	float value[256];

	for (int i = 0; i < 256; i++)
		value[i] = value_of(f, i);
	for (size_t i = 0; i < n; i++)
		out[i] = value[in[i]];
}

void narrow_e4m3fn(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, &e4m3fn);
}

void narrow_e4m3fnuz(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, &e4m3fnuz);
}

void narrow_e5m2(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, &e5m2);
}

void narrow_e5m2fnuz(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, &e5m2fnuz);
}

// A scale: an exponent and nothing else.
void narrow_e8m0(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int code = ((const uint8_t *)in)[i];
		((float *)out)[i] = code == 255 ? NAN : ldexpf(1, code - 127);
	}
}

static int nibble(const uint8_t *in, size_t i)
{
	return in[i / 2] >> i % 2 * 4 & 15;
}

void narrow_e2m1(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((float *)out)[i] = value_of(&e2m1, nibble(in, i));
}

void narrow_int4(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((int8_t *)out)[i] = (int8_t)((nibble(in, i) ^ 8) - 8);
}

void narrow_uint4(void *out, const void *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)out)[i] = (uint8_t)nibble(in, i);
}
