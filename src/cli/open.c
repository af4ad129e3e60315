// Opening a study for a verb: session, options, edits given on the command line.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "verbs.h"

// Splits "NAME=VALUE" at the last unescaped '='; a backslash before '=' keeps it. *name is heap.
static enum status split(const char *option, const char *text, char **name, const char **value, struct error *err)
{
	const char *at = strrchr(text, '=');
	while (at && at > text && at[-1] == '\\') {
		const char *before = at - 1;
		at = NULL;
		for (const char *p = before; p > text; p--)
			if (*p == '=') {
				at = p;
				break;
			}
	}
	if (!at || at == text)
		return error_set(err, STATUS_USAGE, "%s %s: NODE=VALUE is needed", option, text);
	char *out = xmalloc((size_t)(at - text) + 1), *to = out;
	for (const char *p = text; p < at; p++)
		if (!(*p == '\\' && p[1] == '='))
			*to++ = *p;
	*to = '\0';
	*name = out;
	*value = at + 1;
	return STATUS_OK;
}

static enum status apply_set(struct study *st, const char *text, struct error *err)
{
	char *name = NULL;
	const char *value;
	int *nodes = NULL, n = 0, refused = 0;
	enum precision p = PREC_INT8;
	enum status s = split("--set", text, &name, &value, err);
	if (s == STATUS_OK && strcmp(value, "auto") != 0 && !precision_parse(&p, value))
		s = error_set(err, STATUS_USAGE, "--set %s: int8, int16, float or auto", text);
	if (s == STATUS_OK)
		s = study_select(st, name, NULL, &nodes, &n, err);
	if (s == STATUS_OK)
		s = study_set(st, nodes, n, strcmp(value, "auto") == 0 ? -1 : (int)p, &refused, err);
	if (s == STATUS_OK && refused)
		log_warn("--set %s: %d of %d nodes refused: %s", text, refused, n, err->text);
	free(nodes);
	free(name);
	return s;
}

static enum status apply_scale(struct study *st, const char *text, struct error *err)
{
	char *name = NULL;
	const char *value;
	double scale = 0;
	const struct graph *g = study_graph(st);
	enum status s = split("--scale", text, &name, &value, err);
	if (s == STATUS_OK && !scale_parse(value, &scale))
		s = error_set(err, STATUS_USAGE, "--scale %s: 2^-4, a positive number or auto", text);
	if (s == STATUS_OK) {
		int node = graph_find_node(g, name), v = node < 0 ? graph_find_value(g, name) : -1;
		if (v >= 0)
			node = g->value[v].producer;
		const char *near = node < 0 ? graph_nearest_node(g, name) : NULL;
		s = node < 0 ? error_set(err, STATUS_NOTFOUND, "--scale: the model has no node or computed tensor %s%s%s", name,
		    near ? "; the nearest is " : "", near ? near : "") : study_scale(st, node, scale, err);
	}
	free(name);
	return s;
}

// Options beside a session win over it: as further steps of its history.
static enum status apply_options(struct study *st, const struct options *o, const struct session *se, struct error *err)
{
	enum status s = STATUS_OK;
	enum calib_method m;
	if (se && o->target)
		s = study_set_target(st, o->target, err);
	if (s == STATUS_OK && se && o->method && calib_parse(&m, o->method))
		s = study_set_method(st, m, err);
	for (int i = 0; s == STATUS_OK && i < o->set.n; i++)
		s = apply_set(st, o->set.at[i], err);
	for (int i = 0; s == STATUS_OK && i < o->scale.n; i++)
		s = apply_scale(st, o->scale.at[i], err);
	return s;
}

static enum status positional(struct options *o, bool calib_needed, struct error *err)
{
	if (o->positional.n > 2)
		return error_set(err, STATUS_USAGE, "unexpected argument %s", o->positional.at[2]);
	o->study.model = o->positional.n > 0 ? o->positional.at[0] : NULL;
	o->study.calib = o->positional.n > 1 ? o->positional.at[1] : NULL;
	if (!o->study.model && !o->session)
		return error_set(err, STATUS_USAGE, "a MODEL is needed; see qtui --help");
	if (calib_needed && !o->study.calib && !o->session && !o->random)
		return error_set(err, STATUS_USAGE, "calibration data are needed: a directory, a list, a file, or --random-data N");
	if (!calib_needed && !o->study.calib && !o->session && !o->random)
		o->study.data.random = 1;
	return STATUS_OK;
}

static void show_preprocess(const struct study *st, bool quiet)
{
	const struct preprocess *p = dataset_preprocess(study_dataset(st));
	if (quiet || !p->guess[0])
		return;
	if (p->warn)
		log_warn("%s", p->guess);
	else
		log_info("%s", p->guess);
}

enum status open_study(struct study **st, struct session **se, struct options *o, bool calib_needed, struct error *err)
{
	enum status s = positional(o, calib_needed, err);
	*se = NULL;
	*st = NULL;
	if (s == STATUS_OK && o->session)
		s = session_read(se, o->session, err);
	if (s == STATUS_OK && *se)
		session_options(*se, &o->study);
	if (s == STATUS_OK && !o->study.model)
		s = error_set(err, STATUS_USAGE, "%s names no model: give one", o->session);
	if (s == STATUS_OK)
		s = study_open(st, &o->study, err);
	if (s == STATUS_OK && *se)
		s = session_apply(*se, *st, err);
	if (s == STATUS_OK)
		s = apply_options(*st, o, *se, err);
	if (s == STATUS_OK)
		show_preprocess(*st, o->quiet);
	return s;
}
