// Conditions on figures as the user writes them, for the goal of a search and for a check: "snr>25", or several as in
// "map_drop<0.005,wide<0.15". A table of conditions is constant data that nobody owns.
#ifndef QTUI_ANALYSIS_CONDITION_H
#define QTUI_ANALYSIS_CONDITION_H

#include <math.h>
#include <stddef.h>
#include "qtui/base/error.h"

struct condition {
	const char *name;
	char sign;        // '<' or '>'
	size_t field;     // offset of the double that takes the limit
	double low, high; // of limits that make sense
};
// The most that the task's first figure may lose: of whatever it is, or of one by its name; NAN: nothing is asked. A figure
// of another name has not lost little: it is not the one that was asked for.
enum drop {
#define DROP(id, ...) DROP_##id,
#include "qtui/analysis/drops.def"
#undef DROP
	DROPS
};
struct drops {
	double most[DROPS];
};
struct drop_row {
	const char *name, *figure; // "map_drop", "AP"; NULL: any
};
const struct drop_row *drop_row(enum drop d);
#define DROPS_NONE {{NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}}
_Static_assert(DROPS == 10, "as many as DROPS_NONE has");
// The member `field`, a struct drops, of a table's type: #define DROP(id, name, figure, most) DROP_CONDITION(type, field, id,
// name, most), and drops.def has its rows.
#define DROP_CONDITION(type, field, id, name, high) {name, '<', offsetof(type, field.most[DROP_##id]), 0, high},
// Puts the limits of `text` into the fields of `out`; other fields stay. `words` is what an error shows as an example.
MUST_CHECK enum status conditions_parse(void *out, const struct condition *table, size_t n, const char *words, const char *text,
    struct error *err);

#endif
