#include "wishes.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MOST = 100000 }; // they are counted where they are told: as many as any model has nodes

static int reduced_bits(const struct plan *p)
{
	int most = 0;
	for (int i = 0; i < p->n_slots; i++) {
		const struct quantizer *q = &p->slot[i].quant;
		int less = p->slot[i].parameter || q->kind != QUANT_LINEAR ? 0 : q->bits - range_bits(q->qmin, q->qmax);
		most = less > most ? less : most;
	}
	return most;
}

void wishes_init(struct wishes *w, const struct plan *p, struct str *notes)
{
	size_t n = (size_t)p->g->n_nodes + 1;
	*w = (struct wishes){.p = p, .g = p->g, .notes = notes, .method = -1, .calibrates = -1, .reduced = reduced_bits(p)};
	w->precision = xcalloc(n, sizeof *w->precision);
	memset(w->precision, -1, n);
	w->calibrator = xcalloc(n, sizeof *w->calibrator);
	memset(w->calibrator, -1, n);
	w->each = xcalloc(n, sizeof *w->each);
	w->makers = tensor_makers(p->g);
	w->said = xcalloc(n, sizeof *w->said);
	w->scale = xcalloc((size_t)p->g->n_values + 1, sizeof *w->scale);
	w->inside = xcalloc((size_t)p->g->n_values + 1, sizeof *w->inside);
	w->zero = xcalloc((size_t)p->g->n_values + 1, sizeof *w->zero);
	w->range = xcalloc((size_t)p->g->n_values + 1, sizeof *w->range);
	w->bits = xcalloc((size_t)p->g->n_values + 1, sizeof *w->bits);
	w->part = xcalloc(n, sizeof *w->part);
	memset(w->part, -1, n);
	w->further = xcalloc((size_t)p->g->n_values + 1, sizeof *w->further);
	memset(w->further, -1, (size_t)p->g->n_values + 1);
}

void wishes_done(struct wishes *w)
{
	namemap_free(&w->makers);
	for (size_t i = 0; i < w->n_weights; i++) {
		file_codes_done(&w->weight[i].codes);
		tensor_drop(&w->weight[i].bias);
	}
	free(w->weight);
	free(w->precision);
	free(w->calibrator);
	free(w->said);
	free(w->each);
	free(w->scale);
	free(w->inside);
	free(w->zero);
	free(w->bits);
	free(w->range);
	free(w->part);
	free(w->further);
	free(w->no_node);
	*w = (struct wishes){0};
}

void wish_note(struct wishes *w, const char *fmt, ...)
{
	char text[500];
	va_list ap;
	if (w->n_notes++ >= NOTES_MOST)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	str_oneline(text);
	str_addf(w->notes, "%s\n", text);
}

void wish_weight(struct wishes *w, const struct weight_wish *wish)
{
	w->weight = xgrow(w->weight, &w->cap_weights, w->n_weights + 1, sizeof *w->weight);
	w->weight[w->n_weights++] = *wish;
}

bool is_half_anyway(const struct wishes *w)
{
	return !target_has_scales(w->p->target, false, false);
}

// What is said of one part of a fused group holds for all of it.
void wish_precision(struct wishes *w, int node, enum precision p)
{
	if (p == WISH_HALF && is_half_anyway(w))
		return;
	p = p == WISH_HALF ? PREC_FLOAT : p;
	int owner = w->p->group[node].owner;
	int was = w->rank == w->said[owner] ? w->precision[owner] : -1;
	if (was >= 0 && was != (int)p)
		wish_note(w, "%.120s: the file gives it both %s and %s: %s is taken", w->g->node[owner].name,
		    precision_name((enum precision)was), precision_name(p), precision_name(was == PREC_FLOAT ? PREC_FLOAT : p));
	if (w->rank < w->said[owner] || was == PREC_FLOAT)
		return;
	w->precision[owner] = (signed char)p;
	w->calibrator[owner] = (signed char)w->calibrates;
	w->said[owner] = (signed char)w->rank;
}

// AIMET also has zero one below the middle, where the lowest code is not used: a grid of the same values but for its ends.
static bool is_middle(double bits, double zero)
{
	double middle = bits >= 1 && bits <= 32 ? ldexp(1, (int)bits - 1) : 0;
	return zero == ZERO_MIDDLE || zero == middle || zero == middle - 1;
}

