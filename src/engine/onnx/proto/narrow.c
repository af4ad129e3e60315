#include "narrow.h"

#include <stdint.h>
#include "qtui/engine/minifloat.h"

static void from_bytes(float *out, const uint8_t *in, size_t n, int type)
{
	float value[256];
	minifloat_values(value, type);
	for (size_t i = 0; i < n; i++)
		out[i] = value[in[i]];
}

void narrow_e4m3fn(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, MINIFLOAT_E4M3FN);
}

void narrow_e4m3fnuz(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, MINIFLOAT_E4M3FNUZ);
}

void narrow_e5m2(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, MINIFLOAT_E5M2);
}

void narrow_e5m2fnuz(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, MINIFLOAT_E5M2FNUZ);
}

void narrow_e8m0(void *out, const void *in, size_t n)
{
	from_bytes(out, in, n, MINIFLOAT_E8M0);
}

static int nibble(const uint8_t *in, size_t i)
{
	return in[i / 2] >> i % 2 * 4 & 15;
}

void narrow_e2m1(void *out, const void *in, size_t n)
{
	float value[256];
	minifloat_values(value, MINIFLOAT_E2M1);
	for (size_t i = 0; i < n; i++)
		((float *)out)[i] = value[nibble(in, i)];
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
