// The weights of a file as tuned constants, with the file's own scales where they are not those of the target. What the target
// makes of the model's weights anyhow is left alone: of most files that is all of them.
#include <math.h>
#include <stdlib.h>
#include "wishes.h"

// Why a weight cannot be had, in the order in which it is asked.
enum misfit { FITS, OTHER_WIDTH, CHANNELS, OTHER_AXIS, STEPS, ZEROS, CODES, MISFITS };
static const char *const reasons[MISFITS] = {
    [OTHER_WIDTH] = "another width",
    [CHANNELS] = "a scale for each channel",
    [OTHER_AXIS] = "a scale for each index of another dimension",
    [STEPS] = "scales that are no powers of two",
    [ZEROS] = "a zero point that is not in the middle",
    [CODES] = "codes beyond the lowest or the highest",
};

// One weight: the grid that it would have, and what it is there.
struct fitting {
	const struct weight_wish *wish;
	const struct tensor *own;   // the model's weight
	const struct quantizer *q;  // as the target quantizes it
	struct quantizer grid;      // the file's scales in the target's codes; its arrays are those of the next two
	struct tensor scale, zero;
	struct tensor x;            // the file's weight
};

static bool is_power_of_two(float scale)
{
	int e;
	return frexpf(scale, &e) == 0.5f;
}

static enum misfit misfit_of(const struct fitting *f)
{
	const struct quantizer *theirs = &f->wish->codes.q, *q = f->q;
	if (theirs->bits != q->bits && theirs->bits != range_bits(q->qmin, q->qmax))
		return OTHER_WIDTH;
	if (theirs->n > 1 && q->axis < 0)
		return CHANNELS;
	if (theirs->n > 1 && (theirs->n != q->n || (theirs->axis != q->axis && theirs->axis != AXIS_UNSAID)))
		return OTHER_AXIS;
	for (int i = 0; i < q->n; i++) {
		if (q->pow2 && !is_power_of_two(f->grid.scale[i]))
			return STEPS;
		if (q->symmetric && f->grid.zero[i] != q->zero[i])
			return ZEROS;
	}
	return FITS;
}

// Codes are counted from the lowest of so many bits: of a target without the lowest one, as if it had it.
static int64_t lowest_code(const struct quantizer *q, int bits)
{
	return q->qmin < 0 ? -((int64_t)1 << (bits - 1)) : 0;
}

static enum status make_grid(struct fitting *f, struct error *err)
{
	const struct quantizer *theirs = &f->wish->codes.q;
	int64_t n = f->q->n, shift = lowest_code(f->q, theirs->bits) - lowest_code(theirs, theirs->bits);
	f->scale = (struct tensor){.type = DT_F32, .shape = shape_of(1, &n)};
	f->zero = (struct tensor){.type = DT_I32, .shape = shape_of(1, &n)};
	if (tensor_alloc(&f->scale, NULL, err) != STATUS_OK || tensor_alloc(&f->zero, NULL, err) != STATUS_OK)
		return err->status;
	for (int64_t i = 0; i < n; i++) {
		int at = theirs->n == n ? (int)i : 0;
		((float *)f->scale.data)[i] = theirs->scale[at];
		((int32_t *)f->zero.data)[i] = (int32_t)(theirs->zero[at] + shift);
	}
	f->grid = *f->q;
	f->grid.scale = f->scale.data;
	f->grid.zero = f->zero.data;
	return STATUS_OK;
}

// Are the codes the same, whatever the last bits of the scales make of them?
static bool is_near(const struct tensor *x, const struct tensor *y, const struct quantizer *q)
{
	int64_t inner = 1, n = tensor_count(x), i = 0;
	for (int k = q->axis + 1; k < x->shape.rank; k++)
		inner *= x->shape.dim[k];
	while (i < n && fabsf(((const float *)x->data)[i] - ((const float *)y->data)[i]) < q->scale[q->n > 1 ? i / inner % q->n : 0] / 4)
		i++;
	return i == n;
}

// What the quantizer makes of `x`, which the caller drops.
static enum status rounded(struct tensor *out, const struct tensor *x, const struct quantizer *q, struct error *err)
{
	*out = (struct tensor){.type = DT_F32, .shape = x->shape};
	if (tensor_alloc(out, NULL, err) != STATUS_OK)
		return err->status;
	fake_quantize(out, x, q, 1);
	return STATUS_OK;
}

