// The rows of the task view: samples or classes in an order of the user's choice;
// and what else the view keeps. Owned by the ui.
#ifndef QTUI_TUI_TASK_LIST_H
#define QTUI_TUI_TASK_LIST_H

#include "qtui/analysis/task.h"
#include "qtui/tui/scroll.h"

enum task_page { TASK_PAGE_SAMPLES, TASK_PAGE_CLASSES, TASK_PAGES };
enum task_order { TASK_BY_LOSS, TASK_BY_GAIN, TASK_BY_FLOAT, TASK_BY_OBJECTS, TASK_BY_NAME, TASK_ORDERS };
enum task_boxes { TASK_BOXES_CHANGED, TASK_BOXES_ALL, TASK_BOXES_TRUTH, TASK_BOXES_NONE, TASK_BOXES };
struct task_list {
	enum task_page page;
	enum task_order order[TASK_PAGES];
	enum task_boxes boxes;
	bool open;                     // one sample has the whole panel, its changes are the rows
	struct scroll changes;         // of that sample
	struct task_report *report;    // that the rows are of
	enum task_page rows_page;      // likewise
	enum task_order rows_order;
	int *row, n;                   // positions in report->sample or report->class
	int asked;                     // sample + 1 that was asked for; 0: none
	struct key asked_of;           // and the network
};
void task_list_done(struct task_list *l);
// Sorts anew when report, page or order are others; the cursor stays with its row.
void task_list_refresh(struct task_list *l, struct task_report *r, struct scroll *s);
const char *task_order_name(enum task_order o);
enum task_order task_list_next_order(const struct task_list *l); // of those that the page has
const char *task_boxes_name(enum task_boxes b);

#endif
