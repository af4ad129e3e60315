// Cases of ONNX's own suite for single operators, as Debian's libonnx-testdata installs it: a model, its inputs, what it gives.
#ifndef TESTS_ENGINE_NODE_CASE_H
#define TESTS_ENGINE_NODE_CASE_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "support.h"
#include "qtui/engine/onnx.h"

#define NODE_CASES "/usr/share/libonnx-testdata/data/node"
#define NODE_CASE_MAX 16 // inputs or outputs

static inline int node_case_tensors(struct tensor *out, const char *name, const char *kind)
{
	char path[512];
	struct error err;
	int n = 0;

	for (; n < NODE_CASE_MAX; n++) {
		snprintf(path, sizeof path, NODE_CASES "/test_%s/test_data_set_0/%s_%d.pb", name, kind, n);
		if (access(path, R_OK) != 0)
			break;
		if (onnx_read_tensor(&out[n], NULL, path, &err) != STATUS_OK)
			fail_msg("%s", err.text);
	}
	return n;
}

// The largest difference relative to 1 + |wanted|; integers must be equal.
static inline void node_case_compare(const char *name, int i, const struct tensor *got, const struct tensor *want, double tolerance)
{
	char a[96], b[96];

	if (got->type != want->type || !shape_equal(&got->shape, &want->shape))
		fail_msg("%s: output %d is %s %s, not %s %s", name, i, dtype_name(got->type), shape_text(&got->shape, a, sizeof a),
		    dtype_name(want->type), shape_text(&want->shape, b, sizeof b));
	if (got->type != DT_F32) {
		if (memcmp(got->data, want->data, tensor_bytes(want)) != 0)
			fail_msg("%s: output %d differs", name, i);
		return;
	}
	for (int64_t k = 0; k < tensor_count(want); k++) {
		double x = (double)((const float *)got->data)[k], y = (double)((const float *)want->data)[k];
		if (!(fabs(x - y) <= tolerance * (1 + fabs(y))) && x != y && !(isnan(x) && isnan(y)))
			fail_msg("%s: output %d, element %lld is %g, not %g", name, i, (long long)k, x, y);
	}
}

static inline void node_case_run(const char *name, double tolerance)
{
	struct tensor in[NODE_CASE_MAX] = { 0 }, want[NODE_CASE_MAX] = { 0 }, out[NODE_CASE_MAX] = { 0 };
	const struct tensor *inputs[NODE_CASE_MAX];
	int n_in = node_case_tensors(in, name, "input"), n_out = node_case_tensors(want, name, "output");
	char path[512];
	struct graph *g = NULL;
	struct error err;

	snprintf(path, sizeof path, NODE_CASES "/test_%s/model.onnx", name);
	if (onnx_load(&g, path, &(struct onnx_options){ 0 }, &err) != STATUS_OK)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(g->n_inputs, n_in);
	assert_int_equal(g->n_outputs, n_out);
	for (int i = 0; i < n_in; i++)
		inputs[i] = &in[i];
	if (graph_eval(g, inputs, out, 1, &err) != STATUS_OK)
		fail_msg("%s: %s", name, err.text);
	for (int i = 0; i < n_out; i++)
		node_case_compare(name, i, &out[i], &want[i], tolerance);
	for (int i = 0; i < NODE_CASE_MAX; i++) {
		tensor_drop(&in[i]);
		tensor_drop(&want[i]);
		tensor_drop(&out[i]);
	}
	graph_free(&g);
}

// Names without "test_", ended by NULL; skips the test where the suite is not installed.
static inline void node_case_each(const char *const *names, double tolerance)
{
	if (access(NODE_CASES, R_OK) != 0)
		skip();
	for (; *names; names++)
		node_case_run(*names, tolerance);
}

#endif