static enum status is_rounded(bool *yes, const struct tensor *x, const struct tensor *from, const struct quantizer *q, struct error *err)
{
	struct tensor y;
	if (rounded(&y, from, q, err) != STATUS_OK)
		return err->status;
	*yes = is_near(x, &y, q);
	tensor_drop(&y);
	return STATUS_OK;
}

// Of a file that has scales alone it needs a grid that fits.
static enum status make_weight(struct fitting *f, bool fits, struct error *err)
{
	if (f->wish->codes.codes.data)
		return file_codes_floats(&f->x, &f->wish->codes, err);
	return fits ? rounded(&f->x, f->own, &f->grid, err) : STATUS_OK;
}

static bool is_own_grid(const struct fitting *f)
{
	int i = 0;
	while (i < f->q->n && fabsf(f->grid.scale[i] - f->q->scale[i]) <= 1e-5f * f->q->scale[i] && f->grid.zero[i] == f->q->zero[i])
		i++;
	return i == f->q->n;
}

// ---- weights of another model

// An equalized weight is the model's times a factor for each channel of its outputs or inputs; so is one whose
// BatchNormalization is still to come. Rounding leaves no such pattern. Of a channel w becomes x; the best factor
// is <w,x> / <w,w>.
enum { LEAST = 4 };              // weights of a channel, below which any difference looks like a factor
static const double SEEN = 1e-3, // of the weights' energy is another, most of it by factors
    EXPLAINED = 0.9;

struct likeness {
	double ww, wx, xx;
	int64_t n;
};

static bool is_scaled_along(const struct tensor *w, const struct tensor *x, int axis)
{
	int64_t channels = w->shape.dim[axis], inner = 1, n = tensor_count(w);
	struct likeness *c = xcalloc((size_t)channels + 1, sizeof *c);
	double signal = 0, noise = 0, left = 0;
	for (int i = axis + 1; i < w->shape.rank; i++)
		inner *= w->shape.dim[i];
	for (int64_t i = 0; i < n; i++) {
		double a = (double)((const float *)w->data)[i], b = (double)((const float *)x->data)[i];
		struct likeness *at = &c[i / inner % channels];
		at->ww += a * a;
		at->wx += a * b;
		at->xx += b * b;
		at->n++;
	}
	for (int64_t i = 0; i < channels; i++) {
		signal += c[i].ww;
		noise += c[i].ww - 2 * c[i].wx + c[i].xx;
		left += c[i].ww > 0 ? c[i].xx - c[i].wx * c[i].wx / c[i].ww : c[i].xx;
	}
	bool enough = channels > 0 && c[0].n >= LEAST;
	free(c);
	return enough && noise > SEEN * signal && left < (1 - EXPLAINED) * noise;
}

static bool is_scaled(const struct fitting *f)
{
	for (int axis = 0; axis < 2 && axis < f->own->shape.rank; axis++)
		if (f->x.data && is_scaled_along(f->own, &f->x, axis))
			return true;
	return false;
}

// ----

struct taking {
	struct wishes *w;
	const struct plan *p;
	struct tuning *to;
	const struct tuning *now;
	bool *settled;      // [n_nodes] the node has the file's weights, or the model's own, which are the same
	int taken;          // nodes that had others
	int scaled, first_scaled;   // nodes; the first one's id
	int refused[MISFITS], first[MISFITS];
};

static void settle(struct taking *t, int node, bool differs)
{
	t->settled[node] = true;
	t->taken += differs;
}

// The file's, or, where that is the same, a copy of the model's own.
static enum status take_constant(struct tensor *out, const struct tensor *theirs, const struct tensor *own, struct error *err)
{
	if (!theirs && own)
		return tensor_copy(out, own, err);
	if (theirs)
		*out = tensor_share(theirs);
	return STATUS_OK;
}

static enum status put(struct taking *t, const struct fitting *f, bool own_weight, struct error *err)
{
	const struct weight_wish *wish = f->wish;
	const struct node *n = &t->p->g->node[wish->node];
	const struct tensor *bias = n->n_in > 2 && n->in[2] >= 0 ? t->p->g->value[n->in[2]].constant : NULL;
	bool own_grid = is_own_grid(f);
	struct tuned one = {.node = wish->node, .grid = quantizer_key(own_grid ? f->q : &f->grid)};
	if (take_constant(&one.weight, own_weight ? NULL : &f->x, f->own, err) != STATUS_OK ||
	    take_constant(&one.bias, wish->bias.data ? &wish->bias : NULL, bias, err) != STATUS_OK) {
		tuned_drop(&one);
		return err->status;
	}
	if (!own_grid) {
		one.scale = tensor_share(&f->scale);
		one.zero = tensor_share(&f->zero);
	}
	one.weight_key = tensor_key(&one.weight);
	one.bias_key = one.bias.data ? tensor_key(&one.bias) : (struct key){0};
	tuning_put(t->to, &one);
	settle(t, wish->node, true);
	return STATUS_OK;
}

