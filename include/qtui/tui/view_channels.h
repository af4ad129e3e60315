// What the parts of the channels view share.
#ifndef QTUI_TUI_VIEW_CHANNELS_H
#define QTUI_TUI_VIEW_CHANNELS_H

#include "qtui/tui/ui.h"

// How many lines the plot's parts take: bars of the range, bars of the column that is sorted by,
// a line of text above each, the axis below.
struct channel_plot {
	int range, value;
	bool labels, axis;
};
int channel_plot_height(const struct channel_plot *p);
// One column of dots a channel, or the worst of several; `channel` is the one under the cursor.
void channel_plot_draw(struct canvas *c, struct rect r, const struct channel_plot *p, const struct channel_list *l, const struct site *site,
    int channel);
int channel_plot_zoom(int channels, int zoom); // the zoom as far as there is one

// The channels of the tensor in the detail; NULL: not known. Perhaps of before an edit.
struct channels *view_channels_of(const struct ui *ui);
int view_channels_column_at(const struct ui *ui, int x); // whose head is in that column of the screen; -1: none
void view_channels_sort(struct ui *ui, enum channel_column c);

#endif
