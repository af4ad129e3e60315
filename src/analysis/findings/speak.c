// How a rule speaks: sentences, evidence, and edits as the study's commands.
#include <math.h>
#include <stdlib.h>
#include "../study/study_impl.h"
#include "qtui/base/str.h"
#include "rule.h"

struct finding *finding_add(struct look *l, int node, double damage)
{
	struct findings *out = l->out;
	out->at = xrealloc(out->at, ((size_t)out->n + 1) * sizeof *out->at);
	struct finding *f = &out->at[out->n++];
	*f = (struct finding){.rule = l->rule, .gain_db = NAN, .share = NAN, .part = 1, .damage = isfinite(damage) ? damage : 1};
	if (node >= 0) {
		finding_about(f, node);
		f->reach = node_made(l, node);
	}
	return f;
}

void finding_about(struct finding *f, int node)
{
	f->node = xrealloc(f->node, ((size_t)f->n_nodes + 1) * sizeof *f->node);
	f->node[f->n_nodes++] = node;
}

PRINTF(1, 0) static char *sentence(const char *fmt, va_list ap)
{
	struct str s = {0};
	str_vaddf(&s, fmt, ap);
	return str_detach(&s);
}

void finding_is_part(struct finding *f, const struct look *l, double part)
{
	f->part = part;
	f->reach = part * node_made(l, f->node[0]);
}

void finding_say(struct finding *f, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	free(f->text);
	f->text = sentence(fmt, ap);
	va_end(ap);
}

void finding_advise(struct finding *f, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	free(f->advice);
	f->advice = sentence(fmt, ap);
	va_end(ap);
}

void finding_prove(struct finding *f, const char *name, double value)
{
	if (isfinite(value) && f->n_evidence < FINDING_EVIDENCE)
		f->evidence[f->n_evidence++] = (struct evidence){name, value};
}

const char *range_phrase(char out[RANGE_TEXT], const struct site *s)
{
	return range_text(out, s->range.min, s->range.max, " .. ");
}

const char *scale_phrase(char out[SCALE_TEXT], double scale)
{
	return scale_text(out, scale, 4);
}

static void take_edit(struct finding *f, struct str *text)
{
	free(f->edit);
	f->edit = str_detach(text);
}

// A target may leave what a Softmax makes in float and quantize what it reads: that is not the node in float. Nor is one
// whose tensors are cast to 16 bits.
static bool is_set(const struct look *l, int node, enum precision p)
{
	bool is = l->s->row[node].precision == p;
	for (int i = 0; is && p == PREC_FLOAT && i < l->g->node[node].n_in; i++)
		is = !(input_step(l, node, i) > 0) && !(l->plan && is_cast(plan_in(l->plan, node, i)));
	for (int i = 0; is && p == PREC_FLOAT && l->plan && i < l->g->node[node].n_out; i++)
		is = !is_cast(plan_out(l->plan, node, i));
	return is;
}

// An answer takes plans of the whole network, some for all nodes as for one: they are asked once, and not by each finding,
// of which a large network has thousands.
static bool is_refused(const struct look *l, int node, enum precision p)
{
	struct error ignored = {0};
	if (!l->bare)
		return false;
	if (!l->refused[p]) {
		int *nodes = xcalloc((size_t)l->g->n_nodes + 1, sizeof *nodes);
		for (int i = 0; i < l->g->n_nodes; i++)
			nodes[i] = i;
		l->refused[p] = xcalloc((size_t)l->g->n_nodes + 1, sizeof *l->refused[p]);
		plan_check_edits(l->bare, nodes, l->g->n_nodes, p, l->refused[p], &ignored);
		free(nodes);
	}
	return l->refused[p][node];
}

bool finding_set(struct finding *f, const struct look *l, const int *nodes, int n, enum precision p)
{
	struct str text = {0};
	int kept = 0;
	double macs = 0;
	str_add(&text, "set");
	for (int i = 0; i < n; i++)
		if (!is_set(l, nodes[i], p) && !is_refused(l, nodes[i], p)) {
			str_add(&text, " ");
			study_add_word(&text, l->g->node[nodes[i]].name);
			macs += l->s->row[nodes[i]].precision == PREC_INT8 ? (double)l->s->row[nodes[i]].macs : 0;
			kept++;
		}
	str_addf(&text, " %s", precision_name(p));
	if (kept > 0) {
		take_edit(f, &text);
		f->wide = l->macs > 0 ? macs / l->macs : 0;
	}
	str_done(&text);
	return kept > 0;
}

bool can_widen(const struct look *l, int node)
{
	return !is_refused(l, node, PREC_INT16);
}

bool can_widen_weights(const struct look *l, int node)
{
	return can_widen(l, node) && (!l->bare || target_widens_weights(l->bare->target));
}

void finding_takes(struct finding *f, const struct look *l, const int *nodes, int n)
{
	double noise = 0;
	for (int i = 0; i < n; i++)
		noise += node_made(l, nodes[i]) * (nodes[i] == f->node[0] ? f->part : 1);
	f->reach = fmax(f->reach, noise);
}

