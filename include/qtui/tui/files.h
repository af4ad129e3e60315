// Files that are read and written beside the screen: the commands :open, :write, :diff, :export, :import, and
// :samples and :preprocess, which look at every file of the samples.
// In a script they are over when the next line is done.
#ifndef QTUI_TUI_FILES_H
#define QTUI_TUI_FILES_H

#include <stdbool.h>

struct ui;
enum file_work { FILE_WRITE, FILE_OPEN, FILE_DIFF, FILE_EXPORT, FILE_IMPORT, FILE_SAMPLES };
// What a file's thread works on. Nobody else touches it until the job is over.
struct ui_file {
	struct background *job;      // NULL: none is under way
	enum file_work work;
	struct study *study;         // the ui's
	char *name[2];               // heap: of the file; FILE_DIFF: of the two that are compared
	bool kept;                   // FILE_OPEN: a session that an earlier run has left, which is not where :write goes
	bool is_file[2];             // FILE_DIFF: which names are those of sessions
	struct session *read[2];     // FILE_OPEN, FILE_DIFF
	bool spare;                  // FILE_WRITE: what is there and is no session stays
	bool gone;                   // FILE_WRITE: the session that this run has opened or written is not there any more
	struct session_save *save;   // FILE_WRITE
	unsigned edits;              // FILE_WRITE: ui.edits when it began
	struct exporting *exporting; // FILE_EXPORT
	struct importing *importing; // FILE_IMPORT
	struct preparing *preparing; // FILE_SAMPLES
};
void file_ended(struct ui *ui);     // tells what it came to
void file_forget(struct ui *ui);    // waits, and tells nothing
// Before the program ends: waits for what is written. False, and said so: that has failed.
bool file_settle(struct ui *ui);

#endif
