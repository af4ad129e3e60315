// One channel of an activation that reaches much farther than the others: it is named, and the remedies mend it.
#include <math.h>
#include <string.h>
#include "../engine/onnx_case.h"
#include "qtui/analysis/findings.h"
#include "qtui/analysis/story.h"
#include "qtui/engine/equalize.h"
#include "qtui/engine/onnx.h"
#include "studies.h"
#include "two_convs.h"

enum { IN = 3, MID = 16, OUT = 4, LOUD = 5 };

// Two convolutions; `between` them Relu lets factors pass, Neg does not. Channel LOUD is `times` as large as the
// others, and is read by weights as much smaller.
static char *model(const char *between, float times)
{
	float front[MID * IN], behind[OUT * MID];
	for (int i = 0; i < MID * IN; i++)
		front[i] = sinf((float)(7 * i + 1)) * (i / IN == LOUD ? times : 1);
	for (int i = 0; i < OUT * MID; i++)
		behind[i] = cosf((float)(5 * i + 2)) / (i % MID == LOUD ? times : 1);
	return two_convs(&(struct two_convs){between, "loud.onnx", IN, MID, OUT, 16, front, behind});
}

static struct study *open_calibrated(const char *path, const char *target, enum calib_method method)
{
	return open_for_test((struct study_options){.model = path, .target = target, .method = method, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.random = 4, .samples = 4}, .task = {.none = true}});
}

static struct study *open_model(const char *path, const char *target)
{
	return open_calibrated(path, target, CALIB_MINMAX);
}

static const struct finding *outlier(const struct snapshot *s)
{
	for (int i = 0; i < s->findings->n; i++)
		if (s->findings->at[i].rule == FINDING_outlier_channel)
			return &s->findings->at[i];
	return NULL;
}

static double evidence(const struct finding *f, const char *name)
{
	for (int i = 0; i < f->n_evidence; i++)
		if (!strcmp(f->evidence[i].name, name))
			return f->evidence[i].value;
	return NAN;
}

// Its edit mends the output.
static void expect_mended(struct study *st, bool equalizable, const char *precision)
{
	struct error err = {0};
	struct snapshot *s = run_study(st);
	const struct finding *f = outlier(s);
	assert_non_null(f);
	assert_string_equal(s->g->node[f->node[0]].name, "two");
	assert_int_equal(evidence(f, "channel"), LOUD);
	assert_int_equal(f->n_nodes, equalizable ? 2 : 1); // and what the channel comes from, where the weights in front say so
	if (equalizable)
		assert_string_equal(s->g->node[f->node[1]].name, "between");
	assert_int_equal(strstr(f->advice, "qtui equalize") != NULL, equalizable);
	if (!strstr(f->edit, precision))
		fail_msg("%s", f->edit);
	double before = figures_snr(&s->output[0]);
	assert_int_equal(study_command(st, f->edit, &err), STATUS_OK);
	snapshot_drop(&s);
	s = run_study(st);
	if (!(figures_snr(&s->output[0]) > before + 10))
		fail_msg("%s: from %.1f dB to %.1f dB", precision, before, figures_snr(&s->output[0]));
	assert_null(outlier(s));
	snapshot_drop(&s);
	study_close(&st);
}

// One scale for all weights keeps its 8 bits at the 16 of a8w8; a scale a row has room for a column that is small.
void test_outlier_channel__the_edit_gives_bits_where_they_are_missing(void **state)
{
	char *path = model("Relu", 64);
	expect_mended(open_model(path, "a8w8"), true, " float");
	free(path);
	path = model("Relu", 128);
	expect_mended(open_model(path, "onnxruntime"), true, " int16");
	free(path);
}

// Factors do not pass a Neg: then there is nothing to equalize.
void test_outlier_channel__where_factors_do_not_pass(void **state)
{
	char *path = model("Neg", 64);
	expect_mended(open_model(path, "esp32p4"), false, " int16");
	free(path);
}

// Readers alone may be small at a channel that is like the others: about 25 times are enough only with the weights in front.
void test_outlier_channel__what_readers_alone_do_not_prove(void **state)
{
	for (int passes = 0; passes < 2; passes++) {
		char *path = model(passes ? "Relu" : "Neg", 32);
		struct study *st = open_model(path, "esp32p4");
		struct snapshot *s = run_study(st);
		assert_int_equal(outlier(s) != NULL, passes);
		snapshot_drop(&s);
		study_close(&st);
		free(path);
	}
}

void test_outlier_channel__equal_channels_have_none(void **state)
{
	char *path = model("Relu", 1);
	struct study *st = open_model(path, "a8w8");
	struct snapshot *s = run_study(st);
	assert_null(outlier(s));
	snapshot_drop(&s);
	study_close(&st);
	free(path);
}

void test_outlier_channel__is_told_by_the_weights(void **state)
{
	char *path = model("Relu", 64);
	struct graph *g = NULL;
	struct error err = {0};
	struct equalize_outlier c;
	assert_int_equal(onnx_load(&g, path, NULL, &err), STATUS_OK);
	struct equalize_fronts *f = equalize_fronts_new(g);
	assert_true(equalize_outlier(&c, f, graph_find_node(g, "two")));
	assert_int_equal(c.channel, LOUD);
	assert_int_equal(c.channels, MID);
	assert_int_equal(c.maker, graph_find_node(g, "one"));
	assert_true(c.front > 32 && c.behind > 32 && !c.sums);
	assert_false(equalize_outlier(&c, f, graph_find_node(g, "between")));
	equalize_fronts_free(&f);
	graph_free(&g);
	free(path);
}

// KL cuts the loud channel off, and the tensor's energy speaks for a wider scale, on which the others have fewer codes yet.
void test_outlier_channel__no_wider_scale_is_offered_for_it(void **state)
{
	char *path = model("Neg", 400);
	struct study *st = open_calibrated(path, "esp32p4", CALIB_KL);
	struct snapshot *s = run_study(st);
	assert_non_null(outlier(s));
	for (int i = 0; i < s->findings->n; i++)
		if (s->findings->at[i].rule == FINDING_saturation)
			assert_string_not_equal(s->g->node[s->findings->at[i].node[0]].name, "between");
	snapshot_drop(&s);
	study_close(&st);
	free(path);
}

static bool tells(const struct story *s, const char *what)
{
	for (int i = 0; i < s->n; i++)
		if (s->at[i].part == STORY_CAUSE && strstr(s->at[i].text, what))
			return true;
	return false;
}

// Without a finding the story names the node that makes most noise, and does not say that many do.
void test_outlier_channel__noise_of_one_node_is_not_that_of_many(void **state)
{
	char *path = model("Relu", 64);
	struct study *st = open_model(path, "a8w8");
	struct snapshot *s = run_study(st);
	struct findings none = {.noise = s->findings->noise};
	struct story *story = story_new(s, &none);
	assert_true(tells(story, "more than half of the noise arises at two"));
	assert_false(tells(story, "many nodes"));
	story_drop(&story);
	snapshot_drop(&s);
	study_close(&st);
	free(path);
}
