// Themes: roles that inherit, glyphs, and what is wrong with a file.
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/tui/text.h"
#include "qtui/tui/theme.h"

static enum status parse(struct theme *t, const char *text, struct error *err)
{
	cJSON *j = NULL;
	enum status st = json_parse(&j, text, strlen(text), "t.json", err);
	if (!st)
		st = theme_parse(t, j, "t.json", err);
	cJSON_Delete(j);
	return st;
}

static void load_and_count(void *arg, const char *name)
{
	struct theme t;
	struct error err;
	if (theme_load(&t, name, &err))
		fail_msg("%s", err.text);
	++*(int *)arg;
}

void test_theme__all_that_are_built_in_load(void **state)
{
	int n = 0;
	setenv("XDG_CONFIG_HOME", support_temp("no_themes"), 1);
	theme_each(load_and_count, &n);
	assert_int_equal(n, 4);
}

// The blue of eight colours cannot be read on a black ground.
void test_theme__no_dark_theme_writes_in_blue_of_eight_colours(void **state)
{
	static const char *const dark[] = {"default", "colorblind"};
	enum { BLUE = 4 };
	struct theme t;
	struct error err;
	for (size_t i = 0; i < sizeof dark / sizeof *dark; i++) {
		assert_int_equal(theme_load(&t, dark[i], &err), STATUS_OK);
		for (int r = 0; r < ROLE_COUNT; r++)
			if (t.style[r].fg.c8 == BLUE)
				fail_msg("%s: %s", dark[i], role_name((enum role)r));
	}
}

void test_theme__roles_inherit(void **state)
{
	struct theme t;
	struct error err;
	assert_int_equal(parse(&t,
	    "{\"palette\":{\"r\":[\"#ff0000\",196,\"red\"],\"b\":[\"#0000ff\",21,\"blue\"]},"
	    "\"roles\":{\"text\":{\"fg\":\"b\"},\"snr\":{\"fg\":\"r\",\"attr\":\"bold\"},\"snr.good\":{\"attr\":\"\"}}}", &err), STATUS_OK);
	assert_int_equal(t.style[ROLE_SNR_BAD].fg.rgb, 0xff0000);
	assert_int_equal(t.style[ROLE_SNR_BAD].fg.c8, 1);
	assert_int_equal(t.style[ROLE_SNR_BAD].attr, INK_BOLD);
	assert_int_equal(t.style[ROLE_SNR_GOOD].attr, 0);
	assert_int_equal(t.style[ROLE_SNR_GOOD].fg.c256, 196);
	assert_int_equal(t.style[ROLE_HINT].fg.rgb, 0x0000ff);
	assert_int_equal(t.style[ROLE_HINT].bg.rgb, -1);
}

void test_theme__parents_stand_before_their_children(void **state)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		const char *name = role_name((enum role)i), *dot = strrchr(name, '.');
		bool found = !dot;
		for (int k = 0; k < i; k++)
			found |= dot && strlen(role_name((enum role)k)) == (size_t)(dot - name) &&
			         !strncmp(name, role_name((enum role)k), (size_t)(dot - name));
		if (!found)
			fail_msg("%s stands before its parent", name);
	}
}

