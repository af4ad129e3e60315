// Lines of a loss report or an import that say the same of many names become one.
#include "support.h"

#include "../../src/interop/gather.h"

void test_gather__names_of_one_reason_share_a_line(void **state)
{
	static const struct {
		const char *lines, *gathered;
	} rows[] = {
	    {"", ""},
	    {"a: lost\nb: other\nc: lost\n", "a, c: lost\nb: other\n"},
	    {"a: lost\nb: lost\na: lost\nb: lost\n", "a, b: lost\n"}, // a line that is said again is none more
	    {"a: lost\nb: lost\nc: lost\nd: lost\ne: lost\n", "a, b, c and 2 more: lost\n"},
	    {"of no name\nof no name\n", "of no name\n"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct str s = gather_lines(rows[i].lines);
		assert_string_equal(str_text(&s), rows[i].gathered);
		str_done(&s);
	}
}
