// Growing strings, globs, nearest names, numbers out of text.
#include "support.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/str.h"

void test_str__empty_is_text_too(void **state)
{
	struct str s = {0};
	char *text;
	assert_string_equal(str_text(&s), "");
	text = str_detach(&s);
	assert_string_equal(text, "");
	free(text);
	str_done(&s);
}

void test_str__grows_piece_by_piece(void **state)
{
	struct str s = {0};
	for (int i = 0; i < 1000; i++)
		str_addf(&s, "%d,", i % 10);
	str_addn(&s, "xyz", 2);
	str_add(&s, "");
	assert_int_equal(s.len, 2002);
	assert_int_equal(strlen(s.text), s.len);
	assert_string_equal(s.text + 1996, "8,9,xy");
	str_clear(&s);
	assert_string_equal(str_text(&s), "");
	str_add(&s, "again");
	assert_string_equal(str_text(&s), "again");
	str_done(&s);
	assert_null(s.text);
}

void test_str__keeps_embedded_nul_bytes(void **state)
{
	struct str s = {0};
	str_addn(&s, "a\0b", 3);
	assert_int_equal(s.len, 3);
	assert_memory_equal(s.text, "a\0b", 4);
	str_done(&s);
}

void test_str__detach_leaves_an_empty_string(void **state)
{
	struct str s = {0};
	char *text;
	str_add(&s, "mine");
	text = str_detach(&s);
	assert_string_equal(text, "mine");
	assert_int_equal(s.len + s.cap, 0);
	str_add(&s, "new");
	assert_string_equal(text, "mine");
	free(text);
	str_done(&s);
}

static void check_oneline(const char *in, const char *out)
{
	char text[64];
	strcpy(text, in);
	str_oneline(text);
	assert_string_equal(text, out);
}

// Each is one line, whatever names it has; what stands before it is left alone.
void test_str__addline(void **state)
{
	struct str s = {0};
	str_add(&s, "a\tb\n");
	str_addline(&s, "node %s: %d", "x\ny\033", 7);
	str_addline(&s, "%s", "");
	str_addline(&s, "end");
	assert_string_equal(str_text(&s), "a\tb\nnode x y?: 7\n\nend\n");
	assert_int_equal(s.len, strlen(str_text(&s)));
	str_done(&s);
}

void test_str__oneline(void **state)
{
	check_oneline("", "");
	check_oneline("plain", "plain");
	check_oneline("a\r\nb\tc\001", "a  b c?");
	check_oneline("caf\303\251", "caf\303\251");
	check_oneline("caf\303", "caf");
	check_oneline("x\342\202", "x");
	check_oneline("x\360\237\230", "x");
	check_oneline("x\360\237\230\200", "x\360\237\230\200");
	check_oneline("a\302\233" "2Jb\302\200\302\237", "a?2Jb??"); // U+009B begins a command as ESC [ does
	check_oneline("a\342\200\256b\342\200\213c\342\201\251\357\273\277d\303\251", "a?b?c??d\303\251"); // written backwards, without width
	check_oneline("\302\240\303\200", "\302\240\303\200");
	check_oneline("a\233" "2J\351t\351 ", "a?2J\351t\351 "); // and where Latin-1 is spoken its byte does
}

static const struct {
	const char *pattern, *text;
	bool match;
} globs[] = {
    {"", "", true},
    {"", "a", false},
    {"*", "", true},
    {"*", "/model.22/.hidden", true},
    {"/model.*/Conv", "/model.22/cv3.0/Conv", true},
    {"/model.*/Conv", "/model.22/cv3.0/Conv_1", false},
    {"Conv", "Conv_1", false},
    {"*Conv", "ConvConv", true},
    {"a*b*c", "aXbXbXc", true},
    {"a*b*c", "aXcXb", false},
    {"a**c", "abc", true},
    {"?", "a", true},
    {"?", "", false},
    {"?", "\303\251", true},
    {"??", "\303\251", false},
    {"[\303\244]", "\303\244", true},
    {"[\303\244]", "\303\266", false}, // a letter with the same first byte
    {"[!\303\244]", "\303\266", true},
    {"[\303\240-\303\251]x", "\303\244x", true},
    {"[a\303\244]", "\303", false},
    {"[\303]", "\303", true}, // a byte that is no UTF-8 is one character
    {"?\251", "\303\251", false},
    {"*[!a]", "\303\251", true},
    {"cv[23].0", "cv3.0", true},
    {"cv[23].0", "cv4.0", false},
    {"cv[!23].0", "cv4.0", true},
    {"cv[^23].0", "cv3.0", false},
    {"[a-c]x", "bx", true},
    {"[a-c]x", "dx", false},
    {"[]]", "]", true},
    {"[!]]", "]", false},
    {"[-a]", "-", true},
    {"[a-]", "-", true},
    {"x[0]", "x[0]", true},
    {"x[0]", "x0", true},
    {"x[0", "x[0", true},
    {"x[0*", "x[01", true},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"a\\", "a\\", true},
    {"[", "[", true},
    {"*[", "a[", true},
};

