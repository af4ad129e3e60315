// Names of repeated blocks stay apart where they are cut.
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "qtui/tui/abbrev.h"
#include "qtui/tui/text.h"

static const char *name_at(int i, const void *list)
{
	return ((const char *const *)list)[i];
}

static void cuts_to(const struct abbrev *a, int i, int width, const char *want)
{
	char out[256];
	abbrev_cut(out, sizeof out, a, i, width);
	assert_string_equal(out, want);
}

void test_abbrev__shows_what_differs(void **state)
{
	static const char *const names[] = {"/model/decoder/layers.0/cross_attn/sampling_offsets/MatMul",
	    "/model/decoder/layers.1/cross_attn/sampling_offsets/MatMul", "/model/decoder/layers.0/cross_attn/value_proj/MatMul",
	    "/model/decoder/layers.1/self_attn/sampling_offsets/MatMul", "/model/Relu", "/model/Relu", "a_long_word_in_one_piece_0_and_its_end",
	    "a_long_word_in_one_piece_1_and_its_end", "/model/decoder/layers.1/cross_attn/value_proj/MatMul"};
	struct abbrev a = {0};
	abbrev_set(&a, 9, name_at, names);
	cuts_to(&a, 2, 30, "…/layers.0/…/value_proj/MatMul");
	cuts_to(&a, 8, 30, "…/layers.1/…/value_proj/MatMul");
	cuts_to(&a, 0, 36, "…0…ross_attn/sampling_offsets/MatMul"); // a shorter end has a third name
	cuts_to(&a, 1, 36, "…1…ross_attn/sampling_offsets/MatMul");
	cuts_to(&a, 3, 36, "…/self_attn/sampling_offsets/MatMul");
	cuts_to(&a, 1, 80, names[1]);
	cuts_to(&a, 4, 6, "…/Relu"); // twice the same: nothing tells them apart
	cuts_to(&a, 6, 10, "…0…its_end");
	cuts_to(&a, 6, 1, "…");
	cuts_to(&a, 6, 0, "");
	abbrev_done(&a);
}

// Names whose last byte tells them apart need nothing else of what differs, and an empty one shares no end with anybody.
void test_abbrev__differ_in_the_last_byte(void **state)
{
	static const char *const names[] = {"/model/layers.0/attention/projection_out1", "/model/layers.1/attention/projection_out2", "", "2"};
	struct abbrev a = {0};
	abbrev_set(&a, 4, name_at, names);
	cuts_to(&a, 0, 16, "…projection_out1");
	cuts_to(&a, 1, 16, "…projection_out2");
	cuts_to(&a, 2, 16, "");
	cuts_to(&a, 3, 16, "2");
	abbrev_done(&a);
}

// 4 stages of 2 blocks of 3 layers with 2 operators each, and another order of them in every second set.
enum { N = 48 };

static void assert_apart(const struct abbrev *a, int width)
{
	static char cut[N][256];
	for (int i = 0; i < N; i++) {
		abbrev_cut(cut[i], sizeof cut[i], a, i, width);
		assert_true(text_width(cut[i]) <= width);
		for (int k = 0; k < i; k++)
			if (strcmp(cut[i], cut[k]) == 0)
				fail_msg("%d and %d are both %s in %d columns", k, i, cut[i], width);
	}
}

void test_abbrev__all_differ(void **state)
{
	static char text[N][128];
	const char *names[N], *shuffled[N];
	struct abbrev a = {0};
	for (int i = 0; i < N; i++) {
		snprintf(text[i], sizeof text[i], "/backbone/stages.%d/blocks/blocks.%d/layers.%d/conv_bn_fused/%s", i / 12, i / 6 % 2, i / 2 % 3,
		    i % 2 ? "Conv" : "Mul");
		names[i] = text[i];
	}
	for (int i = 0; i < N; i++)
		shuffled[i] = names[i * 7 % N];
	abbrev_set(&a, N, name_at, names);
	for (int width = 44; width < 80; width++)
		assert_apart(&a, width);
	abbrev_set(&a, N, name_at, shuffled);
	assert_apart(&a, 50);
	cuts_to(&a, 1, 80, names[7]);
	abbrev_done(&a);
}

// Each part of the path has the numbers of those before it: the last says all.
void test_abbrev__parts_that_repeat_what_is_before_them(void **state)
{
	static char text[N][256];
	const char *names[N];
	struct abbrev a = {0};
	for (int i = 0; i < N; i++) {
		int x = i / 12, y = i / 3 % 4, z = i % 3;
		snprintf(text[i], sizeof text[i],
		    "/a_long_name_of_a_stage.%d/a_long_name_of_a_stage.%d.%d/a_long_name_of_a_stage.%d.%d.%d/and_what_is_in_each/conv/Conv", x, x, y, x, y, z);
		names[i] = text[i];
	}
	abbrev_set(&a, N, name_at, names);
	for (int width = 24; width < 60; width++)
		assert_apart(&a, width);
	abbrev_done(&a);
}
