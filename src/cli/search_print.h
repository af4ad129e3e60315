// What a search has found, printed to standard output. Everything is borrowed.
#ifndef QTUI_CLI_SEARCH_PRINT_H
#define QTUI_CLI_SEARCH_PRINT_H

#include "qtui/analysis/frontier.h"
#include "qtui/analysis/repair.h"

void search_print_blames(const struct blames *b, const struct graph *g); // the most harmful of them
void search_print_tuned(const struct repair *r, const struct graph *g);  // the nodes whose weights were fitted
struct cJSON *search_print_tuned_json(const struct repair *r, const struct graph *g); // the same; the caller deletes it
void search_print_frontier(const struct frontier *f, const char *score_name /* NULL: there is no task */); // the cheapest first

#endif
