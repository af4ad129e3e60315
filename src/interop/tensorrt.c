// TensorRT's calibration cache: after a line with its version, "TENSOR: HHHHHHHH", the float scale (amax / 127)
// as eight hexadecimal digits. It knows one symmetric 8-bit scale a tensor.
#include <string.h>
#include "formats.h"

static bool is_plain_int8(const struct site *x)
{
	return x->bits == 8 && x->n_scale == 1 && x->qmin < 0 && (!x->zero || x->zero[0] == 0);
}

static void add_site(struct str *out, struct str *loss, const struct snapshot *s, const struct site *x)
{
	const char *tensor = s->g->value[x->value].name;
	uint32_t bits;
	if (!is_plain_int8(x)) {
		lose(loss, "%s: %d bits%s are not one symmetric 8-bit scale: left out", tensor, x->bits,
		    x->n_scale > 1 ? " a channel" : x->zero && x->zero[0] ? " with a zero point" : x->qmin == 0 ? " without a sign" : "");
		return;
	}
	memcpy(&bits, x->scale, sizeof bits);
	str_addf(out, "%s: %08x\n", tensor, bits);
}

enum status tensorrt_cache(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	(void)err;
	str_add(out, s->method == CALIB_MINMAX ? "TRT-8601-MinMaxCalibration\n" : "TRT-8601-EntropyCalibration2\n");
	for (int v = 0; v < s->g->n_values; v++) {
		const struct site *x = tensor_site(s, v);
		if (x)
			add_site(out, loss, s, x);
	}
	lose_precision(loss, d, s, PREC_FLOAT, "a calibration cache (unlike --layerPrecisions)");
	lose(loss, "the first line names TensorRT 8.6.1: put the version there that reads it");
	return STATUS_OK;
}
