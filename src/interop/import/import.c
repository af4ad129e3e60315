// A file's wishes as edits: a step of the history for each width, one for the scales.
#include "qtui/interop/import.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "../gather.h"
#include "wishes.h"

struct importing {
	char *path;
	struct target *target;  // of the decision that it began from, as are the next two
	struct edits *edits;
	enum calib_method method;
	const struct graph *g;
	struct plan *p, *bare;
	struct plan_cache *cache; // of the plans' constants
	struct wishes w;
	struct import_report report;
	int *node[PREC_COUNT], n_nodes[PREC_COUNT]; // to be set
	struct scale_edit *scale;
	int n_scales;           // to be set
	int *calibrated[CALIB_COUNT], n_calibrated[CALIB_COUNT]; // nodes that are to have this calibrator
	struct tuning *tuning;  // with the file's weights, or NULL
	int n_tuned;            // nodes of which something is taken
};
static const enum precision widths[] = {PREC_FLOAT, PREC_INT16, PREC_INT8}; // in this order

// A target may leave a result in float and round what the node reads; casts have no other width than float.
static bool rounds(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	bool any = false;
	for (int i = 0; i < n->n_in && !any; i++)
		any = n->in[i] >= 0 && plan_in(p, node, i)->state != SLOT_FLOAT;
	for (int i = 0; i < n->n_out && !any; i++)
		any = n->out[i] >= 0 && plan_out(p, node, i)->state != SLOT_FLOAT;
	return any;
}

static bool differs(const struct importing *m, int node, enum precision p)
{
	int edit = m->edits->precision[node];
	if (edit >= 0)
		return edit != (int)p;
	return m->p->precision[node] != p || (p == PREC_FLOAT && rounds(m->p, node));
}

static void note_conflict(struct importing *m, int node, enum precision p)
{
	int edit = m->edits->precision[node];
	if (edit >= 0)
		wish_note(&m->w, "%s: was set to %s, the file's %s is taken", m->g->node[node].name, precision_name((enum precision)edit),
		    precision_name(p));
}

static void list_width(struct importing *m, enum precision p)
{
	int *nodes = m->node[p] = xcalloc((size_t)m->g->n_nodes + 1, sizeof *nodes), n = 0, kept = 0;
	bool *refused = xcalloc((size_t)m->g->n_nodes + 1, sizeof *refused);
	struct error err = {0};
	for (int i = 0; i < m->g->n_nodes; i++) {
		int owner = m->p->group[i].owner;
		bool whole = m->w.part[i] < 0 && (i == owner || m->w.each[owner]);
		if ((whole ? m->w.precision[owner] : m->w.part[i]) == (int)p && differs(m, i, p))
			nodes[n++] = i;
	}
	plan_check_edits(m->bare, nodes, n, p, refused, &err);
	for (int i = 0; i < n; i++)
		if (refused[i] && plan_check_edit(m->bare, nodes[i], p, &err) != STATUS_OK) {
			wish_note(&m->w, "%s", err.text);
		} else {
			note_conflict(m, nodes[i], p);
			nodes[kept++] = nodes[i];
		}
	m->n_nodes[p] = kept;
	free(refused);
}

// Beside the notes, which are one for each tensor: most scales are not for this target, but for one of these.
static void suggest_target(struct importing *m)
{
	enum { FEW = 4 };
	int lost = m->w.no_steps + m->w.no_zeros, wished = m->w.no_zeros, n, found = 0;
	struct str *s = &m->report.advice;
	for (int v = 0; v < m->g->n_values; v++)
		wished += m->w.scale[v] != 0;
	if (lost < FEW || 2 * lost < wished)
		return;
	str_addf(s, "%d of %d scales are lost: target %s has %s", lost, wished, target_name(m->target),
	    m->w.no_zeros ? "no zero points" : "powers of two only");
	char **name = target_list(&n);
	for (int i = 0; i < n; i++) {
		struct target *t = NULL;
		struct error ignored;
		if (target_load(&t, name[i], &ignored) == STATUS_OK && target_has_scales(t, m->w.no_steps > 0 || m->w.steps, m->w.no_zeros > 0))
			str_addf(s, "%s%s", found++ ? ", " : ", but these could have them: ", name[i]);
		if (t)
			target_free(&t);
		free(name[i]);
	}
	free(name);
}

