// What the nodes cost at each width: times that a board has measured (latency.h), where there are some, else
// multiply-accumulates. One sum serves the search, the check, the screen and the reports. A width that was not
// measured is estimated, and says how.
#ifndef QTUI_ANALYSIS_COST_H
#define QTUI_ANALYSIS_COST_H

#include "qtui/analysis/latency.h"
#include "qtui/analysis/snapshot.h"

enum cost_source {
	COST_NOTHING,   // no time and no multiply-accumulates: part of a neighbour, or free
	COST_BY_MACS,   // from its multiply-accumulates: one at 16 bit counts as two, in float as four. Where the board's times
	                // are known, in microseconds: as long as the measured nodes take for as many
	COST_MEASURED,  // the board's time of this node at this width
	COST_BY_OP,     // its time at another width, times the ratio between the two widths of measured nodes of its operator
	COST_BY_WIDTH,  // the same where no such node was measured at both: 16 bit takes twice, float four times as long as 8 bit
	COST_SOURCES
};
const char *cost_source_name(enum cost_source s); // "measured", "operator", "width", "macs"; NULL of nothing
struct node_cost {
	double at[PREC_COUNT];                // microseconds, or multiply-accumulates at 8 bit; all equal for a node that is never quantized
	enum cost_source source[PREC_COUNT];
};
struct costs {
	atomic_int refs;
	struct latency *latency; // NULL: in multiply-accumulates, else microseconds
	int n;
	struct node_cost *node; // [n]
	double narrow;          // everything at 8 bit
};
// The costs of the nodes of a snapshot, for its field `costs`; reference-counted.
struct costs *costs_new(const struct snapshot *s, struct latency *l /* NULL: none; counted */);
struct costs *costs_take(struct costs *c);
void costs_drop(struct costs **c);
double cost_weight(enum precision p); // of a MAC, one at 8 bit being 1

// What a decision comes to.
struct cost_sum {
	double all, at[PREC_COUNT];  // by the width of the node's output
	double from[COST_SOURCES];   // by how it is known
	int nodes[COST_SOURCES];
};
struct cost_sum costs_sum(const struct snapshot *s);
struct cost_sum costs_sum_all(const struct costs *c, enum precision p); // everything at that width
// "12.3 ms measured, 4.0 ms estimated (operator 1.0, width 3.0)" and the like, for people.
enum { COST_PHRASE = 200, COST_TIME = 32 };
const char *costs_phrase(char out[COST_PHRASE], const struct cost_sum *sum);
char *cost_time(char out[COST_TIME], double us); // "12.3 ms", "840 us", "-1.50 ms"

#endif