static void refuse(struct taking *t, enum misfit why, int node)
{
	if (t->refused[why]++ == 0)
		t->first[why] = node;
}

static enum status fit(struct taking *t, struct fitting *f, struct error *err)
{
	bool own_weight = false, on_grid = false;
	if (make_grid(f, err) != STATUS_OK)
		return err->status;
	enum misfit why = misfit_of(f);
	enum status s = make_weight(f, why == FITS, err);
	if (s == STATUS_OK && why == FITS && is_own_grid(f))
		s = is_rounded(&own_weight, &f->x, f->own, f->q, err);
	if (s == STATUS_OK && why == FITS)
		s = is_rounded(&on_grid, &f->x, &f->x, &f->grid, err);
	if (s != STATUS_OK)
		return s;
	if (own_weight && !f->wish->bias.data) {
		settle(t, f->wish->node, tuning_of(t->now, f->wish->node) != NULL);
		return STATUS_OK;
	}
	if (!own_weight && is_scaled(f)) {
		if (t->scaled++ == 0)
			t->first_scaled = f->wish->node;
		return STATUS_OK;
	}
	if (why == FITS && on_grid)
		return put(t, f, own_weight, err);
	refuse(t, why == FITS ? CODES : why, f->wish->node);
	return STATUS_OK;
}

static enum status take_one(struct taking *t, const struct weight_wish *wish, struct error *err)
{
	const struct slot *s = plan_in(t->p, wish->node, 1);
	struct fitting f = {.wish = wish, .own = t->p->g->value[s->value].constant, .q = slot_quantizer(s)};
	enum status status = STATUS_OK;
	if (f.q && f.q->kind == QUANT_LINEAR && f.q->scale)
		status = fit(t, &f, err);
	tensor_drop(&f.scale);
	tensor_drop(&f.zero);
	tensor_drop(&f.x);
	return status;
}

static void tell(const struct taking *t)
{
	const struct node *node = t->p->g->node;
	for (int i = 0; i < MISFITS; i++)
		if (t->refused[i])
			wish_note(t->w, "weights with %s, which target %s has not: of %d nodes, %.120s first", reasons[i],
			    target_name(t->p->target), t->refused[i], node[t->first[i]].name);
	if (t->scaled)
		wish_note(t->w,
		    "%.80s: its weights are the model's times a factor for each channel, as equalized ones are (%d nodes): no weights are "
		    "taken, and scales between such nodes are of other ranges; open the model that was quantized instead",
		    node[t->first_scaled].name, t->scaled);
}

// Nodes of which the file says nothing keep what they have.
static void keep_others(struct taking *t)
{
	for (int i = 0; i < tuning_count(t->now); i++) {
		struct tuned one = *tuning_at(t->now, i);
		if (t->settled[one.node])
			continue;
		one.weight = tensor_share(&one.weight);
		one.bias = tensor_share(&one.bias);
		one.scale = tensor_share(&one.scale);
		one.zero = tensor_share(&one.zero);
		tuning_put(t->to, &one);
	}
}

enum status wished_tuning(struct tuning **out, int *nodes, struct wishes *w, const struct plan *p, const struct tuning *now, struct error *err)
{
	struct taking t = {.w = w, .p = p, .to = tuning_new(), .now = now, .settled = xcalloc((size_t)p->g->n_nodes + 1, 1)};
	enum status s = STATUS_OK;
	for (size_t i = 0; i < w->n_weights && s == STATUS_OK; i++)
		s = take_one(&t, &w->weight[i], err);
	bool take = s == STATUS_OK && t.taken && !t.scaled;
	if (s == STATUS_OK)
		tell(&t);
	if (take)
		keep_others(&t);
	*nodes = take ? t.taken : 0;
	*out = take ? tuning_take(t.to) : NULL;
	tuning_drop(&t.to);
	free(t.settled);
	return s;
}
