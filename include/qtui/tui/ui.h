// The state of the screen: everything that drawing needs and that keys and commands change.
// It owns its snapshot and lists, and borrows study and session. Nothing here computes or waits:
// edits go to the study, figures come back as snapshots.
#ifndef QTUI_TUI_UI_H
#define QTUI_TUI_UI_H

#include <regex.h>
#include "qtui/analysis/equalizing.h"
#include "qtui/analysis/repair.h"
#include "qtui/analysis/session.h"
#include "qtui/analysis/story.h"
#include "qtui/analysis/survey.h"
#include "qtui/tui/around.h"
#include "qtui/tui/beside.h"
#include "qtui/tui/channel_list.h"
#include "qtui/tui/diff.h"
#include "qtui/tui/files.h"
#include "qtui/tui/keys.h"
#include "qtui/tui/layers.h"
#include "qtui/tui/layout.h"
#include "qtui/tui/line.h"
#include "qtui/tui/log_rows.h"
#include "qtui/tui/task_list.h"
#include "qtui/tui/view.h"

#define UI_JUMPS 32
#define UI_TEXT 512

// A scale that is being tried: shown with its predicted figures until it is applied or dropped.
struct trial {
	bool active, typed;    // typed: in the prompt; else moved with + and -
	int value, site;       // the output (value id) that is to have it, and the site that shows it; -1: none
	double scale;          // 0: auto
	int32_t zero;          // that was typed with it, or ZERO_FOLLOWS
	struct prediction predicted;
};
// Blame or fix in the background, the one begun last.
struct ui_repair {
	struct repair_job *job;        // NULL: none was begun
	enum repair_work work;
	int tried, kept;
	bool overtaken;                // by an edit of the user's: what it still finds is of another network
	const char *task;              // the figure's name, "AP"; NULL: none is measured
	double float_score;            // NAN: not known yet
	struct repair_figures begin, now; // where there were steps
	const struct blames *taken;    // the job's that the study has been given
	struct frontier *frontier;     // the states that nothing beats, of the latest repair; NULL: none
	int order;                     // column that the ranking is ordered by
	char text[240];                // what is under way, or how it ended
};
struct ui {
	struct study *study;           // NULL only in tests of the drawing
	const struct session *session; // that was read: its unknown members are written back; NULL: none
	struct session *opened;        // the same when :open read it
	char *session_path;            // where :write goes; heap
	struct file_stamp session_stamp; // of the file there, as this run has read or written it
	char *autosave_path;           // heap, NULL: none
	struct session_writer *autosave; // likewise
	int autosave_lock;             // of that file while this run lasts; -1: none
	char *offered;                 // an autosaved session that was found at the start; heap
	int offered_lock;              // so that no other run offers it meanwhile; -1: none
	struct snapshot *snap;
	struct findings *findings;     // of the last finished run; NULL: there is none
	struct story *story;           // likewise
	struct theme theme;
	bool ascii;
	int w, h;                      // of the terminal, in columns and lines
	struct panels layout;          // of the frame to come

	enum view view, before_help;   // what is shown; what the help goes back to
	enum panel focus;              // that the keys are for
	bool zoom;                     // it has the whole screen
	struct layers layers;
	struct scroll scroll[VIEW_COUNT]; // of the views other than layers
	struct task_list task;
	struct channel_list channels;
	struct log_rows log;
	bool blocks;                   // pictures in colours; else as characters
	bool only_blocks;              // no pictures in pixels, whatever the terminal can
	int cell_w, cell_h;            // of a cell in pixels, where the terminal takes pictures in pixels; else 0
	struct diff diff;              // of VIEW_DIFF
	int detail_top;                // the first line that is shown
	int detail_site;               // which of the node's sites, from 0; -1: that which the row is about
	struct scroll around;          // of the neighbourhood; cursor < 0: on the node in the middle
	int jump[UI_JUMPS], n_jumps;   // nodes that jumps began at, the latest last
	struct trial trial;
	struct ui_repair repair;
	struct survey_job *survey;     // under way; NULL: none
	struct equalizing *equalizing; // likewise
	struct ui_file file;           // likewise
	struct beside beside[BESIDE_COUNT]; // what of these and of a repair is under way
	struct line line;              // the prompt on the bottom line
	char search[128];              // "": none
	regex_t regex;                 // of the search
	bool has_regex;                // else the text is no regular expression and is searched as it stands
	int search_from;               // row where the search began
	int warnings_seen;             // of the log, when it was last shown
	char note[UI_TEXT];            // message on the bottom line until the next key; "": none
	enum role note_role;           // ROLE_NOTE or ROLE_ERROR
	char problem_told[sizeof ((struct error *)0)->text]; // why no task is measured, as it was said; "": nothing was
	unsigned told_wish;            // of which wish that was said

