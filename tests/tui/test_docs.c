// docs/KEYS.md is made from the tables and must say what they say: BLESS=1 in the environment writes it anew.
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/tui/help.h"

static const char path[] = "docs/KEYS.md";

// '|' would end a cell, '<' would begin a tag.
static void add_escaped(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("|<*", *text))
			str_add(out, "\\");
		str_addn(out, text, 1);
	}
}

static void add_code(struct str *out, const char *text)
{
	size_t n = strlen(text);
	while (n > 0 && text[n - 1] == ' ')
		n--;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '|')
			str_add(out, "\\");
		str_addn(out, text + i, 1);
	}
}

static void add_row(struct str *out, const struct help_row *row, int *in_table)
{
	if (row->kind != HELP_ROW && row->kind != HELP_LONG_ROW) {
		*in_table = 0;
		return;
	}
	if (!*in_table && strcmp(str_text(out) + out->len - 2, "\n\n"))
		str_add(out, "\n"); // behind a text
	if (!*in_table)
		str_add(out, "| | |\n|---|---|\n"); // a table needs a head, be it empty
	*in_table = 1;
	str_add(out, "| `");
	add_code(out, row->key);
	str_add(out, "` | ");
	add_escaped(out, row->text);
	str_add(out, " |\n");
}

static void write_docs(struct str *out)
{
	int in_table = 0;
	str_add(out,
	    "# Keys, commands, columns\n\nEverything that the screen understands: the text of the program's own help (`?`). First comes what "
	    "holds everywhere\nor in the list of layers, then each view with its own keys and columns, then the commands. The first ones to "
	    "learn\nare in [README](../README.md#keys).\n\n"
	    "Made from the program's tables: `BLESS=1 build/release/tests/tui/test_docs` writes it anew.\n");
	for (int i = 0; i < help_count(); i++) {
		const struct help_row *row = help_at(i);
		if (row->kind == HELP_SECTION)
			str_addf(out, "\n## %s\n\n", row->text);
		else if (row->kind == HELP_TEXT)
			str_addf(out, "%s    %s\n", in_table ? "\n" : "", row->text);
		add_row(out, row, &in_table);
	}
}

void test_docs__keys_are_up_to_date(void **state)
{
	struct str now = {0};
	struct bytes then = {0};
	struct error err;
	write_docs(&now);
	if (getenv("BLESS"))
		assert_int_equal(file_write(path, str_text(&now), now.len, &err), STATUS_OK);
	assert_int_equal(file_read(&then, path, 1 << 20, &err), STATUS_OK);
	if (strcmp((const char *)then.data, str_text(&now)))
		fail_msg("%s is out of date: BLESS=1 build/release/tests/tui/test_docs", path);
	bytes_done(&then);
	str_done(&now);
}
