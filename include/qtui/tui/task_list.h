// The rows of the task view: samples or classes in an order of the user's choice;
// and what else the view keeps. Owned by the ui.
#ifndef QTUI_TUI_TASK_LIST_H
#define QTUI_TUI_TASK_LIST_H

#include "qtui/analysis/task.h"
#include "qtui/tui/scroll.h"

enum task_page { TASK_PAGE_SAMPLES, TASK_PAGE_CLASSES, TASK_PAGES };
enum task_order { TASK_BY_LOSS, TASK_BY_GAIN, TASK_BY_FLOAT, TASK_BY_OBJECTS, TASK_BY_NAME, TASK_ORDERS };
// What is seen of a sample: which picture, of those that networks make, and what lies over it.
struct task_overlay {
	enum { OVERLAY_CHANGED, OVERLAY_ALL, OVERLAY_TRUTH, OVERLAY_FLOAT, OVERLAY_NONE } what;
	const char *name;
};
struct task_list {
	enum task_page page;
	enum task_order order[TASK_PAGES];
	bool of_class;                 // on the page of samples those of one class alone, and which
	int class;                     // by its id
	int overlay;                   // of task_overlay
	bool open;                     // one sample has the whole panel, its changes are the rows
	struct scroll changes;         // of that sample
	struct task_report *report;    // that the rows are of
	enum task_page rows_page;      // likewise
	enum task_order rows_order;
	bool rows_of_class;
	int *row, n;                   // positions in report->sample or report->class
	int asked;                     // sample + 1 that was asked for; 0: none
	struct key asked_of;           // and the network
};
void task_list_done(struct task_list *l);
// Sorts anew when report, page or order are others; the cursor stays with its row.
void task_list_refresh(struct task_list *l, struct task_report *r, struct scroll *s);
// The samples of the class in this row of the page of classes; false: the report does not say which these are.
bool task_list_open_class(struct task_list *l, int row);
void task_list_close_class(struct task_list *l, struct scroll *s); // back to the class among the others
const struct task_class *task_list_class(const struct task_list *l); // whose samples are shown; NULL: those of all
const char *task_order_name(enum task_order o);
enum task_order task_list_next_order(const struct task_list *l); // of those that the page has
bool task_has_overlays(const struct task_report *r); // does it have something to draw over a picture, or pictures of its own?
// From 0 on, then again the first; of a kind that has some. `boxes`: of TASK_AGREE, the networks find boxes.
const struct task_overlay *task_overlay(enum task_shows shows, bool labelled, int i);
enum task_shows task_list_shows(const struct task_report *r); // what its samples show

#endif
