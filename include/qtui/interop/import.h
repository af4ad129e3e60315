// Decisions of other tools as edits: precision of nodes, scales, the calibrator. Which tool's file it is shows from its members, of tables from their lines
// (src/interop/import/readers.def). What is imported wins over earlier edits; the rest of them stays.
#ifndef QTUI_INTEROP_IMPORT_H
#define QTUI_INTEROP_IMPORT_H

#include "qtui/analysis/study.h"
#include "qtui/base/str.h"

struct import_report {
	const char *format;     // of which tool the file is
	int precisions, scales; // nodes edited
	bool method;            // the calibrator changed
	struct str notes;       // a line for each entry that is not taken over, and for each earlier edit that gave way; the first thousand
	int n_notes;            // of all
};
// Adds at most five steps to the history of `st`. The caller calls import_report_done, whatever the status.
MUST_CHECK enum status import_file(struct import_report *r, struct study *st, const char *path, struct error *err);
void import_report_done(struct import_report *r);

#endif
