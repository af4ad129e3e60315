// How like two pictures are. Pictures are planes of floats, 0..255.
#ifndef QTUI_ANALYSIS_TASK_METRIC_SIMILARITY_H
#define QTUI_ANALYSIS_TASK_METRIC_SIMILARITY_H

// Peak signal-to-noise ratio of a mean square error, in dB of a peak of 255; 100 at the most, where nothing differs.
double psnr_of(double mse);
// Structural similarity (Wang, Bovik, Sheikh, Simoncelli: Image Quality Assessment, 2004), the mean over all windows of
// 11 x 11 that lie within both planes of w x h: weights of a Gaussian of 1.5 pixels, K1 .01, K2 .03. NAN: no window fits.
double ssim_of(const float *a, const float *b, int w, int h);

// Of levels: the Y of ITU-R BT.601, 16..235.
static inline float similarity_light(float red, float green, float blue)
{
	return 16 + (65.481F * red + 128.553F * green + 24.966F * blue) / 255;
}

#endif
