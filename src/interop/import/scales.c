// Scales that a file has, as edits: those of no more codes than their tensors get here, and which the plan can have.
#include <math.h>
#include <stdlib.h>
#include "wishes.h"

static bool is_quantized(const struct slot *s, bool output)
{
	return s->value >= 0 && !s->parameter && s->state != SLOT_FLOAT && s->quant.kind == QUANT_LINEAR && s->is_output == output;
}

// [n_values] bits of what quantizes each tensor: its maker, or, where it comes in float, those who read it, the fewest of theirs.
// 0: nothing does.
static int *widths_in(const struct plan *p)
{
	int *bits = xcalloc((size_t)p->g->n_values + 1, sizeof *bits);
	for (const struct slot *s = p->slot; s < p->slot + p->n_slots; s++)
		if (is_quantized(s, false))
			bits[s->value] = !bits[s->value] || bits[s->value] > s->quant.bits ? s->quant.bits : bits[s->value];
	for (const struct slot *s = p->slot; s < p->slot + p->n_slots; s++)
		if (is_quantized(s, true))
			bits[s->value] = s->quant.bits;
	return bits;
}

// The tensor whose quantizer has the scale that stands at `value`: at the end of what runs as one.
static int quantized_at(const struct plan *p, int value)
{
	int node = p->g->value[value].producer;
	return node < 0 || p->group[node].last == node ? value : graph_output(p->g, p->group[node].last);
}

// What ends an operator is said of its owner.
static int place_of(const struct plan *p, int value)
{
	int node = p->g->value[value].producer, owner = node < 0 ? node : p->group[node].owner;
	return owner == node || p->group[node].last != node ? value : graph_output(p->g, owner);
}

// To where the operators of `p` have them: those which the file's widths took apart have their own inside.
static void settle(struct wishes *w, const struct plan *p)
{
	const struct graph *g = p->g;
	for (int v = 0; v < g->n_values; v++)
		if (w->inside[v] && p->group[g->value[v].producer].last != g->value[v].producer) {
			wish_note(w, "%.120s: " WISH_INSIDE, g->value[v].name);
			w->scale[v] = 0;
		}
	for (int v = 0; v < g->n_values; v++) {
		int at = place_of(p, v);
		if (w->scale[v] == 0 || at == v)
			continue;
		w->scale[at] = w->scale[v];
		w->bits[at] = w->bits[v];
		w->zero[at] = w->zero[v];
		w->scale[v] = 0;
	}
}

// A file with a scale for every tensor gives those that share one the same: the edit of the one that rules it says all.
static bool is_said_elsewhere(const struct wishes *w, const struct plan *p, int value)
{
	int other = plan_scale_of(w->bare, value);
	return other >= 0 && other != value && w->scale[place_of(p, other)] == w->scale[value];
}

// A grid of fewer codes is part of one with more; one of more codes would lose its ends.
static bool has_room(struct wishes *w, int value, int bits)
{
	bool room = bits == 0 || bits >= w->bits[value];
	if (!room)
		wish_note(w, "%.120s: a scale of %g bits, but it has %d here: it is not taken", graph_output_name(w->g, value),
		    w->bits[value], bits);
	return room;
}

// By itself, or beside the widths that the file has.
static bool takes_scale(const struct wishes *w, const struct plan *p, int value, double scale, struct error *err)
{
	bool wide = w->bits[value] > 8;
	struct error ignored;
	return plan_check_scale(w->bare, value, scale, w->zero[value], wide, err) == STATUS_OK ||
	    plan_check_scale(p, value, scale, w->zero[value], wide, &ignored) == STATUS_OK;
}

// Of what is made in float: an edit of its scale acts on readers that have none of other tensors.
static bool is_rounded_by_itself(const struct plan *p, int value)
{
	int maker = p->g->value[value].producer;
	bool yes = maker < 0 || p->precision[maker] != PREC_FLOAT;
	for (const struct slot *s = p->slot; s < p->slot + p->n_slots && !yes; s++)
		yes = s->value == value && s->state == SLOT_ACTIVE && is_quantized(s, s->is_output);
	return yes;
}

static bool accepts_scale(struct wishes *w, const struct plan *p, int value, int bits, const struct edits *now)
{
	const double was = now->scale[value], scale = (float)w->scale[value];
	const char *name = graph_output_name(w->g, value);
	struct error err = {0};
	if (!(scale > 0) || !isfinite(scale)) {
		wish_note(w, "%s: %g is no scale", name, w->scale[value]);
		return false;
	}
	if (!has_room(w, value, bits))
		return false;
	if (!is_rounded_by_itself(p, value)) {
		if (!is_said_elsewhere(w, p, value))
			wish_note(w, "%s: it stays in float, and those who read it have scales of other tensors: its scale is left out", name);
		return false;
	}
	if (!takes_scale(w, p, value, scale, &err)) {
		int e;
		w->no_steps += tensor_quantizer(w->p, value)->pow2 && frexp(scale, &e) != 0.5;
		if (!is_said_elsewhere(w, p, value))
			wish_note(w, "%s", err.text);
		return false;
	}
	if (was != 0 && was != scale)
		wish_note(w, "%s: had the scale %.9g, the file's %.9g is taken", name, was, scale);
	return was != scale || now->zero[value] != w->zero[value];
}

// As the target's own rule has it.
static void scale_from_range(struct wishes *w, int value, const struct quantizer *q)
{
	const struct limits *r = &w->range[value];
	float scale;
	int32_t zero;
	scale_of_range(&scale, &zero, w->p->target, q, r->min, r->max);
	wish_scale(w, value, q->bits, (double)scale, q->symmetric ? ZERO_MIDDLE : (double)(zero - q->qmin));
}

void wished_scales(struct scale_edit **out, int *n, struct wishes *w, const struct plan *p, const struct edits *now)
{
	int places, *made = graph_scalable(w->g, &places), *bits = widths_in(p);
	struct scale_edit *scale = *out = xcalloc((size_t)places + 1, sizeof *scale);
	*n = 0;
	for (int v = 0; v < w->g->n_values; v++)
		if ((w->range[v].min != 0 || w->range[v].max != 0) && tensor_quantizer(p, v)->kind == QUANT_LINEAR)
			scale_from_range(w, v, tensor_quantizer(p, v));
	settle(w, p);
	for (int i = 0; i < places; i++)
		if (w->scale[made[i]] != 0 && accepts_scale(w, p, made[i], bits[quantized_at(p, made[i])], now))
			scale[(*n)++] = (struct scale_edit){made[i], w->scale[made[i]], w->zero[made[i]]};
	free(bits);
	free(made);
}
