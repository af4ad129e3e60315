// What the parts of the detail share: a page is written line by line;
// lines above and below its window fall outside of the clip.
#ifndef QTUI_TUI_DETAIL_H
#define QTUI_TUI_DETAIL_H

#include "qtui/tui/ui.h"

enum { DETAIL_LABEL = 10 }; // columns of the labels at the left
struct page {
	struct canvas *c;
	const struct ui *ui;
	int x, y, w;
	int height; // of the window
};
// What the quantizer's grid can say: [low, high] of the values that have codes, were its scale `scale` and its zero point `zero`
// (ZERO_FOLLOWS: the one that it has).
bool detail_grid(const struct site *s, double scale, int32_t zero, double *low, double *high);
// Which of its node's outputs a tensor is, from 1; 0: the node has this one only, or it is an input of the network.
int detail_output_number(const struct graph *g, int value);
// "output [weight] input": the tensors of a node, the chosen one in brackets; returns the columns used.
int detail_choice(struct canvas *c, struct rect r, const struct snapshot *s, const struct site *chosen);
void detail_shape(char *out, size_t size, const struct shape *s); // "64×16×3×3"
void detail_figures(struct page *p, const struct site *s);
// The float bars over the quantized, as high as the window has lines beside the others that should be seen.
void detail_histogram(struct page *p, const struct site *s, int other_lines);

#endif