	bool autosave_due, autosaved;  // an edit waits to be written; one has been
	bool autosave_fails;           // the latest could not be written
	bool unsaved;                  // edits since the last :write
	unsigned edits;                // how many times anything that a session keeps has changed
	bool quit_warned;              // that quitting loses edits
	bool quit, redraw, suspend;    // asked of the loop
	bool waiting;                  // a script waits for the run
	bool scripted;                 // a line of a script is being done
	bool notes_run;                // the run in progress was begun here: say what it brought
	double cancelled_at;           // time of the last C-c, for the second one
	int mouse_x, mouse_y, mouse_button; // of K_MOUSE: MOUSE_* (screen.h)
};
// study: NULL in tests of the drawing; `snap` is taken over, the theme copied.
void ui_init(struct ui *ui, struct study *study, struct snapshot *snap, const struct theme *theme, bool ascii);
void ui_done(struct ui *ui);
void ui_resize(struct ui *ui, int w, int h);
// Takes over a newer snapshot; ui_update also what jobs beside the screen have come to.
// A key does only the first: its own note would stand in the place of theirs.
void ui_take(struct ui *ui, struct snapshot *snap);
void ui_update(struct ui *ui, struct snapshot *snap);
// Computes the layout and brings cursors into their windows: before every frame.
void ui_arrange(struct ui *ui);
void ui_key(struct ui *ui, int key);
void ui_pasted(struct ui *ui, int key); // a character of pasted text: typed where something is typed, no key elsewhere

int ui_node(const struct ui *ui);                        // that the panels are about; -1: none
int ui_chosen(struct ui *ui);                            // the same for keys that need one; -1: the bottom line says that there is none
const struct site *ui_site(const struct ui *ui);         // chosen in the detail; NULL: none
struct scroll *ui_scroll(struct ui *ui);                 // of the main panel's view
const struct scroll *ui_cursor(const struct ui *ui);     // the same to look at
int ui_columns(const struct ui *ui);                     // of rows, side by side in the main panel
int ui_page(const struct ui *ui, enum panel p);          // rows that a panel shows, in all its columns
int ui_head(const struct ui *ui);                        // lines above the first row of the main panel's view
void ui_ask_sample(struct ui *ui);                       // for the sample under the cursor, unless it is on its way
void ui_ask_channels(struct ui *ui);                     // for those of the tensor in the detail, unless they are on their way
bool ui_lists_layers(struct ui *ui);                     // for keys of that list; false: the bottom line says where they work
bool ui_rows_are_nodes(const struct ui *ui);             // those of the main panel
void ui_new_node(struct ui *ui);                         // the panels are about another one: they begin at their tops
bool ui_go(struct ui *ui, int node, struct error *err);  // moves to a node and remembers where it was; drops a filter in the way
void ui_show(struct ui *ui, enum view v);
void ui_note(struct ui *ui, const char *fmt, ...) PRINTF(2, 3);
void ui_fail(struct ui *ui, const struct error *err);    // "E: ..." on the bottom line, and to the log
unsigned ui_contexts(const struct ui *ui);               // bits 1 << CTX_*

#endif
