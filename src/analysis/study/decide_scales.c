// Decisions about scales of tensors: whether they can be taken, and the step that they become.
#include <math.h>
#include <stdlib.h>
#include "qtui/base/str.h"
#include "study_impl.h"

void study_add_scale(struct str *out, const struct graph *g, int value, double scale, int32_t zero)
{
	enum { EXACT = 9 }; // digits: a float is read back as it was
	const char *name = graph_output_name(g, value);
	bool alike = graph_goes_by_own_name(g, value) && (graph_find_node(g, name) >= 0 || str_has_prefix(name, STUDY_TENSOR));
	char text[SCALE_TEXT];
	str_addf(out, " %s", alike ? STUDY_TENSOR : "");
	study_add_word(out, name);
	str_addf(out, " %s", scale == 0 ? "auto" : scale_text(text, scale, EXACT));
	if (scale != 0 && zero != ZERO_FOLLOWS)
		str_addf(out, ",%d", (int)zero);
}

// Its maker, or one who reads it, is set to 16 bits.
static bool may_be_wide(const struct study *s, int value)
{
	const signed char *precision = study_edits(s)->precision;
	const struct value *v = &s->g->value[value];
	bool wide = v->producer >= 0 && precision[v->producer] == PREC_INT16;
	for (int i = 0; i < v->n_consumers; i++)
		wide |= precision[v->consumer[i]] == PREC_INT16;
	return wide;
}

enum status study_check_scale(struct study *s, const struct scale_edit *e, struct error *err)
{
	if (e->scale == 0)
		return STATUS_OK;
	if (!isfinite(e->scale) || e->scale < 0x1p-60 || e->scale > 0x1p60)
		return error_set(err, STATUS_REFUSED, "%s: a scale is a number from 2^-60 to 2^60, like 2^-4 or 0.0625",
		    graph_output_name(s->g, e->value));
	bool wide = may_be_wide(s, e->value);
	struct error ignored;
	enum status st = plan_check_scale(refusals_bare(s), e->value, e->scale, e->zero, wide, err);
	if (st == STATUS_OK)
		return st;
	return plan_check_scale(refusals_edited(s), e->value, e->scale, e->zero, wide, &ignored) == STATUS_OK ? STATUS_OK : st;
}

enum status study_scales(struct study *s, const struct scale_edit *e, int n, struct error *err)
{
	struct str text = {0};
	enum status st = STATUS_OK;
	bool any = false;
	for (int i = 0; i < n && st == STATUS_OK; i++) {
		st = study_check_scale(s, &e[i], err);
		any |= study_edits(s)->scale[e[i].value] != e[i].scale || study_edits(s)->zero[e[i].value] != e[i].zero;
	}
	if (st != STATUS_OK)
		return st;
	if (!any)
		return study_nothing_changed(err, "the scale is set so already");
	str_add(&text, "scale");
	for (int i = 0; i < n; i++)
		study_add_scale(&text, s->g, e[i].value, e[i].scale, e[i].zero);
	struct decision *d = decision_begin(s, str_detach(&text));
	for (int i = 0; i < n; i++)
		edits_give_scale(d->edits, e[i].value, e[i].scale, e[i].zero);
	decision_commit(s);
	return STATUS_OK;
}

enum status study_scale_all(struct study *s, const int *values, int n, double scale, int32_t zero, int *refused, struct error *err)
{
	struct scale_edit *e = xcalloc((size_t)n + 1, sizeof *e);
	const char **name = xcalloc((size_t)n + 1, sizeof *name); // of those refused
	enum status st = STATUS_OK;
	int kept = 0;
	*refused = 0;
	for (int i = 0; i < n; i++) {
		e[kept] = (struct scale_edit){values[i], scale, zero};
		enum status one = refusals_inside(s, values[i], err);
		if (one == STATUS_OK)
			one = study_check_scale(s, &e[kept], err);
		if (one == STATUS_OK)
			kept++;
		else
			name[(*refused)++] = graph_output_name(s->g, values[i]), st = one;
	}
	if (*refused > 1)
		refusals_name_others(err, name, *refused - 1); // err has the reason of the last
	free(name);
	if (kept > 0)
		st = study_scales(s, e, kept, err);
	free(e);
	return st;
}