// What all have after the import, from the file or as it is, need not be said of a node.
static void list_calibrators(struct importing *m)
{
	int all = m->w.method >= 0 ? m->w.method : (int)m->method;
	for (int c = 0; c < CALIB_COUNT; c++)
		m->calibrated[c] = xcalloc((size_t)m->g->n_nodes + 1, sizeof *m->calibrated[c]);
	for (int i = 0; i < m->g->n_nodes; i++) {
		struct error err = {0};
		int c = m->w.calibrator[i], has = m->edits->calibrator[i] >= 0 ? m->edits->calibrator[i] : all;
		if (c < 0 || c == has || m->w.precision[i] == PREC_FLOAT)
			continue;
		if (plan_check_calibrator(m->bare, i, &err) != STATUS_OK)
			wish_note(&m->w, "%s", err.text);
		else
			m->calibrated[c][m->n_calibrated[c]++] = i;
	}
}

// The network as the widths that are taken make it, on whose grids scales and weights are to be.
static enum status plan_wished(struct importing *m, struct plan **out, struct error *err)
{
	struct edits *e = edits_copy(m->edits);
	int *parts = xcalloc((size_t)m->g->n_nodes + 1, sizeof *parts);
	tuning_drop(&e->tuning);
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		enum precision p = widths[i];
		int n = m->n_nodes[p] ? plan_operator_nodes(m->bare, e, m->node[p], m->n_nodes[p], (int)p, parts) : 0;
		for (int k = 0; k < m->n_nodes[p]; k++)
			e->precision[m->node[p][k]] = (signed char)p;
		for (int k = 0; k < n; k++)
			e->precision[parts[k]] = (signed char)p;
	}
	enum status s = plan_new(out, m->g, m->target, m->method, e, m->cache, err);
	free(parts);
	edits_free(&e);
	return s;
}

enum status import_begin(struct importing **out, const struct study *st, const struct snapshot *now, const char *path, struct error *err)
{
	struct importing *m = xcalloc(1, sizeof *m);
	m->path = xstrdup(path);
	m->g = study_graph(st);
	m->edits = edits_copy(study_edits(st));
	m->method = now->method;
	enum status status = target_load(&m->target, now->target, err);
	if (status == STATUS_OK)
		*out = m;
	else
		import_free(&m);
	return status;
}

static enum status list_on_grids(struct importing *m, struct error *err)
{
	struct plan *p = NULL;
	enum status s = plan_wished(m, &p, err);
	if (s != STATUS_OK)
		return s;
	wishes_note_widths(&m->w);
	wished_scales(&m->scale, &m->n_scales, &m->w, p, m->edits);
	if (m->w.n_weights)
		s = wished_tuning(&m->tuning, &m->n_tuned, &m->w, p, m->edits->tuning, err);
	plan_free(&p);
	return s;
}

// The network's groups and widths under the decision in force; no scales, which nothing here needs.
static enum status plan_in_force(struct importing *m, struct error *err)
{
	m->cache = plan_cache_new();
	return plan_new(&m->p, m->g, m->target, m->method, m->edits, m->cache, err);
}

enum status import_read(struct importing *m, struct error *err)
{
	if (plan_in_force(m, err) != STATUS_OK)
		return err->status;
	m->bare = plan_bare(m->g, m->target);
	wishes_init(&m->w, m->p, &m->report.notes);
	m->w.bare = m->bare;
	enum status status = read_decisions(&m->w, &m->report.format, m->path, err);
	for (size_t i = 0; status == STATUS_OK && i < sizeof widths / sizeof *widths; i++)
		list_width(m, widths[i]);
	if (status == STATUS_OK)
		status = list_on_grids(m, err);
	if (status == STATUS_OK) {
		list_calibrators(m);
		suggest_target(m);
	}
	return status;
}

