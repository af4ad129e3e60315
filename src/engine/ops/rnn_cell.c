// One time step of RNN, GRU and LSTM.
#include <string.h>
#include "../kernels/dot.h"
#include "rnn.h"

#define SIMD_FOR(i, n) _Pragma("omp simd") for (int64_t i = 0; i < (n); i++)

static void start_with(float *y, const float *bias, int64_t n)
{
	if (bias)
		memcpy(y, bias, (size_t)n * sizeof *y);
	else
		memset(y, 0, (size_t)n * sizeof *y);
}

static void add(float *y, const float *x, int64_t n)
{
	if (x)
		SIMD_FOR(i, n) y[i] += x[i];
}

static void add_scaled(float *y, const float *a, const float *b, int64_t n)
{
	SIMD_FOR(i, n) y[i] += a[i] * b[i];
}

static void activate(const struct rnn_activation *act, float clip, float *y, int64_t n)
{
	for (int64_t i = 0; clip > 0 && i < n; i++)
		y[i] = y[i] > clip ? clip : y[i] < -clip ? -clip : y[i];
	for (int64_t i = 0; act->stretch != 1 && i < n; i++)
		y[i] *= act->stretch;
	unary_apply(act->fn, &act->attrs, y, y, n);
	for (int64_t i = 0; (act->scale != 1 || act->offset != 0) && i < n; i++)
		y[i] = y[i] * act->scale + act->offset;
}

static void round_to(const struct quantizer *q, float *y, int64_t n)
{
	if (!q)
		return;
	struct tensor t = {.type = DT_F32, .shape = shape_of(1, &n), .data = y};
	fake_quantize(&t, &t, q, 1);
}

static void multiply(float *y, const struct rnn_matrix *m, int64_t first, int64_t rows, const float *x)
{
	if (m->turned)
		dot_columns(y, m->turned + first, m->apart, x, rows, m->columns);
	else
		dot_rows(y, m->rows + first * m->columns, x, rows, m->columns);
}

// y += M x for some rows of M, rounded by itself where steps are; `part` has room for it.
static void add_product(const struct rnn_cell *cell, float *y, const struct rnn_matrix *m, int64_t first, int64_t rows, const float *x, float *part)
{
	if (!cell->attrs->rounding) {
		multiply(y, m, first, rows, x);
		return;
	}
	start_with(part, NULL, rows);
	multiply(part, m, first, rows, x);
	round_to(&cell->attrs->rounding->sums, part, rows);
	add(y, part, rows);
}

static void round_sums(const struct rnn_cell *cell, float *y, int64_t n)
{
	round_to(cell->attrs->rounding ? &cell->attrs->rounding->sums : NULL, y, n);
}

static void round_state(const struct rnn_cell *cell, float *y, int64_t n)
{
	round_to(cell->attrs->rounding ? cell->attrs->rounding->state : NULL, y, n);
}

// gate[0..gates-1] = W x + both biases + R h; `part` behind all gates.
static void add_inputs(const struct rnn_cell *cell, int gates, const float *x, const float *h, float *part)
{
	int64_t rows = gates * cell->hidden;

	if (cell->start) {
		memcpy(cell->gate, cell->start, (size_t)rows * sizeof *cell->gate);
	} else {
		start_with(cell->gate, cell->w_bias, rows);
		add(cell->gate, cell->r_bias, rows);
		add_product(cell, cell->gate, &cell->w, 0, rows, x, part);
	}
	add_product(cell, cell->gate, &cell->r, 0, rows, h, part);
}

void rnn_starts(const struct rnn_cell *cell, int gates, int both, const float *x, int64_t apart, float *y, int64_t n)
{
	enum { TOGETHER = 16 }; // rows that stay in the first-level cache
	int64_t rows = gates * cell->hidden;

	for (int64_t i = 0; i < n; i++) {
		start_with(y + i * rows, cell->w_bias, rows);
		add(y + i * rows, cell->r_bias, both * cell->hidden);
	}
	for (int64_t first = 0; first < rows; first += TOGETHER)
		for (int64_t i = 0; i < n; i++)
			multiply(y + i * rows + first, &cell->w, first, rows - first < TOGETHER ? rows - first : TOGETHER, x + i * apart);
}

void rnn_step(const struct rnn_cell *cell, const float *x, float *h, float *c)
{
	(void)c;
	add_inputs(cell, 1, x, h, cell->gate + cell->hidden);
	activate(&cell->act[0], cell->attrs->clip, cell->gate, cell->hidden);
	for (int64_t i = 0; i < cell->hidden; i++)
		h[i] = cell->gate[i];
}

// Gates: update, reset, candidate.
void rnn_step_gru(const struct rnn_cell *cell, const float *x, float *h, float *c)
{
	const int64_t n = cell->hidden;
	float *update = cell->gate, *reset = update + n, *candidate = reset + n, *part = candidate + n, *more = part + n;
	const float *r_bias = cell->r_bias ? cell->r_bias + 2 * n : NULL;

	(void)c;
	add_inputs(cell, 2, x, h, more);
	activate(&cell->act[0], cell->attrs->clip, update, 2 * n);
	if (cell->start) {
		memcpy(candidate, cell->start + 2 * n, (size_t)n * sizeof *candidate);
	} else {
		start_with(candidate, cell->w_bias ? cell->w_bias + 2 * n : NULL, n);
		add_product(cell, candidate, &cell->w, 2 * n, n, x, more);
	}
	if (cell->attrs->linear_before_reset) {
		start_with(part, r_bias, n);
		add_product(cell, part, &cell->r, 2 * n, n, h, more);
		add_scaled(candidate, reset, part, n);
	} else {
		start_with(part, NULL, n);
		add_scaled(part, reset, h, n);
		add(candidate, r_bias, n);
		add_product(cell, candidate, &cell->r, 2 * n, n, part, more);
	}
	round_sums(cell, candidate, n);
	activate(&cell->act[1], cell->attrs->clip, candidate, n);
	SIMD_FOR(i, n) h[i] = (1 - update[i]) * candidate[i] + update[i] * h[i];
	round_state(cell, h, n);
}

// Gates: input, output, forget, cell. Peepholes: input, output, forget.
void rnn_step_lstm(const struct rnn_cell *cell, const float *x, float *h, float *c)
{
	const int64_t n = cell->hidden;
	const float clip = cell->attrs->clip, *peephole = cell->peephole;
	float *input = cell->gate, *output = input + n, *forget = output + n, *candidate = forget + n,
	      *part = candidate + n;

	add_inputs(cell, 4, x, h, part);
	if (peephole) {
		add_scaled(input, peephole, c, n);
		add_scaled(forget, peephole + 2 * n, c, n);
	}
	activate(&cell->act[0], clip, input, n);
	activate(&cell->act[0], clip, forget, n);
	activate(&cell->act[1], clip, candidate, n);
	if (cell->attrs->input_forget)
		SIMD_FOR(i, n) forget[i] = 1 - input[i];
	SIMD_FOR(i, n) c[i] = forget[i] * c[i] + input[i] * candidate[i];
	round_sums(cell, c, n);
	if (peephole)
		add_scaled(output, peephole + n, c, n);
	activate(&cell->act[0], clip, output, n);
	start_with(part, c, n);
	activate(&cell->act[2], 0, part, n);
	SIMD_FOR(i, n) h[i] = output[i] * part[i];
	round_state(cell, h, n);
}
