// JSON and YAML: members, errors that name the line, limits, files.
#include "support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"

static struct error e;

static cJSON *parsed(const char *text)
{
	cJSON *j;
	if (json_parse(&j, text, strlen(text), "t.json", &e))
		fail_msg("%s", e.text);
	return j;
}

static void check_refused(const char *text, size_t size, enum status s, const char *message)
{
	cJSON *j = (cJSON *)&e;
	assert_int_equal(json_parse(&j, text, size, "t.json", &e), s);
	assert_null(j);
	assert_string_equal(e.text, message);
}

void test_json__typed_members(void **state)
{
	cJSON *j = parsed(" {\"t\":\"x\",\"n\":-2.5,\"b\":true,\"f\":false,\"z\":null,\"big\":1e999,\"N\":1} \n");
	assert_string_equal(json_text(j, "t", "d"), "x");
	assert_string_equal(json_text(j, "n", "d"), "d");
	assert_string_equal(json_text(j, "none", "d"), "d");
	assert_null(json_text(j, "z", NULL));
	assert_true(json_number(j, "n", 7) == -2.5);
	assert_true(json_number(j, "t", 7) == 7);
	assert_non_null(cJSON_AddRawToObject(j, "all its digits", "0.1000000000000000055"));
	assert_true(json_number(j, "all its digits", 7) == 0.1);
	assert_non_null(cJSON_AddRawToObject(j, "a list", "[1]"));
	assert_true(json_number(j, "a list", 7) == 7);
	assert_true(json_number(j, "none", 7) == 7);
	assert_true(json_number(j, "big", 7) == 7);
	assert_true(json_number(j, "N", 7) == 1);
	assert_int_equal(json_count(j, "N"), 1);
	assert_int_equal(json_count(j, "n"), 0);
	assert_int_equal(json_count(j, "none"), 0);
	assert_non_null(cJSON_AddNumberToObject(j, "most", 1e9));
	assert_int_equal(json_count(j, "most"), 1000000000);
	assert_non_null(cJSON_AddNumberToObject(j, "more", 3e9));
	assert_int_equal(json_count(j, "more"), 0);
	assert_true(json_bool(j, "b", false));
	assert_false(json_bool(j, "f", true));
	assert_true(json_bool(j, "z", true));
	assert_true(json_bool(NULL, "b", true));
	cJSON_Delete(j);
}

void test_json__errors_name_the_line(void **state)
{
	check_refused("{\n\"a\": 1,\n\"b\": x}\n", 18, STATUS_FORMAT, "t.json:3: not valid JSON at `x} `");
	check_refused("[1,\n2", 5, STATUS_FORMAT, "t.json:2: not valid JSON: it ends too early");
	check_refused("", 0, STATUS_FORMAT, "t.json:1: not valid JSON: it ends too early");
	check_refused("{} {}", 5, STATUS_FORMAT, "t.json:1: not valid JSON at ` {}`");
}

void test_json__nul_bytes_do_not_hide_the_rest(void **state)
{
	cJSON *j;
	check_refused("{}\n\0{", 5, STATUS_FORMAT, "t.json:2: not valid JSON: a NUL byte");
	check_refused("[\0]", 3, STATUS_FORMAT, "t.json:1: not valid JSON: a NUL byte");
	check_refused("[\"a\0b\"]", 7, STATUS_FORMAT, "t.json:1: not valid JSON: a NUL byte");
	assert_int_equal(json_parse(&j, "[]xyz", 2, "t", &e), STATUS_OK);
	cJSON_Delete(j);
}

void test_json__depth_has_a_limit(void **state)
{
	char *deep = malloc(2000000);
	cJSON *j;
	memset(deep, '[', 2000000);
	assert_int_equal(json_parse(&j, deep, 2000000, "deep", &e), STATUS_UNSUPPORTED);
	assert_string_equal(e.text, "deep:1: nested more than 1000 deep");
	memset(deep + 900, ']', 900);
	assert_int_equal(json_parse(&j, deep, 1800, "deep", &e), STATUS_OK);
	cJSON_Delete(j);
	free(deep);
}

