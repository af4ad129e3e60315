// Codes that are never used because what the tensor is computed from has as few: bits are missing there, on every target.
#include <math.h>
#include <string.h>
#include "qtui/analysis/findings.h"
#include "studies.h"
#include "surgery.h"
#include "two_convs.h"

enum { IN = 3, MID = 16, OUT = 4 };

// A Sigmoid of one channel and of others: where one is of 900 and they are of 3, they lie on a step that is wider yet.
static char *model(float channel, float others)
{
	float front[MID * IN], behind[OUT * MID];
	for (int i = 0; i < MID * IN; i++)
		front[i] = sinf((float)(7 * i + 1)) * (i / IN == 5 ? channel : others);
	for (int i = 0; i < OUT * MID; i++)
		behind[i] = cosf((float)(5 * i + 2));
	return two_convs(&(struct two_convs){"Sigmoid", "coarse.onnx", IN, MID, OUT, 16, front, behind});
}

static void expect_edit(const char *path, const char *target, const char *node, const char *why,
    const char *edit)
{
	struct study *st = open_for_test((struct study_options){.model = path, .target = target, .method = CALIB_MINMAX, .threads = 1,
	    .data = {.random = 4, .samples = 4}, .task = {.none = true}});
	struct snapshot *s = run_study(st);
	const struct finding *f = NULL;
	for (int i = 0; i < s->findings->n; i++)
		if (s->findings->at[i].rule == FINDING_dead_levels && !strcmp(s->g->node[s->findings->at[i].node[0]].name, node))
			f = &s->findings->at[i];
	assert_non_null(f);
	assert_non_null(strstr(f->text, why));
	assert_string_equal(f->edit, edit);
	snapshot_drop(&s);
	study_close(&st);
}

void test_dead_levels__bits_go_to_what_has_few_codes(void **state)
{
	static const char few[] = "what it is computed from has few codes";
	char *path = model(900, 3);
	expect_edit(path, "onnxruntime", "between", few, "set one between two int16");
	expect_edit(path, "tflite", "between", few, "set one between float");
	free(path);
}

// Of logits far below zero a HardSigmoid leaves nothing, however many codes they have.
void test_dead_levels__another_operator_runs(void **state)
{
	static const int64_t one = 1;
	static const float low = -5;
	char *path = model(0.3f, 0.3f);
	struct surgery s;
	surgery_open(&s, path);
	surgery_floats(&s, "low", 1, &one, &low);
	surgery_node(&s, "Add", "shift", "h low", "logits");
	surgery_node(&s, "Sigmoid", "unlikely", "logits", "probability");
	surgery_output(&s, "probability");
	expect_edit(surgery_close(&s, "unlikely.onnx"), "xint8", "unlikely", "the target runs HardSigmoid in place of Sigmoid", "set unlikely float");
	free(path);
}