void test_str__words(void **state)
{
	assert_true(str_has_word("a.b a.bc", "a.b") && str_has_word("a.b a.bc", "a.bc") && str_has_word("x a.b", "a.b"));
	assert_false(str_has_word("a.bc", "a.b") || str_has_word("xa.b", "a.b") || str_has_word("", "a") || str_has_word("a", ""));
}

void test_str__glob(void **state)
{
	for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
		if (str_glob(globs[i].pattern, globs[i].text) != globs[i].match)
			fail_msg("glob %s on %s", globs[i].pattern, globs[i].text);
}

// With trying again at every star this would take longer than the universe has.
void test_str__glob_is_not_exponential(void **state)
{
	char text[2001], pattern[201];
	memset(text, 'a', 2000);
	text[2000] = '\0';
	for (int i = 0; i < 100; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	pattern[199] = 'b';
	pattern[200] = '\0';
	assert_false(str_glob(pattern, text));
}

// The oracle tries every way to split the text at a star.
static bool naive_glob(const char *p, const char *t)
{
	if (*p == '\0')
		return *t == '\0';
	if (*p == '*')
		return naive_glob(p + 1, t) || (*t && naive_glob(p, t + 1));
	return *t && (*p == '?' || *p == *t) && naive_glob(p + 1, t + 1);
}

static void random_text(struct support_random *r, const char *letters, char *out)
{
	int n = support_random_int(r, 0, 7);
	for (int i = 0; i < n; i++)
		out[i] = letters[support_random_int(r, 0, (int)strlen(letters) - 1)];
	out[n] = '\0';
}

void test_str__glob_agrees_with_a_naive_one(void **state)
{
	struct support_random r = {1};
	char pattern[8], text[8];
	int matches = 0;
	for (int i = 0; i < 20000; i++) {
		random_text(&r, "ab*?", pattern);
		random_text(&r, "ab", text);
		matches += naive_glob(pattern, text);
		assert_int_equal(str_glob(pattern, text), naive_glob(pattern, text));
	}
	assert_in_range(matches, 1000, 19000);
}

void test_str__affixes(void **state)
{
	assert_true(str_has_suffix("a.npy", ".npy"));
	assert_true(str_has_suffix(".npy", ".npy"));
	assert_false(str_has_suffix("npy", ".npy"));
	assert_true(str_has_suffix("a", ""));
	assert_true(str_has_prefix("op:Conv", "op:"));
	assert_false(str_has_prefix("op", "op:"));
	assert_true(str_has_prefix("", ""));
}

void test_str__distance(void **state)
{
	char longer[301];
	assert_int_equal(str_distance("", ""), 0);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("abc", ""), 3);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
	assert_int_equal(str_distance("flaw", "lawn"), 2);
	assert_int_equal(str_distance("precision", "precision"), 0);
	memset(longer, 'a', 300);
	longer[300] = '\0';
	assert_int_equal(str_distance(longer, "a"), 300);
	assert_int_equal(str_distance(longer, longer), 0);
	longer[255] = '\0';
	assert_int_equal(str_distance(longer, longer + 1), 1);
}

void test_str__nearest_is_near_or_none(void **state)
{
	struct nearest n = {.name = "exprot"};
	nearest_try(&n, "expand");
	assert_null(n.best);
	nearest_try(&n, "export");
	nearest_try(&n, "exports");
	assert_string_equal(n.best, "export");
	n = (struct nearest){.name = ""};
	nearest_try(&n, "f");
	assert_null(n.best);
}

static void check_int(const char *s, bool ok, long long want)
{
	long long v = 0;
	if (str_to_int(s, &v) != ok || (ok && v != want))
		fail_msg("int %s", s);
}

void test_str__to_int(void **state)
{
	check_int("0", true, 0);
	check_int("-12", true, -12);
	check_int("+12", true, 12);
	check_int("9223372036854775807", true, 9223372036854775807);
	check_int("9223372036854775808", false, 0);
	check_int("", false, 0);
	check_int(" 1", false, 0);
	check_int("1 ", false, 0);
	check_int("1.0", false, 0);
	check_int("0x10", false, 0);
	check_int("-", false, 0);
}

