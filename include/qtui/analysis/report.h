// Reports of a snapshot: JSON (docs/JSON.md) and tables for people.
#ifndef QTUI_ANALYSIS_REPORT_H
#define QTUI_ANALYSIS_REPORT_H

#include "qtui/analysis/study.h"

struct cJSON *report_json(const struct study *st, const struct snapshot *s); // the caller deletes it
struct cJSON *latency_json(const struct snapshot *s); // its member "latency"; NULL: no times are known
// Format by the suffix: .md (xquant's columns), .html, .csv. "-" is Markdown on standard output.
MUST_CHECK enum status report_check(const char *path, struct error *err); // is there a format for this name?
bool report_has_findings(const char *path); // does that format say what was found?
MUST_CHECK enum status report_write(const struct study *st, const struct snapshot *s, const char *path, struct error *err);

#endif
