#include "qtui/engine/half.h"

#include <math.h>
#include "float_bits.h"

// A NaN keeps its bits, which a computed one would not.
float half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, fraction = h & 0x3ff;
	if (exponent == 31)
		return float_of_bits(sign | 0x7f800000 | fraction << 13);
	if (exponent)
		return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
	const float tiny = (float)fraction * 0x1p-24f;
	return sign ? -tiny : tiny;
}

uint16_t half_of_float(float x)
{
	const uint16_t sign = signbit(x) ? 0x8000 : 0;
	int exponent;
	x = fabsf(x);
	if (isnan(x))
		return sign | 0x7e00;
	if (x >= 65520)
		return sign | 0x7c00;
	if (x < 0x1p-14f)
		return sign | (uint16_t)nearbyintf(x * 0x1p24f);
	const float eleven = ldexpf(frexpf(x, &exponent), 11); // bits, the leading one counts up the exponent
	return (uint16_t)(sign + ((exponent + 13) << 10) + (int)nearbyintf(eleven));
}
