// Private to src/cli: the verbs and what they share. A verb returns an exit code after it has printed its error.
#ifndef QTUI_CLI_VERBS_H
#define QTUI_CLI_VERBS_H

#include "qtui/analysis/check.h"
#include "qtui/cli/options.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

int verb_tui(struct options *o);
int verb_analyze(struct options *o);
int verb_run(struct options *o);
int verb_export(struct options *o);
int verb_quantize(struct options *o);
int verb_compare(struct options *o);
int verb_ops(struct options *o);
int verb_targets(struct options *o);
int verb_eval(struct options *o);
int verb_search(struct options *o);
int verb_tune(struct options *o);
int verb_equalize(struct options *o);
int verb_dequantize(struct options *o);

void export_formats_help(void); // a line a format, to standard output
// As printf, for texts with names in them: control bytes become harmless, but for a line's end at the end of fmt.
void say(const char *fmt, ...) PRINTF(1, 2);
int fail(const struct error *err); // prints one line; the exit code of its status
// Of two results that are both written, whatever becomes of the other (on a disk that is full, say):
// the status of the first that could not be, with its text in err. `a` has its text there already, `b` in of_b.
MUST_CHECK enum status first_failure(enum status a, enum status b, const struct error *of_b, struct error *err);
// The text behind the '=' that ends the name (the last one that is not escaped, else the first),
// and the name with escapes resolved in *name (heap); NULL and nothing in *name when there is no name.
const char *name_value(char **name, const char *text, bool last);
// Can a file be written there? Asked before long work; "-" and NULL are fine.
MUST_CHECK enum status check_output(const char *path, struct error *err);
// Opens session (if given) and study from options: MODEL and CALIB are positional[0] and [1].
// --set and --scale are applied. Refused where a result would be written over what is read,
// and where neither they nor the session name samples.
MUST_CHECK enum status open_study(struct study **st, struct session **se, struct options *o, struct error *err);
// Before the work: whether a session that is there can be written, where save_session is going to.
// One that is not there yet is checked when it is begun.
MUST_CHECK enum status check_session(const struct options *o, struct error *err);
// After the work: what was given beside --session is saved with it, and a session that was not there yet is begun. Long
// work calls it as it goes, too: o->session_stamp knows what this run has written itself.
MUST_CHECK enum status save_session(const struct study *st, const struct session *se, struct options *o, struct error *err);
// From the work on until its result is saved: what ends a program (Ctrl-C, a line that drops, SIGTERM) meanwhile ends the
// work only. A line that drops sends two signals, and the second would come between the work and its saving. As often
// released as held; to release what is not held does nothing.
void interrupts_hold(void);
void interrupts_release(void);
// Runs the analysis to its end with a progress bar on a terminal or lines elsewhere; Ctrl-C cancels.
MUST_CHECK enum status run_study(struct study *st, bool quiet, struct error *err);

// --check, before the work; and whether its conditions hold, after everything is written.
MUST_CHECK enum status read_checks(struct check *c, const struct options *o, struct error *err);

// With --labels or --eval, and for --findings where the model's file tells how pictures were prepared:
// judges samples and their preparation (survey.h) and gives that to the study, for its findings. Nothing where these are
// not shown.
MUST_CHECK enum status survey_study(struct study *st, const struct options *o, struct error *err);

// Work in a thread of its own, and what is shown of it in the meantime.
struct watch {
	enum status (*fn)(void *arg, struct error *err);
	void *arg;
	const char *what;
	atomic_int *done;      // of `total`
	int total;
	atomic_bool *cancel;   // set by Ctrl-C
	bool quiet;
	// The stage under way, in words: `done` begins anew with each, so that the time left
	// is known from `limit` only. NULL: there is one.
	void (*stage)(void *arg, char *out, size_t size);
	double limit;          // seconds; 0: none
	void (*meanwhile)(void *arg); // called again and again by the thread that waits: what a study may only be told by its own. NULL: nothing
};
MUST_CHECK enum status run_watched(const struct watch *w, struct error *err);
// Around lines that such work prints while it is shown: they stand where the bar stood.
void lines_begin(void);
void lines_end(void);

#endif
