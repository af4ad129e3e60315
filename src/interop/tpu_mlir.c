// tpu-mlir: the quantization table (operator -> mode) and the calibration table (operator -> range).
// Its operators have no names of their own: one is called TENSOR_Type, after its first output.
// What it fuses keeps the last name, and only its run shows what that is;
// it passes over names that it does not have, so that every name an operator may get is written.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats.h"
#include "qtui/engine/op.h"

static const char *const mode_name[PREC_COUNT] = {[PREC_INT8] = "INT8", [PREC_FLOAT] = "F32"};

enum { DECIMAL = 64 }; // characters of a number

struct table {
	struct str *out, *loss;
};

// Lines are of words, so that a name of more than one cannot be said.
static void add_line(struct table *t, const char *tensor, const char *type, const char *columns)
{
	if (strpbrk(tensor, " \t\r\n"))
		lose(t->loss, "%s: tpu-mlir's tables cannot say a name with a blank in it", tensor);
	else
		str_addf(t->out, "%s%s%s %s\n", tensor, *type ? "_" : "", type, columns);
}

// By the type that the node of the file has, and by that of the node which a simplifier makes
// of it (a Conv with its BatchNormalization is a Conv).
static void add_lines(struct table *t, const struct graph *g, const struct origin *o, const char *tensor, const char *columns)
{
	const struct node *n = &g->node[o->node];
	bool ends = n->n_out && n->out[0] >= 0 && strcmp(g->value[n->out[0]].name, tensor) == 0;
	add_line(t, tensor, o->op_type, columns);
	if (ends && strcmp(n->op->name, o->op_type) != 0)
		add_line(t, tensor, n->op->name, columns);
}

enum status tpu_mlir_qtable(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	struct table t = {out, loss};
	signed char *want = operator_precisions(d, s);
	(void)err;
	str_add(out, "# op_name   quantize_mode\n");
	for (const struct origin *o = s->g->origin; o < s->g->origin + s->g->n_origins; o++) {
		int p = origin_in_graph(o) && o->n_out ? want[o->node] : -1;
		if (p >= 0 && mode_name[p])
			add_lines(&t, s->g, o, o->out[0], mode_name[p]);
	}
	lose_precision(loss, d, s, PREC_INT16, "a qtable");
	lose_scales(loss, d, s, "a qtable (unlike tpu-mlir-cali-table)");
	lose_method(loss, s, "a qtable (unlike tpu-mlir-cali-table)");
	lose_calibrators(loss, d, s, "a qtable (unlike tpu-mlir-cali-table)");
	free(want);
	return STATUS_OK;
}

// As run_calibration.py writes a number; one of which seven decimals would leave few digits, or none, in powers of ten.
// (The compiler's reader takes a negative power and no positive one.)
static const char *decimal(char out[DECIMAL], double x)
{
	snprintf(out, DECIMAL, x != 0 && fabs(x) < 0.1 ? "%.8g" : "%.7f", x);
	return out;
}

// Symmetric quantization there divides the threshold by 127 where the minimum is below
// zero, and by 255 where it is not.
static void add_range(struct table *t, const struct graph *g, const struct origin *maker, const struct site *x)
{
	const char *tensor = g->value[x->value].name;
	double scale = x->scale[0], zero = x->zero ? x->zero[0] : 0;
	double min = ((double)x->qmin - zero) * scale, max = ((double)x->qmax - zero) * scale;
	bool shifted = zero != 0 && min < 0;
	double threshold = shifted ? fmax(-min, max) : max;
	char columns[3 * DECIMAL], number[3][DECIMAL];
	snprintf(columns, sizeof columns, "%s %s %s", decimal(number[0], threshold), decimal(number[1], min), decimal(number[2], max));
	if (maker)
		add_lines(t, g, maker, tensor, columns);
	else
		add_line(t, tensor, "", columns); // an input goes by its own name
	if (shifted)
		lose(t->loss, "%s: its zero point is taken by model_deploy --asymmetric only", tensor);
}

enum status tpu_mlir_cali(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	struct table t = {out, loss};
	struct namemap *makers = tensor_makers(s->g);
	(void)err;
	str_addf(out, "# sample number: %d\n###\n# op_name    threshold    min    max\n", s->samples);
	for (int v = 0; v < s->g->n_values; v++) {
		const struct site *x = tensor_site(s, v);
		int maker = namemap_get(makers, s->g->value[v].name);
		if (x && x->bits == 8 && x->n_scale == 1)
			add_range(&t, s->g, maker >= 0 ? &s->g->origin[maker] : NULL, x);
		else if (x)
			lose(loss, "%s: %d bits%s are not one 8-bit range: left out", s->g->value[v].name, x->bits,
			    x->n_scale > 1 ? " a channel" : "");
	}
	lose_precision(loss, d, s, PREC_FLOAT, "a calibration table (unlike tpu-mlir-qtable)");
	str_add(
	    loss, "put these lines in place of those in the table that run_calibration.py wrote: it has tensors that are not quantized here\n");
	namemap_free(&makers);
	return STATUS_OK;
}
