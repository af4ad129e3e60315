// One time step of RNN, GRU and LSTM.
#include <string.h>
#include "../../kernels/product/dot.h"
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

// Some rows of a matrix.
struct rows {
	const struct rnn_matrix *of;
	int64_t first, n;
};

// y[s] += M x[s] for `many` vectors.
static void multiply(float *const y[], const struct rows *m, const float *const x[], int many)
{
	enum { TILE = 16 }; // rows that stay in the first-level cache
	const struct rnn_matrix *all = m->of;
	if (all->turned) {
		dot_columns(y, all->turned + m->first, all->apart, x, many, m->n, all->columns);
		return;
	}
	for (int64_t i = 0; i < m->n; i += TILE)
		for (int s = 0; s < many; s++)
			dot_rows(y[s] + i, all->rows + (m->first + i) * all->columns, x[s], m->n - i < TILE ? m->n - i : TILE, all->columns);
}

// The same for all samples, rounded by itself where steps are; `part[s]` has room for it.
static void add_products(
    const struct rnn_cell *cell, int n, float *const y[], const struct rows *m, const float *const x[], float *const part[])
{
	if (!cell->attrs->rounding) {
		multiply(y, m, x, n);
		return;
	}
	for (int s = 0; s < n; s++)
		start_with(part[s], NULL, m->n);
	multiply(part, m, x, n);
	for (int s = 0; s < n; s++) {
		round_to(&cell->attrs->rounding->sums, part[s], m->n);
		add(y[s], part[s], m->n);
	}
}

static void round_sums(const struct rnn_cell *cell, float *y, int64_t n)
{
	round_to(cell->attrs->rounding ? &cell->attrs->rounding->sums : NULL, y, n);
}

static void round_state(const struct rnn_cell *cell, float *y, int64_t n)
{
	round_to(cell->attrs->rounding ? cell->attrs->rounding->state : NULL, y, n);
}

// Where a gate and what lies behind it begins, of every sample.
static void gates_at(float *out[RNN_TOGETHER], const struct rnn_group *g, int64_t offset)
{
	for (int s = 0; s < g->n; s++)
		out[s] = g->gate[s] + offset;
}

// What the products take, which do not write to it.
static const float *const *states(const struct rnn_group *g)
{
	return (const float *const *)g->h;
}

// gate[0..gates-1] = W x + both biases + R h; `part` behind all gates.
static void add_inputs(const struct rnn_cell *cell, int gates, const struct rnn_group *g, float *const part[])
{
	int64_t rows = gates * cell->hidden;
	for (int s = 0; s < g->n; s++) {
		start_with(g->gate[s], g->start[0] ? g->start[s] : cell->w_bias, rows);
		if (!g->start[0])
			add(g->gate[s], cell->r_bias, rows);
	}
	if (!g->start[0])
		add_products(cell, g->n, g->gate, &(struct rows){&cell->w, 0, rows}, g->x, part);
	add_products(cell, g->n, g->gate, &(struct rows){&cell->r, 0, rows}, states(g), part);
}

void rnn_starts(const struct rnn_cell *cell, int gates, int both, const float *x, int64_t apart, float *y, int steps)
{
	int64_t rows = gates * cell->hidden;
	float *to[RNN_AHEAD];
	const float *from[RNN_AHEAD];
	for (int i = 0; i < steps; i++) {
		to[i] = y + i * rows;
		from[i] = x + i * apart;
		start_with(to[i], cell->w_bias, rows);
		add(to[i], cell->r_bias, both * cell->hidden);
	}
	multiply(to, &(struct rows){&cell->w, 0, rows}, from, steps);
}

void rnn_step(const struct rnn_cell *cell, const struct rnn_group *g)
{
	float *part[RNN_TOGETHER];
	gates_at(part, g, cell->hidden);
	add_inputs(cell, 1, g, part);
	for (int s = 0; s < g->n; s++) {
		activate(&cell->act[0], cell->attrs->clip, g->gate[s], cell->hidden);
		memcpy(g->h[s], g->gate[s], (size_t)cell->hidden * sizeof(float));
	}
}

// Gates: update, reset, candidate.
void rnn_step_gru(const struct rnn_cell *cell, const struct rnn_group *g)
{
	const int64_t n = cell->hidden;
	const float *r_bias = cell->r_bias ? cell->r_bias + 2 * n : NULL, *w_bias = cell->w_bias ? cell->w_bias + 2 * n : NULL;
	const bool linear = cell->attrs->linear_before_reset != 0;
	float *reset[RNN_TOGETHER], *candidate[RNN_TOGETHER], *part[RNN_TOGETHER], *more[RNN_TOGETHER];
	gates_at(reset, g, n);
	gates_at(candidate, g, 2 * n);
	gates_at(part, g, 3 * n);
	gates_at(more, g, 4 * n);
	add_inputs(cell, 2, g, more);
	for (int s = 0; s < g->n; s++) {
		activate(&cell->act[0], cell->attrs->clip, g->gate[s], 2 * n);
		start_with(candidate[s], g->start[0] ? g->start[s] + 2 * n : w_bias, n);
	}
	if (!g->start[0])
		add_products(cell, g->n, candidate, &(struct rows){&cell->w, 2 * n, n}, g->x, more);
	for (int s = 0; s < g->n; s++) {
		start_with(part[s], linear ? r_bias : NULL, n);
		if (!linear) {
			add_scaled(part[s], reset[s], g->h[s], n);
			add(candidate[s], r_bias, n);
		}
	}
	const struct rows last = {&cell->r, 2 * n, n};
	add_products(cell, g->n, linear ? part : candidate, &last, linear ? states(g) : (const float *const *)part, more);
	for (int s = 0; s < g->n; s++) {
		float *h = g->h[s], *update = g->gate[s], *c = candidate[s];
		if (linear)
			add_scaled(c, reset[s], part[s], n);
		round_sums(cell, c, n);
		activate(&cell->act[1], cell->attrs->clip, c, n);
		SIMD_FOR(i, n) h[i] = (1 - update[i]) * c[i] + update[i] * h[i];
		round_state(cell, h, n);
	}
}

// What follows the products. Gates: input, output, forget, cell. Peepholes: input, output, forget.
static void end_lstm(const struct rnn_cell *cell, float *gate, float *h, float *c)
{
	const int64_t n = cell->hidden;
	const float clip = cell->attrs->clip, *peephole = cell->peephole;
	float *input = gate, *output = input + n, *forget = output + n, *candidate = forget + n, *part = candidate + n;
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

void rnn_step_lstm(const struct rnn_cell *cell, const struct rnn_group *g)
{
	float *part[RNN_TOGETHER];
	gates_at(part, g, 4 * cell->hidden);
	add_inputs(cell, 4, g, part);
	for (int s = 0; s < g->n; s++)
		end_lstm(cell, g->gate[s], g->h[s], g->c[s]);
}
