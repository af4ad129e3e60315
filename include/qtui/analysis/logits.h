// Logits: tensors that a Sigmoid turns into scores. The Sigmoid is nearly zero below -8 and steepest around 0, so that
// clipping logits far below zero does no harm, however bad the tensor's own figures look.
#ifndef QTUI_ANALYSIS_LOGITS_H
#define QTUI_ANALYSIS_LOGITS_H

#include "qtui/analysis/snapshot.h"

bool sigmoid_gates(const struct graph *g, int sigmoid); // x * Sigmoid(x): an activation, not a probability
// The Sigmoid (its node id) that reads the elements of this value, directly or through operators that only move and
// join elements, and that is no gate; -1: there is none.
int logits_sigmoid(const struct graph *g, int value);
// The SNR in dB that the scores behind its Sigmoid would have if the site's scale were `scale`, predicted from the
// float histogram; scores below a thousandth count as 0. NAN: no Sigmoid reads it, or it is not known.
double logits_predict(const struct snapshot *s, const struct site *site, double scale);
// Do these logits look worse than they are, because what they lost lies where the Sigmoid is nearly zero? *behind_db:
// the SNR behind the Sigmoid.
bool logits_hide(const struct snapshot *s, const struct site *site, double *behind_db);

#endif
