// Private to src/analysis/report: parts of a report for people that stand in files
// of their own, and how all write text.
#ifndef QTUI_ANALYSIS_REPORT_PARTS_H
#define QTUI_ANALYSIS_REPORT_PARTS_H

#include "qtui/analysis/snapshot.h"
#include "qtui/base/str.h"

void report_task_md(struct str *out, const struct snapshot *s); // s->task is there
void report_task_html(struct str *out, const struct snapshot *s);
void report_cost_md(struct str *out, const struct snapshot *s); // a board's times are there
void report_cost_html(struct str *out, const struct snapshot *s);
void report_html_text(struct str *out, const char *text); // escaped
void report_md_text(struct str *out, const char *text);   // of a cell, likewise

#endif
