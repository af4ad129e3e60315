// Recurrent networks: the sizes that RNN, GRU and LSTM share, and one time step of each.
#ifndef QTUI_ENGINE_OPS_RECURRENT_RNN_H
#define QTUI_ENGINE_OPS_RECURRENT_RNN_H

#include "../../kernels/elementwise/unary.h"
#include "../attrs.h"
#include "qtui/engine/quantizer.h"

struct recurrent {
	int gates, directions;
	bool batch_first;
	int64_t steps, batch, input, hidden;
};

// y = scale * fn(stretch * x) + offset
struct rnn_activation {
	enum unary_fn fn;
	struct act_attrs attrs;
	float stretch, scale, offset;
};
#define RNN_ACTIVATIONS 3
// Those of direction `direction`: the attributes' or the operator's own.
MUST_CHECK enum status rnn_activations(
    struct rnn_activation out[RNN_ACTIVATIONS], const struct node *n, int directions, int direction, struct error *err);

// How a target rounds within a time step: W x and R h, each by itself, GRU's sum for its
// candidate and LSTM's cell; the state in the end.
struct rnn_rounding {
	struct quantizer sums;
	const struct quantizer *state; // NULL: it stays as it is
};

struct rnn_matrix {
	const float *rows;   // [rows][columns]
	const float *turned; // [columns][apart], or NULL
	int64_t columns, apart;
};
struct rnn_cell { // one direction
	const struct rnn_attrs *attrs;
	int64_t hidden;
	struct rnn_matrix w, r;       // [gates * hidden, input] and [gates * hidden, hidden]
	const float *w_bias, *r_bias; // [gates * hidden] or NULL
	const float *peephole;        // [3 * hidden] or NULL
	struct rnn_activation act[RNN_ACTIVATIONS];
};
// Samples that take a step together: what the recurrent matrix holds is read once for all.
enum { RNN_TOGETHER = 4 };
struct rnn_group {
	int n;
	const float *x[RNN_TOGETHER];     // [input] of this step
	float *h[RNN_TOGETHER];           // [hidden], the state, which the step takes to the next
	float *c[RNN_TOGETHER];           // [hidden], of LSTM
	const float *start[RNN_TOGETHER]; // [gates * hidden] of this step, made ahead: biases and W x; all or none are NULL
	float *gate[RNN_TOGETHER];        // room for (gates + 1) * hidden, with rounding for twice the gates
};
typedef void rnn_step_fn(const struct rnn_cell *cell, const struct rnn_group *g);
rnn_step_fn rnn_step, rnn_step_gru, rnn_step_lstm;
// What the gates of some steps, at most RNN_AHEAD, of a sample start with, `y` one behind the other,
// for inputs that lie `apart`. Of the recurrent bias the first `both` gates have their part here.
// A matrix is read once for several steps.
enum { RNN_AHEAD = 8 };
void rnn_starts(const struct rnn_cell *cell, int gates, int both, const float *x, int64_t apart, float *y, int steps);
// The evaluation of such a node with that step; `out` as for an op_eval_fn.
MUST_CHECK enum status rnn_run(
    const struct node *n, const struct tensor *const *in, struct tensor *out, rnn_step_fn *step, int width, struct error *err);

#endif
