// Grades: the role and the mark of a signal-to-noise ratio, of its change, and of a precision;
// every view shows the same ones.
#ifndef QTUI_TUI_GRADE_H
#define QTUI_TUI_GRADE_H

#include "qtui/analysis/snapshot.h"
#include "qtui/tui/theme.h"

// How bad an SNR is: the thresholds are 10, 20 and 30 dB (noise of 10 %, 1 %, 0.1 % of the signal's power).
enum severity { SEVERITY_NONE, SEVERITY_BAD, SEVERITY_WEAK, SEVERITY_FAIR, SEVERITY_GOOD };
enum severity severity_of(double snr_db);
enum role severity_role(enum severity s);
const char *severity_glyph(enum severity s);
enum role snr_role(double snr_db);

// A change of an SNR is better (1) or worse (-1) when it does not round to 0.0 dB, as it is shown;
// 0 as well when it is not known.
int gain_sign(double db);
enum role gain_role(double db);

enum role precision_role(enum precision p);
const char *precision_short(enum precision p); // "8", "16", "f"

#endif
