// The table of formats.
#include <stdlib.h>
#include <string.h>
#include "formats.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"

static const struct export_format rows[] = {
#define FORMAT(name, suffix, writer, help) {name, suffix, help, writer},
#include "formats.def"
#undef FORMAT
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const struct export_format *export_rows(int *n)
{
	*n = N_ROWS;
	return rows;
}

const struct export_format *export_find(const char *name)
{
	for (int i = 0; i < N_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

// In the working directory, and never over the user's model.
char *export_path(const char *format, const struct study *st)
{
	const struct export_format *f = export_find(format);
	struct str path = {0};
	const char *base = file_base(study_graph(st)->path);
	size_t len = str_has_suffix(base, ".onnx") ? strlen(base) - 5 : strlen(base);
	str_addn(&path, base, len);
	str_add(&path, f ? f->suffix : "");
	return str_detach(&path);
}

// Only a model holds weights.
static void tell_tuned(const char *format, const struct study *st, struct str *loss)
{
	int n = tuning_count(study_edits(st)->tuning);
	if (n && strcmp(format, "qdq") != 0)
		str_addf(loss, "%d node%s with tuned weights, which this format does not hold: the model that qtui tune -o OUT.onnx wrote has them\n", n,
		    plural(n));
}

static enum status unknown_format(const char *format, struct error *err)
{
	struct str known = {0};
	for (int i = 0; i < N_ROWS; i++)
		str_addf(&known, "%s%s", i ? ", " : "", rows[i].name);
	enum status st = error_set(err, STATUS_NOTFOUND, "no format is named %.60s; known are %s", format, str_text(&known));
	str_done(&known);
	return st;
}

enum status export_write(const char *format, const char *path, const struct study *st, const struct snapshot *s, struct str *loss,
    struct error *err)
{
	const struct export_format *f = export_find(format);
	if (!f)
		return unknown_format(format, err);
	if (s->dirty || !snapshot_plan(s))
		return error_set(err, STATUS_REFUSED, "the scales of what is decided now are not computed yet: export when the run is over");
	struct str out = {0};
	char *own = path ? NULL : export_path(format, st);
	enum status status = f->write(&out, loss, st, s, err);
	if (status == STATUS_OK)
		status = file_write(path ? path : own, str_text(&out), out.len, err);
	str_done(&out);
	if (status == STATUS_OK)
		tell_tuned(f->name, st, loss);
	free(own);
	return status;
}
