// RNN, GRU, LSTM: shapes, and the walk over directions, batch and time.
#include "rnn.h"

#include <string.h>
#include "../../kernels/product/dot.h"
#include "../../tensor/transpose.h"
#include "../element.h"
#include "../rule.h"
#include "qtui/base/parts.h"

enum { IN_X, IN_W, IN_R, IN_B, IN_LENGTHS, IN_H, IN_C, IN_PEEPHOLE };
enum { OUT_Y, OUT_H, OUT_C };

static int gates_of(enum op_id id)
{
	return id == OP_LSTM ? 4 : id == OP_GRU ? 3 : 1;
}

static enum status expect(
    const struct node *n, const struct tensor *const *in, int i, struct shape shape, struct error *err)
{
	char a[96], b[96];
	if (i >= n->n_in || !in[i] || shape_equal(&in[i]->shape, &shape))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "input %d has the shape %s, must have %s", i,
	    shape_text(&in[i]->shape, a, sizeof a), shape_text(&shape, b, sizeof b));
}

#define SHAPE(...) shape_of((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static struct shape state_shape(const struct recurrent *r)
{
	return r->batch_first ? SHAPE(r->batch, r->directions, r->hidden) : SHAPE(r->directions, r->batch, r->hidden);
}

static enum status check_inputs(
    const struct recurrent *r, const struct node *n, const struct tensor *const *in, struct error *err)
{
	int64_t rows = r->gates * r->hidden;
	const struct shape expected[] = {
	    [IN_X] = in[IN_X]->shape,
	    [IN_W] = SHAPE(r->directions, rows, r->input),
	    [IN_R] = SHAPE(r->directions, rows, r->hidden),
	    [IN_B] = SHAPE(r->directions, 2 * rows),
	    [IN_LENGTHS] = SHAPE(r->batch),
	    [IN_H] = state_shape(r),
	    [IN_C] = state_shape(r),
	    [IN_PEEPHOLE] = SHAPE(r->directions, 3 * r->hidden),
	};
	enum status s = STATUS_OK;
	for (int i = IN_W; s == STATUS_OK && i <= IN_PEEPHOLE; i++)
		s = expect(n, in, i, expected[i], err);
	return s;
}

static enum status resolve(struct recurrent *r, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct rnn_attrs *a = n->attrs;
	const struct shape *x = &in[IN_X]->shape, *w = &in[IN_R]->shape;
	bool both = !strcmp(a->direction, "bidirectional");
	if (!both && strcmp(a->direction, "forward") && strcmp(a->direction, "reverse"))
		return error_set(err, STATUS_FORMAT, "direction '%s' is not known", a->direction);
	if (x->rank != 3 || w->rank != 3 || w->dim[2] < 1 || w->dim[2] > RULE_MAX_DIM)
		return error_set(err, STATUS_FORMAT, "input and recurrent weights must have rank 3 and a hidden size");
	*r = (struct recurrent){.gates = gates_of(n->op->id),
	    .directions = both ? 2 : 1,
	    .batch_first = a->layout != 0,
	    .steps = x->dim[a->layout ? 1 : 0],
	    .batch = x->dim[a->layout ? 0 : 1],
	    .input = x->dim[2],
	    .hidden = w->dim[2]};
	if (a->hidden_size && a->hidden_size != r->hidden)
		return error_set(err, STATUS_FORMAT, "hidden_size is %lld, the weights are made for %lld",
		    (long long)a->hidden_size, (long long)r->hidden);
	return check_inputs(r, n, in, err);
}

enum status rnn_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct recurrent r;
	struct shape y, state;
	struct rnn_activation act[RNN_ACTIVATIONS];
	enum status s = resolve(&r, n, in, err);
	if (s == STATUS_OK)
		s = rnn_activations(act, n, r.directions, 0, err);
	if (s != STATUS_OK)
		return s;
	y = r.batch_first ? SHAPE(r.batch, r.steps, r.directions, r.hidden)
	                  : SHAPE(r.steps, r.directions, r.batch, r.hidden);
	state = state_shape(&r);
	for (int i = 0; i < n->n_out; i++)
		rule_set(&out[i], DT_F32, i == OUT_Y ? &y : &state);
	return STATUS_OK;
}

