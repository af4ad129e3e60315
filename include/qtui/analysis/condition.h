// Conditions on figures as the user writes them, for the goal of a search and for a check: "snr>25", or several as in
// "map_drop<0.005,wide<0.15". A table of conditions is constant data that nobody owns.
#ifndef QTUI_ANALYSIS_CONDITION_H
#define QTUI_ANALYSIS_CONDITION_H

#include <stddef.h>
#include "qtui/base/error.h"

struct condition {
	const char *name;
	char sign;        // '<' or '>'
	size_t field;     // offset of the double that takes the limit
	double low, high; // of limits that make sense
};
// Puts the limits of `text` into the fields of `out`; other fields stay. `words` is what an error shows as an example.
MUST_CHECK enum status conditions_parse(void *out, const struct condition *table, size_t n, const char *words, const char *text,
    struct error *err);

#endif
