// The session file: JSON with everything needed to go on tomorrow or to replay in a script (docs/SESSION.md). Written
// atomically.
#ifndef QTUI_ANALYSIS_SESSION_H
#define QTUI_ANALYSIS_SESSION_H

#include "qtui/analysis/history.h"
#include "qtui/analysis/study.h"
#include "qtui/base/file.h"

// What a session file says, before a study is opened from it. Owns its strings.
struct session {
	char *path, *model, *model_sha256, *calib, *target;
	int method;                  // enum calib_method or -1
	struct dataset_options data;
	char **command;              // the journal, oldest first
	int n_commands, current;     // the first `current` are in force, the rest can be redone
	struct cJSON *results;       // key -> figures; may be NULL
	struct task_wish task;       // its texts are in `root`
	char **truncate;
	int n_truncate;
	struct onnx_input_shape *shape; // its texts are in `root` and `path`
	int n_shapes;
	struct file_stamp stamp;     // of the file that was read
	struct cJSON *root;          // the whole file: members that this version does not know are written back
};
// A list of sizes; a batch that is open (none, or below 1) is one sample. False: it is no such list.
bool session_shape(struct shape *out, const struct cJSON *sizes);
MUST_CHECK enum status session_read(struct session **out, const char *path, struct error *err);
void session_free(struct session **s);
// What the session names and is not there any more is looked for below the directory of the session, which may have been
// moved with it, and taken with a warning; what `given` names itself is not looked for. Before session_options.
void session_find_places(struct session *s, const struct study_options *given);
// The same for the files of targets, which are loaded before anything else. Of those that are not found what the session keeps
// takes their place.
void session_find_targets(struct session *s);
bool session_has_samples(const struct session *s); // files that it names are there, or would be found so
// Fills what `opt` leaves open (NULL, 0, -1) from the session; options that are given win. The texts stay the
// session's.
void session_options(const struct session *s, struct study_options *opt);
// Checks that the model is the one (sha256; a different one is an error), restores journal and results, which the
// study takes over.
MUST_CHECK enum status session_apply(struct session *s, struct study *st, struct error *err);
// Warns where the samples are others than those that the session was written for, though no option asks for others. Reads
// them; may be called from any thread.
void session_check_samples(const struct session *s, const struct study *st);
// Could a session be written there, as far as can be told beforehand? Not into a pipe or a device.
MUST_CHECK enum status session_may_write(const char *path, struct error *err);
// Writes the study's state; `base` (may be NULL) is the file that was read, for members unknown to us.
MUST_CHECK enum status session_write(const struct study *st, const char *path, const struct session *base, struct error *err);
// The same in two halves. The first takes little time; the second does not use the study any more and may run in
// another thread, but ends before the study is closed. session_save_end also frees.
struct session_save;
struct session_save *session_save_begin(const struct study *st, const struct session *base);
// From now on session_save_end writes over the file with this stamp only (all zero: over none), and is STATUS_REFUSED where
// another run has written there since, or a directory is there. A file that is gone is written again.
void session_save_over(struct session_save *s, const struct file_stamp *read);
MUST_CHECK enum status session_save_end(struct session_save **s, const char *path, struct error *err);
void session_save_free(struct session_save **s); // without writing it

// Makes the tuned weights that a session names, and that lie in files beside it, known to the study. May be called from
// any thread.
MUST_CHECK enum status session_read_tuned(const struct session *s, struct study *st, struct error *err);
// The last run of a session; the caller calls run_record_done. *old: the session's decisions have changed since.
// STATUS_NOTFOUND: it has none, STATUS_FORMAT: it belongs to another model.
MUST_CHECK enum status session_last_run(struct run_record *out, bool *old, const struct session *s, const struct study *st, struct error *err);

// Deletes a session file and the files of tuned weights that it names; files that are not there are no error.
void session_remove(const char *path);
// The path of the tuned weights with this name, beside the session, which is where links to it lead; heap.
char *session_tuned_path(const char *session, const char *name);

enum { SESSION_VERSION = 1 };
// Where the autosave of a model goes: $XDG_STATE_HOME/qtui/NAME-HASH.json; heap. Of a long NAME as much as leaves room for
// a number and the name of tuned weights; in full: where sessions of such a model lie that were written before that.
char *session_autosave_path(const char *model);
char *session_autosave_path_in_full(const char *model);

#endif
