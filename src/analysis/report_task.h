// Private to report.c and report_task.c.
#ifndef QTUI_ANALYSIS_REPORT_TASK_H
#define QTUI_ANALYSIS_REPORT_TASK_H

#include "qtui/analysis/snapshot.h"
#include "qtui/base/str.h"

void report_task_md(struct str *out, const struct snapshot *s); // s->task is there
void report_task_html(struct str *out, const struct snapshot *s);
void report_html_text(struct str *out, const char *text); // escaped

#endif
