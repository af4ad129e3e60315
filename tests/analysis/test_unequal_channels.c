// A weight whose channels differ: the edit that is offered gives the weight more bits, on every target.
#include <stdio.h>
#include <string.h>
#include "qtui/analysis/findings.h"
#include "studies.h"
#include "surgery.h"

#define NODE "/model.10/conv/Conv"

// One element of one channel is 30 times the largest of them all.
static const char *with_large_element(void)
{
	struct surgery s;
	surgery_open(&s, "examples/digits.onnx");
	surgery_weights(&s, "model.10.conv.weight")[0] = 30;
	return surgery_close(&s, "large.onnx");
}

static const struct finding *of_node(const struct snapshot *s)
{
	for (int i = 0; i < s->findings->n; i++)
		if (s->findings->at[i].rule == FINDING_unequal_channels && !strcmp(s->g->node[s->findings->at[i].node[0]].name, NODE))
			return &s->findings->at[i];
	fail_msg("nothing is said of " NODE);
	return NULL;
}

static double snr(const struct snapshot *s)
{
	return figures_snr(&snapshot_made(s, graph_find_node(s->g, NODE))->graphwise);
}

static void expect_edit(const char *model, const char *target, const char *precision)
{
	struct study *st = open_for_test((struct study_options){.model = model, .calib = "examples/calib", .target = target, .method = -1,
	    .threads = 2, .backend = BACKEND_ONEDNN, .data = {.samples = 8}});
	struct error err = {0};
	struct snapshot *before = run_study(st);
	const char *edit = of_node(before)->edit;
	assert_non_null(edit);
	assert_non_null(strstr(edit, precision));
	assert_int_equal(study_command(st, edit, &err), STATUS_OK);
	struct snapshot *after = run_study(st);
	if (!(snr(after) > snr(before) + 6))
		fail_msg("%s: %s takes " NODE " from %.1f dB to %.1f dB", target, edit, snr(before), snr(after));
	snapshot_drop(&after);
	snapshot_drop(&before);
	study_close(&st);
}

// At its 16 bit the first one's weights keep 8.
void test_unequal_channels__the_edit_widens_the_weight(void **state)
{
	const char *model = with_large_element();
	expect_edit(model, "a8w8", " float");
	expect_edit(model, "esp32s3", " int16");
}
