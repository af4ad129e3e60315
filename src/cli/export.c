// qtui export: the decisions of a session in the form that another tool takes.
// qtui quantize: the quantized model itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/log.h"
#include "qtui/interop/export.h"
#include "verbs.h"

void export_formats_help(void)
{
	int n;
	const struct export_format *f = export_rows(&n);
	for (int i = 0; i < n; i++)
		printf("  %-20s %s\n", f[i].name, f[i].help);
}

// What the format cannot say.
static void tell_loss(const char *text)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		log_warn("%.*s", (int)(end - text), text);
}

static enum status export_study(struct options *o, struct study *st, struct error *err)
{
	struct str loss = {0};
	enum status status = run_study(st, o->quiet, err);
	if (status == STATUS_OK) {
		struct snapshot *s = study_snapshot(st);
		status = export_write(o->format, o->output, st, s, &loss, err);
		snapshot_drop(&s);
	}
	if (status == STATUS_OK && !o->quiet)
		tell_loss(str_text(&loss));
	if (status == STATUS_OK && !o->output) { // a name that nobody gave
		char *path = export_path(o->format, st);
		say("%s\n", path);
		free(path);
	}
	str_done(&loss);
	return status;
}

static int export(struct options *o)
{
	struct error err = {0};
	struct study *st = NULL;
	struct session *se = NULL;
	enum status status = check_output(o->output, &err);
	o->study.calibrate_only = o->study.no_task = true; // decisions and scales, no figures
	if (status == STATUS_OK)
		status = check_session(o, &err);
	if (status == STATUS_OK)
		status = open_study(&st, &se, o, &err);
	if (status == STATUS_OK)
		status = export_study(o, st, &err);
	if (status == STATUS_OK)
		status = save_session(st, se, o, &err);
	study_close(&st);
	session_free(&se);
	return status == STATUS_OK ? EXIT_DONE : fail(&err);
}

int verb_export(struct options *o)
{
	struct error err = {0};
	if (!o->format) {
		puts("NAME is one of");
		export_formats_help();
		error_set(&err, STATUS_USAGE, "--format NAME is needed");
		return fail(&err);
	}
	if (!export_find(o->format)) {
		export_unknown(o->format, &err);
		err.status = STATUS_USAGE;
		return fail(&err);
	}
	return export(o);
}

int verb_quantize(struct options *o)
{
	struct error err = {0};
	if (!o->output) {
		error_set(&err, STATUS_USAGE, "-o OUT.onnx is needed");
		return fail(&err);
	}
	o->format = "qdq";
	return export(o);
}