static const float *floats_at(const struct node *n, const struct tensor *const *in, int i, int64_t offset)
{
	return i < n->n_in && in[i] ? (const float *)in[i]->data + offset : NULL;
}

static float *result(const struct node *n, struct tensor *out, int i)
{
	return i < n->n_out && n->out[i] >= 0 ? out[i].data : NULL;
}

// The rows of a turned matrix, in whole lines of the cache.
static int64_t turned_rows(const struct recurrent *r)
{
	return (r->gates * r->hidden + DOT_PAD - 1) / DOT_PAD * DOT_PAD;
}

// Matrices that serve often enough are turned, if they stay in the second-level cache or serve several samples at once:
// a single one waits for the memory of large ones either way. The largest of all are not, since that is a copy.
static int64_t turned_size(const struct recurrent *r)
{
	enum { OFTEN = 16, MOST = 1 << 17, MOST_TOGETHER = 1 << 22 };
	int64_t size = turned_rows(r) * (r->input + r->hidden);
	return r->steps * r->batch >= OFTEN && size <= (r->batch < RNN_TOGETHER ? MOST : MOST_TOGETHER) ? size : 0;
}

// `turned` (may be NULL) has room for it.
static struct rnn_matrix matrix(const float *rows, int64_t n_rows, int64_t columns, float *turned, int64_t apart)
{
	enum { TILE = 8 };
	transpose_fn *tiles = transpose_find(sizeof *rows);
	size_t to = (size_t)apart * sizeof *rows, from = (size_t)columns * sizeof *rows;
	if (turned && tiles && n_rows % TILE == 0 && columns % TILE == 0)
		for (int64_t i = 0; i < n_rows; i += TILE)
			tiles((uint8_t *)(turned + i), to, TILE * to, (const uint8_t *)(rows + i * columns), from, TILE * sizeof *rows,
			    columns / TILE);
	else
		for (int64_t i = 0; turned && i < n_rows * columns; i++)
			turned[i % columns * apart + i / columns] = rows[i];
	return (struct rnn_matrix){rows, turned, columns, apart};
}

// The evaluation of one node.
struct evaluation {
	const struct node *n;
	const struct tensor *const *in;
	struct tensor *out;
	rnn_step_fn *step;
	struct recurrent r;
};

static enum status make_cell(struct rnn_cell *cell, const struct evaluation *e, int direction, float *turned, struct error *err)
{
	const struct recurrent *r = &e->r;
	const struct node *n = e->n;
	const struct tensor *const *in = e->in;
	int64_t rows = r->gates * r->hidden, apart = turned_rows(r);
	const float *w = floats_at(n, in, IN_W, direction * rows * r->input), *recurrence = floats_at(n, in, IN_R, direction * rows * r->hidden);
	*cell = (struct rnn_cell){.attrs = n->attrs,
	    .hidden = r->hidden,
	    .w = matrix(w, rows, r->input, turned, apart),
	    .r = matrix(recurrence, rows, r->hidden, turned ? turned + apart * r->input : NULL, apart),
	    .w_bias = floats_at(n, in, IN_B, direction * 2 * rows),
	    .r_bias = floats_at(n, in, IN_B, direction * 2 * rows + rows),
	    .peephole = floats_at(n, in, IN_PEEPHOLE, direction * 3 * r->hidden)};
	return rnn_activations(cell->act, n, r->directions, direction, err);
}

struct run { // one sequence: entry `b` of the batch, in one direction
	const struct recurrent *r;
	int64_t b, length;
	int direction;
	bool backwards;
	const float *x;
	float *y; // may be NULL
	float *h, *c, *gate;
	float *starts; // of RNN_AHEAD steps; NULL: none are made ahead
};

static int64_t state_at(const struct run *u)
{
	return (u->r->batch_first ? u->b * u->r->directions + u->direction : u->direction * u->r->batch + u->b) *
	       u->r->hidden;
}

