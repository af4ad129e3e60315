// The story of the shipped detector's loss: in order, with the causes that its findings name, and the same in reports.
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/report.h"
#include "qtui/analysis/story.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "qtui/engine/op.h"
#include "studies.h"

static struct study *open_study(const char *target)
{
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = target,
	    .method = CALIB_PERCENTILE, .threads = 2, .memory = (size_t)512 << 20, .data = {.samples = 8}, .task = {.none = true}});
	wait_for_run(st);
	return st;
}

static bool tells(const struct story *s, enum story_part part, const char *what)
{
	for (int i = 0; i < s->n; i++)
		if (s->at[i].part == part && strstr(s->at[i].text, what))
			return true;
	return false;
}

void test_story__is_told_in_order(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct findings *f = findings_take(snap->findings);
	struct story *s = story_new(snap, f);
	int chapter = 0;
	assert_true(f->n > 0);
	assert_int_equal(s->at[0].part, STORY_LOSS);
	assert_true(tells(s, STORY_LOSS, "output0"));
	assert_true(tells(s, STORY_WHERE, "By the figures"));
	assert_true(tells(s, STORY_WHERE, "/model.12/Sigmoid "));
	assert_true(tells(s, STORY_CAUSE, f->at[0].text));
	for (int i = 0; i < s->n; i++) // of the same whole as what remedies take away
		if (s->at[i].part == STORY_WHERE && s->at[i].node == f->at[0].node[0])
			assert_true(
			    atof(strrchr(s->at[i].text, ':') + 2 + strlen(snap->g->node[s->at[i].node].name)) <= 100 * f->at[0].share + 0.5);
	assert_true(tells(s, STORY_REMEDY, f->at[0].advice));
	assert_int_equal(s->at[s->n - 1].part, STORY_NEXT);
	for (int i = 0; i < s->n; i++) {
		if (s->at[i].chapter) {
			assert_true(s->at[i].chapter == chapter || (s->at[i].chapter == chapter + 1 && s->at[i].part == STORY_CAUSE));
			chapter = s->at[i].chapter;
			assert_int_equal(s->at[i].finding, chapter - 1);
		}
		assert_true(i == 0 || s->at[i].chapter || s->at[i].part >= s->at[i - 1].part || s->at[i - 1].chapter);
	}
	assert_true(chapter > 0);
	story_drop(&s);
	assert_null(s);
	findings_drop(&f);
	snapshot_drop(&snap);
	study_close(&st);
}

// The shares of a "where": "..., of all noise that nodes make alone: A 53 %, B 5.3 %."
static double sum_of_shares(const struct story *s)
{
	double sum = 0;
	for (int i = 0; i < s->n; i++)
		for (const char *p = s->at[i].text; s->at[i].part == STORY_WHERE && (p = strstr(p, " %")); p++) {
			const char *number = p;
			while (number[-1] != ' ')
				number--;
			sum += atof(number);
		}
	return sum;
}

static void expect_place(const char *target, const char *told, const char *untold)
{
	struct study *st = open_study(target);
	struct snapshot *snap = study_snapshot(st);
	struct findings *f = findings_take(snap->findings);
	struct story *s = story_new(snap, f);
	assert_true(tells(s, STORY_CAUSE, "/model.12/Concat_4 puts /model.12/Sigmoid_output_0"));
	assert_true(tells(s, STORY_WHERE, told));
	assert_false(tells(s, STORY_WHERE, untold));
	assert_true(sum_of_shares(s) > 0 && sum_of_shares(s) < 100.5);
	story_drop(&s);
	findings_drop(&f);
	snapshot_drop(&snap);
	study_close(&st);
}

// What a joint takes from the scores is told once: of the Sigmoid where that lies on
// the joint's grid, else of the joint.
void test_story__noise_of_a_joint_is_told_once(void **state)
{
	expect_place("esp32p4", "alone: /model.12/Sigmoid ", "/model.12/Concat_4 ");
	expect_place("onnxruntime", "alone: /model.12/Concat_4 ", "/model.12/Sigmoid ");
}