// Each of the nodes with its region.
static bool set_regions(struct finding *f, const struct look *l, const int *nodes, int n, bool readers, enum precision p)
{
	enum { MOST = 64 };
	int region[MOST], conversions, *all, kept = 0;
	if (finding_is_small(f, l->noise))
		return false;
	all = xcalloc((size_t)l->g->n_nodes + 1, sizeof *all);
	bool *in = xcalloc((size_t)l->g->n_nodes + 1, sizeof *in);
	for (int i = 0; i < n; i++) {
		int m = l->plan ? plan_widen_region(l->plan, nodes[i], readers, region, MOST, &conversions) : 0;
		in[nodes[i]] = true;
		for (int k = 0; k < m; k++)
			in[region[k]] = true;
	}
	for (int i = 0; i < l->g->n_nodes; i++)
		if (in[i])
			all[kept++] = i;
	finding_takes(f, l, all, kept);
	bool set = finding_set(f, l, all, kept, p);
	free(all);
	free(in);
	return set;
}

// The node and, if asked for, whoever reads what it makes, also by way of what only moves it, to float: they would make codes
// of it again, on the step that is too coarse.
static bool free_with_readers(struct finding *f, const struct look *l, int node, bool readers)
{
	bool *carried = xcalloc((size_t)l->g->n_values + 1, sizeof *carried);
	int *all = xcalloc((size_t)l->g->n_nodes + 1, sizeof *all), n = 0;
	for (int i = node; i < l->g->n_nodes && (readers || i == node); i++) {
		const struct node *at = &l->g->node[i];
		if (i != node && !reads_any(at, carried))
			continue;
		all[n++] = i;
		for (int k = 0; k < at->n_out && (i == node || is_mover(at)); k++)
			if (at->out[k] >= 0)
				carried[at->out[k]] = true;
	}
	finding_takes(f, l, all, n);
	bool set = finding_set(f, l, all, n, PREC_FLOAT);
	free(carried);
	free(all);
	return set;
}

static bool widen(struct finding *f, const struct look *l, int node, bool readers, bool (*is_possible)(const struct look *l, int node))
{
	if (finding_is_small(f, l->noise))
		return false;
	return is_possible(l, node) ? set_regions(f, l, &node, 1, readers, PREC_INT16) : free_with_readers(f, l, node, readers);
}

bool finding_widen(struct finding *f, const struct look *l, int node)
{
	return widen(f, l, node, true, can_widen);
}

bool finding_widen_region(struct finding *f, const struct look *l, int node)
{
	return widen(f, l, node, false, can_widen);
}

bool finding_widen_weights(struct finding *f, const struct look *l, int node)
{
	return widen(f, l, node, false, can_widen_weights);
}

bool finding_free_region(struct finding *f, const struct look *l, int node)
{
	return set_regions(f, l, &node, 1, false, PREC_FLOAT);
}

bool finding_set_chain(struct finding *f, const struct look *l, const int *nodes, int n, enum precision p)
{
	return set_regions(f, l, nodes, n, false, p);
}

bool finding_scale(struct finding *f, const struct look *l, const struct site *s, double scale)
{
	struct str text = {0};
	struct error ignored;
	int value = snapshot_scalable(l->s, s);
	if (value < 0 || (l->bare && plan_check_scale(l->bare, value, scale, ZERO_FOLLOWS, false, &ignored) != STATUS_OK))
		return false;
	str_add(&text, "scale");
	study_add_scale(&text, l->g, value, scale, ZERO_FOLLOWS);
	take_edit(f, &text);
	return true;
}

bool reads_any(const struct node *n, const bool *value)
{
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] >= 0 && value[n->in[i]])
			return true;
	return false;
}

bool finding_free_behind(struct finding *f, const struct look *l, int node)
{
	int *behind = xcalloc((size_t)l->g->n_nodes + 1, sizeof *behind), n = 0;
	bool *reached = xcalloc((size_t)l->g->n_values + 1, sizeof *reached);
	for (int m = node; m < l->g->n_nodes; m++) {
		const struct node *x = &l->g->node[m];
		if (m != node && !reads_any(x, reached))
			continue;
		for (int o = 0; o < x->n_out; o++)
			if (x->out[o] >= 0)
				reached[x->out[o]] = true;
		if (l->s->row[m].quantizable)
			behind[n++] = m;
	}
	bool any = finding_set(f, l, behind, n, PREC_FLOAT);
	if (any)
		finding_advise(f, "run %s and what follows it in float: no weights are there", l->g->node[node].name);
	free(behind);
	free(reached);
	return any;
}

void finding_prepare(struct finding *f, const char *options)
{
	struct str text = {0};
	str_addf(&text, "preprocess %s", options);
	take_edit(f, &text);
}

void finding_take_samples(struct finding *f, int n)
{
	struct str text = {0};
	str_addf(&text, "samples %d", n);
	take_edit(f, &text);
}
