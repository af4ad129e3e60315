// The tables of qtui search.
#include <math.h>
#include <string.h>
#include "../../src/cli/search_print.h"
#include "printed.h"

// A figure without a number is said as what it is: no noise at all, nothing but noise, not measured.
void test_search_print__figures_without_a_number(void **state)
{
	struct edits *e = edits_new(&(struct graph){0});
	struct repair_state at[] = {
	    {.steps = 0, .as_run = true, .edits = e, .figures = {.damage = .5, .snr_db = -INFINITY, .score = NAN, .cost = 1, .us = NAN}},
	    {.steps = FRONTIER_EARLIER, .edits = e, .figures = {.damage = 0, .snr_db = INFINITY, .score = .25, .cost = 1.5, .us = NAN}}};
	const struct frontier f = {.at = at, .n = 2};
	int saved = printed_begin();
	search_print_frontier(&f, "AP");
	const char *text = printed_end(saved);
	assert_non_null(strstr(text, "\n     0   1.000   0.5000     -inf        -  as it began\n"));
	assert_non_null(strstr(text, "\n     -   1.500   0.0000    exact   0.2500  as it began (estimated)\n"));
	edits_free(&e);
}
