// Logits: tensors by which a Sigmoid decides. It is nearly zero below -8 and moves most around 0, so that what is clipped of them far below zero
// is no harm, however bad the tensor's own figures look.
#ifndef QTUI_ANALYSIS_LOGITS_H
#define QTUI_ANALYSIS_LOGITS_H

#include "qtui/analysis/snapshot.h"

bool sigmoid_gates(const struct graph *g, int sigmoid); // x * Sigmoid(x): an activation, not a probability
// The Sigmoid that reads the elements of this value by way of movers and joints, and is no gate; -1: none does.
int logits_sigmoid(const struct graph *g, int value);
// SNR in dB that the grid of a node's output leaves to the scores behind its Sigmoid, if its scale were `scale`, from the float histogram.
// Scores below a thousandth are none. NAN: no Sigmoid decides by it, or it is not known.
double logits_predict(const struct snapshot *s, const struct site *site, double scale);
// They have worse figures than the Sigmoid that reads them will see: what they lost lies where it is nearly zero.
bool logits_hide(const struct snapshot *s, const struct site *site, double *behind_db);

#endif
