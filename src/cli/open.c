// Opening a study for a verb: session, options, edits given on the command line.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/latency.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/interop/import.h"
#include "config.h"
#include "shapes.h"
#include "verbs.h"

enum { NOTES = 12 }; // lines about what an imported file asks in vain

static enum status split(const char *option, const char *text, char **name, const char **value, struct error *err)
{
	*value = name_value(name, text, true);
	return *value ? STATUS_OK : error_set(err, STATUS_USAGE, "%s %s: NODE=VALUE is needed", option, text);
}

static bool parse_precision(int *out, const char *word)
{
	enum precision p;
	bool known = precision_parse(&p, word);
	*out = (int)p;
	return known;
}

static bool parse_calibrator(int *out, const char *word)
{
	enum calib_method m;
	bool known = calib_parse(&m, word);
	*out = (int)m;
	return known;
}

// What an option gives nodes, NODE=WORD; "auto" is -1.
struct giving {
	const char *option, *words;
	bool (*parse)(int *out, const char *word);
	study_give_fn *give;
};
static const struct giving give_precision = {"--set", "int8, int16, float or auto", parse_precision, study_set};
static const struct giving give_calibrator = {
    "--calibration", "minmax, percentile, kl, mse or auto", parse_calibrator, study_set_calibrator};

static enum status apply_giving(struct study *st, const struct giving *g, const char *text, struct error *err)
{
	char *name = NULL;
	const char *word;
	int *nodes = NULL, n = 0, refused = 0, what = -1;
	enum status s = split(g->option, text, &name, &word, err);
	if (s == STATUS_OK && strcmp(word, "auto") != 0 && !g->parse(&what, word))
		s = error_set(err, STATUS_USAGE, "%s %s: %s", g->option, text, g->words);
	if (s == STATUS_OK && study_select(st, name, NULL, &nodes, &n, err) != STATUS_OK)
		s = error_prefix(err, "%s %s", g->option, text);
	if (s == STATUS_OK)
		s = g->give(st, nodes, n, what, &refused, err);
	if (s == STATUS_OK && refused)
		log_warn("%s %s: %d of %d nodes refused: %s", g->option, text, refused, n, err->text);
	free(nodes);
	free(name);
	return s;
}

static enum status apply_scale(struct study *st, const char *text, struct error *err)
{
	char *name = NULL;
	const char *value;
	double scale = 0;
	int32_t zero = ZERO_FOLLOWS;
	int *outputs = NULL, n = 0, refused = 0;
	enum status s = split("--scale", text, &name, &value, err);
	if (s == STATUS_OK && !scale_parse(value, &scale, &zero))
		s = error_set(err, STATUS_USAGE, "--scale %s: " SCALE_SYNTAX, text);
	if (s == STATUS_OK && study_select_outputs(st, name, NULL, &outputs, &n, err) != STATUS_OK)
		s = error_prefix(err, "--scale %s", text);
	if (s == STATUS_OK)
		s = study_scale_all(st, outputs, n, scale, zero, &refused, err);
	if (s == STATUS_OK && refused)
		log_warn("--scale %s: %d of %d nodes refused: %s", text, refused, n, err->text);
	free(outputs);
	free(name);
	return s;
}

static enum status apply_import(struct study *st, const char *path, struct error *err)
{
	struct import_report r;
	enum status s = import_file(&r, st, path, err);
	const char *end, *note = str_text(&r.notes);
	if (s == STATUS_OK && r.advice.len)
		log_warn("--import %s: %s", path, str_text(&r.advice));
	for (int i = 0; s == STATUS_OK && i < NOTES && (end = strchr(note, '\n')); i++, note = end + 1)
		log_warn("--import %s: %.*s", path, (int)(end - note), note);
	if (s == STATUS_OK && *note)
		log_warn("--import %s: and for other reasons: %d in all are not taken over", path, r.n_notes);
	import_report_done(&r);
	return s;
}

static enum status apply_latency(struct study *st, const char *path, struct error *err)
{
	struct latency *l = NULL;
	enum status s = latency_read(&l, study_graph(st), path, err);
	if (s != STATUS_OK)
		return s;
	latency_warn(l);
	study_set_latency(st, l);
	latency_drop(&l);
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
	if (s == STATUS_OK && se && o->samples)
		s = study_samples(st, o->samples, err);
	if (s == STATUS_OK)
		s = config_apply(o->config_data, st, err);
	for (int i = 0; s == STATUS_OK && i < o->import.n; i++)
		s = apply_import(st, o->import.at[i], err);
	if (s == STATUS_OK && o->latency)
		s = apply_latency(st, o->latency, err);
	for (int i = 0; s == STATUS_OK && i < o->set.n; i++)
		s = apply_giving(st, &give_precision, o->set.at[i], err);
	for (int i = 0; s == STATUS_OK && i < o->calibration.n; i++)
		if (strchr(o->calibration.at[i], '='))
			s = apply_giving(st, &give_calibrator, o->calibration.at[i], err);
	for (int i = 0; s == STATUS_OK && i < o->scale.n; i++)
		s = apply_scale(st, o->scale.at[i], err);
	return s;
}