// Parts of a file are decisions of their own: one that is refused leaves a note, and the others are taken over.
static bool is_taken(struct importing *m, enum status s, const struct error *err)
{
	if (s != STATUS_OK)
		wish_note(&m->w, "%s", err->text);
	return s == STATUS_OK;
}

// Those that the study takes, which asks for more than the plan does.
static void keep_scales(struct importing *m, struct study *st)
{
	struct error err;
	int kept = 0;
	for (int i = 0; i < m->n_scales; i++)
		if (is_taken(m, study_check_scale(st, &m->scale[i], &err), &err))
			m->scale[kept++] = m->scale[i];
	m->n_scales = kept;
}

static enum status take_over(struct importing *m, struct study *st, struct error *err)
{
	struct import_report *r = &m->report;
	if (m->w.method >= 0 && m->w.method != (int)m->method) {
		if (study_set_method(st, (enum calib_method)m->w.method, err) != STATUS_OK)
			return err->status;
		r->method = true;
	}
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		enum precision p = widths[i];
		if (m->n_nodes[p] && is_taken(m, study_set(st, m->node[p], m->n_nodes[p], (int)p, NULL, err), err))
			r->precisions += m->n_nodes[p];
	}
	if (m->tuning && is_taken(m, study_take_tuning(st, m->tuning, err), err))
		r->weights = m->n_tuned;
	keep_scales(m, st);
	if (m->n_scales && is_taken(m, study_scales(st, m->scale, m->n_scales, err), err))
		r->scales = m->n_scales;
	for (int c = 0; c < CALIB_COUNT; c++)
		if (m->n_calibrated[c] && is_taken(m, study_set_calibrator(st, m->calibrated[c], m->n_calibrated[c], c, NULL, err), err))
			r->calibrators += m->n_calibrated[c];
	return STATUS_OK;
}

static void hand_report(struct import_report *r, struct importing *m)
{
	*r = m->report;
	r->n_notes = m->w.n_notes;
	r->notes = gather_lines(str_text(&m->report.notes));
	str_done(&m->report.notes);
	m->report = (struct import_report){0};
}

enum status import_end(struct import_report *r, struct importing *m, struct study *st, struct error *err)
{
	enum status status = STATUS_OK;
	int before;
	study_steps(st, &before);
	if (!edits_equal(study_edits(st), m->edits) || study_method(st) != m->method ||
	    strcmp(target_name(study_target(st)), target_name(m->target)) != 0)
		status = error_set(err, STATUS_REFUSED, "%s: not taken over, as something else was decided meanwhile: once more", m->path);
	if (status == STATUS_OK)
		status = take_over(m, st, err);
	study_join_steps(st, (size_t)before); // half of a file is no state that anybody had
	hand_report(r, m);
	return status;
}

void import_free(struct importing **mp)
{
	struct importing *m = *mp;
	*mp = NULL;
	if (!m)
		return;
	if (m->bare)
		wishes_done(&m->w);
	for (int p = 0; p < PREC_COUNT; p++)
		free(m->node[p]);
	for (int c = 0; c < CALIB_COUNT; c++)
		free(m->calibrated[c]);
	free(m->scale);
	if (m->bare)
		plan_free(&m->bare);
	if (m->p)
		plan_free(&m->p);
	if (m->cache)
		plan_cache_free(&m->cache);
	tuning_drop(&m->tuning);
	if (m->target)
		target_free(&m->target);
	import_report_done(&m->report);
	edits_free(&m->edits);
	free(m->path);
	free(m);
}

enum status import_file(struct import_report *r, struct study *st, const char *path, struct error *err)
{
	struct importing *m = NULL;
	struct snapshot *now = study_snapshot(st);
	*r = (struct import_report){0};
	enum status status = import_begin(&m, st, now, path, err);
	snapshot_drop(&now);
	if (status != STATUS_OK)
		return status;
	status = import_read(m, err);
	if (status == STATUS_OK)
		status = import_end(r, m, st, err);
	else
		hand_report(r, m);
	import_free(&m);
	return status;
}

void import_report_done(struct import_report *r)
{
	str_done(&r->notes);
	str_done(&r->advice);
	*r = (struct import_report){0};
}
