#include "qtui/tui/mouse.h"

#include "qtui/tui/action.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/screen.h"
#include "qtui/tui/view_channels.h"
#include "qtui/tui/view_layers.h"

enum { WHEEL_ROWS = 3 };

static void wheel(struct ui *ui, enum panel p, int by)
{
	if (p == PANEL_DETAIL) {
		ui->detail_top += by;
		return;
	}
	ui->focus = p;
	for (int i = 0; i < (by < 0 ? -by : by); i++)
		action_do(ui, by < 0 ? ACTION_up : ACTION_down);
}

static void click_title(struct ui *ui, enum panel p, int x)
{
	int view = p == PANEL_MAIN ? draw_tab_at(ui, x) : -1;
	ui->focus = p;
	if (view >= 0)
		ui_show(ui, (enum view)view);
}

static void click_row(struct ui *ui, enum panel p, int x, int line)
{
	const struct view_row *view = view_row(ui->view);
	struct scroll *s = p == PANEL_AROUND ? &ui->around : ui_scroll(ui);
	int row = s->top + line - (p == PANEL_MAIN ? ui_head(ui) : 0);
	int columns = p == PANEL_MAIN ? ui_columns(ui) : 1, w = ui->layout.panel[p].w / columns;
	row += (x - ui->layout.panel[p].x) / w * (ui_page(ui, p) / columns);
	bool again = ui->focus == p && s->cursor == row;
	ui->focus = p;
	if (p == PANEL_DETAIL || row < s->top || (p == PANEL_MAIN && row >= view->count(ui)))
		return;
	if (again) {
		trial_drop(ui);
		action_do(ui, keys_action(K_ENTER, ui_contexts(ui)));
		return;
	}
	scroll_move(s, row - s->cursor, row + 1);
	if (p == PANEL_MAIN && ui_rows_are_nodes(ui))
		ui_new_node(ui);
}

// Orders the list by the column whose head is there, the last line above the rows.
static bool click_head(struct ui *ui, enum panel p, int x, int line)
{
	bool head = p == PANEL_MAIN && line == ui_head(ui) - 1;
	int column = !head ? -1 : ui->view == VIEW_LAYERS ? (int)view_layers_column_at(ui, x) :
	    ui->view == VIEW_CHANNELS ? view_channels_column_at(ui, x) : -1;
	if (column < 0)
		return false;
	if (ui->view == VIEW_LAYERS)
		view_layers_sort(ui, (enum column)column);
	else
		view_channels_sort(ui, (enum channel_column)column);
	return true;
}

static void click(struct ui *ui, enum panel p, int x, int y)
{
	const struct rect *r = &ui->layout.panel[p];
	if (y == r->y)
		click_title(ui, p, x);
	else if (!click_head(ui, p, x, y - r->y - 1))
		click_row(ui, p, x, y - r->y - 1);
}

void mouse_do(struct ui *ui)
{
	enum action hint = ui->mouse_button == MOUSE_LEFT && canvas_holds(&ui->layout.bottom, ui->mouse_x, ui->mouse_y) ?
	    draw_hint_at(ui, ui->mouse_x) : ACTION_NONE;
	if (!ui->line.kind)
		ui->note[0] = '\0'; // it stays until the next key, and this is one
	if (hint != ACTION_NONE) // a key that stands on the bottom line
		action_do(ui, hint);
	for (int p = 0; p < PANEL_COUNT; p++) {
		const struct rect *r = &ui->layout.panel[p];
		if (!r->w || !canvas_holds(r, ui->mouse_x, ui->mouse_y))
			continue;
		if (ui->mouse_button == MOUSE_LEFT)
			click(ui, (enum panel)p, ui->mouse_x, ui->mouse_y);
		else if (ui->mouse_button == MOUSE_WHEEL_UP || ui->mouse_button == MOUSE_WHEEL_DOWN)
			wheel(ui, (enum panel)p, ui->mouse_button == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
		return;
	}
}
