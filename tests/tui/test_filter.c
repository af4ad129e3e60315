// What the list is filtered by: terms, marks, and what is wrong with one.
#include "support.h"

#include <string.h>

#include "fake.h"
#include "qtui/tui/filter.h"

static int count(const char *text, const bool *marked)
{
	struct snapshot *s = fake_snapshot(FAKE_MEASURED);
	struct filter *f = NULL;
	struct error err;
	int n = 0;
	if (filter_parse(&f, text, &err))
		fail_msg("%s: %s", text, err.text);
	for (int i = 0; i < s->n_rows; i++)
		n += filter_match(f, s, marked, i);
	filter_free(&f);
	return n;
}

void test_filter__terms(void **state)
{
	int all = count("", NULL), convs = count("op:Conv", NULL);
	assert_int_equal(convs + count("!op:Conv", NULL), all);
	assert_int_equal(count("op:Conv op:Add", NULL), 0);
	assert_int_equal(count("name:/model.24/*", NULL), 4);
	assert_int_equal(count("name~CV1", NULL), count("cv1", NULL));
	assert_int_equal(count("op:Conv snr<10", NULL), 2);
	assert_int_equal(count("nsr>0.1", NULL), count("snr<10", NULL));
	assert_int_equal(count("macs>=100M", NULL), 4);
	int equal = count("macs=104M", NULL);
	assert_in_range(equal, 1, all - 1);
	assert_int_equal(count("macs<=104M", NULL), count("macs<104M", NULL) + equal);
	assert_int_equal(count("macs>=104M", NULL), count("macs>104M", NULL) + equal);
	assert_int_equal(count("int16", NULL), 1);
	assert_int_equal(count("float", NULL), 1);
	assert_int_equal(count("edited", NULL), 3);
	assert_int_equal(count("refused", NULL), 1);
	assert_int_equal(count("pending", NULL), 0);
}

void test_filter__unknown_figures_match_neither_way(void **state)
{
	assert_int_equal(count("name~Softmax snr<1000", NULL), 0);
	assert_int_equal(count("name~Softmax !snr<1000", NULL), 0);
}

void test_filter__marks(void **state)
{
	bool marked[64] = {[3] = true, [5] = true};
	assert_int_equal(count("marked", marked), 2);
	assert_int_equal(count("marked", NULL), 0);
}

void test_filter__errors_say_what_is_wrong(void **state)
{
	static const char *const bad[][2] = {
		{"snrr<20", "did you mean \"snr\""}, {"snr<x", "no number"}, {"snr<", "no number"}, {"snr:3", "is a number"},
		{"op<3", "is text"}, {"!", "stands before a term"}, {"snr<1e999", "no number"},
		{"a b c d e f g h i j k l m n o p q", "at most 16 terms"},
	};
	struct filter *f;
	struct error err;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_not_equal(filter_parse(&f, bad[i][0], &err), STATUS_OK);
		assert_null(f);
		assert_non_null(strstr(err.text, bad[i][1]));
	}
}

// Any bytes at all: a filter or an error that says something, never a crash.
void test_filter__random_bytes(void **state)
{
	static const char letters[] = "op:snr<>=~!* 19.eM\x80\xff";
	struct support_random r = {7};
	int filters = 0;
	for (int i = 0; i < 1000; i++) {
		struct error err = {0};
		struct filter *f = NULL;
		char text[48];
		int n = support_random_int(&r, 0, 47);
		for (int k = 0; k < n; k++)
			text[k] = letters[support_random_int(&r, 0, (int)sizeof letters - 2)];
		text[n] = '\0';
		if (filter_parse(&f, text, &err)) {
			assert_null(f);
			assert_true(err.text[0]);
			continue;
		}
		filter_match(f, fake_snapshot(FAKE_EMPTY), NULL, 0);
		filter_free(&f);
		filters++;
	}
	assert_in_range(filters, 1, 999);
}