// As a code of the quantizer's; what it has no code for follows from the range.
static int32_t code_of_zero(const struct quantizer *q, double bits, double zero)
{
	double middle = ldexp(1, (int)bits - 1), code = (zero == ZERO_MIDDLE ? middle : zero) - (q->qmin < 0 ? middle : 0);
	bool fits = code >= (double)q->qmin && (code <= (double)q->qmax || bits > q->bits);
	return q->symmetric || zero == ZERO_UNSAID || !fits ? ZERO_FOLLOWS : (int32_t)code;
}

// 8 or 16 where the file's bits are those of a range that the target has; else what they are.
static double code_width(const struct wishes *w, double bits)
{
	double width = bits + w->reduced;
	return width == 8 || width == 16 ? width : bits;
}

static bool is_width(double bits)
{
	return bits == 8 || bits == 16;
}

bool wish_scale(struct wishes *w, int value, double bits, double scale, double zero)
{
	const struct quantizer *q = tensor_quantizer(w->p, value);
	if (q->symmetric && !is_middle(bits, zero)) {
		int e;
		w->no_zeros++;
		w->steps |= frexp(scale, &e) != 0.5;
		return false;
	}
	w->scale[value] = scale;
	w->bits[value] = code_width(w, bits);
	w->zero[value] = is_width(w->bits[value]) ? code_of_zero(q, bits, zero) : ZERO_FOLLOWS;
	return true;
}

int node_of_tensor(const struct wishes *w, const char *tensor)
{
	int maker = namemap_get(w->makers, tensor);
	return maker >= 0 ? w->g->origin[maker].node : -1;
}

static void note_zero(struct wishes *w, int value)
{
	wish_note(w, "%.120s: a scale with a zero point cannot be fixed here: target %s has none", w->g->value[value].name,
	    target_name(w->p->target));
}

void wish_read_scale(struct wishes *w, int value, double bits, double scale, double zero)
{
	if (!wish_scale(w, value, bits, scale, zero))
		note_zero(w, value);
}

int quantized_output(const struct wishes *w, const char *tensor, const char **why)
{
	int v = graph_find_value(w->g, tensor), node = v >= 0 ? w->g->value[v].producer : -1;
	*why = NULL;
	if (v < 0)
		*why = "the model has no tensor of this name";
	else if (w->g->value[v].constant)
		return -1;
	else if (node >= 0 && w->p->group[node].last != node)
		*why = WISH_INSIDE;
	return *why ? -1 : v;
}

static bool is_inside(const struct plan *p, int value)
{
	int node = value < 0 ? -1 : p->g->value[value].producer;
	return node >= 0 && p->group[node].last != node;
}

static int quantized_output_or_note(struct wishes *w, const char *tensor)
{
	const char *why;
	int value = quantized_output(w, tensor, &why);
	if (why)
		wish_note(w, "%.120s: %s", tensor, why);
	return value;
}

// `symmetric`: the target has zero in the middle only, where a file may have it one below.
static bool make_file_grid(struct file_codes *c, double bits, const double *scale, const double *zero, int n, bool symmetric)
{
	int64_t count = n;
	double middle = ldexp(1, (int)bits - 1);
	struct error ignored;
	*c =
	    (struct file_codes){.scale = {.type = DT_F32, .shape = shape_of(1, &count)}, .zero = {.type = DT_I32, .shape = shape_of(1, &count)}};
	if (tensor_alloc(&c->scale, NULL, &ignored) != STATUS_OK || tensor_alloc(&c->zero, NULL, &ignored) != STATUS_OK)
		return false;
	for (int i = 0; i < n; i++) {
		double at = zero[i] == ZERO_MIDDLE || (symmetric && is_middle(bits, zero[i])) ? middle : zero[i];
		if (!((float)scale[i] > 0) || !isfinite((float)scale[i]) || !(at >= 0 && at < 2 * middle))
			return false;
		((float *)c->scale.data)[i] = (float)scale[i];
		((int32_t *)c->zero.data)[i] = (int32_t)at;
	}
	c->q = (struct quantizer){.kind = QUANT_LINEAR, .bits = (int)bits, .qmax = (int64_t)(2 * middle) - 1, .axis = n > 1 ? AXIS_UNSAID : -1,
	    .n = n, .scale = c->scale.data, .zero = c->zero.data};
	return true;
}

