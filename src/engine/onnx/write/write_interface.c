// Inputs and outputs that the model has as halves or doubles. Whoever runs the file in the model's place gives
// it those and gets those, so that a Cast stands behind such an input and before such an output.
#include "write.h"

enum { OLDEST = 6 }; // opset in which a Cast has its type as a number

// An output that is a constant, or an input as it is, has no node before it.
static bool is_cast(const struct writer *w, const struct value *v)
{
	return v->float_bytes && w->opset >= OLDEST && (v->is_input || (v->is_output && v->producer >= 0));
}

void interface_name_floats(struct writer *w)
{
	for (int i = 0; i < w->g->n_values; i++) {
		const struct value *v = &w->g->value[i];
		w->name[i] = is_cast(w, v) ? write_name(w, v->name, "_float") : v->name;
	}
}

int32_t interface_type(const struct writer *w, int value)
{
	const struct value *v = &w->g->value[value];
	if (!is_cast(w, v))
		return write_type(v);
	return v->float_bytes == 2 ? ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 : ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE;
}

void interface_add_inputs(struct writer *w)
{
	for (int i = 0; i < w->g->n_inputs; i++) {
		int v = w->g->input[i];
		if (is_cast(w, &w->g->value[v]))
			write_int_attribute(
			    w, write_simple_node(w, "Cast", w->g->value[v].name, w->name[v]), "to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
	}
}

void interface_add_outputs(struct writer *w)
{
	for (int i = 0; i < w->g->n_outputs; i++) {
		int v = w->g->output[i];
		const struct value *out = &w->g->value[v];
		if (is_cast(w, out) && !out->is_input)
			write_int_attribute(w, write_simple_node(w, "Cast", w->name[v], out->name), "to", interface_type(w, v));
	}
}