static void copy_state(float *to, const float *from, int64_t n)
{
	for (int64_t i = 0; to && i < n; i++)
		to[i] = from ? from[i] : 0;
}

// Where steps are rounded, so is the product of each.
static bool starts_ahead(const struct recurrent *r, const struct node *n)
{
	return !((const struct rnn_attrs *)n->attrs)->rounding && r->steps > 1;
}

static int64_t input_row(const struct run *u, int64_t i)
{
	const struct recurrent *r = u->r;
	int64_t t = u->backwards ? u->length - 1 - i : i;
	return r->batch_first ? u->b * r->steps + t : t * r->batch + u->b;
}

// Puts the sequence's step i into the group.
static void join(struct rnn_group *g, const struct run *u, const struct rnn_cell *cell, int64_t i)
{
	const struct recurrent *r = u->r;
	const float *x = u->x + input_row(u, i) * r->input;
	int both = r->gates == 3 ? 2 : r->gates; // GRU adds the candidate's own later
	int64_t left = u->length - i;
	if (u->starts && i % RNN_AHEAD == 0)
		rnn_starts(cell, r->gates, both, x, (input_row(u, 1) - input_row(u, 0)) * r->input, u->starts,
		    left < RNN_AHEAD ? (int)left : RNN_AHEAD);
	g->x[g->n] = x;
	g->h[g->n] = u->h;
	g->c[g->n] = u->c;
	g->gate[g->n] = u->gate;
	g->start[g->n++] = u->starts ? u->starts + i % RNN_AHEAD * r->gates * r->hidden : NULL;
}

// Some sequences step by step together; shorter ones end before the others.
static void run_sequences(const struct recurrent *r, const struct run *runs, int n, const struct rnn_cell *cell, rnn_step_fn *step)
{
	for (int64_t i = 0; i < r->steps; i++) {
		struct rnn_group g = {0};
		for (int s = 0; s < n; s++)
			if (i < runs[s].length)
				join(&g, &runs[s], cell, i);
		if (g.n > 0)
			step(cell, &g);
		for (int s = 0; s < n; s++) {
			const struct run *u = &runs[s];
			int64_t t = u->backwards ? u->length - 1 - i : i;
			int64_t to = r->batch_first ? (u->b * r->steps + t) * r->directions + u->direction
			                            : (t * r->directions + u->direction) * r->batch + u->b;
			if (i < u->length)
				copy_state(u->y ? u->y + to * r->hidden : NULL, u->h, r->hidden);
		}
	}
}

// Of a sequence: h, c, the gates and one more; what a product of all gates is made in before it is rounded; starts.
static int64_t scratch_rows(const struct recurrent *r)
{
	return 2 * r->gates + 3 + RNN_AHEAD * r->gates;
}

static int together(const struct recurrent *r)
{
	return r->batch < RNN_TOGETHER ? (int)r->batch : RNN_TOGETHER;
}

// Floats of scratch memory of a direction: the turned matrices, which may be read beyond, and these rows.
static int64_t scratch_size(const struct recurrent *r)
{
	int64_t size = turned_size(r) + together(r) * scratch_rows(r) * r->hidden;
	return (size + DOT_PAD - 1) / DOT_PAD * DOT_PAD;
}

// Sequence b, with scratch memory of its own, before its first step.
static enum status begin(struct run *u, const struct evaluation *e, int64_t b, int direction, float *scratch, struct error *err)
{
	const struct recurrent *r = &e->r;
	const struct node *n = e->n;
	const struct tensor *const *in = e->in;
	*u = (struct run){.r = r,
	    .b = b,
	    .length = n->n_in > IN_LENGTHS && in[IN_LENGTHS] ? element_int(in[IN_LENGTHS], b) : r->steps,
	    .direction = direction,
	    .backwards = direction == 1 || !strcmp(((const struct rnn_attrs *)n->attrs)->direction, "reverse"),
	    .x = in[IN_X]->data,
	    .y = result(n, e->out, OUT_Y),
	    .h = scratch,
	    .c = scratch + r->hidden,
	    .gate = scratch + 2 * r->hidden};
	u->starts = starts_ahead(r, n) ? u->gate + (2 * r->gates + 1) * r->hidden : NULL;
	if (!rule_within(u->length, 0, r->steps))
		return error_set(err, STATUS_FORMAT, "sequence_lens[%lld] is %lld of %lld steps", (long long)b, (long long)u->length,
		    (long long)r->steps);
	copy_state(u->h, floats_at(n, in, IN_H, state_at(u)), r->hidden);
	copy_state(u->c, floats_at(n, in, IN_C, state_at(u)), r->hidden);
	return STATUS_OK;
}

