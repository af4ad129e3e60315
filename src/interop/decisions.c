// The user's decisions as other tools ask for them.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats.h"

struct decided decided_now(const struct study *st)
{
	return (struct decided){.edits = study_edits(st), .opt = study_options(st), .data = study_dataset(st)};
}

int decided_precision(const struct decided *d, const struct snapshot *s, int node)
{
	int asked = d->edits->precision[node];
	return asked >= 0 ? asked : s->row[node].requested;
}

signed char *operator_precisions(const struct decided *d, const struct snapshot *s)
{
	const struct group *group = snapshot_plan(s)->group;
	signed char *want = xcalloc((size_t)s->n_rows + 1, sizeof *want);
	memset(want, -1, (size_t)s->n_rows);
	for (int n = 0; n < s->n_rows; n++) {
		int decided = decided_precision(d, s, n), owner = group[n].owner;
		if (decided > want[owner])
			want[owner] = (signed char)decided;
	}
	for (int n = 0; n < s->n_rows; n++)
		want[n] = want[group[n].owner];
	return want;
}

int operator_end(const struct snapshot *s, int node)
{
	return snapshot_plan(s)->group[node].last;
}

bool origin_in_graph(const struct origin *o)
{
	return o->fate == FATE_KEPT || o->fate == FATE_FUSED;
}

struct namemap *tensor_makers(const struct graph *g)
{
	struct namemap *makers = namemap_new();
	for (int i = 0; i < g->n_origins; i++)
		for (int k = 0; origin_in_graph(&g->origin[i]) && k < g->origin[i].n_out; k++)
			namemap_put(makers, g->origin[i].out[k], i);
	return makers;
}

// Appends the names that the nodes of the file which `node` stands for have there.
static void add_file_names(cJSON *list, const struct graph *g, int node)
{
	for (int i = 0; i < g->n_origins; i++)
		if (g->origin[i].node == node && origin_in_graph(&g->origin[i]))
			cJSON_AddItemToArray(list, cJSON_CreateString(g->origin[i].name));
}

// Of an operator that the model has written out, every node: it is one here, and several there.
cJSON *excluded_nodes(const struct decided *d, const struct snapshot *s)
{
	cJSON *list = cJSON_CreateArray();
	signed char *want = operator_precisions(d, s);
	for (int n = 0; n < s->n_rows; n++)
		if (decided_precision(d, s, n) == PREC_FLOAT || (plan_written_out(snapshot_plan(s), n) && want[n] == PREC_FLOAT))
			add_file_names(list, s->g, n);
	free(want);
	return list;
}

const struct site *tensor_site(const struct snapshot *s, int value)
{
	const struct site *use = NULL;
	for (int i = 0; i < s->n_sites; i++) {
		const struct site *x = &s->site[i];
		if (x->value != value || x->bits == 0 || x->kind == SITE_WEIGHT)
			continue;
		if (x->kind == SITE_OUTPUT)
			return x;
		use = use ? use : x;
	}
	return use;
}

bool is_wide(const struct snapshot *s, int node)
{
	return s->row[node].precision == PREC_INT16 && target_has_precision(snapshot_plan(s)->target, 8);
}

bool is_wide_output(const struct snapshot *s, int value)
{
	if (s->g->value[value].producer < 0 || !is_wide(s, s->g->value[value].producer))
		return false;
	if (!graph_is_further(s->g, value))
		return true;
	const struct site *x = tensor_site(s, value);
	return x && x->bits == 16;
}

void lose(struct str *loss, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	str_vaddline(loss, fmt, ap);
	va_end(ap);
}

void lose_precision(struct str *loss, const struct decided *d, const struct snapshot *s, enum precision p, const char *format)
{
	for (int n = 0; n < s->n_rows; n++)
		if (decided_precision(d, s, n) == (int)p)
			lose(loss, "%s: %s has no way to say %s", s->g->node[n].name, format, precision_name(p));
}