// A model of which only a part is understood may have no node that a target quantizes: nothing is to be repaired.
void test_story__nothing_is_quantized(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st), none = *snap;
	struct finding one = {.rule = FINDING_few_samples, .text = "text", .advice = "advice", .gain_db = NAN, .share = NAN, .reach = NAN};
	struct findings f = {.at = &one, .n = 1};
	struct figures unknown = {0};
	none.n_sites = 0;
	none.output = &unknown;
	struct story *s = story_new(&none, &f);
	assert_true(tells(s, STORY_LOSS, "Nothing is quantized"));
	assert_false(tells(s, STORY_NEXT, ":fix"));
	story_drop(&s);
	s = story_new(snap, &f);
	assert_false(tells(s, STORY_LOSS, "Nothing is quantized"));
	assert_true(tells(s, STORY_NEXT, ":fix"));
	story_drop(&s);
	snapshot_drop(&snap);
	study_close(&st);
}

// Where more bits are not to be had, the weights are what can be changed.
void test_story__proposes_weights_where_there_are_8_bits_only(void **state)
{
	static const struct {
		const char *target;
		bool proposed;
	} row[] = {{"esp32p4", false}, {"xint8", true}, {"fp16", false}};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = open_study(row[i].target);
		struct snapshot *snap = study_snapshot(st);
		struct finding one = {.rule = FINDING_few_samples, .text = "text", .advice = "advice", .gain_db = NAN, .share = NAN, .reach = NAN};
		struct story *s = story_new(snap, &(struct findings){.at = &one, .n = 1});
		assert_true(tells(s, STORY_NEXT, ":fix"));
		assert_int_equal(tells(s, STORY_NEXT, ":tune"), row[i].proposed);
		story_drop(&s);
		snapshot_drop(&snap);
		study_close(&st);
	}
}

// Weights that stand in for the model's own already are not proposed again.
void test_story__proposes_no_weights_once_they_are_tuned(void **state)
{
	struct study *st = open_study("xint8");
	const struct graph *g = study_graph(st);
	struct tuned one = {0};
	struct error err = {0};
	while (g->node[one.node].op->id != OP_Conv)
		one.node++;
	const struct tensor *own = g->value[g->node[one.node].in[1]].constant;
	one.weight = (struct tensor){.type = own->type, .shape = own->shape};
	assert_int_equal(tensor_alloc(&one.weight, NULL, &err), STATUS_OK);
	for (int64_t i = 0; i < tensor_count(own); i++)
		((float *)one.weight.data)[i] = .5F * ((const float *)own->data)[i];
	one.weight_key = key_of(one.weight.data, (size_t)tensor_count(own) * sizeof(float));
	struct tuning *t = tuning_new();
	tuning_put(t, &one);
	assert_int_equal(study_take_tuning(st, t, &err), STATUS_OK);
	tuning_drop(&t);
	struct finding found = {.rule = FINDING_few_samples, .text = "text", .advice = "advice", .gain_db = NAN, .share = NAN, .reach = NAN};
	for (int undone = 0; undone < 2; undone++) {
		wait_for_run(st);
		struct snapshot *snap = study_snapshot(st);
		struct story *s = story_new(snap, &(struct findings){.at = &found, .n = 1});
		assert_true(tells(s, STORY_NEXT, ":fix"));
		assert_int_equal(tells(s, STORY_NEXT, ":tune"), undone);
		story_drop(&s);
		snapshot_drop(&snap);
		assert_true(undoes(st) == !undone);
	}
	study_close(&st);
}

