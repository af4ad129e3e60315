// What the tests of importers share: the demo model and what a file makes of it.
#ifndef TESTS_INTEROP_IMPORT_CASE_H
#define TESTS_INTEROP_IMPORT_CASE_H

#include "study_case.h"
#include "undo.h"
#include "qtui/interop/import.h"

#define SWISH "/model.0/act/Mul"
#define SPLIT "/model.12/Split"
#define SECOND SPLIT "_output_1"

static inline struct study *bare(void)
{
	return case_open(MODEL, NULL, "esp32p4");
}

static inline const char *file(const char *text)
{
	return support_temp_file("import.json", text, strlen(text));
}

// The report; its notes are the caller's.
static inline struct import_report take(struct study *st, const char *path)
{
	struct error err = {0};
	struct import_report r;
	if (import_file(&r, st, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return r;
}

// What is read for a target makes one note, which has these words; none where they are "". The caller closes the study.
static inline struct study *take_noted(const char *target, const char *text, const char *note)
{
	struct study *st = case_open(MODEL, NULL, target);
	struct import_report r = take(st, file(text));
	assert_has(&r.notes, note);
	if (r.n_notes != (note[0] != '\0'))
		fail_msg("%s: %s", text, str_text(&r.notes));
	import_report_done(&r);
	return st;
}

static inline int node(const struct study *st, const char *name)
{
	int n = graph_find_node(study_graph(st), name);
	assert_true(n >= 0);
	return n;
}

static inline int precision(const struct study *st, const char *name)
{
	return study_edits(st)->precision[node(st, name)];
}

static inline double scale(const struct study *st, const char *name)
{
	return study_edits(st)->scale[graph_output(study_graph(st), node(st, name))];
}

static inline int zero_point(const struct study *st, const char *name)
{
	return study_edits(st)->zero[graph_output(study_graph(st), node(st, name))];
}

static inline int steps(const struct study *st)
{
	int current;
	return study_steps(st, &current);
}

// A model that was exported, as a file.
static inline const char *saved(const struct str *model)
{
	return support_temp_file("quantized.onnx", str_text(model), model->len);
}

static inline struct snapshot *ran(struct study *st)
{
	struct error err = {0};
	study_run(st);
	if (study_wait(st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return study_snapshot(st);
}

// The next place at which an activation is rounded, from the i-th on; n_sites: there is none.
static inline int rounded_from(const struct snapshot *s, int i)
{
	while (i < s->n_sites && (s->site[i].kind == SITE_WEIGHT || s->site[i].bits == 0))
		i++;
	return i;
}

// The quantizers that act on activations.
static inline void assert_same_quantizers(const struct snapshot *want, const struct snapshot *got)
{
	int i = rounded_from(want, 0), k = rounded_from(got, 0);
	for (; i < want->n_sites && k < got->n_sites; i = rounded_from(want, i + 1), k = rounded_from(got, k + 1)) {
		const struct site *a = &want->site[i], *b = &got->site[k];
		assert_string_equal(want->g->value[a->value].name, got->g->value[b->value].name);
		if (a->bits != b->bits || (a->n_scale && (a->scale[0] != b->scale[0] || a->zero[0] != b->zero[0])))
			fail_msg("%s: %d bits, scale %g, zero %d instead of %d bits, scale %g, zero %d", want->g->value[a->value].name, b->bits,
			    (double)b->scale[0], (int)b->zero[0], a->bits, (double)a->scale[0], (int)a->zero[0]);
	}
	if (i < want->n_sites || k < got->n_sites)
		fail_msg("%s is rounded in one of them only", i < want->n_sites ? want->g->value[want->site[i].value].name
		                                                                  : got->g->value[got->site[k].value].name);
}

// The file is refused with an error that says why, and nothing has changed.
static inline void assert_refused(const char *text, const char *why)
{
	struct study *st = bare();
	struct error err = {0};
	struct import_report r;
	assert_int_not_equal(import_file(&r, st, file(text), &err), STATUS_OK);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
	assert_int_equal(steps(st), 0);
	import_report_done(&r);
	study_close(&st);
}

// A node in float, a Swish and a Conv at 16 bit, a scale: through the file of a tool that can say all or some of it.
static inline void assert_comes_back(const char *format, bool float_too, bool wide_too, bool scale_too)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = bare();
	case_set(st, SUB, PREC_FLOAT);
	case_set(st, STEM ".." SWISH, PREC_INT16);
	case_scale(st, CLASS_CONV, 0.0625);
	struct str text = case_export(st, format, NULL);
	const char *path = support_temp_file("round", str_text(&text), text.len);
	struct import_report r = take(again, path);
	assert_int_equal(precision(again, SUB), float_too ? PREC_FLOAT : -1);
	assert_int_equal(precision(again, STEM), wide_too ? PREC_INT16 : -1);
	assert_int_equal(precision(again, SWISH), wide_too ? PREC_INT16 : -1);
	assert_true(scale(again, CLASS_CONV) == (scale_too ? 0.0625 : 0));
	import_report_done(&r);
	str_done(&text);
	study_close(&again);
	study_close(&st);
}

#endif
