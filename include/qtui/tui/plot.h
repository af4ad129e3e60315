// Histograms drawn with braille dots (two columns and four rows a cell), or with ASCII marks.
#ifndef QTUI_TUI_PLOT_H
#define QTUI_TUI_PLOT_H

#include "qtui/tui/canvas.h"

// Bars for bin[n], n = plot_bins(width): heights are logarithmic, `most` is the count of a full bar.
int plot_bins(const struct canvas *c, int width);
void plot_bars(struct canvas *c, struct rect r, const uint64_t *bin, uint64_t most, enum role role);
// Bars between dots from[n] and to[n] - 1 of a column of dots, counted from below; n = plot_bins(r.w), 4 dots a line.
void plot_spans(struct canvas *c, struct rect r, const int *from, const int *to, enum role role);
// A horizontal bar of `share` (0..1) of the width, in eighths of a cell.
void plot_gauge(struct canvas *c, int x, int y, int width, double share, enum role role);

#endif
