// The table of formats.
#include <stdlib.h>
#include <string.h>
#include "formats.h"
#include "gather.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"

static const struct export_format rows[] = {
#define FORMAT(name, suffix, writer, told, help) {name, suffix, help, told, writer, NULL},
#define MODEL(name, suffix, saver, told, help) {name, suffix, help, told, NULL, saver},
#include "formats.def"
#undef FORMAT
#undef MODEL
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

struct exporting {
	const struct export_format *format;
	struct decided decided;
	struct edits *edits; // its own, in `decided`
	struct snapshot *snap;
	char *path;
	struct str loss;
};

enum status export_unknown(const char *format, struct error *err)
{
	struct nearest near = {.name = format};
	struct str known = {0};
	for (int i = 0; i < N_ROWS; i++) {
		nearest_try(&near, rows[i].name);
		str_addf(&known, "%s%s", i ? ", " : "", rows[i].name);
	}
	enum status st = error_set(err, STATUS_NOTFOUND, "no format is named %.60s%s%s; known are %s", format,
	    near.best ? ", the nearest is " : "", near.best ? near.best : "", str_text(&known));
	str_done(&known);
	return st;
}

enum status export_begin(struct exporting **out, const char *format, const char *path, const struct study *st, const struct snapshot *s,
    struct error *err)
{
	const struct export_format *f = export_find(format);
	if (!f)
		return export_unknown(format, err);
	if (s->dirty || !snapshot_plan(s))
		return error_set(err, STATUS_REFUSED, "the scales of what is decided now are not computed yet: export when the run is over");
	struct exporting *e = *out = xcalloc(1, sizeof *e);
	*e = (struct exporting){.format = f, .snap = snapshot_take((struct snapshot *)s), .path = path ? xstrdup(path) : export_path(format, st),
	    .decided = decided_now(st), .edits = edits_copy(study_edits(st))};
	e->decided.edits = e->edits;
	return STATUS_OK;
}

// Only a model holds weights.
static void tell_tuned(struct exporting *e)
{
	int n = tuning_count(e->edits->tuning);
	if (n && !e->format->save)
		lose(&e->loss,
		    "%d node%s with tuned weights, which this format does not hold: the model that qtui tune -o OUT.onnx wrote has them", n,
		    plural(n));
}

// A tool takes its own target by its name, not what was changed of it. The calibrator is a decision, which formats say.
static void tell_members(struct exporting *e)
{
	char member[TARGET_NAME];
	for (int i = 0; target_member(snapshot_plan(e->snap)->target, i, member); i++) {
		char *value = strchr(member, '=');
		*value = '\0';
		if (strcmp(e->format->told, "*") == 0 || str_has_word(e->format->told, member) || strcmp(member, "calibration.default") == 0)
			continue;
		*value = '=';
		lose(&e->loss, "target: %s, which was given beside it, is not said: the tool keeps its own", member);
	}
}

static enum status write_text(struct exporting *e, struct error *err)
{
	struct str out = {0};
	enum status status = e->format->write(&out, &e->loss, &e->decided, e->snap, err);
	if (status == STATUS_OK)
		status = file_write(e->path, str_text(&out), out.len, err);
	str_done(&out);
	return status;
}

enum status export_end(struct exporting *e, struct error *err)
{
	const struct export_format *f = e->format;
	enum status status = f->save ? f->save(e->path, &e->loss, e->snap, err) : write_text(e, err);
	if (status == STATUS_OK) {
		tell_tuned(e);
		tell_members(e);
		struct str all = e->loss;
		e->loss = gather_lines(str_text(&all));
		str_done(&all);
	}
	return status;
}

const char *export_loss(const struct exporting *e)
{
	return str_text(&e->loss);
}

void export_free(struct exporting **ep)
{
	struct exporting *e = *ep;
	*ep = NULL;
	if (!e)
		return;
	snapshot_drop(&e->snap);
	edits_free(&e->edits);
	str_done(&e->loss);
	free(e->path);
	free(e);
}

enum status export_write(const char *format, const char *path, const struct study *st, const struct snapshot *s, struct str *loss,
    struct error *err)
{
	struct exporting *e = NULL;
	enum status status = export_begin(&e, format, path, st, s, err);
	if (status == STATUS_OK)
		status = export_end(e, err);
	if (e)
		str_add(loss, export_loss(e));
	export_free(&e);
	return status;
}