static enum status positional(struct options *o, struct error *err)
{
	if (o->positional.n > 2)
		return error_set(err, STATUS_USAGE, "unexpected argument %s", o->positional.at[2]);
	o->study.model = o->positional.n > 0 ? o->positional.at[0] : NULL;
	o->study.calib = o->positional.n > 1 ? o->positional.at[1] : NULL;
	if (!o->study.model && !o->session)
		return error_set(err, STATUS_USAGE, "a MODEL is needed; see qtui --help");
	if (o->study.model && file_is_dir(o->study.model))
		return error_set(err, STATUS_USAGE,
		    o->study.calib && !file_is_dir(o->study.calib) ? "%s is a directory: MODEL comes first, then CALIB"
		                                                   : "%s is a directory: MODEL is an ONNX file",
		    o->study.model);
	if (o->study.calib && o->random)
		log_warn("--random-data takes the place of %s, which is not read", o->study.calib);
	return STATUS_OK;
}

enum status read_checks(struct check *c, const struct options *o, struct error *err)
{
	*c = check_nothing;
	for (int i = 0; i < o->check.n; i++)
		if (check_parse(c, o->check.at[i], err) != STATUS_OK)
			return error_prefix(err, "--check");
	return STATUS_OK;
}

// A name that is not known is wrong usage; a file that cannot be read is not.
static enum status check_target(const char *name, struct error *err)
{
	struct target *t = NULL;
	enum status s = name ? target_load(&t, name, err) : STATUS_OK;
	target_free(&t);
	if (s == STATUS_NOTFOUND)
		err->status = s = STATUS_USAGE;
	return s;
}

// The session is opened as it was left, so that target and calibrator given beside it become steps of its history. One
// that names no target, as a script may write it, was left nowhere: its edits are meant for the target that is given, and
// so are those of one whose target is gone.
static enum status leave_to_session(struct options *o, struct session *se, struct error *err)
{
	struct target *t = NULL;
	if (!se->target)
		return STATUS_OK;
	enum status s = target_load(&t, se->target, err);
	target_free(&t);
	if (s == STATUS_OK) {
		o->study.target = NULL;
		o->study.method = -1;
	} else if (!o->target) {
		return error_set(err, s, "%s: its target: %s; --target beside the session names another", o->session, err->text);
	} else {
		log_warn("%s: its target cannot be read and %s takes its place: %s", o->session, o->target, err->text);
		free(se->target);
		se->target = NULL;
		se->method = -1; // it was that target's
	}
	return STATUS_OK;
}

// What the session names may lie elsewhere by now, or on the machine of somebody else.
static enum status take_places(struct session *se, struct options *o, struct error *err)
{
	struct study_options *s = &o->study;
	bool has_model = s->model, has_samples = s->calib || s->data.random;
	session_find_places(se, s);
	if (s->n_shapes)
		shapes_add(o, se->shape, se->n_shapes); // of inputs that no option names
	session_options(se, s);
	if (!s->model)
		return error_set(err, STATUS_USAGE, "%s names no model: give one", o->session);
	if (!has_model && !file_exists(s->model))
		return error_set(err, STATUS_NOTFOUND, "%s: the model %s is not there: MODEL CALIB beside the session say where they are now",
		    o->session, s->model);
	if (!has_samples && s->calib && !file_exists(s->calib))
		return error_set(err, STATUS_NOTFOUND, "%s: the samples %s are not there: MODEL CALIB beside the session say where they are now",
		    o->session, s->calib);
	return STATUS_OK;
}

static enum status read_session(struct session **se, struct options *o, struct error *err)
{
	if (!o->session)
		return STATUS_OK;
	if (!file_exists(o->session)) {
		if (!o->may_start_session || !o->study.model || (!o->study.calib && !o->random))
			return error_set(err, STATUS_NOTFOUND, "%s: no such session; qtui analyze MODEL CALIB --session %s begins one",
			    o->session, o->session);
		log_warn("%s is not there yet: a session begins", o->session);
		return check_output(o->session, err);
	}
	enum status s = session_read(se, o->session, err);
	if (s != STATUS_OK)
		return s;
	o->session_stamp = (*se)->stamp;
	session_find_targets(*se);
	s = leave_to_session(o, *se, err);
	return s == STATUS_OK ? take_places(*se, o, err) : s;
}

// A session that a script wrote may have edits alone.
static enum status check_samples(const struct options *o, struct error *err)
{
	static const char kinds[] = "a directory, a list, a file, or --random-data N";
	const struct dataset_options *d = &o->study.data;
	if (d->random && o->samples && d->samples != d->random)
		return error_set(err, STATUS_USAGE, "--samples %s: --random-data %d%s%s says how many samples there are: give one of the two",
		    o->samples, d->random, o->random ? "" : " of ", o->random ? "" : o->session);
	if (o->study.calib || d->random)
		return STATUS_OK;
	if (o->study.model && !file_exists(o->study.model))
		return error_errno(err, o->study.model);
	return o->session ? error_set(err, STATUS_USAGE, "%s names no samples: give calibration data: %s", o->session, kinds)
	                  : error_set(err, STATUS_USAGE, "calibration data are needed: %s", kinds);
}

