// The weights and biases that a quantized file has in place of the model's, and what it says of other constants.
#include <math.h>
#include "read_qdq.h"

static const struct node *dequantize_of(const struct graph *file, const struct node *n, int input)
{
	int value = input < n->n_in ? n->in[input] : -1, maker = value >= 0 ? file->value[value].producer : -1;
	return qdq_is(file, maker, OP_DequantizeLinear) ? &file->node[maker] : NULL;
}

// Rounded as the file rounds them (to steps of `q`; q->n 0: it does not), the model's own biases are the file's.
static bool is_own_bias(const struct tensor *own, const struct tensor *theirs, const struct quantizer *q)
{
	for (int64_t i = 0, n = tensor_count(own); i < n; i++) {
		double step = q->n ? (double)q->scale[i % q->n] : 0, x = (double)((const float *)own->data)[i];
		if (fabs((double)((const float *)theirs->data)[i] - x) > 0.501 * step + 1e-6 * fabs(x))
			return false;
	}
	return true;
}

static const struct tensor *own_constant(const struct graph *g, const struct node *n, int input)
{
	const struct tensor *x = input < n->n_in && n->in[input] >= 0 ? g->value[n->in[input]].constant : NULL;
	return x && x->type == DT_F32 ? x : NULL;
}

// The bias as the file has it, codes or floats; *out stays empty where it has none.
static enum status take_bias(struct tensor *out, struct file_codes *c, const struct graph *file, const struct node *n, struct error *err)
{
	const struct node *dequantize = dequantize_of(file, n, 2);
	const struct tensor *x = own_constant(file, n, 2);
	if (!dequantize)
		return x ? tensor_copy(out, x, err) : STATUS_OK;
	enum status s = file_codes_read(c, file, dequantize, err);
	return s == STATUS_OK ? file_codes_floats(out, c, err) : s;
}

static void read_bias(struct reading *r, struct weight_wish *wish, const struct node *own, const struct node *theirs)
{
	const struct tensor *x = own_constant(r->w->g, own, 2);
	struct tensor bias = {0};
	struct file_codes c = {0};
	struct error err = {0};
	if (take_bias(&bias, &c, r->file, theirs, &err) != STATUS_OK)
		wish_note(r->w, "%.120s: its bias is not read: %s", own->name, err.text);
	else if (bias.data && (!x || !shape_equal(&x->shape, &bias.shape)))
		r->biases += !x; // of another shape where the model adds it by itself
	else if (bias.data && !is_own_bias(x, &bias, &c.q))
		wish->bias = tensor_share(&bias);
	tensor_drop(&bias);
	file_codes_done(&c);
}

void qdq_read_weights(struct reading *r)
{
	const struct graph *g = r->w->g;
	for (int i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->node[i];
		int other = r->w->p->quantizable[i] && qdq_has_weights(n) ? qdq_node(r, i) : -1;
		const struct node *dequantize = other >= 0 ? dequantize_of(r->file, &r->file->node[other], 1) : NULL;
		const struct tensor *own = own_constant(g, n, 1);
		struct weight_wish wish = {.node = i};
		struct error err = {0};
		if (!dequantize || !own)
			continue;
		if (file_codes_read(&wish.codes, r->file, dequantize, &err) == STATUS_OK && shape_equal(&own->shape, &wish.codes.codes.shape)) {
			read_bias(r, &wish, n, &r->file->node[other]);
			wish_weight(r->w, &wish);
		} else {
			wish_note(r->w, "%.120s: its weights are not read: %s", n->name, err.text[0] ? err.text : "they have another shape");
			file_codes_done(&wish.codes);
		}
	}
}

// ---- constants that are no weights

static bool is_other_grid(const struct file_codes *c, const struct quantizer *q)
{
	bool other = c->q.n != q->n;
	for (int i = 0; i < q->n && !other; i++)
		other = fabsf(c->q.scale[i] - q->scale[i]) > 1e-5f * q->scale[i];
	return other;
}

// Of a constant that the target quantizes by itself, at the width that the file has.
static bool has_other_grid(const struct reading *r, int node, int input, const struct node *theirs)
{
	const struct slot *s = plan_in(r->w->p, node, input);
	const struct quantizer *q = &s->quant;
	const struct node *dequantize = dequantize_of(r->file, theirs, input);
	struct file_codes c = {0};
	struct error ignored;
	bool other = q->kind == QUANT_LINEAR && s->state == SLOT_ACTIVE && dequantize &&
	    file_codes_read(&c, r->file, dequantize, &ignored) == STATUS_OK && range_bits(c.q.qmin, c.q.qmax) == q->bits && is_other_grid(&c, q);
	file_codes_done(&c);
	return other;
}

void qdq_note_constants(struct reading *r)
{
	const struct graph *g = r->w->g;
	int n = 0, first = -1;
	for (int i = 0; i < g->n_nodes; i++) {
		int theirs = r->w->p->quantizable[i] && !qdq_has_weights(&g->node[i]) ? qdq_node(r, i) : -1;
		for (int k = 0; theirs >= 0 && k < g->node[i].n_in; k++)
			if (own_constant(g, &g->node[i], k) && has_other_grid(r, i, k, &r->file->node[theirs]) && n++ == 0)
				first = i;
	}
	if (n)
		wish_note(r->w, "constants that the file has on other scales than the target, which decides them here: %d, of %.120s first", n,
		    g->node[first].name);
}
