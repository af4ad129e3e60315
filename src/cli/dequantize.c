// qtui dequantize: the float network of a quantized model, to begin from where nobody has the original any more.
#include <string.h>
#include "qtui/engine/onnx.h"
#include "shapes.h"
#include "verbs.h"

struct found {
	int pairs, activations;
};

static struct found look(const struct graph *g)
{
	struct found f = {0};
	for (int i = 0; i < g->n_origins; i++) {
		const struct origin *o = &g->origin[i];
		bool stays = o->fate == FATE_KEPT && strcmp(g->node[o->node].op->name, "QuantizeLinear") == 0;
		if (!onnx_quantizes(o->op_type) || stays)
			continue;
		f.pairs++;
		f.activations += o->fate == FATE_KEPT;
	}
	return f;
}

static enum status run(const struct options *o, struct error *err)
{
	struct graph *g = NULL;
	const char *path = o->positional.n ? o->positional.at[0] : NULL;
	if (!path || !o->output)
		return error_set(err, STATUS_USAGE, path ? "-o OUT.onnx is needed" : "a MODEL is needed");
	if (o->positional.n > 1)
		return error_set(err, STATUS_USAGE, "unexpected argument %s", o->positional.at[1]);
	enum status st = check_output(o->output, err);
	if (st == STATUS_OK)
		st = onnx_load(
		    &g, path, &(struct onnx_options){.shape = o->study.shape, .n_shapes = o->study.n_shapes, .pairs = true, .floats = true}, err);
	if (st == STATUS_OK)
		st = shapes_check(o, g, err);
	struct found f = st == STATUS_OK ? look(g) : (struct found){0};
	if (st == STATUS_OK && f.pairs == 0)
		st = error_set(
		    err, STATUS_REFUSED, "%s: no QuantizeLinear and no operator on codes is in it, so there is nothing to take out", path);
	else if (st == STATUS_OK)
		st = onnx_save_tuned(o->output, g, NULL, err);
	if (st == STATUS_OK && !options_take_stdout(o))
		say("%s: %d quantizers taken out, %d activations put back; weights are the file's\n", o->output, f.pairs, f.activations);
	graph_free(&g);
	return st;
}

int verb_dequantize(struct options *o)
{
	struct error err = {0};
	return run(o, &err) == STATUS_OK ? EXIT_DONE : fail(&err);
}