static void check_double(const char *s, bool ok, double want)
{
	double v = 0;
	if (str_to_double(s, &v) != ok || (ok && v != want))
		fail_msg("double %s", s);
}

void test_str__to_double(void **state)
{
	check_double("0.0625", true, 0.0625);
	check_double("-1e-3", true, -1e-3);
	check_double(".5", true, 0.5);
	check_double("5.", true, 5);
	check_double("4.9406564584124654e-324", true, DBL_TRUE_MIN);
	check_double("1e999", false, 0);
	check_double("nan", false, 0);
	check_double("inf", false, 0);
	check_double("0x1p3", false, 0);
	check_double("1,5", false, 0);
	check_double(" 1", false, 0);
	check_double("", false, 0);
	check_double("e5", false, 0);
}

static void check_size(const char *s, bool ok, size_t want)
{
	size_t v = 0;
	if (str_to_size(s, &v) != ok || (ok && v != want))
		fail_msg("size %s gives %zu", s, v);
}

static void check_seconds(const char *s, bool ok, double want)
{
	double v = 0;
	if (str_to_seconds(s, &v) != ok || (ok && v != want))
		fail_msg("time %s gives %g", s, v);
}

void test_str__to_seconds(void **state)
{
	check_seconds("90", true, 90);
	check_seconds("90s", true, 90);
	check_seconds("1.5s", true, 1.5);
	check_seconds("2m", true, 120);
	check_seconds("0.5h", true, 1800);
	check_seconds("1e9", true, 1e9);
	check_seconds("", false, 0);
	check_seconds("s", false, 0);
	check_seconds("0", false, 0);
	check_seconds("0s", false, 0);
	check_seconds("-2m", false, 0);
	check_seconds("nan", false, 0);
	check_seconds("inf", false, 0);
	check_seconds("1e999s", false, 0);
	check_seconds("0x10s", false, 0);
	check_seconds(" 2m", false, 0);
	check_seconds("2 m", false, 0);
	check_seconds("2m ", false, 0);
	check_seconds("2ms", false, 0);
	check_seconds("2m30s", false, 0);
	check_seconds("1234567890123456", false, 0); // a name of tuned weights may be all digits
}

void test_str__to_size(void **state)
{
	check_size("0", true, 0);
	check_size("123", true, 123);
	check_size("123B", true, 123);
	check_size("4k", true, 4096);
	check_size("512M", true, (size_t)512 << 20);
	check_size("2G", true, (size_t)2 << 30);
	check_size("1.5GiB", true, (size_t)3 << 29);
	check_size("2gb", true, (size_t)2 << 30);
	check_size("1T", true, (size_t)1 << 40);
	check_size("", false, 0);
	check_size("M", false, 0);
	check_size("-1M", false, 0);
	check_size("-0", false, 0);
	check_size("1X", false, 0);
	check_size("1MM", false, 0);
	check_size("1i", false, 0);
	check_size("1 M", false, 0);
	check_size("9e18", true, 9000000000000000000u);
	check_size("1e19", false, 0);
	check_size("99999999T", false, 0);
	check_size("nan", false, 0);
}

// What regcomp would copy, or nest, until memory or time are gone is not given to it; what names nodes is.
void test_str__expressions_that_cost_too_much(void **state)
{
	static const char *const small[] = {
	    "", "^conv[0-9]{1,3}$", "model\\.(0|1|22)\\.(cv[0-9]{1,2}\\.)*conv", "(ab){3}(cd){2}", "a{1,255}", "\\({3}"};
	static const char *const large[] = {"((a{1,255}){1,255}){1,255}", "^((){1,255})", "(()()()){1,100}", "()*{200}", "(a)\\1"};
	for (size_t i = 0; i < sizeof small / sizeof *small; i++)
		if (!str_is_small_regex(small[i]))
			fail_msg("%s is refused", small[i]);
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		if (str_is_small_regex(large[i]))
			fail_msg("%s is not refused", large[i]);
}

void test_str__trim(void **state)
{
	static const char *const text[][2] = {{" \t a b\r\n", "a b"}, {"a", "a"}, {" \n", ""}, {"", ""}, {"\"a \"", "\"a \""}};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		char line[16];
		strcpy(line, text[i][0]);
		assert_string_equal(str_trim(line), text[i][1]);
	}
}
