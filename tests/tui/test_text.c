// Text in columns: what is cut off, wide and hostile characters; figures as they are written.
#include "support.h"

#include <math.h>

#include "qtui/tui/format.h"
#include "qtui/tui/text.h"

static void cuts_to(const char *s, int width, enum cut cut, const char *want)
{
	char out[64];
	text_cut(out, sizeof out, s, width, cut);
	assert_string_equal(out, want);
	assert_true(text_width(out) <= width || width < 0);
}

void test_text__cut(void **state)
{
	cuts_to("abcdef", 6, CUT_RIGHT, "abcdef");
	cuts_to("abcdef", 4, CUT_RIGHT, "abc…");
	cuts_to("abcdef", 4, CUT_LEFT, "…def");
	cuts_to("abcdef", 5, CUT_MIDDLE, "ab…ef");
	cuts_to("/model.22/cv3.0/cv3.0.2/Conv", 22, CUT_LEFT, "…/cv3.0/cv3.0.2/Conv");
	cuts_to("abc", 1, CUT_LEFT, "…");
	cuts_to("abc", 0, CUT_RIGHT, "");
	cuts_to("日本語", 4, CUT_RIGHT, "日…");
}

void test_text__hostile_bytes_become_one_mark(void **state)
{
	static const char *const bad[] = {"\x1b", "\x7f", "\x80", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x80\xae", "\xc2\x9b",
	    "\xe2\x80\x8b", "\xe2\x80\x8d", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x81\xa0", "\xe2\x81\xa6", "\xef\xbb\xbf", "\xd8\x9c",
	    "\xc2\xad", "\xf3\xa0\x81\xa1"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *p = bad[i];
		assert_int_equal(text_next(&p), TEXT_UNKNOWN);
		assert_in_range(text_width(bad[i]), 1, 4);
	}
	assert_int_equal(text_width("co\u200bnv"), 5); // not to be taken for conv
	{
		const char *cut_short = "\xe2\x82";
		assert_int_equal(text_next(&cut_short), TEXT_UNKNOWN);
		assert_int_equal(text_next(&cut_short), TEXT_UNKNOWN);
		assert_int_equal(text_next(&cut_short), 0);
	}
}

void test_text__every_glyph_survives_encoding(void **state)
{
	char out[5];
	for (uint32_t g = 0x20; g < 0x110000; g += g < 0x3000 ? 1 : 97) {
		const char *p = out;
		uint32_t back;
		text_encode(g, out);
		back = text_next(&p);
		assert_true(back == g || back == TEXT_UNKNOWN);
		assert_int_equal(*p, 0);
	}
}

static void reads(char *(*format)(char *, double), double v, const char *want)
{
	char out[FIGURE];
	assert_string_equal(format(out, v), want);
}

void test_text__figures(void **state)
{
	reads(format_db, 4.13, "4.1");
	reads(format_db, NAN, "–");
	reads(format_unit, 0.99963, "0.9996");
	reads(format_unit, -0.1634, "-0.163");
	reads(format_db, INFINITY, "exact");
	reads(format_change, 5.46, "+5.5");
	reads(format_change, -0.01, "+0.0");
	reads(format_small, 0.0021, "2.1e-3");
	reads(format_small, 0.21, "0.21");
	reads(format_percent, 0.001, "<0.01");
	reads(format_percent, 0, "0");
	reads(format_percent, 12.34, "12.3");
	reads(format_count, 482e6, "482 M");
	reads(format_count, 999, "999");
	reads(format_count, 1.25e9, "1.2 G");
	reads(format_scale, 0.0625, "2^-4");
	reads(format_scale, 0.1, "0.1");
	reads(format_scale, NAN, "–");
	reads(format_seconds, 83, "1:23 min");
	reads(format_seconds, 0.42, "0.42 s");
}
