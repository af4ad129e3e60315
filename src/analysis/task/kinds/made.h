// Pictures that networks make: how like they are to what they should be, and what is kept of them for a look.
#ifndef QTUI_ANALYSIS_TASK_KINDS_MADE_H
#define QTUI_ANALYSIS_TASK_KINDS_MADE_H

#include "../decode/levels.h"
#include "qtui/analysis/task_look.h"

// What a network made of a sample and what it should have made: planes of levels 0..255.
struct pair {
	const float *said, *truth;
	int channels, w, h;
	bool bgr;
};
// The part of a picture of w x h that counts: where the sample lies in the input, without the border.
struct area made_area(int w, int h, const struct placement *where);

enum made_figure_kind { MADE_PSNR, MADE_PSNR_Y, MADE_SSIM, MADE_FIGURES };
extern const char *const made_figure[MADE_FIGURES]; // their names
struct made {
	double figure[MADE_FIGURES]; // NAN: of a single level there is no other light, too small a picture has no windows
	int cells_w, cells_h;
	float *error;                // [cells_h, cells_w] mean square error of a cell, of levels
	uint8_t *rgb;                // [h, w, 3] the picture, made smaller where it was large
	int w, h;
	size_t bytes;                // of all
};
// What is kept of what was said, of `most` pixels at the most; made_measure with the figures, which are NAN without.
void made_keep(struct made *to, const struct pair *it, const struct area *a, double most);
void made_measure(struct made *to, const struct pair *it, const struct area *a, double most);
void made_done(struct made *m);
uint8_t *made_rgb(const struct pair *it, const struct area *a, const float *picture, int w, int h); // of one of the pair; heap
// Pictures and cells: what came farther from the truth, or closer. False: they do not go together, and nothing is done.
bool made_look(struct task_look *l, const struct made *before, const struct made *after);
// Pixels that may be kept of each of so many samples' pictures.
double made_share(int samples);

#endif
