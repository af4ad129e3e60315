// The session file: JSON with everything needed to go on tomorrow or to replay in a script (docs/SESSION.md). Written atomically.
#ifndef QTUI_ANALYSIS_SESSION_H
#define QTUI_ANALYSIS_SESSION_H

#include "qtui/analysis/study.h"

// What a session file says, before a study is opened from it. Owns its strings.
struct session {
	char *path, *model, *model_sha256, *calib, *target;
	int method;                  // enum calib_method or -1
	struct dataset_options data;
	char **command;              // the journal, oldest first
	int n_commands, current;     // the first `current` are in force, the rest can be redone
	struct cJSON *results;       // key -> figures; may be NULL
	struct task_wish task;       // texts are the session's; those of `root`
	char **truncate;
	int n_truncate;
	struct cJSON *root;          // the whole file: members that this version does not know are written back
};
MUST_CHECK enum status session_read(struct session **out, const char *path, struct error *err);
void session_free(struct session **s);
// Fills what `opt` leaves open (NULL, 0, -1) from the session; options given win.
void session_options(const struct session *s, struct study_options *opt);
// Checks that the model is the one (sha256; a different one is an error), restores journal and results.
MUST_CHECK enum status session_apply(const struct session *s, struct study *st, struct error *err);
// Writes the study's state; `base` (may be NULL) is the file that was read, for members unknown to us.
MUST_CHECK enum status session_write(const struct study *st, const char *path, const struct session *base, struct error *err);
bool resize_parse(enum resize_mode *out, const char *name); // stretch, letterbox, corner, crop
// Where the autosave of a model goes: $XDG_STATE_HOME/qtui/NAME-HASH.json; heap.
char *session_autosave_path(const char *model);

#endif
