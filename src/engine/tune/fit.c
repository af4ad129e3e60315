// New weights for one node: least squares, then rounding that carries every weight's error over to those not yet
// rounded. The damping of the least squares is what does best on the half of the rows that they did not see,
// for every output by itself; an output for which none does better than what it has keeps that.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/linalg.h"
#include "tune_impl.h"

// Of the mean diagonal; the first leaves the float weights as they are before they are rounded.
static const double damping[] = {INFINITY, 1, 0.1, 0.01};
enum { DAMPINGS = sizeof damping / sizeof *damping, NONE = -1 };
static const double ROUNDING = 0.01; // damping of the matrix that rounding goes by
static const double GAIN = 0.001;    // an output's error must fall by this part to be worth a change

struct fit {
	const struct fit_task *t;
	int64_t k, m;
	bool centred;
	double *factor, *rounding; // [k][k]; the second in the order of `order`
	int *order;                // [k] the columns, those of little power first
	double *d, *b, *room;      // a candidate: changes, biases; [m][k]
	double *error;             // [m] of the candidate
	double *before, *best;     // [m]
	int *choice;               // [m] damping, or NONE
};

static bool fit_alloc(struct fit *f, const struct fit_task *t, struct fit_result *out)
{
	int64_t k = t->fit->k, m = t->fit->m;
	size_t square = (size_t)(k * k), table = (size_t)(m * k), rows = (size_t)m;
	double *at = mem_try_array(2 * square + 2 * table + 4 * rows, sizeof *at);
	*f = (struct fit){.t = t, .k = k, .m = m, .centred = t->bias != NULL, .factor = at};
	*out = (struct fit_result){.weight = mem_try_array(table, sizeof(double)), .bias = mem_try_array(rows, sizeof(double))};
	f->order = mem_try_array((size_t)k, sizeof *f->order);
	f->choice = mem_try_array(rows, sizeof *f->choice);
	if (!at || !out->weight || !out->bias || !f->order || !f->choice)
		return false;
	f->rounding = at + square;
	f->d = f->rounding + square;
	f->room = f->d + table;
	f->b = f->room + table;
	f->error = f->b + rows;
	f->before = f->error + rows;
	f->best = f->before + rows;
	return true;
}

void fit_done(struct fit_result *r)
{
	free(r->weight);
	free(r->bias);
	*r = (struct fit_result){0};
}

struct power {
	double at;
	int column;
};