void test_theme__errors_name_the_nearest(void **state)
{
	static const char *const bad[][2] = {
		{"[]", "is a JSON object"},
		{"{\"rolls\":{}}", "did you mean \"roles\""},
		{"{\"roles\":[]}", "must be an object"},
		{"{\"roles\":{\"snr.bat\":{}}}", "did you mean \"snr.bad\""},
		{"{\"roles\":{\"text\":{\"fg\":\"rad\"}},\"palette\":{\"red\":[\"#ff0000\",1,\"red\"]}}", "did you mean \"red\""},
		{"{\"roles\":{\"text\":{\"fg\":\"red\"}}}", "unknown colour \"red\""},
		{"{\"roles\":{\"text\":{\"fg\":3}}}", "names of the palette"},
		{"{\"roles\":{\"text\":{\"attr\":\"bald\"}}}", "did you mean \"bold\""},
		{"{\"roles\":{\"text\":{\"font\":\"x\"}}}", "unknown member"},
		{"{\"roles\":{\"text\":3}}", "must be an object"},
		{"{\"palette\":{\"x\":[\"#ff\",1,\"red\"]},\"roles\":{\"text\":{\"fg\":\"x\"}}}", "must be like"},
		{"{\"palette\":{\"x\":[\"#ff0000\",256,\"red\"]},\"roles\":{\"text\":{\"fg\":\"x\"}}}", "must be like"},
		{"{\"glyphs\":{\"curser\":[\"x\",\"x\"]}}", "did you mean \"cursor\""},
		{"{\"glyphs\":{\"cursor\":[\"xx\",\"x\"]}}", "one column each"},
		{"{\"glyphs\":{\"cursor\":[\"\\u001b\",\"\\u001b\"]}}", ""},
		{"{\"glyphs\":{\"cursor\":\"x\"}}", "one column each"},
	};
	struct theme t;
	struct error err;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (parse(&t, bad[i][0], &err) != STATUS_FORMAT)
			fail_msg("accepted: %s", bad[i][0]);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], err.text);
	}
}

void test_theme__unknown_names(void **state)
{
	struct theme t;
	struct error err;
	setenv("XDG_CONFIG_HOME", support_temp("no_themes"), 1);
	assert_int_equal(theme_load(&t, "ligth", &err), STATUS_NOTFOUND);
	assert_string_equal(err.text, "theme ligth is not known; known are colorblind, default, light, mono");
	assert_int_equal(theme_load(&t, "/no/such/theme.json", &err), STATUS_IO);
}

// The user's own are known by their names as those built in are; one that takes the place of such a one is there once.
void test_theme__the_users_own_are_named(void **state)
{
	char dir[600], path[700];
	struct theme t;
	struct error err;
	int n = 0;
	snprintf(dir, sizeof dir, "%s/qtui/themes", support_temp("config"));
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, (const char *const[]){"night.json", "light.json", "notes.txt"}[i]);
		assert_int_equal(file_write(path, "{}", 2, &err), STATUS_OK);
	}
	setenv("XDG_CONFIG_HOME", support_temp("config"), 1);
	theme_each(load_and_count, &n);
	assert_int_equal(n, 5);
	assert_int_equal(theme_load(&t, "nigth", &err), STATUS_NOTFOUND);
	assert_string_equal(err.text, "theme nigth is not known; known are colorblind, default, light, mono, night");
}

// Every row can be shown without UTF-8, in one column.
void test_theme__glyphs_are_one_column(void **state)
{
	struct theme t;
	struct error err;
	assert_int_equal(theme_load(&t, "default", &err), STATUS_OK);
	for (int i = 0; i < GLYPH_COUNT; i++) {
		assert_int_equal(text_width(glyph_text((enum glyph)i)), 1);
		assert_true(t.glyph[1][i] >= 32 && t.glyph[1][i] < 127);
	}
}

// A theme with any one byte changed is a theme or an error.
void test_theme__damaged_files(void **state)
{
	static const char whole[] = "{\"palette\":{\"r\":[\"#ff0000\",196,\"red\"]},\"roles\":{\"snr\":{\"fg\":\"r\",\"attr\":\"bold\"}},"
				    "\"glyphs\":{\"cursor\":[\"x\",\"x\"]}}";
	struct support_random r = {3};
	struct theme t;
	int themes = 0;
	for (int i = 0; i < 4000; i++) {
		struct error err = {0};
		char text[sizeof whole];
		memcpy(text, whole, sizeof whole);
		text[support_random_int(&r, 0, (int)sizeof whole - 2)] = (char)support_random_int(&r, 1, 255);
		bool is_theme = parse(&t, text, &err) == STATUS_OK;
		assert_true(is_theme ? t.glyph[0][GLYPH_CURSOR] != 0 : err.text[0] != '\0');
		themes += is_theme;
	}
	assert_in_range(themes, 1, 3999);
}