// An output that is not a number is the worst, and is not given in decibels.
void test_story__an_output_without_finite_numbers(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st), bad = *snap;
	struct findings *f = findings_take(snap->findings);
	struct figures output[2] = {snap->output[0], snap->output[0]};
	output[1].pooled.snr_db = output[1].pooled.mse = NAN;
	bad.output = output;
	bad.n_outputs = 2;
	bad.g = &(struct graph){.n_nodes = snap->g->n_nodes, .node = snap->g->node, .n_values = snap->g->n_values, .value = snap->g->value,
	    .output = (int[]){snap->g->output[0], snap->g->output[0]}, .n_outputs = 2};
	struct story *s = story_new(&bad, f);
	assert_true(tells(s, STORY_LOSS, "output0 is not made of finite numbers"));
	assert_false(tells(s, STORY_LOSS, "nan"));
	story_drop(&s);
	output[1].pooled.mse = 0.25; // noise on zeros has no decibels either
	output[1].pooled.max_error = 0.5;
	s = story_new(&bad, f);
	assert_true(tells(s, STORY_LOSS, "output0 is zero in the float network, so that it has no SNR: quantized it is off by up to 0.5"));
	story_drop(&s);
	findings_drop(&f);
	snapshot_drop(&snap);
	study_close(&st);
}

// The detector with an ArgMax in place of its last Concat: the output is told by what that reads.
void test_story__an_output_behind_a_selection(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st), selecting = *snap;
	struct graph g = *snap->g;
	struct node *node = xcalloc((size_t)g.n_nodes, sizeof *node);
	struct figures unknown = {0};
	memcpy(node, g.node, (size_t)g.n_nodes * sizeof *node);
	node[g.value[g.output[0]].producer].op = op_find("", "ArgMax", 13);
	g.node = node;
	selecting.g = &g;
	struct story *s = story_new(&selecting, NULL);
	assert_true(tells(s, STORY_LOSS, "The worst output, output0"));
	assert_true(
	    tells(s, STORY_LOSS, "which SNR takes for noise. Go by what is selected from: the worst of that, /model.12/Sigmoid_output_0, has"));
	story_drop(&s);
	selecting.output = &unknown;
	s = story_new(&selecting, NULL);
	assert_true(tells(s, STORY_LOSS, "No output has an SNR: they hold integers, or are made from tensors whose number of elements is known only"));
	assert_true(tells(s, STORY_LOSS, "/model.12/Sigmoid_output_0"));
	assert_true(tells(s, STORY_NEXT, ":fix snr>25"));
	story_drop(&s);
	free(node);
	snapshot_drop(&snap);
	study_close(&st);
}

// The outputs count where nothing else has figures: what makes them may compute in float.
void test_story__figures_fall_at_an_output(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st), bad = *snap;
	struct figures output = snap->output[0];
	char what[128];
	output.pooled.snr_db = -10;
	bad.output = &output;
	struct story *s = story_new(&bad, NULL);
	snprintf(what, sizeof what, "The figures fall most at %s: ", snap->g->node[snap->g->value[snap->g->output[0]].producer].name);
	assert_true(tells(s, STORY_WHERE, what));
	assert_true(tells(s, STORY_WHERE, " -10.0 dB behind it"));
	story_drop(&s);
	snapshot_drop(&snap);
	study_close(&st);
}

// Of a node with several outputs, what is told alone is that of the output at which they fall.
void test_story__figures_fall_at_a_further_output(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st), bad = *snap;
	struct site *sites = xcalloc((size_t)snap->n_sites, sizeof *sites), *further = NULL;
	char where[200];
	memcpy(sites, snap->site, (size_t)snap->n_sites * sizeof *sites);
	for (int i = 0; i < snap->n_sites; i++)
		if (sites[i].kind == SITE_OUTPUT && graph_is_further(snap->g, sites[i].value))
			further = &sites[i];
	assert_non_null(further);
	further->graphwise.pooled.snr_db = -20;
	further->graphwise.pooled.exact = further->layerwise.pooled.exact = false;
	further->layerwise.pooled.snr_db = 33;
	bad.site = sites;
	struct story *s = story_new(&bad, NULL);
	snprintf(where, sizeof where, "The figures fall most at %s, tensor %s: ", snap->g->node[further->node].name,
	    snap->g->value[further->value].name);
	assert_true(tells(s, STORY_WHERE, where));
	assert_true(tells(s, STORY_WHERE, " -20.0 dB behind it; alone it has 33.0 dB"));
	story_drop(&s);
	free(sites);
	snapshot_drop(&snap);
	study_close(&st);
}

