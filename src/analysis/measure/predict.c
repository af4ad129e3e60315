// What a scale would do, from the float histogram alone: each fine bin stands for its centre. A grid that is finer than the bins, at 16 bit,
// makes the error of its own step wherever it reaches.
#include <math.h>
#include "qtui/analysis/study.h"

struct prediction hist_predict(const struct hist *h, double scale, double zero, int64_t qmin, int64_t qmax)
{
	struct prediction p = {.step = scale};
	double width = ((double)h->hi - h->lo) / STATS_BINS, signal = 0, noise = 0, clipped = 0, all = 0;
	for (int i = 0; i < STATS_BINS; i++) {
		if (h->bin[i] == 0)
			continue;
		double x = h->lo + (i + 0.5) * width, code = rint(x / scale) + zero;
		double q = (fmin(fmax(code, (double)qmin), (double)qmax) - zero) * scale;
		bool beyond = code < (double)qmin || code > (double)qmax;
		// Within a bin finer than the step the error is spread evenly; q - x of the centre misses width^2 / 12.
		noise += h->bin[i] * (scale < width && !beyond ? scale * scale / 12 : (q - x) * (q - x) + width * width / 12);
		signal += h->bin[i] * x * x;
		clipped += beyond ? h->bin[i] : 0;
		all += h->bin[i];
	}
	if (all == 0 || signal == 0 || noise == 0)
		return p;
	p.known = true;
	p.snr_db = 10 * log10(signal / noise);
	p.clipped = clipped / all;
	return p;
}

struct prediction study_predict_scale(const struct snapshot *snap, int site, double scale)
{
	const struct site *s = &snap->site[site];
	if (!s->hist_float || !(scale > 0) || s->kind == SITE_WEIGHT || s->kind == SITE_FLOAT)
		return (struct prediction){.step = scale};
	return hist_predict(s->hist_float, scale, s->n_scale == 1 && s->zero ? s->zero[0] : 0, s->qmin, s->qmax);
}
