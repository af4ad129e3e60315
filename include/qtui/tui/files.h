// Files that are read and written beside the screen: the commands :open, :write, :diff, :export and :import. In a script they are over when the next
// line is done.
#ifndef QTUI_TUI_FILES_H
#define QTUI_TUI_FILES_H

#include <stdbool.h>

struct ui;
struct session_job;
struct exporting;
struct importing;
enum file_work { FILE_WRITE, FILE_OPEN, FILE_DIFF, FILE_EXPORT, FILE_IMPORT };
struct ui_file {
	struct session_job *job; // NULL: none is under way
	enum file_work work;
	char *name[2];           // of the file; of what is compared; heap. NULL: the session that is offered
	bool is_file[2];
	unsigned edits;          // ui.edits when the writing began
	struct exporting *exporting; // for another tool; NULL: nothing is
	struct importing *importing; // likewise
};
void file_ended(struct ui *ui);     // tells what it came to
void file_forget(struct ui *ui);    // waits, and tells nothing
// Before the program ends: waits for what is written. False, and said so: that has failed.
bool file_settle(struct ui *ui);

#endif