void wish_parameter(struct wishes *w, const char *tensor, double bits, const double *scale, const double *zero, int n)
{
	int v = graph_find_value(w->g, tensor);
	const struct value *value = v >= 0 && w->g->value[v].constant ? &w->g->value[v] : NULL;
	for (int i = 0; value && i < value->n_consumers; i++) {
		const struct node *reader = &w->g->node[value->consumer[i]];
		struct weight_wish wish = {.node = value->consumer[i]};
		bool again = i > 0 && value->consumer[i] == value->consumer[i - 1];
		if (reader->n_in < 2 || reader->in[1] != v || value->constant->type != DT_F32 || again)
			continue;
		if (!(bits >= 2 && bits <= 16 && n > 0)) {
			wish_note(w, "%.120s: %g bits and %d scales: nothing that is known here", tensor, bits, n);
			return;
		}
		if (make_file_grid(&wish.codes, bits, scale, zero, n, plan_in(w->bare, wish.node, 1)->quant.symmetric)) {
			wish_weight(w, &wish);
		} else {
			wish_note(w, "%.120s: its scales and offsets are none", tensor);
			file_codes_done(&wish.codes);
			return;
		}
	}
}

static double zero_from(const cJSON *x, enum zeros kind, double lowest)
{
	if (kind == ZERO_POINTS)
		return (cJSON_IsNumber(x) ? x->valuedouble : 0) + lowest;
	return cJSON_IsNumber(x) ? fabs(x->valuedouble) : ZERO_MIDDLE;
}

static const cJSON *first_of(const cJSON *a)
{
	return cJSON_IsArray(a) ? a->child : a;
}

void wish_parameter_lists(
    struct wishes *w, const char *tensor, double bits, const cJSON *scales, const cJSON *zeros, enum zeros kind, double lowest)
{
	int n = cJSON_IsArray(scales) ? cJSON_GetArraySize(scales) : cJSON_IsNumber(scales);
	double *grid = xcalloc((size_t)n * 2 + 1, sizeof *grid);
	const cJSON *scale = first_of(scales), *zero = first_of(zeros);
	for (int i = 0; i < n; i++, scale = scale->next, zero = zero ? zero->next : NULL) {
		grid[i] = cJSON_IsNumber(scale) ? scale->valuedouble : 0;
		grid[n + i] = zero_from(zero, kind, lowest);
	}
	wish_parameter(w, tensor, bits, grid, grid + n, n);
	free(grid);
}

// An input of the network has the width of those that read it.
static void wish_width(struct wishes *w, int value, enum precision p)
{
	if (w->g->value[value].producer < 0 && p == PREC_FLOAT)
		wish_note(w, "%.120s: an input of the network: the nodes that read it can stay in float, not it alone", w->g->value[value].name);
	else if (w->g->value[value].producer < 0)
		return;
	else if (graph_is_further(w->g, value))
		w->further[value] = (signed char)p;
	else
		wish_precision(w, w->g->value[value].producer, p);
}

void wishes_note_widths(struct wishes *w)
{
	for (int v = 0; v < w->g->n_values; v++) {
		int node = w->g->value[v].producer, owner = node >= 0 ? w->p->group[node].owner : -1;
		int p = w->further[v] < 0 ? -1 : w->precision[owner] >= 0 ? w->precision[owner] : (int)w->p->precision[owner];
		if (p != w->further[v])
			wish_note(w, "%.120s: %s, but a node has one width, and that of %.120s is %s", w->g->value[v].name,
			    precision_name((enum precision)w->further[v]), w->g->node[node].name,
			    precision_name((enum precision)p));
	}
}

