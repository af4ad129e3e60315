// What goes on beside the study's runs: at most one of each kind at a time.
// It is on its way until what it came to has been told.
#ifndef QTUI_TUI_BESIDE_H
#define QTUI_TUI_BESIDE_H

#include "qtui/analysis/background.h"
#include "qtui/base/error.h"

struct ui;
// Those from BESIDE_STOPPED on are short and are not stopped.
enum beside_kind { BESIDE_SURVEY, BESIDE_EQUALIZE, BESIDE_REPAIR, BESIDE_STOPPED, BESIDE_FILE = BESIDE_STOPPED, BESIDE_COUNT };
struct beside {
	struct background *job; // NULL: none is on its way
	const char *name;       // for the top line
};
void beside_begin(struct ui *ui, enum beside_kind k, struct background *job, const char *name);
bool beside_busy(const struct ui *ui, enum beside_kind k);
// STATUS_REFUSED while one is on its way.
MUST_CHECK enum status beside_check(const struct ui *ui, enum beside_kind k, struct error *err);
const struct beside *beside_first(const struct ui *ui); // the one that the top line shows and Ctrl-c stops; NULL: none
void beside_news(struct ui *ui);                        // takes what they have to say, and what is over

#endif
