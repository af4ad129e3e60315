// Totals of floats in double (private to reduce.c).
#ifndef QTUI_ENGINE_OPS_REDUCTION_REDUCE_FOLD_H
#define QTUI_ENGINE_OPS_REDUCTION_REDUCE_FOLD_H

#include "../strided.h"

// What is done with each element.
enum step { STEP_SUM, STEP_ABS, STEP_SQUARE, STEP_PROD, STEP_MAX, STEP_MIN };

// The total of no elements.
double reduce_start(enum step step);
// Adds all elements of x to acc, along array 0 of the walk (x is its array 1), in an order that
// depends on the shape alone; with `shift`, of as many elements as acc, exp(element - shift) instead.
// A NaN among them is the largest and the least.
void reduce_fold(enum step step, double *acc, const struct tensor *x, const struct strided *s, const double *shift, int width);

#endif