static void expect_remedy(const struct snapshot *snap, const char *edit, const char *told)
{
	struct finding one = {.text = "text", .advice = "advice", .edit = (char *)edit, .gain_db = NAN, .share = NAN, .reach = NAN};
	struct findings f = {.at = &one, .n = 1};
	struct story *s = story_new(snap, &f);
	if (!tells(s, STORY_REMEDY, told))
		fail_msg("%s is not told as %s", edit, told);
	story_drop(&s);
}

// A long edit is cut between nodes, and says of how many and what is done with them.
void test_story__long_edits_are_shortened(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct str set = {0}, scale = {0};
	for (int i = 0; i < 40; i++) {
		str_addf(&set, "%s /a\\ name/%02d", i ? "" : "set", i);
		str_addf(&scale, "%s /node/%02d 2^-4", i ? "" : "scale", i);
	}
	str_add(&set, " float");
	expect_remedy(snap, "set /a /b float", "advice. Edit: :set /a /b float");
	expect_remedy(snap, "scale /a 2^-4", "advice. Edit: :scale /a 2^-4");
	expect_remedy(snap, str_text(&set), " /a\\ name/08 and 31 more float");
	expect_remedy(snap, str_text(&scale), " /node/07 2^-4 and 32 more");
	str_done(&set);
	str_done(&scale);
	snapshot_drop(&snap);
	study_close(&st);
}

// Blame, where it has run, says where instead of the nodes' own noise, and what is gained.
void test_story__says_what_was_measured(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct findings *f = findings_take(snap->findings);
	const int node = f->at[0].node[0];
	struct blame one = {.node = node, .last_node = node, .value = -1, .parts = 1, .alone = 0.04, .score_loss = 0.11,
	    .in_float = {0.03, 2, 0.09}, .in_wide = {0.02, 1, 0.07}, .wide = 0.012};
	int *of_node = calloc((size_t)snap->g->n_nodes + 1, sizeof *of_node);
	struct blames b = {.refs = 2, .decision = snap->decision, .at = &one, .n = 1, .of_node = of_node, .n_nodes = snap->g->n_nodes,
	    .total = 0.05, .task = "AP"};
	for (int i = 0; i < snap->g->n_nodes; i++)
		of_node[i] = i == node ? 0 : -1;
	snap->blames = &b;
	snap->blames_old = false;
	struct story *s = story_new(snap, f);
	assert_true(tells(s, STORY_WHERE, "alone 0.0400 and 0.110 of the mAP"));
	assert_false(tells(s, STORY_WHERE, "By the figures"));
	assert_true(tells(s, STORY_GAIN, "gains +0.070 mAP at 16 bit, +0.090 in float, for 1.20 % of the MACs"));
	assert_false(tells(s, STORY_NEXT, ":blame"));
	story_drop(&s);
	// Several that ruin the result by themselves: mending one gains nothing, which is not what its remedy is worth.
	one.in_float.damage = one.in_wide.damage = 0.0001;
	s = story_new(snap, f);
	assert_true(tells(s, STORY_GAIN, "alone does 0.0400 of 0.0500 damage, yet mending only it saves nothing"));
	assert_false(tells(s, STORY_GAIN, "at 16 bit"));
	story_drop(&s);
	// Of the state before an edit: where it was, but not what mending gains now.
	snap->blames_old = true;
	s = story_new(snap, f);
	assert_true(tells(s, STORY_WHERE, "Measured (blame of an earlier state)") && tells(s, STORY_WHERE, "By the figures"));
	assert_false(tells(s, STORY_GAIN, "Measured"));
	assert_true(tells(s, STORY_NEXT, ":blame"));
	story_drop(&s);
	snap->blames_old = false;
	// Without labels by damage; a ranking of fewer nodes than there are says nothing of the others.
	one.in_wide = (struct blame_gain){0.02, 1, NAN};
	s = story_new(snap, f);
	assert_true(tells(s, STORY_GAIN, "at 16 bit saves 0.0200 of 0.0500 damage, in float 0.0001, for 1.20 % of the MACs"));
	story_drop(&s);
	b.n_nodes = node;
	s = story_new(snap, f);
	assert_false(tells(s, STORY_GAIN, "Measured"));
	story_drop(&s);
	snap->blames = NULL;
	free(of_node);
	findings_drop(&f);
	snapshot_drop(&snap);
	study_close(&st);
}

