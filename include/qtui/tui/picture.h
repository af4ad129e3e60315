// Pictures and the boxes over them.
#ifndef QTUI_TUI_PICTURE_H
#define QTUI_TUI_PICTURE_H

#include "qtui/analysis/task_look.h"
#include "qtui/tui/canvas.h"

struct picture {
	const uint8_t *rgb; // [h * w * 3]; borrowed
	int w, h;           // pixels
	struct rect at;     // cells, set by picture_fit
	double scale;       // from the picture's pixels to pixels of the screen: one a column, `aspect` a line
	int cell_w, cell_h; // of a cell, in pixels, where the terminal takes pictures in pixels; else 0
	const struct task_look *cells; // whose cells are laid over it; NULL: none
	struct canvas_image *image; // set by picture_draw, which then draws into it
};
void picture_fit(struct picture *p, struct rect r); // as large as r allows, at its top
// blocks: in colours; else brightness as characters. picture_done when all boxes are drawn.
void picture_draw(struct canvas *c, struct picture *p, bool blocks);
void picture_done(struct picture *p); // the image is given to the canvas

// A cell of a segmentation that changed: its role, and the character that stands for it where there are no colours.
enum role picture_cell_role(enum task_cell k);
char picture_cell_letter(enum task_cell k);

enum pen_kind { PEN_TRUTH, PEN_FLOAT, PEN_QUANT, PEN_KINDS };
enum role picture_role(enum pen_kind k);
// A box of the look, with its keypoints: a dot each; where the picture is in pixels, with lines between them. A rotated box is
// the lines between its corners. Its letter and label stand on its upper edge, those of the quantized network on the lower.
void picture_box(struct canvas *c, const struct picture *p, const struct task_look *l, const struct task_box *b, enum pen_kind kind,
    const char *label, bool blocks);

#endif
