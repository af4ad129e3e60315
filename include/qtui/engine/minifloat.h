// Floats of 8 and 4 bits. A tensor of them is one of DT_F32 here, whose values are those that the format has: every
// one of them is a float.
#ifndef QTUI_ENGINE_MINIFLOAT_H
#define QTUI_ENGINE_MINIFLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum { // TensorProto.DataType of them; the description of the format that this is built with may be older than they are
	MINIFLOAT_E4M3FN = 17,
	MINIFLOAT_E4M3FNUZ,
	MINIFLOAT_E5M2,
	MINIFLOAT_E5M2FNUZ,
	MINIFLOAT_E2M1 = 23,
	MINIFLOAT_E8M0, // powers of two only, no zero and no sign: for scales
};

bool is_minifloat(int64_t type); // of a TensorProto.DataType
// The values of all codes of a format, 16 for MINIFLOAT_E2M1, else 256; returns their number.
int minifloat_values(float value[256], int type);
float minifloat_largest(int type); // finite value
int minifloat_fraction(int type);  // bits behind the leading one
// y = the nearest value of the format, ties to the even code. What lies past the largest becomes that if `saturate`,
// else infinity or, in formats that have none, NaN; where there is no NaN either it saturates always. For all but
// MINIFLOAT_E8M0; y may be x.
void minifloat_round(float *y, const float *x, int64_t n, int type, bool saturate);
// The same for powers of two: to the next one 'u'p (away from zero) or 'd'own, or to the 'n'earest, ties up; the sign
// is lost.
void minifloat_round_power(float *y, const float *x, int64_t n, char direction, bool saturate);

#endif