void lose_scales(struct str *loss, const struct decided *d, const struct snapshot *s, const char *format)
{
	int n, *made = graph_scalable(s->g, &n);
	for (int i = 0; i < n; i++) {
		double scale = d->edits->scale[made[i]];
		if (scale != 0)
			lose(loss, "%s: %s has no way to say the scale %g", graph_output_name(s->g, made[i]), format, scale);
	}
	free(made);
}

void lose_calibrators(struct str *loss, const struct decided *d, const struct snapshot *s, const char *format)
{
	for (int n = 0; n < s->n_rows; n++)
		if (d->edits->calibrator[n] >= 0)
			lose(loss, "%s: %s has no way to say that %s calibrates it", s->g->node[n].name, format,
			    calib_name((enum calib_method)d->edits->calibrator[n]));
}

void lose_method(struct str *loss, const struct snapshot *s, const char *format)
{
	if (s->method != target_default_calibration(snapshot_plan(s)->target))
		lose(loss, "calibration: %s has no way to say %s", format, calib_name(s->method));
}

double decided_scale(const struct decided *d, const struct snapshot *s, int value)
{
	int node = s->g->value[value].producer;
	double scale = d->edits->scale[value];
	if (scale != 0 || node < 0 || d->edits->calibrator[node] < 0)
		return scale;
	int end = operator_end(s, node);
	const struct site *x = tensor_site(s, end == node ? value : s->g->node[end].out[0]);
	return x && x->kind == SITE_OUTPUT && x->n_scale == 1 ? (double)x->scale[0] : 0;
}

void lose_rules(struct str *loss, const struct snapshot *s, const char *tool)
{
	const struct target *t = snapshot_plan(s)->target;
	if (!target_is_of(t, tool))
		lose(loss, "target: the rounding and the scale rule of %s are not %s's", target_name(t), tool);
}

static bool is_wide_end(const struct graph *g, const signed char *want, int value)
{
	for (int i = 0; value >= 0 && i < g->value[value].n_consumers; i++)
		if (want[g->value[value].consumer[i]] != PREC_INT16)
			return true;
	return false;
}

void lose_wide_ends(struct str *loss, const struct graph *g, const signed char *want, const char *tool)
{
	for (int n = 0; n < g->n_nodes; n++)
		for (int i = 0; want[n] == PREC_INT16 && i < g->node[n].n_out; i++)
			if (is_wide_end(g, want, g->node[n].out[i])) {
				lose(loss,
				    "%s: the int16 of %s is of what an operator reads: its output has 16 bits where its readers are int16 too",
				    g->node[n].name, tool);
				break;
			}
}

static bool is_decided(const struct decided *d, const struct snapshot *s, int node)
{
	const struct node *n = &s->g->node[node];
	bool decided = decided_precision(d, s, node) >= 0 || d->edits->calibrator[node] >= 0;
	for (int i = 0; i < n->n_out; i++)
		decided |= n->out[i] >= 0 && d->edits->scale[n->out[i]] != 0;
	return decided;
}

void lose_unnamed(struct str *loss, const struct decided *d, const struct snapshot *s, const char *tool)
{
	const struct origin *first = NULL;
	int n = 0;
	for (const struct origin *o = s->g->origin; o < s->g->origin + s->g->n_origins; o++)
		if (o->unnamed && origin_in_graph(o) && is_decided(d, s, o->node)) {
			first = first ? first : o;
			n++;
		}
	if (n)
		lose(loss,
		    "%s: %d node%s with decisions %s no name in the model's file: give the nodes there these names (TYPE_INDEX), or %s does "
		    "not find them",
		    first->name, n, plural(n), n == 1 ? "has" : "have", tool);
}

void finish_json(struct str *out, cJSON *root)
{
	char *text = cJSON_Print(root);
	str_add(out, text);
	str_add(out, "\n");
	free(text);
	cJSON_Delete(root);
}
