#include "qtui/engine/file_grid.h"
#include <math.h>
#include "qtui/engine/minifloat.h"

static const double MEAN_SQUARE = 7 / 3.0; // of what lies anywhere from 1 to 2

static double first_of(const struct tensor *t)
{
	switch (dtype_held(t->type)) {
	case DT_F32:
		return ((const float *)t->data)[0];
	case DT_I8:
		return ((const int8_t *)t->data)[0];
	case DT_U8:
		return ((const uint8_t *)t->data)[0];
	case DT_I16:
		return ((const int16_t *)t->data)[0];
	case DT_U16:
		return ((const uint16_t *)t->data)[0];
	default:
		return NAN;
	}
}

static const struct tensor *one_number(const struct graph *g, const struct node *n, int i)
{
	const struct tensor *t = i < n->n_in && n->in[i] >= 0 ? g->value[n->in[i]].constant : NULL;
	return t && tensor_count(t) == 1 ? t : NULL;
}

bool file_grid_read(struct file_grid *out, const struct graph *g, const struct node *n)
{
	const struct tensor *scale = one_number(g, n, 1), *zero = one_number(g, n, 2);
	if (!scale || (n->n_in > 2 && n->in[2] >= 0 && !zero))
		return false;
	static const struct {
		int64_t qmin, qmax;
	} codes[DT_COUNT] = {
	    [DT_I8] = {-128, 127},
	    [DT_U8] = {0, 255},
	    [DT_I16] = {-32768, 32767},
	    [DT_U16] = {0, 65535},
	    [DT_I4] = {-8, 7},
	    [DT_U4] = {0, 15},
	};
	const struct value *y = &g->value[n->out[0]];
	*out = (struct file_grid){first_of(scale), zero ? first_of(zero) : 0, 1, 0, codes[y->type].qmin, codes[y->type].qmax};
	if (y->minifloat)
		*out = (struct file_grid){first_of(scale) * (double)minifloat_largest(y->minifloat) / INT16_MAX, 0,
		    INT16_MAX / (double)minifloat_largest(y->minifloat), ldexp(1, -2 * minifloat_fraction(y->minifloat)) / 12 / MEAN_SQUARE,
		    -INT16_MAX, INT16_MAX};
	return out->scale > 0 && isfinite(out->zero) && out->qmax > 0;
}
