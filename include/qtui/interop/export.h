// Files for other tools: one row a format in src/interop/formats.def. Writers report what the format cannot say (loss report).
#ifndef QTUI_INTEROP_EXPORT_H
#define QTUI_INTEROP_EXPORT_H

#include "qtui/analysis/study.h"
#include "qtui/base/str.h"

// What was decided when a file was asked for. The study goes on beside whoever writes it.
struct decided {
	const struct edits *edits;
	const struct study_options *opt;
	const struct dataset *data;
};
struct decided decided_now(const struct study *st); // borrows the edits, which live until the next
struct export_format {
	const char *name, *suffix, *help;
	enum status (*write)(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err);
};
const struct export_format *export_find(const char *name); // NULL when unknown
const struct export_format *export_rows(int *n);
// "DIR/model.onnx" -> "model" + the format's suffix; heap.
char *export_path(const char *format, const struct study *st);
// Writes to `path` (NULL: export_path, "-": standard output). `loss` gets one line for each decision not expressed.
// STATUS_REFUSED as long as the snapshot's figures are not those of the decisions in force.
MUST_CHECK enum status export_write(const char *format, const char *path, const struct study *st, const struct snapshot *s,
    struct str *loss, struct error *err);
// The same in two halves, of which the first takes little time and the second may run in another thread, but before the study is closed.
struct exporting;
MUST_CHECK enum status export_begin(struct exporting **out, const char *format, const char *path, const struct study *st,
    const struct snapshot *s, struct error *err);
MUST_CHECK enum status export_end(struct exporting *e, struct error *err);
const char *export_loss(const struct exporting *e); // after it
void export_free(struct exporting **e);

#endif
