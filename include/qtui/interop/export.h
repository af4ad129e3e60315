// Files for other tools: one row a format in src/interop/formats.def.
// Writers report what the format cannot say (loss report).
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
struct decided decided_now(const struct study *st); // borrows all of it; the edits live until the study's next decision
struct export_format {
	const char *name, *suffix, *help;
	const char *told; // members of a target that the file says too, between spaces; "*": it holds scales, which need none; ""
	// Appends the file's text to `out` and to `loss` a line for each decision that it cannot say.
	// `s` has the plan of `d`'s decisions. An error is that the target's decisions are none of the tool's at all.
	enum status (*write)(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err);
	// In its place where the file is a model, which may be as large as the memory: writes it to `path` ("-": standard output).
	enum status (*save)(const char *path, struct str *loss, const struct snapshot *s, struct error *err);
};
const struct export_format *export_find(const char *name); // NULL when unknown
enum status export_unknown(const char *name, struct error *err); // STATUS_NOTFOUND: the nearest, and all there are
const struct export_format *export_rows(int *n);
// "DIR/model.onnx" -> "model" + the format's suffix, in the working directory; the caller frees it.
char *export_path(const char *format, const struct study *st);
// Writes to `path` (NULL: export_path, "-": standard output).
// `loss` gets a line for each reason why decisions are not expressed, with the names of the first of them. STATUS_NOTFOUND: no such format.
// STATUS_REFUSED as long as the snapshot's figures are not those of the decisions in force.
MUST_CHECK enum status export_write(const char *format, const char *path, const struct study *st, const struct snapshot *s,
    struct str *loss, struct error *err);
// The same in two halves, of which the first takes little time and the second may run in another thread,
// but before the study is closed. What export_begin makes, if it succeeds, has its own copy of the decisions,
// so that the study may go on; the caller frees it.
struct exporting;
MUST_CHECK enum status export_begin(struct exporting **out, const char *format, const char *path, const struct study *st,
    const struct snapshot *s, struct error *err);
MUST_CHECK enum status export_end(struct exporting *e, struct error *err);
const char *export_loss(const struct exporting *e); // after export_end; "" or lines; lives as long as `e`
void export_free(struct exporting **e); // also of NULL

#endif