static void end(const struct run *u, const struct evaluation *e)
{
	float *h = result(e->n, e->out, OUT_H), *c = result(e->n, e->out, OUT_C);
	copy_state(h ? h + state_at(u) : NULL, u->h, u->r->hidden);
	copy_state(c ? c + state_at(u) : NULL, u->c, u->r->hidden);
}

static enum status run_direction(const struct evaluation *e, int direction, float *scratch, struct error *err)
{
	struct rnn_cell cell;
	const struct recurrent *r = &e->r;
	float *turned = turned_size(r) ? scratch : NULL;
	enum status s = make_cell(&cell, e, direction, turned, err);
	for (int64_t b = 0; s == STATUS_OK && b < r->batch; b += RNN_TOGETHER) {
		struct run runs[RNN_TOGETHER];
		int many = r->batch - b < RNN_TOGETHER ? (int)(r->batch - b) : RNN_TOGETHER;
		for (int i = 0; s == STATUS_OK && i < many; i++)
			s = begin(&runs[i], e, b + i, direction, scratch + turned_size(r) + i * scratch_rows(r) * r->hidden, err);
		if (s != STATUS_OK)
			break;
		run_sequences(r, runs, many, &cell, e->step);
		for (int i = 0; i < many; i++)
			end(&runs[i], e);
	}
	return s;
}

struct directions {
	const struct evaluation *e;
	float *scratch;
	enum status status[2];
	struct error trouble[2];
};

static void one_direction(void *arg, int64_t i, int thread)
{
	struct directions *d = arg;
	(void)thread;
	d->status[i] = run_direction(d->e, (int)i, d->scratch + i * scratch_size(&d->e->r), &d->trouble[i]);
}

// The directions of a sequence know nothing of each other: each may have a thread.
static enum status run_directions(const struct evaluation *e, float *scratch, int width, struct error *err)
{
	struct directions d = {.e = e, .scratch = scratch};
	parts_share(e->r.directions, width > 1 ? 2 : 1, one_direction, &d);
	for (int i = 0; i < e->r.directions; i++)
		if (d.status[i] != STATUS_OK) {
			*err = d.trouble[i];
			return d.status[i];
		}
	return STATUS_OK;
}

enum status rnn_run(const struct node *n, const struct tensor *const *in, struct tensor *out, rnn_step_fn *step, int width, struct error *err)
{
	struct evaluation e = {.n = n, .in = in, .out = out, .step = step};
	struct buf *scratch = NULL;
	enum status s = resolve(&e.r, n, in, err);
	if (s != STATUS_OK)
		return s;
	scratch = buf_new((size_t)e.r.directions * (size_t)scratch_size(&e.r) * sizeof(float), NULL);
	if (!scratch)
		return error_set(err, STATUS_NOMEM, "no memory for a state of %lld elements", (long long)e.r.hidden);
	if (result(n, out, OUT_Y))
		memset(out[OUT_Y].data, 0, tensor_bytes(&out[OUT_Y]));
	s = run_directions(&e, scratch->data, width, err);
	buf_drop(&scratch);
	return s;
}

enum status rnn_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return rnn_run(n, in, out, rnn_step, width, err);
}

enum status gru_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return rnn_run(n, in, out, rnn_step_gru, width, err);
}

enum status lstm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return rnn_run(n, in, out, rnn_step_lstm, width, err);
}
