// One figure of a comparison, as rows and columns show it; NAN when not known. figures_snr is the analysis's.
#ifndef QTUI_TUI_FIGURES_H
#define QTUI_TUI_FIGURES_H

#include "qtui/analysis/snapshot.h"

double figures_nsr(const struct figures *f);
double figures_cosine(const struct figures *f);
double figures_mse(const struct figures *f);
double figures_max_error(const struct figures *f);
double figures_clipped(const struct figures *f); // percent

#endif
