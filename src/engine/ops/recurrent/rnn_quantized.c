// DynamicQuantizeLSTM: weights are codes, transposed, and what they are multiplied by is quantized at run time:
// the input as a whole, the state at each step. Done on what the codes stand for.
// (ONNX Runtime takes one range for the states of a batch, here each has its own.)
#include "../codes/qlinear.h"
#include "../codes/quantize_dynamic.h"
#include "../element.h"
#include "../rule.h"
#include "rnn.h"

enum { IN_X, IN_W, IN_R, IN_B, LSTM_INPUTS = 8, W_SCALE = LSTM_INPUTS, W_ZERO, R_SCALE, R_ZERO };

static struct node lstm_node(const struct node *n)
{
	struct node lstm = *n;
	lstm.op = op_find("", "LSTM", 14);
	lstm.n_in = n->n_in < LSTM_INPUTS ? n->n_in : LSTM_INPUTS;
	return lstm;
}

// Codes [directions, from, gates] with one scale a direction or a column: as an LSTM has them.
static enum status weights_shape(struct tensor *w, const struct node *n, const struct tensor *const *in, int i, int scale, struct error *err)
{
	const struct shape *codes = &in[i]->shape;
	const struct tensor *s = rule_input(n, in, scale), *zero = rule_input(n, in, scale + 1);
	int64_t columns;
	if (codes->rank != 3 || !s)
		return error_set(err, STATUS_FORMAT, "weights %d must have rank 3 and scales", i);
	columns = codes->dim[0] * codes->dim[2];
	if (shape_count(&s->shape) != codes->dim[0] && shape_count(&s->shape) != columns)
		return error_set(err, STATUS_FORMAT, "the scales of input %d must be one a direction or one a column", i);
	if (zero && shape_count(&zero->shape) != shape_count(&s->shape))
		return error_set(err, STATUS_FORMAT, "scales and zero points of input %d differ in number", i);
	*w = (struct tensor){.type = DT_F32, .shape = {3, {codes->dim[0], codes->dim[2], codes->dim[1]}}};
	return STATUS_OK;
}

struct floats_of { // the inputs of the LSTM
	struct tensor x, w, r;
	const struct tensor *in[LSTM_INPUTS];
};

static enum status resolve(struct floats_of *f, const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status s = weights_shape(&f->w, n, in, IN_W, W_SCALE, err);
	if (s == STATUS_OK)
		s = weights_shape(&f->r, n, in, IN_R, R_SCALE, err);
	f->x = (struct tensor){.type = DT_F32, .shape = in[IN_X]->shape};
	f->in[IN_X] = &f->x;
	f->in[IN_W] = &f->w;
	f->in[IN_R] = &f->r;
	for (int i = IN_B; i < LSTM_INPUTS; i++)
		f->in[i] = rule_input(n, in, i);
	return s;
}

enum status dynamiclstm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct floats_of f;
	struct node lstm = lstm_node(n);
	enum status s = resolve(&f, n, in, err);
	return s == STATUS_OK ? lstm.op->rule(&lstm, f.in, out, err) : s;
}

static void decode(struct tensor *w, const struct tensor *codes, const struct tensor *scale, const struct tensor *zero)
{
	int64_t from = codes->shape.dim[1], gates = codes->shape.dim[2], per = tensor_count(scale) == codes->shape.dim[0] ? gates : 1;
	float *y = w->data;
	for (int64_t i = 0; i < tensor_count(codes); i++) {
		int64_t direction = i / (from * gates), k = i / gates % from, gate = i % gates, at = (direction * gates + gate) / per;
		int64_t code = element_int(codes, i) - (zero ? element_int(zero, at) : 0);
		y[(direction * gates + gate) * from + k] = (float)code * ((const float *)scale->data)[at];
	}
}

static void quantize_here(float *y, const float *x, int64_t n)
{
	float scale;
	int32_t zero;
	quantize_dynamic_range(&scale, &zero, x, n);
	struct quantizer q = qlinear_quantizer(DT_U8, &scale, &zero, 1, -1);
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)(quantize_one(&q, 0, x[i]) - zero) * scale;
}

static void step(const struct rnn_cell *cell, const struct rnn_group *g)
{
	for (int s = 0; s < g->n; s++)
		quantize_here(g->h[s], g->h[s], cell->hidden);
	rnn_step_lstm(cell, g);
}

enum status dynamiclstm_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct floats_of f = {0};
	struct node lstm = lstm_node(n);
	enum status s = resolve(&f, n, in, err);
	if (s == STATUS_OK)
		s = tensor_alloc(&f.x, NULL, err);
	if (s == STATUS_OK)
		s = tensor_alloc(&f.w, NULL, err);
	if (s == STATUS_OK)
		s = tensor_alloc(&f.r, NULL, err);
	if (s == STATUS_OK) {
		quantize_here(f.x.data, in[IN_X]->data, tensor_count(&f.x));
		decode(&f.w, in[IN_W], in[W_SCALE], rule_input(n, in, W_ZERO));
		decode(&f.r, in[IN_R], in[R_SCALE], rule_input(n, in, R_ZERO));
		s = rnn_run(&lstm, f.in, out, step, width, err);
	}
	tensor_drop(&f.x);
	tensor_drop(&f.w);
	tensor_drop(&f.r);
	return s;
}
