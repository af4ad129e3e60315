#include "qtui/tui/figures.h"

#include <math.h>

double figures_nsr(const struct figures *f)
{
	return f->known ? f->pooled.nsr : NAN;
}

double figures_cosine(const struct figures *f)
{
	return f->known ? f->pooled.cosine : NAN;
}

double figures_mse(const struct figures *f)
{
	return f->known ? f->pooled.mse : NAN;
}

double figures_max_error(const struct figures *f)
{
	return f->known ? f->pooled.max_error : NAN;
}

double figures_clipped(const struct figures *f)
{
	return f->known ? 100 * f->pooled.clipped : NAN;
}
