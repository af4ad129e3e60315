// The shipped detector as a patient: what is found where a fault was planted, and what mends it.
#ifndef TESTS_ANALYSIS_PLANTED_CASE_H
#define TESTS_ANALYSIS_PLANTED_CASE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "studies.h"
#include "qtui/analysis/findings.h"
#include "qtui/analysis/survey.h"

#define MODEL "examples/digits.onnx"
#define CALIB "examples/calib"
#define TAIL "/model.12/Concat../model.12/Concat_4"

static const struct preprocess healthy;
enum { SAMPLES = 8 };

struct patient {
	struct study *study;
	struct snapshot *snapshot;
	const struct findings *findings; // the snapshot's
};

// ---- the patient

static inline void set(struct study *st, const char *selection, enum precision p)
{
	struct error err = {0};
	int *nodes = NULL, n = 0;
	if (study_select(st, selection, NULL, &nodes, &n, &err) != STATUS_OK || study_set(st, nodes, n, (int)p, NULL, &err) != STATUS_OK)
		fail_msg("%s: %s", selection, err.text);
	free(nodes);
}

static inline struct study *open_study(const char *model, const char *calib, const char *target, int method, struct preprocess pre)
{
	return open_for_test((struct study_options){.model = model, .calib = calib, .target = target, .method = method, .threads = 2,
	    .backend = BACKEND_ONEDNN, .data = {.samples = SAMPLES, .pre = pre}});
}

// What takes away more for its cost stands in front, also where it is many scales in one.
static inline void assert_ranked(const struct findings *f)
{
	for (int i = 1; i < f->n; i++)
		if (f->at[i].worth > f->at[i - 1].worth)
			fail_msg("%s with %g behind %s with %g", finding_name(f->at[i].rule), f->at[i].worth,
			    finding_name(f->at[i - 1].rule), f->at[i - 1].worth);
}

// What the study shows when it has nothing more to do.
static inline void see(struct patient *p)
{
	struct error err = {0};
	if (study_wait(p->study, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	snapshot_drop(&p->snapshot);
	p->snapshot = study_snapshot(p->study);
	p->findings = p->snapshot->findings;
	assert_ranked(p->findings);
}

static inline void look(struct patient *p)
{
	study_run(p->study);
	see(p);
}

// With its post-processing in float, where the demo's own faults are.
static inline struct patient examine(const char *model, const char *calib, const char *target, int method)
{
	struct patient p = {.study = open_study(model, calib, target, method, healthy)};
	set(p.study, TAIL, PREC_FLOAT);
	look(&p);
	return p;
}

static inline void release(struct patient *p)
{
	snapshot_drop(&p->snapshot);
	study_close(&p->study);
}

static inline void note_progress(void *told, double progress)
{
	assert_true(progress > 0 && progress <= 1);
	atomic_fetch_add((atomic_int *)told, 1);
}

static inline void survey(struct patient *p, const char *eval, const char *labels, int samples)
{
	struct error err = {0};
	struct survey *v = NULL;
	atomic_int told = 0;
	struct survey_options o = {
	    .eval = eval, .samples = samples, .task = {.kind = -1, .labels = labels}, .tell = note_progress, .arg = &told};
	if (survey_new(&v, p->study, p->snapshot, &o, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	study_set_survey(p->study, v);
	assert_true(told >= 5 * v->preparation.ways); // many times within each of its checks
	see(p);
}

// ---- what is asserted

static inline const struct finding *of_rule(const struct findings *f, enum finding_rule r, int within)
{
	for (int i = 0; i < f->n && i < within; i++)
		if (f->at[i].rule == r)
			return &f->at[i];
	return NULL;
}

static inline double snr_at(const struct patient *p, const char *node)
{
	const struct site *s = snapshot_output(p->snapshot, graph_find_node(study_graph(p->study), node));
	assert_non_null(s);
	assert_true(s->graphwise.known);
	return s->graphwise.pooled.exact ? INFINITY : s->graphwise.pooled.snr_db;
}

static inline double snr_alone(const struct patient *p, const char *node)
{
	const struct site *s = snapshot_output(p->snapshot, graph_find_node(study_graph(p->study), node));
	assert_non_null(s);
	assert_true(s->layerwise.known);
	return s->layerwise.pooled.snr_db;
}

static inline void assert_none(const struct findings *f)
{
	for (int i = 0; i < f->n; i++)
		print_message("%s: %s\n", finding_name(f->at[i].rule), f->at[i].text);
	assert_int_equal(f->n, 0);
}

// The first finding is `rule`, about `node`.
static inline const struct finding *assert_first(const struct patient *p, enum finding_rule rule, const char *node)
{
	const struct findings *f = p->findings;
	assert_true(f->n > 0);
	assert_string_equal(finding_name(f->at[0].rule), finding_name(rule));
	if (node)
		assert_string_equal(study_graph(p->study)->node[f->at[0].node[0]].name, node);
	assert_true(f->at[0].n_evidence > 1);
	return &f->at[0];
}

// Applies the first finding's edit: it is gone, and the SNR at `node` is better by at least `gain` dB.
static inline void assert_mended(struct patient *p, const char *node, double gain)
{
	struct error err = {0};
	enum finding_rule rule = p->findings->at[0].rule;
	double before = snr_at(p, node);
	assert_non_null(p->findings->at[0].edit);
	if (study_command(p->study, p->findings->at[0].edit, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	look(p);
	assert_null(of_rule(p->findings, rule, INT32_MAX));
	if (!(snr_at(p, node) > before + gain))
		fail_msg("%s has %.1f dB, before %.1f dB", node, snr_at(p, node), before);
	assert_true(undoes(p->study));
}

#endif
