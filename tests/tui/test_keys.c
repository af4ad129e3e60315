// The table of keys: no key twice in one context, every row complete, names and notation read back.
#include "support.h"

#include <stdbool.h>
#include <string.h>

#include "qtui/tui/command.h"
#include "qtui/tui/keys.h"
#include "qtui/tui/text.h"

// A context shadows the contexts behind it, so the same key may do one thing in the help and another elsewhere.
static void check_key(int key, enum action a, int seen[], int *n)
{
	const struct key_row *row = keys_row(a);
	for (int i = 0; i < *n; i += 2)
		if (seen[i] == key && keys_row((enum action)seen[i + 1])->context == row->context)
			fail_msg("%s and %s are on one key", row->name, keys_row((enum action)seen[i + 1])->name);
	seen[(*n)++] = key;
	seen[(*n)++] = (int)a;
}

void test_keys__no_two_actions_on_one_key(void **state)
{
	int seen[1024], n = 0;
	for (int a = 0; a < ACTION_COUNT; a++)
		for (const char *p = keys_row((enum action)a)->keys; *p; p += strspn(p, " ")) {
			int key = keys_parse(&p);
			assert_int_not_equal(key, K_NONE);
			check_key(key, (enum action)a, seen, &n);
		}
}

void test_keys__rows_are_complete_and_short(void **state)
{
	for (int a = 0; a < ACTION_COUNT; a++) {
		const struct key_row *row = keys_row((enum action)a);
		assert_true(row->keys[0] && row->help[0] && row->group[0]);
		assert_true(text_width(row->help) <= 48);
		assert_true(text_width(row->hint) <= 8);
	}
}

void test_keys__found_by_key_and_by_name(void **state)
{
	assert_int_equal(keys_action('8', 1u << CTX_NODE), ACTION_int8);
	assert_int_equal(keys_action('8', 0), ACTION_NONE);
	assert_int_equal(keys_action(K_ESC, 1u << CTX_TRIAL), ACTION_trial_drop);
	assert_int_equal(keys_action(K_ESC, 0), ACTION_back);
	assert_int_equal(keys_action(18, 0), ACTION_redo);
	assert_int_equal(keys_named("page-down"), ACTION_page_down);
	assert_int_equal(keys_named("page_down"), ACTION_page_down);
	assert_int_equal(keys_named("page"), ACTION_NONE);
}

void test_keys__notation(void **state)
{
	const char *p = "j<Down><C-r><lt>é<Nope>";
	assert_int_equal(keys_parse(&p), 'j');
	assert_int_equal(keys_parse(&p), K_DOWN);
	assert_int_equal(keys_parse(&p), 18);
	assert_int_equal(keys_parse(&p), '<');
	assert_int_equal(keys_parse(&p), 0xE9);
	assert_int_equal(keys_parse(&p), K_NONE);
	assert_string_equal(p, "<Nope>");
	p = "<Down";
	assert_int_equal(keys_parse(&p), K_NONE);
}

void test_keys__commands_have_names_of_their_own(void **state)
{
	int n;
	const struct command_row *row = command_rows(&n);
	for (int i = 0; i < n; i++) {
		assert_int_equal(keys_named(row[i].name), ACTION_NONE);
		assert_true(text_width(row[i].help) <= 48);
		for (int k = 0; k < i; k++) {
			assert_string_not_equal(row[i].name, row[k].name);
			assert_true(!row[i].brief[0] || strcmp(row[i].brief, row[k].brief));
		}
	}
}