// What only moves elements that are quantized already makes no noise, although it has its producer's figure.
void test_story__movers_are_not_blamed(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct site *mover = NULL;
	for (int i = 0; i < snap->n_sites && !mover; i++)
		if (snap->site[i].kind == SITE_OUTPUT && snap->site[i].state == SLOT_OVERLAPPED &&
		    (snap->g->node[snap->site[i].node].op->flags & OPF_MOVES))
			mover = &snap->site[i];
	assert_non_null(mover);
	struct figures own = mover->layerwise;
	mover->layerwise = (struct figures){.known = 1, .pooled = {.nsr = 1}};
	struct story *s = story_new(snap, snap->findings);
	assert_false(tells(s, STORY_WHERE, snap->g->node[mover->node].name));
	story_drop(&s);
	mover->state = SLOT_ACTIVE;
	s = story_new(snap, snap->findings);
	assert_true(tells(s, STORY_WHERE, snap->g->node[mover->node].name));
	story_drop(&s);
	mover->state = SLOT_OVERLAPPED;
	mover->layerwise = own;
	snapshot_drop(&snap);
	study_close(&st);
}

// The screen reads it and computes nothing: it comes with the snapshot, and anew when a repair has measured something.
void test_story__comes_with_the_snapshot(void **state)
{
	struct error err = {0};
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	int node = snap->findings->at[0].node[0];
	assert_true(tells(snap->story, STORY_WHERE, "By the figures"));
	struct blames *b = xcalloc(1, sizeof *b);
	*b = (struct blames){.refs = 1, .decision = snap->decision, .at = xcalloc(1, sizeof *b->at), .n = 1,
	    .of_node = xcalloc((size_t)snap->g->n_nodes + 1, sizeof *b->of_node), .n_nodes = snap->g->n_nodes, .total = 0.05};
	b->at[0] = (struct blame){.node = node, .last_node = node, .value = -1, .parts = 1, .alone = 0.04, .score_loss = NAN};
	study_set_blames(st, b);
	blames_drop(&b);
	snapshot_drop(&snap);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	snap = study_snapshot(st);
	assert_true(tells(snap->story, STORY_WHERE, "alone 0.0400"));
	snapshot_drop(&snap);
	assert_int_equal(study_set(st, &node, 1, PREC_FLOAT, NULL, &err), STATUS_OK);
	snap = study_snapshot(st);
	assert_null(snap->story); // not of what is in force now
	snapshot_drop(&snap);
	study_close(&st);
}

// As long as the labels were not asked how pictures are prepared, they may be prepared
// wrongly in any network that has labels.
void test_story__proposes_a_survey_where_there_are_labels(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct findings *f = findings_take(snap->findings);
	struct task_report task = {.n_figures = 0}, *own = snap->task;
	struct story *s = story_new(snap, f);
	assert_false(f->surveyed);
	assert_false(tells(s, STORY_NEXT, ":survey"));
	story_drop(&s);
	snap->task = &task;
	s = story_new(snap, f);
	assert_true(tells(s, STORY_NEXT, ":survey"));
	story_drop(&s);
	f->surveyed = true;
	s = story_new(snap, f);
	assert_false(tells(s, STORY_NEXT, ":survey"));
	story_drop(&s);
	snap->task = own;
	findings_drop(&f);
	snapshot_drop(&snap);
	study_close(&st);
}

