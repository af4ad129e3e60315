// Decisions of other tools as edits: precision of nodes, scales, the calibrator, of all or of some nodes.
// Which tool's file it is shows from its members, of tables from their lines (src/interop/import/readers.def).
// What is imported wins over earlier edits; the rest of them stays.
#ifndef QTUI_INTEROP_IMPORT_H
#define QTUI_INTEROP_IMPORT_H

#include "qtui/analysis/study.h"
#include "qtui/base/str.h"

struct import_report {
	const char *format;     // of which tool the file is; a literal, NULL where it was not read
	int precisions, scales, calibrators, weights; // nodes edited
	bool method;            // the calibrator is another now
	struct str notes;       // lines: which entries are not taken over and why, which earlier edits gave way; of the first 100000.
	                        // Freed by import_report_done
	int n_notes;            // such entries and edits, all
	struct str advice;      // where the target cannot have most scales of the file: a line about targets that could; else empty
};
// Adds at most ten steps to the history of `st`, and none where the file is not read: the error names it.
// The caller calls import_report_done, whatever the status.
MUST_CHECK enum status import_file(struct import_report *r, struct study *st, const char *path, struct error *err);
// The same in three parts: the second may run in another thread, but before the study is closed.
// The first and the last take little time. What import_begin makes, if it succeeds, has its own copy of the decisions;
// the caller frees it, at any time. `now` is of what is decided; the last is STATUS_REFUSED where something
// else has been decided meanwhile. It fills the report whatever it returns.
struct importing;
MUST_CHECK enum status import_begin(struct importing **out, const struct study *st, const struct snapshot *now, const char *path,
    struct error *err);
MUST_CHECK enum status import_read(struct importing *m, struct error *err);
MUST_CHECK enum status import_end(struct import_report *r, struct importing *m, struct study *st, struct error *err);
void import_free(struct importing **m); // also of NULL
void import_report_done(struct import_report *r);

#endif
