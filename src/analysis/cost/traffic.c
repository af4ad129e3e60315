// Bytes and conversions, from the sites of a snapshot: they say at how many bits a tensor is made and read.
#include "qtui/analysis/traffic.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "qtui/engine/op.h"

enum { NOT_MADE = -1 }; // inside of a group: never written
struct counting {
	const struct snapshot *s;
	int *bits;      // [n_values] of an activation as it is made, of a constant as it is read; 0: float
	unsigned *read; // [n_values] bit p: counted as read at precision p
	int plain;      // bits of a constant that has no quantizer: those of the target's floats
	struct traffic *out;
};

static double elements(const struct value *v)
{
	int64_t n = v->constant ? tensor_count(v->constant) : shape_count(&v->shape);
	return n > 0 ? (double)n : 0;
}

static bool is_float_node(const struct snapshot *s, int n)
{
	return s->row[n].precision == PREC_FLOAT;
}

// Of a tensor beside a node; floats of 16 bit are floats.
static enum precision width(const struct snapshot *s, int node, int bits)
{
	return bits <= 0 || is_float_node(s, node) ? PREC_FLOAT : bits <= 8 ? PREC_INT8 : PREC_INT16;
}

static void find_bits(struct counting *c)
{
	const struct graph *g = c->s->g;
	for (int v = 0; v < g->n_values; v++) {
		int p = g->value[v].producer;
		c->bits[v] = p < 0 || is_float_node(c->s, p) ? 0 : NOT_MADE;
	}
	for (int i = 0; i < c->s->n_sites; i++) {
		const struct site *site = &c->s->site[i];
		if (site->kind != SITE_INPUT && site->bits > c->bits[site->value])
			c->bits[site->value] = site->bits;
		if (site->kind == SITE_OUTPUT && site->bits > 0 && is_float_node(c->s, site->node))
			c->plain = site->bits;
	}
}

static bool is_stored(const struct counting *c, int v)
{
	const struct graph *g = c->s->g;
	const struct value *value = &g->value[v];
	if (value->type != DT_F32 || c->bits[v] == NOT_MADE)
		return false;
	if (value->constant)
		return value->n_consumers > 0;
	return value->producer >= 0 && !(g->node[value->producer].op->flags & OPF_VIEW);
}

static void count_bytes(struct counting *c)
{
	for (int v = 0; v < c->s->g->n_values; v++) {
		const struct value *value = &c->s->g->value[v];
		double n = elements(value), bytes = ceil(n * (c->bits[v] > 0 ? c->bits[v] : value->constant ? c->plain : 32) / 8);
		if (!is_stored(c, v))
			continue;
		*(value->constant ? &c->out->weights : &c->out->activations) += bytes;
		*(value->constant ? &c->out->weights_float : &c->out->activations_float) += 4 * n;
	}
}

static void count_reading(struct counting *c, int v, enum precision at)
{
	const struct value *value = &c->s->g->value[v];
	if (value->producer < 0 || value->type != DT_F32 || c->bits[v] == NOT_MADE)
		return;
	enum precision made = width(c->s, value->producer, c->bits[v]);
	if (made == at || c->read[v] >> at & 1)
		return;
	c->read[v] |= 1u << at;
	c->out->conversion[made][at]++;
	c->out->conversions++;
}

static void count_conversions(struct counting *c)
{
	const struct graph *g = c->s->g;
	for (int i = 0; i < c->s->n_sites; i++) {
		const struct site *site = &c->s->site[i];
		if (site->kind == SITE_INPUT)
			count_reading(c, site->value, width(c->s, site->node, site->bits));
	}
	for (int n = 0; n < g->n_nodes; n++)
		for (int i = 0; i < g->node[n].n_in && is_float_node(c->s, n); i++)
			if (g->node[n].in[i] >= 0)
				count_reading(c, g->node[n].in[i], PREC_FLOAT);
}

bool traffic_of(struct traffic *out, const struct snapshot *s)
{
	struct counting c = {.s = s, .out = out, .plain = 32};
	*out = (struct traffic){0};
	if (s->n_sites == 0)
		return false;
	c.bits = xcalloc((size_t)s->g->n_values + 1, sizeof *c.bits);
	c.read = xcalloc((size_t)s->g->n_values + 1, sizeof *c.read);
	find_bits(&c);
	count_bytes(&c);
	count_conversions(&c);
	free(c.bits);
	free(c.read);
	return true;
}

const char *traffic_phrase(char out[TRAFFIC_PHRASE], const struct traffic *t)
{
	int at = snprintf(out, TRAFFIC_PHRASE, "%s", t->conversions ? "" : "none");
	for (int from = 0; from < PREC_COUNT; from++)
		for (int to = 0; to < PREC_COUNT; to++)
			if (t->conversion[from][to] && at < TRAFFIC_PHRASE)
				at += snprintf(out + at, TRAFFIC_PHRASE - (size_t)at, "%s%s to %s %d", at ? ", " : "",
				    precision_name((enum precision)from), precision_name((enum precision)to), t->conversion[from][to]);
	return out;
}