void test_json__no_memory_is_an_error(void **state)
{
	cJSON *j;
	for (int n = 1; n <= 2; n++) {
		enum status s;
		mem_fail_at(n);
		s = json_parse(&j, "[1]", 3, "t", &e);
		mem_fail_at(0);
		assert_int_equal(s, STATUS_NOMEM);
		assert_null(j);
	}
}

// A tree without some of its members would be taken for a whole one: the program ends first.
// The sanitizers need memory of their own.
void test_json__no_tree_lacks_a_member(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();
#endif
	int status;
	pid_t child = fork();

	if (!child) {
		cJSON *tree = cJSON_CreateArray();
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		setrlimit(RLIMIT_AS, &(struct rlimit){1, 1});
		freopen("/dev/null", "w", stderr);
		for (int i = 0; i < 10000000; i++)
			cJSON_AddItemToArray(tree, cJSON_CreateNumber(i));
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

// Every cut of a document, and every byte of it replaced, is read or refused, never worse (the sanitizers look on).
void test_json__survives_damage(void **state)
{
	const char *good = "{\"a\":[1,-2.5e3,true,null],\"\\u00e9\\ud83d\\ude00\":{\"b\":\"c\\n\"}}";
	size_t n = strlen(good);
	char bad[128];
	cJSON *j;
	cJSON_Delete(parsed(good));
	for (size_t cut = 0; cut < n; cut++)
		assert_int_equal(json_parse(&j, good, cut, "t", &e), STATUS_FORMAT);
	for (size_t at = 0; at < n; at++)
		for (int byte = 0; byte < 256; byte++) {
			memcpy(bad, good, n);
			bad[at] = (char)byte;
			if (json_parse(&j, bad, n, "t", &e) == STATUS_OK)
				cJSON_Delete(j);
			else
				assert_null(j);
		}
}

void test_json__file_round_trip(void **state)
{
	const char *path = support_temp("round.json");
	cJSON *j = cJSON_CreateObject(), *back;
	json_add_number(j, "third", 1.0 / 3);
	json_add_number(j, "nan", NAN);
	json_add_number(j, "inf", -INFINITY);
	json_add_text(j, "text", "caf\303\251 \"q\"");
	json_add_text(j, "none", NULL);
	for (int exact = 0; exact <= 1; exact++) {
		assert_int_equal(json_write(j, path, exact, &e), STATUS_OK);
		assert_int_equal(json_read(&back, path, &e), STATUS_OK);
		assert_true(cJSON_Compare(j, back, true));
		assert_int_equal(cJSON_GetArraySize(back), 2);
		assert_true(json_number(back, "third", 0) == 1.0 / 3);
		cJSON_Delete(back);
	}
	cJSON_Delete(j);
}

void test_json__written_text_ends_its_line(void **state)
{
	const char *path = support_temp("line.json");
	cJSON *j = parsed("{\"a\":[1,2]}");
	struct bytes b;
	assert_int_equal(json_write(j, path, false, &e), STATUS_OK);
	assert_int_equal(file_read(&b, path, 100, &e), STATUS_OK);
	assert_string_equal((char *)b.data, "{\n\t\"a\":\t[1, 2]\n}\n");
	bytes_done(&b);
	cJSON_Delete(j);
}

// A name in Latin-1, a character cut off, one written too long, half a surrogate; and sound ones of every length.
void test_json__is_utf8_whatever_names_are(void **state)
{
	static const char *const text[][2] = {
	    {"caf\xe9", "caf\xef\xbf\xbd"},
	    {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
	    {"\xc0\xaf.", "\xef\xbf\xbd\xef\xbf\xbd."},
	    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	    {"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
	};
	const char *path = support_temp("latin.json");
	cJSON *back;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		for (int exact = 0; exact <= 1; exact++) {
			cJSON *j = cJSON_CreateObject();
			json_add_text(j, "name", text[i][0]);
			assert_int_equal(json_write(j, path, exact, &e), STATUS_OK);
			assert_int_equal(json_read(&back, path, &e), STATUS_OK);
			assert_string_equal(json_text(back, "name", ""), text[i][!exact]);
			cJSON_Delete(back);
			cJSON_Delete(j);
		}
}

void test_json__read_names_the_file(void **state)
{
	const char *path = support_temp_file("bad.json", "{\n?", 3);
	cJSON *j;
	assert_int_equal(json_read(&j, path, &e), STATUS_FORMAT);
	assert_non_null(strstr(e.text, "bad.json:2:"));
	assert_null(j);
	assert_int_equal(json_read(&j, "no/such.json", &e), STATUS_IO);
	assert_null(j);
}

void test_json__numbers_that_only_python_writes_are_null(void **state)
{
	static const char text[] = "{\"a\": NaN, \"b\": [-Infinity, 1], \"c\": \"NaN \\\" Infinity\"}";
	const char *path = support_temp_file("python.json", text, sizeof text - 1);
	struct error err = {0};
	cJSON *j = NULL;
	assert_int_equal(json_read(&j, path, &err), STATUS_OK);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(j, "a")));
	assert_true(cJSON_IsNull(cJSON_GetArrayItem(cJSON_GetObjectItem(j, "b"), 0)));
	assert_string_equal(json_text(j, "c", ""), "NaN \" Infinity");
	cJSON_Delete(j);
}

void test_json__members_of_the_wrong_kind(void **state)
{
	static const struct json_member member[] = {{NULL, "a", cJSON_Object}, {"a", "b", cJSON_Array}, {NULL, "c", cJSON_String}};
	struct error err;
	cJSON *j = parsed("{\"a\": {\"b\": [1]}, \"d\": 5}");
	assert_int_equal(json_check(j, member, 3, false, &err), STATUS_OK); // what is absent is fine
	cJSON_AddNullToObject(j, "c");
	assert_int_equal(json_check(j, member, 3, true, &err), STATUS_OK);
	assert_int_equal(json_check(j, member, 3, false, &err), STATUS_FORMAT);
	assert_string_equal(err.text, "\"c\" must be a text");
	cJSON_ReplaceItemInObject(cJSON_GetObjectItem(j, "a"), "b", cJSON_CreateNumber(1));
	assert_int_equal(json_check(j, member, 3, true, &err), STATUS_FORMAT);
	assert_string_equal(err.text, "\"a.b\" must be a list");
	cJSON_Delete(j);
}

void test_json__comments_become_blanks(void **state)
{
	char text[] = "{ // \"a\": 1,\n# \"\n\"b\": /* \n * / */ \"# // \\\" /*\", \"c\": 2 } // end", open[] = "[1] /* [2]";
	struct error err;
	json_blank_comments(text);
	cJSON *j = parsed(text);
	assert_null(cJSON_GetObjectItem(j, "a"));
	assert_string_equal(json_text(j, "b", ""), "# // \" /*");
	assert_true(json_number(j, "c", 0) == 2);
	cJSON_Delete(j);
	json_blank_comments(open);
	assert_string_equal(open, "[1]       ");
	char late[] = "/*\n*/ {\n\"a\" ! }";
	json_blank_comments(late);
	assert_int_equal(json_parse(&j, late, strlen(late), "x", &err), STATUS_FORMAT);
	assert_true(strncmp(err.text, "x:3: ", 5) == 0);
}

static cJSON *parsed_yaml(const char *text)
{
	struct error err;
	cJSON *j;
	if (json_parse_yaml(&j, text, strlen(text), "x.yaml", &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return j;
}

void test_json__yaml_is_the_same_tree(void **state)
{
	cJSON *j = parsed_yaml("# a file\na: 1.5e1\n'b: c': float16\nlist:\n- ~\n- true\n- [x, {y: '2'}]\nempty: {}\nnone:\n? long\n: -3\n");
	assert_true(json_number(j, "a", 0) == 15);
	assert_string_equal(json_text(j, "b: c", ""), "float16");
	const cJSON *list = cJSON_GetObjectItem(j, "list"), *inner = cJSON_GetArrayItem(list, 2);
	assert_true(cJSON_IsNull(cJSON_GetArrayItem(list, 0)) && cJSON_IsTrue(cJSON_GetArrayItem(list, 1)));
	assert_string_equal(cJSON_GetArrayItem(inner, 0)->valuestring, "x");
	assert_string_equal(json_text(cJSON_GetArrayItem(inner, 1), "y", ""), "2"); // quoted: a text
	assert_true(cJSON_IsObject(cJSON_GetObjectItem(j, "empty")) && cJSON_IsNull(cJSON_GetObjectItem(j, "none")));
	assert_true(json_number(j, "long", 0) == -3);
	cJSON_Delete(j);
}

// The words of YAML 1.1 are no texts, but in quotes.
void test_json__yaml_has_words_in_three_spellings(void **state)
{
	cJSON *j = parsed_yaml("[True, YES, on, False, no, OFF, Null, NULL, 'True', tRUE, yesterday]");
	(void)state;
	for (int i = 0; i < 11; i++) {
		const cJSON *x = cJSON_GetArrayItem(j, i);
		assert_true(i < 3 ? cJSON_IsTrue(x) : i < 6 ? cJSON_IsFalse(x) : i < 8 ? cJSON_IsNull(x) : cJSON_IsString(x));
	}
	cJSON_Delete(j);
}

void test_json__yaml_that_is_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} t[] = {
	    {"", "x.yaml: nothing is in it"},
	    {"a: 1\nb: &x [1]\nc: *x\n", "x.yaml:3: an alias"},
	    {"a: 1\n---\nb: 2\n", "x.yaml:2: a second document"},
	    {"a:\n\t- 1\n", "x.yaml:2: not valid YAML"},
	    {"a: [1\n", "not valid YAML"},
	    {"[1]: 2\n", "x.yaml:1: a key that is no text"},
	    {"a: \"x\\0y\"\n", "x.yaml:1: a text with a NUL"},
	    {"\"\\0\": 1\n", "a key that is no text"},
	    {"a: 1\nb: \xff\n", "not valid YAML"},
	    {"a: b: c\n", "x.yaml:1: not valid YAML"},
	};
	struct error err;
	cJSON *j;
	char deep[400];
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		assert_int_not_equal(json_parse_yaml(&j, t[i].text, strlen(t[i].text), "x.yaml", &err), STATUS_OK);
		assert_null(j);
		if (!strstr(err.text, t[i].why))
			fail_msg("%s", err.text);
	}
	memset(deep, '[', sizeof deep);
	assert_int_equal(json_parse_yaml(&j, deep, sizeof deep, "x.yaml", &err), STATUS_UNSUPPORTED);
	assert_string_equal(err.text, "x.yaml:1: nested more than 100 deep");
}

void test_json__floats_are_written_as_short_as_they_are_read(void **state)
{
	static const struct {
		float v;
		const char *text;
	} row[] = {{125.3F, "125.3"}, {0.1F, "0.1"}, {0, "0"}, {-2.5F, "-2.5"}, {1e-45F, "1.4013e-45"}, {16777216, "16777216"},
	    {0.333333343F, "0.33333334"}};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		cJSON *j = json_float(row[i].v);
		char *text = cJSON_PrintUnformatted(j);
		assert_string_equal(text, row[i].text);
		assert_true(strtof(text, NULL) == row[i].v);
		free(text);
		cJSON_Delete(j);
	}
}