void wish_tensor(struct wishes *w, const char *tensor, double bits, double scale, double zero)
{
	int inner = graph_find_value(w->g, tensor);
	double width = code_width(w, bits);
	if (is_inside(w->p, inner) && scale != 0 && is_width(width) && wish_scale(w, inner, bits, scale, zero)) {
		w->inside[inner] = true;
		return;
	}
	int value = quantized_output_or_note(w, tensor);
	if (value < 0)
		return;
	if (bits != WISH_FLOAT && !is_width(width)) {
		wish_note(w, "%.120s: %g bits are not known here: 8, 16 and float are", tensor, bits);
		return;
	}
	wish_width(w, value, bits == WISH_FLOAT ? PREC_FLOAT : width == 16 ? PREC_INT16 : PREC_INT8);
	if (scale != 0 && bits != WISH_FLOAT && !wish_scale(w, value, bits, scale, zero))
		note_zero(w, value);
}

static int place_of(const int *value, int n, int wanted)
{
	int i = 0;
	while (i < n && value[i] != wanted)
		i++;
	return i;
}

const struct quantizer *tensor_quantizer(const struct plan *p, int value)
{
	static const struct quantizer none = {.kind = QUANT_NONE};
	const struct value *v = &p->g->value[value];
	if (v->producer >= 0) {
		const struct slot *made = plan_out(p, v->producer, place_of(p->g->node[v->producer].out, p->g->node[v->producer].n_out, value));
		if (made->state != SLOT_FLOAT)
			return &made->quant;
	}
	for (int i = 0; i < v->n_consumers; i++) {
		const struct node *reader = &p->g->node[v->consumer[i]];
		const struct slot *read = plan_in(p, v->consumer[i], place_of(reader->in, reader->n_in, value));
		if (read->state != SLOT_FLOAT)
			return &read->quant;
	}
	return &none;
}

static void wish_limits(struct wishes *w, int value, double min, double max)
{
	if (!(min <= max && fmax(-min, max) > 0) || !isfinite(max - min)) {
		wish_note(w, "%.120s: %g to %g is no range", w->g->value[value].name, min, max);
		return;
	}
	w->range[value] = (struct limits){min, max};
}

void wish_range(struct wishes *w, const char *tensor, double min, double max)
{
	int value = quantized_output_or_note(w, tensor);
	const struct quantizer *q = value >= 0 ? tensor_quantizer(w->p, value) : NULL;
	if (q && q->kind == QUANT_LINEAR && q->qmax > 0)
		wish_limits(w, value, min, max);
}

static void wish_magnitude(struct wishes *w, int value, const struct quantizer *q, double threshold, double step)
{
	double scale = threshold / (double)q->qmax, power = exp2(round(log2(scale)));
	bool is_power = q->pow2 && fabs(power * (double)q->qmax - threshold) <= step / 2;
	wish_scale(w, value, q->bits, is_power ? power : scale, ZERO_MIDDLE);
}

void wish_threshold(struct wishes *w, const char *tensor, double threshold, double step, const double range[2])
{
	int value = quantized_output_or_note(w, tensor);
	const struct quantizer *q = value >= 0 ? tensor_quantizer(w->p, value) : NULL;
	if (!q || q->kind != QUANT_LINEAR || q->qmax <= 0)
		return;
	if (!q->symmetric && range)
		wish_limits(w, value, range[0], range[1]);
	else if (!(threshold > 0))
		wish_note(w, "%.120s: %g is no threshold", tensor, threshold);
	else if (q->symmetric)
		wish_magnitude(w, value, q, threshold, step);
	else
		wish_note(w, "%.120s: the target quantizes with a zero point, which the threshold %g does not fix", tensor, threshold);
}

// The hint is that of the first name, so that all say the same and become one line.
static const char *why_no_node(struct wishes *w, const char *name)
{
	const char *why = graph_why_no_node(w->g, name);
	if (why || w->no_node)
		return why ? why : w->no_node;
	struct str text = {0};
	bool part;
	const char *near = graph_near_node(w->g, name, &part);
	str_add(&text, "the model has no such node");
	if (near)
		str_addf(&text, part ? "; *%.120s* matches %.120s" : "; the nearest to %.120s is %.120s", name, near);
	return w->no_node = str_detach(&text);
}

bool wish_name(struct wishes *w, const char *name, enum precision p)
{
	int node = graph_find_node(w->g, name);
	if (node >= 0)
		wish_precision(w, node, p);
	else
		wish_note(w, "%.120s: %s", name, why_no_node(w, name));
	return node >= 0;
}
