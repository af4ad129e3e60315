// Findings on the shipped model: each planted fault is found by name, with an edit that can be applied and undone.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/study/study_impl.h"
#include "qtui/analysis/findings.h"
#include "qtui/analysis/logits.h"
#include "qtui/analysis/story.h"
#include "qtui/base/mem.h"
#include "studies.h"

#define MODEL "examples/digits.onnx"
#define CALIB "examples/calib"
#define CLASS_CONV "/model.12/cv3.0/cv3.0.2/Conv"
#define BACKBONE_CONV "/model.12/cv3.1/cv3.1.1/cv3.1.1.0/conv/Conv"
#define TAIL "/model.12/Concat../model.12/Concat_4"
enum { SAMPLES = 8 };

static struct study *open_study(enum calib_method m, int samples, int random)
{
	return open_for_test((struct study_options){.model = MODEL,
	    .calib = random ? NULL : CALIB,
	    .target = "esp32p4",
	    .method = m,
	    .threads = 2,
	    .backend = BACKEND_ONEDNN,
	    .data = {.samples = samples, .random = random}});
}

static struct findings *find(struct study *st)
{
	struct error err = {0};
	study_run(st);
	if (study_wait(st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	struct snapshot *s = study_snapshot(st);
	struct findings *f = findings_take(s->findings);
	snapshot_drop(&s);
	return f;
}

static const struct finding *of_rule(const struct findings *f, enum finding_rule r)
{
	for (int i = 0; i < f->n; i++)
		if (f->at[i].rule == r)
			return &f->at[i];
	return NULL;
}

static void apply(struct study *st, const char *command)
{
	struct error err = {0};
	assert_non_null(command);
	if (study_command(st, command, &err) != STATUS_OK)
		fail_msg("%s: %s", command, err.text);
}

static void assert_sound(const struct finding *f, const struct graph *g)
{
	assert_non_null(f);
	assert_true(strlen(f->text) > 20);
	assert_non_null(f->advice);
	assert_true(f->n_evidence > 0);
	assert_true(isfinite(f->damage));
	for (int i = 0; i < f->n_evidence; i++)
		assert_true(isfinite(f->evidence[i].value));
	for (int i = 0; i < f->n_nodes; i++)
		assert_in_range(f->node[i], 0, g->n_nodes - 1);
}

// A box's coordinates may be well while all scores are lost: what the edit mends is the worst of them.
static void assert_worst_of_tail(const struct finding *post, const struct snapshot *s)
{
	for (int i = 0; i < post->n_nodes; i++) {
		const struct site *site = snapshot_output(s, post->node[i]);
		if (!strcmp(s->g->node[post->node[i]].op->name, "Sigmoid"))
			assert_true(post->damage >= fmin(site->layerwise.pooled.nsr, 1));
	}
}

void test_findings__the_tail_in_integers_is_found_and_mended(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	struct findings *f = find(st);
	const struct finding *post = of_rule(f, FINDING_postprocessing);
	struct snapshot *snap = study_snapshot(st);
	assert_sound(post, study_graph(st));
	assert_worst_of_tail(post, snap);
	snapshot_drop(&snap);
	assert_sound(of_rule(f, FINDING_joined_ranges), study_graph(st));
	assert_sound(of_rule(f, FINDING_coarse_logits), study_graph(st));
	assert_true(f->at[0].damage >= f->at[f->n - 1].damage);
	apply(st, post->edit);
	struct findings *mended = find(st);
	assert_null(of_rule(mended, FINDING_postprocessing));
	assert_null(of_rule(mended, FINDING_joined_ranges));
	assert_true(undoes(st));
	struct findings *again = find(st);
	assert_int_equal(again->n, f->n);
	findings_drop(&f);
	findings_drop(&mended);
	findings_drop(&again);
	study_close(&st);
}

// Where a joint requantizes its inputs the nodes' own figures are good, and yet all scores are lost:
// its edit is part of the other's.
void test_findings__the_tail_counts_what_its_joints_lose(void **state)
{
	struct study *st = open_for_test((struct study_options){
	    .model = MODEL, .calib = CALIB, .target = "xint8", .method = CALIB_MSE, .threads = 2, .data = {.samples = SAMPLES}});
	struct findings *f = find(st);
	const struct finding *post = of_rule(f, FINDING_postprocessing), *joined = of_rule(f, FINDING_joined_ranges);
	assert_sound(post, study_graph(st));
	assert_sound(joined, study_graph(st));
	assert_true(post->damage > joined->damage && post < joined); // its nodes make noise themselves
	findings_drop(&f);
	study_close(&st);
}

void test_findings__a_focused_logit_is_mended_by_its_own_edit(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	struct findings *f = find(st);
	apply(st, of_rule(f, FINDING_postprocessing)->edit);
	struct findings *freed = find(st);
	const struct finding *coarse = of_rule(freed, FINDING_coarse_logits);
	assert_sound(coarse, study_graph(st));
	assert_non_null(strstr(coarse->edit, "scale "));
	for (int i = 0; i < freed->n; i++)
		if (freed->at[i].rule == FINDING_coarse_logits)
			apply(st, freed->at[i].edit);
	struct findings *focused = find(st);
	assert_null(of_rule(focused, FINDING_coarse_logits));
	assert_null(of_rule(focused, FINDING_stale_override)); // a logit that clips far below zero is as it should be
	findings_drop(&f);
	findings_drop(&freed);
	findings_drop(&focused);
	study_close(&st);
}

// They clip nearly all of their values, far below zero: their own figures fall, what the Sigmoid sees of them does not.
void test_findings__clipped_logits_are_not_where_the_loss_arises(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	struct findings *f = find(st);
	apply(st, of_rule(f, FINDING_postprocessing)->edit);
	findings_drop(&f);
	struct snapshot *before = run_study(st);
	int node = graph_find_node(study_graph(st), CLASS_CONV);
	const struct site *s = snapshot_output(before, node);
	double behind, coarse = logits_predict(before, s, 0.25);
	assert_false(logits_hide(before, s, &behind));
	apply(st, "scale " CLASS_CONV " 2^-4");
	struct snapshot *after = run_study(st);
	s = snapshot_output(after, node);
	assert_true(figures_snr(&s->layerwise) < 10);
	assert_true(logits_hide(after, s, &behind));
	assert_true(behind > coarse + 3);
	assert_true(logits_predict(after, s, 0.015625) < 10); // logits above zero are clipped
	struct story *told = story_new(after, NULL);
	for (int i = 0; i < told->n; i++)
		assert_null(strstr(told->at[i].text, CLASS_CONV));
	story_drop(&told);
	s = snapshot_output(after, graph_find_node(study_graph(st), "/model.0/conv/Conv"));
	assert_true(isnan(logits_predict(after, s, 0.25))); // its Sigmoid is a gate
	snapshot_drop(&before);
	snapshot_drop(&after);
	study_close(&st);
}

// Its tensor alone would speak against it.
void test_findings__a_scale_that_a_repair_kept_is_not_stale(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	apply(st, "scale " BACKBONE_CONV " 2^-9");
	repair_memo_vouch(st->repairs, study_dataset(st), "esp32p4", BACKBONE_CONV, ldexp(1, -9));
	struct findings *f = find(st);
	assert_null(of_rule(f, FINDING_stale_override));
	int node = graph_find_node(study_graph(st), BACKBONE_CONV);
	for (int i = 0; i < f->n; i++) // nor does another rule advise to go back
		assert_false(f->at[i].rule == FINDING_saturation && f->at[i].node[0] == node);
	findings_drop(&f);
	study_close(&st);
}

// Also when the session is opened another day, but not by another version of the program, which may measure otherwise.
void test_findings__what_a_repair_vouches_for_is_kept_with_the_session(void **state)
{
	for (int other = 0; other < 2; other++) {
		struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0), *again = open_study(CALIB_MINMAX, SAMPLES, 0);
		repair_memo_vouch(st->repairs, study_dataset(st), "esp32p4", BACKBONE_CONV, ldexp(1, -9));
		struct error err = {0};
		struct results_save *save = results_save_begin(st);
		cJSON *kept = results_save_end(&save);
		if (other)
			cJSON_ReplaceItemInObjectCaseSensitive(kept, "program", cJSON_CreateString("another"));
		study_load_results(again, kept); // which takes it over, and reads it behind the run
		assert_int_equal(study_wait(again, &err), STATUS_OK);
		assert_int_equal(repair_memo_vouches(again->repairs, study_dataset(again), "esp32p4", BACKBONE_CONV, ldexp(1, -9)), !other);
		assert_false(repair_memo_vouches(again->repairs, study_dataset(again), "esp32p4", BACKBONE_CONV, ldexp(1, -8)));
		study_close(&st);
		study_close(&again);
	}
}

void test_findings__going_back_finds_nothing_anew(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	struct findings *first = find(st);
	apply(st, "scale " BACKBONE_CONV " 2^-9");
	struct findings *edited = find(st);
	assert_ptr_not_equal(first, edited);
	assert_true(undoes(st));
	struct findings *back = find(st);
	assert_ptr_equal(first, back);
	repair_memo_vouch(st->repairs, study_dataset(st), "esp32p4", BACKBONE_CONV, ldexp(1, -9));
	assert_true(redoes(st));
	struct findings *vouched = find(st);
	assert_non_null(of_rule(edited, FINDING_stale_override));
	assert_null(of_rule(vouched, FINDING_stale_override)); // those of before the repair hold no longer
	findings_drop(&first);
	findings_drop(&edited);
	findings_drop(&back);
	findings_drop(&vouched);
	study_close(&st);
}

void test_findings__whoever_stops_a_run_stops_the_search(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	struct findings *f = find(st);
	struct snapshot *s = study_snapshot(st);
	study_cancel(st);
	assert_null(findings_new(st, s));
	struct findings *again = find(st);
	assert_ptr_equal(f, again);
	findings_drop(&f);
	findings_drop(&again);
	snapshot_drop(&s);
	study_close(&st);
}

void test_findings__an_override_that_does_not_fit(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	apply(st, "scale " BACKBONE_CONV " 2^-9");
	struct findings *f = find(st);
	const struct finding *stale = of_rule(f, FINDING_stale_override);
	assert_sound(stale, study_graph(st));
	assert_string_equal(stale->edit, "scale " BACKBONE_CONV " 2^-4");
	assert_true(stale->gain_db > 3);
	apply(st, stale->edit);
	struct findings *mended = find(st);
	assert_null(of_rule(mended, FINDING_stale_override));
	findings_drop(&f);
	findings_drop(&mended);
	study_close(&st);
}

void test_findings__a_lonely_16_bit_node(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	apply(st, "set " BACKBONE_CONV " int16");
	struct findings *f = find(st);
	const struct finding *lonely = of_rule(f, FINDING_lonely_16);
	assert_sound(lonely, study_graph(st));
	assert_int_equal(lonely->node[0], graph_find_node(study_graph(st), BACKBONE_CONV));
	findings_drop(&f);
	study_close(&st);
}

// Nothing in front of the first Conv can be widened, which reads the image: those who read it can.
void test_findings__a_lonely_16_bit_node_that_reads_the_input(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	apply(st, "set /model.0/conv/Conv int16");
	struct findings *f = find(st);
	const struct finding *lonely = of_rule(f, FINDING_lonely_16);
	assert_sound(lonely, study_graph(st));
	assert_string_equal(lonely->edit, "set /model.0/act/Sigmoid /model.0/act/Mul int16");
	apply(st, lonely->edit);
	struct findings *mended = find(st);
	assert_null(of_rule(mended, FINDING_lonely_16));
	findings_drop(&mended);
	findings_drop(&f);
	study_close(&st);
}

// On esp32p4 what an Add reads is put on its scale: at 8 bit little is left of it.
void test_findings__what_follows_16_bit_with_8(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	apply(st, "set /model.2/Add int16");
	struct findings *f = find(st);
	const struct finding *squeezed = of_rule(f, FINDING_lonely_16);
	assert_sound(squeezed, study_graph(st));
	assert_int_equal(squeezed->node[0], graph_find_node(study_graph(st), "/model.2/Add"));
	assert_int_equal(squeezed->n_nodes, 2);
	assert_true(squeezed->damage > 0.5);
	assert_non_null(strstr(squeezed->text, "/model.2/cv2/act/Mul_output_0"));
	assert_string_equal(squeezed->edit, "set /model.2/cv2/act/Mul int16");
	apply(st, squeezed->edit);
	struct findings *mended = find(st);
	const struct finding *left = of_rule(mended, FINDING_lonely_16);
	assert_true(!left || left->damage < 0.01);
	findings_drop(&f);
	findings_drop(&mended);
	study_close(&st);
}

// Where what follows the node is at 16 bit as far as it can be, nothing is proposed but to take it back.
void test_findings__what_follows_16_bit_and_cannot_be_widened(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	apply(st, "set /model.2/Add int16");
	struct findings *f = find(st);
	const struct finding *squeezed = of_rule(f, FINDING_lonely_16);
	assert_non_null(strstr(squeezed->advice, "give 16 bit to what takes its scale, too"));
	findings_drop(&f);
	struct snapshot *s = study_snapshot(st), wide = *s;
	struct node_row *row = xcalloc((size_t)s->n_rows, sizeof *row);
	memcpy(row, s->row, (size_t)s->n_rows * sizeof *row);
	wide.row = row;
	for (int i = 0; i < s->n_rows; i++)
		row[i].precision = PREC_INT16;
	f = findings_new(NULL, &wide);
	squeezed = of_rule(f, FINDING_lonely_16);
	assert_sound(squeezed, s->g);
	assert_null(squeezed->edit);
	assert_string_equal(squeezed->advice, "take it back to 8 bit");
	findings_drop(&f);
	free(row);
	snapshot_drop(&s);
	study_close(&st);
}

void test_findings__few_and_random_samples(void **state)
{
	struct study *few = open_study(CALIB_MINMAX, 2, 0), *random = open_study(CALIB_MINMAX, 8, 8), *enough = open_study(CALIB_MINMAX, 8, 0);
	struct findings *a = find(few), *b = find(random), *c = find(enough);
	assert_sound(of_rule(a, FINDING_few_samples), study_graph(few));
	assert_non_null(strstr(of_rule(a, FINDING_few_samples)->text, "2 samples"));
	assert_string_equal(of_rule(a, FINDING_few_samples)->edit, "samples 32");
	assert_non_null(strstr(of_rule(b, FINDING_few_samples)->text, "random"));
	assert_null(of_rule(b, FINDING_few_samples)->edit);
	assert_null(of_rule(c, FINDING_few_samples));
	findings_drop(&a);
	findings_drop(&b);
	findings_drop(&c);
	study_close(&few);
	study_close(&random);
	study_close(&enough);
}

void test_findings__a_snapshot_without_figures_supports_none(void **state)
{
	struct study *st = open_study(CALIB_MINMAX, SAMPLES, 0);
	struct snapshot *s = study_snapshot(st);
	struct findings *f = findings_new(NULL, s);
	assert_int_equal(f->n, 0);
	findings_drop(&f);
	snapshot_drop(&s);
	study_close(&st);
}
