// What tests of equalization share: the call, the float model that it leads to,
// and that this is the network that it was.
#ifndef TESTS_ENGINE_EQUALIZE_CASE_H
#define TESTS_ENGINE_EQUALIZE_CASE_H

#include <math.h>
#include "onnx_case.h"
#include "qtui/engine/equalize.h"
#include "qtui/engine/eval.h"

static inline struct equalization equalized(const struct graph *g, struct equalize_options opt)
{
	struct equalization e;
	struct error err = {0};
	if (equalize(&e, g, &opt, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return e;
}

// Of channels and weights that reach differently far.
static inline float *random_floats(struct onnx_case *c, int64_t n, uint64_t seed)
{
	struct support_random random = {seed};
	float *x = case_new(c, (size_t)n * sizeof *x);
	for (int64_t i = 0; i < n; i++)
		x[i] = support_random_normal(&random) * exp2f(3 * support_random_normal(&random));
	return x;
}

// The caller frees it.
static inline struct graph *written(const struct graph *g, const struct tuning *t)
{
	struct graph *back = NULL;
	struct error err = {0};
	const char *path = support_temp("equalized.onnx");
	if (onnx_save_tuned(path, g, t, &err) != STATUS_OK ||
	    onnx_load(&back, path, &(struct onnx_options){0}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return back;
}

// Of one input, which is sines; out[n_outputs], the caller drops them.
static inline void outputs_of(const struct graph *g, struct tensor *out)
{
	struct tensor x = {.type = DT_F32, .shape = g->value[g->input[0]].shape};
	const struct tensor *in = &x;
	struct error err = {0};
	if (tensor_alloc(&x, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	for (int64_t i = 0; i < tensor_count(&x); i++)
		((float *)x.data)[i] = sinf((float)i);
	if (graph_eval(g, &in, out, 1, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	tensor_drop(&x);
}

enum { OUTPUTS = 2 }; // at most
static inline void same_outputs(const struct graph *a, const struct graph *b)
{
	struct tensor was[OUTPUTS], is[OUTPUTS];
	assert_true(a->n_outputs <= OUTPUTS && a->n_outputs == b->n_outputs);
	outputs_of(a, was);
	outputs_of(b, is);
	for (int i = 0; i < a->n_outputs; i++) {
		for (int64_t k = 0; k < tensor_count(&was[i]); k++) {
			float x = ((const float *)was[i].data)[k], y = ((const float *)is[i].data)[k];
			assert_float_equal(x, y, 1e-4f * (fabsf(x) + 1));
		}
		tensor_drop(&was[i]);
		tensor_drop(&is[i]);
	}
}

#endif
