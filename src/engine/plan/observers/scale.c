// Scales from ranges (docs/NUMERICS.md): computed in double, stored as float, as the tools do.
// Zero points are those of the double (or of the float, where the target says so), which decides where a range
// about zero puts them halfway between two codes; what such a range is wide is subtracted as floats, unless the target
// says otherwise.
#include <float.h>
#include <math.h>
#include "../plan_impl.h"

static double rounded(double x, enum rounding r)
{
	switch (r) {
	case ROUND_HALF_UP:
		return floor(x + 0.5);
	case ROUND_HALF_DOWN:
		return ceil(x - 0.5);
	case ROUND_HALF_TOWARDS_ZERO:
		return copysign(ceil(fabs(x) - 0.5), x);
	case ROUND_HALF_FAR_FROM_ZERO:
		return round(x);
	case ROUND_UP:
		return ceil(x);
	case ROUND_DOWN:
		return floor(x);
	default:
		return nearbyint(x);
	}
}

static double round_log2(double scale, enum rounding r)
{
	return exp2(rounded(log2(scale), r));
}

double scale_at_least(const struct target *t, double scale)
{
	double below = t->scale.below > 0 ? t->scale.below : t->scale.minimum;
	return scale < t->scale.minimum ? below : scale;
}

int32_t scale_middle(const struct quantizer *q)
{
	return q->qmin < 0 ? 0 : (int32_t)((q->qmin + q->qmax + 1) / 2);
}

int32_t scale_clamp_zero(const struct quantizer *q, double zero)
{
	return (int32_t)fmin(fmax(zero, (double)q->qmin), (double)q->qmax);
}

struct quantizer scale_chosen_for(const struct target *t, const struct quantizer *q)
{
	struct quantizer chosen = *q;
	if (t->activation.balanced && q->symmetric && q->qmin < -q->qmax)
		chosen.qmin = -q->qmax;
	return chosen;
}

float scale_finite(const struct quantizer *q, double scale, int32_t zero)
{
	double farthest = fmax((double)q->qmax - zero, zero - (double)q->qmin), most = FLT_MAX / farthest;
	if ((double)(float)scale * farthest <= FLT_MAX)
		return (float)scale;
	return q->pow2 ? (float)exp2(floor(log2(most))) : nextafterf((float)most, 0);
}

// Before it is rounded. The ends differ where it lies halfway between two codes: in the last bit, which then decides.
static double zero_point(const struct target *t, const struct quantizer *q, double lo, double hi, double scale)
{
	double qmin = (double)q->qmin, qmax = (double)q->qmax;
	double lowest = t->scale.single ? (double)((float)lo / (float)scale) : lo / scale, highest = hi / scale;
	return t->scale.precise && qmax + highest <= fabs(qmin) - lowest ? qmax - highest : qmin - lowest;
}

void scale_of_range(float *scale, int32_t *zero, const struct target *t, const struct quantizer *q, double lo, double hi)
{
	double least = hi - lo > t->scale.least_range ? 0 : t->scale.least_range / 2;
	lo = fmin(lo, -least);
	hi = fmax(hi, least);
	double levels = (double)(q->qmax - q->qmin);
	double width = t->scale.precise ? hi - lo : (double)((float)hi - (float)lo);
	double s = scale_at_least(t, (q->symmetric ? 2 * fmax(-lo, hi) : width) / levels);
	if (q->pow2)
		s = round_log2(s, t->scale.range);
	*zero = q->symmetric ? scale_middle(q) : scale_clamp_zero(q, rounded(zero_point(t, q, lo, hi, s), t->scale.zero));
	*scale = scale_finite(q, s, *zero);
}

void scale_of_kl(float *scale, int32_t *zero, const struct target *t, const struct quantizer *q, double wanted)
{
	double s = scale_at_least(t, wanted);
	*zero = scale_middle(q);
	*scale = scale_finite(q, q->pow2 ? round_log2(s, t->scale.kl) : s, *zero);
}

bool scale_is_pow2(double scale)
{
	int exponent;
	return frexp(scale, &exponent) == 0.5;
}

double scale_nearest_pow2(double scale)
{
	return exp2(floor(log2(scale) + 0.5));
}
