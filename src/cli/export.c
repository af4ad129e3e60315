// qtui export: the decisions of a session in the form that another tool takes.
#include <stdio.h>
#include "qtui/interop/export.h"
#include "verbs.h"

static void list_formats(void)
{
	int n;
	const struct export_format *f = export_rows(&n);
	for (int i = 0; i < n; i++)
		printf("  %-20s %s\n", f[i].name, f[i].help);
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
	if (status == STATUS_OK && loss.len && !o->quiet)
		fputs(str_text(&loss), stderr);
	str_done(&loss);
	return status;
}

int verb_export(struct options *o)
{
	struct error err = {0};
	struct study *st = NULL;
	struct session *se = NULL;
	if (!o->format) {
		puts("qtui export needs --format NAME:");
		list_formats();
		return EXIT_USAGE;
	}
	enum status status = export_find(o->format) ? STATUS_OK :
	    error_set(&err, STATUS_USAGE, "--format %s is not known; qtui export lists what is", o->format);
	if (status == STATUS_OK)
		status = check_output(o->output, &err);
	o->study.calibrate_only = true; // decisions and scales, no figures
	if (status == STATUS_OK)
		status = open_study(&st, &se, o, true, &err);
	if (status == STATUS_OK)
		status = export_study(o, st, &err);
	if (status == STATUS_OK)
		status = save_session(st, se, o, &err);
	study_close(&st);
	session_free(&se);
	return status == STATUS_OK ? EXIT_DONE : fail(&err);
}
