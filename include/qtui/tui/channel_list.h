// The rows of the channels view: the channels of the tensor that the detail is about, in an order of the user's choice;
// and what else the view keeps. Owned by the ui.
#ifndef QTUI_TUI_CHANNEL_LIST_H
#define QTUI_TUI_CHANNEL_LIST_H

#include "qtui/analysis/channels.h"
#include "qtui/tui/scroll.h"
#include "qtui/tui/theme.h"

enum channel_column {
#define CHANNEL_COLUMN(id, ...) CHANNEL_COLUMN_##id,
#include "qtui/tui/channel_columns.def"
#undef CHANNEL_COLUMN
	CHANNEL_COLUMNS
};
struct channel_column_row {
	const char *head;
	int width, rank, worst;      // as in channel_columns.def
	double (*value)(const struct channels *c, int channel); // in the unit of the head; NAN: not known
	char *(*format)(char *out, double v);
	enum role (*role)(double v);
	const char *help;
};
const struct channel_column_row *channel_column(enum channel_column c);
// The value as it is ordered and drawn: the larger, the worse. NAN: not known.
double channel_badness(const struct channels *c, enum channel_column by, int channel);

struct channel_list {
	enum channel_column sort, rows_sort; // wanted; that the rows are in
	bool turned, rows_turned;            // best first
	int zoom;                            // the plot shows the channels of one part in 2^zoom
	struct channels *of;                 // that the rows are of; NULL: none
	int *row, n;
	int asked;                           // slot + 1 of the tensor that was asked for; 0: none
	struct key asked_of;                 // under this decision
	int asked_runs;                      // when so many runs had ended
};
void channel_list_init(struct channel_list *l);
void channel_list_done(struct channel_list *l);
// Takes over other channels (NULL: none) or another order: the cursor stays with its channel, but at the first row.
void channel_list_refresh(struct channel_list *l, struct channels *c, struct scroll *s);

#endif
