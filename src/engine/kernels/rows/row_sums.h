// Sums of a row of floats in double, for bodies that every processor level compiles (private):
// in the same order on all of them.
#ifndef QTUI_ENGINE_KERNELS_ROWS_ROW_SUMS_H
#define QTUI_ENGINE_KERNELS_ROWS_ROW_SUMS_H

#include "../../tensor/vector.h"

// Sums side by side: so many additions need not wait for each other.
// Element i of a row goes to sum i % TURN, whatever a register holds.
enum { TURN = 32, LANES = VBYTES / 8, SUMS = TURN / LANES };
typedef float vhalf __attribute__((vector_size(LANES * sizeof(float))));
struct sums {
	vdouble of[SUMS];
};

VINLINE vdouble load(const float *x)
{
	vhalf f;
	memcpy(&f, x, sizeof f);
	return __builtin_convertvector(f, vdouble);
}

VINLINE double fold(struct sums *s)
{
	vdouble all;
	for (int half = SUMS / 2; half > 0; half /= 2)
		for (int k = 0; k < half; k++)
			s->of[k] += s->of[k + half];
	all = s->of[0];
	for (int half = LANES / 2; half > 0; half /= 2)
		for (int i = 0; i < half; i++)
			all[i] += all[i + half];
	return all[0];
}

// The last n < LANES elements, in front of zeros.
VINLINE vdouble load_some(const float *x, int64_t n)
{
	float some[LANES] = {0};
	memcpy(some, x, (size_t)n * sizeof *x);
	return load(some);
}

typedef vdouble term_fn(vdouble v, double mean);

// Of the elements of whole turns: sums that stay in registers.
VINLINE struct sums sum_turns(const float *x, int64_t n, term_fn *term, double mean)
{
	struct sums s = {0};
	for (int64_t i = 0; i + TURN <= n; i += TURN)
		_Pragma("GCC unroll 16") for (int k = 0; k < SUMS; k++)
			s.of[k] += term(load(x + i + k * LANES), mean);
	return s;
}

// Of term(x[i], mean); 0 of no elements.
VINLINE double sum(const float *x, int64_t n, term_fn *term, double mean)
{
	struct sums s = sum_turns(x, n, term, mean);
	int64_t i = n - n % TURN;
	for (int k = 0; i < n; i += LANES, k++) {
		vdouble v = n - i < LANES ? load_some(x + i, n - i) : load(x + i);
		v = term(v, mean);
		for (int64_t past = n - i; past < LANES; past++)
			v[past] = 0;
		s.of[k] += v;
	}
	return fold(&s);
}

#endif
