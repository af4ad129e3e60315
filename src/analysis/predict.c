// What a scale would do, from the float histogram alone: each fine bin stands for its centre.
#include <math.h>
#include "qtui/analysis/study.h"

struct prediction study_predict_scale(const struct snapshot *snap, int site, double scale)
{
	const struct site *s = &snap->site[site];
	const struct hist *h = s->hist_float;
	struct prediction p = {.step = scale};
	if (!h || !(scale > 0) || s->kind == SITE_WEIGHT)
		return p;
	double width = ((double)h->hi - h->lo) / STATS_BINS, signal = 0, noise = 0, clipped = 0, all = 0;
	double zero = s->n_scale == 1 && s->zero ? s->zero[0] : 0;
	for (int i = 0; i < STATS_BINS; i++) {
		if (h->bin[i] == 0)
			continue;
		double x = h->lo + (i + 0.5) * width, code = rint(x / scale) + zero;
		double q = (fmin(fmax(code, (double)s->qmin), (double)s->qmax) - zero) * scale;
		// Within a bin finer than the step the error is spread evenly; q - x of the centre misses width^2 / 12.
		noise += h->bin[i] * ((q - x) * (q - x) + width * width / 12);
		signal += h->bin[i] * x * x;
		clipped += code < (double)s->qmin || code > (double)s->qmax ? h->bin[i] : 0;
		all += h->bin[i];
	}
	if (all == 0 || signal == 0 || noise == 0)
		return p;
	p.known = true;
	p.snr_db = 10 * log10(signal / noise);
	p.clipped = clipped / all;
	return p;
}