// The model may be one that only the session names; a session is read and written by itself only.
static enum status spare_inputs(const struct options *o, struct error *err)
{
	const char *const result[] = {o->output, o->json, o->report};
	file_keep(o->study.model);
	for (size_t i = 0; i < sizeof result / sizeof *result; i++) {
		if (result[i] && o->session && file_is_same(result[i], o->session))
			return error_set(err, STATUS_USAGE, "%s is the session: give the result another name", result[i]);
		if (result[i] && file_spare(result[i], err) != STATUS_OK)
			return err->status = STATUS_USAGE;
	}
	return STATUS_OK;
}

static void keep_samples(const struct dataset *d)
{
	for (int i = 0; i < dataset_count(d); i++)
		if (dataset_file(d, i))
			file_keep(dataset_file(d, i));
}

static enum status take_session(struct session *se, struct study *st, struct error *err)
{
	enum status s = session_apply(se, st, err);
	if (s == STATUS_OK)
		session_check_samples(se, st);
	return s;
}

enum status open_study(struct study **st, struct session **se, struct options *o, struct error *err)
{
	*se = NULL;
	*st = NULL;
	enum status s = positional(o, err);
	if (s == STATUS_OK)
		s = check_target(o->target, err);
	if (s == STATUS_OK)
		s = read_session(se, o, err);
	if (s == STATUS_OK)
		s = check_samples(o, err);
	if (s == STATUS_OK)
		s = spare_inputs(o, err);
	if (s == STATUS_OK)
		s = study_open(st, &o->study, err);
	if (s == STATUS_OK) {
		keep_samples(study_dataset(*st));
		s = spare_inputs(o, err); // the model's external data are known now, too
	}
	if (s == STATUS_OK)
		s = shapes_check(o, study_graph(*st), err);
	if (s == STATUS_OK && *se)
		s = take_session(*se, *st, err);
	if (s == STATUS_OK)
		s = apply_options(*st, o, *se, err);
	return s;
}

// What another run has written since the session was read is not written over, nor is a directory (STATUS_REFUSED), and
// what this run has done is not lost: its session is beside it, and is named.
static enum status write_session(const struct study *st, const struct session *se, struct options *o, struct error *err)
{
	const char *path = o->session;
	struct session_save *save = session_save_begin(st, se);
	bool gone = o->session_stamp.inode && !file_exists(path);
	session_save_over(save, &o->session_stamp);
	enum status s = session_save_end(&save, path, err);
	if (s == STATUS_OK && gone)
		log_warn("%s was gone, and is written again", path);
	if (s == STATUS_OK)
		o->session_stamp = file_stamp(path);
	if (s != STATUS_REFUSED || !file_is_changed(path, &o->session_stamp)) // what else is not written over has not changed
		return s;
	struct str own = {0};
	str_addf(&own, "%s~%ld", path, (long)getpid());
	s = session_write(st, str_text(&own), se, err);
	if (s == STATUS_OK)
		s = error_set(err, STATUS_REFUSED, "%s %s since this run began: this one's session is %s", path,
		    file_is_dir(path) ? "has become a directory" : "was written by another run", str_text(&own));
	str_done(&own);
	return s;
}

// Where only the session decides, it is read and stays as it is, but for what is found out about it.
static bool changes_session(const struct options *o)
{
	return o->repairs || options_decision(o, 0) || o->positional.n > 1 || o->blame;
}

// One that may only be read (a pipe, a checkout of somebody else's) does not learn where MODEL and CALIB are now, what the
// task is measured on, nor what blame ranks, which is printed: that loses nothing.
static bool is_only_read(const struct options *o)
{
	struct error unused = {0};
	return !o->repairs && !options_decision(o, VERB_MEASURE) && session_may_write(o->session, &unused) != STATUS_OK;
}

enum status save_session(const struct study *st, const struct session *se, struct options *o, struct error *err)
{
	return o->session && (!se || (changes_session(o) && !is_only_read(o))) ? write_session(st, se, o, err) : STATUS_OK;
}

// That a result is to go over what is read is wrong usage.
static enum status refused_is_usage(enum status s, struct error *err)
{
	return s == STATUS_REFUSED ? (err->status = STATUS_USAGE) : s;
}

enum status check_session(const struct options *o, struct error *err)
{
	const char *option = options_decision(o, VERB_MEASURE);
	if (!o->session || !file_exists(o->session) || !changes_session(o) || session_may_write(o->session, err) == STATUS_OK)
		return STATUS_OK;
	if (is_only_read(o)) {
		log_warn("what is %s, and not noted in it: %s",
		    o->blame ? "found about the session is printed" : "given beside the session is used", err->text);
		return STATUS_OK;
	}
	error_set(err, err->status, "%s; %s%s is saved with a session: name a copy that can be written", err->text, option ? "--" : "",
	    option ? option : "what is found");
	return refused_is_usage(err->status, err);
}

enum status check_output(const char *path, struct error *err)
{
	return path ? refused_is_usage(file_may_write(path, err), err) : STATUS_OK;
}
