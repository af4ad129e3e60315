// What restore.c knows of a sample, and restore_look.c shows.
#ifndef QTUI_ANALYSIS_TASK_RESTORE_H
#define QTUI_ANALYSIS_TASK_RESTORE_H

#include "task_impl.h"

enum { RESTORED_FIGURES = TASK_LOOK_FIGURES };
struct restored { // of one sample
	struct task_result base; // value: PSNR in dB
	double psnr_y, ssim;     // NAN: of a single level PSNR is that of the light, too small a picture has no windows
	int cells_w, cells_h;
	float *error;            // [cells_h, cells_w] mean square error of a cell, of levels 0..255
	uint8_t *rgb;            // [h, w, 3] the picture, made smaller where it was large
	int w, h;
	struct shape out;        // of the output, as [1, C, H, W]
};
uint8_t *restore_truth(const struct task *t, int sample, const struct restored *like); // as large as like->rgb; heap, or NULL
void restored_figures(double out[RESTORED_FIGURES], const struct restored *r);
extern const char *const restored_name[RESTORED_FIGURES];
void restore_look(struct task *t, struct task_result *const r[TASK_VARIANTS], struct task_look *l);

#endif