static int by_power(const void *a, const void *b)
{
	const struct power *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

// Columns are rounded from the last to the first: what carries most is rounded first,
// while all others can still make up for it.
static bool prepare_rounding(struct fit *f, const struct moments *s)
{
	struct power *p = mem_try_array((size_t)f->k, sizeof *p);
	if (!p)
		return false;
	moments_matrix(f->factor, s, f->centred, ROUNDING);
	for (int64_t i = 0; i < f->k; i++)
		p[i] = (struct power){f->factor[i * f->k + i], (int)i};
	qsort(p, (size_t)f->k, sizeof *p, by_power);
	for (int64_t i = 0; i < f->k; i++)
		f->order[i] = p[i].column;
	free(p);
	for (int64_t i = 0; i < f->k; i++)
		for (int64_t j = i; j < f->k; j++)
			f->rounding[i * f->k + j] = f->factor[(int64_t)f->order[i] * f->k + f->order[j]];
	return linalg_cholesky(f->rounding, f->k);
}

static double on_grid(const struct fit_grid *g, double x)
{
	double code = rint(x / (double)g->scale) + g->zero;
	code = fmin(fmax(code, (double)g->lo), (double)g->hi);
	return (double)((float)(code - g->zero) * g->scale);
}

// With R the factor, the error |R (w - q)|^2 is a sum over columns in which each but
// the first is settled by those behind it.
static void round_output(const struct fit *f, int64_t c, double *left)
{
	const struct fit_grid *g = &f->t->grid[c];
	const double *weight = f->t->weight + c * f->k;
	double *d = f->d + c * f->k;
	for (int64_t i = f->k - 1; i >= 0; i--) {
		const double *row = f->rounding + i * f->k;
		int64_t column = f->order[i];
		double wanted = weight[column] + d[column], carried = 0, q;
#pragma omp simd reduction(+ : carried)
		for (int64_t j = i + 1; j < f->k; j++)
			carried += row[j] * left[j];
		if (column == g->held[0] || column == g->held[1])
			q = f->t->now[c * f->k + column];
		else
			q = on_grid(g, wanted + carried / row[i]);
		left[i] = wanted - q;
		d[column] = q - weight[column];
	}
}

static void round_all(const struct fit *f)
{
	for (int64_t c = 0; c < f->m; c++)
		round_output(f, c, f->room + c * f->k);
}

// A candidate by the sums of some rows: d and b. False: the sums have no solution.
static bool make_candidate(struct fit *f, const struct moments *s, double damp)
{
	size_t table = (size_t)(f->m * f->k);
	memset(f->d, 0, table * sizeof *f->d);
	if (isfinite(damp)) {
		moments_matrix(f->factor, s, f->centred, damp);
		if (!linalg_cholesky(f->factor, f->k))
			return false;
		moments_solve(f->d, s, f->centred, f->factor, f->room);
	}
	round_all(f);
	if (f->centred)
		moments_bias(f->b, s, f->d);
	return true;
}

static void judge(struct fit *f)
{
	moments_error(f->error, f->t->judge, f->d, f->centred ? f->b : NULL, f->room);
}

static void take(const struct fit *f, struct fit_result *out, int64_t c)
{
	for (int64_t i = 0; i < f->k; i++)
		out->weight[c * f->k + i] = f->t->weight[c * f->k + i] + f->d[c * f->k + i];
	out->bias[c] = f->b[c];
}

static void begin(struct fit *f, struct fit_result *out)
{
	const struct fit_task *t = f->t;
	for (int64_t i = 0; i < f->m * f->k; i++)
		f->d[i] = t->now[i] - t->weight[i];
	memcpy(out->weight, t->now, (size_t)(f->m * f->k) * sizeof *out->weight);
	for (int64_t c = 0; c < f->m; c++) {
		out->bias[c] = f->b[c] = t->bias ? t->bias[c] : 0;
		f->choice[c] = NONE;
	}
	judge(f);
	memcpy(f->before, f->error, (size_t)f->m * sizeof *f->before);
	memcpy(f->best, f->error, (size_t)f->m * sizeof *f->best);
}

static bool choose_damping(struct fit *f, struct fit_result *out)
{
	if (!prepare_rounding(f, f->t->fit))
		return false;
	for (int l = 0; l < DAMPINGS && make_candidate(f, f->t->fit, damping[l]); l++) {
		judge(f);
		for (int64_t c = 0; c < f->m; c++)
			if (f->error[c] < f->best[c] && f->error[c] < f->before[c] * (1 - GAIN)) {
				f->best[c] = f->error[c];
				f->choice[c] = l;
				take(f, out, c);
			}
	}
	return true;
}

static bool chosen(const struct fit *f, int l)
{
	for (int64_t c = 0; c < f->m; c++)
		if (f->choice[c] == l)
			return true;
	return false;
}

// With the damping that was found, all rows give a better estimate than half of them;
// it must hold on the judging half too.
static void refine(struct fit *f, struct fit_result *out, const struct moments *all)
{
	if (!prepare_rounding(f, all))
		return;
	for (int l = 0; l < DAMPINGS; l++) {
		if (!chosen(f, l) || !make_candidate(f, all, damping[l]))
			continue;
		judge(f);
		for (int64_t c = 0; c < f->m; c++)
			if (f->choice[c] == l && f->error[c] <= f->before[c])
				take(f, out, c);
	}
}

bool fit_weights(struct fit_result *out, const struct fit_task *t)
{
	struct fit f;
	struct moments all = {0};
	bool ok = fit_alloc(&f, t, out) && moments_alloc(&all, t->fit->k, t->fit->m);
	if (!ok)
		goto out;
	begin(&f, out);
	if (choose_damping(&f, out)) {
		moments_add(&all, t->fit);
		moments_add(&all, t->judge);
		refine(&f, out, &all);
	}
	for (int64_t c = 0; c < f.m; c++) {
		out->before += f.before[c];
		out->after += f.best[c];
		out->changed += f.choice[c] != NONE;
	}
out:
	free(f.factor);
	free(f.order);
	free(f.choice);
	moments_done(&all);
	if (!ok)
		fit_done(out);
	return ok;
}