// With wrong labels, or of a file that was ruined before, no figure of the quantization means much.
void test_story__a_float_network_that_is_blind(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct task_figure top1 = {.name = "top1", .value = {[TASK_FLOAT] = 0, [TASK_QUANT] = 0}};
	struct task_report task = {.kind = TASK_CLASSIFY, .n_figures = 1, .figure = &top1}, *own = snap->task;
	snap->task = &task;
	struct story *s = story_new(snap, snap->findings);
	assert_true(tells(s, STORY_LOSS, "float network itself"));
	assert_true(tells(s, STORY_LOSS, "top-1 0.000 in float and quantized")); // nothing is lost, by chance or not
	assert_true(tells(s, STORY_NEXT, ":survey"));
	assert_false(tells(s, STORY_NEXT, ":fix"));
	story_drop(&s);
	top1.value[TASK_FLOAT] = .7;
	s = story_new(snap, snap->findings);
	assert_true(tells(s, STORY_NEXT, ":fix top1_drop<"));
	assert_false(tells(s, STORY_LOSS, "float network itself"));
	story_drop(&s);
	snap->task = own;
	snapshot_drop(&snap);
	study_close(&st);
}

// Without labels the boxes are what counts: a cosine is told by the outputs' SNR.
void test_story__agreement_without_labels(void **state)
{
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct task_figure same = {.name = "same_boxes", .value = {[TASK_FLOAT] = NAN, [TASK_QUANT] = .25}};
	struct task_report task = {.kind = TASK_AGREE, .n_figures = 1, .figure = &same, .samples = {[TASK_QUANT] = 8}}, *own = snap->task;
	snap->task = &task;
	struct story *s = story_new(snap, snap->findings);
	assert_true(tells(s, STORY_LOSS, "same boxes 0.250: that much"));
	assert_true(tells(s, STORY_LOSS, "over 8 samples without labels"));
	assert_true(tells(s, STORY_NEXT, ":fix drop<0.02"));
	story_drop(&s);
	same.name = "cosine";
	s = story_new(snap, snap->findings);
	assert_false(tells(s, STORY_LOSS, "cosine"));
	assert_false(tells(s, STORY_NEXT, ":fix drop<"));
	story_drop(&s);
	snap->task = own;
	snapshot_drop(&snap);
	study_close(&st);
}

void test_story__reports_tell_the_same(void **state)
{
	struct error err = {0};
	struct study *st = open_study("esp32p4");
	struct snapshot *snap = study_snapshot(st);
	struct findings *f = findings_take(snap->findings);
	struct story *s = story_new(snap, f);
	struct cJSON *root = report_json(st, snap), *why = cJSON_GetObjectItemCaseSensitive(root, "why");
	assert_int_equal(cJSON_GetArraySize(why), s->n);
	for (int i = 0; i < s->n; i++)
		assert_string_equal(json_text(cJSON_GetArrayItem(why, i), "text", ""), s->at[i].text);
	static const char *const name[] = {"why.md", "why.html"};
	for (int k = 0; k < 2; k++) {
		char path[256];
		snprintf(path, sizeof path, "%s", support_temp(name[k]));
		assert_int_equal(report_write(st, snap, path, &err), STATUS_OK);
		struct bytes b;
		assert_int_equal(file_read(&b, path, 1 << 24, &err), STATUS_OK);
		assert_non_null(strstr((const char *)b.data, k ? "<h2>Why</h2>" : "## Why"));
		assert_non_null(strstr((const char *)b.data, k ? "<h1>digits.onnx</h1>" : "# digits.onnx"));
		assert_true(!k || strstr((const char *)b.data, "<title>digits.onnx</title>"));
		bytes_done(&b);
	}
	cJSON_Delete(root);
	story_drop(&s);
	findings_drop(&f);
	snapshot_drop(&snap);
	study_close(&st);
}
